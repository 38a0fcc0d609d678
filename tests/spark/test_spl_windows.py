"""Operators of SPL that keep tuples, on streams of Spark: with joins, over restarts."""

import time

import pytest

import dovetail as dt
from dovetail.conformance.case import CaseData
from dovetail.conformance.engines import EngineName
from dovetail.conformance.flows import spl_play
from dovetail.errors import EngineError, UnsupportedError

A = "stream<int32 k, int32 v> A = Beacon() {}\n"
B = "stream<int32 k, int64 w> B = Beacon() {}\n"
TOTALS = A + (
    "stream<int32 k, int32 n, int32 v> Totals = Aggregate(A) {\n"
    "  window A: tumbling, count(3), partitioned; param partitionBy: k;\n"
    "  output Totals: n = Count(), v = Sum(v);\n}"
)
JOIN = (
    "stream<int32 k, int32 v, int64 w> J = Join({0} as L; B as R) {{\n"
    "  window L: sliding, count(2); R: sliding, count(0);\n"
    "  param equalityLHS: L.k; equalityRHS: R.k; output J: k = L.k, v = L.v;\n}}\n"
)
BEHIND = (
    A + B + JOIN.format("A") + "stream<int32 k, list<int32> vs> Sets = Aggregate(J) {\n"
    "  window J: tumbling, punct(); output Sets: vs = Collect(v);\n}"
)
IN_FRONT = (
    A + B + "stream<int32 k, int32 v> Last = Sort(A) {\n"
    "  window A: tumbling, count(2); param sortBy: v; order: descending;\n}\n"
    + JOIN.format("Last")
)
NOW = {"availableNow": True}


@pytest.fixture
def folders(spark, tmp_path):
    """Streams of files in two folders, and what puts rows into them."""
    types = {"A": "n bigint, k int, v int", "B": "n bigint, k int, w bigint"}
    for name, schema in types.items():
        spark.createDataFrame([], schema).write.parquet(str(tmp_path / name))

    def put(name, rows):
        frame = spark.createDataFrame(rows, types[name]).coalesce(1)
        frame.write.mode("append").parquet(str(tmp_path / name))

    streams = {
        name: dt.stream(
            spark.readStream.schema(schema).parquet(str(tmp_path / name)), sequence="n"
        )
        for name, schema in types.items()
    }
    return streams, put


def written(flow, name, checkpoint):
    """The rows of a stream that one start writes, in order."""
    rows = []

    def sink(frame, _):
        rows.extend(map(tuple, frame.collect()))

    for query in flow.write({name: sink}, checkpoint=checkpoint, trigger=NOW):
        query.awaitTermination()
    return rows


def test_windows_go_on_where_a_start_left_them(folders, tmp_path):
    streams, put = folders
    flow = dt.spl(TOTALS, {"A": streams["A"]})
    put("A", [(1, 1, 10), (2, 2, 20), (3, 1, 30)])
    assert written(flow, "Totals", tmp_path / "state") == []
    put("A", [(5, 2, 2), (4, 1, 5), (6, 1, 7), (7, 2, 1)])
    assert written(flow, "Totals", tmp_path / "state") == [(1, 3, 45), (2, 3, 23)]


def test_rows_of_a_join_go_on_into_a_window(folders, tmp_path):
    streams, put = folders
    flow = dt.spl(BEHIND, streams)
    put("A", [(1, 1, 10), (2, 1, 20), (4, 2, 30)])
    put("B", [(3, 1, 100), (5, 2, 200)])
    # A list is closed by the mark behind what one row has met.
    assert written(flow, "Sets", tmp_path / "state") == [(1, [10, 20]), (2, [30])]
    put("A", [(6, 1, 40)])
    put("B", [(7, 1, 300)])
    # The window of the join has the last two rows, of which one has this key.
    assert written(flow, "Sets", tmp_path / "state") == [(1, [40])]


def test_what_a_window_gives_goes_on_into_a_join(folders, tmp_path):
    streams, put = folders
    flow = dt.spl(IN_FRONT, streams)
    put("A", [(1, 1, 10), (3, 1, 20), (5, 1, 30)])
    put("B", [(2, 1, 100), (4, 1, 200)])
    # Of the first pair both come out with row 3, in front of row 4.
    assert sorted(written(flow, "J", tmp_path / "state")) == [
        (1, 10, 200),
        (1, 20, 200),
    ]
    put("A", [(6, 1, 5)])
    put("B", [(7, 1, 300)])
    assert sorted(written(flow, "J", tmp_path / "state")) == [(1, 5, 300), (1, 30, 300)]


