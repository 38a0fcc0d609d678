"""A step on its working set gives what a step on all rows gives, and reads far less."""

import os
from collections import Counter
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

from dovetail.engines.kernel_settings import Manner, kernel_settings
from dovetail.engines.spark_stream.worker.copies import CopiedShelf, Copies
from dovetail.kernels.arrays.rows import NEVER, flags_of, make_rows, no_rows
from dovetail.kernels.arrival.arrival import Parcel, Report
from dovetail.kernels.settings import JoinSettings, SideSettings
from dovetail.kernels.state import new_state
from dovetail.kernels.step import step
from dovetail.kernels.store import Store
from dovetail.spec.defaults import with_defaults
from dovetail.spec.inputs import Arrival
from dovetail.spec.reader import read_inputs, read_join
from dovetail.spec.spans import Span
from dovetail.spec.windows import Forever, HopSize, HopUnit, Latest, Range, Rows
from tests.conformance.local.shelf import Shelf

pytestmark = pytest.mark.usefixtures("unmeasured")

SECOND = 1_000_000
SCHEMA = pa.schema([("key", pa.int64()), ("seq", pa.int64())])
LATENESS = 4 * SECOND


def side(window, *, preserved=False, once=False):
    return SideSettings(
        window=window,
        preserved=preserved,
        once=once,
        timed=True,
        static=False,
        lateness=Span(0, LATENESS),
        idle=0,
        own_partition=False,
        ends_by_key=True,
    )


def settings_of(left, right, *, gives_pairs=True, event_clock=True):
    return JoinSettings(
        sides=(left, right),
        event_clock=event_clock,
        gives_pairs=gives_pairs,
        arrival=Arrival.MERGED,
        ordered=False,
        soft=(),
        soft_columns=(),
        key_columns=0,
        self_join=False,
    )


def parcel(hand, count, random, *, start, keys, span=SECOND):
    """Rows of one side from a moment on; some have no key, some come late."""
    moment = start + random.integers(-2 * LATENESS, span, count)
    code, there = random.integers(0, keys, count), random.random(count) < 0.9
    # The least and the greatest of all numbers are keys like others.
    code[code == 0], code[code == 1] = np.iinfo(np.int64).min, np.iinfo(np.int64).max
    numbers = random.integers(0, 2**40, count)
    payload = pa.RecordBatch.from_arrays(
        [pa.array(code, mask=~there), pa.array(numbers)], schema=SCHEMA
    )
    flags = flags_of(has_key=there)
    known = make_rows(code * there, moment, np.arange(count), flags, payload)
    newest = int(moment.max(initial=start))
    return Parcel(Report(hand, 0, newest - LATENESS, newest, seen=count > 0), known)


class Counting(Shelf):
    """A shelf that counts what is read and written in a batch."""

    def __init__(self):
        super().__init__()
        self.begin()

    def begin(self):
        self.read, self.written = [], []

    def get(self, number):
        self.read.append(len(self.blobs[number]))
        return super().get(number)

    def put(self, number, data):
        self.written.append(len(data))
        super().put(number, data)


def shown(stepped):
    return Counter(row for one in stepped.out for row in map(str, one.to_pylist()))


def finish(hand, schema=SCHEMA):
    report = Report(hand, 0, NEVER, NEVER, seen=True)
    return Parcel(report, no_rows(schema))


RANGE = Range(Span(0, 9 * SECOND), Span(0, 2 * SECOND))
WINDOWS = {
    "range": (RANGE, RANGE),
    "forever": (Forever(), RANGE),
    "unit": (HopUnit("minute"), RANGE),
    "hop": (HopSize(Span(0, 20 * SECOND), Span(0, 10 * SECOND)), Forever()),
    "versions": (Rows(0), Latest(("key",))),
    "tables": (Latest(("key",)), Latest(("key",))),
    "newest": (Rows(2), Rows(1)),
    "looked_up": (Rows(0), Latest(("key",))),
}
IN_ORDER = {"newest", "looked_up"}
VERSIONS = {"versions", "tables"}
KINDS = {
    "inner": ({}, {}),
    "left": ({"preserved": True}, {}),
    "full": ({"preserved": True}, {"preserved": True}),
    "semi": ({"once": True}, {}),
    "both": ({"preserved": True, "once": True}, {"once": True}),
}


def both(ones, others):
    """Each of the ones with a third of the others, with `--long` with all of them."""
    return [
        pytest.param(one, other, marks=[] if (at + nr) % 3 == 0 else [pytest.mark.long])
        for at, one in enumerate(ones)
        for nr, other in enumerate(others)
    ]


