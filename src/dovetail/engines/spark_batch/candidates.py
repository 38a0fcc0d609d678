"""Finds the rows that meet: equalities, the rest of the condition, and lives.

Spark does it: with an equality as a sort-merge or hash join, without one by buckets of
time where lives are of limited length. The join condition never tells windows apart.

The end of the file looks at what is written: where keys alone say which rows are
candidates, which terms look at one side, and which columns anybody asks for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import assert_never

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import expression, schema, spec
from dovetail.engines.spark import values
from dovetail.engines.spark_batch.arrivals import PLACE
from dovetail.engines.spark_batch.lives import BIRTH, DEATH, SINCE, UNTIL, Living
from dovetail.kernels.arrays.names import reserved
from dovetail.plan import batch

BUCKET = reserved("bucket")
HERE = reserved("here")
# What a strategy says of the right side: that it fits into memory, or how to find it.
Optional = spec.OptionalPrefix | spec.OptionalEqual
_HINTS = {
    spec.Strategy.LOOKUP: "broadcast",
    spec.Strategy.MANY_LOOKUP: "broadcast",
    spec.Strategy.ALL: "broadcast",
    spec.Strategy.HASH: "shuffle_hash",
    spec.Strategy.SORT_MERGE: "merge",
}


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two living sides and the condition under which their rows meet.

    `join` is that of the plan, without the picks that have been decided before.
    Where `knows_row_time` is false, nobody asks when a semi join's row has first met.
    `failure` is said where a limit fails.
    """

    plan: batch.BatchPlan
    join: spec.JoinSpec
    sides: Mapping[spec.Hand, Living]
    knows_row_time: bool
    failure: str = ""

    def joined(self, kept: spec.Hand, how: str) -> DataFrame:
        """Returns Spark's join, the kept hand first; columns are `l.x` and `r.x`.

        Every row of the kept hand is there once before the join, so `left_outer`,
        `left_semi` and `left_anti` are right. In a `full_outer` both must be: that one
        cannot be done with buckets.
        """
        return self._joined(kept, how, [*self._candidate_terms(), *self.match_terms()])

    def candidates(
        self, kept: spec.Hand, how: str, more: Iterable[Column]
    ) -> DataFrame:
        """Returns Spark's join of left rows with all that the picks look at.

        More terms may say what the picks look at no further.
        """
        terms = [*self._candidate_terms()]
        # A pair without the first optional equality shares nothing.
        terms += [next(_elements(first)) for first in self.join.picks.optional[:1]]
        return self._joined(kept, how, [*terms, *more])

    @property
    def key(self) -> list[Column]:
        """Returns the left side of the equalities by which candidates are found."""
        return [F.expr(equality.left.text) for equality in self.join.counted]

    @property
    def lives_often(self) -> bool:
        """Tells whether a pair can meet more than once."""
        return self.sides[spec.Hand.LEFT].seat.lives_often

    def _joined(self, kept: spec.Hand, how: str, terms: Iterable[Column]) -> DataFrame:
        """Returns Spark's join under all of the terms, the kept hand first."""
        first = self._bucketed(kept, is_copied=False)
        second = self._bucketed(kept.other, is_copied=True)
        return first.join(second, reduce(Column.__and__, terms, values.yes()), how)

    def frame(self, hand: spec.Hand) -> DataFrame:
        """Returns the rows of a hand under its letter, marked as being there."""
        return self.sides[hand].frame.withColumn(HERE, values.yes()).alias(hand.letter)

    def _bucketed(self, hand: spec.Hand, *, is_copied: bool) -> DataFrame:
        """Returns the rows of a hand for a join, copied into buckets where needed.

        A row that is not copied stands where it is born. A copied one stands in every
        bucket in which a row of the other hand can be born to meet it.
        """
        frame = self.frame(hand)
        match self.plan.buckets:
            case batch.Buckets() as buckets if is_copied:
                # An empty life meets nobody, and `sequence` would count backwards.
                frame = frame.where(F.col(BIRTH) < F.col(DEATH))
                ends = F.col(BIRTH) - buckets.reach(hand.other) + 1, F.col(DEATH) - 1
                inside = F.sequence(*(_bucket(end, buckets) for end in ends))
                frame = frame.withColumn(BUCKET, F.explode(inside))
            case batch.Buckets() as buckets:
                frame = frame.withColumn(BUCKET, _bucket(F.col(BIRTH), buckets))
            case batch.NoBuckets():
                pass
        found = frame.alias(hand.letter)
        hint = _HINTS.get(self.join.picks.strategy, "")
        return found.hint(hint) if hint and hand is spec.Hand.RIGHT else found

    def match_terms(self) -> Iterator[Column]:
        """Gives what a candidate must fulfil besides, to match."""
        for equality in self.join.hard:
            if equality not in self.join.counted:
                yield _equal(equality)
        yield values.condition(self.join.soft.text)

    def _candidate_terms(self) -> Iterator[Column]:
        """Gives the terms that all hold for a left row and a candidate of it."""
        if self.join.picks.left_condition != expression.ALWAYS:
            yield values.condition(self.join.picks.left_condition.text)
        yield from map(_equal, self.join.counted)
        if self.lives_often:
            # Windows are told apart by their ends alone.
            yield side_column(spec.Hand.LEFT, BIRTH) == side_column(
                spec.Hand.RIGHT, BIRTH
            )
        # Two lives overlap where none is empty and each starts before the other ends.
        limited = [hand for hand in spec.HANDS if self.sides[hand].may_miss]
        for hand in limited:
            yield side_column(hand, BIRTH) < side_column(hand, DEATH)
            if hand.other in limited and not self.lives_often:
                yield side_column(hand, BIRTH) < side_column(hand.other, DEATH)
        met = [
            (side_column(hand, SINCE) < side_column(hand.other, PLACE))
            & (side_column(hand.other, PLACE) < side_column(hand, UNTIL))
            for hand in spec.HANDS
            if self.sides[hand].seat.is_met_on_arrival
        ]
        # Of two sides without times either row may be the one that comes.
        if met:
            yield reduce(Column.__or__, met)
        if isinstance(self.plan.buckets, batch.Buckets):
            yield side_column(spec.Hand.LEFT, BUCKET) == side_column(
                spec.Hand.RIGHT, BUCKET
            )

    @property
    def is_by_key(self) -> bool:
        """Tells whether rows of one key are all candidates, and no others are.

        So it is where the rows of a side are always there, and both sides of each
        equality have one type. Of other types, two right values that differ could both
        equal one left value.
        """
        seats = [self.sides[hand].seat for hand in spec.HANDS]
        if all(seat.is_timed for seat in seats) or any(
            isinstance(seat.window, spec.Latest) or seat.is_met_on_arrival
            for seat in seats
        ):
            return False
        kinds = []
        for hand in spec.HANDS:
            keys = (key.alias(f"key_{at}") for at, key in enumerate(self.keys(hand)))
            keyed = self.sides[hand].frame.alias(hand.letter).select(*keys)
            kinds.append([kind for _, kind in keyed.dtypes])
        return kinds[0] == kinds[1]

    def keys(self, hand: spec.Hand) -> list[Column]:
        """Returns one hand's side of every equality, over its row under its letter."""
        return [
            F.expr((one.left if hand is spec.Hand.LEFT else one.right).text)
            for one in self.join.hard
        ]

    def may_meet(self, hand: spec.Hand) -> Column:
        """Returns whether a row can meet anyone: no part of key or time is missing."""
        terms = [key.isNotNull() for key in self.keys(hand)]
        if self.sides[hand].may_miss:
            terms.append(side_column(hand, BIRTH) < side_column(hand, DEATH))
        return reduce(Column.__and__, terms, values.yes())

    def own_terms(self, hand: spec.Hand) -> Iterator[Column]:
        """Gives the terms of the condition that look at rows of one hand alone.

        They are asked before any rows meet; what looks at no row is asked on the left.

            l.price < r.price and r.valid and l.n > 3     left l.n > 3, right r.valid
        """
        schemas = (self.sides[hand].seat.source.schema for hand in spec.HANDS)
        whole = expression.parse(self.join.soft, expression.Scope.pair(*schemas))
        for term in expression.conjuncts(whole):
            letters = {letter for letter, _ in expression.references(term)}
            if (letters or {spec.Hand.LEFT.letter}) == {hand.letter}:
                yield values.is_true(F.expr(term.text))


