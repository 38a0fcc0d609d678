"""How rows leave: through `select`, or by their own port as they came in."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Self, assert_never

from dovetail import expression, spec
from dovetail.conformance.oracle.sides import (
    NEVER,
    Bindings,
    LivingRow,
    Moment,
    Pair,
    PairScalar,
    Plain,
    pair_scalar,
    sides_of,
    timestamp_of,
)
from dovetail.schema import Schema, blank, read_value

Column = tuple[str, expression.Expression]
Select = tuple[tuple[str, PairScalar], ...]
NOTHING = expression.Expression("NULL")


@dataclass(frozen=True, slots=True)
class Writer:
    """Writes result rows of one join: each as a list, empty where it is skipped."""

    kind: spec.Kind
    has_own_ports: bool
    select: Select
    exceeded: Select
    transforms: bool
    skip_when: PairScalar
    absent: Mapping[spec.Hand, Plain]
    window_size: spec.Span

    @classmethod
    def of(cls, play: spec.Play, join: spec.JoinSpec) -> Self:
        """Returns the writer of a join's rows."""
        sides = sides_of(play, join)
        left, right = (sides[hand].input for hand in spec.HANDS)
        schemas = {hand: sides[hand].input.schema for hand in spec.HANDS}
        columns = spec.selected_columns(join, schemas)
        # A limit's own row is null wherever its transform says nothing.
        exceeded = dict.fromkeys((name for name, _ in columns), NOTHING)
        exceeded |= dict(join.picks.stand_in)
        return cls(
            join.kind,
            join.ports > 1,
            select_of(columns, left, right),
            select_of(exceeded.items(), left, right),
            join.picks.transforms,
            pair_scalar(join.picks.skip_when, left, right),
            {
                hand: absent_row(join.absent(hand), sides[hand].input.schema)
                for hand in spec.HANDS
            },
            # The rules make the windows of both sides the same.
            join.side(spec.Hand.LEFT).window.hop_length,
        )

    def pair(
        self, pair: Pair, counter: int, row_time: Moment = NEVER
    ) -> list[spec.Emission]:
        """Returns the row of a pair; `counter` is its number among the left row's."""
        there = {row.hand: row.values for row in pair.rows}
        return self._matched(self.select, self._seen(there, row_time, counter))

    def unmatched(
        self, row: LivingRow, row_time: Moment = NEVER
    ) -> list[spec.Emission]:
        """Returns an unmatched row: as it came in, or with the other side absent."""
        seen = self._seen({row.hand: row.values}, row_time, 0)
        if self.has_own_ports and not self._is_skipped(seen):
            return [spec.Emission(spec.UNMATCHED[row.hand], dict(row.values))]
        return self._matched(self.select, seen)

    def once(self, row: LivingRow, row_time: Moment = NEVER) -> list[spec.Emission]:
        """Returns the row of a semi join, which has found its first partner."""
        # Its partner was there, though it is not shown: so expressions see both sides.
        there = dict(self.absent) | {row.hand: row.values}
        return self._matched(self.select, self._seen(there, row_time, 1))

    def over_limit(
        self, row: LivingRow, row_time: Moment = NEVER
    ) -> list[spec.Emission]:
        """Returns the row that stands for a left row over its limit, if one does."""
        if not self.transforms:
            return []
        seen = self._seen({row.hand: row.values}, row_time)
        return self._matched(self.exceeded, seen)

    def skips(self, pair: Pair, counter: int, row_time: Moment) -> bool:
        """Tells whether the row of a pair would not come out."""
        there = {row.hand: row.values for row in pair.rows}
        return self._is_skipped(self._seen(there, row_time, counter))

    def _seen(
        self,
        there: Mapping[spec.Hand, Plain],
        row_time: Moment = NEVER,
        counter: int = 0,
    ) -> Bindings:
        """Returns what expressions see where only some of the rows are there.

        A row of a window of a size comes out at the end of that window.
        """
        # An absent side shows what the join says stands for it.
        left, right = (there.get(hand, self.absent[hand]) for hand in spec.HANDS)
        start = row_time
        if math.isfinite(row_time):
            start = self.window_size.negated().after(int(row_time))
        bare = {
            "matched_left": spec.Hand.LEFT in there,
            "matched_right": spec.Hand.RIGHT in there,
            "counter": counter,
            "row_time": timestamp_of(row_time),
            "window_start": timestamp_of(start),
            "window_end": timestamp_of(row_time),
        }
        return {"l": left, "r": right, expression.BARE: bare}

    def _matched(self, select: Select, seen: Bindings) -> list[spec.Emission]:
        """Returns the row of the first port, nothing where it is skipped."""
        if self._is_skipped(seen):
            return []
        row = {name: scalar(seen) for name, scalar in select}
        return [spec.Emission(spec.Outlet.MATCHED, row)]

    def _is_skipped(self, seen: Bindings) -> bool:
        """Tells whether `skip_when` holds of a row that would come out."""
        # Null is not true, so such a row comes out.
        return self.skip_when(seen) is True


def select_of(columns: Iterable[Column], left: spec.Input, right: spec.Input) -> Select:
    """Returns output columns as functions."""
    return tuple((name, pair_scalar(text, left, right)) for name, text in columns)


def late_row(values: Plain, reason: str) -> spec.Emission:
    """Returns a late row: its own columns and why it takes no part."""
    return spec.Emission(spec.Outlet.LATE, {**values, "reason": reason})


def mark(ordinal: int) -> spec.Emission:
    """Returns the window punctuation behind so many rows of the first port."""
    return spec.Emission(spec.Outlet.MARKS, {"port": 0, "ordinal": ordinal})


def absent_row(absent: spec.Absent, schema: Schema) -> Plain:
    """Returns the row that a side's columns show where the side is not there."""
    match absent:
        case spec.NullRow():
            return dict.fromkeys(schema.names)
        case spec.BlankRow():
            return {column.name: blank(column.type) for column in schema.columns}
        case spec.GivenRow(values=values, rest=rest):
            columns = [(schema[name], value) for name, value in values]
            given = {
                column.name: read_value(value, column.type, f'"{column.name}"')
                for column, value in columns
            }
            return {**absent_row(rest, schema), **given}
        case _:
            assert_never(absent)
