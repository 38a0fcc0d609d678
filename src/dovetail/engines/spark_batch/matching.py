"""Finds the rows that meet: equalities, the rest of the condition, and lives.

Spark does it: with an equality as a sort-merge or hash join, without one by buckets of
time where lives are of limited length. The join condition never tells windows apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_batch.arrivals import PLACE
from dovetail.engines.spark_batch.atmost import first_element
from dovetail.engines.spark_batch.lives import BIRTH, DEATH, SINCE, UNTIL, Living
from dovetail.engines.spark_batch.truth import yes
from dovetail.expression import ALWAYS
from dovetail.kernels.arrays.names import reserved
from dovetail.plan.batch import Buckets, NoBuckets
from dovetail.schema import quoted
from dovetail.spec.join import HANDS, Hand, JoinSpec
from dovetail.spec.picks import AtMost, Equality, Strategy

BUCKET = reserved("bucket")
HERE = reserved("here")
# What a strategy says of the right side: that it fits into memory, or how to find it.
_HINTS = {
    Strategy.LOOKUP: "broadcast",
    Strategy.MANY_LOOKUP: "broadcast",
    Strategy.ALL: "broadcast",
    Strategy.HASH: "shuffle_hash",
    Strategy.SORT_MERGE: "merge",
}


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two living sides and the condition under which their rows meet.

    Where `knows_row_time` is false, nobody asks when a semi join's row has first met.
    `failure` is said where a limit fails.
    """

    join: JoinSpec
    sides: Mapping[Hand, Living]
    buckets: Buckets | NoBuckets
    knows_row_time: bool
    failure: str = ""

    def joined(self, kept: Hand, how: str) -> DataFrame:
        """Returns Spark's join, the kept hand first; columns are `l.x` and `r.x`.

        Every row of the kept hand is there once before the join, so `left_outer`,
        `left_semi` and `left_anti` are right. In a `full_outer` both must be: that one
        cannot be done with buckets.
        """
        return self._joined(kept, how, [*self._candidate_terms(), *self.match_terms()])

    def candidates(self, kept: Hand, how: str, more: Iterable[Column]) -> DataFrame:
        """Returns Spark's join of left rows with all that the picks look at.

        More terms may say what the picks look at no further.
        """
        terms = [*self._candidate_terms(), *self._first_share(), *more]
        return self._joined(kept, how, terms)

    def key(self) -> list[Column]:
        """Returns the left side of the equalities by which candidates are found."""
        return [F.expr(equality.left.text) for equality in counted(self.join)]

    @property
    def lives_often(self) -> bool:
        """Tells whether a pair can meet more than once."""
        return self.sides[Hand.LEFT].seat.lives_often

    def _joined(self, kept: Hand, how: str, terms: Iterable[Column]) -> DataFrame:
        """Returns Spark's join under all of the terms, the kept hand first."""
        first = self._frame(kept, is_copied=False)
        second = self._frame(kept.other, is_copied=True)
        condition = reduce(Column.__and__, terms, yes())
        return first.join(second, condition, how)

    def frame(self, hand: Hand) -> DataFrame:
        """Returns the rows of a hand under its letter, marked as being there."""
        return self.sides[hand].frame.withColumn(HERE, yes()).alias(hand.letter)

    def _frame(self, hand: Hand, *, is_copied: bool) -> DataFrame:
        """Returns the rows of a hand for a join, copied into buckets where needed."""
        frame = self.frame(hand)
        match self.buckets:
            case Buckets() as buckets:
                bucket = (
                    F.explode(_copies(hand, buckets)) if is_copied else _home(buckets)
                )
                alive = frame.where(F.col(BIRTH) < F.col(DEATH)) if is_copied else frame
                frame = alive.withColumn(BUCKET, bucket)
            case NoBuckets():
                pass
        found = frame.alias(hand.letter)
        hint = _HINTS.get(self.join.picks.strategy, "")
        return found.hint(hint) if hint and hand is Hand.RIGHT else found

    def match_terms(self) -> Iterator[Column]:
        """Gives what a candidate must fulfil besides, to match."""
        for equality in self.join.hard:
            if equality not in counted(self.join):
                yield equal(equality)
        yield F.expr(self.join.soft.text)

    def _candidate_terms(self) -> Iterator[Column]:
        """Gives the terms that all hold for a left row and a candidate of it."""
        if self.join.picks.left_condition != ALWAYS:
            yield F.expr(self.join.picks.left_condition.text)
        for equality in counted(self.join):
            yield equal(equality)
        yield from self._life_terms()
        for hand in HANDS:
            if self.sides[hand].seat.is_met_on_arrival:
                arrived = side_column(hand.other, PLACE)
                yield side_column(hand, SINCE) < arrived
                yield arrived < side_column(hand, UNTIL)
        if isinstance(self.buckets, Buckets):
            yield side_column(Hand.LEFT, BUCKET) == side_column(Hand.RIGHT, BUCKET)

    def _first_share(self) -> Iterator[Column]:
        """Gives the first optional equality: a pair without it shares nothing."""
        match self.join.picks.at_most:
            case AtMost(optional=(first, *_)):
                yield first_element(first)
            case _:
                pass

    def _life_terms(self) -> Iterator[Column]:
        """Gives what makes two lives overlap: none is empty, each starts in time."""
        if self.lives_often:
            # Windows are told apart by their ends alone.
            yield side_column(Hand.LEFT, BIRTH) == side_column(Hand.RIGHT, BIRTH)
        limited = [hand for hand in HANDS if self.sides[hand].may_miss]
        for hand in limited:
            yield side_column(hand, BIRTH) < side_column(hand, DEATH)
            if hand.other in limited and not self.lives_often:
                yield side_column(hand, BIRTH) < side_column(hand.other, DEATH)


def counted(join: JoinSpec) -> tuple[Equality, ...]:
    """Returns the equalities that make a candidate: all, but where `atmost` says."""
    match join.picks.at_most:
        case AtMost(counted=tuple() as some):
            return some
        case _:
            return join.hard


def equal(equality: Equality) -> Column:
    """Returns whether an equality holds."""
    return F.expr(equality.left.text) == F.expr(equality.right.text)


def side_column(hand: Hand, name: str) -> Column:
    """Returns a column of one hand in the joined rows."""
    return F.col(f"{hand.letter}.{quoted(name)}")


def _home(buckets: Buckets) -> Column:
    """Returns the bucket in which a row is born."""
    return _bucket(F.col(BIRTH), buckets)


def _copies(hand: Hand, buckets: Buckets) -> Column:
    """Returns every bucket in which a row of the other hand can be born to meet one."""
    ends = F.col(BIRTH) - buckets.reach(hand.other) + 1, F.col(DEATH) - 1
    return F.sequence(*(_bucket(end, buckets) for end in ends))


def _bucket(moment: Column, buckets: Buckets) -> Column:
    """Returns the number of the bucket that a moment falls into, without rounding."""
    width = F.lit(buckets.width)
    return F.call_function("div", moment - F.pmod(moment, width), width)