@pytest.mark.parametrize(("window", "kind"), both(WINDOWS, KINDS))
def test_the_working_set_gives_what_all_rows_give(window, kind):
    sides = [side(w, **k) for w, k in zip(WINDOWS[window], KINDS[kind], strict=True)]
    gives = not any(one.once for one in sides)
    in_order = window in IN_ORDER
    settings = settings_of(*sides, gives_pairs=gives, event_clock=not in_order)
    reads_all = any(one.once and one.copies_rows for one in sides)
    assert bool(settings.reads_all) == reads_all
    random, shelf = np.random.default_rng(7), Shelf()
    state, came_out = new_state((SCHEMA, SCHEMA)), Counter()
    gone = 0
    for number in range(60):
        parcels = [
            parcel(hand, random.integers(0, 60), random, start=number * SECOND, keys=40)
            for hand in ((0, 1) if number < 50 else (0,))
        ]
        if number in (50, 59):
            parcels.append(finish(int(number == 50)))
        whole = step(settings, state, parcels, 0)
        state = whole.state()
        store = Store(settings, (SCHEMA, SCHEMA), shelf)
        stepped = step(settings, store.load(parcels, 0), parcels, 0)
        saved = store.save(stepped)
        came_out += shown(whole)
        assert shown(stepped) == shown(whole), number
        waiting = sum(map(len, state.waiting))
        # Versions that have met are of no use any more where one side has ended, and
        # are let go when they end, or when their key comes.
        alive = sum(map(len, state.alive)) + waiting
        is_left = window in VERSIONS and 50 < number < 59
        found = sum(one.alive for one in saved.sides)
        assert found >= alive if is_left else found == alive, number
        for one, kept, old in zip(
            saved.sides, whole.kept, whole.present.old, strict=True
        ):
            gone += one.evicted - int((~kept[:old]).sum())
            assert gone == 0 or is_left, number
        assert sum(len(one.overdue) for one in store.kinds) <= waiting
        listed = sum(len(one.chunks) + len(one.deltas) for one in store.kinds)
        assert len(shelf.blobs) == listed
    assert found == 0 or in_order
    assert came_out.total() > 500


RANGES = {"range": {"preceding": "9 seconds", "following": "2 seconds"}}
VERSIONED, HOPS = (
    {"latest": ["key"]},
    {"hop": {"size": "8 seconds", "every": "4 seconds"}},
)
ASOF = {"left": "l.ts", "right": "r.ts"}
NEAR = {**ASOF, "tolerance": "4 seconds"}
PICKS = {
    "keep": {"keep": 2},
    "keep one": {"keep": 1, "soft": "l.seq % 3 <> r.seq % 3"},
    "atmost": {"atmost": {"n": 2}},
    "limit": {"limit": {"n": 2, "on_exceed": "skip"}},
    "transform": {
        "limit": {"n": 1, "on_exceed": "transform", "transform": {"a": "l.seq"}}
    },
    "backward": {"asof": NEAR},
    "endless": {"asof": {**ASOF, "tie": "first"}},
    "strictly": {"asof": {**NEAR, "exact": False}},
    "forward": {"asof": {**NEAR, "direction": "forward", "tie": "first"}},
    "forward last": {"asof": {**NEAR, "direction": "forward"}},
    "nearest": {"asof": {**NEAR, "direction": "nearest", "tie": "first"}},
    "nearest last": {
        "asof": {**NEAR, "direction": "nearest"},
        "soft": "r.seq % 5 > 0",
    },
    "by number": {"asof": {"left": "l.seq", "right": "r.seq"}},
    "counted": {"atmost": {"n": 3}, "asof": ASOF},
}
LIVES = {
    "ranges": (RANGES, RANGES),
    "forever": ("forever", "forever"),
    "versions": (RANGES, VERSIONED),
    "both versions": (VERSIONED, VERSIONED),
    "left versions": (VERSIONED, RANGES),
    "hops": (HOPS, HOPS),
    "newest": ({"rows": 2}, {"rows": 1}),
}
_SELECT = {"a": "l.seq", "b": "r.seq"}
_TYPES = {"key": "bigint", "ts": "timestamp", "seq": "bigint"}
_SOURCE = {"kind": "stream", "schema": _TYPES, "time": "ts", "lateness": "4 seconds"}
SOURCES = read_inputs({"L": _SOURCE, "R": _SOURCE})


def picking(pick, lives, kind):
    left, right = LIVES[lives]
    sides = [{"from": "L", "window": left}, {"from": "R", "window": right}]
    if lives == "newest":
        sides = [{**one, "partition_by": ["key"]} for one in sides]
    told = {
        "left": sides[0],
        "right": sides[1],
        "type": kind,
        "hard": [["l.key", "r.key"]],
        "clock": "arrival" if lives == "newest" else "event",
        "select": {"a": "l.seq"} if kind == "left_semi" else _SELECT,
        **PICKS[pick],
    }
    join = with_defaults(read_join(told), SOURCES)
    return kernel_settings(join, SOURCES, Manner(Arrival.MERGED))


