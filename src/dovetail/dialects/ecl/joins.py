"""JOIN of two data sets: a JoinSpec with what stands around it.

A constant is a condition, too, of which all right rows are candidates of a left row:

    JOIN(few, many, TRUE, LIMIT(9, SKIP), LEFT OUTER)

So its LIMIT is one of the right rows: more of them than that, and there are none. The
left rows are not over a limit then. They have no partner.

Sliding joins: with #OPTION('slidingJoins') a range stands for an equality.

    LEFT.x BETWEEN RIGHT.low AND RIGHT.high
    LEFT.x >= RIGHT.low AND LEFT.x <= RIGHT.high
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.dialects.ecl import (
    conditions,
    datasets,
    options,
    syntax,
    trees,
    types,
    values,
)
from dovetail.dialects.ecl.context import Context, refusal
from dovetail.dialects.ecl.indexes import check_index
from dovetail.dialects.ecl.names import is_transform
from dovetail.dialects.ecl.records import default_record
from dovetail.dialects.ecl.totals import Gathered, absent_row, widened
from dovetail.schema import AtomicType
from dovetail.spec import program


@dataclass(frozen=True, slots=True)
class Demands:
    """What pairs of rows must fulfil: equalities, and the rest.

    `left_only` is what a keyed join asks of the left row before it looks for others,
    `of_index` what an index asks of its rows before they are counted.
    """

    hard: tuple[conditions.Hard, ...]
    soft: trees.Node
    left_only: trees.Node
    of_index: tuple[trees.Node, ...] = ()


@dataclass(frozen=True, slots=True)
class Parts:
    """A JOIN taken apart: its sides, its condition, its transform and its options.

    `totals` are the values of whole data sets that stand beside each side's rows.
    """

    node: syntax.Call
    context: Context
    left: values.DatasetValue
    right: values.DatasetValue
    given: options.Options
    pieces: options.Pieces
    made: values.Made
    totals: tuple[list[Gathered], list[Gathered]]

    @property
    def keeps_groups(self) -> bool:
        """Tells whether a group of left rows gives a group of the join."""
        # Left rows that keep their order stay in their groups; where a sort-merge join
        # or SMART moves them, what comes out has no groups.
        stays = self.left.is_grouped and self.given.strategy.keeps_order
        return stays or self.given.has("group")

    @property
    def grouped_left(self) -> spec.Step:
        """Returns the left rows; GROUP(fields) sorts and groups what comes out."""
        for call in self.given.calls("group"):
            by = datasets.orders(self.context, self.left.record, call.arguments)
            return datasets.sorted_groups(self.left.step, tuple(by))
        return self.left.step

    @property
    def pointer(self) -> spec.Indexed | program.Alone:
        """Returns the index that KEYED(index) names beside the right side, if any."""
        keyed = (
            self.context.dataset(call.arguments[0]).step
            for call in self.given.calls("keyed")
        )
        indexed = (step for step in keyed if isinstance(step, spec.Indexed))
        return next(indexed, program.Alone())

    @property
    def demands(self) -> Demands:
        """Returns what the condition says; without an index all equalities are hard.

        Of an index only its keys are asked, and where terms are marked KEYED those
        alone.
        """
        index, is_keyed = self.right.index, self.given.is_keyed
        equalities = [one for one in self.pieces if isinstance(one, conditions.Hard)]
        hard = equalities
        if is_keyed and isinstance(index, values.Index):
            has_marks = any(one.is_keyed for one in equalities)
            hard = [
                one
                for one in equalities
                if one.fields <= set(index.keys) and (one.is_keyed or not has_marks)
            ]
        # What the index cannot look up is asked of the rows that it gives: an equality
        # of a payload field is a filter behind it, which LIMIT and ATMOST do not see.
        soft = [one.holds for one in equalities if one not in hard]
        first: list[trees.Node] = []
        of_index: list[trees.Node] = []
        keys = index.keys if isinstance(index, values.Index) else ()
        for one in self.pieces:
            if isinstance(one, conditions.Soft):
                if is_keyed and one.is_answered_by(keys):
                    of_index.append(one.holds)
                    continue
                # Asked of the left row before it looks anything up: where it fails
                # there are no candidates to be counted.
                of_left = is_keyed and one.hands == {spec.Hand.LEFT}
                (first if of_left else soft).append(one.holds)
        known = trees.all_of(soft), trees.all_of(first), tuple(of_index)
        return Demands(tuple(hard), *known)


def read_join(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns the rows of JOIN(left, right, condition, ..)."""
    # Options follow the transform, so what stands there says whether there is one.
    transform, given = split(context, [*node.arguments[3:]])
    parts = parts_of(context, node, given, kind=spec.Kind.INNER)
    if transform:
        parts = replace(parts, made=parts.context.made(transform[0]))
    return join_step(*judged(parts))


