"""How a command speaks: errors as a sentence, rows as a table, a bar while Spark works.

A bar is for who looks on, where stdout is a terminal; work that is done within a second
shows none.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event, Thread
from typing import Annotated, Protocol

import typer
from rich import box
from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed
from rich.table import Table
from rich.text import Text

from dovetail import spec
from dovetail.bind.files import Format
from dovetail.errors import DovetailError, EngineError, SpecError
from dovetail.schema import Schema, shown

FAILED, BROKEN = 1, 2
Master = Annotated[
    str,
    typer.Option(
        metavar="URL",
        help="Where Spark runs, such as local[4].",
        show_default="local[*]",
    ),
]
"""The option of every command that starts Spark."""


@contextmanager
def reported(command: str, *, failed: int = FAILED) -> Iterator[None]:
    """Tells an error in a sentence and ends: `failed` where a run failed, else 2."""
    try:
        yield
    except ImportError as error:
        raise _ended(command, EngineError.not_installed(error), BROKEN) from error
    except DovetailError as error:
        # What fails while it runs is no mistake of the text: a second run may do.
        code = failed if isinstance(error, EngineError) else BROKEN
        raise _ended(command, error, code) from error


def _ended(command: str, error: DovetailError, code: int) -> typer.Exit:
    """Returns the end of the command, once the error is told."""
    # Not on stdout, which may be a pipe; without markup, as brackets are the text's.
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    errors.print(f"dovetail {command}: {error}", style="red", markup=False)
    return typer.Exit(code)


def refuse_file(output: Path) -> None:
    """Refuses a file where the folder of outputs is to be, or one around it."""
    for place in (output, *output.absolute().parents):
        if place.is_file():
            told = f'--output "{output}", where the file "{place}" is'
            hint = "--output takes another folder"
            raise SpecError(told, "a folder, or none yet", hint)


class Working(Protocol):
    """Work that goes on."""

    def done(self) -> tuple[int, int]:
        """Returns how many parts of the work at hand are done, and how many are."""


class Outcome(Working, Protocol):
    """A program with its rows at hand, on whichever engine."""

    @property
    def program(self) -> spec.Program:
        """Returns the program."""

    def first(self, name: str, count: int) -> Sequence[spec.Row]:
        """Returns the first rows of an output."""

    def write(self, name: str, place: Path, written: Format) -> Path:
        """Writes an output as a new file or folder of parts, and returns it."""


# Seconds before a bar is shown, and between two looks at the work.
_PATIENCE, _PAUSE = 1.0, 0.2


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Shows what is waited for."""
    if not is_watched():
        yield
        return
    with Console(stderr=True).status(what):
        yield


@contextmanager
def watched(outcome: Working, name: str) -> Iterator[None]:
    """Shows how far the work on an output is, until it is done."""
    if not is_watched():
        yield
        return
    # The work is in this thread, which Spark blocks; the bar is drawn by another.
    over = Event()
    watcher = Thread(target=_follow, args=(outcome, name, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def is_watched() -> bool:
    """Tells whether somebody looks on."""
    return Console().is_terminal


def _follow(outcome: Working, name: str, over: Event) -> None:
    """Draws the bar until the work is over."""
    # Work that is done by then shows no bar: it would only flicker.
    if over.wait(_PATIENCE):
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()
    with Progress(
        *columns, Elapsed(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task(name, total=None)
        while not over.wait(_PAUSE):
            done, total = outcome.done()
            # Spark tells of the stages at work only, so the total may still grow.
            bar.update(task, completed=done, total=total or None)


_WIDE = 100_000


def screen() -> Console:
    """Returns the screen; what is no screen is as wide as the widest row."""
    # Where there is no screen rich would break lines at 80 letters.
    out = Console(highlight=False, markup=False)
    return (
        out if out.is_terminal else Console(highlight=False, markup=False, width=_WIDE)
    )


def table(schema: Schema, rows: Sequence[spec.Row]) -> Table:
    """Returns rows as a table; no value is cut."""
    grid = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in schema.names:
        grid.add_column(Text(name), overflow="fold")
    for row in rows:
        plain = (shown(row[name]) for name in schema.names)
        # Texts stand without the quotes of JSON. As Text: brackets are no style here.
        cells = (
            one if isinstance(one, str) else json.dumps(one, ensure_ascii=False)
            for one in plain
        )
        grid.add_row(*map(Text, cells))
    return grid


def print_first(outcome: Outcome, name: str, count: int) -> None:
    """Prints the first rows of an output."""
    with watched(outcome, name):
        # One more than is printed tells whether there are more.
        rows = outcome.first(name, count + 1)
    print_rows(name, spec.schema_of(outcome.program, name), rows, count=count)


def print_rows(
    name: str, schema: Schema, rows: Sequence[spec.Row], *, count: int
) -> None:
    """Prints rows, so many of them at most, under a name."""
    out = screen()
    out.print(name, style="bold")
    out.print(table(schema, rows[:count]))
    if len(rows) > count:
        out.print(f"the first {count} rows; --show N prints more\n", style="dim")


def remark(told: str) -> None:
    """Says what of a text had no effect."""
    # On stderr: stdout has the rows, and may be a pipe.
    errors = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    errors.print(f"note: {told}", style="dim")
