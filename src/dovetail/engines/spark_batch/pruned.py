"""Picks that keys alone decide: right rows that none lets through meet no left one.

Where the equalities alone say which rows are candidates, all left rows of a key have
the same. So the right side, of which each key is looked at once, says who has too many,
and which right rows come first:

    atmost 2    right a1 a2 a3 b1      b1 is left: an a has 3 candidates
    keep 1      right a1 a2 b1 b2      a1 and b1 are left
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_batch.arrivals import PLACE
from dovetail.engines.spark_batch.by_key import is_by_key, keys, may_meet
from dovetail.engines.spark_batch.keeping import most_kept
from dovetail.engines.spark_batch.matching import Meeting, side_column
from dovetail.expression import ALWAYS, NEVER
from dovetail.kernels.arrays.names import reserved
from dovetail.spec.join import Hand, Kind
from dovetail.spec.picks import (
    AllHard,
    AtMost,
    Limit,
    OnExceed,
    Picks,
    Strategy,
    Unlimited,
)

_COUNT = reserved("count")
_LIMIT_KINDS = (Kind.INNER, Kind.LEFT_SEMI)
_KEEP_KINDS = (Kind.INNER, Kind.LEFT_OUTER)


def pruned(meeting: Meeting) -> Meeting:
    """Returns the meeting without right rows, and picks, that the keys decide about."""
    most = _most(meeting)
    decides = most or _most_kept(meeting)
    if not meeting.join.hard or not decides or not is_by_key(meeting):
        return meeting
    if most:
        meeting = _without_crowds(meeting, most)
    first = _most_kept(meeting)
    return _with_first(meeting, first) if first else meeting


def _most(meeting: Meeting) -> int:
    """Returns how many right rows a key may have, 0 where that is not so simple."""
    picks, kind = meeting.join.picks, meeting.join.kind
    match picks.at_most, picks.limit:
        case AtMost(count=count, counted=AllHard(), optional=()), _:
            return count
        case _, Limit(count, OnExceed.SKIP) if kind in _LIMIT_KINDS:
            return count
        case _:
            return 0


def _most_kept(meeting: Meeting) -> int:
    """Returns how many right rows of a key come out, 0 where that is not so simple."""
    join, picks = meeting.join, meeting.join.picks
    is_plain = join.soft == ALWAYS and picks.skip_when == NEVER
    counts = picks.limit != Unlimited() or picks.asof != Unlimited()
    has_at_most = picks.at_most != Unlimited() and not _most(meeting)
    if not is_plain or counts or has_at_most or join.kind not in _KEEP_KINDS:
        return 0
    return most_kept(picks)


def _without_crowds(meeting: Meeting, most: int) -> Meeting:
    """Returns the meeting without the right rows of keys that have too many."""
    own = Window.partitionBy(*keys(meeting, Hand.RIGHT))
    picks = replace(meeting.join.picks, at_most=Unlimited(), limit=Unlimited())
    return _only(meeting, F.count(F.lit(1)).over(own), most, picks)


def _with_first(meeting: Meeting, most: int) -> Meeting:
    """Returns the meeting with the first right rows of each key."""
    own = Window.partitionBy(*keys(meeting, Hand.RIGHT))
    order = own.orderBy(side_column(Hand.RIGHT, PLACE))
    # Counted, not ranked: for the first ranks Spark sorts before it moves rows too,
    # which pays only where most keys have many more rows than are kept.
    come = order.rowsBetween(Window.unboundedPreceding, Window.currentRow)
    number = F.count(F.lit(1)).over(come)
    picks = replace(meeting.join.picks, keep=Unlimited())
    if picks.strategy is Strategy.LOOKUP:
        picks = replace(picks, strategy=Strategy.MANY_LOOKUP)
    return _only(meeting, number, most, picks)


def _only(meeting: Meeting, number: Column, most: int, picks: Picks) -> Meeting:
    """Returns the meeting with the right rows up to a number, and other picks."""
    frame: DataFrame = meeting.sides[Hand.RIGHT].frame.alias(Hand.RIGHT.letter)
    able = frame.where(may_meet(meeting, Hand.RIGHT))
    few = able.withColumn(_COUNT, number).where(F.col(_COUNT) <= most).drop(_COUNT)
    right = replace(meeting.sides[Hand.RIGHT], frame=few)
    join = replace(meeting.join, picks=picks)
    return replace(meeting, join=join, sides={**meeting.sides, Hand.RIGHT: right})
