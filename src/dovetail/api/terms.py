"""The words of `join` in Python: what each may say, and what is meant where none does.

A word becomes a part of the spec: `how` the kind, `on` the equalities, `where` the
condition, `select` and `suffixes` the columns, `unmatched` the outlets. What refuses
the whole, a law or Spark, is told in these words: a hint is something to be written.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence

from dovetail import spec
from dovetail.bind.schemas import is_carried, refuse_reserved, refuse_unpacked
from dovetail.errors import SchemaError, SpecError
from dovetail.expression import Expression, Scope, parse
from dovetail.plan.sides import partition_of
from dovetail.plan.stream import StreamPlan
from dovetail.schema import AtomicType, CarriedType, Schema, quoted, unquoted
from dovetail.spec import arguments
from dovetail.spec.rules import check_spec

Key = str | tuple[str, str]
Schemas = Mapping[spec.Hand, Schema]
_SHORT = {
    "left": spec.Kind.LEFT_OUTER,
    "right": spec.Kind.RIGHT_OUTER,
    "full": spec.Kind.FULL_OUTER,
    "outer": spec.Kind.FULL_OUTER,
    "semi": spec.Kind.LEFT_SEMI,
    "anti": spec.Kind.LEFT_ONLY,
    "left_anti": spec.Kind.LEFT_ONLY,
}
_KINDS = {**_SHORT, **{kind.value: kind for kind in spec.Kind}}

_EVERY = re.compile(r"\s*([lr]\s*\.\s*)?\*\s*", re.IGNORECASE)


def kind_named(how: object) -> spec.Kind:
    """Returns the kind of a name as Spark or as our spec writes it.

    As Spark does it, `leftOuter`, `left_outer` and `LEFTOUTER` are one.
    """
    plain = {name.replace("_", ""): name for name in _KINDS}
    said = how.replace("_", "").lower() if isinstance(how, str) else ""
    return _KINDS[arguments.word("how", plain.get(said, how), _KINDS)]


def clock_of(
    windows: Iterable[spec.Window], *, timed: bool, streaming: bool
) -> spec.Clock:
    """Returns the clock on which windows count: arrival for rows, else row time."""
    if not streaming:
        return spec.Clock.BATCH
    # dt.rows(0) keeps nothing, so it says nothing of the order in which rows count.
    arrival = (spec.Clock.ARRIVAL,)
    counts = any(one.clocks == arrival and one != spec.Rows(0) for one in windows)
    return spec.Clock.EVENT if timed and not counts else spec.Clock.ARRIVAL


def ports_of(unmatched: str, kind: spec.Kind) -> int:
    """Returns how many outlets matched and unmatched rows leave by."""
    if arguments.word("unmatched", unmatched, ("joined", "outlet")) == "joined":
        return 1
    # An outlet for each side whose rows come out alone, and one for the pairs.
    preserved = sum(kind.preserves(hand) for hand in spec.HANDS)
    if not preserved:
        raise SpecError(
            f"a join of the kind {kind.value} has no unmatched rows",
            'unmatched="joined"',
            'how="left", "right" or "full" preserves unmatched rows',
        )
    return 1 + preserved


# What meets: `on` and `where`.


def keys_of(on: object, kind: spec.Kind, schemas: Schemas) -> tuple[Key, ...]:
    """Returns equal columns: names, and pairs of a left and a right name."""
    keys: list[Key] = []
    for one in on if isinstance(on, list | tuple) else (on,):
        match one:
            case str() if one.strip():
                keys.append(one)
            # A pair stands in a list: alone it would be two names.
            case [str() as left, str() as right] if one is not on:
                keys.append((left, right))
            case _:
                raise arguments.wrong(
                    "on",
                    on,
                    "the name of a column, or a list of names and of pairs of names",
                    'write for example on="id" or on=[("id", "order_id")]; any other '
                    'condition stands in where="l.id = r.order_id"',
                )
    for key in keys:
        for hand, name in zip(spec.HANDS, pair(key), strict=True):
            if name not in schemas[hand]:
                raise _no_key(on, hand, name, schemas)
    plain = [(one.lower(), two.lower()) for one, two in map(pair, keys)]
    if len({*plain}) < len(plain):
        hint = "a name in capitals is the same one"
        raise arguments.wrong("on", on, "each column, or pair of them, once", hint)
    if keys:
        _refuse_cross("on", on, kind)
    return tuple(keys)


def pair(key: Key) -> tuple[str, str]:
    """Returns the left and the right name of a key."""
    return (key, key) if isinstance(key, str) else key


def _no_key(on: object, hand: spec.Hand, name: str, schemas: Schemas) -> SpecError:
    """Returns the refusal of a key that a side does not have."""
    error = arguments.no_column("on", on, name, schemas[hand])
    # What a user may have meant: a condition, or the other side's name.
    hint = error.hint
    if any(mark in name for mark in "=<>() "):
        hint = f"a condition stands in where: where={name!r}"
    elif name in schemas[hand.other]:
        hint = "names that differ stand as a pair, the left one first: on=[(.., ..)]"
    found = f'on={arguments.told(on)}: the {hand.value} side has no column "{name}"'
    return SpecError(found, error.expected, hint)


def condition_of(where: str, kind: spec.Kind, schemas: Schemas) -> Expression:
    """Returns the condition beside the keys: it names columns that are there."""
    arguments.text(
        "where", where, "a condition as a text", 'where="l.amount < r.amount"'
    )
    if where != "true":
        _refuse_cross("where", where, kind)
    condition = Expression(where)
    for reference in spec.references(condition):
        schema = schemas[reference.hand]
        if reference.column not in schema:
            raise arguments.no_column("where", where, reference.column, schema)
    return condition


def _refuse_cross(name: str, value: object, kind: spec.Kind) -> None:
    """Refuses what makes no sense beside a join of every pair."""
    if kind is spec.Kind.CROSS:
        hint = f'how="inner" takes {name}; a cross join has every pair'
        raise arguments.wrong(name, value, f'no {name} beside how="cross"', hint)


# What comes out: `select` and `suffixes`.


def chosen(select: Mapping[str, str], suffixes: object) -> spec.Columns:
    """Returns the output columns that a user wrote."""
    if any(_endings(suffixes)):
        hint = "names in select are as they stand there"
        raise arguments.wrong("suffixes", suffixes, "none beside select", hint)
    shown = arguments.texts("select", select, '{"id": "l.id", "gap": "r.at - l.at"}')
    for name, one in shown.items():
        if _EVERY.fullmatch(one):
            hint = "leave select out for all columns, or name each of them"
            title = f"select[{arguments.told(name)}]"
            raise arguments.wrong(title, one, "one value", hint)
    refuse_reserved("select has", shown)
    return spec.Columns(tuple((name, Expression(one)) for name, one in shown.items()))


def all_columns(
    sides: Schemas, kind: spec.Kind, keys: Sequence[Key], suffixes: object
) -> spec.Columns:
    """Returns left columns, then the right ones that are not join keys of that name.

    A join that puts out one side only has the columns of that side. A key is never
    null where one of the sides is there.
    """
    endings = _endings(suffixes)
    shared = {name.lower() for name in keys if isinstance(name, str)}
    # Rows of such kinds have met nobody, or do not show whom: one side is there.
    is_one_sided = kind.value.endswith(("_only", "_semi"))
    shown = [
        hand
        for hand in spec.HANDS
        if not is_one_sided or kind.preserves(hand) or kind.gives_once(hand)
    ]
    both = len(shown) > 1
    # By the name in lower case: as Spark has it, `ID` and `id` are one column.
    found: dict[str, tuple[str, Expression]] = {}
    for hand, name in ((one, name) for one in shown for name in sides[one].names):
        is_key = both and name.lower() in shared
        if is_key and hand is spec.Hand.RIGHT:
            continue
        text = f"{hand.letter}.{quoted(name)}"
        # Of a right row alone the left key is null.
        if is_key and kind.preserves(spec.Hand.RIGHT):
            text = f"coalesce(l.{quoted(name)}, r.{quoted(name)})"
        twice = both and not is_key and name in sides[hand.other]
        title = name + endings[spec.HANDS.index(hand)] if twice else name
        if twice and endings[0] == endings[1]:
            raise SpecError(
                f'the column "{name}" stands on both sides',
                "names that differ",
                'give suffixes=("_left", "_right"), or select=...',
            )
        if title.lower() in found:
            raise SpecError(
                f'two output columns would have the name "{title}"',
                "names that differ",
                "give other suffixes, or select=...",
            )
        found[title.lower()] = title, Expression(text)
    return spec.Columns(tuple(found.values()))


def _endings(suffixes: object) -> tuple[str, str]:
    """Returns the endings of names that stand on both sides: two texts."""
    match suffixes:
        case [str() as left, str() as right]:
            return left, right
        case _:
            hint = 'write for example suffixes=("", "_right"): the left and the right'
            raise arguments.wrong("suffixes", suffixes, "a pair of texts", hint)


# What is refused of the whole.


def refuse_terms(join: spec.JoinSpec, inputs: spec.Inputs) -> None:
    """Refuses a key of variants, and what is known to be neither true nor false."""
    for part in _key_parts(join):
        if CarriedType("variant") in spec.known_types(part, join, inputs):
            raise SchemaError(
                f'the key "{part}" is variant',
                "a key of values that can be compared",
                f'take a part out in the frame, as with variant_get({part}, "$.id")',
            )
    for kind in spec.known_types(join.soft, join, inputs):
        if kind not in {AtomicType.BOOLEAN, AtomicType.NULL}:
            raise SpecError(
                f'where="{join.soft}" is {kind}',
                "a condition that is true or false",
                'compare it, as in where="l.amount < r.amount"',
            )


def refuse_on_streams(join: spec.JoinSpec, inputs: spec.Inputs) -> None:
    """Refuses what a stream cannot pack, compare or read."""
    schemas = spec.side_schemas(join, inputs)
    for hand, schema in schemas.items():
        refuse_unpacked(f"the {hand.value} side has", schema)
        for part in partition_of(join.side(hand)):
            _refuse_carried("the window goes by", schema, unquoted(part.strip()))
    for text in (*_key_parts(join), join.soft):
        for one in spec.references(text):
            _refuse_carried(f'"{text}" compares', schemas[one.hand], one.column)
    # Kernels evaluate the condition themselves: it must be in our room of expressions.
    parse(join.soft, Scope.pair(*schemas.values()))


def refuse_finish(plan: StreamPlan) -> None:
    """Refuses the end of streams where rows of a table would stay behind for ever.

    In order of arrival an end flushes nothing: a row of a table that has met nobody may
    still meet the next row of the stream, whatever is said of it.
    """
    for one in plan.joins:
        for side in one.tables:
            kept = one.join.clock is spec.Clock.ARRIVAL
            if kept and one.join.kind.preserves(side.hand):
                raise SpecError(
                    f"finish of a {one.join.kind.value} join in order of arrival: "
                    f"{side.hand.value} rows, of a table, that met nobody would never "
                    "come out",
                    "a stream with a time, whose end lets them out",
                    'name the column of the row time: dt.stream(frame, time="at")',
                )


def _key_parts(join: spec.JoinSpec) -> list[Expression]:
    """Returns both sides of every equality."""
    return [part for one in join.hard for part in (one.left, one.right)]


def _refuse_carried(found: str, schema: Schema, name: str) -> None:
    """Refuses to compare a column that a stream carries only."""
    if name in schema and is_carried(schema[name].type):
        raise SchemaError(
            f'{found} the column "{name}" of the type {schema[name].type}',
            "a type that a stream can compare, not one that it only carries",
            "cast it in the frame to a type that can be compared",
        )


_ROW_TIME = 'name the column of the row time, as in dt.stream(frame, time="placed_at")'
_TOLERANCE = 'write for example tolerance="5 seconds", or a number between numbers'
# By the name of the law that is broken.
_HINTS: Mapping[str, str] = {
    "stated_window": "write for example "
    'orders.window(dt.range(preceding="10 minutes"))',
    "window_time": _ROW_TIME,
    "event_time": _ROW_TIME,
    "arrival_range": "dt.rows counts in the order of arrival: give dt.range to both "
    "sides, or to none",
    "asof_tolerance": _TOLERANCE,
    "asof_unit": _TOLERANCE,
    "window_clock": "dt.rows, dt.delta and dt.seconds go by the order of arrival: on "
    "streams, and on both sides",
    "evict_partitions": 'a partition is all rows of one per=".."',
    "evict_clock": "dt.rows, dt.delta and dt.seconds go by the order of arrival",
    "same_hops": "give the same dt.hop to both sides",
    "inherited_join": "dt.inherited() is for the rows of a join",
    "row_time_order": 'leave order="row_time" out',
    "per_millisecond": 'null_rows="eager" gives them at once on any stream',
    "eager_batch": "in a batch nothing is known only later",
    "late_wait": 'write for example late_table_rows="10 minutes"',
    "window_bounds": 'give dt.hop("10 minutes", every="5 minutes") to both sides',
    "keep_kind": 'how="left" and "inner" have pairs of each left row',
    "atmost_kind": "swap the sides: candidates are those of a left row",
    "limit_kind": 'how="left" and "inner" have pairs of each left row',
    "atmost_limit": "both say what becomes of a row with too many candidates",
    "atmost_on": "a key that only ranks candidates goes into optional",
}
_EXPECTED: Mapping[str, str] = {
    "evict_partitions": "columns by which it is parted",
    "evict_clock": "a window by the order of arrival on either side",
    "per_millisecond": "dt.range on each side that keeps its unmatched rows, by time",
    "row_time_order": "rows with a time on both sides",
    "atmost_on": "keys that stand in on",
    "window_bounds": "dt.hop of a length of time on both sides",
}


# By the name of a field of the spec.
WORDS: Mapping[str, str] = {
    "hard": "on",
    "soft": "where",
    "pair_condition": "where",
    "stepped": "on",
    "sorted": "order",
    "partition_by": "per",
    "partition_evict": "an eviction",
    "outer_rows": "null_rows",
    "default_left": "fill(left=..)",
    "default_right": "fill(right=..)",
}
AS_DATA: Mapping[str, str] = {}
"""A join as data has the words of the spec."""


def check(
    join: spec.JoinSpec | spec.SetJoinSpec,
    inputs: spec.Inputs,
    settings: spec.Settings,
    *,
    words: Mapping[str, str] = WORDS,
) -> None:
    """Raises the first law that a join breaks, with what helps a user of Python."""
    try:
        check_spec(join, inputs, settings, words=words)
    except SpecError as error:
        expected = _EXPECTED.get(error.rule, error.expected)
        if error.rule == "window_clock":
            # Windows are called alike there and here.
            expected = error.expected.replace(", ", ", dt.")
            expected = expected.replace("one of ", "one of dt.")
        hint = _HINTS.get(error.rule, error.hint)
        raise SpecError(error.found, expected, hint, rule=error.rule) from None
