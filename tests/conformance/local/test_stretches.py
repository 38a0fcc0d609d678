"""Picks that judge pairs by each other are refused beside null rows of stretches."""

from dataclasses import replace

import pytest

from dovetail.conformance import local, oracle
from dovetail.errors import UnsupportedError
from dovetail.spec.picks import Keep, Picks
from tests.conformance.local.agreement import lines
from tests.conformance.local.test_cases import CASES
from tests.conformance.local.test_inherited import JUDGED

(PLAY,) = [
    case.join.play()
    for case in CASES
    if case.name == "settings_event/per_millisecond_waits_for_atmost"
]


def picked(picks):
    return replace(PLAY, join=replace(PLAY.join, picks=picks))


@pytest.mark.parametrize("picks", JUDGED)
def test_picks_that_judge_pairs_are_refused_with_a_hint(picks):
    with pytest.raises(UnsupportedError, match="per_millisecond beside") as error:
        local.play(picked(picks))
    assert "use keep" in error.value.hint


@pytest.mark.parametrize("picks", [Picks(), Picks(keep=Keep(1))])
def test_null_rows_of_stretches_do_not_look_at_what_is_kept(picks):
    play = picked(picks)
    assert lines(local.play(play)) == lines(oracle.play(play))
