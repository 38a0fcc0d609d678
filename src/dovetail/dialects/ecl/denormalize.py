"""NORMALIZE and DENORMALIZE: one row becomes several, or rows are taken up by one.

Projected  the list of what becomes of the items: child rows, or so many numbers
Unfolded   a row for each of them

DENORMALIZE: a JOIN whose pairs of a left row become one row again.

    Joined     each pair, and the number of its left row
    Counted    the left row, and the list of its right rows
    Projected  GROUP: one call of the transform, which sees the list as ROWS(RIGHT);
               else a call a right row, which sees as LEFT what the last one made

A left row without partners stays as it is. Right rows without a partner that have the
same key become one row, of a blank left one.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.dialects.ecl import aggregates, types, values
from dovetail.dialects.ecl.catalog import of_spark
from dovetail.dialects.ecl.context import Context, as_type, is_word, refusal, unfolded
from dovetail.dialects.ecl.datasets import columns_of, refuse_others, row_at
from dovetail.dialects.ecl.joins import (
    Demands,
    Parts,
    join_step,
    judged,
    parts_of,
    split,
)
from dovetail.dialects.ecl.options import Counts, keep_of
from dovetail.dialects.ecl.syntax import Call, Node
from dovetail.dialects.ecl.totals import Gathered, gathering, widened
from dovetail.expression import NEVER, Expression, Scope, parse
from dovetail.schema import Schema, quoted

# What no name in a text can hide: the item at hand, and its place from 0.
_ITEM, _PLACE = "normalized", "normalized_at"


def read_normalize(context: Context, node: Call) -> values.DatasetValue:
    """Returns NORMALIZE(rows, a number or child rows, transform)."""
    first, second, third, *rest = node.arguments
    refuse_others(rest, set())
    source = context.dataset(first)
    if source.is_grouped:
        raise refusal(first, "NORMALIZE of groups", "UNGROUP(rows)")
    sides: dict[str, values.Value] = {"left": row_at(source.record)}
    inside, totals = gathering(replace(context, sides=sides, rows=()))
    items, more = _items(inside, second)
    made = replace(inside, sides={**sides, **more}).made(third)
    rows = aggregates.made_of(items, made, (_ITEM, _PLACE))
    return unfolded(widened(source, totals), made.record, rows)


def _items(context: Context, node: Node) -> tuple[str, dict[str, values.Value]]:
    """Returns the list of items, and what a transform of one of them sees."""
    found = context.value(node)
    if isinstance(found, values.RowsValue):
        found = aggregates.all_rows(found)
    match found:
        case types.Scalar(text, types.TableType(record)):
            place = types.Scalar(f"({_PLACE} + 1L)", types.Whole())
            return text, {"right": values.RowValue(record, _ITEM), "counter": place}
        case _:
            number = as_type(node, context.scalar(node), types.INTEGER).text
            return aggregates.numbers_to(number), {
                "counter": types.Scalar(_ITEM, types.Whole())
            }


_LEFT, _ROWS = "left", "rows"
_RIGHT, _NUMBER, _MEETS, _KEY = "right", "number of left", "meets right", "key {}"
# The row that a LIMIT puts in place of too many.
_INSTEAD, _IS_OVER, _IS_SKIPPED = "instead", "is over", "is skipped"
_FOLDED = "folded"
_BEHIND = f"l.{_FOLDED}.counter > 0L AND l.{_FOLDED}.kept = 0L"
_LISTED = f"named_struct('kept', {quoted(_MEETS)}, 'value', {quoted(_RIGHT)})"
_KEPT = f"filter(ROWS_LIST({_LISTED}), one -> one.kept)"

Part = tuple[types.Field, str]


@dataclass(frozen=True, slots=True)
class _Form:
    """What is made of a left row and its right ones."""

    made: values.Made
    totals: list[Gathered]
    is_group: bool


def read_denormalize(context: Context, node: Call) -> values.DatasetValue:
    """Returns the rows of DENORMALIZE(left, right, condition, GROUP, transform, ..)."""
    rest = [*node.arguments[3:]]
    is_group = bool(rest) and is_word(rest[0], "group")
    transform, options = split(context, rest[1:] if is_group else rest)
    if not transform:
        raise refusal(
            node,
            "a DENORMALIZE without a transform",
            "DENORMALIZE(left, right, condition, transform, ..)",
            "GROUP stands before the transform, every other option behind it",
        )
    parts = parts_of(context, node, options, kind=spec.Kind.LEFT_OUTER)
    if parts.keeps_groups:
        raise refusal(
            node,
            "groups of the left rows in a DENORMALIZE",
            "left rows without groups",
            "UNGROUP(rows) before it, GROUP(SORT(..), ..) behind it",
        )
    form = _form(context, parts, (transform[0], is_group))
    parts, conditions, counts = judged(replace(parts, made=form.made))
    return _finished(parts, form, (conditions, counts))


def _form(context: Context, parts: Parts, given: tuple[Node, bool]) -> _Form:
    """Returns the transform, which sees a left row and its right ones."""
    node, is_group = given
    sides = _all_sides(parts) if is_group else _each_side(parts)
    inside, totals = gathering(replace(context, sides=sides, rows=()))
    made = inside.made(node)
    if not is_group:
        made = aggregates.in_record(node, made, parts.left.record)
    return _Form(made, totals, is_group)


def _all_sides(parts: Parts) -> dict[str, values.Value]:
    """Returns what a transform of all right rows sees; RIGHT is the first of them."""
    rows = values.RowsValue(parts.right.record, f"l.{_ROWS}")
    left = values.RowValue(parts.left.record, f"l.{_LEFT}")
    return {"left": left, "right": aggregates.nth(rows, "1L"), "rows(right)": rows}


def _each_side(parts: Parts) -> dict[str, values.Value]:
    """Returns what a transform of one right row sees."""
    left, right = (
        aggregates.past_row(parts.left.record),
        aggregates.coming_row(parts.right.record),
    )
    return {"left": left, "right": right, "counter": aggregates.COUNTER}


def _finished(
    parts: Parts, form: _Form, given: tuple[Demands, Counts]
) -> values.DatasetValue:
    """Returns what becomes of each left row with its right ones."""
    conditions, counts = given
    made, most = form.made, 0
    if not form.is_group and made.skip != NEVER.text:
        # KEEP does not count a right row that is skipped: the fold must see it.
        parts, most = _without_keep(parts)
    gathered = _gathered(parts, conditions, counts)
    step = widened(gathered, form.totals)
    if not form.is_group:
        step, made = _folded(step, gathered.record, aggregates.Fold(made, most))
    made = _or_instead(made) if _has_instead(counts) else made
    skip = Expression(made.skip)
    last = spec.Projected(step, made.record.schema, columns_of(made), skip)
    return values.DatasetValue(last, made.record)


def _without_keep(parts: Parts) -> tuple[Parts, int]:
    """Returns a join without its KEEP, and how many that keeps; 0 is no limit."""
    keep = keep_of(parts.context, parts.given)
    found = {name: it for name, it in parts.given.found.items() if name != "keep"}
    given = replace(parts.given, found=found)
    return replace(parts, given=given), (
        keep.count if isinstance(keep, spec.Keep) else 0
    )


def _gathered(parts: Parts, conditions: Demands, counts: Counts) -> values.DatasetValue:
    """Returns each left row with the list of its right ones."""
    alone = tuple(_keys_alone(parts, conditions))
    instead = tuple(_nothing_instead(parts.made)) if _has_instead(counts) else ()
    pair = (
        (types.Field(_LEFT, parts.left.record), parts.left.record.row_text("l")),
        (types.Field(_RIGHT, parts.right.record), parts.right.record.row_text("r")),
        (
            types.Field(_NUMBER, types.INTEGER),
            f"IF(matched_left, l.{quoted(_NUMBER)}, -1L)",
        ),
        (types.Field(_MEETS, types.BOOLEAN), "matched_right"),
    )
    pairs = join_step(
        _of_pairs(parts, (*pair, *alone, *instead)),
        conditions,
        _of_limit(parts, counts),
    )
    first = (types.Field(_LEFT, parts.left.record), f"l.{_LEFT}")
    rows = types.Field(_ROWS, types.TableType(parts.right.record))
    others = ((one, f"l.{quoted(one.name)}") for one, _ in instead)
    list_text = f"transform({_KEPT}, one -> one.value)"
    record, columns = _columns((first, (rows, list_text), *others))
    by = (_NUMBER, *(one.name for one, _ in alone))
    return values.DatasetValue(
        spec.Counted(pairs.step, record.schema, columns, by), record
    )


def _columns(parts: tuple[Part, ...]) -> tuple[types.RecordType, spec.Columns]:
    """Returns fields with their values as a record and its columns."""
    columns = tuple((one.name, Expression(text)) for one, text in parts)
    return types.RecordType(tuple(one for one, _ in parts)), spec.Columns(columns)


def _of_pairs(parts: Parts, pair: tuple[Part, ...]) -> Parts:
    """Returns the join that gives pairs, its left rows numbered."""
    columns = tuple((one.name, text) for one, text in pair)
    made = values.Made(
        types.RecordType(tuple(one for one, _ in pair)), columns, NEVER.text
    )
    left = parts.left
    number = types.RecordType((types.Field(_NUMBER, types.INTEGER),)).schema
    schema = Schema((*left.step.schema.columns, *number.columns))
    step = spec.Numbered(left.step, schema, _NUMBER, may_gap=True)
    return replace(parts, left=replace(left, step=step), made=made)


def _keys_alone(parts: Parts, conditions: Demands) -> Iterator[Part]:
    """Gives the keys of right rows without a partner: by these they are one row."""
    if not parts.given.kind.preserves(spec.Hand.RIGHT):
        return
    scope = Scope.pair(parts.left.record.schema, parts.right.record.schema)
    for number, equality in enumerate(conditions.hard, start=1):
        kind = of_spark(parse(equality.right, scope).type)
        text = f"IF(matched_left, NULL, {equality.right})"
        yield types.Field(_KEY.format(number), kind), text


def _has_instead(counts: Counts) -> bool:
    """Tells whether a LIMIT puts a row of its own in place of too many."""
    limit = counts.picks.limit
    return isinstance(limit, spec.Limit) and bool(limit.transform)


def _nothing_instead(made: values.Made) -> Iterator[Part]:
    """Gives what is known of a left row that is not over its LIMIT."""
    yield types.Field(_INSTEAD, made.record), types.blank_text(made.record)
    yield types.Field(_IS_OVER, types.BOOLEAN), "false"
    yield types.Field(_IS_SKIPPED, types.BOOLEAN), "false"


def _of_limit(parts: Parts, counts: Counts) -> Counts:
    """Returns the counts of pairs; the row of a LIMIT is one of them."""
    limit = counts.picks.limit
    if not isinstance(limit, spec.Limit) or not limit.transform:
        return counts
    instead = aggregates.named_struct(
        *((name, str(text)) for name, text in limit.transform)
    )
    texts = (
        (_LEFT, parts.left.record.row_text("l")),
        (_NUMBER, f"l.{quoted(_NUMBER)}"),
        (_MEETS, "false"),
        (_INSTEAD, instead),
        (_IS_OVER, "true"),
        (_IS_SKIPPED, counts.skip),
    )
    transform = tuple((name, Expression(text)) for name, text in texts)
    picks = replace(counts.picks, limit=replace(limit, transform=transform))
    return replace(counts, picks=picks, hides_skips=False, skip=NEVER.text)


def _folded(
    step: spec.Step, record: types.RecordType, fold: aggregates.Fold
) -> tuple[spec.Step, values.Made]:
    """Returns rows with what a fold has made, and how that becomes the result."""
    result = (types.Field(_FOLDED, fold.type), fold.text(f"l.{_ROWS}", f"l.{_LEFT}"))
    others = tuple(
        (one, f"l.{quoted(one.name)}")
        for one in record.fields
        if one.name not in (_LEFT, _ROWS)
    )
    wide, columns = _columns((result, *others))
    texts = ((name, f"l.{_FOLDED}.row.{quoted(name)}") for name, _ in fold.made.columns)
    made = values.Made(fold.made.record, tuple(texts), _BEHIND)
    return spec.Projected(step, wide.schema, columns), made


def _or_instead(made: values.Made) -> values.Made:
    """Returns a transform that gives the row of a LIMIT where one stands."""
    over = f"l.{quoted(_IS_OVER)}"
    columns = tuple(
        (name, f"IF({over}, l.{_INSTEAD}.{quoted(name)}, {text})")
        for name, text in made.columns
    )
    skip = f"IF({over}, l.{quoted(_IS_SKIPPED)}, {made.skip})"
    return values.Made(made.record, columns, skip)
