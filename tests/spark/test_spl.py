"""A text in SPL on streams of Spark: what comes out, by the names of its streams."""

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql.functions import expr

import dovetail as dt
from dovetail.errors import SchemaError, UnsupportedError
from tests.spark.test_stream_cases import differences
from tests.spl_texts import play_of

JOIN = """
stream<int32 k, rstring v> L = Beacon() {}
stream<int32 k, int64 w> R = Beacon() {}
(stream<int32 k, rstring v, int64 w> Out; stream<L> Alone) = Join(L; R) {
  window L : sliding, count(1); R : sliding, count(0);
  param match : L.k == R.k; algorithm : leftOuter;
  output Out : k = L.k, w = R.w * 2l;
}"""
FLOW = """
stream<int32 k, rstring v> L = Beacon() {}
stream<int32 k, int64 w> R = Beacon() {}
stream<int32 k, int64 w> Odd = Filter(R) { param filter : w % 20l == 10l; }
stream<int32 k, rstring v, int64 w> Met = Join(L; Odd) {
  window L : sliding, count(2); Odd : sliding, count(0);
  param match : L.k == Odd.k;
  output Met : k = L.k;
}
stream<int32 k, int64 w> Less = Functor(Met) { param filter : w > 10l; }
stream<int32 k, int64 w, int64 again> Twice = Join(Less; R as Again) {
  window Less : sliding, count(3); Again : sliding, count(0);
  param match : Less.k == Again.k;
  output Twice : k = Less.k, w = Less.w, again = Again.w;
}
(stream<L> First; stream<L> Rest) = Filter(L) { param filter : k == 1; }
"""
LEFT = [(1, 1, "a"), (3, 2, "b"), (5, 3, "c"), (8, 4, "d"), (9, 5, "e")]
RIGHT = [(2, 1, 10), (4, 2, 30), (6, 3, 30), (7, 2, 50)]
NOW = {"availableNow": True}


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


def written(flow, checkpoint):
    """What a program writes of what there is, by stream."""
    found = {name: [] for name in flow.outputs}
    sinks = {
        name: lambda frame, _, rows=rows: rows.extend(map(tuple, frame.collect()))
        for name, rows in found.items()
    }
    for query in flow.write(sinks, checkpoint=checkpoint, trigger=NOW):
        query.awaitTermination()
    return {name: sorted(rows) for name, rows in found.items()}


def test_a_text_runs_on_streams(sides, tmp_path):
    found = written(dt.spl(JOIN, sides), tmp_path / "checkpoint")
    assert found == {
        "Out": [(1, "a", 20), (2, "b", 60), (3, "c", 60)],
        "Alone": [(4, "d")],
    }


def test_operators_stand_between_joins_and_around_them(sides, tmp_path):
    flow = dt.spl(FLOW, sides)
    assert repr(flow) == "Twice, First, Rest of L, R, on streams of Spark"
    found = written(flow, tmp_path / "checkpoint")
    assert found == {
        "Twice": [(2, 30, 30), (2, 30, 50), (2, 50, 50), (3, 30, 30)],
        "First": [(1, "a")],
        "Rest": [(2, "b"), (3, "c"), (4, "d"), (5, "e")],
    }
    # Started again on its checkpoints nothing comes twice.
    assert not any(written(flow, tmp_path / "checkpoint").values())


AMONG_OTHERS = """
stream<int32 k, rstring v> L = Beacon() {}
stream<int32 k, int64 w> R = Beacon() {}
stream<int32 k, int64 w> Met = Join(L; R) {
  window L : sliding, count(3); R : sliding, count(2); param match : L.k == R.k;
  output Met : k = L.k, w = R.w;
}
stream<int32 k, rstring v, int64 w> All = Join(L; Met, R as Both) {
  window L : sliding, count(3); Both : sliding, count(3); param match : L.k == Both.k;
  output All : k = L.k;
}"""


