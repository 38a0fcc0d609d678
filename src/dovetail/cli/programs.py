"""`dovetail run` and `dovetail translate`: programs, and jobs.

The one carries a program out, the other prints the PySpark program that it becomes. A
program in ECL has the files of a folder; the streams of one in SPL or SQL are bound by
a job file, which may name its program itself, or say a join.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from dovetail import spec
from dovetail.bind.document import FROM_HERE, text_of
from dovetail.bind.files import Format, Root
from dovetail.bind.files.names import check_format, place_of
from dovetail.cli import terminal
from dovetail.cli.jobs import JOB, JobProgram
from dovetail.dialects import ecl
from dovetail.errors import SpecError

# Spark and Arrow take a second to load: who asks for help waits for neither.
if TYPE_CHECKING:
    from dovetail.api.catalogs import ModuleFolder

ECL = ".ecl"
ENDINGS = (ECL, ".spl", ".sql")
"""The endings of the languages."""
_SHOWN = 20

Program = Annotated[
    Path,
    typer.Argument(
        help="A program in a file that ends in .ecl, .spl or .sql, or a job in .toml.",
        metavar="PROGRAM",
        show_default=False,
    ),
]
JobFile = Annotated[
    Path | None,
    typer.Argument(
        help="From where the streams of a program in SPL or SQL come, and where they "
        "go, in TOML.",
        metavar="[JOB]",
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


def run(
    program: Program,
    job: JobFile = None,
    *,
    files: Files = None,
    modules: Texts = None,
    output: Out = None,
    written: Written = None,
    show: Show = None,
    engine: Who = Engine.SPARK,
    master: terminal.Master = "",
) -> None:
    """Carry out a program or a job, and print or write what it puts out.

    Of files what is there is read; a value that does not fit ends the run. A job with
    a source that never ends goes on until Ctrl-C or SIGTERM. The exit status is 1
    where the run fails, as by a LIMIT, 2 where a program, file or option is wrong,
    130 or 143 where a signal has stopped what would have ended.

    [bold]Try[/]

    dovetail run sales.ecl --files data

    dovetail run sales.ecl --files data --output out --format csv

    dovetail run job.toml
    """
    with terminal.reported("run"):
        stores = output is not None
        if stores and show is not None:
            raise SpecError("--show with --output", "one of them")
        if not stores and written is not None:
            raise SpecError("--format without --output", "both", "--output says where")
        if master and engine is Engine.LOCAL:
            raise SpecError("--master with --engine local", "one of them")
        found = read_program(program, job, files=files, modules=modules)
        written, show = written or Format.PARQUET, _SHOWN if show is None else show
        if isinstance(found, JobProgram):
            if engine is Engine.LOCAL:
                raise SpecError(
                    "--engine local with a program on streams",
                    "streams of Spark",
                    "a case with some rows plays without Spark: dovetail check",
                )
            found.run(output, written, show=show, master=master)
            return
        outcome = found.outcome(engine, master, stores=stores)
        if output is None:
            for one in outcome.program.outputs:
                terminal.print_first(outcome, one.name, show)
        else:
            _write(outcome, output, written)
        for told in outcome.program.remarks:
            terminal.remark(told)
        for file in outcome.program.files:
            told = f'the file "{file.name}" is not written: --output says where'
            terminal.remark(told)


def modules_of(program: Path, folder: Path | None) -> ModuleFolder:
    """Returns the texts that a program may import."""
    from dovetail.api.catalogs import ModuleFolder  # noqa: PLC0415 - Arrow is slow

    return ModuleFolder.of(folder or program.parent, program.parent)


@dataclass(frozen=True, slots=True)
class BatchProgram:
    """A text in ECL with the folder of its files, and of the texts that it imports."""

    text: str
    files: Path | None
    modules: ModuleFolder

    def translated(self) -> spec.Program:
        """Returns the program; without a folder what it says of its files is so."""
        from dovetail.api import catalogs  # noqa: PLC0415 - Arrow is slow

        root = self.root
        known = catalogs.Unseen() if root is None else catalogs.FolderCatalog(root)
        return ecl.translate(self.text, known, self.modules)

    @property
    def root(self) -> Root | None:
        """Returns the folder of files, if one is given."""
        return None if self.files is None else Root.of(self.files)

    def outcome(self, engine: Engine, master: str, *, stores: bool) -> terminal.Outcome:
        """Returns the program with its rows at hand; `stores`: also those of files."""
        # A program may read no file; where it does, names begin where the command runs.
        root = self.root or Root.of(Path())
        found = replace(self, files=root.path).translated()
        program = found
        if stores:
            # What the text stores comes out too, under the names of the files.
            names = {one.name.lower() for one in found.outputs}
            for file in found.files:
                if file.name in names:
                    raise SpecError(
                        f'an output and a file are named "{file.name}"',
                        "a name of its own for each",
                    )
            outputs = (*found.outputs, *found.files)
            program = replace(found, outputs=outputs, files=())
        if engine is Engine.LOCAL:
            from dovetail.conformance.folder import played  # noqa: PLC0415

            return played(program, root)
        from dovetail.api.programs import on_spark  # noqa: PLC0415 - Spark is slow
        from dovetail.engines.spark_session import program_session  # noqa: PLC0415

        with terminal.waiting("starting Spark"):
            return on_spark(program_session(master), program, root)

    def script(self) -> str:
        """Returns the PySpark program that it becomes."""
        from dovetail.api import programs  # noqa: PLC0415 - Spark is slow

        # Without its files a program is a function: whoever runs it gives the inputs.
        if self.root is None:
            return programs.bare_script(self.text, self.modules)
        return programs.file_script(self.text, self.root, self.modules)


def read_program(
    path: Path, job: Path | None, *, files: Path | None, modules: Path | None
) -> BatchProgram | JobProgram:
    """Returns a program with its files, in the language that its ending says."""
    ending = path.suffix.lower()
    if ending not in (*ENDINGS, JOB):
        raise SpecError(
            f'"{path}" is no program',
            f"a file that ends in {', '.join(ENDINGS)} or {JOB}",
            "dovetail check plays cases in .json" if path.suffix == ".json" else "",
        )
    if ending == JOB and job is not None:
        raise SpecError(f'the job files "{path}" and "{job}"', "one of them")
    if ending != ECL:
        if files is not None or modules is not None:
            if ending == JOB:
                hint = 'file = ".." in [streams.NAME] of the job says where rows are'
                raise SpecError("--files or --modules with a job file", "neither", hint)
            language = ending.removeprefix(".").upper()
            hint = f"dovetail run program{ending} job.toml: the job says where they are"
            raise SpecError(f"--files or --modules with {language}", "a job file", hint)
        if ending == JOB:
            return JobProgram(None, path)
        return JobProgram(path, job)
    text = text_of(path, FROM_HERE)
    if job is not None:
        hint = "--files says where the files are that the program names"
        raise SpecError(f'the job file "{job}" of a program in ECL', "none", hint)
    return BatchProgram(text, files, modules_of(path, modules))


def _write(outcome: terminal.Outcome, folder: Path, written: Format) -> None:
    """Writes every output, and says where."""
    terminal.refuse_file(folder)
    out = Console(highlight=False, markup=False, soft_wrap=True)
    places = {}
    # The first misfit is refused before anything is written.
    for output in outcome.program.outputs:
        check_format(output.name, output.step.schema, written)
        places[output.name] = place_of(folder, output.name)
    for name, place in places.items():
        with terminal.watched(outcome, name):
            found = outcome.write(name, place, written)
        out.print(f"{name}: {found}")


def translate(
    program: Program, job: JobFile = None, *, files: Files = None, modules: Texts = None
) -> None:
    """Print the PySpark program that a program becomes; nothing is run.

    It is what dovetail run runs, and gives the same rows. With its files it reads
    them and shows its outputs; without, it is a function of its inputs. It needs
    pyspark, and dovetail for its joins.

    [bold]Try[/]

    dovetail translate sales.ecl --files data > sales.py

    dovetail translate bargains.spl job.toml > bargains.py

    dovetail translate job.toml > job.py

    python sales.py
    """
    with terminal.reported("translate"):
        typer.echo(read_program(program, job, files=files, modules=modules).script())
