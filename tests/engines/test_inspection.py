"""What is told of a bucket's state is what the state has, step by step."""

from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest

from dovetail.conformance.case import Neutral, read_joins
from dovetail.conformance.local.nested import has_inner
from dovetail.conformance.local.stage import InPlace, Stage
from dovetail.engines.spark_stream.worker.inspection import looked_at
from dovetail.errors import DovetailError
from dovetail.kernels.arrays.blobs import read_batch
from dovetail.kernels.arrays.rows import MISSING, NEVER, flags_of, join_rows, make_rows
from dovetail.kernels.hot import hot_keys
from dovetail.spec.inputs import Clock
from tests.conformance.local.shelf import OnShelf
from tests.house.source import TOP
from tests.kernels.test_working_set import RANGE, settings_of, side

FILES = ("event_range", "event_versions", "arrival_rows", "event_hop_size", "picks")


def stages(name):
    """The stages of a file's cases that are no batch, each with its number of steps."""
    for case in read_joins([TOP / f"tests/cases/{name}.json"]):
        with suppress(DovetailError):
            play = case.join.play() if isinstance(case.join, Neutral) else None
            if play and not has_inner(play.join) and play.join.clock is not Clock.BATCH:
                yield case.name, Stage.of(play)


def told(state, hand, settings):
    """What a state that lies in memory has of a side."""
    rows = join_rows([state.alive[hand], state.waiting[hand]])
    timed = rows.moment[rows.moment != MISSING]
    remembers = settings.sides[hand].remembers or settings.changelog
    met = rows.partners > 0 if settings.changelog else rows.met < NEVER
    return {
        "rows": len(rows),
        "waiting": len(state.waiting[hand]),
        "matched": int(met.sum()) if remembers else None,
        "times": [int(timed.min()), int(timed.max())] if len(timed) else [],
    }


@pytest.mark.parametrize("name", FILES)
def test_counts_are_those_of_the_rows_that_are_alive(name):
    looked = 0
    for case, stage in stages(name):
        whole, kept = InPlace(stage), OnShelf(stage)
        opening = [stage.opening()] if stage.openings else []
        batches = [
            stage.between(first, past)
            for first, past in pairwise(range(0, len(stage.events) + 3, 3))
        ]
        for lines in [*opening, *filter(None, batches)]:
            try:
                stage.run(whole, lines)
            except DovetailError:
                break
            stage.run(kept, lines)
            blobs = {0: kept.shelf.head, **kept.shelf.blobs}
            code = int(
                next((rows.code[0] for rows in whole.state.alive if len(rows)), 0)
            )
            counted, shown = looked_at(stage.settings, blobs, (code,))
            for hand in (0, 1):
                wanted = told(whole.state, hand, stage.settings)
                found = counted["sides"][hand]
                assert {name: found[name] for name in wanted} == wanted, case
                rows = join_rows([whole.state.alive[hand], whole.state.waiting[hand]])
                count = int((rows.has_key & (rows.code == code)).sum())
                assert read_batch(shown[hand]).num_rows == count, case
                looked += count
            assert counted["held"] == whole.state.held.num_rows
            assert counted["bytes"] == kept.shelf.size
    assert looked > 20


def test_the_keys_of_most_rows_are_told_with_their_values():
    codes = np.array([3, 9, 3, 7, 9, 3, 5, 5, 9, 3, 1, 1, 8, 8, 6, 6, 4])
    there = np.arange(len(codes)) != 9
    payload = pa.record_batch({"n": np.arange(len(codes))})
    flags = flags_of(has_key=there)
    rows = make_rows(codes, codes, codes, flags, payload)
    settings = settings_of(side(RANGE), side(RANGE))
    whole = replace(settings, key_type="bigint")
    assert hot_keys(settings, [rows]) == []
    for kind, values in {
        "bigint": "3 9 1 5 6",
        "date": "1970-01-04 1970-01-10 1970-01-02 1970-01-06 1970-01-07",
    }.items():
        found = hot_keys(
            replace(settings, key_type=kind),
            [rows.take(slice(4)), rows.take(slice(4, None))],
        )
        assert [one.rows for one in found] == [3, 3, 2, 2, 2]
        assert [one.values for one in found] == [[value] for value in values.split()]
    yes = hot_keys(replace(settings, key_type="boolean"), [rows.take(codes == 1)])
    assert [one.values for one in yes] == [["true"]]
    assert hot_keys(whole, [rows.take(codes == 4)]) == []
    assert hot_keys(whole, [rows.take(slice(0))]) == hot_keys(whole, []) == []


def test_of_many_rows_those_keys_are_told_that_have_a_thousandth():
    chance = np.random.default_rng(7)
    # Codes in large steps: the lowest bits of all are alike.
    rare = chance.integers(-(2**40), 2**40, 30_000) << 16
    often = np.repeat(np.array([5, -7, 1 << 50]) << 8, [500, 31, 29])
    codes = chance.permutation(np.concatenate((rare, often)))
    payload = pa.record_batch({"n": codes})
    rows = make_rows(codes, codes, codes, flags_of(has_key=codes < 2**63 - 1), payload)
    settings = replace(settings_of(side(RANGE), side(RANGE)), key_type="bigint")
    found = hot_keys(settings, [rows])
    assert found == [(500, [str(5 << 8)]), (31, [str(-7 << 8)])]
