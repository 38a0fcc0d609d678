"""From lines to what comes out: the outlets, and what the select makes of a line."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark.moments import timestamp
from dovetail.engines.spark_batch.judged import judges
from dovetail.engines.spark_batch.keeping import (
    in_picked_order,
    kept,
    most_kept,
    without_skipped,
)
from dovetail.engines.spark_batch.line import EXCEEDS, ORDINALS, ROW_TIME, matched
from dovetail.engines.spark_batch.lines import result_lines
from dovetail.engines.spark_batch.matching import Meeting
from dovetail.engines.spark_batch.mentioned import mentions
from dovetail.expression import Expression
from dovetail.spec.inputs import Outlet
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec
from dovetail.spec.picks import Limit, OnExceed
from dovetail.spec.results import own_outlets, selected_columns
from dovetail.spec.windows import HopSize

ORDER = (ROW_TIME, *ORDINALS.values())
_NOTHING = Expression("NULL")


def outlets(
    meeting: Meeting, hidden: tuple[str, ...] = ORDER
) -> dict[Outlet, DataFrame]:
    """Returns the rows of every outlet: its own columns, then hidden ones."""
    join = meeting.join
    lines = kept(join, without_skipped(join, named(meeting)))
    if join.ports == 1:
        return {Outlet.MATCHED: _selected(meeting, lines, hidden)}
    both = F.col(matched(Hand.LEFT)) & F.col(matched(Hand.RIGHT)) | F.col(EXCEEDS)
    found = {Outlet.MATCHED: _selected(meeting, lines.where(both), hidden)}
    for hand, outlet in own_outlets(join).items():
        is_alone = ~F.col(matched(hand.other)) & ~F.col(EXCEEDS)
        found[outlet] = lines.where(is_alone).select(f"{hand.letter}.*", *hidden)
    return found


def named(meeting: Meeting) -> DataFrame:
    """Returns the lines of a join with all that an expression may name."""
    join, lines = meeting.join, result_lines(meeting)
    known = lines.withColumn("row_time", timestamp(F.col(ROW_TIME)))
    match join.left.window:
        case HopSize(size=size):
            end = F.col("row_time")
            start = F.timestamp_micros(F.unix_micros(end) - size.microseconds)
            known = known.withColumns({"window_start": start, "window_end": end})
        case _:
            pass
    if mentions(join, "counter"):
        known = known.withColumn("counter", _counter(join))
    return known


def _selected(meeting: Meeting, lines: DataFrame, hidden: tuple[str, ...]) -> DataFrame:
    """Returns the output columns of lines, computed from what a select may use."""
    match meeting.join.picks.limit:
        case Limit(on_exceed=OnExceed.TRANSFORM, transform=transform):
            columns = _with_exceeding(_columns(meeting), dict(transform))
        case _:
            columns = _columns(meeting)
    shown = [column.alias(name) for name, column in columns.items()]
    return lines.select(*shown, *hidden)


def _with_exceeding(
    columns: dict[str, Column], transform: Mapping[str, Expression]
) -> dict[str, Column]:
    """Returns the columns as they are of a left row over its limit, and of others."""
    found: dict[str, Column] = {}
    for name, column in columns.items():
        given = transform.get(name, _NOTHING)
        found[name] = F.when(F.col(EXCEEDS), F.expr(given.text)).otherwise(column)
    return found


def _columns(meeting: Meeting) -> dict[str, Column]:
    """Returns the output columns; a semi join has those of its own side."""
    schemas = {hand: meeting.sides[hand].seat.source.schema for hand in HANDS}
    columns = selected_columns(meeting.join, schemas)
    return {name: F.expr(expression.text) for name, expression in columns}


def _counter(join: JoinSpec) -> Column:
    """Returns the number of a pair among those of its left row; 0 where it is none."""
    left, right = (F.col(ORDINALS[hand]) for hand in HANDS)
    # A line without a left row is a row met once: it counts for itself.
    pairs = Window.partitionBy(left, F.when(left.isNull(), right))
    time = F.col(ROW_TIME)
    is_picked = join.clock is Clock.BATCH or judges(join) or most_kept(join.picks)
    order = [*in_picked_order(join.clock), time] if is_picked else [time, right]
    is_pair = F.col(matched(Hand.LEFT)) & F.col(matched(Hand.RIGHT))
    return F.when(is_pair, F.row_number().over(pairs.orderBy(*order))).otherwise(0)
