"""A stream gives the same rows however it is spread, and after it was broken off."""

from dataclasses import replace

import pytest
from pyspark.errors import StreamingQueryException

from dovetail.bind.failures import is_passing, sentence
from dovetail.conformance.compare import compare, describe
from dovetail.conformance.lines import Sight
from dovetail.conformance.spark_stream.cases import shape_of
from dovetail.conformance.spark_stream.results import emissions
from dovetail.conformance.spark_stream.script import StreamPlay, script
from dovetail.conformance.spark_stream.shared import (
    Part,
    lay_together,
    record_parts,
    run,
    session_of_our_own,
)
from dovetail.errors import EngineError
from dovetail.spec.inputs import Arrive, Finish
from tests.spark.stream_plays import EVENT, JOINS, random_play
from tests.spark.test_stream_cases import expected

FULL = EVENT[3]
NEWEST = JOINS[17]
"""Rows of all keys end each other: the buckets are told of it."""
BROKEN = "the test breaks the stream off"
pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def own(spark):
    session = session_of_our_own(spark)
    session.conf.set("spark.sql.shuffle.partitions", "2")
    return session


def staged(play, batches=4, **changes):
    """A play as the only part of a query."""
    count = len(play.events)
    ends = tuple(sorted({count * (one + 1) // batches for one in range(batches)}))
    wanted = StreamPlay("one", play, ends)
    shape = shape_of(wanted)
    return Part(replace(shape, **changes), [script(0, wanted, shape.plan)])


def ended(name, length, join=FULL):
    """A random play whose inputs end: so its rows need not leave in one order."""
    play = random_play(join, name, length=length)
    return replace(play, events=(*play.events, Finish("a"), Finish("b")))


def fault(play, found):
    return describe(compare(expected(play), found, Sight.OUTLETS))


def played(session, play, **changes):
    part = staged(play, **changes)
    return rows_of(session, part, run(session, [part]))


def rows_of(session, part, raw):
    """What the only play of a query puts out."""
    (batches,) = raw
    (found,) = emissions(session, part.shape, batches, part.scripts)
    return found


@pytest.mark.parametrize(("buckets", "partitions"), [(1, 1), (5, 3), (16, 2)])
@pytest.mark.parametrize("join", [FULL, NEWEST])
def test_any_number_of_buckets_gives_the_same_rows(own, join, buckets, partitions):
    play = ended("buckets", 60, join)
    spread = {"most_buckets": buckets, "most_partitions": partitions}
    assert fault(play, played(own, play, **spread)) == []


def hot(play):
    """The same play with all rows of one key."""
    events = tuple(
        replace(one, row={**one.row, "k": 1}) if isinstance(one, Arrive) else one
        for one in play.events
    )
    return replace(play, events=events)


def test_a_hot_key_gives_the_same_rows(own):
    play = hot(ended("hot", 120))
    assert fault(play, played(own, play)) == []


def test_a_session_elsewhere_gives_the_same_rows(own):
    play = random_play(JOINS[11], "elsewhere", length=40)
    own.conf.set("spark.sql.session.timeZone", "America/New_York")
    try:
        found = played(own, play)
    finally:
        own.conf.set("spark.sql.session.timeZone", "UTC")
    assert fault(play, found) == []


class Collector:
    """Keeps the rows of each batch; breaks the stream off at one of them, once."""

    def __init__(self, breaks_at=-1):
        self.batches = {}
        self.breaks_at = breaks_at

    def __call__(self, batch, number):
        if number == self.breaks_at:
            self.breaks_at = -1
            raise RuntimeError(BROKEN)
        self.batches[number] = batch.toArrow()


def start(frame, collector, checkpoint):
    """Runs a query to its end; a busy machine may have to be asked again."""
    for _ in range(4):
        try:
            return start_once(frame, collector, checkpoint)
        except StreamingQueryException as error:
            if not is_passing(error):
                raise
    return start_once(frame, collector, checkpoint)


def start_once(frame, collector, checkpoint):
    writer = frame.writeStream.foreachBatch(collector).trigger(availableNow=True)
    query = writer.option("checkpointLocation", str(checkpoint)).start()
    query.awaitTermination()


@pytest.mark.parametrize("join", [FULL, NEWEST])
def test_a_restart_gives_the_same_rows(own, join, tmp_path):
    play = ended("restart", 40, join)
    part = staged(play, batches=5)
    recording = tmp_path / "events.parquet"
    record_parts(recording, [part])
    collector = Collector(breaks_at=2)
    query = lay_together(own, [part], recording)
    with pytest.raises(Exception, match=BROKEN) as broken:
        start(query.lines, collector, tmp_path / "checkpoint")
    assert sorted(collector.batches) == [0, 1]
    told = sentence(broken.value)
    assert isinstance(told, EngineError)
    assert "\n" not in told.found
    again = lay_together(own, [part], recording)
    start(again.lines, collector, tmp_path / "checkpoint")
    assert len(collector.batches) > 2
    found = rows_of(own, part, again.raw_results(own, collector.batches))
    assert fault(play, found) == []


def test_a_checkpoint_of_another_join_is_refused(own, tmp_path):
    part = staged(ended("mismatch", 40), batches=3)
    recording = tmp_path / "events.parquet"
    record_parts(recording, [part])
    with pytest.raises(Exception, match=BROKEN):
        start(
            lay_together(own, [part], recording).lines,
            Collector(breaks_at=1),
            tmp_path / "checkpoint",
        )
    plan = replace(part.shape.plan, join=EVENT[0])
    other = replace(part, shape=replace(part.shape, plan=plan))
    with pytest.raises(Exception, match="StateMismatchError") as refused:
        start(
            lay_together(own, [other], recording).lines,
            Collector(),
            tmp_path / "checkpoint",
        )
    told = sentence(refused.value)
    assert told.found.startswith("the checkpoint holds the state of another join")
    assert told.expected
    assert told.hint
