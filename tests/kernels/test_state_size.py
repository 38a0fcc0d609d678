"""What a bucket keeps follows what is alive, however long the join runs."""

from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from dovetail.expression import Expression
from dovetail.kernels.arrays.names import CLOCK
from dovetail.kernels.arrays.rows import flags_of, make_rows
from dovetail.kernels.arrival.arrival import Parcel, Report
from dovetail.kernels.lifetimes.measures import MEASURE, REACH
from dovetail.kernels.settings import Closing, JoinSettings, SideSettings
from dovetail.kernels.step import step
from dovetail.kernels.store import Store
from dovetail.spec.inputs import Arrival
from dovetail.spec.spans import Span
from dovetail.spec.windows import Delta, Range, Rows, Seconds

SECOND = 1_000_000
BATCH, WINDOW, LATENESS, ROWS = 10 * SECOND, 60 * SECOND, 5 * SECOND, 2000
BATCHES, FULL = 60, 10
SCHEMA = pa.schema([("key", pa.int64()), ("seq", pa.int64())])


class Drawer:
    """A shelf in memory."""

    def __init__(self):
        self.head, self.blobs = b"", {}

    def directory(self):
        return self.head

    def keep_directory(self, data):
        self.head = data

    def get(self, number):
        return self.blobs[number]

    def put(self, number, data):
        self.blobs[number] = data

    def drop(self, number):
        del self.blobs[number]

    @property
    def size(self):
        return len(self.head) + sum(map(len, self.blobs.values()))


MINUTE = Range(Span(0, WINDOW))
IN_ORDER = [
    (Rows(20), Closing.NONE),
    (Delta(Expression("key"), Decimal(WINDOW)), Closing.NONE),
    (Seconds(Span(0, WINDOW)), Closing.CLOCK),
    (MINUTE, Closing.ROW_TIME),
]


def settings_of(*, preserved, window=MINUTE, closing=Closing.NONE, in_order=False):
    side = SideSettings(
        window=window,
        preserved=preserved,
        once=False,
        timed=True,
        static=False,
        lateness=Span(0, LATENESS),
        idle=0,
        own_partition=False,
        closing=closing,
    )
    return JoinSettings(
        sides=(side, side),
        event_clock=not in_order,
        gives_pairs=True,
        arrival=Arrival.SEQUENCE if in_order else Arrival.MERGED,
        ordered=False,
        soft=(),
        soft_columns=(),
        key_columns=0,
        self_join=False,
    )


def parcel(hand, number, random):
    """A batch's rows of one side, some of them late by less than is allowed."""
    moment = number * BATCH + random.integers(-LATENESS, BATCH - LATENESS, ROWS)
    code, flags = random.integers(0, 500, ROWS), flags_of(has_key=np.ones(ROWS, bool))
    payload = pa.RecordBatch.from_arrays(
        [pa.array(code), pa.array(np.arange(ROWS))], schema=SCHEMA
    )
    rows = make_rows(code, moment, np.zeros(ROWS, np.int64), flags, payload)
    newest = int(moment.max())
    return Parcel(Report(hand, 0, newest - LATENESS, newest, seen=True), rows)


@pytest.mark.parametrize("preserved", [False, True])
def test_state_levels_off_at_what_is_alive(preserved):
    settings, drawer = settings_of(preserved=preserved), Drawer()
    random = np.random.default_rng(1)
    sizes, written, alive = [], [], []
    for number in range(BATCHES):
        store = Store(settings, (SCHEMA, SCHEMA), drawer)
        parcels = [parcel(hand, number, random) for hand in (0, 1)]
        stepped = step(settings, store.load(parcels, 0), parcels, 0)
        written.append(store.save(stepped).written)
        sizes.append(drawer.size)
        alive.append(sum(int(kept.sum()) for kept in stepped.kept))
    assert max(sizes[FULL:]) <= 1.5 * sizes[FULL]
    # Key and time, payload once, marks, and at most as much of rows that are gone.
    each = 24 + 16 * preserved
    assert all(
        s <= 2 * each * a for s, a in zip(sizes[FULL:], alive[FULL:], strict=True)
    )
    # A row is written again a few times at most.
    assert sum(written) <= 6 * 2 * ROWS * each * BATCHES


def measured(parcel):
    """A batch's rows with what windows in order of arrival look at."""
    rows, report = parcel.rows, parcel.report
    place = np.arange(ROWS) * 2 + report.hand
    payload = rows.payload
    columns = {MEASURE: rows.moment, REACH: rows.moment + WINDOW, CLOCK: rows.moment}
    for name, numbers in columns.items():
        payload = payload.append_column(name, pa.array(np.sort(numbers)))
    rows = make_rows(rows.code, rows.moment, place, rows.flags, payload)
    return Parcel(report, rows)


@pytest.mark.parametrize("window", IN_ORDER, ids=lambda one: type(one[0]).__name__)
def test_state_in_order_of_arrival_levels_off_too(window):
    kind, closing = window
    settings = settings_of(preserved=True, window=kind, closing=closing, in_order=True)
    drawer = Drawer()
    random = np.random.default_rng(1)
    sizes, alive = [], []
    for number in range(BATCHES // 2):
        parcels = [measured(parcel(hand, number, random)) for hand in (0, 1)]
        schema = parcels[0].rows.payload.schema
        store = Store(settings, (schema, schema), drawer)
        now = number * BATCH
        stepped = step(settings, store.load(parcels, now), parcels, now)
        store.save(stepped)
        sizes.append(drawer.size)
        alive.append(sum(int(kept.sum()) for kept in stepped.kept))
    assert max(alive[FULL:]) <= 1.2 * alive[FULL]
    each = 24 + 24 + 16
    assert all(
        s <= 2 * each * a for s, a in zip(sizes[FULL:], alive[FULL:], strict=True)
    )
