"""`dovetail explain`: a join's plan in words, and which engines can run it."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from dovetail.errors import DovetailError
from dovetail.session.case import Case, Neutral, Script, read_joins
from dovetail.session.explaining import explained
from dovetail.session.programs import ecl_play, explained_program

BROKEN = 2

Paths = Annotated[
    list[Path],
    typer.Argument(
        help="Files with joins: cases, or cases without name and expect.",
        metavar="PATH",
        show_default=False,
    ),
]
Only = Annotated[
    str, typer.Option(metavar="TEXT", help="Only joins with this in their name.")
]


def explain(paths: Paths, *, only: Only = "") -> None:
    """Say what a join does and which engines can run it; nothing is run.

    How long rows live, when results come out, what becomes of late rows
    and how much is kept; then, for each engine, yes and how, or not yet and
    what it lacks. A join that breaks a law is told by the law. The exit
    status is 0 where all joins are sound, 2 where a file is broken or a join
    is not.

    [bold]Try[/]

    dovetail explain my_join.json

    dovetail explain tests/cases --only table
    """
    out = Console(highlight=False, soft_wrap=True)
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    try:
        cases = [case for case in read_joins(paths) if only in case.name]
    except DovetailError as error:
        errors.print(f"dovetail explain: {error}", style="red", markup=False)
        raise typer.Exit(BROKEN) from error
    if not cases:
        errors.print(f'dovetail explain: no join has "{only}" in its name', style="red")
        raise typer.Exit(BROKEN)
    sound = [_tell(case, out) for case in cases]
    raise typer.Exit(0 if all(sound) else BROKEN)


def _tell(case: Case, out: Console) -> bool:
    """Shows one join; returns whether it is sound."""
    out.print(Text(case.name, "bold"))
    try:
        told = _explained(case.join)
    except DovetailError as error:
        out.print(Text(f"{type(error).__name__}: {error}\n", "red"))
        return False
    out.print(Text(told))
    out.print()
    return True


def _explained(join: Neutral | Script) -> str:
    """Returns a join, or all joins of a program, in words."""
    match join:
        case Neutral():
            return explained(join.play())
        case Script("ecl", text, given):
            return explained_program(ecl_play(text, given).program)
        case Script(dialect=dialect):
            return f"the dialect {dialect} is not yet supported"
