"""The clock of a replay: each row comes once, none before its time."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

import dovetail.bind.replay as module
from dovetail.bind.replay import UPTO, ClockReader, pace_of
from dovetail.errors import EngineError, SpecError

SECOND = 1_000_000
FIRST = 50 * SECOND


class Wall:
    """A clock on a wall that a test puts on."""

    def __init__(self):
        self.now = 1000.0

    def monotonic(self):
        return self.now

    def sleep(self, seconds):
        self.now += seconds


@pytest.fixture
def wall(monkeypatch):
    found = Wall()
    monkeypatch.setattr(module, "clocks", found)
    return found


rests = st.lists(st.floats(0.01, 30), max_size=12)
runs = st.lists(st.tuples(st.booleans(), rests), min_size=1, max_size=4)


@given(runs, st.integers(0, 300), st.sampled_from([0.5, 1, 60, 1000]))
def test_each_row_comes_once_and_none_before_its_time(runs, seconds, pace):
    wall, last = Wall(), FIRST + seconds * SECOND
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "clocks", wall)
        offset = ClockReader(FIRST, last, pace=pace).initialOffset()
        stretches = []
        # Each run is a reader of its own, which goes on where the one before stopped.
        for ends, waits in runs:
            reader, at_first, began = None, offset[UPTO], wall.now
            for wait in waits:
                wall.now += wait if reader else 0.0
                if reader is None:
                    reader, began = ClockReader(FIRST, last, pace=pace), wall.now
                    if ends:
                        reader.prepareForTriggerAvailableNow()
                behind = reader.latestOffset(offset, reader.getDefaultReadLimit())
                stretches += reader.partitions(offset, behind)
                offset = behind
                gone = (wall.now - began) * pace * SECOND
                assert offset[UPTO] <= min(last, at_first + 1 + gone) or not gone
    times = {FIRST, last, *range(FIRST, last, 7 * SECOND)}
    came = [at for at in times for it in stretches if it.after < at <= it.upto]
    assert len(came) == len(set(came))
    assert set(came) == {at for at in times if at <= offset[UPTO]}
    assert all(one.upto == other.after for one, other in pairwise(stretches))


def test_who_ends_with_the_last_row_waits_for_it(wall):
    reader = ClockReader(FIRST, FIRST + 10 * SECOND, pace=4)
    reader.prepareForTriggerAvailableNow()
    offset, moments = reader.initialOffset(), []
    while (behind := reader.latestOffset(offset, None)) != offset:
        offset = behind
        moments.append((wall.now - 1000, offset[UPTO] // SECOND - 50))
    # At once, and then every second, in which four of the rows' own go by.
    assert moments == [(0, 0), (1, 4), (2, 8), (3, 10)]
    assert wall.now == 1003


def test_without_an_end_nobody_waits(wall):
    reader = ClockReader(FIRST, FIRST + 10 * SECOND, pace=1)
    start = reader.latestOffset(reader.initialOffset(), None)
    assert start == {UPTO: FIRST}
    wall.now += 0.5
    assert reader.latestOffset(start, None) == start
    wall.now += 0.5
    assert reader.latestOffset(start, None) == {UPTO: FIRST + SECOND}
    assert wall.now == 1001


def test_as_fast_as_can_be_is_one_batch(wall):
    reader = ClockReader(FIRST, FIRST + 10 * SECOND, pace=pace_of("fast"))
    assert reader.latestOffset(reader.initialOffset(), None) == {UPTO: reader.last}
    assert wall.now == 1000


@pytest.mark.parametrize("pace", [0, -1, "slow", None, True, "10x", float("nan")])
def test_what_is_no_pace_is_told(pace):
    with pytest.raises(SpecError) as caught:
        pace_of(pace)
    assert caught.value.expected == 'a number above 0, or "fast"'


def test_the_offset_of_another_source_is_told():
    reader = ClockReader(FIRST, FIRST, pace=0)
    with pytest.raises(EngineError, match="has read something else") as refusal:
        reader.latestOffset({"logOffset": 0}, None)
    assert refusal.value.hint
