"""A table that is asked by key while a stream runs: what is asked of it, what is kept.

    stream   key 3, key 5, key 3  --+
                                    +-- kept, and young enough ----> rows of 3
    table    asked for 5 -----------+-- fetched, or a miss --------> rows of 5

A lookup stands on one side of a join, beside rows that are met as they come. The join
says what a miss is worth: nothing, a row of nulls, an outlet. Of what the table finds
the whole condition is judged again by Spark: so a table may find more than it was
asked for, and never less.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Protocol

from dovetail import schema, spec
from dovetail.errors import DovetailError, SchemaError, SpecError, UnsupportedError
from dovetail.expression import Expression, Scope, conjuncts, parse, tree
from dovetail.spec.references import looked_at
from dovetail.spec.spans import NO_TIME
from dovetail.spec.windows import Forever

# A floating number has no order or equality that all tables share: NaN, -0.0.
_SURE = {
    *schema.WHOLE,
    *(schema.AtomicType.BOOLEAN, schema.AtomicType.STRING, schema.AtomicType.DATE),
    *(schema.AtomicType.TIMESTAMP, schema.AtomicType.TIMESTAMP_NTZ),
}
_MIRRORED = {"=": "=", "<": ">", "<=": ">=", ">": "<", ">=": "<="}
# By the names that functions have in a tree.
_SIGNS = {**{one: one for one in (*_MIRRORED, "<>", "in")}, "isnull": "is null"}
_NEGATED = {"=": "<>", "isnull": "is not null"}


@dataclass(frozen=True, slots=True)
class Compared:
    """A condition on one column: `=`, `<>`, `<`, `<=`, `>`, `>=`, `in`, `is null`.

    Those of one table must all be true. `is not null` and `is null` have no values.
    """

    column: str
    sign: str
    values: tuple[tree.Value, ...] = ()


class Table(Protocol):
    """What is looked up in, as far as a plan knows it."""

    @property
    def title(self) -> str:
        """Returns the table in words."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """A table with its key, how much of it is kept, and how long a miss waits.

    Rows of at most `size` keys are kept in each worker. A row is used for `ttl`; after
    `refresh` it is fetched again, and used only if that fails. A key without a row is
    asked for again for as long as `retry`. `number` tells lookups of a process apart.
    """

    table: Table
    key: tuple[str, ...]
    size: int
    ttl: spec.Span
    refresh: spec.Span
    retry: spec.Span
    number: str

    def in_words(self) -> str:
        """Returns what is asked, and for how long it holds."""
        kept = f"a worker keeps the rows of up to {self.size:,} keys, and their misses"
        told = [
            f"{self.table.title} is asked by {', '.join(self.key)}",
            f"{kept}, for {self.ttl.in_words()}",
        ]
        if self.refresh != self.ttl:
            told.append(f"after {self.refresh.in_words()} they are fetched again")
        if self.retry != NO_TIME:
            told.append(f"a miss is asked for again for {self.retry.in_words()}")
        return "; ".join(told)


@dataclass(frozen=True, slots=True)
class NoLookup:
    """Rows that are all there to be joined, and not asked for."""

    def in_words(self) -> str:
        """Returns an empty text: there is nothing to explain."""
        return ""


AnyLookup = Lookup | NoLookup


@dataclass(frozen=True, slots=True)
class Asked:
    """What a join asks of a table: columns, conditions, keys.

    `keys` are those parts of equalities, over the other side, that are equal to the
    columns of the key.
    """

    columns: tuple[str, ...]
    conditions: tuple[Compared, ...]
    keys: tuple[Expression, ...]


Sources = Mapping[spec.Hand, spec.Input]


def asked(
    join: spec.JoinSpec, hand: spec.Hand, *, sources: Sources, lookup: Lookup
) -> Asked:
    """Returns what a join asks of the table on a hand, or refuses what none answers."""
    schemas = {each: sources[each].schema for each in spec.HANDS}
    named = [text for _, text in spec.selected_columns(join, schemas)]
    equal = (part for one in join.hard for part in (one.left, one.right))
    known = looked_at([*equal, join.soft, *named])
    own = schemas[hand].names
    columns = tuple(
        name
        for name in own
        if hand not in known or name.lower() in known[hand] or name in lookup.key
    )
    keys = tuple(_key(join, hand, sources, name=name) for name in lookup.key)
    return Asked(columns, tuple(_conditions(join, hand, sources)), keys)


def _key(
    join: spec.JoinSpec, hand: spec.Hand, sources: Sources, *, name: str
) -> Expression:
    """Returns what is equal to a column of the key, over the other side.

    Refuses one that a table might find by another rule than Spark does.
    """
    scope = Scope.pair(*(sources[each].schema for each in spec.HANDS))
    kind = sources[hand].schema[name].type
    for one in join.hard:
        parts = {spec.Hand.LEFT: one.left, spec.Hand.RIGHT: one.right}
        match spec.plain_reference(parts[hand]):
            case spec.Reference(_, column) if column.lower() == name.lower():
                other = parse(parts[hand.other], scope).type
                is_exact = all(
                    one in schema.WHOLE or isinstance(one, schema.DecimalType)
                    for one in (kind, other)
                )
                is_sure = kind in _SURE or kind is schema.AtomicType.BINARY
                if not is_exact and not (kind == other and is_sure):
                    raise SchemaError(
                        f'the key "{name}" of a lookup is {kind}, and it is equal to a '
                        f"value of the type {other}",
                        "one type on both sides: whole numbers, decimals, texts, "
                        "bytes, dates, timestamps or booleans",
                        "cast it in the frame of the stream",
                    )
                return parts[hand.other]
            case _:
                pass
    raise SpecError(
        f'the lookup on the {hand.value} side is asked by "{name}", and no equality '
        "of the join gives it",
        f'on=".." with the columns of the key: {name}',
        "key=.. of dt.lookup names the columns by which the table finds rows",
    )


def _conditions(
    join: spec.JoinSpec, hand: spec.Hand, sources: Sources
) -> Iterator[Compared]:
    """Yields what the condition says of columns of the table alone.

    Only what every table understands as Spark does; the rest is Spark's.
    """
    scope = Scope.pair(*(sources[each].schema for each in spec.HANDS))
    # A function that only Spark has is no mistake: nothing is pushed down.
    with suppress(DovetailError):
        for one in conjuncts(parse(join.soft, scope)):
            match one.tree:
                case tree.Call("not", (tree.Call(said, values),)):
                    sign = _NEGATED.get(said, "")
                case tree.Call(said, values):
                    sign = _SIGNS.get(said, "")
                case _:
                    continue
            match values:
                case (tree.Literal() as value, tree.Column() as column):
                    sign, others = _MIRRORED.get(sign, ""), [value]
                case (tree.Column() as column, *others):
                    pass
                case _:
                    continue
            if column.side == hand.letter and sign:
                yield from _compared(column, sign, others)


def _compared(
    column: tree.Column, sign: str, values: Sequence[object]
) -> Iterator[Compared]:
    """Yields the condition, if tables of all kinds judge it alike."""
    literals = [one for one in values if isinstance(one, tree.Literal)]
    is_sure = column.type in _SURE or isinstance(column.type, schema.DecimalType)
    fits = all(one.type == column.type and one.value is not None for one in literals)
    if is_sure and fits and len(literals) == len(values):
        yield Compared(column.name, sign, tuple(one.value for one in literals))


def refuse_other_ways(
    join: spec.JoinSpec, lookups: Mapping[spec.Hand, AnyLookup], reason: str
) -> None:
    """Refuses a lookup where rows would have to wait for others; `reason` says why.

    A table that is asked has no rows that could wait, be counted or come out.
    """
    for hand, lookup in lookups.items():
        if isinstance(lookup, NoLookup):
            continue
        window = join.side(hand).window
        if window != Forever():
            reason = f"the lookup, the {hand.value} side, has a window"
        if isinstance(lookups[hand.other], Lookup):
            reason = "both sides are lookups"
        if reason:
            raise UnsupportedError.not_yet(
                "stream",
                f"a lookup where {reason}",
                hint="dt.dataset(frame) has all rows there; dt.stream without time=.. "
                "and without a window is met row by row, and dt.stream(joined.matched, "
                "..) goes on from a lookup to any other join",
            )


def without_time(
    join: spec.JoinSpec, lookups: Mapping[str, AnyLookup], streams: Container[str]
) -> spec.JoinSpec:
    """Returns a join of a text in order of arrival, where its one stream asks tables.

    As it is where another stream has a say, or where the row time is asked for.
    """
    names = spec.source_names(join)
    asks = any(isinstance(lookups[name], Lookup) for name in names)
    if not asks or sum(name in streams for name in names) != 1:
        return join
    shown = join.select.columns if isinstance(join.select, spec.Columns) else ()
    if any("row_time" in spec.bare_names(text) for _, text in shown):
        return join

    def plain(_: spec.Hand, side: spec.Side) -> spec.Side:
        match side.source:
            case spec.Nested(inner) as source:
                source = replace(source, join=without_time(inner, lookups, streams))
                return replace(side, source=source)
            case _:
                return side

    return replace(join.with_sides(plain), clock=spec.Clock.ARRIVAL)
