"""From a join to JSON: what `read_join` reads back as the same join.

Only what differs from its default is written, so that a small join is a small object.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import assert_never

from dovetail.expression import ALWAYS, NEVER, Expression
from dovetail.spec.join import (
    HANDS,
    Absent,
    AllColumns,
    BlankRow,
    Columns,
    GivenRow,
    JoinSpec,
    Named,
    Nested,
    NullRow,
    SetJoinSpec,
    Side,
)
from dovetail.spec.picks import (
    AllHard,
    AsOf,
    AtMost,
    Direction,
    Equality,
    Keep,
    Limit,
    OptionalEqual,
    OptionalPrefix,
    Picks,
    Strategy,
    Tie,
    Unlimited,
)
from dovetail.spec.spans import Span
from dovetail.spec.writing_windows import write_eviction, write_number, write_window

Json = dict[str, object]


def write_join(join: JoinSpec | SetJoinSpec) -> Json:
    """Returns the JSON of a join; reading it gives the same join."""
    match join:
        case JoinSpec():
            return _write_pair(join)
        case SetJoinSpec():
            return _write_sets(join)
        case _:
            assert_never(join)


def _write_pair(join: JoinSpec) -> Json:
    """Returns the JSON of a join of two sides."""
    return {
        **{hand.value: _write_side(join.side(hand)) for hand in HANDS},
        "type": join.kind.value,
        "hard": [_write_equality(equality) for equality in join.hard],
        **_unless(ALWAYS, soft=join.soft),
        **_write_select(join.select),
        **_write_absents(join),
        **_unless(1, ports=join.ports),
        **_write_picks(join.picks),
        "clock": join.clock.value,
    }


def _write_sets(join: SetJoinSpec) -> Json:
    """Returns the JSON of a join of several sets."""
    return {
        "sets": list(join.sets),
        "type": join.kind.value,
        **_unless(0, min=join.least, max=join.most),
        "stepped": list(join.stepped),
        "sorted": list(join.ordered_by),
        **_unless(ALWAYS, pair_condition=join.pair_condition),
        **_unless(ALWAYS, rows_condition=join.rows_condition),
        **_unless(NEVER, skip_when=join.skip_when),
        **_write_select(join.select),
    }


def _unless(default: object, **values: object) -> Json:
    """Returns the values by name that are not the default."""
    return {
        name: value.text if isinstance(value, Expression) else value
        for name, value in values.items()
        if value != default
    }


def _write_side(side: Side) -> Json:
    """Returns the JSON of one side."""
    written: Json = {"from": _write_source(side.source)}
    written |= write_window(side.window)
    if side.partition_by:
        written["partition_by"] = [expression.text for expression in side.partition_by]
    return written | write_eviction(side.partition_evict)


def _write_source(source: Named | Nested) -> str | Json:
    """Returns the name of an input, or the JSON of the join inside."""
    match source:
        case Named(name):
            return name
        case Nested(join, name):
            return {"join": write_join(join), **_unless("", **{"as": name})}
        case _:
            assert_never(source)


def _write_equality(equality: Equality) -> list[str]:
    """Returns the two texts of an equality."""
    return [equality.left.text, equality.right.text]


def _write_named(columns: Iterable[tuple[str, Expression]]) -> Json:
    """Returns columns by name."""
    return {name: expression.text for name, expression in columns}


def _write_select(select: AllColumns | Columns) -> Json:
    """Returns the output columns, nothing where all of them come out."""
    match select:
        case AllColumns():
            return {}
        case Columns(columns):
            return {"select": _write_named(columns)}
        case _:
            assert_never(select)


def _write_absents(join: JoinSpec) -> Json:
    """Returns the rows that stand for absent ones, and how their rest is filled."""
    rows = {
        f"default_{hand.value}": dict(absent.values)
        for hand in HANDS
        if isinstance(absent := join.absent(hand), GivenRow)
    }
    words = {hand.value: _write_rest(join.absent(hand)) for hand in HANDS}
    if len(set(words.values())) > 1:
        return {**rows, "absent": words}
    return {**rows, **_unless("null", absent=words["left"])}


def _write_rest(absent: Absent) -> str:
    """Returns the word for the columns that no given row names."""
    match absent:
        case GivenRow(_, rest):
            return _write_rest(rest)
        case NullRow():
            return "null"
        case BlankRow():
            return "blank"
        case _:
            assert_never(absent)


def _write_picks(picks: Picks) -> Json:
    """Returns the picks that are made."""
    return {
        **_write_keep(picks.keep),
        **_write_at_most(picks.at_most),
        **_write_limit(picks.limit),
        **_write_asof(picks.asof),
        **_unless(Strategy.DEFAULT.value, strategy=picks.strategy.value),
        **_unless(ALWAYS, left_condition=picks.left_condition),
        **_unless(NEVER, skip_when=picks.skip_when),
    }


def _write_keep(keep: Keep | Unlimited) -> Json:
    """Returns how many pairs are kept."""
    return {"keep": keep.count} if isinstance(keep, Keep) else {}


def _write_at_most(pick: AtMost | Unlimited) -> Json:
    """Returns how many candidates a row may have, and which equalities make one."""
    if isinstance(pick, Unlimited):
        return {}
    written: Json = {"n": pick.count}
    if not isinstance(pick.counted, AllHard):
        written["on"] = [_write_equality(equality) for equality in pick.counted]
    if pick.optional:
        written["optional"] = [_write_optional(item) for item in pick.optional]
    return {"atmost": written}


def _write_optional(item: OptionalPrefix | OptionalEqual) -> Json:
    """Returns the JSON of an optional equality."""
    match item:
        case OptionalPrefix(left, right, width):
            return {"prefix": [left.text, right.text, width]}
        case OptionalEqual(equality):
            return {"eq": _write_equality(equality)}
        case _:
            assert_never(item)


def _write_limit(pick: Limit | Unlimited) -> Json:
    """Returns what becomes of a row with too many candidates."""
    if isinstance(pick, Unlimited):
        return {}
    written: Json = {"n": pick.count, "on_exceed": pick.on_exceed.value}
    if pick.transform:
        written["transform"] = _write_named(pick.transform)
    return {"limit": written}


def _write_asof(pick: AsOf | Unlimited) -> Json:
    """Returns how the nearest row is found."""
    if isinstance(pick, Unlimited):
        return {}
    written = {
        "left": pick.left.text,
        "right": pick.right.text,
        **_unless(Direction.BACKWARD.value, direction=pick.direction.value),
        **_write_tolerance(pick.tolerance),
        **_unless(default=True, exact=pick.exact),
        **_unless(Tie.LAST.value, tie=pick.tie.value),
    }
    return {"asof": written}


def _write_tolerance(tolerance: Span | Decimal | Unlimited) -> Json:
    """Returns the greatest distance, nothing where there is none."""
    match tolerance:
        case Span():
            return {"tolerance": str(tolerance)}
        case Decimal():
            return {"tolerance": write_number(tolerance)}
        case Unlimited():
            return {}
        case _:
            assert_never(tolerance)
