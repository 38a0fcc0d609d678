"""Laws about switches: one join that breaks each, beside one that keeps it."""

import pytest

from tests.spec.rules.laws import ARRIVAL, BATCH, EVENT, SETS, broken, changed

SWITCHES = [
    ("per_millisecond", {"outer_rows": "per_millisecond"}, ARRIVAL, EVENT),
    (
        "per_millisecond",
        {"outer_rows": "per_millisecond"},
        changed(EVENT, left__window={"hop": "hour"}, type="left_outer"),
        changed(EVENT, left__window={"hop": "hour"}, type="right_outer"),
    ),
    ("eager_batch", {"outer_rows": "eager"}, BATCH, EVENT),
    ("eager_batch", {"outer_rows": "eager_retract"}, BATCH, ARRIVAL),
    ("row_time_order", {"order": "row_time"}, ARRIVAL, EVENT),
    ("set_switches", {"order": "row_time"}, SETS, BATCH),
    ("set_switches", {"outer_rows": "eager"}, SETS, EVENT),
    ("set_switches", {"outer_rows": "per_millisecond"}, SETS, EVENT),
    ("set_switches", {"late_table_rows": "emit"}, SETS, EVENT),
]


@pytest.mark.parametrize(("rule", "settings", "breaks", "keeps"), SWITCHES)
def test_a_law_about_a_switch(rule, settings, breaks, keeps):
    assert broken(breaks, settings=settings) == rule
    assert broken(keeps, settings=settings) == ""


@pytest.mark.parametrize("wait", ["0 seconds", "-1 day", "1 month"])
def test_a_wait_takes_time(wait):
    assert broken(EVENT, settings={"late_table_rows": {"emit": wait}}) == "late_wait"
    assert broken(EVENT, settings={"late_table_rows": {"emit": "1 day"}}) == ""
    assert broken(EVENT, settings={"late_table_rows": "emit"}) == ""
