"""Plays a join of several sets: kernels say which rows stand together, then rows leave.

Everything is there from the start. What a condition says of neighbours is worked out
over arrays; what is said of all rows that stand together, on the rows themselves.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail import spec
from dovetail.engines.tables import arrow_table
from dovetail.expression import (
    ALWAYS,
    BARE,
    Scope,
    compiled,
    is_constant_true,
    lower,
    parse,
)
from dovetail.kernels.arrays.program import run_program
from dovetail.kernels.arrays.rows import Mask, Whole
from dovetail.kernels.sets import (
    NO_KEY,
    Combinations,
    Neighbours,
    of_all,
    of_some,
    without,
)
from dovetail.plan.local import refuse_sets
from dovetail.schema import Schema

_NONE = np.empty(0, np.int64)
Together = tuple[spec.Row, ...]
Scalar = Callable[[Mapping[Any, Any]], Any]


def play_sets(play: spec.Play, join: spec.SetJoinSpec) -> list[spec.Emission]:
    """Returns the rows of a join of several sets, sorted as it says."""
    refuse_sets(play)
    sets = tuple(_rows_of(play, play.inputs[name]) for name in join.sets)
    seen = _Seen.of(join, spec.schema_of_sets(join, play.inputs))
    together = _Finder(join, sets, seen).together()
    found = [seen.placed(rows) for rows in together if seen.comes_out(rows)]
    found.sort(key=lambda placed: placed[0])
    return [spec.Emission(spec.Outlet.MATCHED, row) for _, row in found]


def _rows_of(play: spec.Play, source: spec.Input) -> list[spec.Row]:
    """Returns all rows of an input; a table with a key has the newest of each."""
    newest: dict[Hashable, spec.Row] = {}
    arrivals = [
        event
        for event in (*play.opening, *play.events)
        if isinstance(event, spec.Arrive | spec.Remove) and event.input == source.name
    ]
    state = [spec.Arrive(source.name, row) for row in source.rows]
    for number, event in enumerate((*state, *arrivals)):
        values = tuple(_same(event.row.get(name)) for name in source.key)
        key = values if source.key else number
        newest.pop(key, None)
        if isinstance(event, spec.Arrive):
            newest[key] = event.row
    return list(newest.values())


@dataclass(frozen=True, slots=True)
class _Finder:
    """Finds the rows that stand together."""

    join: spec.SetJoinSpec
    sets: tuple[list[spec.Row], ...]
    seen: _Seen

    def together(self) -> Iterator[Together]:
        """Gives them key by key, or left row by left row, in the order of the rows."""
        codes = self._codes()
        found = [part for part in self._parts(codes) if len(part)]
        ranks = [
            codes[part.active[0]][part.rows[0]] if self._counts_sets else part.rows[0]
            for part in found
        ]
        rows = [rows for part in found for rows in self._listed(part)]
        order = np.argsort(np.concatenate([*ranks, _NONE]), kind="stable")
        yield from (rows[number] for number in order.tolist())

    @property
    def _counts_sets(self) -> bool:
        """Tells whether it matters how many sets have a key, and not which."""
        return self.join.kind is spec.SetKind.M_OF_N

    def _parts(self, codes: Sequence[Whole]) -> Iterator[Combinations]:
        """Gives the rows that stand together in pieces of the same active sets."""
        fits = _Fits.of(self.join, self.sets, self.seen.schema)
        if self._counts_sets:
            some = of_some(codes, (self.join.least, self.join.most), fits)
            yield from map(self._holding, some)
            return
        whole = self._holding(of_all(codes, fits))
        if self.join.kind is not spec.SetKind.LEFT_ONLY:
            yield whole
        if self.join.kind is not spec.SetKind.INNER:
            yield without(len(codes[0]), whole)

    def _holding(self, found: Combinations) -> Combinations:
        """Returns those of which the condition on all rows holds."""
        if self.join.rows_condition == ALWAYS:
            return found
        holds = [self.seen.holds(rows) for rows in self._listed(found)]
        return found.take(np.array(holds, bool))

    def _listed(self, found: Combinations) -> Iterator[Together]:
        """Gives the rows of each combination."""
        numbers = zip(*(rows.tolist() for rows in found.rows), strict=True)
        sets = [self.sets[number] for number in found.active]
        for chosen in numbers:
            yield tuple(rows[one] for rows, one in zip(sets, chosen, strict=True))

    def _codes(self) -> list[Whole]:
        """Returns the keys of all sets as numbers, in the order in which they come."""
        known: dict[Hashable, int] = {}
        return [
            np.array([self._code(row, known) for row in rows], np.int64)
            for rows in self.sets
        ]

    def _code(self, row: spec.Row, known: dict[Hashable, int]) -> int:
        """Returns the number of a row's key."""
        key = tuple(_same(_value(row, name)) for name in self.join.stepped)
        return NO_KEY if None in key else known.setdefault(key, len(known))


