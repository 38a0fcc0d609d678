"""`dovetail check`: plays cases and says which come out right.

Verdicts are told as lines and tables for people, as JSON for programs.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from dovetail.cli.terminal import BROKEN, reported
from dovetail.conformance.case import Case, all_cases
from dovetail.conformance.check import Check, Status, Verdict
from dovetail.conformance.compare import SHOWN, Difference, describe, plain, shown
from dovetail.conformance.engines import DEFAULT, EngineName, parse_split


class Choice(Enum):
    """What --engine takes."""

    ORACLE = "oracle"
    LOCAL = "local"
    BATCH = "batch"
    STREAM = "stream"
    ALL = "all"

    @property
    def engines(self) -> tuple[EngineName, ...]:
        """Returns the engines that are meant, the quickest first."""
        if self is Choice.ALL:
            return tuple(EngineName)
        return (EngineName(self.value),)


Paths = Annotated[
    list[Path],
    typer.Argument(
        help="Case files, or folders of them.", metavar="PATH", show_default=False
    ),
]
Engine = Annotated[
    Choice,
    typer.Option(
        help="Who plays: the definition, the kernels without Spark, "
        "Spark DataFrames, Spark streams, or everyone."
    ),
]
Cuts = Annotated[
    str,
    typer.Option(
        help="How events are cut into micro-batches of a stream: "
        "each, whole or random:SEED."
    ),
]
AsJson = Annotated[
    bool, typer.Option("--json", help="One JSON object a case, and nothing else.")
]


def check(
    paths: Paths,
    *,
    engine: Engine = Choice.ALL,
    split: Cuts = DEFAULT,
    json: AsJson = False,
) -> None:
    """Check cases: joins as data, with the rows that must come out.

    One line a case: [green]ok[/], [red]FAIL[/] with the cells that differ,
    [yellow]skip[/] with the reason. A case that cannot be read fails by itself. The
    exit status is 0 where nothing failed, 1 where something did, 2 where a file is no
    JSON.

    [bold]Try[/]

    dovetail check cases/ --engine oracle

    dovetail check my_join.json --engine stream --split each
    """
    with reported("check", failed=BROKEN):
        # All files are read before the first case is played: a broken one is told at
        # once.
        cuts, cases = parse_split(split), tuple(all_cases(paths))
        # Of one engine its name would stand in every line.
        report = JsonReport() if json else TextReport(names_engine=engine is Choice.ALL)
        checks = [Check(name, cuts) for name in engine.engines]
        failed = _run(cases, checks, report)
    # 1 where a case failed: 2 is for what could not be played at all.
    raise typer.Exit(int(failed))


def _run(cases: tuple[Case, ...], checks: list[Check], report: Report) -> bool:
    """Tells every verdict as it comes; returns whether one is a failure."""
    has_failed = False
    with report.progress(len(cases) * len(checks)) as step:
        for one in checks:
            for verdict in one.verdicts(cases):
                step()
                report.tell(verdict)
                has_failed |= verdict.status is Status.FAIL
    report.close()
    return has_failed


_STYLES = {Status.OK: "green", Status.FAIL: "bold red", Status.SKIP: "yellow"}
_COUNTS = {Status.OK: "passed", Status.FAIL: "failed", Status.SKIP: "skipped"}


class Report(ABC):
    """Whoever is told the verdicts; counts them."""

    def __init__(self) -> None:
        """Starts with nothing told."""
        self._counts: Counter[Status] = Counter()
        # Names and reasons are never cut to the width of a screen that may not be one.
        self._out = Console(soft_wrap=True, highlight=False, markup=False)
        self._err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)

    def tell(self, verdict: Verdict) -> None:
        """Counts a verdict and shows it."""
        self._counts[verdict.status] += 1
        self.show(verdict)

    @abstractmethod
    def show(self, verdict: Verdict) -> None:
        """Shows one verdict."""

    @abstractmethod
    def close(self) -> None:
        """Shows the counts."""

    @contextmanager
    def progress(self, total: int) -> Iterator[Callable[[], None]]:
        """Gives what to call after each verdict; a terminal shows how far it is."""
        # On stderr, so that stdout has verdicts alone.
        is_seen = self._err.is_terminal
        with Progress(console=self._err, disable=not is_seen, transient=True) as bar:
            task = bar.add_task("checking", total=total)
            yield partial(bar.advance, task)

    def counts(self) -> str:
        """Returns the counts in words."""
        return ", ".join(
            f"{self._counts[status]} {word}" for status, word in _COUNTS.items()
        )


class JsonReport(Report):
    """One object a case on stdout, and nothing else there."""

    def show(self, verdict: Verdict) -> None:
        """Shows one verdict as an object on a line of its own."""
        told = {
            "name": verdict.case.name,
            "engine": verdict.engine.value,
            "status": verdict.status.value,
            "reason": verdict.reason,
            "difference": describe(verdict.difference),
        }
        self._out.print(json.dumps(told))

    def close(self) -> None:
        """Shows the counts to whoever looks on."""
        self._err.print(self.counts())


class TextReport(Report):
    """One line a case, what differs below it, the counts on the last line."""

    def __init__(self, *, names_engine: bool) -> None:
        """Keeps whether each line names its engine."""
        super().__init__()
        self._names_engine = names_engine

    def show(self, verdict: Verdict) -> None:
        """Shows one verdict as a line, a failure with what differs."""
        line = Text(f"{verdict.status.value:4}  ", _STYLES[verdict.status])
        if self._names_engine:
            line.append(f"{verdict.engine.value:6}  ", "dim")
        line.append(verdict.case.name, "default")
        if verdict.reason:
            # The lines behind the first stand under the name, as what differs does.
            line.append(f": {verdict.reason}".replace("\n", "\n      "), "default")
        self._out.print(line)
        if verdict.difference and self._out.is_terminal:
            self._out.print(table(verdict.difference))
        # Where nobody looks on, plain lines: a log has no use for a table.
        for text in () if self._out.is_terminal else describe(verdict.difference):
            self._out.print(f"      {text}")

    def close(self) -> None:
        """Shows the counts, alone on the last line."""
        self._out.print(self.counts())


def table(difference: Difference) -> Table:
    """Returns a difference cell by cell, at most ten rows of a sort."""
    grid = Table("", "row", "cell", "expected", "found", box=None, padding=(0, 2, 0, 6))
    for note in difference.notes:
        grid.add_row("order", Text(note))
    for pair in islice(difference.near, SHOWN):
        for cell in pair.cells:
            values = Text(plain(cell.expected), "green"), Text(plain(cell.found), "red")
            grid.add_row("differs", Text(shown(pair.expected)), cell.name, *values)
    for line in islice(difference.missing, SHOWN):
        grid.add_row("missing", Text(shown(line), "green"))
    for line in islice(difference.unexpected, SHOWN):
        grid.add_row("unexpected", Text(shown(line), "red"))
    return grid
