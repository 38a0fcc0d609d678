"""A plan says of each window which rows are kept, and of each switch what it does."""

import pytest

from dovetail.expression import Expression
from dovetail.plan.state import state_bound
from dovetail.plan.stream import Feed, plan_stream
from dovetail.plan.words import FEW, explained, switched
from dovetail.schema import Schema
from dovetail.spec.defaults import with_defaults
from dovetail.spec.inputs import (
    Clock,
    EmitLateTableRows,
    Input,
    InputKind,
    Order,
    OuterRows,
    Settings,
)
from dovetail.spec.join import HANDS, Hand, JoinSpec, Kind, Named, Side
from dovetail.spec.picks import Equality
from dovetail.spec.reader import read_inputs, read_join
from dovetail.spec.spans import Span
from dovetail.spec.windows import (
    Between,
    Delta,
    Forever,
    HopSize,
    HopUnit,
    RowsPreceding,
    Seconds,
)

MINUTE = Span(0, 60_000_000)
STREAM = Input(
    "a", InputKind.STREAM, Schema.of({"k": "int", "t": "timestamp"}), time="t"
)
KEPT = {
    Seconds(MINUTE): "rows that came up to 1 minute ago",
    Delta(Expression("k"), 4): "rows whose k is up to 4 below that of later ones",
    RowsPreceding(1): "2 rows a partition, and those not before the right side's bound",
    HopUnit("hour"): "rows of each hour that ends not before the right side's bound",
    HopSize(MINUTE, MINUTE): "rows of each window that ends not before the right "
    "side's bound",
    Between(Expression("t"), Expression("u")): "rows whose u is not before the right "
    "side's bound",
    Forever(): "without a bound: every row that ever came",
}
EAGER = "a row that meets nobody as it comes goes out at once as unmatched"
WAITS = "an unmatched row of a stream waits for the first row of a table that fits"
SWITCHED = {
    Settings(): (),
    Settings(outer_rows=OuterRows.EAGER): (
        ("unmatched", f"{EAGER}; pairs that come later follow it"),
    ),
    Settings(late_table_rows=EmitLateTableRows(MINUTE), order=Order.ROW_TIME): (
        ("tables", f"{WAITS} for 1 minute"),
        ("out in", "the order of row time: a row waits until none before it can come"),
    ),
    Settings(late_table_rows=EmitLateTableRows()): (("tables", f"{WAITS}, for ever"),),
}


@pytest.mark.parametrize("window", KEPT, ids=lambda one: type(one).__name__)
def test_a_window_says_which_rows_it_keeps(window):
    side = Side(Named("a"), window)
    key = Equality(Expression("l.k"), Expression("r.k"))
    join = JoinSpec(side, side, Kind.INNER, Clock.EVENT, hard=(key,))
    found = state_bound(join, dict.fromkeys(HANDS, STREAM), Hand.LEFT)
    assert found == KEPT[window]


@pytest.mark.parametrize("settings", SWITCHED, ids=str)
def test_a_switch_says_what_it_does(settings):
    assert tuple(switched(settings)) == SWITCHED[settings]


@pytest.mark.parametrize(
    ("more", "select", "kind", "told"),
    [
        (FEW, {"k": "l.k"}, "inner", None),
        (FEW + 2, {"k": "l.k"}, "inner", f"l.n0, l.n1 and {FEW - 1} more go along"),
        # `N0` is that column, `n10` is not `n1`; the condition names another.
        (FEW + 4, {"k": "l.N0 + r.k"}, "inner", f"l.n1, l.n3 and {FEW} more go along"),
        (99, {"k": "l.k"}, "left_outer", None),
        (99, None, "inner", None),
    ],
)
def test_many_columns_that_nobody_reads_are_named(more, select, kind, told):
    columns = {"k": "int", "t": "timestamp", **{f"n{it}": "int" for it in range(more)}}
    stream = {"kind": "stream", "schema": columns, "time": "t"}
    inputs = read_inputs(
        {"a": stream, "b": {**stream, "schema": {"k": "int", "t": "timestamp"}}}
    )
    window = {"range": {"preceding": "1 hour", "following": "1 hour"}}
    join = {
        "left": {"from": "a", "window": window},
        "right": {"from": "b", "window": window},
        "type": kind,
        "hard": [["l.k", "r.k"]],
        "soft": "l.n2 > 0" if more > FEW else "true",
        "clock": "event",
        "ports": 1 if kind == "inner" else 2,
    }
    join |= {"select": select} if select else {}
    feeds = dict.fromkeys(HANDS, Feed())
    plan = plan_stream(with_defaults(read_join(join), inputs), inputs, feeds)
    words = " ".join(explained(plan, lambda _: "").split())
    assert f"left unread {told}" in words if told else "unread" not in words
    assert "right unread" not in words
