"""`dovetail run` and `dovetail translate`: programs in ECL on the files of a folder.

The one carries a program out, the other prints the PySpark program that it becomes.
"""

from __future__ import annotations

from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from dovetail import spec
from dovetail.bind.files import Format, Root
from dovetail.bind.files.names import check_format, place_of
from dovetail.cli.terminal import Outcome, reported, screen, table, waiting, watched
from dovetail.dialects import ecl
from dovetail.errors import SpecError

# Spark and Arrow take a second to load: who asks for help waits for neither.
if TYPE_CHECKING:
    from dovetail.api.catalogs import ModuleFolder

ENDING = ".ecl"
_SHOWN = 20

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
        from dovetail.api.catalogs import FolderCatalog  # noqa: PLC0415 - Arrow

        text, stores = read_program(program), output is not None
        if stores and show is not None:
            raise SpecError("--show with --output", "one of them")
        if not stores and written is not None:
            raise SpecError("--format without --output", "both", "--output says where")
        root, texts = Root.of(files or Path()), modules_of(program, modules)
        found = ecl.translate(text, FolderCatalog(root), texts)
        if master and engine is Engine.LOCAL:
            raise SpecError("--master with --engine local", "one of them")
        outcome = _outcome(
            _with_files(found) if stores else found, root, engine, master
        )
        if output is None:
            _print(outcome, _SHOWN if show is None else show)
        else:
            _write(outcome, output, written or Format.PARQUET)
        _remark(outcome)


def modules_of(program: Path, folder: Path | None) -> ModuleFolder:
    """Returns the texts that a program may import."""
    from dovetail.api.catalogs import ModuleFolder  # noqa: PLC0415 - Arrow is slow

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


def _with_files(program: spec.Program) -> spec.Program:
    """Returns a program that also puts out what it stores in files, by their names."""
    names = {one.name.lower() for one in program.outputs}
    for file in program.files:
        if file.name in names:
            raise SpecError(
                f'an output and a file are named "{file.name}"',
                "a name of its own for each",
            )
    return replace(program, outputs=(*program.outputs, *program.files), files=())


def _outcome(program: spec.Program, root: Root, engine: Engine, master: str) -> Outcome:
    """Returns a program with its rows at hand, on the engine that is asked for."""
    if engine is Engine.LOCAL:
        from dovetail.conformance.folder import played  # noqa: PLC0415

        return played(program, root)
    from dovetail.api.programs import on_spark  # noqa: PLC0415 - Spark is slow
    from dovetail.engines.spark_session import program_session  # noqa: PLC0415

    with waiting("starting Spark"):
        return on_spark(program_session(master), program, root)


def _print(outcome: Outcome, count: int) -> None:
    """Prints the first rows of every output."""
    out = screen()
    for output in outcome.program.outputs:
        with watched(outcome, output.name):
            # One more than is printed tells whether there are more.
            rows = outcome.first(output.name, count + 1)
        out.print(output.name, style="bold")
        out.print(table(output.step.schema, rows[:count]))
        if len(rows) > count:
            out.print(f"the first {count} rows; --show N prints more\n", style="dim")


def _write(outcome: Outcome, folder: Path, written: Format) -> None:
    """Writes every output, and says where."""
    out = Console(highlight=False, markup=False, soft_wrap=True)
    places = {}
    # The first misfit is refused before anything is written.
    for output in outcome.program.outputs:
        check_format(output.name, output.step.schema, written)
        places[output.name] = place_of(folder, output.name)
    for name, place in places.items():
        with watched(outcome, name):
            found = outcome.write(name, place, written)
        out.print(f"{name}: {found}")


def _remark(outcome: Outcome) -> None:
    """Says what of the text had no effect."""
    # On stderr: stdout has the rows, and may be a pipe.
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
        from dovetail.api import programs  # noqa: PLC0415 - Spark is slow

        root = None if files is None else Root.of(files)
        texts = modules_of(program, modules)
        typer.echo(
            programs.bare_script(text, texts)
            if root is None
            else programs.file_script(text, root, texts)
        )