def split(
    context: Context, rest: list[syntax.Node]
) -> tuple[tuple[syntax.Node, ...], list[syntax.Node]]:
    """Returns the transform, where there is one, and the options behind it."""
    # JOIN(.., , KEEP(1)): a transform that is left out has its place.
    if rest and isinstance(rest[0], syntax.Omitted):
        return (), rest[1:]
    if rest and is_transform(context, rest[0]):
        return (rest[0],), rest[1:]
    return (), rest


def parts_of(
    context: Context, node: syntax.Call, given: list[syntax.Node], *, kind: spec.Kind
) -> Parts:
    """Returns a join taken apart, for now without a transform of its own.

    `given` are its options, `kind` is its type where none of them says another.
    """
    left, right = (context.dataset(one) for one in node.arguments[:2])
    # LEFT is `l` and RIGHT is `r` in all that is written of a join.
    rows = datasets.row_at(left.record), datasets.row_at(right.record, "r")
    of_rows = context.of_sides(dict(zip(("left", "right"), rows, strict=True)))
    # Only a transform counts: by the time of a condition nothing has been counted.
    inside = of_rows.with_sides({"counter": datasets.COUNTER})
    found = options.read_options(given, kind)
    right = _by_index(inside, found, right)
    # With an INDEX on the right a plain JOIN is a keyed one. A type that no keyed join
    # has, or another way to find partners, makes it silently a join like others.
    found.is_keyed = found.has("keyed") or (
        isinstance(right.index, values.Index)
        and found.kind in {spec.Kind.INNER, spec.Kind.LEFT_OUTER, spec.Kind.LEFT_ONLY}
        and found.strategy in {spec.Strategy.DEFAULT, spec.Strategy.SORT_MERGE}
    )
    totals: tuple[list[Gathered], list[Gathered]] = ([], [])
    pieces = conditions.pieces(of_rows.with_totals(*totals), node.arguments[2])
    # Beside a row that is not there no such value stands.
    if not found.kind.preserves(spec.Hand.RIGHT):
        seen = 1 if found.kind.preserves(spec.Hand.LEFT) else 2
        inside = inside.with_totals(*totals[:seen])
    made = default_record(*rows, found.kind)
    return Parts(node, inside, left, right, found, pieces, made, totals)


def _by_index(
    context: Context, given: options.Options, right: values.DatasetValue
) -> values.DatasetValue:
    """Returns the right rows in the order of the index that KEYED names."""
    for call in given.calls("keyed"):
        if not call.arguments:
            raise refusal(call, "KEYED of nothing", "the name of an INDEX")
        index = context.dataset(call.arguments[0]).index
        if not isinstance(index, values.Index):
            raise refusal(call, "KEYED with no INDEX", "the name of an INDEX")
        known = {one.word for one in right.record.fields}
        keys = [syntax.Name(call.place, key) for key in index.keys if key in known]
        by = tuple(datasets.orders(context, right.record, keys))
        return replace(right, step=spec.Ordered(right.step, by), index=index)
    if given.has("keyed") and not isinstance(right.index, values.Index):
        raise refusal(
            given.found["keyed"],
            "KEYED beside a right side that is no INDEX",
            "an INDEX on the right, or KEYED(index)",
        )
    return right


