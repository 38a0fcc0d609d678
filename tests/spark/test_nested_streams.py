"""Joins of joins as streams: an operator for each in one query, in any cut."""

import json
import os
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from itertools import count, islice, pairwise
from random import Random

import pytest

import dovetail as dt
from dovetail import spec
from dovetail.conformance import oracle
from dovetail.conformance.lines import Sight
from dovetail.errors import UnsupportedError
from dovetail.plan.stream import plan_play
from dovetail.spec.inputs import Clock
from tests.chance.nests import nested_play
from tests.conformance.local.test_streams import accepted as streamed
from tests.nested_plays import random_nested_play, random_waiting_play
from tests.range_plays import random_range_play
from tests.spark.rows import bag
from tests.spark.test_stream_cases import CASES, HOUR, differences, faults, outcomes
from tests.timed_plays import random_timed_play

NESTED = tuple(name for name in CASES if name.startswith("nested/"))
FEW = (
    "nested/late_rows_of_an_inner_join",
    "nested/each_join_has_its_own_bound",
    "nested/inherited_of_versions",
    "nested/inherited_end_learnt_after_its_row_has_left",
)
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


def accepted(clock):
    """Random joins of joins on a clock that a stream does, by their seeds."""
    for seed in count():
        play = random_nested_play(seed, clock)
        try:
            plan_play(play)
        except UnsupportedError:
            continue
        yield f"nested/{clock.value}/{seed}", play


def waiting():
    """Random joins whose rows wait for a table's, as a stream does them."""
    for seed in count():
        play = random_waiting_play(seed)
        if play is None:
            continue
        with suppress(UnsupportedError):
            plan = plan_play(play)
            # Late rows of two joins inside, which are copies, could not be told apart,
            # and a table without a time is met as it is at the end of a batch.
            if len(plan.late_inside) == 1 and not plan.live:
                yield f"waiting/{seed}", play


@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize("plays", [2, pytest.param(40, marks=pytest.mark.long)])
def test_rows_of_a_join_wait_for_a_table(spark, plays):
    assert differences(spark, dict(islice(waiting(), plays)), "random:1") == {}


CLOCKS = (Clock.EVENT, Clock.ARRIVAL)


def of_the_whole_spec(play):
    """Raises what a stream cannot do, or what is not known before all has come."""
    streamed(play)
    oracle.play(play)


@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize(
    "seeds",
    [pytest.param(range(1)), pytest.param(range(1, 60), marks=pytest.mark.long)],
)
def test_a_join_of_a_join_of_the_whole_spec(spark, clock, seeds):
    plays = {
        f"nested/whole/{seed}": nested_play(seed, of_the_whole_spec, clock)
        for seed in seeds
    }
    assert differences(spark, plays, "random:1") == {}


@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize("clock", CLOCKS)
def test_a_random_join_of_joins_gives_the_rows_of_the_oracle(spark, clock):
    assert differences(spark, dict(islice(accepted(clock), 1)), "random:1") == {}


@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize(
    "seeds",
    [pytest.param(range(2)), pytest.param(range(2, 100), marks=pytest.mark.long)],
)
def test_what_time_lets_out_stands_in_front_of_what_comes_with_it(spark, seeds):
    plays = {f"nested/timed/{seed}": random_timed_play(seed) for seed in seeds}
    assert differences(spark, plays, "random:1") == {}


RANGES = {
    f"nested/range/{seed}": random_range_play(seed) for seed in (12, 9, *range(40))
}
LONG_RANGES = [
    pytest.param(split, 40, marks=pytest.mark.long) for split in ("whole", "each")
]


@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize(("split", "count"), [("random:1", 2), *LONG_RANGES])
def test_null_rows_of_ranges_come_with_the_row_that_moved_the_time(spark, split, count):
    assert differences(spark, dict(islice(RANGES.items(), count)), split) == {}


@pytest.mark.long
@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("split", ["whole", "random:3", "each"])
def test_random_joins_of_joins_give_the_rows_of_the_oracle(spark, split, clock):
    assert differences(spark, dict(islice(accepted(clock), 25)), split) == {}


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


CHAIN = {"a": 40, "b": 40, "c": 60}


def numbered(spark, folder, rows, files):
    """A stream of rows (k, n, second) in files; n tells rows of one time apart."""
    folder.mkdir()
    for number, part in enumerate(files(rows)):
        lines = [
            {"k": k, folder.name: n, "t": (EPOCH + timedelta(seconds=t)).isoformat()}
            for k, n, t in part
        ]
        file = folder / f"{number}.json"
        file.write_text("\n".join(map(json.dumps, lines)))
        os.utime(file, (1000 + number, 1000 + number))
    source = spark.readStream.schema(f"k bigint, {folder.name} bigint, t timestamp")
    frame = source.option("maxFilesPerTrigger", 1).json(str(folder))
    return dt.stream(frame, time="t", order=folder.name)


def by_time(drawn, joined):
    """What the definition gives where rows meet by time, then side by side."""
    names = {name: name.rpartition(".")[2] for name in joined.inputs}
    stands = sorted(
        (t, place, n, k, name)
        for place, (name, letter) in enumerate(zip(names, "abc", strict=True))
        for k, n, t in drawn[letter]
    )
    events = [
        spec.Arrive(name, {"k": k, "abc"[at]: n, "t": EPOCH + timedelta(seconds=t)})
        for t, at, n, k, name in stands
    ]
    events += [spec.Finish(name) for name in names]
    play = spec.Play(joined.request, joined.inputs, tuple(events))
    rows = [one.row for one in oracle.play(play) if one.outlet is spec.Outlet.MATCHED]
    return bag(rows)


@pytest.mark.long
@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize("seed", [1, 2])
def test_rows_of_a_join_come_with_those_that_let_them_out_in_any_cut(
    spark, tmp_path, seed
):
    chance = Random(seed)
    drawn = {
        name: [
            (chance.randrange(3), n, t)
            for n, t in enumerate(sorted(chance.choices(range(30), k=many)))
        ]
        for name, many in CHAIN.items()
    }

    def one(rows):
        return [rows]

    def several(rows):
        ends = [0, *sorted(chance.sample(range(len(rows)), 4)), len(rows)]
        return [rows[first:past] for first, past in pairwise(ends)]

    found = []
    for files in (one, several):
        folder = tmp_path / files.__name__
        folder.mkdir()
        a, b, c = (
            numbered(spark, folder / name, rows, files) for name, rows in drawn.items()
        )
        inner = a.window(dt.rows(2)).join(
            b.window(dt.rows(1)), on="k", how="left", select=SHOWN
        )
        joined = inner.window(dt.rows(3)).join(c.window(dt.rows(2)), on="k", where=SOME)
        query = joined.write(
            matched=dt.folder(str(folder / "out")),
            checkpoint=str(folder / "checkpoint"),
            finish=True,
        )
        query.awaitTermination()
        rows = spark.read.parquet(str(folder / "out")).drop("batch")
        found.append(bag(rows.toArrow().to_pylist()))
    assert found == [by_time(drawn, joined)] * 2


SHOWN = {"k": "l.k", "a": "l.a", "b": "r.b"}
SOME = "l.b is null or (l.a + r.c) % 3 > 0"


def gather(rows):
    return lambda batch, _: rows.extend(batch.collect())
