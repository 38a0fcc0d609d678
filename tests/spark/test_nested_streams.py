"""Joins of joins as streams: an operator for each in one query, in any cut."""

import json
import os
from datetime import UTC, datetime, timedelta
from itertools import count, islice

import pytest

import dovetail as dt
from dovetail.conformance.lines import Sight
from dovetail.errors import UnsupportedError
from dovetail.plan.stream import plan_play
from dovetail.spec.join import Clock
from tests.nested_plays import random_nested_play
from tests.spark.test_stream_cases import CASES, HOUR, differences, faults, outcomes

NESTED = tuple(name for name in CASES if name.startswith("nested/"))
FEW = ("nested/late_rows_of_an_inner_join", "nested/each_join_has_its_own_bound")
LONG = [
    pytest.param(split, NESTED, marks=pytest.mark.long)
    for split in ("whole", "random:2", "each")
]


@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize(("split", "names"), [("random:1", FEW), *LONG])
def test_cases(spark, split, names):
    sight = Sight.EVENTS if split == "each" else Sight.OUTLETS
    found = outcomes(spark, split, names)
    told = {
        name: faults(CASES[name], outcome, sight) for name, outcome in found.items()
    }
    assert {name: fault for name, fault in told.items() if fault} == {}


def accepted():
    """Random joins of joins that a stream does, by their seeds."""
    for seed in count():
        play = random_nested_play(seed, Clock.EVENT)
        try:
            plan_play(play)
        except UnsupportedError:
            continue
        yield f"nested/{seed}", play


@pytest.mark.timeout(HOUR)
def test_a_random_join_of_joins_gives_the_rows_of_the_oracle(spark):
    assert differences(spark, dict(islice(accepted(), 1)), "random:1") == {}


@pytest.mark.long
@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize("split", ["whole", "random:3", "each"])
def test_random_joins_of_joins_give_the_rows_of_the_oracle(spark, split):
    assert differences(spark, dict(islice(accepted(), 25)), split) == {}


EPOCH = datetime(2026, 3, 2, tzinfo=UTC)
TEN = dt.range(preceding="10 minutes")


def stream(spark, folder, *files):
    """A stream of rows (k, minute), a file a batch; they are named after the folder."""
    folder.mkdir()
    for number, rows in enumerate(files):
        lines = [
            {"k": k, folder.name: (EPOCH + timedelta(minutes=minute)).isoformat()}
            for k, minute in rows
        ]
        file = folder / f"{number}.json"
        file.write_text("\n".join(map(json.dumps, lines)))
        os.utime(file, (1000 + number, 1000 + number))  # Spark reads the oldest first
    source = spark.readStream.schema(f"k bigint, {folder.name} timestamp")
    frame = source.option("maxFilesPerTrigger", 1).json(str(folder))
    return dt.stream(frame, time=folder.name).window(TEN)


@pytest.mark.timeout(HOUR)
def test_a_join_is_a_side_of_the_next_one(spark, tmp_path):
    first = stream(
        spark, tmp_path / "a", [(1, 0), (2, 20), (3, 40)], [(9, 13), (4, 70)]
    )
    second = stream(spark, tmp_path / "b", [(1, 3), (3, 45)], [(2, 61), (4, 72)])
    third = stream(spark, tmp_path / "c", [(1, 8), (3, 90)], [(3, 50), (4, 95)])
    inner = first.join(second, on="k", how="left")
    joined = inner.window(TEN).join(third, on="k", how="left")
    assert "2 operators behind each other" in joined.explain()
    late = {"left_late": [], "late": []}
    joined.write(
        matched=dt.folder(str(tmp_path / "m")),
        checkpoint=str(tmp_path / "checkpoint"),
        finish=True,
        **{name: gather(rows) for name, rows in late.items()},
    ).awaitTermination()
    found = spark.read.parquet(str(tmp_path / "m")).orderBy("k").collect()
    # 20 and 61 are no ten minutes apart, neither are 45 and 90, nor 72 and 95.
    met = [(one.k, one.b is not None, one.c is not None) for one in found]
    assert met == [(1, 1, 1), (2, 0, 0), (3, 1, 0), (4, 1, 0)]
    assert [one.left.k for one in late["left_late"]] == [9]
    assert [(one.side, one.right.k) for one in late["late"]] == [("right", 3)]


def gather(rows):
    return lambda batch, _: rows.extend(batch.collect())
