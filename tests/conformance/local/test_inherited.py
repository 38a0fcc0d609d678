"""Picks that judge pairs beside each other are refused where a life may be ended."""

from dataclasses import replace

import pytest

from dovetail.conformance import local, oracle
from dovetail.errors import UnsupportedError
from dovetail.expression import Expression
from dovetail.spec.picks import AsOf, AtMost, Keep, Limit, OnExceed, Picks
from tests.conformance.local.agreement import lines
from tests.conformance.local.test_cases import CASES

PLAYS = {
    case.name: case.join.play()
    for case in CASES
    if case.name.startswith("nested/inherited")
}
JUDGED = [
    Picks(at_most=AtMost(1)),
    Picks(limit=Limit(1, OnExceed.SKIP)),
    Picks(asof=AsOf(Expression("l.a"), Expression("r.n"))),
]


def picked(name, picks):
    play = PLAYS[f"nested/{name}"]
    return replace(play, join=replace(play.join, picks=picks))


@pytest.mark.parametrize("picks", JUDGED)
@pytest.mark.parametrize("name", ["inherited_of_versions", "inherited_of_counted_rows"])
def test_no_pick_judges_a_pair_that_may_fall_away(name, picks):
    with pytest.raises(UnsupportedError, match="life that others may end") as error:
        local.play(picked(name, picks))
    assert "atmost, limit or asof" in str(error.value)
    assert "use keep" in error.value.hint


@pytest.mark.parametrize("picks", [*JUDGED, Picks(keep=Keep(1))])
@pytest.mark.parametrize("name", ["inherited", "inherited_outer_null_row"])
def test_picks_judge_pairs_of_settled_lives(name, picks):
    play = picked(name, picks)
    assert lines(local.play(play)) == lines(oracle.play(play))


def test_the_first_pairs_are_kept_of_lives_that_may_be_ended():
    play = picked("inherited_of_versions", Picks(keep=Keep(1)))
    assert lines(local.play(play)) == lines(oracle.play(play))
