"""The picks that look at rows as they would come out: `skip_when`, `keep`, `lookup`.

A row that is skipped has matched and was counted, but is not kept.

    left 1   right 1 skipped     right 2     right 3       keep 1: right 2
"""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_batch.line import ORDINALS, RIGHT_TIME, matched
from dovetail.engines.spark_batch.truth import is_true
from dovetail.expression import NEVER
from dovetail.kernels.arrays.names import reserved
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec
from dovetail.spec.picks import Keep, Picks, Strategy

_NUMBER = reserved("number")


def without_skipped(join: JoinSpec, lines: DataFrame) -> DataFrame:
    """Returns the lines whose rows may come out."""
    if join.picks.skip_when == NEVER:
        return lines
    is_skipped = F.expr(join.picks.skip_when.text)
    return lines.where(~is_true(is_skipped))


def kept(join: JoinSpec, lines: DataFrame) -> DataFrame:
    """Returns the lines with the first pairs of each left row, and all other lines."""
    most = most_kept(join.picks)
    if most == 0 or not join.kind.gives_pairs:
        return lines
    rank = _rank(in_picked_order(join.clock))
    return lines.withColumn(_NUMBER, rank).where(F.col(_NUMBER) <= most)


def in_picked_order(clock: Clock) -> list[Column]:
    """Returns the order in which the pairs of a left row are picked.

    That is the order of the right rows; on the event clock that of their row times.
    """
    place = F.col(ORDINALS[Hand.RIGHT])
    if clock is Clock.BATCH:
        return [place]
    return [F.coalesce(F.col(RIGHT_TIME), F.lit(0)), place]


def _rank(order: list[Column]) -> Column:
    """Returns the number of a pair among those of its left row, 0 where it is none.

    A pair that meets more than once has one number.
    """
    left, right = (F.col(ORDINALS[hand]) for hand in HANDS)
    is_pair = F.col(matched(Hand.LEFT)) & F.col(matched(Hand.RIGHT))
    # A line without a left row is no pair: it stands for itself.
    pairs = Window.partitionBy(left, F.when(~is_pair, right)).orderBy(*order)
    return F.when(is_pair, F.dense_rank().over(pairs)).otherwise(0)


def most_kept(picks: Picks) -> int:
    """Returns how many pairs of a left row come out, 0 where all do."""
    if picks.strategy is Strategy.LOOKUP:
        return 1
    return picks.keep.count if isinstance(picks.keep, Keep) else 0
