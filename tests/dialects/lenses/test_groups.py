"""What windows and tables of groups hold, counted by hand, in whatever order rows come.

TUMBLE 5s     [0, 5) [5, 10) ..        each row in one
HOP 6s,2s     [0, 6) [2, 8) [4, 10)    each row in three
SESSION 2s    1 3 4 | 7 9 | 12         no farther apart than that
"""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.conformance.case import CaseData
from dovetail.conformance.engines import EngineName, parse_split
from dovetail.conformance.flows import lenses_play

INPUTS = {
    "sales": {
        "kind": "stream",
        "time": "_time",
        "lateness": "1 hour",
        "schema": {"_time": "timestamp", "shop": "string"},
    }
}
SALES = st.lists(st.tuples(st.integers(0, 40), st.sampled_from("ab")), max_size=12)


def counts(sales, window):
    """How many sales each group has, whatever comes out in which order."""
    text = f"SELECT STREAM shop, COUNT(*) AS n FROM sales {window} GROUP BY shop"
    events = [
        {"in": "sales", "row": {"_time": f"00:00:{second:02}", "shop": shop}}
        for second, shop in sales
    ]
    ended = {"end": "sales"}
    data = CaseData(INPUTS, {}, (*events, ended), has_events=True)
    play = lenses_play(text, data)
    found = [
        Counter((it.row["shop"], it.row["n"]) for it in play.lines(one, WHOLE))
        for one in (EngineName.ORACLE, EngineName.LOCAL)
    ]
    assert found[0] == found[1]
    return found[0]


WHOLE = parse_split("whole")


def of_windows(places):
    """How many rows each group has in each of its windows, by (shop, window)."""
    return Counter((shop, n) for (shop, _), n in Counter(places).items())


@given(SALES)
def test_a_table_has_a_row_for_each_record(sales):
    every = Counter(shop for _, shop in sales)
    told = ((shop, n) for shop, most in every.items() for n in range(1, most + 1))
    assert counts(sales, "") == Counter(told)


@given(SALES)
def test_each_row_is_in_one_window_that_tumbles(sales):
    wanted = of_windows((shop, second // 5) for second, shop in sales)
    assert counts(sales, "WINDOW BY TUMBLE 5s") == wanted


@pytest.mark.parametrize(("size", "step"), [(6, 2), (4, 4), (9, 3)])
@given(sales=SALES)
def test_each_row_is_in_all_windows_that_hop_over_it(size, step, sales):
    wanted = of_windows(
        (shop, start)
        for second, shop in sales
        for start in range(-size, 60, step)
        if start <= second < start + size
    )
    assert counts(sales, f"WINDOW BY HOP {size}s,{step}s") == wanted


@given(SALES)
def test_a_session_ends_where_none_comes_soon_enough(sales):
    sessions = []
    for shop in "ab":
        seconds = sorted(second for second, one in sales if one == shop)
        for before, second in zip([-9, *seconds], seconds, strict=False):
            if second - before > 2:
                sessions.append([shop, 0])
            sessions[-1][1] += 1
    assert counts(sales, "WINDOW BY SESSION 2s") == Counter(map(tuple, sessions))
