"""A batch whose rows meet too many of each other comes in pieces: nobody can tell.

Here two pairs are too many, so that nearly every batch of several rows is cut.
"""

from dataclasses import replace
from functools import partial
from random import Random

import pytest

from dovetail.conformance import local
from dovetail.conformance.local.play import Cut, play_cut
from dovetail.conformance.local.stage import Stage
from dovetail.engines.spark_stream.worker import bucket
from dovetail.kernels import pieces
from dovetail.spec.inputs import Arrival, Clock
from tests.conformance.local.agreement import (
    MOVING,
    bag,
    chunks,
    cut_play,
    outcome,
    seeds_of,
    seen,
)
from tests.conformance.local.shelf import OnShelf
from tests.conformance.oracle.test_cases import TESTS, neutral_cases
from tests.plays import random_play

pytestmark = pytest.mark.usefixtures("unmeasured")


@pytest.fixture
def cuts(monkeypatch):
    """How many pieces each batch was cut into, if it was; the rows of all pieces."""
    told = []

    def noted(settings, parcels, count):
        found = pieces.pieces_of(settings, parcels, count)
        told.append((parcels, found, settings))
        return found

    monkeypatch.setattr(bucket, "pieces_of", noted)
    return told


def rows_of(parcels):
    """The codes and moments of all rows, whatever their order."""
    return sorted(
        (one.report.hand, *pair)
        for one in parcels
        for pair in zip(one.rows.code, one.rows.moment, strict=True)
    )


@pytest.mark.parametrize("chunk", chunks(1, 10))
def test_pieces_change_no_row(monkeypatch, cuts, chunk):
    for seed in seeds_of(chunk, 60):
        play = random_play(seed)
        if play.join.clock not in MOVING:
            continue
        whole = outcome(partial(local.play, play))
        with monkeypatch.context() as patched:
            patched.setattr(bucket, "MOST_PAIRS", 1)
            cut = outcome(partial(cut_play, play, Random(seed)))
        assert type(cut) is type(whole), seed
        assert isinstance(cut, str) or seen(bag, cut) == seen(bag, whole), seed
    assert sum(len(found) > 1 for _, found, _ in cuts) > 5
    for parcels, found, _ in cuts:
        every = [one for piece in found for one in piece]
        assert not found or rows_of(every) == rows_of(parcels)
        assert all(any(len(one.rows) for one in piece) for piece in found)


def unnumbered(play, arrival):
    """The stage of a play as a stream has it whose rows have no numbers."""
    stage = Stage.of(play)
    settings = replace(stage.settings, ordered=False, arrival=arrival)
    return replace(stage, settings=settings)


@pytest.mark.parametrize("arrival", [Arrival.AS_READ, Arrival.MERGED])
def test_pieces_of_rows_without_numbers_change_no_row(monkeypatch, cuts, arrival):
    """Of one batch, by whose rows none is judged."""
    compared, at_once = 0, Cut([], most=3)
    for seed in range(300):
        play = random_play(seed, Clock.EVENT)
        stage = unnumbered(play, arrival)
        if stage.settings.numbered:
            continue
        whole = bag(play_cut(stage, OnShelf(stage), at_once))
        with monkeypatch.context() as patched:
            patched.setattr(bucket, "MOST_PAIRS", 1)
            assert bag(play_cut(stage, OnShelf(stage), at_once)) == whole, seed
        compared += 1
    assert compared > 15
    assert {settings.arrival for *_, settings in cuts} == {arrival}
    assert sum(len(found) > 2 for _, found, _ in cuts) > 3


@pytest.mark.parametrize("arrival", Arrival)
def test_no_step_finds_more_pairs_than_it_may(monkeypatch, arrival):
    """In each of its two searches: old rows meet new ones, and new ones all."""
    (case,) = (
        case
        for case in neutral_cases(TESTS / "cases")
        if case.name == "crowds/hot_key_event"
    )
    stage, found = unnumbered(case.join.play(), arrival), []
    step, most = bucket.step, 7

    def counted(*told):
        stepped = step(*told)
        found.append(sum(map(len, stepped.out)))
        return stepped

    monkeypatch.setattr(bucket, "step", counted)
    whole = bag(play_cut(stage, OnShelf(stage), Cut([], most=99)))
    assert max(found) > 4 * most
    found.clear()
    monkeypatch.setattr(bucket, "MOST_PAIRS", most)
    assert bag(play_cut(stage, OnShelf(stage), Cut([], most=99))) == whole
    assert len(found) > 4
    assert max(found) <= 2 * most
