"""`dovetail new`: a first join in a language, as a case that runs at once."""

from __future__ import annotations

from enum import Enum
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.terminal import reported
from dovetail.errors import SpecError


class Template(Enum):
    """What a first join can be: the names of IBM's code templates for Join."""

    SPL_JOIN = "spl-join"
    SPL_EQUI = "spl-equi"
    SPL_LOOKUP = "spl-lookup"

    @property
    def text(self) -> str:
        """Returns the program that the template is."""
        place = files("dovetail.cli") / "templates" / f"{self.value}.json"
        return place.read_text(encoding="utf-8")


def new(
    template: Annotated[
        Template,
        typer.Argument(
            help="spl-join, spl-equi or spl-lookup.",
            metavar="TEMPLATE",
            show_default=False,
        ),
    ],
    place: Annotated[
        Path | None,
        typer.Argument(
            metavar="FILE", help="Where it goes.", show_default="TEMPLATE.json"
        ),
    ] = None,
) -> None:
    """Write a first join in SPL as a case: its text, some tuples, what comes out.

    spl-join matches by a condition, spl-equi by equal values, and spl-lookup meets
    each tuple of one stream with what the other one has brought. dovetail check
    plays it; change it as you like.

    [bold]Try[/]

    dovetail new spl-lookup lookup.json

    dovetail check lookup.json
    """
    with reported("new"):
        path = place or Path(f"{template.value}.json")
        # What somebody has written is lost for ever; a template is there again at once.
        if path.exists():
            hint = "name another one: dovetail new spl-join mine.json"
            raise SpecError(f'"{path}" is there', "a file that is not", hint)
        path.write_text(template.text, encoding="utf-8")
        typer.echo(f"{path}: dovetail check {path}")
