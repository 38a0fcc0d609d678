"""`dovetail explain`: a join's plan in words, and which engines can run it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.text import Text

from dovetail import spec
from dovetail.bind.files import Root
from dovetail.cli.programs import ENDING, Files, Texts, modules_of, read_program
from dovetail.cli.terminal import BROKEN, reported, waiting
from dovetail.conformance.case import Broken, Case, Neutral, Script, read_joins
from dovetail.conformance.explain import explained, explained_text
from dovetail.conformance.flows import spl_play
from dovetail.conformance.programs import ecl_play
from dovetail.dialects.ecl import translate
from dovetail.errors import DovetailError, SpecError
from dovetail.plan.words import explained_program

Paths = Annotated[
    list[Path],
    typer.Argument(
        help="Files with joins: cases, or cases without name and expect, or programs "
        "in ECL in files that end in .ecl.",
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
    ECL each JOIN: what became of its options, and how Spark joins. The exit
    status is 0 where all joins are sound, 2 where a file is broken or a join
    is not.

    [bold]Try[/]

    dovetail explain my_join.json

    dovetail explain tests/cases --only table

    dovetail explain sales.ecl --files data
    """
    out = Console(highlight=False, soft_wrap=True)
    programs = [path for path in paths if path.suffix.lower() == ENDING]
    is_planned = plan or files is not None
    with reported("explain"):
        if is_planned and not programs:
            raise SpecError(
                "--plan or --files without a program in ECL",
                f"a file that ends in {ENDING}",
                "how a case runs on Spark is told without them",
            )
        # All is read before anything is told: a broken file is told alone.
        texts = [
            text
            for path in programs
            if only in path.stem
            for text in _told(path, files, modules, is_planned=is_planned)
        ]
        joins = read_joins([it for it in paths if it not in programs])
        cases = [case for case in joins if only in case.name]
        if not cases and not texts:
            raise SpecError(f'no join has "{only}" in its name')
    for text in texts:
        out.print(text)
    sound = [_tell(case, out) for case in cases]
    raise typer.Exit(0 if all(sound) else BROKEN)


def _told(
    path: Path, files: Path | None, modules: Path | None, *, is_planned: bool
) -> Iterator[Text]:
    """Yields what is told of a program, with Spark's plans where they are asked for."""
    from dovetail.api import catalogs  # noqa: PLC0415 - Arrow is slow

    text, texts = read_program(path), modules_of(path, modules)
    root = None if files is None else Root.of(files)
    # Without a folder what the text says of its files is believed.
    known = catalogs.Unseen() if root is None else catalogs.FolderCatalog(root)
    program = translate(text, known, texts)
    yield Text(path.stem, "bold")
    yield Text(explained_program(program))
    for name, lines in (_plans(program, root) if is_planned else {}).items():
        yield Text("\n".join([f"\nSpark's plan of {name}", *lines]))
    yield Text()


def _plans(program: spec.Program, root: Root | None) -> Mapping[str, tuple[str, ...]]:
    """Returns Spark's plan of every output."""
    from dovetail.api import programs  # noqa: PLC0415 - Spark is slow
    from dovetail.engines.spark_session import program_session  # noqa: PLC0415

    with waiting("starting Spark"):
        spark = program_session("")
    if root is None:
        return programs.plans_on_nothing(spark, program)
    return programs.plans_on_files(spark, program, root)


def _tell(case: Case, out: Console) -> bool:
    """Shows one join; returns whether it is sound."""
    out.print(Text(case.name, "bold"))
    try:
        words = _explained(case.join)
    except DovetailError as error:
        out.print(Text(f"{type(error).__name__}: {error}\n", "red"))
        return False
    out.print(Text(words))
    out.print()
    return True


def _explained(join: Neutral | Script | Broken) -> str:
    """Returns a join, or all joins of a program, in words."""
    match join:
        case Neutral():
            return explained(join.play())
        case Script("ecl", text, given):
            return explained_program(ecl_play(text, given).program)
        case Script("spl", text, given):
            return explained_text(spl_play(text, given))
        case Script(dialect=dialect):
            return f"the dialect {dialect} is not yet supported"
        case Broken(error):
            raise error
