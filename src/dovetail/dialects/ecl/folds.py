"""Rows of a list gone through one after the other, each with what became of the last.

    aggregate(rows, start, (past, coming) -> ..)

`past.row` is the result so far, `coming` the row at hand. A transform that skips leaves
the result as it was; COUNTER counts its rows all the same. A Fold ends with one row, a
Series with a list of rows.
"""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.dialects.ecl.casting import Scalar
from dovetail.dialects.ecl.context import refusal
from dovetail.dialects.ecl.nodes import Node
from dovetail.dialects.ecl.types import (
    INTEGER,
    Field,
    RecordType,
    TableType,
    Whole,
    blank_text,
    spark_type,
)
from dovetail.dialects.ecl.values import Made, RowValue
from dovetail.expression import NEVER
from dovetail.expression.writing import text_of

PAST, COMING = "past", "coming"
COUNTER = Scalar(f"({PAST}.counter + 1L)", Whole())
_MADE = "made"
# A list of lists: what is added moves this many rows at most.
_CHUNK = 1000


def past_row(record: RecordType) -> RowValue:
    """Returns what has become of the rows so far."""
    return RowValue(record, f"{PAST}.row")


def coming_row(record: RecordType) -> RowValue:
    """Returns the row at hand."""
    return RowValue(record, COMING)


def struct_of(*parts: tuple[str, str]) -> str:
    """Returns a record of named values."""
    return f"named_struct({', '.join(f'{text_of(name)}, {it}' for name, it in parts)})"


def in_record(node: Node, made: Made, record: RecordType) -> Made:
    """Returns a transform whose result is LEFT for the next row: of the same record."""
    if made.record.shape != record.shape:
        raise refusal(
            node,
            f"a transform to ({', '.join(made.record.shape)}) of rows with "
            f"({', '.join(record.shape)})",
            "the record of the rows themselves: what it makes is LEFT for the next one",
            "PROJECT(rows, record) gives them the fields of the result before",
        )
    columns = zip(record.schema.names, (text for _, text in made.columns), strict=True)
    return Made(record, tuple(columns), made.skip)


@dataclass(frozen=True, slots=True)
class Fold:
    """A transform over the rows of a list; `most` results are enough, 0 is no limit."""

    made: Made
    most: int = 0

    @property
    def type(self) -> RecordType:
        """Returns the type of what comes out: a row, and how many have made it."""
        counts = (Field("counter", INTEGER), Field("kept", INTEGER))
        return RecordType((Field("row", self.made.record), *counts))

    def text(self, rows: str, start: str) -> str:
        """Returns what becomes of a first row by the rows of a list."""
        begin = struct_of(("row", start), ("counter", "0L"), ("kept", "0L"))
        return f"aggregate({rows}, {begin}, ({PAST}, {COMING}) -> {self._next})"

    @property
    def _next(self) -> str:
        """Returns what becomes of the result so far by the row at hand."""
        made = self._state(struct_of(*self.made.columns), "1L")
        found = unless(self.made.skip, made, self._state(f"{PAST}.row", "0L"))
        is_full = f"{PAST}.kept >= {self.most}L"
        return f"IF({is_full}, {PAST}, {found})" if self.most else found

    @staticmethod
    def _state(row: str, more: str) -> str:
        """Returns a result beside its counts."""
        kept = f"({PAST}.kept + {more})"
        return struct_of(("row", row), ("counter", COUNTER.text), ("kept", kept))


def unless(skip: str, found: str, other: str) -> str:
    """Returns a value, or another where a row is skipped."""
    return found if skip == NEVER.text else f"IF({skip}, {other}, {found})"


@dataclass(frozen=True, slots=True)
class Series:
    """Rows that come out one by one while those of a list are gone through.

    `row` is the record of the result so far, `out` that of what comes out.
    """

    row: RecordType
    out: RecordType

    def text(self, rows: str, start: str, merge: str, *, has_last: bool = False) -> str:
        """Returns the list of what comes out; behind it the last result, if asked."""
        begin = struct_of(
            ("row", start),
            ("counter", "0L"),
            ("chunk", blank_text(TableType(self.out))),
            ("done", f"CAST(array() AS array<{spark_type(TableType(self.out))}>)"),
        )
        last = f", array({PAST}.row)" if has_last else ""
        finish = f"{PAST} -> concat(flatten({PAST}.done), {PAST}.chunk{last})"
        return f"aggregate({rows}, {begin}, ({PAST}, {COMING}) -> {merge}, {finish})"

    def silent(self, row: str) -> str:
        """Returns the next state where nothing comes out."""
        return self._state(row, f"{PAST}.chunk", f"{PAST}.done")

    def giving(self, row: str, out: str) -> str:
        """Returns the next state where a row comes out."""
        has_room = f"size({PAST}.chunk) < {_CHUNK}"
        chunk = f"IF({has_room}, concat({PAST}.chunk, array({out})), array({out}))"
        full = f"concat({PAST}.done, array({PAST}.chunk))"
        return self._state(row, chunk, f"IF({has_room}, {PAST}.done, {full})")

    @staticmethod
    def _state(row: str, chunk: str, done: str) -> str:
        """Returns a state."""
        return struct_of(
            ("row", row), ("counter", COUNTER.text), ("chunk", chunk), ("done", done)
        )


def once(value: str, used: str) -> str:
    """Returns what is made of a value, which is computed once, by the name `made`."""
    return f"get(transform(array({value}), {_MADE} -> {used}), 0)"


def iterated(made: Made, start: str) -> str:
    """Returns each row as a transform of it and of the result before."""
    series = Series(made.record, made.record)
    found = once(struct_of(*made.columns), series.giving(_MADE, _MADE))
    merge = unless(made.skip, found, series.silent(f"{PAST}.row"))
    return series.text("l.rows", start, merge)


def processed(made: Made, state: Made, start: str) -> str:
    """Returns each row as a transform of it and of a row that goes along."""
    series = Series(state.record, made.record)
    row = struct_of(*state.columns)
    found = once(struct_of(*made.columns), series.giving(row, _MADE))
    merge = unless(made.skip, found, series.silent(f"{PAST}.row"))
    return series.text("l.rows", start, merge)


def rolled(made: Made, same: str) -> str:
    """Returns rows that are the same as the result so far folded into it."""
    series = Series(made.record, made.record)
    one = series.silent(unless(made.skip, struct_of(*made.columns), f"{PAST}.row"))
    merge = f"IF({same}, {one}, {series.giving(COMING, f'{PAST}.row')})"
    text = series.text(BEHIND_FIRST, FIRST, merge, has_last=True)
    none = blank_text(TableType(made.record))
    return f"IF(size(l.rows) = 0, {none}, {text})"


FIRST = "get(l.rows, 0)"
BEHIND_FIRST = "slice(l.rows, 2, size(l.rows))"
# Of rows behind the first: the one before the row at hand, as it came in.
ROW_BEFORE = f"get(l.rows, CAST({PAST}.counter AS INT))"
