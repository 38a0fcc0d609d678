"""A text in SPL on streams of Spark: the join that it is, by its outlets."""

import pytest

import dovetail as dt
from dovetail.errors import SchemaError, UnsupportedError

TEXT = """
stream<int32 k, rstring v> L = Beacon() {}
stream<int32 k, int64 w> R = Beacon() {}
(stream<int32 k, rstring v, int64 w> Out; stream<L> Alone) = Join(L; R) {
  window L : sliding, count(1); R : sliding, count(0);
  param match : L.k == R.k; algorithm : leftOuter;
  output Out : k = L.k, w = R.w * 2l;
}"""
LEFT = [(1, 1, "a"), (3, 2, "b"), (5, 3, "c")]
RIGHT = [(2, 1, 10), (4, 1, 20), (6, 3, 30)]


@pytest.fixture
def sides(spark, tmp_path):
    """Both sides as streams of one file each, in the order of the column n."""
    found = {}
    for name, rows, types in (("L", LEFT, "v string"), ("R", RIGHT, "w bigint")):
        folder = str(tmp_path / name)
        schema = f"n bigint, k int, {types}"
        spark.createDataFrame(rows, schema).coalesce(1).write.parquet(folder)
        frame = spark.readStream.schema(schema).parquet(folder)
        found[name] = dt.stream(frame, sequence="n")
    return found


def test_a_text_runs_on_streams(sides, tmp_path):
    found = {"matched": [], "left_unmatched": []}
    sinks = {
        name: lambda frame, _, rows=rows: rows.extend(frame.collect())
        for name, rows in found.items()
    }
    checkpoint = str(tmp_path / "checkpoint")
    query = dt.spl(TEXT, sides).write(
        checkpoint=checkpoint, trigger={"availableNow": True}, **sinks
    )
    query.awaitTermination()
    pairs = [(row["k"], row["v"], row["w"]) for row in found["matched"]]
    assert sorted(pairs) == [(1, "a", 20), (3, "c", 60)]
    assert [row["v"] for row in found["left_unmatched"]] == ["b"]


def test_what_does_not_fit_is_refused(sides):
    narrow = TEXT.replace("int64 w> R", "int32 w> R")
    narrow = narrow.replace("R.w * 2l", "(int64) R.w")
    with pytest.raises(SchemaError, match='"w" of "R" is bigint; expected int'):
        dt.spl(narrow, sides)
    with pytest.raises(UnsupportedError, match="more than one join"):
        dt.spl(TEXT + "stream<Out> F = Filter(Out) {}", sides)
    with pytest.raises(dt.SpecError, match=r'rows of dt\.stream for "R"'):
        dt.spl(TEXT, {"L": sides["L"]})
    with pytest.raises(dt.SpecError, match=r"rows of dt\.stream"):
        dt.spl(TEXT, {**sides, "R": sides["R"].frame})
