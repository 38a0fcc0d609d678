"""From lines to what comes out: the outlets, and what the select makes of a line."""

from __future__ import annotations

import re

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.run.spark.moments import timestamp
from dovetail.run.spark_batch.lines import ORDINALS, ROW_TIME, matched, result_lines
from dovetail.run.spark_batch.matching import Meeting
from dovetail.spec.inputs import Outlet
from dovetail.spec.join import HANDS, AllColumns, Clock, Columns, Hand, JoinSpec

ORDER = (ROW_TIME, *ORDINALS.values())
OWN_PORTS = {Hand.LEFT: Outlet.LEFT_UNMATCHED, Hand.RIGHT: Outlet.RIGHT_UNMATCHED}


def outlets(meeting: Meeting) -> dict[Outlet, DataFrame]:
    """Returns the rows of every outlet: its own columns, then those of ORDER."""
    join, lines = meeting.join, result_lines(meeting)
    if join.ports == 1:
        return {Outlet.MATCHED: _selected(meeting, lines)}
    both = F.col(matched(Hand.LEFT)) & F.col(matched(Hand.RIGHT))
    found = {Outlet.MATCHED: _selected(meeting, lines.where(both))}
    for hand in HANDS:
        if join.kind.preserves(hand):
            alone = lines.where(~F.col(matched(hand.other)))
            found[OWN_PORTS[hand]] = alone.select(f"{hand.letter}.*", *ORDER)
    return found


def mentions(join: JoinSpec, name: str) -> bool:
    """Tells whether the select may use a name; a text in quotes counts as a use."""
    match join.select:
        case Columns(columns):
            word = re.compile(rf"\b{name}\b", re.IGNORECASE)
            return any(word.search(expression.text) for _, expression in columns)
        case AllColumns():
            return False


def _selected(meeting: Meeting, lines: DataFrame) -> DataFrame:
    """Returns the output columns of lines, computed from what a select may use."""
    known = lines.withColumn("row_time", timestamp(F.col(ROW_TIME)))
    if mentions(meeting.join, "counter"):
        known = known.withColumn("counter", _counter(meeting.join.clock))
    return known.select(*_columns(meeting), *ORDER)


def _columns(meeting: Meeting) -> list[Column]:
    """Returns the output columns; a semi join has those of its own side."""
    match meeting.join.select:
        case Columns(columns):
            return [F.expr(expression.text).alias(name) for name, expression in columns]
        case AllColumns():
            return list(_all_columns(meeting).values())


def _all_columns(meeting: Meeting) -> dict[str, Column]:
    """Returns all columns of the left, then those of the right with a new name."""
    found: dict[str, Column] = {}
    for hand in HANDS:
        if not meeting.join.kind.gives_once(hand.other):
            for name in meeting.sides[hand].seat.source.schema.names:
                column = F.col(f"{hand.letter}.`{name}`").alias(name)
                found.setdefault(name.lower(), column)
    return found


def _counter(clock: Clock) -> Column:
    """Returns the number of a pair among those of its left row; 0 where it is none."""
    left, right = (F.col(ORDINALS[hand]) for hand in HANDS)
    # A line without a left row is a row met once: it counts for itself.
    pairs = Window.partitionBy(left, F.when(left.isNull(), right))
    order = [right] if clock is Clock.BATCH else [F.col(ROW_TIME), right]
    is_pair = F.col(matched(Hand.LEFT)) & F.col(matched(Hand.RIGHT))
    return F.when(is_pair, F.row_number().over(pairs.orderBy(*order))).otherwise(0)
