"""Rows of a list gone through one after the other, each with what became of the last.

    aggregate(rows, start, (past, coming) -> ..)

`past.row` is the result so far, `coming` the row at hand. A transform that skips leaves
the result as it was; COUNTER counts its rows all the same.
"""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.expression.writing import text_of
from dovetail.front.ecl.casting import Scalar
from dovetail.front.ecl.types import INTEGER, EclType, Field, RecordType, Whole
from dovetail.front.ecl.values import Made, RowValue

PAST, COMING = "past", "coming"
COUNTER = Scalar(f"({PAST}.counter + 1L)", Whole())


def past_row(record: RecordType) -> RowValue:
    """Returns what has become of the rows so far."""
    return RowValue(record, f"{PAST}.row")


def coming_row(record: RecordType) -> RowValue:
    """Returns the row at hand."""
    return RowValue(record, COMING)


def struct_of(parts: tuple[tuple[str, str], ...]) -> str:
    """Returns a record of named values."""
    return f"named_struct({', '.join(f'{text_of(name)}, {it}' for name, it in parts)})"


@dataclass(frozen=True, slots=True)
class Fold:
    """A transform over the rows of a list; `most` results are enough, 0 is no limit."""

    made: Made
    most: int = 0

    @property
    def type(self) -> EclType:
        """Returns the type of what comes out: a row, and how many have made it."""
        counts = (Field("counter", INTEGER), Field("kept", INTEGER))
        return RecordType((Field("row", self.made.record), *counts))

    def text(self, rows: str, start: str) -> str:
        """Returns what becomes of a first row by the rows of a list."""
        parts = (("row", start), ("counter", "0L"), ("kept", "0L"))
        merge = f"({PAST}, {COMING}) -> {self._next}"
        return f"aggregate({rows}, {struct_of(parts)}, {merge})"

    @property
    def _next(self) -> str:
        """Returns what becomes of the result so far by the row at hand."""
        made = self._state(struct_of(self.made.columns), "1L")
        left = self._state(f"{PAST}.row", "0L")
        is_skipped = self.made.skip
        found = made if is_skipped == "false" else f"IF({is_skipped}, {left}, {made})"
        is_full = f"{PAST}.kept >= {self.most}L"
        return f"IF({is_full}, {PAST}, {found})" if self.most else found

    @staticmethod
    def _state(row: str, more: str) -> str:
        """Returns a result beside its counts."""
        kept = f"({PAST}.kept + {more})"
        return struct_of((("row", row), ("counter", COUNTER.text), ("kept", kept)))