def side_column(hand: spec.Hand, name: str) -> Column:
    """Returns a column of one hand in the joined rows."""
    return F.col(f"{hand.letter}.{schema.quoted(name)}")


def shared(optional: Sequence[Optional]) -> Column:
    """Returns how many elements a pair shares, from the first without a gap.

    The optional list is a row of elements: every letter of a prefix, every equality.

        left "abcd"    right "abxx" shares 2, "abcx" 3, "xbcd" nothing: no candidate
    """
    elements = [same for part in optional for same in _elements(part)]
    count = F.lit(len(elements))
    for number, same in reversed([*enumerate(elements)]):
        count = F.when(same, count).otherwise(F.lit(number))
    return count


def _elements(part: Optional) -> Iterator[Column]:
    """Gives whether each element of an optional equality is the same."""
    match part:
        case spec.OptionalEqual(equality):
            yield _equal(equality)
        case spec.OptionalPrefix(left, right, width):
            # A shorter text is filled up with blanks, so that blanks are shared too.
            texts = [
                F.rpad(F.expr(text.text).cast("string"), width, " ")
                for text in (left, right)
            ]
            for place in range(1, width + 1):
                one, other = (F.substring(text, place, 1) for text in texts)
                yield one == other
        case _:
            assert_never(part)


def _equal(equality: spec.Equality) -> Column:
    """Returns whether an equality holds."""
    return F.expr(equality.left.text) == F.expr(equality.right.text)