@dataclass(frozen=True, slots=True)
class _Fits:
    """Whether neighbours fit, worked out for many of them at once."""

    program: tuple[object, ...]
    columns: tuple[Mapping[str, pa.Array], ...]

    @classmethod
    def of(
        cls, join: spec.SetJoinSpec, sets: Sequence[Sequence[spec.Row]], schema: Schema
    ) -> _Fits:
        """Returns the condition on neighbours, with the columns of each set."""
        typed = parse(join.pair_condition, Scope.pair(schema, schema))
        if is_constant_true(typed):
            return cls((), ())
        blank = dict.fromkeys(schema.names)
        tables = [
            arrow_table([{**blank, **row} for row in rows], schema) for rows in sets
        ]
        return cls(lower(typed), tuple(map(_columns, tables)))

    def __call__(self, pairs: Neighbours) -> Mask:
        """Tells for each pair whether the condition is true, neither false nor null."""
        count = len(pairs.rows[0])
        if not self.program:
            return np.ones(count, bool)
        columns = {
            (letter, name): values.take(pa.array(rows))
            for letter, number, rows in zip("lr", pairs.sets, pairs.rows, strict=True)
            for name, values in self.columns[number].items()
        }
        truth = pc.fill_null(
            run_program(self.program, columns, count), fill_value=False
        )
        fits: Mask = truth.to_numpy(zero_copy_only=False)
        return fits


@dataclass(frozen=True, slots=True)
class _Seen:
    """What expressions see of the rows that stand together, and what they say."""

    schema: Schema
    rows_condition: Scalar
    skip_when: Scalar
    select: Mapping[str, Scalar]
    ordered_by: tuple[str, ...]
    absent: spec.Row

    @classmethod
    def of(cls, join: spec.SetJoinSpec, schema: Schema) -> _Seen:
        """Returns the expressions of a join."""
        scope = Scope((("l", schema), ("r", schema)), rows=schema)
        return cls(
            schema,
            compiled(join.rows_condition, scope),
            compiled(join.skip_when, scope),
            {name: compiled(text, scope) for name, text in join.select.columns},
            join.ordered_by,
            spec.absent_row(spec.BlankRow(), schema),
        )

    def holds(self, rows: Together) -> bool:
        """Tells whether the condition on all rows is true."""
        return self.rows_condition(self._sight(rows)) is True

    def comes_out(self, rows: Together) -> bool:
        """Tells whether the row of these is not skipped."""
        return self.skip_when(self._sight(rows)) is not True

    def placed(self, rows: Together) -> tuple[list[Hashable], spec.Row]:
        """Returns the output row, and before it what it is sorted by."""
        seen = self._sight(rows)
        row = {name: scalar(seen) for name, scalar in self.select.items()}
        known = {name.lower() for name in row}
        places = [
            _value(row if name.lower() in known else rows[0], name)
            for name in self.ordered_by
        ]
        return [_rank(value) for value in places], row

    def _sight(self, rows: Together) -> Mapping[Any, Any]:
        """Returns what an expression sees: the first rows, and all of them."""
        first, second, *_ = (*rows, self.absent)
        return {"l": first, "r": second, BARE: {"rows": list(rows)}}


def _columns(table: pa.Table) -> Mapping[str, pa.Array]:
    """Returns the columns of a table by their names."""
    return dict(zip(table.column_names, table.combine_chunks().columns, strict=True))


def _value(row: spec.Row, name: str) -> object:
    """Returns the value of a column, whatever the case of its name."""
    if name in row:
        return row[name]
    found = (value for key, value in row.items() if key.lower() == name.lower())
    return next(found, None)


def _same(value: Any) -> Hashable:  # noqa: ANN401 - of any type
    """Returns a value that equals itself and can be looked up: NaN and lists do not."""
    match value:
        case list():
            return tuple(map(_same, value))
        case dict():
            return tuple((name, _same(part)) for name, part in value.items())
        case float() if math.isnan(value):
            return "NaN"
        case _:
            found: Hashable = value
            return found


def _rank(value: Any) -> Hashable:  # noqa: ANN401 - of any type
    """Returns what a value is sorted by: nulls first, NaN last."""
    is_nan = isinstance(value, float) and math.isnan(value)
    return value is not None, is_nan, None if is_nan else value
