"""Buckets that are told of lives let out what one bucket lets out, in any order."""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import pytest

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, no_rows
from dovetail.kernels.arrival.arrival import Parcel, Report
from dovetail.kernels.lives import as_seen, lives_step, seen_schema
from dovetail.kernels.step import step
from dovetail.kernels.store import Store
from dovetail.spec.inputs import Arrival
from dovetail.spec.windows import Latest, Rows
from tests.conformance.local.shelf import Shelf
from tests.kernels.test_working_set import (
    KINDS,
    SCHEMA,
    SECOND,
    finish,
    parcel,
    settings_of,
    shown,
    side,
)

SCHEMAS = (SCHEMA, SCHEMA)
BUCKETS = 3


def settings_by(arrival, kind, *, told):
    """Of the left side the newest rows of all, of the right one four versions."""
    left, right = (
        replace(side(window, **marks), own_partition=True, ends_by_key=False, told=told)
        for window, marks in zip((Rows(5), Latest(("seq",))), KINDS[kind], strict=True)
    )
    gives = not (left.once or right.once)
    found = settings_of(left, right, gives_pairs=gives, event_clock=False)
    return replace(found, arrival=arrival)


def batches(count=8):
    """Parcels of both sides; the last ones end them."""
    random = np.random.default_rng(7)
    for number in range(count):
        parcels = []
        for hand in (0, 1):
            one = parcel(hand, 6, random, start=number * SECOND, keys=5)
            rows = one.rows
            parts = (rows.place * 0, rows.place % 4)[hand]
            rows = rows.with_arrays(place=number * 10 + rows.place, partition=parts)
            parcels.append(replace(one, rows=rows))
        yield parcels
    yield [finish(0), finish(1)]


def in_one(settings):
    """What one bucket lets out, which knows all rows."""
    shelf = Shelf()
    for parcels in batches():
        store = Store(settings, SCHEMAS, shelf)
        stepped = step(settings, store.load(parcels, 0), parcels, 0)
        store.save(stepped)
        yield stepped


def in_many(settings):
    """What several let out that are told by one in front of them."""
    seen = tuple(map(seen_schema, SCHEMAS))
    front, *shelves = (Shelf() for _ in range(BUCKETS + 1))
    for parcels in batches():
        lines = defaultdict(list)
        for one in parcels:
            label = one.rows.code % BUCKETS
            for own in range(BUCKETS):
                rows = one.rows.take(label == own)
                lines[own].append(replace(one, rows=rows))
            lines["front"].append(replace(one, rows=as_seen(one.rows, label)))
        finding = settings.of_lives()
        store = Store(finding, seen, front)
        state = store.load(lines["front"], 0)
        stepped, tidings = lives_step(finding, state, store.alive, lines["front"], 0)
        store.save(stepped)
        for (own, hand), told in tidings.items():
            report = Report(hand, NEVER, BEGINNING, BEGINNING, seen=False)
            lines[own].append(Parcel(report, no_rows(SCHEMA), told=told))
        for own, shelf in enumerate(shelves):
            store = Store(settings, SCHEMAS, shelf)
            stepped = step(settings, store.load(lines[own], 0), lines[own], 0)
            store.save(stepped)
            yield stepped


@pytest.mark.parametrize("kind", ["inner", "left", "full", "semi"])
@pytest.mark.parametrize("arrival", Arrival)
def test_what_is_told_gives_the_rows_of_one_bucket(arrival, kind):
    many, one = (
        sum(map(shown, run(settings_by(arrival, kind, told=told))), Counter())
        for run, told in ((in_many, True), (in_one, False))
    )
    assert many == one
    assert one


def seen_of(kept, batches):
    """What comes to the bucket in front: so many rows of each side, then a few."""
    random = np.random.default_rng(3)
    for number, count in enumerate([kept, *[20] * batches]):
        parcels = []
        for hand in (0, 1):
            one = parcel(hand, count, random, start=number * 60 * SECOND, keys=9)
            rows = one.rows.with_arrays(place=number * kept + one.rows.place)
            parcels.append(replace(one, rows=as_seen(rows, rows.code)))
        yield parcels


@pytest.mark.parametrize("kept", [500, 5_000])
def test_newest_rows_of_all_are_read_as_they_end(kept):
    window = replace(side(Rows(kept)), ends_by_key=False, told=True, is_whole=True)
    finding = settings_of(window, window, event_clock=False).of_lives()
    schemas, shelf = tuple(map(seen_schema, SCHEMAS)), Shelf()
    for parcels in seen_of(kept, batches=40):
        came = sum(len(one.rows) for one in parcels)
        store = Store(finding, schemas, shelf)
        state = store.load(parcels, 0)
        # Rows that wait for a bound may take part now, and each ends one of the oldest.
        assert sum(map(len, state.alive)) <= came + sum(map(len, state.waiting))
        stepped, tidings = lives_step(finding, state, store.alive, parcels, 0)
        store.save(stepped)
        assert max(store.alive) <= kept
    assert 0 < sum(map(len, tidings.values())) <= 2 * (came + 2 * 20)
    # A chunk is written again once half of it has left.
    assert shelf.size < 2 * 2 * kept * 100
