"""A task packs what it has as soon as that is enough, in rows or in bytes."""

from decimal import Decimal

import pyarrow as pa
import pytest

from dovetail.engines.spark_session import ARROW, BY_THOUSANDS
from dovetail.engines.spark_stream.worker import pack
from dovetail.engines.spark_stream.worker.bucket import Line, read_delivery
from dovetail.engines.spark_stream.worker.pack import PackSettings, make_pack
from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.arrays.rows import NEVER
from dovetail.kernels.lifetimes.measures import MEASURE, REACH
from dovetail.spec.spans import NO_TIME

BATCHES = [pa.record_batch({"text": ["a" * 100] * 10}) for _ in range(6)]
BYTES = BATCHES[0].nbytes


@pytest.mark.parametrize(
    ("rows", "size", "flushes"),
    [(1 << 20, 1 << 30, 1), (20, 1 << 30, 3), (1 << 20, 2 * BYTES, 3)],
    ids=["never", "rows", "bytes"],
)
def test_rows_are_packed_when_they_are_enough(monkeypatch, rows, size, flushes):
    monkeypatch.setattr(pack, "FLUSH_ROWS", rows)
    monkeypatch.setattr(pack, "FLUSH_BYTES", size)
    settings = PackSettings(
        0, (0,), 1, 0, timed=False, code="", moment="", payload=("text",)
    )
    given = [batch.rename_columns(["c0"]) for batch in BATCHES]
    packed = make_pack(settings, ("text",))(iter(given))
    assert sum(1 for _ in packed) == flushes


def delivered(settings, columns, payload):
    """What a bucket gets of one task's lines."""
    names = tuple(columns)
    (packed,) = make_pack(settings, names)(iter([pa.record_batch(columns)]))
    lines = (Line(*line.values()) for line in packed.to_pylist())
    schema = pa.schema(payload)
    return read_delivery(lines, (schema, schema))


def test_the_latest_time_of_a_task_is_the_batch_s_own_and_its_end_stops_the_side():
    settings = PackSettings(
        0,
        (0,),
        1,
        NO_TIME,
        timed=False,
        code="",
        moment="",
        payload=("n",),
        event="event",
        now="now",
    )
    ends = {"n": [1, 2, None], "event": [LineKind.ROW, LineKind.ROW, LineKind.FINISH]}
    found = delivered(settings, {**ends, "now": [7, 9, 8]}, [("n", pa.int64())])
    (parcel,) = found.parcels
    assert (found.now, parcel.report.stopped) == (9, 8)
    goes_on = {"n": [1, 2], "event": [LineKind.ROW] * 2, "now": [7, 9]}
    (parcel,) = delivered(settings, goes_on, [("n", pa.int64())]).parcels
    assert parcel.report.stopped == NEVER


def test_values_that_rows_are_measured_by_go_as_whole_numbers():
    settings = PackSettings(
        0,
        (0,),
        1,
        NO_TIME,
        timed=False,
        code="",
        moment="",
        payload=("n",),
        measured="by",
        width=Decimal("1.5"),
    )
    by = pa.array([Decimal("2.00"), None], pa.decimal128(6, 2))
    shown = [("n", pa.int64()), (MEASURE, pa.int64()), (REACH, pa.int64())]
    (parcel,) = delivered(settings, {"n": [1, 2], "by": by}, shown).parcels
    rows = parcel.rows
    assert rows.payload.schema.names == ["n", MEASURE, REACH]
    assert (rows.hidden(MEASURE)[0], rows.hidden(REACH).tolist()) == (200, [350, NEVER])


@pytest.mark.parametrize("text", ["", "a" * 100])
def test_a_thousand_lines_have_room_in_an_array(text):
    settings = PackSettings(
        0, (0,), 1, NO_TIME, timed=False, code="", moment="", payload=("text",)
    )
    rows = pa.record_batch({"text": [text] * 50_000})
    (packed,) = make_pack(settings, ("text",))(iter([rows]))
    sizes = [len(blob) for blob in packed.column("blob").to_pylist()]
    assert len(sizes) > 1
    lines = int(BY_THOUSANDS[f"{ARROW}.maxRecordsPerBatch"])
    # An array doubles as it grows: a batch takes 128 MB at most, whatever comes.
    assert max(sizes) * lines <= 1 << 27
