"""Runs a play as one batch: all its rows at once, with the places at which they came.

A batch knows no events: rows come out in the order that is promised, which is that of
row time on the event clock, and that of the left rows on the clock `batch`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial, reduce
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import StructType

from dovetail import spec
from dovetail.engines.spark.rules import plain_rules
from dovetail.engines.spark.values import EARLIEST, LATEST
from dovetail.engines.spark_batch import arrivals
from dovetail.engines.spark_batch.join import BatchRows, ordered_rows
from dovetail.engines.spark_batch.lines import ORDER, ORDINALS, ROW_TIME
from dovetail.engines.spark_batch.refusals import words_of_spark
from dovetail.engines.spark_batch.sets import join_sets
from dovetail.engines.spark_batch.stops import limits_told
from dovetail.engines.tables import arrow_table, plain_rows
from dovetail.plan.batch import SetsPlan, is_complete, plan_play
from dovetail.schema import (
    AtomicType,
    Column,
    Schema,
    from_microseconds,
    quoted,
    to_microseconds,
)

# A play is small: more tasks, and plans made anew while they run, only cost time.
_SMALL = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
}
_PLACED = (
    Column(arrivals.PLACE, AtomicType.BIGINT),
    Column(arrivals.WHAT, AtomicType.STRING),
)
Found = Mapping[str, Any]  # values of whatever types the join's columns have


def play(spark: SparkSession, play: spec.Play) -> list[spec.Emission]:
    """Returns every row that comes out, in the order that a batch promises."""
    plan = plan_play(play)
    if isinstance(plan, SetsPlan):
        # A join of several sets has an order of its own, in which Spark gives it.
        with plain_rules(spark, **_SMALL):
            names = {*plan.join.sets}
            frames = {it: _arrivals(spark, play, play.inputs[it]) for it in names}
            with words_of_spark(plan.join, play.inputs):
                together = join_sets(plan.join, play.inputs, frames)
            table = together.toArrow()
        return [spec.Emission(spec.Outlet.MATCHED, row) for row in plain_rows(table)]
    join = plan.join
    if join.clock is spec.Clock.EVENT:
        usual = replace(plan.settings, order=spec.Order.ROW_TIME)
        plan = replace(plan, settings=usual)
    inputs = {name: play.inputs[name] for name in spec.source_names(join)}
    with plain_rules(spark, **_SMALL):
        frames = {name: _arrivals(spark, play, inputs[name]) for name in inputs}
        with words_of_spark(join, inputs):
            outlets = _outlets(ordered_rows(plan, frames))
        with limits_told():
            table = _together([frame for _, frame in outlets]).toArrow()
    found: list[Found] = [*plain_rows(table)]
    # Sorted twice and stable: by row time, and by place among those of one time.
    found.sort(key=partial(_place, join.clock))
    if plan.settings.order is not spec.Order.AS_FOUND:
        found.sort(key=lambda line: _number(line[ROW_TIME], LATEST))
    return [
        spec.Emission(outlets[line["outlet"]][0], line[f"row_{line['outlet']}"])
        for line in found
    ]


def _outlets(rows: BatchRows) -> list[tuple[spec.Outlet, DataFrame]]:
    """Returns every outlet with its rows, late rows by their inputs."""
    unknown = F.lit(None).cast("bigint")
    late = [
        frame.withColumnsRenamed(
            {arrivals.PLACE: ORDINALS[spec.Hand.LEFT], arrivals.REASON: "reason"}
        ).withColumns({ROW_TIME: unknown, ORDINALS[spec.Hand.RIGHT]: unknown})
        for frame in rows.late.values()
    ]
    return [*rows.outlets.items(), *((spec.Outlet.LATE, frame) for frame in late)]


def _together(frames: Sequence[DataFrame]) -> DataFrame:
    """Returns all rows as one frame, so that one job brings them all.

    The rows of an outlet stand there as structs, beside the number of the outlet.
    """
    numbered = []
    for number, frame in enumerate(frames):
        names = [quoted(name) for name in frame.columns if name not in ORDER]
        # A row of one outlet is null in the columns of the others, and Arrow refuses a
        # null record whose fields may not be null: so every part becomes nullable.
        strict = r'"(nullable|\w*[cC]ontainsNull)":false'
        text = re.sub(strict, r'"\1":true', frame.select(*names).schema.json())
        kind = StructType.fromJson(json.loads(text))
        row = F.struct(*names).cast(kind).alias(f"row_{number}")
        numbered.append(frame.select(F.lit(number).alias("outlet"), row, *ORDER))
    return reduce(partial(DataFrame.unionByName, allowMissingColumns=True), numbered)


def _place(clock: spec.Clock, line: Found) -> tuple[int, ...]:
    """Returns the order among equal row times, as the clock has it.

    On the event clock pairs are first, then rows as they came; in a batch left rows
    stand in their order, for each its right rows in theirs.
    """
    if clock is spec.Clock.EVENT:
        places = [line[name] for name in ORDINALS.values() if line[name] is not None]
        is_alone = len(places) < len(spec.HANDS)
        return (is_alone, max(places, default=0), min(places, default=0))
    left, right = (line[ORDINALS[hand]] for hand in spec.HANDS)
    # A right row alone stands behind all left ones.
    return (_number(left, LATEST), _number(right, EARLIEST))


def _number(value: object, otherwise: int) -> int:
    """Returns a number, or what stands for one that is not known."""
    return value if isinstance(value, int) else otherwise


def _arrivals(
    spark: SparkSession, play: spec.Play, source: spec.Input
) -> arrivals.Arrivals:
    """Returns the rows of an input with their places, and how far it has come."""
    schema = Schema((*source.schema.columns, *_PLACED))
    blank = dict.fromkeys(source.schema.names)
    lines = list(_lines(source, play))
    # The bound at the end, in microseconds: what an input promises, or its newest row
    # less its lateness.
    is_whole = is_complete(source, play)
    back, bounds = source.lateness.negated(), [EARLIEST]
    for line in () if is_whole else lines:
        match line.get(source.time), line[arrivals.WHAT]:
            case datetime() as promise, arrivals.What.BOUND.value:
                bounds.append(to_microseconds(promise))
            case datetime() as time, _:
                bounds.append(back.after(to_microseconds(time)))
            case _:
                pass
    bound = LATEST if is_whole else max(bounds)
    frame = frame_of(spark, [{**blank, **line} for line in lines], schema)
    return arrivals.Arrivals(frame, has_places=True, bound=bound)


def frame_of(
    spark: SparkSession, rows: Sequence[spec.Row], schema: Schema
) -> DataFrame:
    """Returns plain rows as a frame."""
    if not rows:
        # Spark Connect makes no frame of a table without rows.
        return spark.createDataFrame([], schema.to_sql())
    return spark.createDataFrame(arrow_table(rows, schema))


def _lines(source: spec.Input, play: spec.Play) -> Iterator[spec.Row]:
    """Gives the lines of an input; what is there from the start has places below 0."""
    state = () if source.kind is spec.InputKind.STREAM else source.rows
    for place, row in enumerate(state, start=-len(state)):
        yield {**row, arrivals.PLACE: place, arrivals.WHAT: arrivals.What.STATE.value}
    for place, event in enumerate((*play.opening, *play.events)):
        match event:
            case spec.Arrive(name, row) if name == source.name:
                what = arrivals.What.ROW
            case spec.Remove(name, row) if name == source.name:
                what = arrivals.What.DELETE
            case spec.Bound(name, moment) if name == source.name and source.is_timed:
                row, what = (
                    {source.time: from_microseconds(moment)},
                    arrivals.What.BOUND,
                )
            case spec.Finish(name) if name == source.name:
                row, what = {}, arrivals.What.END
            case _:
                continue
        yield {**row, arrivals.PLACE: place, arrivals.WHAT: what.value}
