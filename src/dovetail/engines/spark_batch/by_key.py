"""Whether the equalities alone say which rows are candidates: then keys say it all.

So it is where no window ends a life, and both sides of each equality have one type. Of
other types, two right values that differ could both equal one left value.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_batch.lives import BIRTH, DEATH, Seat
from dovetail.engines.spark_batch.matching import Meeting, side_column
from dovetail.engines.spark_batch.truth import yes
from dovetail.spec.join import HANDS, Hand
from dovetail.spec.windows import Latest


def is_by_key(meeting: Meeting) -> bool:
    """Tells whether rows of one key are all candidates, and no others are."""
    if any(_ends(meeting.sides[hand].seat) for hand in HANDS):
        return False
    left, right = ([kind for _, kind in _keyed(meeting, hand).dtypes] for hand in HANDS)
    return left == right


def keys(meeting: Meeting, hand: Hand) -> list[Column]:
    """Returns one hand's side of every equality, over its row under its letter."""
    return [
        F.expr((equality.left if hand is Hand.LEFT else equality.right).text)
        for equality in meeting.join.hard
    ]


def may_meet(meeting: Meeting, hand: Hand) -> Column:
    """Returns whether a row can meet anyone: no part of its key or time is missing."""
    terms = [key.isNotNull() for key in keys(meeting, hand)]
    if meeting.sides[hand].may_miss:
        terms.append(side_column(hand, BIRTH) < side_column(hand, DEATH))
    return reduce(Column.__and__, terms, yes())


def _ends(seat: Seat) -> bool:
    """Tells whether a window lets rows of one key miss each other."""
    is_version = isinstance(seat.window, Latest)
    return seat.is_timed or is_version or seat.is_met_on_arrival


def _keyed(meeting: Meeting, hand: Hand) -> DataFrame:
    """Returns the keys of a hand as columns."""
    named = [
        key.alias(f"key_{number}") for number, key in enumerate(keys(meeting, hand))
    ]
    return meeting.sides[hand].frame.alias(hand.letter).select(*named)
