"""A user's join is drawn from sample rows, or from all rows of a small DataFrame."""

from dataclasses import dataclass
from datetime import UTC, datetime
from xml.etree.ElementTree import fromstring

import pyarrow as pa
import pytest
from pyspark.sql.types import IntegerType, StructField, StructType, TimestampType

import dovetail as dt
from tests.described import Session
from tests.draw.reading import links_of, rows_of, texts_of

TEN = dt.range(preceding="10 seconds")
SCHEMA = [("k", IntegerType(), pa.int32()), ("at", TimestampType(), pa.timestamp("us"))]
ELSEWHERE = pa.timestamp("us", tz="Asia/Tokyo")


@dataclass
class Frame:
    """A DataFrame as far as a picture asks; times are those of a session in Tokyo."""

    rows: tuple = ()
    isStreaming: bool = False  # noqa: N815 - Spark's name

    @property
    def schema(self):
        return StructType([StructField(name, kind) for name, kind, _ in SCHEMA])

    @property
    def columns(self):
        return [name for name, _, _ in SCHEMA]

    @property
    def sparkSession(self):  # noqa: N802 - Spark's name
        return Session()

    def where(self, condition):  # noqa: ARG002 - nobody is there to ask
        return self

    def limit(self, most):
        return Frame(self.rows[:most])

    def toArrow(self):  # noqa: N802 - Spark's name
        schema = pa.schema([("k", pa.int32()), ("at", ELSEWHERE)])
        return pa.Table.from_pylist(list(self.rows), schema)


STREAM = Frame(isStreaming=True)


def at(second):
    return datetime(1970, 1, 1, 0, 0, second, tzinfo=UTC)


def row(key, second):
    return {"k": key, "at": at(second)}


def join(left=STREAM, right=STREAM, window=TEN, **facts):
    one, other = (dt.stream(side, time="at", **facts) for side in (left, right))
    return one.window(window).join(
        other.window(window), on="k", how="left", suffixes=("", "_r")
    )


def drawn(picture):
    return fromstring(str(picture))


def test_sample_rows_of_streams_arrive_and_end():
    found = drawn(
        join().picture(
            left=[row(1, 10), row(2, 30), row(3, 5)],
            right=[row(1, 12), {"K": 2, "at": "00:00:50"}],
        )
    )
    fates = [classes - {"row", "left", "right"} for classes in rows_of(found).values()]
    assert fates == [{"matched"}, {"matched"}, {"unmatched"}, {"unmatched"}, {"late"}]
    assert links_of(found) == [(0, 1)]
    assert found[0].text == "left outer join of left and right"


def test_a_sequence_orders_the_rows_of_both_sides():
    latest = join(window=dt.rows(1), sequence="k % 10")
    found = drawn(latest.picture(left=[row(11, 10)], right=[row(10, 12)]))
    first, second = rows_of(found).values()
    assert "right" in first
    assert "left" in second


def test_small_frames_are_read_whole():
    joined = join(Frame((row(1, 10), row(2, 30))), Frame((row(1, 12),)))
    found = drawn(joined.picture())
    assert links_of(found) == [(0, 2)]
    assert any('"at": "1970-01-01T00:00:10Z"' in words for words in found.itertext())


def test_a_frame_of_more_than_thirty_rows_is_refused():
    crowd = Frame(tuple(row(key, key) for key in range(31)))
    assert join(Frame(crowd.rows[1:]), Frame()).picture()
    with pytest.raises(dt.SpecError, match="more than 30 rows") as refused:
        join(Frame(), crowd).picture()
    assert "joined.picture(right=[...])" in refused.value.hint
    assert join(Frame(), crowd).picture(right=crowd.rows[:1])


def test_a_stream_without_rows_asks_for_them():
    with pytest.raises(dt.SpecError, match="the right side is a stream") as refused:
        join().picture(left=[row(1, 10)])
    assert "picture(right=[{...}])" in refused.value.hint


def test_a_side_that_is_not_there_is_refused():
    with pytest.raises(dt.SpecError, match='no side "middle"'):
        join().picture(middle=[])


def test_a_column_that_is_not_there_is_refused():
    with pytest.raises(dt.SchemaError, match='row 0 of left has no column "q"'):
        join().picture(left=[{"q": 1}], right=[])


def test_a_picture_shows_itself_in_a_notebook():
    picture = join().picture(left=[row(1, 10)], right=[])
    assert picture._repr_html_().startswith("<figure")


def test_a_table_keeps_its_versions_in_time():
    changes = dt.table(STREAM, key="k", time="at")
    once = dt.stream(STREAM, time="at").window(dt.rows(0))
    joined = once.join(changes, on="k", how="left", suffixes=("", "_r"))
    rows = {"left": [row(1, 12)], "right": [row(1, 10), row(1, 20)]}
    found = drawn(joined.picture(**rows))
    assert links_of(found) == [(1, 0)]
    assert "right: alive from its time (at) to the next version of its k" in (
        texts_of(found)
    )
