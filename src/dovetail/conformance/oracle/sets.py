"""A join of several sets: rows that share the stepped columns, one of each set.

    left    a1 a2 b1        with all sets: a1+x1, a2+x1, as far as the conditions hold
    right   x1(a) y1(c)     without: b1 alone

The rows that stand together are the active ones. `l` is the first of them, and in a
condition on pairs `l` and `r` are neighbours. A left row has all its partners or none:
with one set missing it stands alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from typing import Any, assert_never

from dovetail import expression, spec
from dovetail.conformance.oracle.sides import PairScalar, Plain, same
from dovetail.schema import Schema, blank

Active = tuple[Plain, ...]
Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Sets:
    """A join of several sets taken apart: its rows, conditions and output columns."""

    join: spec.SetJoinSpec
    rows: tuple[Sequence[Plain], ...]
    absent: Plain
    pair_condition: PairScalar
    rows_condition: PairScalar
    skip_when: PairScalar
    select: Mapping[str, PairScalar]

    @classmethod
    def of(cls, play: spec.Play, join: spec.SetJoinSpec) -> Sets:
        """Returns the parts of a play's join."""
        schema = spec.schema_of_sets(join, play.inputs)
        pair = expression.Scope((("l", schema), ("r", schema)))
        scope = expression.Scope(pair.sides, rows=schema)
        return cls(
            join,
            tuple(_in_types(play, play.inputs[name], schema) for name in join.sets),
            {column.name: blank(column.type) for column in schema.columns},
            expression.compiled(join.pair_condition, pair),
            expression.compiled(join.rows_condition, scope),
            expression.compiled(join.skip_when, scope),
            {
                name: expression.compiled(text, scope)
                for name, text in join.select.columns
            },
        )

    def play(self) -> list[spec.Emission]:
        """Returns the result, sorted as the join says; equal rows stay as found."""
        rows = []
        for active in self._actives():
            seen = self._sight(active)
            if self.skip_when(seen) is not True:
                row = {name: scalar(seen) for name, scalar in self.select.items()}
                rows.append((row, active[0]))
        # Stable: rows that are equal in all that they are sorted by stay as found.
        rows.sort(key=lambda pair: self._place(*pair))
        return [spec.Emission(spec.Outlet.MATCHED, row) for row, _ in rows]

    def _actives(self) -> Iterator[Active]:
        """Yields the rows that stand together."""
        if self.join.kind is spec.SetKind.M_OF_N:
            yield from self._of_some()
            return
        for left in self.rows[0]:
            key = self._key(left)
            others = [self._of_key(rows, key) for rows in self.rows[1:]]
            # A null equals nothing, not even another null.
            whole = [
                active
                for active in product([left], *others)
                if self._holds(active) and None not in key
            ]
            match self.join.kind:
                case spec.SetKind.INNER:
                    yield from whole
                case spec.SetKind.LEFT_OUTER:
                    yield from whole or [(left,)]
                case spec.SetKind.LEFT_ONLY:
                    yield from [] if whole else [(left,)]
                case _:
                    assert_never(self.join.kind)

    def _of_some(self) -> Iterator[Active]:
        """Yields one row of each set that has a key, where so many have it."""
        # In the order in which keys first come: it is that of the result.
        keys = dict.fromkeys(self._key(row) for rows in self.rows for row in rows)
        for key in keys:
            sets = [self._of_key(rows, key) for rows in self.rows]
            active_sets = [rows for rows in sets if rows]
            is_counted = self.join.least <= len(active_sets) <= self.join.most
            if is_counted and None not in key:
                yield from filter(self._holds, product(*active_sets))

    def _key(self, row: Plain) -> Key:
        """Returns the stepped values of a row; one with a null equals no other."""
        return tuple(same(_value(row, name)) for name in self.join.stepped)

    def _of_key(self, rows: Sequence[Plain], key: Key) -> list[Plain]:
        """Returns the rows of a set that have a key, in their order."""
        return [row for row in rows if self._key(row) == key]

    def _holds(self, active: Active) -> bool:
        """Tells whether the conditions hold of neighbours, and of all together."""
        neighbours = pairwise(active)
        return all(
            self.pair_condition({"l": one, "r": other, expression.BARE: {}}) is True
            for one, other in neighbours
        ) and (self.rows_condition(self._sight(active)) is True)

    def _sight(self, active: Active) -> Mapping[str, Plain]:
        """Returns what an expression sees: the first rows, and all of them."""
        # One that stands alone has blanks beside it.
        first, second, *_ = (*active, self.absent)
        return {"l": first, "r": second, expression.BARE: {"rows": list(active)}}

    def _place(self, row: Plain, first: Plain) -> list[tuple[bool, bool, Any]]:
        """Returns where a row stands: nulls before values, and NaN behind them."""
        names = {name.lower() for name in row}
        values: list[Any] = [
            _value(row if name.lower() in names else first, name)
            for name in self.join.ordered_by
        ]
        # NaN, which stands behind all, is the one value that does not equal itself.
        nans = [value != value for value in values]  # noqa: PLR0124 - that is the test
        return [
            (value is not None, is_nan, value)
            for value, is_nan in zip(values, nans, strict=True)
        ]


def _in_types(play: spec.Play, source: spec.Input, shown: Schema) -> list[Plain]:
    """Returns all rows of a set, in the types of the columns of all sets."""
    own = expression.Scope.row(source.schema)
    casts = {
        name: expression.compiled(text, own)
        for name, text in spec.casts_of_set(source, shown).items()
    }
    return [
        {**row, **{name: cast({expression.BARE: row}) for name, cast in casts.items()}}
        for row in rows_of(play, source)
    ]


def rows_of(play: spec.Play, source: spec.Input) -> list[Plain]:
    """Returns all rows of an input; a table with a key has the newest of each."""
    rows: list[Plain] = []
    state = [spec.Arrive(source.name, row) for row in source.rows]
    for event in (*state, *play.opening, *play.events):
        match event:
            case spec.Arrive(input=source.name) | spec.Remove(input=source.name):
                # What comes again takes its place behind all others; without a key
                # nothing comes again.
                rows = [
                    row
                    for row in rows
                    if not source.key
                    or any(row.get(name) != event.row.get(name) for name in source.key)
                ]
                rows += [event.row] if isinstance(event, spec.Arrive) else []
            case _:
                pass
    return rows


def _value(row: Plain, name: str) -> object:
    """Returns the value of a column, whatever the case of its name."""
    found = (value for key, value in row.items() if key.lower() == name.lower())
    return next(found, None)
