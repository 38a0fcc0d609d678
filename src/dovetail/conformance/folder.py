"""A program played on the files of a folder without Spark, by the kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from dovetail import spec
from dovetail.bind.files import Format, Root
from dovetail.bind.files.columns import fitted
from dovetail.bind.files.rows import write_rows
from dovetail.conformance.engines import EngineName
from dovetail.conformance.programs import ProgramPlay
from dovetail.engines.tables import arrow_table


@dataclass(frozen=True, slots=True)
class PlayedOutcome:
    """A program that was played without Spark."""

    program: spec.Program
    rows: dict[str, list[spec.Row]]

    def first(self, name: str, count: int) -> Sequence[spec.Row]:
        """Returns the first rows of an output."""
        return self.rows[name][:count]

    def write(self, name: str, place: Path, written: Format) -> Path:
        """Writes an output as a new file, and returns it."""
        table = arrow_table(self.rows[name], spec.schema_of(self.program, name))
        return write_rows(place, written, table, self.rows[name])

    def done(self) -> tuple[int, int]:
        """Returns how much is left to do: nothing, as all is played beforehand."""
        return (0, 0)


def played(program: spec.Program, root: Root) -> PlayedOutcome:
    """Returns what the kernels make of a program on the files of a folder."""
    files = {
        given.name: list(fitted(root, given).rows())
        for given in spec.givens_of(program)
    }
    play = ProgramPlay(program, files)
    # An output without rows is one all the same, and is written.
    rows: dict[str, list[spec.Row]] = {one.name: [] for one in program.outputs}
    for line in play.lines(EngineName.LOCAL):
        rows[str(line.facts["out"])].append(line.row)
    return PlayedOutcome(program, rows)