def test_streams_with_a_number_each_may_go_several_ways(sides, tmp_path):
    each = {name: dt.stream(one.frame, order="n") for name, one in sides.items()}
    flow = dt.spl(FLOW.replace("count(2)", "count(9)"), each)
    assert "rows meet batch by batch as they are read" in flow.explain()
    # Left rows of a batch come first, so that all right ones meet them.
    met = [(2, 30, 30), (2, 30, 50), (2, 50, 30), (2, 50, 50), (3, 30, 30)]
    assert written(flow, tmp_path / "several")["Twice"] == met
    # By turns they meet by their numbers, which here are those of one sequence.
    flow = dt.spl(AMONG_OTHERS, each)
    assert "by the numbers of their streams" in " ".join(flow.explain().split())
    wanted = written(dt.spl(AMONG_OTHERS, sides), tmp_path / "wanted")
    assert len(wanted["All"]) > 4
    assert written(flow, tmp_path / "turns") == wanted


def test_the_plan_says_what_is_a_query_and_that_rows_come_once(sides):
    told = dt.spl(FLOW, sides).explain()
    assert "query  of Twice" in told
    assert "2 operators behind each other in one query" in told
    assert "by Spark itself, row by row, without state" in told
    assert "exactly once" in told


def test_a_stream_that_comes_out_is_a_frame(sides):
    flow = dt.spl(FLOW, sides)
    assert flow.frame("First").columns == ["k", "v"]
    with pytest.raises(dt.SpecError, match='no stream "Met" comes out'):
        flow.frame("Met")


def test_what_does_not_fit_is_refused(sides, tmp_path):
    narrow = JOIN.replace("int64 w> R", "int32 w> R")
    narrow = narrow.replace("R.w * 2l", "(int64) R.w")
    with pytest.raises(SchemaError, match='"w" of "R" is bigint; expected int'):
        dt.spl(narrow, sides)
    with pytest.raises(dt.SpecError, match=r'rows of dt\.stream for "R"'):
        dt.spl(JOIN, {"L": sides["L"]})
    with pytest.raises(dt.SpecError, match=r"rows of dt\.stream"):
        dt.spl(JOIN, {**sides, "R": sides["R"].frame})
    with pytest.raises(dt.SpecError, match="the text says how long rows live"):
        dt.spl(JOIN, {**sides, "R": sides["R"].window(dt.rows(1))})
    numbered = {**sides, "R": dt.stream(sides["R"].frame, order="n")}
    with pytest.raises(dt.SpecError, match="L with a sequence, and R without"):
        dt.spl(JOIN, numbered)
    flow, sinks = dt.spl(JOIN, sides), {"Out": dt.folder(str(tmp_path / "out"))}
    with pytest.raises(dt.SpecError, match='"Alone" has no sink'):
        flow.write(sinks, checkpoint=tmp_path / "state")


def test_streams_that_go_several_ways_need_a_sequence(sides):
    timed = {
        name: dt.stream(
            rows.frame.selectExpr("*", "timestamp_seconds(n) AS at"), time="at"
        )
        for name, rows in sides.items()
    }
    assert dt.spl(JOIN, timed).outputs == ("Out", "Alone")
    with pytest.raises(UnsupportedError, match="go several ways"):
        dt.spl(FLOW, timed)


def test_random_joins_are_what_the_definition_says(spark, request):
    count = 60 if request.config.getoption("--long") else 6
    plays = {str(seed): play_of(seed, count=12) for seed in range(count)}
    assert differences(spark, plays, "random:3") == {}


def test_what_has_no_value_stops_the_run(sides, tmp_path):
    flow = dt.spl(JOIN.replace("R.w * 2l", "[R.w][5]"), sides)
    told = r"line 7, column \d+ .* an element that is not there"
    with pytest.raises(StreamingQueryException, match=told):
        written(flow, tmp_path / "checkpoint")


def test_a_number_that_has_no_room_in_its_type_stops_the_run(sides, tmp_path):
    text = JOIN.replace("int64 w> R", "uint32 w> R").replace("R.w * 2l", "(int64) R.w")
    # On Spark a uint32 is a bigint, which has room for more.
    over = sides["R"].frame.withColumn("w", expr("w + 4294967290"))
    flow = dt.spl(text, {**sides, "R": dt.stream(over, sequence="n")})
    told = r'"w" 4294967300; expected uint32'
    with pytest.raises(StreamingQueryException, match=told):
        written(flow, tmp_path / "checkpoint")
