"""A split cuts events into batches that follow each other and lose nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.conformance.engines import (
    MOST_BATCHES,
    Each,
    Random,
    Whole,
    batch_ends,
    parse_split,
)
from dovetail.errors import SpecError

SPLITS = st.one_of(st.just(Each()), st.just(Whole()), st.builds(Random, st.integers()))


@given(SPLITS, st.integers(0, 50), st.text())
def test_every_batch_has_an_event_and_all_events_a_batch(split, events, name):
    ends = batch_ends(split, events, name)
    assert ends[-1] == events
    assert events == 0 or list(ends) == sorted(set(ends) - {0})


def test_each_gives_one_event_a_batch():
    assert batch_ends(Each(), 3, "a") == (1, 2, 3)


def test_whole_gives_one_batch():
    assert batch_ends(Whole(), 3, "a") == (3,)


@given(st.integers(), st.integers(0, 50), st.text())
def test_random_gives_few_batches_and_the_same_again(seed, events, name):
    ends = batch_ends(Random(seed), events, name)
    assert len(ends) <= MOST_BATCHES
    assert ends == batch_ends(Random(seed), events, name)


def test_random_differs_by_seed_and_by_name():
    cuts = {batch_ends(Random(seed), 40, name) for seed in range(5) for name in "abc"}
    assert len(cuts) > 5


@pytest.mark.parametrize(
    ("text", "split"),
    [("each", Each()), ("whole", Whole()), ("random:12", Random(12))],
)
def test_a_split_has_a_name(text, split):
    assert parse_split(text) == split


@pytest.mark.parametrize("text", ["", "random", "random:x", "each:1", "whole:2", "all"])
def test_another_name_is_refused(text):
    with pytest.raises(SpecError) as refusal:
        parse_split(text)
    assert refusal.value.found == f'no split "{text}"'
