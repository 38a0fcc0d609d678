"""`dovetail picture`: one join as it is played, drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail import spec
from dovetail.cli.terminal import BROKEN, reported
from dovetail.conformance.case import Case, read_joins
from dovetail.conformance.flows import JoinPlay, NamedJoin
from dovetail.conformance.languages import play_of
from dovetail.draw import picture
from dovetail.errors import SpecError, UnsupportedError

# As programs of a shell have it: so a picture can go through a pipe.
PRINTED = Path("-")

File = Annotated[
    Path,
    typer.Argument(
        help="A file with a join: a case, or one without name and expect.",
        metavar="CASE",
        show_default=False,
    ),
]
Out = Annotated[
    Path,
    typer.Option(
        "--out",
        "-o",
        metavar="FILE",
        help="Where to write it: a file that ends in .svg, or in .html, where its rows "
        "stand below it as a table. - prints the SVG.",
    ),
]
Name = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="The case to draw where there are several; the part of its name "
        "behind the last / will do.",
    ),
]


def draw(case: File, *, out: Out = PRINTED, name: Name = "") -> None:
    """Draw what becomes of every row of a small join, as an SVG.

    A lane a side, rows as bars from birth to death on the join's clock, matches
    as links; rows without a partner and late rows say why. The case is played
    by the definition, without Spark. The exit status is 2 where the file is
    broken or its join cannot be drawn.

    [bold]Try[/]

    dovetail picture my_join.json -o my_join.svg

    dovetail picture tests/cases/event_range.json --name event_range/late
    """
    with reported("picture", failed=BROKEN):
        chosen = _chosen(read_joins([case]), case, name)
        match play_of(chosen.join):
            case (spec.Play() as play) | JoinPlay(play) | NamedJoin(play):
                drawn = picture(play, chosen.name)
            case _:
                raise UnsupportedError(
                    "a picture of a text that is more than one join",
                    "one join, or joins that feed one another",
                )
        if out == PRINTED:
            typer.echo(str(drawn))
        else:
            drawn.save(out)


def _chosen(cases: tuple[Case, ...], file: Path, name: str) -> Case:
    """Returns the case of a name; without one the only case of the file."""
    # With a slash in front of both, half a word is no name.
    found = [
        case for case in cases if f"/{case.name}".endswith(f"/{name}" if name else "")
    ]
    if len(found) == 1:
        return found[0]
    names = ", ".join(case.name for case in cases)
    told = f'has no case "{name}"' if name else f"has {len(cases)} cases"
    raise SpecError(
        f'"{file}" {told}', "the name of one case", f"--name takes one of {names}"
    )
