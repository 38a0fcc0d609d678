"""Where nobody can see in which order a side's rows came they need not say it."""

from collections import Counter
from dataclasses import replace
from itertools import chain

import numpy as np

from dovetail.conformance.local.frames import NUMBER
from dovetail.conformance.local.stage import InPlace, Stage, steps
from dovetail.engines.spark_stream.worker import bucket
from dovetail.errors import DovetailError
from dovetail.spec.inputs import Clock
from tests.plays import random_play


def without_places(hands):
    """What reads lines of which the rows of some sides have no places."""
    read = bucket.read_delivery

    def bare(parcel):
        if parcel.report.hand not in hands:
            return parcel
        nowhere = np.zeros(len(parcel.rows), np.int64)
        return replace(parcel, rows=parcel.rows.with_arrays(place=nowhere))

    def reading(lines, schemas):
        delivery = read(lines, schemas)
        return replace(delivery, parcels=[bare(one) for one in delivery.parcels])

    return reading


def played(stage):
    """The rows of all steps, in any order in each; rows go by what they hold."""

    def shown(row):
        sides = [
            side and {name: it for name, it in side.items() if name != NUMBER}
            for side in row.sides
        ]
        return repr((row.outlet, row.reason, row.row_time, sides, row.counter))

    return [sorted(map(shown, step.rows)) for step in steps(stage, InPlace(stage))]


def test_rows_without_places_give_the_same_rows(monkeypatch):
    compared = [0, 0]
    for seed in range(200):
        play = random_play(seed, Clock.EVENT)
        try:
            stage = Stage.of(play)
            in_order = played(stage)
            # As a stream has it: nobody asks in which order rows come out.
            stage = replace(stage, settings=replace(stage.settings, ordered=False))
            expected = played(stage)
        except DovetailError:
            continue
        # Who asks for no order gets the same rows sooner, where none has a number.
        if not stage.settings.picks.numbered:
            assert Counter(chain(*in_order)) <= Counter(chain(*expected)), seed
        hands = [hand for hand in (0, 1) if not stage.settings.shows_order(hand)]
        for hand in hands:
            compared[hand] += bool(sum(map(len, expected)))
        with monkeypatch.context() as patched:
            patched.setattr(bucket, "read_delivery", without_places(hands))
            assert played(stage) == expected, seed
    assert min(compared) > 5
