"""A play's inputs as DataFrames: every line with its place in the order of arrival."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime

from pyspark.sql import SparkSession

from dovetail.engines.spark.values import EARLIEST, LATEST
from dovetail.engines.spark_batch.arrivals import PLACE, WHAT, Arrivals, What
from dovetail.engines.tables import arrow_table
from dovetail.plan.batch import is_complete
from dovetail.schema import (
    AtomicType,
    Column,
    Schema,
    from_microseconds,
    to_microseconds,
)
from dovetail.spec.inputs import Arrive, Bound, Finish, Input, InputKind, Remove, Row
from dovetail.spec.play import Play

_PLACED = (Column(PLACE, AtomicType.BIGINT), Column(WHAT, AtomicType.STRING))


def arrivals(spark: SparkSession, play: Play, source: Input) -> Arrivals:
    """Returns the rows of an input with their places, and how far it has come."""
    schema = Schema((*source.schema.columns, *_PLACED))
    blank = dict.fromkeys(source.schema.names)
    lines = list(_lines(source, play))
    table = arrow_table([{**blank, **line} for line in lines], schema)
    bound = LATEST if is_complete(source, play) else _last_bound(source, lines)
    frame = (
        spark.createDataFrame(table)
        if lines
        # Spark Connect makes no frame of a table without rows.
        else spark.createDataFrame([], schema.to_sql())
    )
    return Arrivals(frame, has_places=True, bound=bound)


def _lines(source: Input, play: Play) -> Iterator[Row]:
    """Gives the lines of an input; what is there from the start has places below 0."""
    state = () if source.kind is InputKind.STREAM else source.rows
    for place, row in enumerate(state, start=-len(state)):
        yield {**row, PLACE: place, WHAT: What.STATE.value}
    for place, event in enumerate((*play.opening, *play.events)):
        match event:
            case Arrive(name, row) if name == source.name:
                yield {**row, PLACE: place, WHAT: What.ROW.value}
            case Remove(name, row) if name == source.name:
                yield {**row, PLACE: place, WHAT: What.DELETE.value}
            case Bound(name, moment) if name == source.name and source.is_timed:
                time = {source.time: from_microseconds(moment)}
                yield {**time, PLACE: place, WHAT: What.BOUND.value}
            case Finish(name) if name == source.name:
                yield {PLACE: place, WHAT: What.END.value}
            case _:
                pass


def _last_bound(source: Input, lines: list[Row]) -> int:
    """Returns the bound of an input at the end, in microseconds since 1970."""
    back, bounds = source.lateness.negated(), [EARLIEST]
    for line in lines:
        match line.get(source.time), line[WHAT]:
            case datetime() as promise, What.BOUND.value:
                bounds.append(to_microseconds(promise))
            case datetime() as time, _:
                bounds.append(back.after(to_microseconds(time)))
            case _:
                pass
    return max(bounds)
