"""A plan says of each window which rows are kept, and of each switch what it does."""

import pytest

from dovetail.expression import Expression
from dovetail.plan.state import state_bound
from dovetail.plan.words import switched
from dovetail.schema import Schema
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
