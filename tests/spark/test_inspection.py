"""What a query keeps is told from its checkpoint, while it runs and when it rests."""

import json
import shutil
from datetime import timedelta

import pytest
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli.main import app
from tests.spark.test_running import EPOCH, HOUR, NOW, put, read

LEFT = [(1, 0, 10), (2, 1, 20), (2, 2, 21)], [(3, 50, 30)]
RIGHT = [(1, 2, 11)], [(4, 55, 41)]


@pytest.fixture(scope="module")
def kept(spark, tmp_path_factory):
    """Two joins in a row that have stopped, and their checkpoint."""
    folder = tmp_path_factory.mktemp("kept")
    for name, files in {"l": LEFT, "r": RIGHT, "c": RIGHT}.items():
        put(folder / name, *files)
    sides = [
        dt.stream(read(spark, folder / name), time="at", lateness="1 hour").window(HOUR)
        for name in "lrc"
    ]
    first = sides[0].join(
        sides[1], on="k", how="left", select={"k": "CAST(l.k AS STRING)", "n": "l.n"}
    )
    words = read(spark, folder / "c").selectExpr("CAST(k AS STRING) AS k", "at", "n")
    third = dt.stream(words, time="at").window(HOUR)
    second = first.window(HOUR).join(third, on="k", select={"n": "l.n"})
    place = str(folder / "checkpoint")
    query = second.write(matched=lambda *_: None, checkpoint=place, trigger=NOW)
    query.awaitTermination()
    return place


def at(minute):
    return EPOCH + timedelta(minutes=minute)


def test_each_join_and_side_is_told(spark, kept):
    state = dt.state(kept, spark=spark)
    outer, inner = state.joins
    assert (state.batch, len(inner.buckets)) == (1, 8)
    left, right = inner.left, inner.right
    assert inner.title == "left_outer, on l.k = r.k"
    assert (left.rows, left.matched, left.earliest, left.latest) == (
        4,
        1,
        at(0),
        at(50),
    )
    assert (right.rows, right.matched, right.latest) == (2, None, at(55))
    assert (left.bound, right.bound) == (at(-10), at(-5))
    assert left.hot == (("2", 2),)
    assert inner.skew >= 2
    assert (outer.left.rows, outer.right.rows) == (0, 2)
    assert sum(one.left.bytes + one.right.bytes for one in state.joins) > 0
    told = str(state)
    assert told.startswith(
        f"checkpoint  {kept}, after batch 1\n\njoin        inner, on"
    )
    assert "left hot    2 (2 rows)" in told


def test_a_key_shows_its_rows_with_their_lives(spark, kept):
    outer, inner = dt.state(kept, key=2, spark=spark).joins
    assert [(one.side, one.row["n"], one.matched) for one in inner.found] == [
        ("left", 20, False),
        ("left", 21, False),
    ]
    one = inner.found[0]
    assert one.since == at(1)
    assert at(61) <= one.until <= at(61) + timedelta(milliseconds=1)
    assert outer.found == ()
    (found,) = dt.state(kept, key=["4"], spark=spark).joins[0].found
    assert (found.side, found.row) == ("right", {"k": "4", "at": at(55), "n": 41})


def said(*words):
    """What the command says, and its exit status."""
    found = CliRunner().invoke(app, ["state", *words])
    return found.exit_code, found.stdout, " ".join(found.stderr.split())


def test_the_command_tells_the_same(spark, kept):
    status, out, _ = said(kept, "--json", "--key", "2")
    told = json.loads(out)
    assert status == 0
    assert told == dt.state(kept, key=2, spark=spark).as_dict()
    assert told["joins"][1]["left"]["earliest"] == "2026-03-02T00:00:00Z"
    assert told["joins"][1]["found"][0]["row"]["n"] == 20
    status, out, _ = said(kept, "--buckets", "--key", "2")
    assert status == 0
    assert out.count(" left  ") >= 16
    assert '{"k": 2, "at": "2026-03-02T00:01:00Z", "n": 20}' in out
    assert "has met nobody" in out


def test_what_is_no_checkpoint_is_said_in_a_sentence(kept, tmp_path):
    status, out, error = said(kept, "--key", "1", "--key", "2")
    assert (status, out) == (2, "")
    assert '"1, 2" is no key of what is kept; expected a value for each' in error
    nothing = tmp_path / "nothing"
    assert "is no checkpoint of a query: no batch has begun" in said(str(nothing))[2]
    for number, (gone, sentence) in enumerate(
        {
            "commits": "is incomplete: the newest batch in offsets is 1, in commits -1",
            "state": "has no state of a join",
            "state/1/0": "has no state of a join",
        }.items()
    ):
        torn = tmp_path / f"torn{number}"
        shutil.copytree(kept, torn)
        shutil.rmtree(torn / gone)
        status, out, error = said(str(torn))
        assert (status, out) == (1, ""), gone
        assert f'dovetail state: the checkpoint "{torn}" ' in error, gone
        assert sentence in error, (gone, error)
        assert "Traceback" not in error


def test_a_running_query_is_looked_at(spark, tmp_path):
    put(tmp_path / "l", *LEFT)
    put(tmp_path / "r", *RIGHT)
    left, right = (
        dt.stream(read(spark, tmp_path / name), time="at").window(HOUR) for name in "lr"
    )
    place = str(tmp_path / "checkpoint")
    joined = left.join(right, on="k", how="left", suffixes=("", "_r"))
    query = joined.write(matched=lambda *_: None, checkpoint=place)
    try:
        query.processAllAvailable()
        (state,) = dt.state(place, spark=spark).joins
        for odd in ("x", 1.5, "1.5", 2**64):
            told = f'"{odd}" is no key .* l.k = r.k .bigint.'
            with pytest.raises(dt.SpecError, match=told):
                dt.state(place, key=odd, spark=spark)
        assert query.isActive
        assert (state.left.matched, state.right.matched) == (1, None)
    finally:
        query.stop()


def test_a_key_of_bytes_shows_its_rows(spark, tmp_path):
    """Bytes are looked for as they are: the text that Python shows is no key."""
    for name in "lr":
        put(tmp_path / name, [(7, 0, 10), (8, 1, 11)])
    left, right = (
        dt.stream(
            read(spark, tmp_path / name).selectExpr("unhex('FF0' || k) AS k", "at"),
            time="at",
        ).window(HOUR)
        for name in "lr"
    )
    place = str(tmp_path / "checkpoint")
    joined = left.join(right, on="k", suffixes=("", "_r"))
    query = joined.write(matched=lambda *_: None, checkpoint=place, trigger=NOW)
    query.awaitTermination()
    (state,) = dt.state(place, key=b"\xff\x07", spark=spark).joins
    assert [one.row["k"] for one in state.found] == [b"\xff\x07"] * 2


def test_bytes_are_no_key_of_another_type(spark, kept):
    with pytest.raises(dt.SpecError, match=r"is no key of what is kept"):
        dt.state(kept, key=b"2", spark=spark)
