"""From a join and its switches to JSON: what is read back as the same.

Only what differs from its default is written, so that a small join is a small object.
"""

from __future__ import annotations

from typing import assert_never

from dovetail import schema, spec
from dovetail.expression import ALWAYS, NEVER
from dovetail.spec.fields import unless, write_columns
from dovetail.spec.picks import write_picks
from dovetail.spec.windows import write_eviction, write_window

Json = dict[str, object]


def write_join(join: spec.JoinSpec | spec.SetJoinSpec) -> Json:
    """Returns the JSON of a join; reading it gives the same join."""
    match join:
        case spec.JoinSpec():
            return {
                **{hand.value: _write_side(join.side(hand)) for hand in spec.HANDS},
                "type": join.kind.value,
                "hard": [equality.written for equality in join.hard],
                **unless(ALWAYS, soft=join.soft),
                **_write_select(join.select),
                **_write_absents(join),
                **unless(1, ports=join.ports),
                **write_picks(join.picks),
                "clock": join.clock.value,
            }
        case spec.SetJoinSpec():
            return {
                "sets": list(join.sets),
                "type": join.kind.value,
                **unless(0, min=join.least, max=join.most),
                "stepped": list(join.stepped),
                "sorted": list(join.ordered_by),
                **unless(ALWAYS, pair_condition=join.pair_condition),
                **unless(ALWAYS, rows_condition=join.rows_condition),
                **unless(NEVER, skip_when=join.skip_when),
                **_write_select(join.select),
            }
        case _:
            assert_never(join)


def _write_side(side: spec.Side) -> Json:
    """Returns the JSON of one side."""
    match side.source:
        case spec.Named(name):
            written: Json = {"from": name}
        case spec.Nested(join, name):
            inner = {"join": write_join(join), **unless("", **{"as": name})}
            written = {"from": inner}
        case _:
            assert_never(side.source)
    written |= write_window(side.window)
    if side.partition_by:
        written["partition_by"] = [expression.text for expression in side.partition_by]
    return written | write_eviction(side.partition_evict)


def _write_select(select: spec.AllColumns | spec.Columns) -> Json:
    """Returns the output columns, nothing where all of them come out."""
    match select:
        case spec.AllColumns():
            return {}
        case spec.Columns(columns):
            return {"select": write_columns(columns)}
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
    return {**rows, **unless("null", absent=words["left"])}


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
