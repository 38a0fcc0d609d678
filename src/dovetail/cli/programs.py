"""What the commands that take a program in ECL have in common: its file, its folder."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dovetail.api.modules import ModuleFolder
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
