"""`dovetail run` and `dovetail translate`: programs in ECL on the files of a folder.

The one carries a program out, the other prints the PySpark program that it becomes.
"""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from dovetail import spec
from dovetail.api.modules import ModuleFolder
from dovetail.api.outcomes import Outcome, places_of, with_files
from dovetail.bind.files import Format, Root
from dovetail.cli.terminal import reported, screen, table, waiting, watched
from dovetail.errors import SpecError

ENDING = ".ecl"

Program = Annotated[
    Path,
    typer.Argument(
        help="A program in ECL, in a file that ends in .ecl.",
        metavar="PROGRAM",
        show_default=False,
    ),
]
Files = Annotated[
    Path | None,
    typer.Option(
        metavar="FOLDER",
        help="The folder with the files that the program names: ~a::b is the file or "
        "folder b in its folder a, as .parquet, .csv or .json.",
        show_default=False,
    ),
]


Texts = Annotated[
    Path | None,
    typer.Option(
        "--modules",
        metavar="FOLDER",
        help="The folder of the texts that IMPORT brings: a.b is the file a/b.ecl in "
        "it. By default the folder of the program.",
        show_default=False,
    ),
]


def modules_of(program: Path, folder: Path | None) -> ModuleFolder:
    """Returns the texts that a program may import."""
    return ModuleFolder.of(folder or program.parent, program.parent)


def read_program(path: Path) -> str:
    """Returns the text of a program."""
    if path.suffix.lower() != ENDING:
        raise SpecError(
            f'"{path}" is no program',
            f"a file that ends in {ENDING}",
            "dovetail check plays cases in .json" if path.suffix == ".json" else "",
        )
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(
            f'"{path}" cannot be read',
            "a text in UTF-8, in a file that is there",
            "a path that is not whole begins where the command runs",
        ) from error


_SHOWN = 20


class Engine(Enum):
    """What --engine takes."""

    LOCAL = "local"
    SPARK = "spark"


Out = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        metavar="FOLDER",
        help="Write every output there under its name, instead of printing it.",
        show_default=False,
    ),
]
Written = Annotated[
    Format | None,
    typer.Option(
        "--format", help="How --output writes.", show_default=Format.PARQUET.value
    ),
]
Show = Annotated[
    int | None,
    typer.Option(
        metavar="N", min=0, help="Rows of each to print.", show_default=str(_SHOWN)
    ),
]
Who = Annotated[
    Engine,
    typer.Option("--engine", help="Spark, or for small files the kernels without it."),
]
Master = Annotated[
    str,
    typer.Option(
        metavar="URL",
        help="Where Spark runs, such as local[4].",
        show_default="local[*]",
    ),
]


def run(
    program: Program,
    *,
    files: Files = None,
    modules: Texts = None,
    output: Out = None,
    written: Written = None,
    show: Show = None,
    engine: Who = Engine.SPARK,
    master: Master = "",
) -> None:
    """Carry out a program in ECL on files, and print or write what it puts out.

    The records of the program say which columns its files have, names whatever
    their case; a value that does not fit is told and ends the run. The exit
    status is 1 where the run fails, as by a LIMIT, 2 where the program, a file or
    an option is wrong.

    [bold]Try[/]

    dovetail run sales.ecl --files data

    dovetail run sales.ecl --files data --output out --format csv
    """
    with reported("run"):
        from dovetail.api.folder import folder_program  # noqa: PLC0415 - Arrow

        text, stores = read_program(program), output is not None
        if stores and show is not None:
            raise SpecError("--show with --output", "one of them")
        if not stores and written is not None:
            raise SpecError("--format without --output", "both", "--output says where")
        root, texts = Root.of(files or Path()), modules_of(program, modules)
        found = folder_program(text, root, texts)
        outcome = _outcome(found, root, (engine, master), stores=stores)
        if output is None:
            _print(outcome, _SHOWN if show is None else show)
        else:
            _write(outcome, output, written or Format.PARQUET)


def _outcome(
    program: spec.Program, root: Root, how: tuple[Engine, str], *, stores: bool
) -> Outcome:
    """Returns a program with its rows at hand, on the engine that is asked for."""
    engine, master = how
    if master and engine is Engine.LOCAL:
        raise SpecError("--master with --engine local", "one of them")
    program = with_files(program) if stores else program
    if engine is Engine.LOCAL:
        from dovetail.conformance.folder import played  # noqa: PLC0415

        return played(program, root)
    from dovetail.api.spark_programs import on_spark  # noqa: PLC0415 - Spark is slow
    from dovetail.engines.spark_session import program_session  # noqa: PLC0415

    with waiting("starting Spark"):
        return on_spark(program_session(master), program, root)


def _print(outcome: Outcome, count: int) -> None:
    """Prints the first rows of every output."""
    out = screen()
    for output in outcome.program.outputs:
        with watched(outcome, output.name):
            rows = outcome.first(output.name, count + 1)
        out.print(output.name, style="bold")
        out.print(table(output.step.schema, rows[:count]))
        if len(rows) > count:
            out.print(f"the first {count} rows; --show N prints more\n", style="dim")
    _remark(outcome)


def _write(outcome: Outcome, folder: Path, written: Format) -> None:
    """Writes every output, and says where."""
    out = Console(highlight=False, markup=False, soft_wrap=True)
    for name, place in places_of(outcome, folder, written).items():
        with watched(outcome, name):
            found = outcome.write(name, place, written)
        out.print(f"{name}: {found}")
    _remark(outcome)


def _remark(outcome: Outcome) -> None:
    """Says what of the text had no effect."""
    errors = Console(stderr=True, highlight=False, markup=False, soft_wrap=True)
    for remark in outcome.program.remarks:
        errors.print(f"note: {remark}", style="dim")
    for file in outcome.program.files:
        told = f'the file "{file.name}" is not written: --output says where'
        errors.print(f"note: {told}", style="dim")


def translate(program: Program, *, files: Files = None, modules: Texts = None) -> None:
    """Print the PySpark program that a program in ECL becomes; nothing is run.

    It is what dovetail run runs, and gives the same rows. With --files it reads
    the files of that folder and shows its outputs; without, it is a function of
    its inputs. It needs pyspark, and dovetail for its joins.

    [bold]Try[/]

    dovetail translate sales.ecl --files data > sales.py

    python sales.py
    """
    with reported("translate"):
        text = read_program(program)
        from dovetail.api.scripts import bare_script, file_script  # noqa: PLC0415

        root = None if files is None else Root.of(files)
        texts = modules_of(program, modules)
        typer.echo(
            bare_script(text, texts) if root is None else file_script(text, root, texts)
        )
