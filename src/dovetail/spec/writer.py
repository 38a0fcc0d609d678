"""From a join, its inputs and events to JSON: what is read back as the same.

Only what differs from its default is written, so that a small join is a small object.
"""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal
from typing import assert_never

from dovetail import schema, spec
from dovetail.expression import ALWAYS, NEVER, Expression
from dovetail.spec.fields import write_number
from dovetail.spec.windows import write_eviction, write_window

Json = dict[str, object]


def write_join(join: spec.JoinSpec | spec.SetJoinSpec) -> Json:
    """Returns the JSON of a join; reading it gives the same join."""
    match join:
        case spec.JoinSpec():
            return {
                **{hand.value: _write_side(join.side(hand)) for hand in spec.HANDS},
                "type": join.kind.value,
                "hard": [_write_equality(equality) for equality in join.hard],
                **_unless(ALWAYS, soft=join.soft),
                **_write_select(join.select),
                **_write_absents(join),
                **_unless(1, ports=join.ports),
                **_write_picks(join.picks),
                "clock": join.clock.value,
            }
        case spec.SetJoinSpec():
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
        case _:
            assert_never(join)


def _unless(default: object, **values: object) -> Json:
    """Returns the values by name that are not the default."""
    return {
        name: value.text if isinstance(value, Expression) else value
        for name, value in values.items()
        if value != default
    }


def _write_side(side: spec.Side) -> Json:
    """Returns the JSON of one side."""
    match side.source:
        case spec.Named(name):
            written: Json = {"from": name}
        case spec.Nested(join, name):
            inner = {"join": write_join(join), **_unless("", **{"as": name})}
            written = {"from": inner}
        case _:
            assert_never(side.source)
    written |= write_window(side.window)
    if side.partition_by:
        written["partition_by"] = [expression.text for expression in side.partition_by]
    return written | write_eviction(side.partition_evict)


def _write_equality(equality: spec.Equality) -> list[str]:
    """Returns the two texts of an equality."""
    return [equality.left.text, equality.right.text]


def _write_named(columns: Iterable[tuple[str, Expression]]) -> Json:
    """Returns columns by name."""
    return {name: expression.text for name, expression in columns}


def _write_select(select: spec.AllColumns | spec.Columns) -> Json:
    """Returns the output columns, nothing where all of them come out."""
    match select:
        case spec.AllColumns():
            return {}
        case spec.Columns(columns):
            return {"select": _write_named(columns)}
        case _:
            assert_never(select)


def _write_absents(join: spec.JoinSpec) -> Json:
    """Returns the rows that stand for absent ones, and how their rest is filled."""
    rows = {
        f"default_{hand.value}": schema.shown_row(dict(absent.values))
        for hand in spec.HANDS
        if isinstance(absent := join.absent(hand), spec.GivenRow)
    }
    words = {hand.value: _write_rest(join.absent(hand)) for hand in spec.HANDS}
    # One word stands for both sides; null, the usual one, is not written.
    if len(set(words.values())) > 1:
        return {**rows, "absent": words}
    return {**rows, **_unless("null", absent=words["left"])}


def _write_rest(absent: spec.Absent) -> str:
    """Returns the word for the columns that no given row names."""
    match absent:
        case spec.GivenRow(_, rest):
            return _write_rest(rest)
        case spec.NullRow():
            return "null"
        case spec.BlankRow():
            return "blank"
        case _:
            assert_never(absent)


def _write_picks(picks: spec.Picks) -> Json:
    """Returns the picks that are made."""
    return {
        **({"keep": picks.keep.count} if isinstance(picks.keep, spec.Keep) else {}),
        **_write_counts(picks),
        **_write_asof(picks.asof),
        **_unless(spec.Strategy.DEFAULT.value, strategy=picks.strategy.value),
        **_unless(ALWAYS, left_condition=picks.left_condition),
        **_unless(NEVER, skip_when=picks.skip_when),
    }


