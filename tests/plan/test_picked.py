"""The sentences in which `explain` tells which of a row's pairs come out."""

import pytest

from dovetail.expression import Expression
from dovetail.plan.words import picked
from dovetail.spec.reader import read_join

JOIN = {
    "left": {"from": "L"},
    "right": {"from": "R"},
    "type": "left_outer",
    "hard": [["l.k", "r.k"]],
    "clock": "batch",
}
TIMES = {"left": "l.at", "right": "r.at"}


@pytest.mark.parametrize(
    ("picks", "told"),
    [
        ({}, []),
        ({"keep": 1}, [("keep", "the first pair of each left row")]),
        ({"keep": 3}, [("keep", "the first 3 pairs of each left row")]),
        (
            {"atmost": {"n": 1}},
            [("atmost", "a left row with more than 1 candidate has no match at all")],
        ),
        (
            {"limit": {"n": 5, "on_exceed": "fail"}, "keep": 2},
            [
                ("limit", "a left row with more than 5 candidates fails the join"),
                ("keep", "the first 2 pairs of each left row"),
            ],
        ),
        (
            {"asof": {**TIMES, "direction": "nearest", "tolerance": "5 seconds"}},
            [
                (
                    "asof",
                    (
                        "the right row whose r.at is nearest to l.at on either side, "
                        "at most 5 seconds away; of several of that time the last"
                    ),
                )
            ],
        ),
        (
            {"asof": {**TIMES, "direction": "forward", "exact": False, "tie": "first"}},
            [
                (
                    "asof",
                    (
                        "the right row whose r.at is nearest after l.at, never "
                        "at the same time; of several of that time the first"
                    ),
                )
            ],
        ),
        (
            {"strategy": "lookup", "skip_when": "r.n > 3"},
            [
                ("lookup", "of each left row's matches the first comes out"),
                ("skip", "no row comes out where r.n > 3"),
            ],
        ),
    ],
)
def test_every_pick_is_told(picks, told):
    assert list(picked(read_join({**JOIN, **picks}).picks)) == told


def test_a_condition_on_the_left_row_is_told():
    picks = read_join({**JOIN, "left_condition": "l.n = 1"}).picks
    assert picks.left_condition == Expression("l.n = 1")
    assert list(picked(picks)) == [
        ("left if", "a left row has a match only where l.n = 1")
    ]
