"""JOIN of two data sets: a JoinSpec with what stands around it.

A constant is a condition, too, of which all right rows are candidates of a left row:

    JOIN(few, many, TRUE, LIMIT(9, SKIP), LEFT OUTER)

So its LIMIT is one of the right rows: more of them than that, and there are none. The
left rows are not over a limit then. They have no partner.

SKEW(limit[, target]) has two shares from 0 to 1, THRESHOLD(size) the bytes of a part up
to which nobody minds. Where a join is made in one process there are no parts.

Sliding joins: with #OPTION('slidingJoins') a range stands for an equality.

LEFT.x BETWEEN RIGHT.low AND RIGHT.high
LEFT.x >= RIGHT.low AND LEFT.x <= RIGHT.high
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from decimal import Decimal

from dovetail import spec
from dovetail.dialects.ecl import datasets, syntax, types, values
from dovetail.dialects.ecl.conditions import Hard, Piece, Prefix, Soft, pieces
from dovetail.dialects.ecl.context import Context, refusal
from dovetail.dialects.ecl.indexes import check_index
from dovetail.dialects.ecl.names import is_transform
from dovetail.dialects.ecl.options import Counts, Options, counts_of, read_options, told
from dovetail.dialects.ecl.records import default_record
from dovetail.dialects.ecl.totals import Gathered, widened
from dovetail.expression import BARE, Expression, Scope, compiled
from dovetail.schema import quoted, shown
from dovetail.spec import program

Conditions = tuple[tuple[spec.Equality, ...], str, str]


@dataclass(frozen=True, slots=True)
class Parts:
    """A JOIN taken apart: its sides, its condition, its transform and its options."""

    node: syntax.Call
    context: Context
    left: values.DatasetValue
    right: values.DatasetValue
    options: Options
    pieces: tuple[Piece, ...]
    made: values.Made
    totals: tuple[list[Gathered], list[Gathered]]

    @property
    def is_keyed(self) -> bool:
        """Tells whether the right side is read by an index."""
        return self.options.is_keyed

    @property
    def strategy(self) -> spec.Strategy:
        """Returns how partners are looked for."""
        return spec.Strategy.KEYED if self.is_keyed else self.options.strategy

    @property
    def title(self) -> str:
        """Returns the name of the join and the line where it stands."""
        label = f"{self.context.label} := " if self.context.label else ""
        kind = self.options.kind.value.replace("_", " ")
        word = self.node.word.upper()
        return f"{label}{word} in line {self.node.place.line}, {kind}"


def conditions_of(parts: Parts) -> Conditions:
    """Returns equalities, the rest, and what a keyed join asks of the left first."""
    found = [one for one in parts.pieces if isinstance(one, Hard)]
    hard = [one for one in found if _is_hard(parts, one)]
    soft = [
        f"({one.equality.left} = {one.equality.right})"
        for one in found
        if one not in hard
    ]
    first: list[str] = []
    for one in parts.pieces:
        if isinstance(one, Soft):
            of_left = parts.is_keyed and one.hands == {spec.Hand.LEFT}
            (first if of_left else soft).append(one.text)
    equalities = tuple(one.equality for one in hard)
    return equalities, " AND ".join(soft) or "true", " AND ".join(first) or "true"


def pointer_of(parts: Parts) -> program.Indexed | program.Alone:
    """Returns the index that KEYED(index) names beside the right side, if it does."""
    for call in parts.options.calls("keyed"):
        step = parts.context.dataset(call.arguments[0]).step
        if isinstance(step, program.Indexed):
            return step
    return program.Alone()


def _is_hard(parts: Parts, one: Hard) -> bool:
    """Tells whether an equality is hard; in a keyed join only one that the index has.

    Where terms are marked KEYED, the index is asked for those alone.
    """
    index = parts.right.index
    if not parts.is_keyed or not isinstance(index, values.Index):
        return True
    marks = any(isinstance(it, Hard) and it.is_keyed for it in parts.pieces)
    return one.fields <= set(index.keys) and (one.is_keyed or not marks)


_USUAL_LIMIT = 0.1


def skew_of(parts: Parts) -> spec.Skew:
    """Returns how unevenly the rows of a side may lie; without SKEW as they like."""
    _refuse_keyed(parts)
    skew = spec.Skew()
    if parts.options.has("skew"):
        skew = replace(skew, limit=_USUAL_LIMIT)
    for call in parts.options.calls("skew"):
        skew = replace(skew, limit=_limit(parts, call))
    for call in parts.options.calls("threshold"):
        size = parts.context.count(call.arguments[0])
        skew = replace(skew, threshold=size or spec.USUAL_THRESHOLD)
        if not parts.options.has("skew"):
            line = call.place.line
            _remark(parts, f"THRESHOLD in line {line} has no effect without SKEW")
    return skew


def told_skew(skew: spec.Skew) -> Iterator[tuple[str, str]]:
    """Gives when a skew fails the job."""
    if not skew.is_any:
        told = (
            f"on Spark at a skew of more than {skew.limit:g}, where the largest part "
            f"has more than {skew.threshold} bytes: each side's keys are counted for "
            "it; one process has no parts, there nothing is measured"
        )
        yield "fails", told


def _refuse_keyed(parts: Parts) -> None:
    """Refuses both options where the right side is read by its index."""
    for name in ("skew", "threshold"):
        if parts.is_keyed and parts.options.has(name):
            node = parts.options.found[name]
            raise refusal(node, f"{name.upper()} in a keyed join", "no INDEX")


def _limit(parts: Parts, call: syntax.Call) -> float:
    """Returns the limit of SKEW(limit, target); the target steers nothing."""
    first, *targets = call.arguments
    for target in targets:
        _share(parts, target)
        _remark(
            parts,
            f"the target of SKEW in line {call.place.line} steers nothing: "
            "spark.sql.adaptive.skewJoin.* says when Spark splits a part",
        )
    return _USUAL_LIMIT if isinstance(first, syntax.Omitted) else _share(parts, first)


def _share(parts: Parts, node: syntax.Node) -> float:
    """Returns a number from 0 to 1 that is known from the text."""
    found = parts.context.constant(node)
    match found:
        case bool():
            pass
        case int() | float() | Decimal() if 0 <= found <= 1:
            return float(found)
        case _:
            pass
    raise refusal(node, f"a skew of {found}", "a share, from 0 to 1.0")


def _remark(parts: Parts, text: str) -> None:
    """Adds what of the text has no effect."""
    parts.context.world.remarks.append(text)


_KINDS = {spec.Kind.INNER, spec.Kind.LEFT_OUTER}


def slides(context: Context, options: Options, pieces: Iterable[Piece]) -> bool:
    """Tells whether a range of the condition stands for an equality."""
    is_on = context.world.options["slidingjoins"] != "0"
    is_counted = options.has("atmost", "limit")
    return is_on and options.kind in _KINDS and not is_counted and _has_range(pieces)


def _has_range(pieces: Iterable[Piece]) -> bool:
    """Tells whether something lies between two bounds."""
    nodes = [one.node for one in pieces if isinstance(one, Soft)]
    if any(
        isinstance(one, syntax.Operation) and one.sign == "BETWEEN" for one in nodes
    ):
        return True
    pairs = [pair for one in nodes for pair in _ordered(one)]
    lesser = [one for one, _ in pairs]
    return any(greater in lesser for _, greater in pairs)


def _ordered(node: syntax.Node) -> Iterator[tuple[syntax.Node, syntax.Node]]:
    """Yields what a comparison says to be the lesser, and the greater."""
    match node:
        case syntax.Operation(sign="<=", operands=(one, other)):
            yield one, other
        case syntax.Operation(sign=">=", operands=(one, other)):
            yield other, one
        case _:
            return


def is_constant(parts: Parts) -> bool:
    """Tells whether the condition looks at no row."""
    return all(isinstance(one, Soft) and not one.hands for one in parts.pieces)


def limited(parts: Parts, counts: Counts) -> tuple[Parts, Counts]:
    """Returns the join; a LIMIT that skips is asked of all right rows, if it can be."""
    match counts.picks.limit:
        case spec.Limit(most, spec.OnExceed.SKIP) if is_constant(parts):
            right = datasets.filtered(
                parts.context, parts.right, (_are_few(parts, most),)
            )
            line = ("LIMIT", f"of more than {most} right rows there are none")
            picks = replace(counts.picks, limit=spec.Unlimited())
            asked = replace(counts, picks=picks, lines=(line,))
            return replace(parts, right=right), asked
        case _:
            return parts, counts


def _are_few(parts: Parts, most: int) -> syntax.Operation:
    """Returns COUNT(right) <= n, as the program could have written it."""
    place, right = parts.node.place, parts.node.arguments[1]
    count = syntax.Call(place, syntax.Name(place, "count"), (right,))
    return syntax.Operation(place, "<=", (count, syntax.Number(place, str(most))))


_SKIPPED = "skipped by the transform"
# Where a LIMIT has a transform of its own, rows without a partner are skipped after
# the join: there the row of the LIMIT says itself whether it is.
_PAIRS = "(matched_left AND matched_right AND ({}))"
_KEEPS_GROUPS = {
    spec.Strategy.LOOKUP,
    spec.Strategy.MANY_LOOKUP,
    spec.Strategy.ALL,
    spec.Strategy.KEYED,
}


def read_join(context: Context, node: syntax.Call) -> values.DatasetValue:
    """Returns the rows of JOIN(left, right, condition, ..)."""
    transform, options = split(context, [*node.arguments[3:]])
    parts = parts_of(context, node, (options, spec.Kind.INNER))
    if transform:
        parts = replace(parts, made=parts.context.made(transform[0]))
    return join_step(*judged(parts))


def parts_of(
    context: Context, node: syntax.Call, given: tuple[list[syntax.Node], spec.Kind]
) -> Parts:
    """Returns a join taken apart, for now without a transform of its own."""
    if len(node.arguments) < 3:  # noqa: PLR2004 - two sides and a condition
        raise refusal(node, "a JOIN of less", "JOIN(left, right, condition, ..)")
    left, right = (context.dataset(one) for one in node.arguments[:2])
    sides: dict[str, values.Value] = {
        "left": datasets.row_at(left.record),
        "right": datasets.row_at(right.record, "r"),
        "counter": types.Scalar("counter", types.Whole()),
    }
    inside = replace(context, sides=sides, rows=())
    options = read_options(*given)
    right = _by_index(inside, options, right)
    options.is_keyed = _is_keyed(options, right)
    condition = node.arguments[2]
    totals: tuple[list[Gathered], list[Gathered]] = ([], [])
    judging = replace(inside, sides=without_counter(sides)).with_totals(*totals)
    found = pieces(judging, condition)
    # Beside a row that is not there no such value stands.
    if not options.kind.preserves(spec.Hand.RIGHT):
        seen = 1 if options.kind.preserves(spec.Hand.LEFT) else 2
        inside = inside.with_totals(*totals[:seen])
    made = default_record(left.record, right.record, options.kind)
    return Parts(node, inside, left, right, options, found, made, totals)


def without_counter(sides: dict[str, values.Value]) -> dict[str, values.Value]:
    """Returns what is known in a condition: nothing has been counted by then."""
    return {name: value for name, value in sides.items() if name != "counter"}


def split(
    context: Context, rest: list[syntax.Node]
) -> tuple[tuple[syntax.Node, ...], list[syntax.Node]]:
    """Returns the transform, where there is one, and the options behind it."""
    if rest and isinstance(rest[0], syntax.Omitted):
        return (), rest[1:]
    if rest and is_transform(context, rest[0]):
        return (rest[0],), rest[1:]
    return (), rest


def _by_index(
    context: Context, options: Options, right: values.DatasetValue
) -> values.DatasetValue:
    """Returns the right rows in the order of the index that KEYED names."""
    for call in options.calls("keyed"):
        index = context.dataset(call.arguments[0])
        if not isinstance(index.index, values.Index):
            raise refusal(call, "KEYED with no INDEX", "the name of an INDEX")
        by = datasets.orders(
            context, right.record, _fields(call, index.index, right.record)
        )
        return replace(
            right, step=program.Ordered(right.step, tuple(by)), index=index.index
        )
    if options.has("keyed") and not isinstance(right.index, values.Index):
        raise refusal(
            options.found["keyed"],
            "KEYED beside a right side that is no INDEX",
            "an INDEX on the right, or KEYED(index)",
        )
    return right


def _is_keyed(options: Options, right: values.DatasetValue) -> bool:
    """Tells whether a join reads its right side by an index."""
    return options.has("keyed") or (
        isinstance(right.index, values.Index)
        and options.kind in {spec.Kind.INNER, spec.Kind.LEFT_OUTER, spec.Kind.LEFT_ONLY}
        and options.strategy in {spec.Strategy.DEFAULT, spec.Strategy.SORT_MERGE}
    )


def _fields(
    node: syntax.Node, index: values.Index, record: types.RecordType
) -> list[syntax.Node]:
    """Returns the keys of an index as names of fields of its data set."""
    known = {one.word for one in record.fields}
    return [syntax.Name(node.place, key) for key in index.keys if key in known]


def judged(parts: Parts) -> tuple[Parts, Conditions, Counts]:
    """Returns a join with what it must fulfil and count, judged as a whole."""
    condition = parts.node.arguments[2]
    hard, soft, left_only = conditions_of(parts)
    check_index(parts.context, condition, parts.right)
    options = parts.options
    skew = skew_of(parts)
    _need_equality(parts, hard, condition)
    counts = counts_of(parts.context, options, parts.pieces, parts.made)
    parts, counts = limited(parts, _implicit(parts, counts, soft))
    lines = (*counts.lines, *told_skew(skew))
    counts = replace(counts, lines=lines, skew=skew)
    left, right = (
        replace(side, step=widened(side, totals))
        for side, totals in zip((parts.left, parts.right), parts.totals, strict=True)
    )
    wide = replace(parts, left=left, right=right)
    return wide, (hard, soft, left_only), counts


def _need_equality(
    parts: Parts, hard: tuple[spec.Equality, ...], condition: syntax.Node
) -> None:
    """Refuses a condition without an equality, unless ALL or a constant allows it."""
    prefixes = any(isinstance(one, Prefix) for one in parts.pieces)
    if hard or prefixes or parts.options.has("all"):
        return
    if is_constant(parts):
        told = f"{parts.title}: a condition that is a constant means ALL"
        parts.context.world.remarks.append(told)
    elif not slides(parts.context, parts.options, parts.pieces):
        raise refusal(
            condition,
            "JOIN contains no equality conditions - use ,ALL to allow",
            "LEFT.field = RIGHT.field in the condition, or the option ALL",
        )


def _implicit(parts: Parts, counts: Counts, soft: str) -> Counts:
    """Returns the counts with the limit that keyed joins have by themselves."""
    options, picks = parts.options, counts.picks
    most = int(parts.context.world.options["defaultimplicitkeyedjoinlimit"])
    is_counted = options.has("limit", "atmost") or (
        options.has("keep") and soft == "true"
    )
    if (
        not parts.is_keyed
        or is_counted
        or options.kind is spec.Kind.LEFT_ONLY
        or not most
    ):
        return counts
    limited = replace(picks, limit=spec.Limit(most, spec.OnExceed.FAIL))
    line = ("(no LIMIT)", f"a keyed join fails at more than {most} candidates")
    return replace(counts, picks=limited, lines=(*counts.lines, line))


def join_step(
    parts: Parts, conditions: Conditions, counts: Counts
) -> values.DatasetValue:
    """Returns the step of a join."""
    hard, soft, left_only = conditions
    made = parts.made
    hides = counts.hides_skips and made.skip != counts.skip
    picks = replace(
        counts.picks,
        keep=keep_of(parts),
        strategy=parts.strategy,
        left_condition=Expression(left_only),
        skip_when=Expression(_PAIRS.format(made.skip) if hides else made.skip),
    )
    columns, record = datasets.columns_of(made), made.record
    if hides:
        columns, picks, record = _with_mark(made, picks, counts)
    join = _spec(parts, (hard, soft), (columns, picks))
    left, is_grouped = _grouped_left(parts)
    step = program.Joined(
        left.step,
        parts.right.step,
        join,
        record.schema,
        _told(parts, join, counts),
        counts.failure,
        keeps_groups=is_grouped,
        skew=counts.skew,
        pointer=pointer_of(parts),
    )
    found = values.DatasetValue(step, record, is_grouped=is_grouped)
    return _without_mark(found, made.record) if hides else found


def _spec(
    parts: Parts,
    condition: tuple[tuple[spec.Equality, ...], str],
    given: tuple[spec.Columns, spec.Picks],
) -> spec.JoinSpec:
    """Returns the join itself."""
    (hard, soft), (columns, picks) = condition, given
    return spec.JoinSpec(
        spec.Side(spec.Named(program.LEFT)),
        spec.Side(spec.Named(program.RIGHT)),
        parts.options.kind,
        spec.Clock.BATCH,
        hard,
        Expression(soft),
        columns,
        absent_left=absent(parts.left.record),
        absent_right=absent(parts.right.record),
        picks=picks,
    )


def keep_of(parts: Parts) -> spec.Keep | spec.Unlimited:
    """Returns how many rows of each left row come out; 0 is no limit."""
    for call in parts.options.calls("keep"):
        count = parts.context.count(call.arguments[0])
        return spec.Keep(count) if count else spec.Unlimited()
    return spec.Unlimited()


def _with_mark(
    made: values.Made, picks: spec.Picks, counts: Counts
) -> tuple[spec.Columns, spec.Picks, types.RecordType]:
    """Returns a join whose rows say themselves whether they are skipped."""
    mark = types.Field(_SKIPPED, types.BOOLEAN)
    columns = (*datasets.columns_of(made).columns, (_SKIPPED, Expression(made.skip)))
    limit = picks.limit
    if isinstance(limit, spec.Limit):
        given = (*limit.transform, (_SKIPPED, Expression(counts.skip)))
        picks = replace(picks, limit=replace(limit, transform=given))
    return spec.Columns(columns), picks, types.RecordType((*made.record.fields, mark))


def _without_mark(
    found: values.DatasetValue, record: types.RecordType
) -> values.DatasetValue:
    """Returns the rows that are not skipped, without what said so."""
    kept = program.Filtered(found.step, Expression(f"NOT l.{quoted(_SKIPPED)}"))
    columns = tuple(
        (it.name, Expression(f"l.{quoted(it.name)}")) for it in record.fields
    )
    step = program.Projected(kept, record.schema, spec.Columns(columns))
    return replace(found, step=step, record=record)


def _grouped_left(parts: Parts) -> tuple[values.DatasetValue, bool]:
    """Returns the left side, and whether the result is grouped as it is."""
    for call in parts.options.calls("group"):
        by = tuple(datasets.orders(parts.context, parts.left.record, call.arguments))
        step = program.Grouped(
            program.Ordered(parts.left.step, by), tuple(it.value for it in by)
        )
        return replace(parts.left, step=step), True
    return parts.left, keeps_groups(parts)


def keeps_groups(parts: Parts) -> bool:
    """Tells whether a group of left rows gives a group of the join."""
    stays = parts.left.is_grouped and parts.strategy in _KEEPS_GROUPS
    return stays or parts.options.has("group")


def absent(record: types.RecordType) -> spec.Absent:
    """Returns the row of a side that is not there: blank, or as DEFAULT says."""
    given = tuple(
        (one.name, shown(compiled(Expression(one.default), Scope())({BARE: {}})))
        for one in record.fields
        if one.default
    )
    return spec.GivenRow(given, spec.BlankRow()) if given else spec.BlankRow()


def _told(parts: Parts, join: spec.JoinSpec, counts: Counts) -> program.Told:
    """Returns a join in words."""
    lines = (
        *_told_condition(join.hard, join.soft.text),
        *told(parts.options),
        *counts.lines,
        *_told_keep(join.picks),
    )
    return program.Told(parts.title, lines)


def _told_keep(picks: spec.Picks) -> Iterator[tuple[str, str]]:
    """Yields what KEEP keeps."""
    if isinstance(picks.keep, spec.Keep):
        yield "KEEP", f"the first {picks.keep.count} rows of each left row come out"


def _told_condition(
    hard: tuple[spec.Equality, ...], soft: str
) -> Iterator[tuple[str, str]]:
    """Yields what must be equal, and what else must hold."""
    yield "hard", ", ".join(f"{one.left} = {one.right}" for one in hard) or "nothing"
    if soft != "true":
        yield "soft", soft