def _write_counts(picks: spec.Picks) -> Json:
    """Returns how many candidates a row may have, and what becomes of one with more."""
    counts: Json = {}
    if isinstance(picks.at_most, spec.AtMost):
        at_most: Json = {"n": picks.at_most.count}
        # Without them all hard equalities count.
        if not isinstance(picks.at_most.counted, spec.AllHard):
            at_most["on"] = [_write_equality(it) for it in picks.at_most.counted]
        if picks.at_most.optional:
            at_most["optional"] = [_write_optional(it) for it in picks.optional]
        counts["atmost"] = at_most
    if isinstance(picks.limit, spec.Limit):
        exceeded = picks.limit.on_exceed.value
        limit: Json = {"n": picks.limit.count, "on_exceed": exceeded}
        if picks.limit.transform:
            limit["transform"] = _write_named(picks.limit.transform)
        counts["limit"] = limit
    return counts


def _write_optional(item: spec.OptionalPrefix | spec.OptionalEqual) -> Json:
    """Returns the JSON of an optional equality."""
    match item:
        case spec.OptionalPrefix(left, right, width):
            return {"prefix": [left.text, right.text, width]}
        case spec.OptionalEqual(equality):
            return {"eq": _write_equality(equality)}
        case _:
            assert_never(item)


def _write_asof(pick: spec.AsOf | spec.Unlimited) -> Json:
    """Returns how the nearest row is found."""
    match pick:
        case spec.Unlimited():
            return {}
        case spec.AsOf(tolerance=spec.Span() as length):
            tolerance: Json = {"tolerance": str(length)}
        case spec.AsOf(tolerance=Decimal() as distance):
            tolerance = {"tolerance": write_number(distance)}
        case _:
            tolerance = {}
    written = {
        "left": pick.left.text,
        "right": pick.right.text,
        **_unless(spec.Direction.BACKWARD.value, direction=pick.direction.value),
        **tolerance,
        **_unless(default=True, exact=pick.exact),
        **_unless(spec.Tie.LAST.value, tie=pick.tie.value),
    }
    return {"asof": written}


def write_inputs(inputs: spec.Inputs) -> Json:
    """Returns the JSON of inputs; reading it gives the same inputs."""
    found: Json = {}
    for name, source in inputs.items():
        written: Json = {"kind": source.kind.value}
        if columns := source.schema.columns:
            written["schema"] = {column.name: str(column.type) for column in columns}
        if source.key:
            written["key"] = list(source.key)
        if source.is_timed:
            written["time"] = source.time
        if source.lateness != spec.NO_TIME:
            written["lateness"] = str(source.lateness)
        if source.rows:
            written["rows"] = [schema.shown_row(row) for row in source.rows]
        found[name] = written
    return found


def write_settings(settings: spec.Settings) -> Json:
    """Returns the switches that are not at their defaults."""
    written: Json = {}
    if settings.outer_rows is not spec.OuterRows.EXPIRY:
        written["outer_rows"] = settings.outer_rows.value
    if settings.order is not spec.Order.AS_FOUND:
        written["order"] = settings.order.value
    if settings.late_null_rows:
        written["late_null_rows"] = True
    match settings.late_table_rows:
        case spec.IgnoreLateTableRows():
            return written
        case spec.EmitLateTableRows(spec.Unending()):
            return {**written, "late_table_rows": "emit"}
        case spec.EmitLateTableRows(wait):
            return {**written, "late_table_rows": {"emit": str(wait)}}
        case _:
            assert_never(settings.late_table_rows)


def write_events(events: Iterable[spec.Event]) -> list[Json]:
    """Returns the JSON of events; `at` stands where the clock moves."""
    written: list[Json] = []
    clock = 0
    for event in events:
        # A pause is nothing but time: it says it even where the clock stands still.
        if event.clock != clock or isinstance(event, spec.Pause):
            moment: Json = {"at": write_number(Decimal(event.clock) / spec.SECOND)}
        else:
            moment = {}
        clock = event.clock
        written.append(moment | _write_event(event))
    return written


def _write_event(event: spec.Event) -> Json:
    """Returns the JSON of one event, but for its clock."""
    match event:
        case spec.Arrive(name, row):
            return {"in": name, "row": schema.shown_row(row)}
        case spec.Remove(name, row):
            return {"in": name, "row": schema.shown_row(row), "delete": True}
        case spec.Bound(name, moment):
            return {"in": name, "bound": schema.shown(schema.from_microseconds(moment))}
        case spec.Finish(name):
            return {"end": name}
        case spec.Pause():
            return {}
        case _:
            assert_never(event)