def test_the_plan_says_that_one_task_keeps_rows(folders):
    streams, _ = folders
    for text, given in ((TOTALS, ["A"]), (BEHIND, ["A", "B"]), (IN_FRONT, ["A", "B"])):
        flow = dt.spl(text, {name: streams[name] for name in given})
        assert "one task has all that come to each of them" in flow.explain()


def test_what_keeps_rows_needs_an_order(folders):
    streams, _ = folders
    loose = dt.stream(streams["A"].frame)
    with pytest.raises(UnsupportedError, match="a stream without a number"):
        dt.spl(TOTALS, {"A": loose}).explain()


def test_another_window_on_an_old_checkpoint_is_refused(folders, tmp_path):
    streams, put = folders
    put("A", [(1, 1, 10)])
    own = {"A": streams["A"]}
    written(dt.spl(TOTALS, own), "Totals", tmp_path / "state")
    put("A", [(2, 1, 10)])
    other = dt.spl(TOTALS.replace("count(3)", "count(2)"), own)
    with pytest.raises(Exception, match="the checkpoint is of another program") as told:
        written(other, "Totals", tmp_path / "state")
    assert not isinstance(told.value, EngineError)  # a query fails, and says why


COUNTED = (
    "stream<int32 n> N = Custom({0} as I) {{ logic state : mutable int32 n = 0;\n"
    "  onTuple I : n++;\n"
    "  onPunct I : if (currentPunct() == Sys.FinalMarker) submit({{n = n}}, N);\n}}\n"
)


def test_an_end_beside_a_join_that_an_operator_would_have_to_hear_is_refused(
    folders, tmp_path
):
    streams, _ = folders
    sliding = IN_FRONT.replace("tumbling, count(2)", "sliding, count(2)")
    counted = A + B + JOIN.format("A") + COUNTED.format("J")
    for text, name in ((sliding, "J"), (counted, "N")):
        flow = dt.spl(text, streams)
        with pytest.raises(dt.SpecError, match="an operator beside a join waits"):
            flow.write({name: lambda *_: None}, checkpoint=tmp_path / name, finish=True)


def finished(flow, sinks, checkpoint):
    """The rows of streams that come out until the streams have ended."""
    rows = {name: [] for name in sinks}

    def sink(name):
        return lambda frame, _: rows[name].extend(map(tuple, frame.collect()))

    given = {name: sink(name) for name in sinks}
    for query in flow.write(given, checkpoint=checkpoint, finish=True):
        query.awaitTermination()
    return [rows[name] for name in sinks]


def test_code_and_a_sliding_sort_hear_the_end_of_all_their_streams(folders, tmp_path):
    streams, put = folders
    text = A + (
        "stream<int32 k, int32 v> B = Beacon() {}\n"
        + COUNTED.format("A, B")
        + "stream<A> S = Sort(A) { window A : sliding, count(5); param sortBy : v; }\n"
    )
    other = dt.stream(streams["B"].frame.selectExpr("n", "k", "0 AS v"), sequence="n")
    flow = dt.spl(text, {"A": streams["A"], "B": other})
    put("A", [(1, 1, 30), (3, 1, 10), (5, 2, 20)])
    put("B", [(2, 1, 7)])
    counted, ordered = finished(flow, ["N", "S"], tmp_path / "state")
    assert counted == [(4,)]
    assert ordered == [(1, 10), (2, 20), (1, 30)]
    with pytest.raises(EngineError, match="have ended"):
        finished(flow, ["N", "S"], tmp_path / "state")


def test_what_keeps_rows_behind_a_join_ends_with_what_is_there(folders, tmp_path):
    streams, put = folders
    put("A", [(1, 1, 10), (2, 1, 20)])
    put("B", [(3, 1, 100)])
    flow = dt.spl(BEHIND, streams)
    assert finished(flow, ["Sets"], tmp_path / "state") == [[(1, [10, 20])]]


def test_what_is_put_behind_a_join_does_not_go_on_where_streams_have_ended(
    folders, tmp_path
):
    streams, put = folders
    put("A", [(1, 1, 10)])
    put("B", [(2, 1, 100)])
    join = JOIN.format("A").replace("J =", "Sets =").replace("put J", "put Sets")
    assert finished(dt.spl(A + B + join, streams), ["Sets"], tmp_path / "state")
    with pytest.raises(EngineError, match="have ended"):
        written(dt.spl(BEHIND, streams), "Sets", tmp_path / "state")


REPEATS = (
    A + B + "(stream<A> New; stream<A> Old) = DeDuplicate(A) {\n"
    "  param key : k; count : 3ul;\n}\n" + JOIN.format("New")
)


