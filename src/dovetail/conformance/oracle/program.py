"""Goes through a program step by step, over plain rows.

Rows are kept as groups, lists of rows: one list where they are not grouped. A step is
played once, however many others take its rows. The joins are played by whoever is
given for it: the oracle itself, or another engine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import cmp_to_key
from itertools import count, pairwise
from typing import Any, assert_never

from dovetail import spec
from dovetail.conformance.oracle.sides import same
from dovetail.errors import LimitError
from dovetail.expression import BARE, Expression, Scope, compiled
from dovetail.schema import AtomicType, Schema
from dovetail.spec.rules import checked

Rows = Sequence[spec.Row]
JoinPlayer = Callable[[spec.Play], list[spec.Emission]]
Inputs = Mapping[str, Rows]
Scalar = Callable[[Mapping[Any, Any]], Any]
_NO_COLUMNS = Schema(())


def play_program(
    program: spec.Program, inputs: Inputs, join: JoinPlayer
) -> list[tuple[str, spec.Row]]:
    """Returns every row that comes out, with the name of its output, in order."""
    player = _Player(inputs, join)
    return [
        (output.name, row)
        for output in program.outputs
        for group in player.groups(output.step)
        for row in group
    ]


@dataclass(slots=True)
class _Player:
    """Plays steps; what has been played is remembered by the step itself."""

    inputs: Inputs
    join: JoinPlayer
    played: dict[int, list[Rows]] = field(default_factory=dict)

    def groups(self, step: spec.Step) -> list[Rows]:
        """Returns the rows of a step, group by group."""
        # A step lives as long as its program, so its identity is a name for it.
        if id(step) not in self.played:
            self.played[id(step)] = list(self._play(step))
        return self.played[id(step)]

    def rows(self, step: spec.Step) -> list[spec.Row]:
        """Returns the rows of a step without regard to groups."""
        return [row for group in self.groups(step) for row in group]

    def _play(self, step: spec.Step) -> Iterable[Rows]:
        """Returns what a step gives."""
        match step:
            case spec.Inline(rows=lines):
                return [[dict(zip(step.schema.names, it, strict=True)) for it in lines]]
            case spec.Given(name, position=position):
                # A row that says no place has that at which it stands.
                return [
                    [
                        {**row, position: Decimal(number)}
                        if position and row.get(position) is None
                        else row
                        for number, row in enumerate(self.inputs[name])
                    ]
                ]
            case spec.Indexed(source):
                return self.groups(source)
            case spec.Written():
                raise step.unread()
            case spec.Joined() | spec.SetJoined():
                return self._joined(step)
            case (
                spec.Grouped()
                | spec.Numbered()
                | spec.Appended()
                | spec.Counted()
                | spec.Unfolded()
            ):
                return self._regrouped(step)
            case (
                spec.Windowed()
                | spec.Aligned()
                | spec.Recognized()
                | spec.Marked()
                | spec.Coded()
                | spec.InRowTime()
                | spec.Retimed()
                | spec.Tried()
                | spec.JoinedInRowTime()
            ):  # of rows that come one by one, as of streams
                raise TypeError(step)
            case _:
                change = changed_by(step)
                changed = ([*change(group)] for group in self.groups(step.source))
                # A group of which nothing is left is no group any more.
                return [one for one in changed if one or not spec.is_grouped(step)]

    def _regrouped(
        self,
        step: spec.Grouped
        | spec.Numbered
        | spec.Appended
        | spec.Counted
        | spec.Unfolded,
    ) -> Iterator[Rows]:
        """Yields rows in other groups, or all of them in one."""
        match step:
            case spec.Grouped(source, by):
                values = [_of_row(source.schema, one) for one in by]
                yield from _neighbours(self.rows(source), values)
            case spec.Numbered(source, _, column):
                is_whole = step.schema[column].type is AtomicType.BIGINT
                kind, places = int if is_whole else Decimal, count()
                # Numbers that may have gaps leave groups as they are.
                wholes = self.groups(source) if step.may_gap else [self.rows(source)]
                for rows in wholes:
                    yield [{**row, column: kind(next(places))} for row in rows]
            case spec.Appended(sources):
                yield [row for source in sources for row in self.rows(source)]
            case spec.Counted(source):
                made, groups = _counting(step), self.groups(source)
                if step.keeps_groups:
                    yield from ([*map(made, _alike(it, step.by))] for it in groups)
                else:
                    alike = _alike(self.rows(source), step.by)
                    yield [*map(made, alike if step.by else groups)]
            case spec.Unfolded(source, _, column, keeps_groups):
                lists: list[Any] = [row[column] for row in self.rows(source)]
                whole = [[it for rows in lists for it in rows]]
                yield from filter(None, lists) if keeps_groups else whole
            case _:
                assert_never(step)

    def _joined(self, step: spec.Joined | spec.SetJoined) -> Iterator[Rows]:
        """Yields what a join gives: all together, or group by group of its left."""
        if isinstance(step, spec.SetJoined):
            inputs = {
                spec.set_name(number): _input(
                    spec.set_name(number), source.schema, rows
                )
                for number, source in enumerate(step.sources)
                for rows in [self.rows(source)]
            }
            yield self._results(spec.Play(step.join, inputs))
            return
        right = _input(spec.RIGHT, step.right.schema, self.rows(step.right))
        lefts = self.groups(step.left) if step.keeps_groups else [self.rows(step.left)]
        for left in lefts:
            sides = {
                spec.LEFT: _input(spec.LEFT, step.left.schema, left),
                spec.RIGHT: right,
            }
            try:
                rows = self._results(spec.Play(step.join, sides))
            except LimitError as error:
                # A text may have its own code and message for that.
                if not isinstance(step.failure, spec.Failure):
                    raise
                hint = f"{error.found}; {error.expected}"
                raise LimitError(step.failure.text, hint=hint) from error
            if rows or not step.keeps_groups:
                yield rows

    def _results(self, play: spec.Play) -> list[spec.Row]:
        """Returns the rows of one join."""
        return [emission.row for emission in self.join(checked(play))]


def _input(name: str, schema: Schema, rows: Rows) -> spec.Input:
    """Returns rows as an input of a join."""
    source = spec.Input(name, spec.InputKind.DATASET, schema)
    return replace(source, rows=tuple(rows))


def _of_row(schema: Schema, expression: Expression) -> Callable[[spec.Row], Any]:
    """Returns the function of a row that an expression means."""
    scalar = compiled(expression, Scope.pair(schema, _NO_COLUMNS))
    return lambda row: scalar({"l": row, BARE: {}})


def changed_by(
    step: spec.Filtered | spec.Projected | spec.Ordered | spec.Deduped | spec.Chosen,
) -> Callable[[Rows], Iterable[spec.Row]]:
    """Returns what a step makes of one group of rows."""
    match step:
        case spec.Filtered(source, condition):
            holds = _of_row(source.schema, condition)
            return lambda rows: [row for row in rows if holds(row) is True]
        case spec.Projected():
            return _projection(step)
        case spec.Ordered(source, by):
            order = _order(source.schema, by)
            return lambda rows: sorted(rows, key=order)
        case spec.Deduped():
            return _deduping(step)
        case spec.Chosen(_, first, count):
            return lambda rows: rows[first - 1 : first - 1 + count]
        case _:
            assert_never(step)


def _projection(step: spec.Projected) -> Callable[[Rows], Iterable[spec.Row]]:
    """Returns what gives one row for each row, with its number in `counter`."""
    scope = Scope.pair(step.source.schema, _NO_COLUMNS)
    skips = compiled(step.skip_when, scope)
    columns = [(name, compiled(text, scope)) for name, text in step.select.columns]

    def project(rows: Rows) -> Iterator[spec.Row]:
        for number, row in enumerate(rows, start=1):
            seen = {"l": row, BARE: {"counter": number}}
            if skips(seen) is not True:
                yield {name: scalar(seen) for name, scalar in columns}

    return project


def _counting(step: spec.Counted) -> Callable[[Rows], spec.Row]:
    """Returns what makes one row of a group of rows."""
    schema = step.source.schema
    scope = Scope((("l", schema),), rows=schema)
    columns = [(name, compiled(text, scope)) for name, text in step.select.columns]
    blank = spec.absent_row(spec.BlankRow(), schema)

    def count(rows: Rows) -> spec.Row:
        seen = {"l": [*rows, blank][0], BARE: {"rows": list(rows)}}
        return {name: scalar(seen) for name, scalar in columns}

    return count


def _order(schema: Schema, by: Sequence[spec.By]) -> Callable[[spec.Row], Any]:
    """Returns the place of a row in an order."""
    parts = [(_of_row(schema, one.value), one.is_descending) for one in by]

    def compare(one: spec.Row, other: spec.Row) -> int:
        for value, is_descending in parts:
            first: Any = _in_order(value(one))
            second: Any = _in_order(value(other))
            if first != second:
                return -1 if (first < second) != is_descending else 1
        return 0

    return cmp_to_key(compare)


def _in_order(value: object) -> object:
    """Returns a value as it is sorted: a record by its fields from the first on."""
    match value:
        case dict():
            return [*map(_in_order, value.values())]
        case list():
            return [*map(_in_order, value)]
        case _:
            return value


def _deduping(step: spec.Deduped) -> Callable[[Rows], Iterable[spec.Row]]:
    """Returns what leaves out rows that are the same as others.

    A row is compared with the newest that its neighbours keep, or with all that come
    first.
    """
    schema = step.source.schema
    scalar = compiled(step.same, Scope.pair(schema, schema))
    stay = slice(-step.keep, None) if step.keeps_last else slice(step.keep)

    def is_same(one: spec.Row, other: spec.Row) -> bool:
        return scalar({"l": one, "r": other, BARE: {}}) is True

    def dedup(rows: Rows) -> Iterator[spec.Row]:
        groups: list[list[int]] = []
        for place, row in enumerate(rows):
            near = groups if step.is_all else groups[-1:]
            shown = [group[0] if step.is_all else group[stay][-1] for group in near]
            alike = zip(near, shown, strict=True)
            homes = [group for group, at in alike if is_same(rows[at], row)]
            if homes:
                homes[0].append(place)
            else:
                groups.append([place])
        # In the order in which they came, whatever group they are of.
        for place in sorted(at for group in groups for at in group[stay]):
            yield rows[place]

    return dedup


def _alike(rows: Rows, by: Sequence[str]) -> list[Rows]:
    """Returns rows of the same values as one group, wherever they stand."""
    groups: dict[tuple[object, ...], list[spec.Row]] = {}
    for row in rows:
        key = tuple(same(row[name]) for name in by)
        groups.setdefault(key, []).append(row)
    return [*groups.values()]


def _neighbours(rows: Rows, values: Sequence[Callable[[spec.Row], Any]]) -> list[Rows]:
    """Returns rows as groups of neighbours with the same values; of none, as one."""
    if not values:
        return [rows]
    keys = [[value(row) for value in values] for row in rows]
    starts = [at for at, key in enumerate(keys) if at == 0 or key != keys[at - 1]]
    return [rows[one:past] for one, past in pairwise([*starts, len(rows)])]


__all__ = ["JoinPlayer", "Scalar", "changed_by", "play_program"]