def timed(one, first=0):
    """A parcel of rows from a position on, with their times, whole seconds, told."""
    moment = one.rows.moment // SECOND * SECOND
    times = pa.array(moment, pa.timestamp("us", "UTC"))
    payload = one.rows.payload.append_column("ts", times)
    rows = one.rows.with_arrays(moment=moment, place=one.rows.place + first)
    return replace(one, rows=replace(rows, payload=payload))


@pytest.mark.parametrize(("pick", "lives"), both(PICKS, LIVES))
def test_picks_look_at_the_keys_that_came_and_what_is_due(pick, lives):
    kinds = ["inner", "left_outer", *["left_semi"] * (lives != "hops")]
    kind = kinds[(list(PICKS).index(pick) + list(LIVES).index(lives)) % len(kinds)]
    settings = picking(pick, lives, "inner" if pick == "transform" else kind)
    assert settings.reads_all == ""
    random, shelf = np.random.default_rng(5), Shelf()
    schema = timed(parcel(0, 0, random, start=0, keys=1)).rows.payload.schema
    state, read, there, came_out = new_state((schema, schema)), 0, 0, Counter()
    for number in range(30):
        parcels = [
            timed(
                parcel(hand, count, random, start=number * SECOND, keys=80),
                number * 100,
            )
            for hand, count in enumerate(random.integers(0, 30, 2))
        ]
        # One side ends before the other, then both.
        parcels += [finish(0, schema)] if number >= 26 else []
        parcels += [finish(1, schema)] if number >= 28 else []
        there += sum(map(len, (*state.alive, *state.waiting)))
        whole = step(settings, state, parcels, 0)
        state = whole.state()
        store = Store(settings, (schema, schema), shelf)
        loaded = store.load(parcels, 0)
        read += sum(map(len, (*loaded.alive, *loaded.waiting)))
        stepped = step(settings, loaded, parcels, 0)
        store.save(stepped)
        came_out += shown(whole)
        assert shown(stepped) == shown(whole), number
    assert read < 0.95 * there
    assert came_out.total() > 50


def cost(kept, kind, folder):
    """The most that batches of 2 x 100 rows read and write on so many rows a side.

    Rows come back by key and window far apart; what a copy holds is not read again.
    """
    endless = Range(Span(0, 10**6 * SECOND))
    sides = [side(endless, **one) for one in KINDS[kind]]
    settings, below = settings_of(*sides), Counting()
    shelf = CopiedShelf(below, Copies(folder))
    random, found = np.random.default_rng(3), []
    for number, count in enumerate([kept] + 20 * [100]):
        below.begin()
        parcels = [
            parcel(hand, count, random, start=number * 20 * SECOND, keys=kept)
            for hand in (0, 1)
        ]
        store = Store(settings, (SCHEMA, SCHEMA), shelf)
        loaded = store.load(parcels, 0)
        store.save(step(settings, loaded, parcels, 0))
        found.append(
            (
                sum(below.read),
                sum(map(len, loaded.alive)),
                sum(below.written),
                len(below.head),
                len(below.blobs),
            )
        )
    return np.array(found[1:]).sum(axis=0).tolist()


@pytest.mark.parametrize("kind", ["inner", "full"])
def test_a_batch_costs_what_it_brings(kind, tmp_path):
    for name in ("few", "many"):
        (tmp_path / name).mkdir()
    few = cost(3_000, kind, tmp_path / "few")
    many = cost(96_000, kind, tmp_path / "many")
    assert few[0] == many[0] == 0
    assert all(m <= 1.3 * f for f, m in zip(few[1:], many[1:], strict=True))
    # A row is 16 bytes of payload, its time, whom it met, when it is due.
    assert many[2] <= 20 * 200 * 4 * (16 + 8 + 8 + 12) * 2


def test_a_copy_is_the_blob_or_none(tmp_path):
    shelf = Shelf()
    copied = CopiedShelf(shelf, Copies(tmp_path))
    copied.put(11, b"eleven")
    assert bytes(copied.get(11)) == b"eleven"
    (tmp_path / "b").unlink()
    assert copied.get(11) == b"eleven"
    del shelf.blobs[11]
    mapped = copied.get(11)
    copied.copies.drop(11)
    assert bytes(mapped) == b"eleven"
    with pytest.raises(KeyError):
        copied.get(11)


def test_copies_that_cannot_be_kept_cost_time_alone(tmp_path):
    shelf = Shelf()
    copied = CopiedShelf(shelf, Copies(tmp_path / "missing"))
    copied.put(11, b"eleven")
    assert copied.get(11) == b"eleven"
    copied.drop(11)
    assert shelf.blobs == {}


def test_copies_that_nobody_uses_go(tmp_path):
    copies = Copies(tmp_path)
    copies.put(1, b"old")
    copies.put(2, b"new")
    os.utime(tmp_path / "1", (0, 0))
    copies.sweep()
    assert copies.get(1) is None
    assert copies.get(2) is not None
    os.utime(tmp_path / "2", (0, 0))
    copies.sweep()  # not so soon again
    assert copies.get(2) is not None
