"""Between two operators results are rows again, and tell how far a join has come."""

import numpy as np
import pyarrow as pa
import pytest

from dovetail.engines.spark_stream.worker import bucket
from dovetail.engines.spark_stream.worker.pack import PackSettings, make_pack
from dovetail.engines.spark_stream.worker.relay import (
    BLOB,
    EVENT,
    JOIN,
    MOMENT,
    RELAYED,
    from_bucket,
    make_relay,
)
from dovetail.kernels.arrays.blobs import write_batch
from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.arrays.rows import BEGINNING, MISSING, NEVER
from dovetail.kernels.lifetimes.lives import BUCKET, Lives
from dovetail.kernels.pairs.results import Reason, code
from dovetail.spec.inputs import Outlet
from dovetail.spec.spans import NO_TIME

SCHEMA = bucket.result_schema((pa.schema([("n", pa.int64())]), pa.schema([])))
LINES = pa.schema(
    [
        ("blob", pa.binary()),
        ("join", pa.int32()),
        ("bucket", pa.int32()),
        ("until", pa.int64()),
        ("lives", pa.binary()),
    ]
)
PACK = PackSettings(
    hand=1,
    labels=(10, 11),
    per_scope=2,
    lateness=NO_TIME,
    timed=True,
    code="n",
    moment=MOMENT,
    payload=("n",),
    event=EVENT,
    passed=BLOB,
    join=JOIN,
)


def result(outlet, number, time):
    """One row of results."""
    late = code(Reason.LATE) if outlet is Outlet.LATE else 0
    values = [code(outlet), late, time, True, False, number]
    columns = [
        pa.array([value], kind)
        for value, kind in zip(values, SCHEMA.types, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SCHEMA)


def results(*rows):
    """A blob of results."""
    return write_batch(pa.Table.from_batches(rows).combine_chunks().to_batches()[0])


def relayed(*lines):
    """What the relay behind join 2 makes of lines of results: plain rows."""
    whole = [(*line, None)[: len(LINES)] for line in lines]
    columns = list(zip(*whole, strict=True))
    batch = pa.RecordBatch.from_arrays(
        [pa.array(*one) for one in zip(columns, LINES.types, strict=True)],
        schema=LINES,
    )
    found = make_relay(SCHEMA, 2, {7: 0, 8: 0})(iter([batch]))
    return pa.Table.from_batches(found, pa.schema([*SCHEMA, *RELAYED]))


BLOB_OF_TWO = results(
    result(Outlet.MATCHED, 1, 1_000_000), result(Outlet.LATE, 2, 500_000)
)


def test_rows_go_on_and_late_rows_are_passed_on_by_the_number_of_their_join():
    found = relayed((BLOB_OF_TWO, 0, 7, 900_000)).to_pylist()
    kinds = [LineKind(one[EVENT]) for one in found]
    assert sorted(kinds) == [LineKind.ROW, LineKind.BOUND, LineKind.PASSED]
    by_kind = dict(zip(kinds, found, strict=True))
    assert by_kind[LineKind.ROW]["l0"] == 1
    assert by_kind[LineKind.BOUND][MOMENT] == 900_000
    passed = by_kind[LineKind.PASSED]
    assert passed[JOIN] == 2
    assert bucket.unpacked(passed[BLOB], SCHEMA).column("l0").to_pylist() == [2]


def test_what_a_join_inside_has_passed_on_goes_further_as_it_is():
    (found,) = relayed((b"results", 3, 8, MISSING)).to_pylist()
    assert (found[EVENT], found[JOIN], found[BLOB]) == (LineKind.PASSED, 3, b"results")


def test_a_line_behind_the_first_says_nothing_of_how_far_its_bucket_is():
    assert relayed((None, 0, 7, MISSING)).num_rows == 0


def delivered(*untils, lives=None):
    """What bucket 10 gets where buckets of a join inside have come so far."""
    lines = []
    for until in untils:
        table = relayed((BLOB_OF_TWO, 0, 7, until, lives)).rename_columns(
            [*SCHEMA.names[:-1], "n", *RELAYED.names]
        )
        for one in make_pack(PACK, tuple(table.schema.names))(iter(table.to_batches())):
            lines += map(bucket.Line._make, zip(*one.to_pydict().values(), strict=True))
    mine = [line for line in lines if line.bucket == 10]
    return bucket.read_delivery(mine, (pa.schema([]), pa.schema([("n", pa.int64())])))


@pytest.mark.parametrize(
    ("untils", "least"), [((5, 9), 5), ((9, 5), 5), ((NEVER,), NEVER), ((NEVER, 4), 4)]
)
def test_the_least_of_what_its_buckets_say_is_how_far_a_join_has_come(untils, least):
    reports = [parcel.report for parcel in delivered(*untils).parcels]
    assert max(report.bound for report in reports) == least
    # It holds for what comes after the batch: it stands behind all its rows.
    assert {one.position for one in reports if one.bound == least} == {NEVER}


def test_rows_say_nothing_of_how_far_their_join_has_come():
    reports = [parcel.report for parcel in delivered(MISSING).parcels]
    assert {report.bound for report in reports} <= {BEGINNING}


def test_a_bucket_that_is_at_the_beginning_holds_back_those_that_have_ended():
    bounds = [parcel.report.bound for parcel in delivered(NEVER, BEGINNING).parcels]
    assert set(bounds) == {BEGINNING}


def test_rows_of_a_join_move_no_bound_and_are_not_late():
    found = delivered(5).parcels
    rows = [parcel for parcel in found if len(parcel.rows)]
    assert [one.report.bound for one in rows] == [BEGINNING] * len(rows)
    assert not any(one.rows.late.any() for one in rows)


def test_what_is_told_of_lives_by_several_buckets_is_put_together():
    one = np.array([3])
    told = write_batch(Lives(one, one, one, (9,)).written())
    (lives,) = [
        parcel.lives
        for parcel in delivered(5, 6, lives=told).parcels
        if not parcel.lives.says_nothing
    ]
    assert (lives.place.tolist(), lives.holds) == ([3, 3], (9,))


def test_a_row_whose_life_goes_on_says_which_bucket_it_is_from():
    rows = pa.record_batch({"n": [1, 2], BUCKET: [0, 0]})
    assert from_bucket(rows, 7).to_pydict() == {"n": [1, 2], BUCKET: [7, 7]}


def test_what_is_passed_on_reaches_one_bucket():
    (passed,) = delivered(5).passed
    assert passed.join == 2
    assert bucket.unpacked(passed.blob, SCHEMA).num_rows == 1
