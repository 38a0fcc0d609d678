"""Kernels equal the definition where the result is told by its changes: no streams.

A failing seed is played again with `random_play(seed, told, Clock.ARRIVAL)`; 100 seeds
by default, 2,000 with --long.
"""

import pytest

from dovetail.errors import UnsupportedError
from dovetail.kernels.tables import stages
from dovetail.spec.inputs import Clock, InputKind
from tests.chance.plays import random_play
from tests.conformance.local.agreement import (
    REFUSED,
    accepted,
    chunks,
    is_defined,
    is_uncut,
    lines,
    of_kernels,
    seeds_of,
    seen,
)

pytestmark = pytest.mark.usefixtures("unmeasured")


def told(play):
    """Raises where a stream is joined, or what the kernels cannot do yet."""
    if any(source.kind is InputKind.STREAM for source in play.inputs.values()):
        raise UnsupportedError.not_yet("this test", "a stream")
    accepted(play)


@pytest.mark.parametrize("chunk", chunks(2, 40))
def test_kernels_equal_the_definition_and_no_cut_changes_a_row(chunk):
    for seed in seeds_of(chunk, 50):
        play = random_play(seed, told, Clock.ARRIVAL)
        found = of_kernels(play)
        assert found != REFUSED
        assert is_defined(play, found), seed
        assert is_uncut(play, found, seed), seed


def test_rows_that_are_late_from_the_start_come_side_by_side():
    # A table on the left and a data set on the right, each with rows without a time.
    play = random_play(611, told, Clock.ARRIVAL)
    assert is_defined(play, of_kernels(play))


def test_a_few_left_rows_at_a_time_are_as_good_as_all(monkeypatch):
    plays = [random_play(seed, told, Clock.ARRIVAL) for seed in range(40)]
    whole = [seen(lines, of_kernels(play)) for play in plays]
    monkeypatch.setattr(stages, "_ROOM", 4)
    assert [seen(lines, of_kernels(play)) for play in plays] == whole
