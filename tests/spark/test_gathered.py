"""What is gathered goes on where it was broken off, and is told from the checkpoint.

Joins of several sets, joins of two streams at the end, and lives that are inherited.
"""

from random import Random

import pytest
from pyspark.errors import StreamingQueryException

import dovetail as dt
from dovetail.conformance import oracle
from dovetail.conformance.engines import batch_ends, parse_split
from dovetail.conformance.spark_stream.cases import play_all
from dovetail.conformance.spark_stream.script import StreamPlay
from tests.conformance.local.agreement import bag, lines
from tests.set_plays import random_set_play
from tests.spark.test_running import HOUR, NOW, put, read

FIRST = {"l": [(1, 0, 10), (2, 1, 20)], "r": [(1, 2, 11)], "c": [(1, 3, 12)]}
MORE = {"l": [(3, 50, 30)], "r": [(3, 55, 31), (1, 56, 13)], "c": [(3, 57, 32)]}
SEEDS = range(500, 516)


class BrokenOffError(Exception):
    """What breaks a batch off when its rows are to be written."""


def break_off(_rows, _batch):
    raise BrokenOffError


@pytest.fixture
def sides(spark, tmp_path):
    """Three streams of the first rows, to each of which more are given later."""
    for name, rows in FIRST.items():
        put(tmp_path / name, rows)
    return [dt.stream(read(spark, tmp_path / name)) for name in "lrc"]


def given_more(folder):
    for name, rows in MORE.items():
        put(folder / f"more {name}", FIRST[name], rows)
        (folder / f"more {name}" / "1.json").rename(folder / name / "1.json")


def of_sets(sides):
    select = {"k": "l.k", "n": "ROWS_LIST(n)", "last": "ROWS_LAST(n)"}
    return sides[0].together(*sides[1:], on="k", select=select)


def at_the_end(sides):
    select = {"k": "l.k", "n": "l.n", "last": "r.n"}
    return sides[0].join(sides[1], on="k", how="left", select=select, at_end=True)


OF_SETS = {(1, (10, 11, 12), 12), (1, (10, 13, 12), 12), (3, (30, 31, 32), 32)}
AT_THE_END = {(1, 10, 11), (1, 10, 13), (2, 20, None), (3, 30, 31)}


@pytest.mark.parametrize(
    "wanted",
    [(of_sets, OF_SETS, (2, 2)), (at_the_end, AT_THE_END, (2, 1))],
)
def test_rows_are_gathered_over_starts_and_a_broken_end(spark, sides, tmp_path, wanted):
    joined, expected, kept = wanted
    place, out = str(tmp_path / "checkpoint"), str(tmp_path / "out")

    def write(sink, **how):
        query = joined(sides).write(matched=sink, checkpoint=place, **how)
        query.awaitTermination()

    write(dt.folder(out), trigger=NOW, finish=False)
    (state,) = dt.state(place, key=1, spark=spark).joins
    assert (state.left.rows, state.right.rows) == kept
    assert state.left.waiting == state.left.rows
    assert ("left", 10) in [(one.side, one.row["n"]) for one in state.found]
    assert all(one.waits for one in state.found)
    given_more(tmp_path)
    with pytest.raises((StreamingQueryException, dt.EngineError)):
        write(break_off, finish=True)
    write(dt.folder(out), finish=True)
    rows = [
        (row.k, tuple(row.n) if isinstance(row.n, list) else row.n, row.last)
        for row in spark.read.parquet(out).collect()
    ]
    assert len(rows) == len(expected)
    assert set(rows) == expected
    (state,) = dt.state(place, spark=spark).joins
    assert (state.left.rows, state.right.rows) == (0, 0)


def inherited(spark, folder):
    """Pairs of two streams that live while both their rows do, beside a third one."""
    left, right, other = (
        dt.stream(read(spark, folder / name), time="at", lateness="1 hour").window(HOUR)
        for name in "lrc"
    )
    pairs = left.join(right, on="k", select={"k": "l.k", "n": "l.n"})
    return pairs.window(dt.inherited()).join(
        other, on="k", select={"k": "l.k", "n": "l.n", "last": "r.n"}
    )


def test_inherited_lives_go_on_where_they_were_broken_off(spark, tmp_path):
    for name, rows in FIRST.items():
        put(tmp_path / name, rows)
    place, out = str(tmp_path / "checkpoint"), str(tmp_path / "out")

    def write(sink, **how):
        query = inherited(spark, tmp_path).write(matched=sink, checkpoint=place, **how)
        query.awaitTermination()

    write(dt.folder(out), trigger=NOW, finish=False)
    outer, inner = dt.state(place, key=1, spark=spark).joins
    assert (inner.left.rows, inner.right.rows) == (2, 1)
    assert outer.right.rows == 1
    assert {one.side for one in inner.found} == {"left", "right"}
    given_more(tmp_path)
    with pytest.raises((StreamingQueryException, dt.EngineError)):
        write(break_off, finish=True)
    write(dt.folder(out), finish=True)
    rows = [(row.k, row.n, row.last) for row in spark.read.parquet(out).collect()]
    assert sorted(rows) == [(1, 10, 12), (1, 10, 12), (3, 30, 32)]


@pytest.mark.timeout(1200)
def test_random_sets_are_those_of_the_definition_in_any_cut(spark):
    plays = {str(seed): random_set_play(seed) for seed in SEEDS}
    cut = []
    for name, play in plays.items():
        split = parse_split(Random(name).choice(["each", "random:1", "whole"]))
        ends = batch_ends(split, len(play.events), name)
        cut.append(StreamPlay(name, play, ends, in_order=int(name) % 2 == 0))
    found = dict(play_all(lambda: spark, cut))
    assert set(found) == set(plays)
    for one in cut:
        expected = oracle.play(one.play)
        view = lines if one.in_order else bag
        assert view(found[one.name]) == view(expected), one.name
