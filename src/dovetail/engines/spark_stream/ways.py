"""Rows on their way to a join, or behind it: kept or not, and with other columns.

What rides along, columns of ours, stays beside the columns of the rows. Lines that
bring no row, such as bounds, go by untouched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from itertools import zip_longest

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_stream.firing import Riding, fired
from dovetail.engines.spark_stream.worker import relay
from dovetail.kernels.arrays.names import LineKind, reserved
from dovetail.plan.ways import Fired, Kept, Path, Punctuated, Reshaped, RowChange
from dovetail.schema import quoted

_MOST = 2**63 - 1
GIVEN_PLACE = reserved("given_place")
"""The column with the places of rows as users give them, by which they are ordered."""

_NONE = Riding()
_WITH_ROWS = (int(LineKind.ROW), int(LineKind.DELETE), int(LineKind.INITIAL))
"""Lines that bring a row."""


def changed(
    frame: DataFrame, changes: Sequence[RowChange], riding: Riding = _NONE
) -> DataFrame:
    """Returns rows as changes make them, with the columns that ride along."""
    has_lines = relay.EVENT in riding.columns
    is_row = F.col(relay.EVENT).isin(*_WITH_ROWS)
    for change in changes:
        seen = frame.alias("l")
        match change:
            case Fired(step):
                frame = fired(frame, step, riding)
            case Punctuated() if has_lines:
                frame = _punctuated(seen, change)
            case Kept(condition) if riding.passes_on:
                passed = is_row & ~F.coalesce(F.expr(condition.text), F.lit(0) == 1)
                kind = F.when(passed, int(LineKind.PASSED)).otherwise(
                    F.col(relay.EVENT)
                )
                frame = seen.withColumn(relay.EVENT, kind)
            case Kept(condition):
                holds = F.expr(condition.text)
                # A bound has no values: of it a condition would be null, and drop it.
                if has_lines:
                    holds = F.when(is_row, holds).otherwise(F.lit(1) == 1)
                frame = seen.where(holds)
            case Reshaped():
                values = [(name, F.expr(text)) for name, text in _cast(change)]
                # Nor is anything computed of it that must have a value.
                if has_lines:
                    values = [(name, F.when(is_row, one)) for name, one in values]
                frame = seen.select(
                    *(one.alias(name) for name, one in values), *riding.columns
                )
    return frame


Sql = str | tuple[tuple[str, str], ...]
"""A change of rows that stay nowhere: a condition, or columns by their names."""


def in_sql(changes: Sequence[RowChange]) -> tuple[Sql, ...]:
    """Returns changes of rows that stay nowhere as texts, which travel light."""
    found = list[Sql]()
    for change in changes:
        match change:
            case Kept(condition):
                found.append(condition.text)
            case Reshaped():
                found.append(_cast(change))
            case Punctuated(has_marks=False):
                pass
            case _:
                raise TypeError(change)
    return tuple(found)


def by_sql(frame: DataFrame, changes: Sequence[Sql]) -> DataFrame:
    """Returns rows as changes in SQL make them."""
    for change in changes:
        seen = frame.alias("l")
        if isinstance(change, str):
            frame = seen.where(F.expr(change))
        else:
            frame = seen.select(*(F.expr(text).alias(name) for name, text in change))
    return frame


def _cast(change: Reshaped) -> tuple[tuple[str, str], ...]:
    """Returns columns by their names, of the types that a program declares."""
    # What Spark computes may be wider.
    return tuple(
        (name, f"CAST({text} AS {change.schema[name].type})")
        for name, text in change.select.columns
    )


def _punctuated(rows: DataFrame, change: Punctuated) -> DataFrame:
    """Returns rows with marks before or behind some of them, and no others."""
    row, mark = (F.lit(int(kind)) for kind in (LineKind.ROW, LineKind.MARK))
    is_row = F.col(relay.EVENT) == row
    # A line becomes two, and they keep their order: no shuffle is between.
    both = F.array(mark, row) if change.is_before else F.array(row, mark)
    kinds = F.when(is_row & F.expr(change.condition.text), both).otherwise(
        F.array(relay.EVENT)
    )
    names = [F.col(quoted(one)) for one in rows.columns if one != relay.EVENT]
    unmarked = rows.where(F.col(relay.EVENT) != mark)
    # Where nobody looks at marks the old ones go, and no new ones come.
    if not change.has_marks:
        return unmarked
    marked = unmarked.select(*names, F.explode(kinds).alias(relay.EVENT))
    return marked.select(*map(quoted, rows.columns))


@dataclass(frozen=True, slots=True)
class Riders:
    """Columns of ours beside those of rows; `place` is the one they are ordered by.

    Each number there has so many places, `ranks`, of which a way takes its own. Where
    that is not enough the column `turn` decides among rows of one number; `times` are
    then lines that say what time it is, to operators that let rows out by time alone.
    """

    columns: tuple[str, ...]
    place: str = ""
    ranks: int = 1
    turn: str = ""
    times: DataFrame | None = None

    def placed(self, path: Path) -> list[Column]:
        """Returns the columns as they are on a way.

        A number that has no room for so many places fails the query.
        """
        if self.ranks == 1 or not self.place:
            return [F.col(name) for name in self.columns]
        # Spark wraps silently where a product does not fit.
        most, number = _MOST // self.ranks - 1, F.col(self.place)
        told = f"a sequence beyond {most}, in which each row goes {self.ranks} ways"
        place = F.when(
            F.abs(number) > most, F.raise_error(F.lit(told)).cast("bigint")
        ).otherwise(number * self.ranks + path.rank)
        return [
            place.alias(name) if name == self.place else F.col(name)
            for name in self.columns
        ]


Rows = Callable[[Path], DataFrame]
"""The rows at which a way begins, with the columns that ride along."""


def gathered(rows: Rows, paths: Sequence[Path], riders: Riders) -> DataFrame:
    """Returns the rows that come on all ways, and marks among them."""
    order = (riders.place, riders.turn) if riders.turn else (riders.place,)
    riding = Riding(riders.columns, order)
    frames = []
    for path in paths:
        if path.of:
            frame = gathered(rows, path.of, riders)
        else:
            # Places are given before anything is dropped: they are those of the input.
            given = rows(path)
            own = [quoted(name) for name in given.columns if name not in riders.columns]
            frame = given.select(*own, *riders.placed(path))
        passed, together = b"", replace(riding, ends=len(path.of) or 1)
        for number, change in zip_longest(path.numbers, path.changes):
            # What keeps rows, and what is at the end, sees all turns so far.
            if riders.turn:
                passed += number.to_bytes(_NUMBER)
            if isinstance(change, Fired | None):
                frame, passed = _turned(frame, riders.turn, passed), b""
            if isinstance(change, Fired) and change.looks_at_time:
                frame = _hearing_time(frame, riders, number)
            if change is not None:
                # Behind the first operator there is one end.
                is_first = isinstance(change, Fired)
                frame = changed(frame, (change,), together if is_first else riding)
                together = riding if is_first else together
        frames.append(_turned(frame, riders.turn, passed))
    return reduce(DataFrame.unionAll, frames)


_NUMBER = 4
"""So many bytes has the number of a step in a turn."""


def _hearing_time(frame: DataFrame, riders: Riders, number: int) -> DataFrame:
    """Returns rows for the operator of a number, and lines that tell it the time."""
    if riders.times is None:
        return frame
    # Time passes for all operators, in their order, before any row of its moment comes.
    told = riders.times.withColumn(riders.turn, F.lit(b"\0" + number.to_bytes(_NUMBER)))
    return frame.unionByName(told, allowMissingColumns=True)


def _turned(frame: DataFrame, turn: str, passed: bytes) -> DataFrame:
    """Returns rows whose turns go on with the numbers of the steps they have passed."""
    if not passed:
        return frame
    longer = F.concat(F.col(turn), F.lit(passed).cast("binary"))
    return frame.withColumn(turn, longer)
