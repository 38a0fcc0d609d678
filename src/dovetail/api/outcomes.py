"""What a program puts out, on whichever engine: a few rows to look at, or all in files.

The door of the command line: it knows outputs by their names and columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from dovetail import spec
from dovetail.bind.files import Format
from dovetail.bind.files.names import check_format, place_of
from dovetail.errors import SpecError


class Outcome(Protocol):
    """A program that has been read, with its rows at hand."""

    @property
    def program(self) -> spec.Program:
        """Returns the program."""

    def first(self, name: str, count: int) -> Sequence[spec.Row]:
        """Returns the first rows of an output."""

    def write(self, name: str, place: Path, written: Format) -> Path:
        """Writes an output as a new file or folder of parts, and returns it."""

    def done(self) -> tuple[int, int]:
        """Returns how many parts of the work at hand are done, and how many are."""


def with_files(program: spec.Program) -> spec.Program:
    """Returns a program that also puts out what it stores in files, by their names."""
    names = {one.name.lower() for one in program.outputs}
    for file in program.files:
        if file.name in names:
            raise SpecError(
                f'an output and a file are named "{file.name}"',
                "a name of its own for each",
            )
    return replace(program, outputs=(*program.outputs, *program.files), files=())


def places_of(outcome: Outcome, folder: Path, written: Format) -> dict[str, Path]:
    """Returns where every output goes below a folder, or refuses the first misfit."""
    places = {}
    for output in outcome.program.outputs:
        check_format(output.name, output.step.schema, written)
        places[output.name] = place_of(folder, output.name)
    return places
