"""The lines of a join whose left rows are judged: by `limit`, `atmost` or `asof`.

Pairs and left rows alone come from one join, which keeps the left rows. What becomes of
the right rows, once all left ones are judged, is found by another, which keeps those.
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import Column, DataFrame, WindowSpec
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_batch.arrivals import PLACE, TIME
from dovetail.engines.spark_batch.judged import MATCH, OVER, Judged
from dovetail.engines.spark_batch.line import (
    Line,
    absent_row,
    either,
    lasting,
    life_part,
    met_at,
    no_number,
    passing,
    row_struct,
)
from dovetail.engines.spark_batch.lives import DEATH, END, LAST
from dovetail.engines.spark_batch.matching import Meeting, side_column
from dovetail.engines.spark_batch.truth import no, yes
from dovetail.kernels.arrays.names import reserved
from dovetail.spec.join import HANDS, Hand, JoinSpec, Kind
from dovetail.spec.picks import Limit, OnExceed

_MET, _MARK, _ALONE, _ONCE, _EXCEEDS = (
    reserved(word) for word in ("met", "mark", "is_alone", "is_once", "is_over")
)


def judged_parts(meeting: Meeting) -> Iterator[DataFrame]:
    """Gives the lines of left rows, then those of right rows by themselves."""
    kind = meeting.join.kind
    if (
        kind.gives_pairs
        or kind.preserves(Hand.LEFT)
        or kind.gives_once(Hand.LEFT)
        or _is_transformed(meeting.join)
    ):
        yield _of_left(meeting)
    if kind.preserves(Hand.RIGHT) or kind.gives_once(Hand.RIGHT):
        yield _of_right(meeting)


def _of_left(meeting: Meeting) -> DataFrame:
    """Returns the pairs, and left rows by themselves: alone, once, over a limit."""
    join = meeting.join
    how = "left_outer" if join.kind.preserves(Hand.LEFT) else "inner"
    judged = Judged.of(meeting, Hand.LEFT, how)
    frame = judged.frame.withColumn(_MARK, F.col(MATCH) | F.col(OVER))
    frame = _by_itself(judged, frame, Hand.LEFT).withColumn(_EXCEEDS, no())
    if _is_transformed(join):
        first = _number(judged.of_row(Hand.LEFT), Hand.RIGHT) == 1
        frame = frame.withColumn(_EXCEEDS, F.col(OVER) & first)
    is_pair = F.col(MATCH) & F.lit(join.kind.gives_pairs)
    is_line = is_pair | F.col(_ALONE) | F.col(_ONCE) | F.col(_EXCEEDS)
    return frame.where(is_line).select(*_left_line(meeting, is_pair).columns())


def _left_line(meeting: Meeting, is_pair: Column) -> Line:
    """Returns what becomes of a left row; it is not alone where it is met once."""
    right = row_struct(meeting, Hand.RIGHT)
    if not _is_always_pair(meeting.join):
        right = F.when(is_pair, right).otherwise(absent_row(meeting, Hand.RIGHT))
    is_met = is_pair | F.col(_ONCE)
    met = met_at(meeting)
    time = (
        F.when(F.col(_EXCEEDS), _last(meeting))
        .when(is_met, met)
        .otherwise(life_part(meeting, Hand.LEFT, END))
    )
    return Line(
        {
            Hand.LEFT: row_struct(meeting, Hand.LEFT),
            Hand.RIGHT: right,
        },
        {Hand.LEFT: yes(), Hand.RIGHT: is_met},
        {
            Hand.LEFT: side_column(Hand.LEFT, PLACE),
            Hand.RIGHT: F.when(is_pair, side_column(Hand.RIGHT, PLACE)),
        },
        time,
        F.when(is_met, met + 1).otherwise(life_part(meeting, Hand.LEFT, DEATH)),
        F.col(_EXCEEDS),
        side_column(Hand.RIGHT, TIME),
        either(is_pair, lasting(meeting, HANDS), _own_life(meeting, Hand.LEFT, time)),
    )


def _of_right(meeting: Meeting) -> DataFrame:
    """Returns each right row by itself: alone, or once where it is in a pair.

    It has been met by left rows over their limit too.
    """
    how = "left_outer" if meeting.join.kind.preserves(Hand.RIGHT) else "inner"
    judged = Judged.of(meeting, Hand.RIGHT, how)
    frame = judged.frame.withColumn(_MARK, F.col(MATCH) | F.col(OVER))
    frame = _by_itself(judged, frame, Hand.RIGHT)
    met = met_at(meeting)
    end = life_part(meeting, Hand.RIGHT, END)
    time = F.when(F.col(_ONCE), met).otherwise(end)
    line = Line(
        {
            Hand.LEFT: absent_row(meeting, Hand.LEFT),
            Hand.RIGHT: row_struct(meeting, Hand.RIGHT),
        },
        {Hand.LEFT: F.col(_ONCE), Hand.RIGHT: yes()},
        {Hand.LEFT: no_number(), Hand.RIGHT: side_column(Hand.RIGHT, PLACE)},
        time,
        F.when(F.col(_ONCE), met + 1).otherwise(life_part(meeting, Hand.RIGHT, DEATH)),
        no(),
        no_number(),
        _own_life(meeting, Hand.RIGHT, time),
    )
    return frame.where(F.col(_ALONE) | F.col(_ONCE)).select(*line.columns())


def _own_life(meeting: Meeting, hand: Hand, time: Column) -> tuple[Column, Column]:
    """Returns the death and the end of a row by itself; one alone has none but now."""
    return either(F.col(_ONCE), lasting(meeting, [hand]), passing(time))


def _by_itself(judged: Judged, frame: DataFrame, hand: Hand) -> DataFrame:
    """Returns the lines, one of them marked for a row alone, or one for a row once."""
    kind = judged.meeting.join.kind
    if judged.is_single:
        is_alone = ~F.col(MATCH) & F.lit(kind.preserves(hand))
        is_once = F.col(MATCH) & F.lit(kind.gives_once(hand))
        return frame.withColumns({_ALONE: is_alone, _ONCE: is_once})
    frame = frame.withColumns({_ALONE: no(), _ONCE: no()})
    if kind.preserves(hand):
        own = judged.of_life(hand)
        is_met = F.max(_MARK).over(own)
        first = _number(own, hand.other) == 1
        frame = frame.withColumn(_ALONE, ~is_met & first)
    if kind.gives_once(hand):
        # A left row over its limit does not come out; the right ones have been met.
        mark = MATCH if hand is Hand.LEFT else _MARK
        met = met_at(judged.meeting)
        own = judged.of_row(hand).orderBy(F.desc(mark), met)
        frame = frame.withColumn(_ONCE, F.col(mark) & (F.row_number().over(own) == 1))
    return frame


def _number(own: WindowSpec, other: Hand) -> Column:
    """Returns the number of a line in its window."""
    return F.row_number().over(own.orderBy(side_column(other, PLACE)))


def _is_always_pair(join: JoinSpec) -> bool:
    """Tells whether nothing but pairs comes of left rows."""
    return join.kind is Kind.INNER and not _is_transformed(join)


def _is_transformed(join: JoinSpec) -> bool:
    """Tells whether a left row over its limit gives a row of its own."""
    match join.picks.limit:
        case Limit(on_exceed=on_exceed):
            return on_exceed is OnExceed.TRANSFORM
        case _:
            return False


def _last(meeting: Meeting) -> Column:
    """Returns the end of the last life of a left row."""
    if meeting.lives_often:
        return side_column(Hand.LEFT, LAST)
    return life_part(meeting, Hand.LEFT, END)
