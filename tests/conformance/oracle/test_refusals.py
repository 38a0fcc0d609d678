"""What the oracle has no meaning for is refused by name, never answered wrongly."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from dovetail.conformance import oracle
from dovetail.conformance.oracle.lives import lives_of
from dovetail.conformance.oracle.sides import LivingRow, OneSide
from dovetail.conformance.oracle.store import leaving
from dovetail.errors import UnsupportedError
from dovetail.expression import Expression
from dovetail.schema import Schema
from dovetail.spec.inputs import (
    Arrive,
    Clock,
    EmitLateTableRows,
    Input,
    InputKind,
    OuterRows,
    Settings,
)
from dovetail.spec.join import Columns, Hand, JoinSpec, Kind, Named, Nested, Play, Side
from dovetail.spec.windows import Forever, KeepPartitions, Latest, Range, Rows, Unstated

SCHEMA = Schema.of({"k": "int", "t": "timestamp"})
INPUTS = {
    "stream": Input("stream", InputKind.STREAM, SCHEMA, time="t"),
    "table": Input("table", InputKind.TABLE, SCHEMA, ("k",), "t"),
    "dataset": Input("dataset", InputKind.DATASET, SCHEMA),
}
JOIN = JoinSpec(
    Side(Named("stream"), Rows(1)),
    Side(Named("stream"), Rows(1)),
    Kind.INNER,
    Clock.ARRIVAL,
)
EVENT = replace(
    JOIN,
    clock=Clock.EVENT,
    left=Side(Named("stream"), Forever()),
    right=Side(Named("stream"), Forever()),
)
KEY = Columns((("k", Expression("l.k")),))
TABLE = Side(Named("table"), Latest(("k",)))
TABLES = replace(JOIN, left=TABLE, right=TABLE)


@pytest.mark.parametrize(
    ("join", "says"),
    [
        (
            replace(JOIN, left=Side(Nested(EVENT, "inner"), Rows(1))),
            "a join inside one on another clock",
        ),
        (
            replace(JOIN, left=Side(Nested(TABLES, "inner"), Rows(1))),
            "a join without a stream inside another",
        ),
    ],
)
def test_a_join_is_refused_by_the_name_of_what_is_missing(join, says):
    with pytest.raises(UnsupportedError, match=f"{says}.*engine oracle"):
        oracle.play(Play(join, INPUTS))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        (Settings(OuterRows.EAGER), "outer_rows in a join of a join"),
        (Settings(late_table_rows=EmitLateTableRows()), "late_table_rows emit inside"),
    ],
)
def test_a_switch_has_no_meaning_for_joins_inside_joins(settings, says):
    kept = replace(EVENT, right=TABLE, kind=Kind.LEFT_OUTER, select=KEY)
    side = Side(Nested(kept, "inner"), Forever())
    with pytest.raises(UnsupportedError, match=says):
        oracle.play(Play(replace(EVENT, left=side), INPUTS, settings=settings))


def test_a_window_without_a_definition_gives_no_life():
    source, window = INPUTS["stream"], Unstated()
    is_state, nothing = False, ((), (), ())
    known = (source, window, is_state, (), KeepPartitions())
    side = OneSide(Hand.LEFT, Clock.EVENT, *known, *nothing)
    row = LivingRow(Hand.LEFT, {}, 0, 0)
    with pytest.raises(UnsupportedError, match="Unstated"):
        lives_of(side, row, [])
    with pytest.raises(UnsupportedError, match="Unstated"):
        leaving(side, [], row)


def test_a_batch_inside_has_all_its_rows_from_the_start():
    stream, static = Side(Named("stream"), Forever()), Side(Named("dataset"), Forever())
    inner = replace(JOIN, left=static, right=TABLE, kind=Kind.CROSS, clock=Clock.BATCH)
    inner = replace(inner, select=Columns((("n", Expression("l.k")),)))
    row = {"k": 1, "t": datetime(2026, 1, 1, tzinfo=UTC)}
    came = tuple(Arrive(name, row) for name in ("stream", "dataset", "table"))
    join = replace(EVENT, left=stream, right=Side(Nested(inner, "static"), Forever()))
    (found,) = oracle.play(Play(join, INPUTS, came))
    assert (found.row, found.after) == ({**row, "n": 1}, 0)
    # Where a window looks at their row times they are no data set.
    timed = replace(join, right=Side(Nested(inner, "static"), Range()))
    with pytest.raises(UnsupportedError, match="inside one on another clock"):
        oracle.play(Play(timed, INPUTS, came))