def test_what_is_remembered_of_repeats_is_known_after_a_restart(folders, tmp_path):
    streams, put = folders
    sinks = {"Old": [], "J": []}

    def written_both():
        flow = dt.spl(REPEATS, streams)
        for rows in sinks.values():
            rows.clear()
        given = {
            name: lambda frame, _, rows=rows: rows.extend(map(tuple, frame.collect()))
            for name, rows in sinks.items()
        }
        state = tmp_path / "state"
        for query in flow.write(given, checkpoint=state, trigger=NOW):
            query.awaitTermination()
        return sorted(sinks["Old"]), sorted(sinks["J"])

    put("A", [(1, 1, 10), (2, 2, 20), (3, 1, 30)])
    put("B", [(4, 1, 100)])
    assert written_both() == ([(1, 30)], [(1, 10, 100)])
    # Row 3 is the last of its key, three in front of row 8; of the other four are.
    put("A", [(5, 3, 40), (6, 3, 50), (8, 1, 60), (9, 2, 70)])
    put("B", [(7, 3, 200), (10, 2, 300)])
    assert written_both() == ([(1, 60), (3, 50)], [(2, 70, 300), (3, 40, 200)])


def test_what_a_restart_is_to_forget_needs_a_new_folder(folders, tmp_path):
    streams, put = folders
    put("A", [(1, 1, 10)])
    text = TOTALS.replace("param", "config checkpoint : operatorDriven; param")
    flow = dt.spl(text, {"A": streams["A"]})
    assert "a restart begins without state" in flow.explain()
    written(flow, "Totals", tmp_path / "state")
    with pytest.raises(
        EngineError, match="line 3: checkpoint : operatorDriven"
    ) as told:
        written(flow, "Totals", tmp_path / "state")
    assert told.value.expected == "a new checkpoint folder, in which nothing is known"
    assert written(flow, "Totals", tmp_path / "other") == []


TURNS = (
    A + B + JOIN.format("A") + "stream<int32 k, int32 v, int64 w> U = Functor(A) {\n"
    "  output U: w = 0l;\n}\n"
    "stream<int32 k, int32 n> Met = Join(J, U as L; J as R) {\n"
    "  window L: sliding, count(3); R: sliding, count(2);\n"
    "  param equalityLHS: L.k; equalityRHS: R.k; output Met: n = L.v * 100 + R.v;\n}\n"
    "stream<int32 k, list<int32> ns> Sets = Aggregate(Met) {\n"
    "  window Met: tumbling, count(2); output Sets: ns = Collect(n);\n}"
)
GIVEN = [("A", 1, 1, 1), ("B", 2, 1, 5), ("A", 3, 1, 2), ("B", 4, 1, 6)]
MORE = [("B", 5, 2, 7), ("A", 6, 1, 3), ("B", 7, 1, 8), ("A", 8, 2, 4), ("B", 9, 1, 9)]


def test_rows_that_go_by_turns_go_on_where_a_start_left_them(folders, tmp_path):
    streams, put = folders
    flow = dt.spl(TURNS, streams)
    assert "each carries its turn" in flow.explain()
    found = []
    for rows in (GIVEN, MORE):
        for name in "AB":
            put(name, [row for to, *row in rows if to == name])
        found += written(flow, "Sets", str(tmp_path / "checkpoint"))
    names = {"A": ("k", "v"), "B": ("k", "w")}
    events = tuple(
        {"in": to, "row": dict(zip(names[to], row, strict=True))}
        for to, _, *row in (*GIVEN, *MORE)
    )
    inputs = {name: {"kind": "stream"} for name in names}
    play = spl_play(TURNS, CaseData(inputs, {}, events, has_events=True))
    lines = [it for it in play.lines(EngineName.ORACLE) if not it.is_mark()]
    assert len(lines) > len(GIVEN)
    assert sorted(found) == sorted((it.row["k"], it.row["ns"]) for it in lines)


TIMED = (
    A + B + "stream<A> Totals = Aggregate(A as I) {\n"
    "  window I: tumbling, time(1.0); output Totals: v = Sum(I.v);\n}\n"
    + JOIN.format("Totals")
)


def test_a_window_of_time_stands_in_front_of_a_join(folders, tmp_path):
    streams, put = folders
    checkpoint = str(tmp_path / "checkpoint")
    put("A", [(1, 1, 5), (2, 1, 6)])
    assert written(dt.spl(TIMED, streams), "J", checkpoint) == []
    time.sleep(1.1)
    put("A", [(3, 1, 1)])
    put("B", [(4, 1, 9), (5, 2, 9)])
    assert written(dt.spl(TIMED, streams), "J", checkpoint) == [(1, 11, 9)]
