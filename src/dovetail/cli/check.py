"""`dovetail check`: plays cases and says which come out right."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from dovetail.cli.failing import BROKEN, told
from dovetail.cli.report import JsonReport, Report, TextReport
from dovetail.conformance.case import Case, all_cases
from dovetail.conformance.check import Check, Status
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
    with told("check", failed=BROKEN):
        cuts, cases = parse_split(split), tuple(all_cases(paths))
        report = JsonReport() if json else TextReport(names_engine=engine is Choice.ALL)
        checks = [Check(name, cuts) for name in engine.engines]
        failed = _run(cases, checks, report)
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