def judged(parts: Parts) -> tuple[Parts, Demands, options.Counts]:
    """Returns a join with what it must fulfil and count, judged as a whole."""
    context, given, demands = parts.context, parts.given, parts.demands
    check_index(context, parts.node.arguments[2], parts.right)
    # The order is that of refusals: the first mistake of a text is told.
    skew = options.skew_of(context, given)
    need_equality(context, parts.node, given, pieces=parts.pieces, hard=demands.hard)
    counts = options.counts_of(context, given, parts.pieces, made=parts.made)
    parts, counts = _limited(parts, counts, demands)
    lines = (*counts.lines, *options.skew_lines(skew))
    left, right = (
        replace(side, step=widened(side, totals))
        for side, totals in zip((parts.left, parts.right), parts.totals, strict=True)
    )
    if demands.of_index:
        of_row = trees.on_side(trees.all_of(demands.of_index), "l")
        right = replace(right, step=spec.Filtered(right.step, trees.expressed(of_row)))
    wide = replace(parts, left=left, right=right)
    return wide, demands, replace(counts, lines=lines, skew=skew)


def need_equality(
    context: Context,
    node: syntax.Call,
    given: options.Options,
    *,
    pieces: options.Pieces,
    hard: Sequence[conditions.Hard],
) -> None:
    """Refuses a condition without an equality, unless ALL or a constant allows it."""
    has_prefix = any(isinstance(one, conditions.Prefix) for one in pieces)
    if hard or has_prefix or given.has("all"):
        return
    if is_constant(pieces):
        # Each left row meets every right row, or none does.
        told = f"{_title(context, given, node)}: a condition that is a constant"
        context.world.remarks.append(f"{told} means ALL")
        return
    may_slide = given.kind in {spec.Kind.INNER, spec.Kind.LEFT_OUTER}
    is_counted = given.has("atmost", "limit")
    slides = context.world.options["slidingjoins"] != "0"
    if not (slides and may_slide and not is_counted and _has_range(pieces)):
        raise refusal(
            node.arguments[2],
            "JOIN contains no equality conditions - use ,ALL to allow",
            "LEFT.field = RIGHT.field in the condition, or the option ALL",
        )


def is_constant(pieces: options.Pieces) -> bool:
    """Tells whether a condition looks at no row."""
    return all(isinstance(one, conditions.Soft) and not one.hands for one in pieces)


def _title(context: Context, given: options.Options, node: syntax.Call) -> str:
    """Returns the name of a join and the line where it stands."""
    label = f"{context.label} := " if context.label else ""
    kind = given.kind.value.replace("_", " ")
    return f"{label}{node.word.upper()} in line {node.place.line}, {kind}"


def _has_range(pieces: options.Pieces) -> bool:
    """Tells whether something lies between two bounds, in one term or in two."""
    lesser: list[syntax.Node] = []
    greater: list[syntax.Node] = []
    for one in pieces:
        match one:
            case conditions.Soft(syntax.Operation(sign="BETWEEN")):
                return True
            case conditions.Soft(syntax.Operation(_, "<=", (low, high))) | (
                conditions.Soft(syntax.Operation(_, ">=", (high, low)))
            ):
                lesser.append(low)
                greater.append(high)
            case _:
                pass
    # The same value is the lesser in one term and the greater in another.
    return any(one in lesser for one in greater)


def _limited(
    parts: Parts, counts: options.Counts, demands: Demands
) -> tuple[Parts, options.Counts]:
    """Returns the join with a LIMIT that it has by itself, or of its right rows."""
    given = parts.given
    most = int(parts.context.world.options["defaultimplicitkeyedjoinlimit"])
    # KEEP bounds what the index gives, unless a soft condition has to look at more.
    is_counted = given.has("limit", "atmost") or (
        given.has("keep") and demands.soft == trees.TRUE
    )
    # Keyed joins alone fail beyond 10000 candidates of a row (#OPTION says another
    # number, 0 for none); the document promises it of every join, no engine does it.
    if given.is_keyed and given.kind is not spec.Kind.LEFT_ONLY and not is_counted:
        if not most:
            return parts, counts
        line = ("(no LIMIT)", f"a keyed join fails at more than {most} candidates")
        picks = replace(counts.picks, limit=spec.Limit(most, spec.OnExceed.FAIL))
        return parts, replace(counts, picks=picks, lines=(*counts.lines, line))
    match counts.picks.limit:
        case spec.Limit(most, spec.OnExceed.SKIP) if is_constant(parts.pieces):
            # COUNT(right) <= n, as the program could have written it.
            place = parts.node.place
            word = syntax.Name(place, "count")
            count = syntax.Call(place, word, (parts.node.arguments[1],))
            number = syntax.Number(place, str(most))
            are_few = syntax.Operation(place, "<=", (count, number))
            right = datasets.filtered(parts.context, parts.right, (are_few,))
            line = ("LIMIT", f"of more than {most} right rows there are none")
            picks = replace(counts.picks, limit=spec.Unlimited())
            own = replace(counts, picks=picks, lines=(line,))
            return replace(parts, right=right), own
        case _:
            return parts, counts


