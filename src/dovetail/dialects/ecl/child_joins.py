"""JOIN of the rows inside a row: lists, so that it is an expression of the row.

    JOIN(LEFT.pets, toys, LEFT.id = RIGHT.pet, TRANSFORM(..), LEFT OUTER)

Each left row has its partners in a list; right rows that meet none come behind them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.dialects.ecl import (
    aggregates,
    conditions,
    datasets,
    joins,
    options,
    syntax,
    trees,
    types,
    values,
)
from dovetail.dialects.ecl.context import Context, refusal
from dovetail.dialects.ecl.records import default_record
from dovetail.dialects.ecl.trees import sql
from dovetail.expression.functions.logic import REQUIRED
from dovetail.schema import AtomicType

_AS_ROWS = "NORMALIZE makes rows of them, which JOIN joins with any option"


def read_child_join(
    context: Context, node: syntax.Call, rows: Sequence[values.RowsValue]
) -> values.RowsValue:
    """Returns what comes of the rows of two lists."""
    transform, rest = joins.split(context, [*node.arguments[3:]])
    given = options.read_options(rest, spec.Kind.INNER)
    # A SKEW is looked at, though in a row there are no parts that it could be of.
    options.skew_of(context, given)
    for name in ("keyed", "group"):
        if given.has(name):
            told = f"{name.upper()} in a JOIN of child rows"
            raise refusal(given.found[name], told, "KEEP or LOOKUP", _AS_ROWS)
    item, other = (trees.variable("child", it.record.struct) for it in rows)
    left, right = (
        values.RowValue(it.record, tree)
        for it, tree in zip(rows, (item, other), strict=True)
    )
    both = _Both(context, given.kind, transform, left, right)
    join = _Joined(both, given, item, other, _meeting(both, node, given))
    one, many = (aggregates.all_rows(it).tree for it in rows)
    match join.meeting:
        case _Meeting(is_constant=True, limit=spec.Limit(most, spec.OnExceed.SKIP)):
            # As in a join of data sets: of more right rows than that there are none.
            none = types.blank(types.TableType(right.record))
            many = sql(f"IF(size(x) > {most}, none, x)", x=many, none=none)
    lists = trees.struct(("one", one), ("other", many))
    return values.RowsValue.of(both.record, aggregates.once(lists, join.given_by))


@dataclass(frozen=True, slots=True)
class _Both:
    """The two rows of a pair, and what a transform makes of them."""

    context: Context
    kind: spec.Kind
    transform: tuple[syntax.Node, ...]
    left: values.RowValue
    right: values.RowValue

    @property
    def record(self) -> types.RecordType:
        """Returns the record of what comes out."""
        return self.made(trees.literal(1)).record

    def without(self, hand: spec.Hand) -> _Both:
        """Returns the rows where one of them is not there."""
        if hand is spec.Hand.LEFT:
            record = self.left.record
            return replace(self, left=values.RowValue(record, record.absent))
        record = self.right.record
        return replace(self, right=values.RowValue(record, record.absent))

    def inside(self, count: trees.Node) -> Context:
        """Returns what a transform sees of the rows, and how many have come."""
        met = tuple(
            (row, trees.TRUE if isinstance(row.tree, trees.Variable) else trees.FALSE)
            for row in (self.left, self.right)
        )
        sides: dict[str, values.Value] = {"left": self.left, "right": self.right}
        sides["counter"] = types.whole(count)
        return replace(self.context, met=met).with_sides(sides)

    def made(self, count: trees.Node) -> values.Made:
        """Returns what comes of the rows."""
        for one in self.transform:
            return self.inside(count).made(one)
        return default_record(self.left, self.right, self.kind)


@dataclass(frozen=True, slots=True)
class _Meeting:
    """What says whether two rows meet, and what of it is counted.

    `counted` is what ATMOST counts.
    """

    hard: trees.Node
    soft: trees.Node
    counted: trees.Node
    counts: options.Counts
    is_constant: bool

    @property
    def limit(self) -> spec.Limit | spec.Unlimited:
        """Returns how many right rows a left one may have as candidates."""
        return self.counts.picks.limit


def _meeting(both: _Both, node: syntax.Call, given: options.Options) -> _Meeting:
    """Returns the condition of a join taken apart, and its counts."""
    condition, context = node.arguments[2], both.context
    rows = (both.left.record, "l"), (both.right.record, "r")
    of_sides = (datasets.row_at(record, letter) for record, letter in rows)
    sided = context.with_sides(dict(zip(("left", "right"), of_sides, strict=True)))
    pieces = conditions.pieces(sided, condition)
    for one in pieces:
        if isinstance(one, conditions.Prefix):
            told = "[n..*] in a JOIN of child rows"
            raise refusal(one.node, told, "whole fields", _AS_ROWS)
    hard = [one for one in pieces if isinstance(one, conditions.Hard)]
    joins.need_equality(context, node, given, pieces=pieces, hard=hard)
    # What is counted is told of the sides, the row of a LIMIT is made of a row alone.
    alone = both.without(spec.Hand.RIGHT).inside(trees.literal(0))
    seen = sided if given.has("atmost") else alone
    made = both.made(trees.literal(1))
    counts = options.counts_of(seen, given, pieces, made=made)
    match counts.picks:
        case spec.Picks(limit=spec.Limit(on_exceed=spec.OnExceed.FAIL)):
            context.world.may_fail_inside, counted = True, hard
        case spec.Picks(at_most=spec.AtMost(counted=tuple() as named)):
            counted = [one for one in hard if one.equality in named]
        case _:
            counted = hard
    # The same pieces, of the rows of the lists.
    own = conditions.pieces(
        context.with_sides({"left": both.left, "right": both.right}), condition
    )
    holds = [
        (one, it.holds)
        for one, it in zip(pieces, own, strict=True)
        if not isinstance(it, conditions.Prefix)
    ]
    return _Meeting(
        trees.all_of(it for one, it in holds if one in hard),
        trees.all_of(it for one, it in holds if one not in hard),
        trees.all_of(it for one, it in holds if one in counted),
        counts,
        joins.is_constant(pieces),
    )


@dataclass(frozen=True, slots=True)
class _Joined:
    """A join of two lists, `item` a row of the one, `other` a row of the other."""

    both: _Both
    given: options.Options
    item: trees.Variable
    other: trees.Variable
    meeting: _Meeting

    @property
    def _none(self) -> trees.Node:
        """Returns no rows."""
        return types.blank(types.TableType(self.both.record))

    def given_by(self, lists: trees.Node) -> trees.Node:
        """Returns what comes of both lists."""
        one, other = (sql(f"x.{name}", x=lists) for name in ("one", "other"))
        each = trees.function(self._of_left(other), self.item)
        found = sql("flatten(transform(x, each))", x=one, each=each)
        if not self.both.kind.preserves(spec.Hand.RIGHT):
            return found
        meeting, limit = self.meeting, self.meeting.limit
        alone = _chosen(other, sql("NOT x", x=self._meets(one)), self.other)
        if isinstance(limit, spec.Limit):
            # Right rows that too many of are candidates have met the left row.
            more = self._is_over(meeting.hard, limit.count, other)
            over = _chosen(one, more, self.item)

            def without(over: trees.Node) -> trees.Node:
                each = trees.function(meeting.hard, self.item)
                is_free = sql("NOT exists(x, each)", x=over, each=each)
                return _chosen(alone, is_free, self.other)

            alone = aggregates.once(over, without)
        made = self.both.without(spec.Hand.LEFT).made(trees.literal(0))
        place = trees.variable("at", AtomicType.INT)
        behind = aggregates.made_of(alone, made, self.other, place)
        return sql("concat(x, y)", x=found, y=behind)

    def _meets(self, lefts: trees.Node) -> trees.Node:
        """Returns whether a right row meets one of some left ones."""
        meets = trees.all_of((self.meeting.hard, self.meeting.soft))
        return sql("exists(x, each)", x=lefts, each=trees.function(meets, self.item))

    def _is_over(
        self, condition: trees.Node, most: int, others: trees.Node
    ) -> trees.Node:
        """Returns whether more right rows than that fulfil a condition."""
        return sql(f"size(x) > {most}", x=_chosen(others, condition, self.other))

    def _of_left(self, others: trees.Node) -> trees.Node:
        """Returns what a left row gives."""
        meeting, at_most = self.meeting, self.meeting.counts.picks.at_most
        meets = trees.all_of((meeting.hard, meeting.soft))
        partners = _chosen(others, meets, self.other)
        if isinstance(at_most, spec.AtMost):
            over = self._is_over(meeting.counted, at_most.count, others)
            none = types.blank(types.TableType(self.both.right.record))
            partners = sql("IF(over, x, y)", over=over, x=none, y=partners)
        found = aggregates.once(partners, self._of_partners)
        if isinstance(meeting.limit, spec.Limit):
            limit, counts = meeting.limit, meeting.counts
            over = self._is_over(meeting.hard, limit.count, others)
            if limit.on_exceed is spec.OnExceed.FAIL:
                none = sql("IF(over, NULL, y)", over=over, y=found)
                return trees.build(
                    REQUIRED, none, trees.literal(_failed(counts, limit))
                )
            # Without ONFAIL there is no row in its place.
            skip = counts.skip if counts.instead else trees.TRUE
            made = values.Made(self.both.record, counts.instead, skip)
            instead = self._row(made)
            found = sql("IF(over, x, y)", over=over, x=instead, y=found)
        return found

    def _row(self, made: values.Made) -> trees.Node:
        """Returns what is made as a list of one row, of none where it is skipped."""
        if made.skip == trees.TRUE:
            return self._none
        row = trees.array((trees.struct(*made.columns),), made.record.struct)
        return aggregates.unless(made.skip, row, self._none)

    def _of_partners(self, partners: trees.Node) -> trees.Node:
        """Returns what a left row and its partners give; KEEP leaves the first."""
        kind, found = self.both.kind, self._none
        if kind.gives_pairs:
            place = trees.variable("at", AtomicType.INT)
            both = self.both.made(sql("x + 1L", x=place))
            found = aggregates.made_of(partners, both, self.other, place)
            keep = options.keep_of(self.both.context, self.given)
            most = keep.count if isinstance(keep, spec.Keep) else 0
            most = 1 if self.given.is_single else most
            found = sql(f"slice(x, 1, {most})", x=found) if most else found
        if not kind.preserves(spec.Hand.LEFT):
            return found
        alone = self.both.without(spec.Hand.RIGHT).made(trees.literal(0))
        row = self._row(alone)
        return sql("IF(size(x) = 0, row, found)", x=partners, row=row, found=found)


def _failed(counts: options.Counts, limit: spec.Limit) -> str:
    """Returns why a job fails, in the words that Spark's errors are told by."""
    told = (
        f"a left row has {limit.count + 1} candidates; expected at most {limit.count}"
    )
    if isinstance(counts.failure, spec.Failure):
        told += f"; the program says \u201c{counts.failure.text}\u201d"
    return told


def _chosen(
    rows: trees.Node, condition: trees.Node, item: trees.Variable
) -> trees.Node:
    """Returns the rows of a list of which a condition holds."""
    return sql("filter(x, kept)", x=rows, kept=trees.function(condition, item))
