"""From lines to what comes out: picks that look at outputs, the select, the outlets.

A row that is skipped has matched and was counted, but is not kept.

    left 1   right 1 skipped     right 2     right 3       keep 1: right 2
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.engines.spark.values import is_true, timestamp
from dovetail.engines.spark_batch.candidates import Meeting, mentions
from dovetail.engines.spark_batch.lines import (
    EXCEEDS,
    ORDINALS,
    RIGHT_TIME,
    ROW_TIME,
    matched,
    result_lines,
)
from dovetail.engines.spark_batch.picks import judges, most_kept
from dovetail.expression import NEVER
from dovetail.kernels.arrays.names import reserved

ORDER = (ROW_TIME, *ORDINALS.values())
_NUMBER = reserved("number")


def outlets(
    meeting: Meeting, hidden: tuple[str, ...] = ORDER
) -> dict[spec.Outlet, DataFrame]:
    """Returns the rows of every outlet: its own columns, then hidden ones."""
    join = meeting.join
    lines = _named(join, result_lines(meeting))
    if join.picks.skip_when != NEVER:
        lines = lines.where(~is_true(F.expr(join.picks.skip_when.text)))
    most = most_kept(join.picks)
    if most and join.kind.gives_pairs:
        lines = lines.withColumn(_NUMBER, _rank(join)).where(F.col(_NUMBER) <= most)
    if join.ports == 1:
        return {spec.Outlet.MATCHED: lines.select(*_columns(meeting), *hidden)}
    matches = lines.where(_is_pair() | F.col(EXCEEDS))
    found = {spec.Outlet.MATCHED: matches.select(*_columns(meeting), *hidden)}
    for hand, outlet in spec.own_outlets(join).items():
        is_alone = ~F.col(matched(hand.other)) & ~F.col(EXCEEDS)
        found[outlet] = lines.where(is_alone).select(f"{hand.letter}.*", *hidden)
    return found


def _named(join: spec.JoinSpec, lines: DataFrame) -> DataFrame:
    """Returns the lines of a join with all that an expression may name."""
    known = lines.withColumn("row_time", timestamp(F.col(ROW_TIME)))
    size = join.left.window.hop_length
    if size != spec.NO_TIME:
        end = F.col("row_time")
        start = F.timestamp_micros(F.unix_micros(end) - size.microseconds)
        known = known.withColumns({"window_start": start, "window_end": end})
    if mentions(join, "counter"):
        known = known.withColumn("counter", _counter(join))
    return known


def _columns(meeting: Meeting) -> list[Column]:
    """Returns the output columns; a semi join has those of its own side.

    A left row over its limit may have expressions of its own for them.
    """
    schemas = {hand: meeting.sides[hand].seat.source.schema for hand in spec.HANDS}
    columns = {
        name: F.expr(expression.text)
        for name, expression in spec.selected_columns(meeting.join, schemas)
    }
    match meeting.join.picks.limit:
        case spec.Limit(on_exceed=spec.OnExceed.TRANSFORM, transform=transform):
            given = {name: expression.text for name, expression in transform}
            for name, column in columns.items():
                own = F.expr(given.get(name, "NULL"))
                columns[name] = F.when(F.col(EXCEEDS), own).otherwise(column)
        case _:
            pass
    return [column.alias(name) for name, column in columns.items()]


def _counter(join: spec.JoinSpec) -> Column:
    """Returns the number of a pair among those of its left row; 0 where it is none."""
    left, right = (F.col(ORDINALS[hand]) for hand in spec.HANDS)
    # A line without a left row is a row met once: it counts for itself.
    pairs = Window.partitionBy(left, F.when(left.isNull(), right))
    time = F.col(ROW_TIME)
    is_picked = join.clock is spec.Clock.BATCH or judges(join) or most_kept(join.picks)
    order = [*_picked_order(join.clock), time] if is_picked else [time, right]
    return F.when(_is_pair(), F.row_number().over(pairs.orderBy(*order))).otherwise(0)


def _rank(join: spec.JoinSpec) -> Column:
    """Returns the number of a pair among those of its left row, 0 where it is none.

    A pair that meets more than once has one number.
    """
    left, right = (F.col(ORDINALS[hand]) for hand in spec.HANDS)
    # A line without a left row is no pair: it stands for itself.
    pairs = Window.partitionBy(left, F.when(~_is_pair(), right))
    order = pairs.orderBy(*_picked_order(join.clock))
    return F.when(_is_pair(), F.dense_rank().over(order)).otherwise(0)


def _picked_order(clock: spec.Clock) -> list[Column]:
    """Returns the order in which the pairs of a left row are picked.

    That is the order of the right rows; on the event clock that of their row times.
    """
    place = F.col(ORDINALS[spec.Hand.RIGHT])
    if clock is spec.Clock.BATCH:
        return [place]
    return [F.coalesce(F.col(RIGHT_TIME), F.lit(0)), place]


def _is_pair() -> Column:
    """Returns whether a line has both rows."""
    return F.col(matched(spec.Hand.LEFT)) & F.col(matched(spec.Hand.RIGHT))