# Blanks in it: no field of a program can be named so.
_SKIPPED = "skipped by the transform"


def join_step(
    parts: Parts, demands: Demands, counts: options.Counts
) -> values.DatasetValue:
    """Returns the step of a join."""
    given, hides = parts.given, counts.hides_skips and parts.made.skip != counts.skip
    made, counts = _marked(parts.made, counts) if hides else (parts.made, counts)
    picks = replace(
        counts.picks,
        keep=options.keep_of(parts.context, given),
        strategy=given.strategy,
        left_condition=trees.expressed(demands.left_only),
        skip_when=trees.expressed(made.skip),
    )
    join = spec.JoinSpec(
        spec.Side(spec.Named(spec.LEFT)),
        spec.Side(spec.Named(spec.RIGHT)),
        given.kind,
        spec.Clock.BATCH,
        tuple(one.equality for one in demands.hard),
        trees.expressed(demands.soft),
        trees.select(made.columns),
        absent_left=absent_row(parts.left.record),
        absent_right=absent_row(parts.right.record),
        picks=picks,
    )
    joined = spec.Joined(
        parts.grouped_left,
        parts.right.step,
        join,
        made.record.schema,
        _in_words(parts, join, counts),
        counts.failure,
        keeps_groups=parts.keeps_groups,
        skew=counts.skew,
        pointer=parts.pointer,
    )
    found = values.DatasetValue(joined, made.record, is_grouped=parts.keeps_groups)
    if not hides:
        return found
    is_skipped = trees.column(_SKIPPED, AtomicType.BOOLEAN)
    kept = spec.Filtered(joined, trees.expressed(trees.sql("NOT x", x=is_skipped)))
    record = parts.made.record
    step = spec.Projected(kept, record.schema, trees.select(record.columns()))
    return replace(found, step=step, record=record)


def _marked(
    made: values.Made, counts: options.Counts
) -> tuple[values.Made, options.Counts]:
    """Returns a join whose rows say themselves whether they are skipped.

    Where a LIMIT has a transform of its own, rows without a partner are skipped after
    the join: there the row of the LIMIT says itself whether it is.
    """
    record = types.RecordType(
        (*made.record.fields, types.Field(_SKIPPED, types.BOOLEAN))
    )
    columns = (*made.columns, (_SKIPPED, made.skip))
    both = (trees.of_pair("matched_left"), trees.of_pair("matched_right"))
    skip = trees.all_of((*both, made.skip))
    limit = counts.picks.limit
    if isinstance(limit, spec.Limit):
        instead = (*limit.transform, (_SKIPPED, trees.expressed(counts.skip)))
        picks = replace(counts.picks, limit=replace(limit, transform=instead))
        counts = replace(counts, picks=picks)
    return values.Made(record, columns, skip), counts


def _in_words(parts: Parts, join: spec.JoinSpec, counts: options.Counts) -> spec.Told:
    """Returns a join in words."""
    hard = ", ".join(f"{one.left} = {one.right}" for one in join.hard) or "nothing"
    lines = [("hard", hard)]
    if join.soft.text != "true":
        lines.append(("soft", join.soft.text))
    lines += [*parts.given.lines, *counts.lines]
    if isinstance(join.picks.keep, spec.Keep):
        kept = f"the first {join.picks.keep.count} rows of each left row come out"
        lines.append(("KEEP", kept))
    title = _title(parts.context, parts.given, parts.node)
    return spec.Told(title, tuple(lines))