def _bucket(moment: Column, buckets: batch.Buckets) -> Column:
    """Returns the number of the bucket that a moment falls into, without rounding."""
    width = F.lit(buckets.width)
    return F.call_function("div", moment - F.pmod(moment, width), width)


def mentions(join: spec.JoinSpec, name: str) -> bool:
    """Tells whether an output may use a name; a text in quotes counts as a use."""
    word = re.compile(rf"\b{name}\b", re.IGNORECASE)
    return any(word.search(one.text) for one in _written(join))


def mentioned(
    join: spec.JoinSpec, hand: spec.Hand, names: tuple[str, ...]
) -> list[str]:
    """Returns the columns of a side that an output may use; no other is carried along.

    All are where it may use a whole row, or where the columns are not written out. It
    goes by letters, wherever they stand, in quotes too: rather one column too many than
    one too few.
    """
    return _used(join, hand, names, _written(join))


def moved(join: spec.JoinSpec, hand: spec.Hand, names: tuple[str, ...]) -> list[str]:
    """Returns the columns of a side that a join moves: for its condition as well."""
    terms = [it for one in join.hard for it in (one.left, one.right)]
    return _used(join, hand, names, [*_written(join), *terms, join.soft])


def _used(
    join: spec.JoinSpec,
    hand: spec.Hand,
    names: tuple[str, ...],
    written: Iterable[expression.Expression],
) -> list[str]:
    """Returns the columns of a side that expressions use."""
    # The letter of the side, and where a point follows the name behind it: a letter by
    # itself is the whole row, and is found as an empty name.
    used = re.compile(
        rf"\b{hand.letter}\b`?(?:\s*\.\s*({schema.QUOTED}|\w+))?", re.IGNORECASE
    )
    found = {
        schema.unquoted(column).lower()
        for one in written
        for column in used.findall(one.text)
    }
    if not isinstance(join.select, spec.Columns) or "" in found:
        return [*names]
    return [name for name in names if name.lower() in found]


def _written(join: spec.JoinSpec) -> Iterator[expression.Expression]:
    """Gives every expression over the lines of a join."""
    yield join.picks.skip_when
    shown = join.select.columns if isinstance(join.select, spec.Columns) else ()
    yield from (text for _, text in (*shown, *join.picks.stand_in))
