"""`dovetail explain`: a join's plan in words, and which engines can run it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from dovetail import spec
from dovetail.cli.jobs import JOB, JobProgram
from dovetail.cli.programs import ENDINGS, BatchProgram, Files, Texts, read_program
from dovetail.cli.terminal import BROKEN, reported, waiting
from dovetail.conformance import flows
from dovetail.conformance.case import Case, read_joins
from dovetail.conformance.chains import TableChain
from dovetail.conformance.explain import (
    explained,
    explained_chain,
    explained_in_row_time,
    explained_text,
)
from dovetail.conformance.flows import FlowPlay, JoinPlay, Results, RowTimeText
from dovetail.conformance.languages import AnyPlay, play_of
from dovetail.conformance.programs import ProgramPlay
from dovetail.errors import DovetailError, SpecError
from dovetail.plan.words import explained_program

Paths = Annotated[
    list[Path],
    typer.Argument(
        help="Files with joins: cases, or cases without name and expect, or programs "
        "in files that end in .ecl, .spl or .sql, these two with a job file in .toml, "
        "or a job file alone.",
        metavar="PATH",
        show_default=False,
    ),
]
Only = Annotated[
    str, typer.Option(metavar="TEXT", help="Only joins with this in their name.")
]
Plan = Annotated[
    bool,
    typer.Option(
        "--plan",
        help="Ask Spark for its plan of a program in ECL; --files does so anyway.",
    ),
]


def explain(
    paths: Paths,
    *,
    only: Only = "",
    files: Files = None,
    modules: Texts = None,
    plan: Plan = False,
) -> None:
    """Say what a join does and which engines can run it; nothing is run.

    How long rows live, when results come out, what becomes of late rows
    and how much is kept; then, for each engine, yes and how, or not yet and
    what it lacks. A join that breaks a law is told by the law. Of a program in
    ECL each JOIN: what became of its options, and how Spark joins. Of one in SPL
    each Join, and of a job its queries on Spark, and what its sinks hold. The exit
    status is 0 where all joins are sound, 2 where a file is broken or a join is not.

    [bold]Try[/]

    dovetail explain my_join.json

    dovetail explain tests/cases --only table

    dovetail explain sales.ecl --files data

    dovetail explain bargains.spl job.toml
    """
    out = Console(highlight=False, soft_wrap=True)
    with reported("explain"):
        programs, job_files = _programs(paths, is_planned=plan or files is not None)
        job = next(iter(job_files), None)
        # A job file may name its program itself: then it is what is told.
        if not programs:
            programs, job = job_files, None
        # All is read before anything is told: a broken file is told alone.
        texts = [
            text
            for path in programs
            if only in path.stem
            for known in [read_program(path, job, files=files, modules=modules)]
            for text in _told(path, known, is_planned=plan)
        ]
        joins = read_joins([it for it in paths if it not in (*programs, *job_files)])
        cases = [case for case in joins if only in case.name]
        if not cases and not texts:
            raise SpecError(f'no join has "{only}" in its name')
    for text in texts:
        out.print(text)
    # All are told, also behind one that breaks a law.
    sound = [_tell(case, out) for case in cases]
    raise typer.Exit(0 if all(sound) else BROKEN)


def _programs(paths: list[Path], *, is_planned: bool) -> tuple[list[Path], list[Path]]:
    """Returns which paths are programs and which are job files, or refuses them."""
    programs = [path for path in paths if path.suffix.lower() in ENDINGS]
    jobs = [path for path in paths if path.suffix.lower() == JOB]
    if is_planned and not programs:
        raise SpecError(
            "--plan or --files without a program",
            f"a file that ends in {' or '.join(ENDINGS)}",
            "how a case runs on Spark is told without them",
        )
    if len(jobs) > 1 or (jobs and len(programs) > 1):
        found = f"{len(jobs)} job files and {len(programs)} programs"
        raise SpecError(found, "one of each")
    return programs, jobs


def _told(
    path: Path, found: BatchProgram | JobProgram, *, is_planned: bool
) -> Iterator[Text]:
    """Yields what is told of a program, with Spark's plans where they are asked for."""
    if isinstance(found, JobProgram):
        if is_planned:
            hint = "dovetail explain program.spl job.toml tells how Spark runs it"
            raise SpecError("--plan of a program on streams", "a job file", hint)
        yield Text(path.stem, "bold")
        yield Text(f"{found.explained()}\n")
        return
    program = found.translated()
    yield Text(path.stem, "bold")
    yield Text(explained_program(program))
    if is_planned or found.root is not None:
        from dovetail.api import programs  # noqa: PLC0415 - Spark is slow
        from dovetail.engines.spark_session import program_session  # noqa: PLC0415

        with waiting("starting Spark"):
            spark = program_session("")
        plans = (
            programs.plans_on_nothing(spark, program)
            if found.root is None
            else programs.plans_on_files(spark, program, found.root)
        )
        for name, lines in plans.items():
            yield Text("\n".join([f"\nSpark's plan of {name}", *lines]))
    yield Text()


def _tell(case: Case, out: Console) -> bool:
    """Shows one join; returns whether it is sound."""
    out.print(Text(case.name, "bold"))
    try:
        words = _explained(play_of(case.join))
    except DovetailError as error:
        out.print(Text(f"{type(error).__name__}: {error}\n", "red"))
        return False
    out.print(Text(words))
    out.print()
    return True


def _explained(play: AnyPlay) -> str:
    """Returns a join, or all joins of a program, in words."""
    match play:
        case spec.Play():
            return explained(play)
        case flows.NamedJoin(one):
            return explained(one)
        case ProgramPlay(program):
            return explained_program(program)
        case JoinPlay() | FlowPlay():
            return explained_text(play)
        case RowTimeText():
            return explained_in_row_time(play)
        case TableChain():
            return explained_chain(play)
        case Results(plays):
            return "\n\n".join(_explained(one) for _, one in plays)
