"""Texts in row time on streams of Spark: recorded events, cut into batches, to the end.

Each stream that comes out is a query of its own, as it is for a user.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from functools import partial
from itertools import pairwise
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.bind.failures import sentence
from dovetail.bind.schemas import schema_of
from dovetail.bind.sinks import Calling
from dovetail.conformance.oracle.row_time import RowTimePlay
from dovetail.conformance.spark_stream import replay, shared
from dovetail.conformance.spark_stream.script import Script, Told
from dovetail.engines.spark_stream import query as running
from dovetail.engines.spark_stream.dataflow import Frames
from dovetail.engines.spark_stream.late import Sinks
from dovetail.engines.spark_stream.row_time import Inputs, RowTimeQuery, TimedRows
from dovetail.engines.tables import plain_rows
from dovetail.errors import DovetailError
from dovetail.kernels.arrays.names import LineKind, reserved
from dovetail.kernels.arrays.rows import NEVER
from dovetail.plan.stream import Feed, feed_of_rows, plan_stream
from dovetail.schema import quoted
from dovetail.spec.defaults import complete
from dovetail.spec.reader import read_input_row

_WRITTEN_TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@dataclass(frozen=True, slots=True)
class _Rows:
    """Rows of an input; of one that a join gives the frames of its sides."""

    frame: DataFrame | Frames
    source: spec.Input
    feed: Feed


def play_text(
    spark: SparkSession,
    play: RowTimePlay,
    ends: Sequence[int],
    *,
    tells_late: bool = False,
    spread: int = 0,
) -> list[tuple[str, spec.Row]]:
    """Returns the rows that come out, each with the name of its stream.

    Those that were late are asked for too where a case `tells_late` ones. Rows of
    streams have a number, or are `spread` over so many tasks without one.
    """
    finish = _ends(play)
    own = shared.session_of_our_own(spark)
    with shared.folder() as place:
        file = place / "events.parquet"
        sources = {
            name: _spread(rows, spread) if spread else rows
            for name, rows in _recorded(own, play, ends, file=file).items()
        }
        inputs = Inputs(
            sources, _timed, lambda join, rows: _streaming(play, join, rows)
        )
        found: list[tuple[str, spec.Row]] = []
        for number, one in enumerate(play.program.outputs):
            how = running.Start(str(place / f"{number}"), running.NOW, finish=finish)
            query = RowTimeQuery(one.name, one.step, inputs)
            rows, late = _played(query, how, tells_late=tells_late)
            found += [(one.name, row) for row in rows]
            found += [(spec.Outlet.LATE.value, _came(row, play.inputs)) for row in late]
        return found


def _came(late: spec.Row, inputs: spec.Inputs) -> spec.Row:
    """Returns a late row as a case has it: its own columns, and the reason."""
    row = json.loads(str(late["row"]), parse_float=Decimal)
    # Rows that an input has brought have its columns, and so the types of their values.
    known = [one for one in inputs.values() if {*one.schema.names} == {*row}]
    # Of what a join has made nobody has said the types: its times look like times.
    came = (
        read_input_row(row, "a late row", known[0])
        if known
        else {name: _moment(value) for name, value in row.items()}
    )
    return {**came, "reason": late["reason"]}


def _moment(value: object) -> object:
    """Returns a time where a value of a JSON is written as Spark writes one."""
    if isinstance(value, str) and _WRITTEN_TIME.fullmatch(value):
        return datetime.fromisoformat(value)
    return value


def _played(
    query: RowTimeQuery, how: running.Start, *, tells_late: bool
) -> tuple[list[spec.Row], list[spec.Row]]:
    """Returns the rows of a stream, and late ones, once its query is through."""
    rows: dict[int, list[spec.Row]] = {}
    late: dict[int, list[spec.Row]] = {}

    def take(found: dict[int, list[spec.Row]], batch: DataFrame, number: int) -> None:
        # Set, not added to: a batch that Spark tries again comes twice.
        found[number] = list(plain_rows(batch.toArrow()))

    own, passed = Calling(partial(take, rows)), Calling(partial(take, late))
    sinks = Sinks({query.name: own}, (lambda _: passed) if tells_late else None)
    try:
        running_query = query.start(sinks, how)
        # It ends by itself, once all that was recorded has come.
        running_query.awaitTermination()
    except DovetailError:
        raise
    except Exception as error:  # Spark's own, as a user is told of it
        raise sentence(error) from error
    # Batch by batch, as they follow each other.
    in_order, late_ones = (
        [row for _, some in sorted(found.items()) for row in some]
        for found in (rows, late)
    )
    return in_order, late_ones


def _ends(play: RowTimePlay) -> bool | None:
    """Returns whether all streams end; nothing where it is left to the query."""
    names = {one.input for one in spec.givens_of(play.program)}
    streams = {
        name for name in names if play.inputs[name].kind is spec.InputKind.STREAM
    }
    ended = {one.input for one in play.events if isinstance(one, spec.Finish)}
    return True if streams <= ended else None


def _recorded(
    spark: SparkSession, play: RowTimePlay, ends: Sequence[int], *, file: Path
) -> Mapping[str, _Rows]:
    """Returns the rows of inputs: those of streams come as they were recorded."""
    written = Script(0)
    for first, past in pairwise((0, *ends)):
        events = play.events[first:past]
        written.cut([*_coming(events, all_end=bool(_ends(play)))], first)
    inputs = {one.input: play.inputs[one.input] for one in spec.givens_of(play.program)}
    arriving = {
        name
        for step in spec.steps_of(play.program)
        if isinstance(step, spec.JoinedInRowTime)
        and step.join.clock is spec.Clock.ARRIVAL
        for name in spec.source_names(step.join)
    }
    kinds = {
        # In order of arrival the rows of a table come one by one too.
        name: one.kind is spec.InputKind.STREAM
        or (one.kind is spec.InputKind.TABLE and name in arriving)
        for name, one in inputs.items()
    }
    tables = {
        name: shared.table_of(one, written.rows.get(name, []) or one.rows)
        for name, one in inputs.items()
    }
    replay.record(file, written.lines, {it: tables[it] for it in kinds if kinds[it]})
    replayed = replay.replay(spark, file)
    found = {}
    for name, source in inputs.items():
        if kinds[name]:
            found[name] = _streamed(replay.lines_of(replayed, name), source)
        else:
            standing = spark.createDataFrame(tables[name])
            found[name] = _Rows(standing, source, Feed(streams=False))
    return found


def _coming(
    events: Sequence[spec.Event], *, all_end: bool
) -> Iterator[tuple[Told, LineKind]]:
    """Gives what events bring, with what each is."""
    for one in events:
        match one:
            case spec.Arrive():
                yield one, LineKind.ROW
            case spec.Remove():
                yield one, LineKind.DELETE
            case spec.Bound():
                yield one, LineKind.BOUND
            # Where all end the query is told so. Of one alone no time is to come.
            case spec.Finish(input=name, clock=clock) if not all_end:
                yield spec.Bound(name, NEVER, clock), LineKind.BOUND
            case _:
                pass


def _streamed(lines: DataFrame, source: spec.Input) -> _Rows:
    """Returns the lines of an input as a user gives rows: a column tells what each is.

    Bounds are rows too, which have their time where others do.
    """
    event, place = quoted(reserved("event")), quoted(replay.SEQUENCE)
    if source.kind is spec.InputKind.TABLE:
        gone = f"{event} = {int(LineKind.DELETE)}"
        return _Rows(lines, source, Feed(sequence=place, deletes=gone))
    if not source.is_timed:
        return _Rows(lines, source, Feed(sequence=place))
    bound = F.timestamp_micros(reserved("moment"))
    time = bound.cast(lines.schema[source.time].dataType)
    frame = lines.withColumn(source.time, F.coalesce(source.time, time))
    bounds = f"{event} = {int(LineKind.BOUND)}"
    return _Rows(frame, source, Feed(sequence=place, bounds=bounds))


def _spread(rows: _Rows, tasks: int) -> _Rows:
    """Returns rows of a stream in so many tasks, where nothing says which was first."""
    if not rows.feed.streams or not rows.source.is_timed:
        return rows
    assert isinstance(rows.frame, DataFrame)  # noqa: S101 - as they were recorded
    feed = replace(rows.feed, sequence="")
    return replace(rows, frame=rows.frame.repartition(tasks), feed=feed)


def _timed(made: TimedRows) -> _Rows:
    """Returns rows of steps as a side of a join.

    Those that are all there from the start are a data set.
    """
    own = schema_of(made.own)
    if not made.frame.isStreaming:
        source = spec.Input("", spec.InputKind.DATASET, own)
        return _Rows(made.frame, source, Feed(streams=False))
    stream, late = spec.InputKind.STREAM, made.lateness
    source = spec.Input("", stream, own, time=made.time, lateness=late)
    return _Rows(made.frame, source, made.feed)


def _streaming(
    play: RowTimePlay, join: spec.JoinSpec, rows: Mapping[str, _Rows]
) -> running.Streaming:
    """Returns a join with its frames, of the joins inside it those of their sides."""
    inputs = {name: replace(one.source, name=name) for name, one in rows.items()}
    feeds, frames = _sides(join, rows)
    whole = complete(join, inputs)
    switches = play.switches(whole, inputs)
    plan = plan_stream(whole, inputs, feeds, settings=switches)
    return running.Streaming(plan, frames)


def _sides(
    join: spec.JoinSpec, rows: Mapping[str, _Rows]
) -> tuple[Mapping[spec.Hand, Feed], Frames]:
    """Returns how the rows of both sides come, and their frames."""
    feeds: dict[spec.Hand, Feed] = {}
    frames: list[DataFrame | Frames] = []
    for hand in spec.HANDS:
        match join.side(hand).source:
            case spec.Named(name):
                feeds[hand] = rows[name].feed
                frames.append(rows[name].frame)
            case spec.Nested(inner):
                inside, own = _sides(inner, rows)
                feeds[hand] = feed_of_rows(inside, inner.clock)
                frames.append(own)
    left, right = frames
    return feeds, (left, right)
