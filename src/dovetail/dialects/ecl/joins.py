"""JOIN of two data sets: a JoinSpec with what stands around it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dovetail.dialects.ecl.casting import Scalar
from dovetail.dialects.ecl.conditions import Prefix, pieces
from dovetail.dialects.ecl.constant_conditions import is_constant, limited
from dovetail.dialects.ecl.context import Context, refusal
from dovetail.dialects.ecl.datasets import columns_of
from dovetail.dialects.ecl.defaults import default_record
from dovetail.dialects.ecl.indexes import check_index
from dovetail.dialects.ecl.join_parts import (
    Conditions,
    Parts,
    conditions_of,
    pointer_of,
)
from dovetail.dialects.ecl.limits import Counts, counts_of
from dovetail.dialects.ecl.names import is_transform
from dovetail.dialects.ecl.nodes import Call, Name, Node, Omitted
from dovetail.dialects.ecl.options import Options, read_options, told
from dovetail.dialects.ecl.ordering import orders, row_at
from dovetail.dialects.ecl.skewing import skew_of, told_skew
from dovetail.dialects.ecl.sliding import slides
from dovetail.dialects.ecl.totals import Gathered, widened
from dovetail.dialects.ecl.types import BOOLEAN, Field, RecordType, Whole
from dovetail.dialects.ecl.values import (
    DatasetValue,
    Index,
    Made,
    Value,
)
from dovetail.expression import BARE, Expression, Scope, compiled
from dovetail.schema import quoted, shown
from dovetail.spec.join import (
    Absent,
    BlankRow,
    Clock,
    Columns,
    GivenRow,
    Hand,
    JoinSpec,
    Kind,
    Named,
    Side,
)
from dovetail.spec.picks import (
    Equality,
    Keep,
    Limit,
    OnExceed,
    Picks,
    Strategy,
    Unlimited,
)
from dovetail.spec.program import (
    LEFT,
    RIGHT,
    Filtered,
    Grouped,
    Joined,
    Ordered,
    Projected,
    Told,
)

_SKIPPED = "skipped by the transform"
# Where a LIMIT has a transform of its own, rows without a partner are skipped after
# the join: there the row of the LIMIT says itself whether it is.
_PAIRS = "(matched_left AND matched_right AND ({}))"
_KEEPS_GROUPS = {Strategy.LOOKUP, Strategy.MANY_LOOKUP, Strategy.ALL, Strategy.KEYED}


def read_join(context: Context, node: Call) -> DatasetValue:
    """Returns the rows of JOIN(left, right, condition, ..)."""
    transform, options = split(context, [*node.arguments[3:]])
    parts = parts_of(context, node, (options, Kind.INNER))
    if transform:
        parts = replace(parts, made=parts.context.made(transform[0]))
    return join_step(*judged(parts))


def parts_of(context: Context, node: Call, given: tuple[list[Node], Kind]) -> Parts:
    """Returns a join taken apart, for now without a transform of its own."""
    if len(node.arguments) < 3:  # noqa: PLR2004 - two sides and a condition
        raise refusal(node, "a JOIN of less", "JOIN(left, right, condition, ..)")
    left, right = (context.dataset(one) for one in node.arguments[:2])
    sides: dict[str, Value] = {
        "left": row_at(left.record),
        "right": row_at(right.record, "r"),
        "counter": Scalar("counter", Whole()),
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
    if not options.kind.preserves(Hand.RIGHT):
        seen = 1 if options.kind.preserves(Hand.LEFT) else 2
        inside = inside.with_totals(*totals[:seen])
    made = default_record(left.record, right.record, options.kind)
    return Parts(node, inside, left, right, options, found, made, totals)


def without_counter(sides: dict[str, Value]) -> dict[str, Value]:
    """Returns what is known in a condition: nothing has been counted by then."""
    return {name: value for name, value in sides.items() if name != "counter"}


def split(context: Context, rest: list[Node]) -> tuple[tuple[Node, ...], list[Node]]:
    """Returns the transform, where there is one, and the options behind it."""
    if rest and isinstance(rest[0], Omitted):
        return (), rest[1:]
    if rest and is_transform(context, rest[0]):
        return (rest[0],), rest[1:]
    return (), rest


def _by_index(context: Context, options: Options, right: DatasetValue) -> DatasetValue:
    """Returns the right rows in the order of the index that KEYED names."""
    for call in options.calls("keyed"):
        index = context.dataset(call.arguments[0])
        if not isinstance(index.index, Index):
            raise refusal(call, "KEYED with no INDEX", "the name of an INDEX")
        by = orders(context, right.record, _fields(call, index.index, right.record))
        return replace(right, step=Ordered(right.step, tuple(by)), index=index.index)
    if options.has("keyed") and not isinstance(right.index, Index):
        raise refusal(
            options.found["keyed"],
            "KEYED beside a right side that is no INDEX",
            "an INDEX on the right, or KEYED(index)",
        )
    return right


def _is_keyed(options: Options, right: DatasetValue) -> bool:
    """Tells whether a join reads its right side by an index."""
    return options.has("keyed") or (
        isinstance(right.index, Index)
        and options.kind in {Kind.INNER, Kind.LEFT_OUTER, Kind.LEFT_ONLY}
        and options.strategy in {Strategy.DEFAULT, Strategy.SORT_MERGE}
    )


def _fields(node: Node, index: Index, record: RecordType) -> list[Node]:
    """Returns the keys of an index as names of fields of its data set."""
    known = {one.word for one in record.fields}
    return [Name(node.place, key) for key in index.keys if key in known]


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


def _need_equality(parts: Parts, hard: tuple[Equality, ...], condition: Node) -> None:
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
    if not parts.is_keyed or is_counted or options.kind is Kind.LEFT_ONLY or not most:
        return counts
    limited = replace(picks, limit=Limit(most, OnExceed.FAIL))
    line = ("(no LIMIT)", f"a keyed join fails at more than {most} candidates")
    return replace(counts, picks=limited, lines=(*counts.lines, line))


def join_step(parts: Parts, conditions: Conditions, counts: Counts) -> DatasetValue:
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
    columns, record = columns_of(made), made.record
    if hides:
        columns, picks, record = _with_mark(made, picks, counts)
    join = _spec(parts, (hard, soft), (columns, picks))
    left, is_grouped = _grouped_left(parts)
    step = Joined(
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
    found = DatasetValue(step, record, is_grouped=is_grouped)
    return _without_mark(found, made.record) if hides else found


def _spec(
    parts: Parts,
    condition: tuple[tuple[Equality, ...], str],
    given: tuple[Columns, Picks],
) -> JoinSpec:
    """Returns the join itself."""
    (hard, soft), (columns, picks) = condition, given
    return JoinSpec(
        Side(Named(LEFT)),
        Side(Named(RIGHT)),
        parts.options.kind,
        Clock.BATCH,
        hard,
        Expression(soft),
        columns,
        absent_left=absent(parts.left.record),
        absent_right=absent(parts.right.record),
        picks=picks,
    )


def keep_of(parts: Parts) -> Keep | Unlimited:
    """Returns how many rows of each left row come out; 0 is no limit."""
    for call in parts.options.calls("keep"):
        count = parts.context.count(call.arguments[0])
        return Keep(count) if count else Unlimited()
    return Unlimited()


def _with_mark(
    made: Made, picks: Picks, counts: Counts
) -> tuple[Columns, Picks, RecordType]:
    """Returns a join whose rows say themselves whether they are skipped."""
    mark = Field(_SKIPPED, BOOLEAN)
    columns = (*columns_of(made).columns, (_SKIPPED, Expression(made.skip)))
    limit = picks.limit
    if isinstance(limit, Limit):
        given = (*limit.transform, (_SKIPPED, Expression(counts.skip)))
        picks = replace(picks, limit=replace(limit, transform=given))
    return Columns(columns), picks, RecordType((*made.record.fields, mark))


def _without_mark(found: DatasetValue, record: RecordType) -> DatasetValue:
    """Returns the rows that are not skipped, without what said so."""
    kept = Filtered(found.step, Expression(f"NOT l.{quoted(_SKIPPED)}"))
    columns = tuple(
        (it.name, Expression(f"l.{quoted(it.name)}")) for it in record.fields
    )
    step = Projected(kept, record.schema, Columns(columns))
    return replace(found, step=step, record=record)


def _grouped_left(parts: Parts) -> tuple[DatasetValue, bool]:
    """Returns the left side, and whether the result is grouped as it is."""
    for call in parts.options.calls("group"):
        by = tuple(orders(parts.context, parts.left.record, call.arguments))
        step = Grouped(Ordered(parts.left.step, by), tuple(it.value for it in by))
        return replace(parts.left, step=step), True
    return parts.left, keeps_groups(parts)


def keeps_groups(parts: Parts) -> bool:
    """Tells whether a group of left rows gives a group of the join."""
    stays = parts.left.is_grouped and parts.strategy in _KEEPS_GROUPS
    return stays or parts.options.has("group")


def absent(record: RecordType) -> Absent:
    """Returns the row of a side that is not there: blank, or as DEFAULT says."""
    given = tuple(
        (one.name, shown(compiled(Expression(one.default), Scope())({BARE: {}})))
        for one in record.fields
        if one.default
    )
    return GivenRow(given, BlankRow()) if given else BlankRow()


def _told(parts: Parts, join: JoinSpec, counts: Counts) -> Told:
    """Returns a join in words."""
    lines = (
        *_told_condition(join.hard, join.soft.text),
        *told(parts.options),
        *counts.lines,
        *_told_keep(join.picks),
    )
    return Told(parts.title, lines)


def _told_keep(picks: Picks) -> Iterator[tuple[str, str]]:
    """Yields what KEEP keeps."""
    if isinstance(picks.keep, Keep):
        yield "KEEP", f"the first {picks.keep.count} rows of each left row come out"


def _told_condition(hard: tuple[Equality, ...], soft: str) -> Iterator[tuple[str, str]]:
    """Yields what must be equal, and what else must hold."""
    yield "hard", ", ".join(f"{one.left} = {one.right}" for one in hard) or "nothing"
    if soft != "true":
        yield "soft", soft
