"""What a bucket counts in a batch is what the definition lets out of the play."""

from collections import Counter
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dovetail.conformance import oracle
from dovetail.conformance.case import Neutral, read_joins
from dovetail.conformance.local.nested import has_inner
from dovetail.conformance.local.stage import Stage
from dovetail.engines.spark_stream.worker import bucket
from dovetail.errors import DovetailError
from dovetail.kernels.arrays.blobs import read_batch
from dovetail.spec.inputs import Arrive, Clock, InputKind, Outlet, Remove
from dovetail.spec.picks import Picks
from tests.conformance.local.shelf import OnShelf
from tests.house.source import TOP

FILES = ("late", "event_between", "kinds", "ports", "bounds", "event_range")


def plays(name):
    """The plays of a file in which every step is told by its lines alone."""
    for case in read_joins([TOP / f"tests/cases/{name}.json"]):
        with suppress(DovetailError):
            play = case.join.play() if isinstance(case.join, Neutral) else None
            if (
                not play
                or not play.events
                or has_inner(play.join)
                or play.join.clock is Clock.BATCH
            ):
                continue
            stage = Stage.of(play)
            is_known = any(
                one.kind is InputKind.DATASET for one in play.inputs.values()
            )
            if not (is_known or stage.opening() or stage.settings.reads_clock):
                yield case.name, play, stage, oracle.play(play)


def counted(stage):
    """The sums of all batches of a play, of two events each, and the last counts."""
    memory, sums, last = OnShelf(stage), Counter(), {}
    for first, past in pairwise(range(0, len(stage.events) + 2, 2)):
        lines = stage.between(first, past)
        if lines:
            delivery = bucket.read_delivery(lines, stage.schemas)
            ran = bucket.run_batch(stage.settings, memory, delivery)
            last = dict(zip(bucket.COUNTED, ran.counts(), strict=True))
            sums.update({name: count or 0 for name, count in last.items()})
    return sums, last


def late(emissions, *reasons):
    """How many rows are turned away for these reasons."""
    turned_away = (one for one in emissions if one.outlet is Outlet.LATE)
    return sum(one.row["reason"] in reasons for one in turned_away)


@pytest.mark.parametrize("name", FILES)
def test_counts_are_those_of_the_definition(name):
    found = 0
    for case, play, stage, emissions in plays(name):
        sums, last = counted(stage)
        join = play.join

        def both(name, sums=sums):
            return sums[f"left_{name}"] + sums[f"right_{name}"]

        out = Counter(one.outlet for one in emissions)
        same_port = both("unmatched") if join.ports == 1 else 0
        assert sums["matched"] + same_port == out[Outlet.MATCHED], case
        assert both("late") == late(emissions, "late"), case
        assert both("failed") == late(emissions, "null_time", "bad_interval"), case
        for hand, side in {"left": join.left, "right": join.right}.items():
            rows = [one for one in play.events if isinstance(one, Arrive | Remove)]
            came = sum(one.input == side.source.name for one in rows)
            assert sums[f"{hand}_came"] == came, case
            is_told = stage.settings.changelog
            if join.kind.gives_pairs and join.picks == Picks() and not is_told:
                assert bool(sums["matched"]) == bool(sums[f"{hand}_met"]), case
                assert sums[f"{hand}_met"] <= sums["matched"], case
            kept = came - sums[f"{hand}_evicted"]
            assert last[f"{hand}_alive"] <= kept or stage.settings.copies_rows, case
        assert last["largest"] == last["left_alive"] + last["right_alive"]
        found += both("late") + both("unmatched") + sums["matched"]
    assert found > 5


def test_many_results_leave_in_lines_of_which_a_thousand_have_room_in_an_array(
    monkeypatch,
):
    _, _, stage, _ = next(plays("kinds"))
    delivery = bucket.read_delivery(stage.everything(), stage.schemas)

    def many(*told):
        stepped = step(*told)
        matched = next(one for one in stepped.out if one.num_rows)
        return replace(stepped, out=(matched.take(np.zeros(100_000, np.int64)),))

    step = bucket.step
    monkeypatch.setattr(bucket, "step", many)
    ran = bucket.run_batch(stage.settings, OnShelf(stage), delivery)
    blobs = [line[0] for line in ran.lines()]
    assert sum(read_batch(blob).num_rows for blob in blobs) == 100_000
    assert max(map(len, blobs)) * 1000 <= 1 << 27
