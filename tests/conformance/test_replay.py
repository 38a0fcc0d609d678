"""A recording plays again as it was: cut after cut, every value as it went in."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable

from dovetail.conformance.spark_stream.replay import Cuts, Line, Replay, record
from dovetail.kernels.arrays.names import LineKind

NOON = datetime(2020, 7, 1, 12, tzinfo=UTC)
ROWS = {
    "orders": pa.table(
        {
            "k": pa.array([1, None], pa.int32()),
            "price": pa.array([Decimal("1.50"), None], pa.decimal128(9, 2)),
            "tags": pa.array([[1, None], None], pa.list_(pa.int32())),
            "at": pa.array([NOON, None], pa.timestamp("us", "UTC")),
            "local": pa.array([NOON.replace(tzinfo=None), None], pa.timestamp("us")),
            "day": pa.array([date(2020, 7, 1), None]),
            "who": pa.array([{"name": "a"}, None], pa.struct([("name", pa.string())])),
        }
    ),
    "trades": pa.table({"k": pa.array([7], pa.int64())}),
}
LINES = [
    Line(0, 0, 0, "orders", LineKind.INITIAL),
    Line(0, 1, 0, "trades", LineKind.ROW),
    Line(1, 2, 0, "orders", LineKind.BOUND, 5),
    Line(2, 3, 0, "orders", LineKind.ROW),
    Line(2, 4, 0, "trades", LineKind.FINISH),
]


@pytest.fixture
def reader(tmp_path):
    path = tmp_path / "events.parquet"
    record(path, LINES, ROWS)
    source = Replay({"path": str(path)})
    return source.streamReader(source.schema())


def lines(reader, first, past):
    (part,) = reader.partitions({"cut": first}, {"cut": past})
    return [line for batch in reader.read(part) for line in batch.to_pylist()]


def test_a_batch_is_one_cut(reader):
    one_cut = reader.getDefaultReadLimit()
    offset, seen = reader.initialOffset(), []
    while (following := reader.latestOffset(offset, one_cut)) != offset:
        seen.append(
            [line["sequence"] for line in lines(reader, *_span(offset, following))]
        )
        offset = following
    assert seen == [[0, 1], [2], [3, 4]]
    assert offset == reader.reportLatestOffset()


def _span(start, end):
    return start["cut"], end["cut"]


def test_all_that_there_is_can_be_asked_for(reader):
    assert reader.latestOffset({"cut": 1}, ReadAllAvailable()) == {"cut": 3}


def test_nothing_new_is_no_partition(reader):
    assert reader.partitions({"cut": 3}, {"cut": 3}) == []


def test_the_same_cuts_give_the_same_lines_again(reader):
    again = lines(reader, 0, 3)
    assert lines(reader, 0, 3) == again
    assert reader.partitions({"cut": 0}, {"cut": 3}) == [Cuts(0, 3)]


def test_every_value_comes_back_as_it_was(reader):
    found = [line["row_orders"] for line in lines(reader, 0, 3)]
    first, second = ROWS["orders"].to_pylist()
    assert found == [first, None, None, second, None]


def test_lines_say_what_they_are(reader):
    told = [
        (line["input"], line["event"], line["moment"]) for line in lines(reader, 1, 3)
    ]
    bound, row, finish = LineKind.BOUND, LineKind.ROW, LineKind.FINISH
    assert told == [
        ("orders", bound, 5),
        ("orders", row, None),
        ("trades", finish, None),
    ]


def test_an_empty_recording_has_no_cut(tmp_path):
    path = tmp_path / "none.parquet"
    record(path, [], {"trades": ROWS["trades"].slice(0, 0)})
    source = Replay({"path": str(path)})
    assert source.streamReader(source.schema()).reportLatestOffset() == {"cut": 0}
