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
from dataclasses import replace

from dovetail import spec
from dovetail.dialects.ecl import aggregates, datasets, joins, options, types, values
from dovetail.dialects.ecl.catalog import of_spark
from dovetail.dialects.ecl.context import Context, as_type, is_word, refusal, unfolded
from dovetail.dialects.ecl.neighbours import made_along
from dovetail.dialects.ecl.syntax import Call, Node
from dovetail.dialects.ecl.totals import Gathered, gathering, widened
from dovetail.expression import NEVER, Expression, Scope, parse
from dovetail.schema import Schema, quoted

# What no name in a text can hide: the item at hand, and its place from 0.
_ITEM, _PLACE = "normalized", "normalized_at"


def read_normalize(context: Context, node: Call) -> values.DatasetValue:
    """Returns NORMALIZE(rows, a number or child rows, transform)."""
    first, second, third, *rest = node.arguments
    datasets.refuse_others(rest, set())
    source = context.dataset(first)
    if source.is_grouped:
        raise refusal(first, "NORMALIZE of groups", "UNGROUP(rows)")
    left: dict[str, values.Value] = {"left": datasets.row_at(source.record)}
    inside, totals = gathering(replace(context, sides=left, rows=()))
    found = inside.value(second)
    if isinstance(found, values.RowsValue):
        found = aggregates.all_rows(found)
    sides: dict[str, values.Value]
    match found:
        case types.Scalar(items, types.TableType(record)):
            place = types.Scalar(f"({_PLACE} + 1L)", types.Whole())
            sides = {"right": values.RowValue(record, _ITEM), "counter": place}
        case _:
            number = as_type(second, inside.scalar(second), types.INTEGER).text
            # The items are the numbers themselves.
            items = aggregates.numbers_to(number)
            sides = {"counter": types.Scalar(_ITEM, types.Whole())}
    made = replace(inside, sides={**left, **sides}).made(third)
    rows = aggregates.made_of(items, made, (_ITEM, _PLACE))
    return unfolded(widened(source, totals), made.record, rows)


_LEFT, _ROWS = "left", "rows"
_RIGHT, _NUMBER, _MEETS, _KEY = "right", "number of left", "meets right", "key {}"
# The row that a LIMIT puts in place of too many.
_INSTEAD, _IS_OVER, _IS_SKIPPED = "instead", "is over", "is skipped"
_FOLDED = "folded"
# Partners there are, and the transform has skipped each of them.
_BEHIND = f"l.{_FOLDED}.counter > 0L AND l.{_FOLDED}.kept = 0L"
_LISTED = f"named_struct('kept', {quoted(_MEETS)}, 'value', {quoted(_RIGHT)})"
_KEPT = f"filter(ROWS_LIST({_LISTED}), one -> one.kept)"

Part = tuple[types.Field, str]


def read_denormalize(context: Context, node: Call) -> values.DatasetValue:
    """Returns the rows of DENORMALIZE(left, right, condition, GROUP, transform, ..)."""
    rest = [*node.arguments[3:]]
    is_group = bool(rest) and is_word(rest[0], "group")
    transform, others = joins.split(context, rest[1:] if is_group else rest)
    if not transform:
        raise refusal(
            node,
            "a DENORMALIZE without a transform",
            "DENORMALIZE(left, right, condition, transform, ..)",
            "GROUP stands before the transform, every other option behind it",
        )
    parts = joins.parts_of(context, node, others, kind=spec.Kind.LEFT_OUTER)
    if parts.keeps_groups:
        raise refusal(
            node,
            "groups of the left rows in a DENORMALIZE",
            "left rows without groups",
            "UNGROUP(rows) before it, GROUP(SORT(..), ..) behind it",
        )
    made, totals = _made(context, parts, transform[0], is_group=is_group)
    parts, demands, counts = joins.judged(replace(parts, made=made))
    most = 0
    if not is_group and made.skip != NEVER.text:
        # KEEP does not count a right row that is skipped: the fold must see it.
        keep = options.keep_of(parts.context, parts.given)
        most = keep.count if isinstance(keep, spec.Keep) else 0
        found = {name: it for name, it in parts.given.found.items() if name != "keep"}
        parts = replace(parts, given=replace(parts.given, found=found))
    gathered = _gathered(parts, demands, counts)
    step = widened(gathered, totals)
    if not is_group:
        step, made = _folded(step, gathered.record, aggregates.Fold(made, most))
    if _instead_of(counts):
        made = _or_instead(made)
    return datasets.projected(values.DatasetValue(step, gathered.record), made)


def _made(
    context: Context, parts: joins.Parts, node: Node, *, is_group: bool
) -> tuple[values.Made, list[Gathered]]:
    """Returns the transform, which sees a left row and its right ones.

    With GROUP it sees all of them at once, else one after the other.
    """
    left, right = parts.left.record, parts.right.record
    if not is_group:
        return made_along(context, node, past=left, coming=right)
    rows = values.RowsValue(right, f"l.{_ROWS}")
    first = aggregates.nth(rows, "1L")
    whole = values.RowValue(left, f"l.{_LEFT}")
    sides: dict[str, values.Value] = {
        "left": whole,
        "right": first,
        "rows(right)": rows,
    }
    inside, totals = gathering(replace(context, sides=sides, rows=()))
    return inside.made(node), totals


def _gathered(
    parts: joins.Parts, demands: joins.Demands, counts: options.Counts
) -> values.DatasetValue:
    """Returns each left row with the list of its right ones."""
    alone = tuple(_keys_alone(parts, demands))
    instead: tuple[Part, ...] = ()
    if _instead_of(counts):
        # What a pair has of a left row that is not over its LIMIT.
        blank = types.blank_text(parts.made.record)
        instead = (
            (types.Field(_INSTEAD, parts.made.record), blank),
            (types.Field(_IS_OVER, types.BOOLEAN), "false"),
            (types.Field(_IS_SKIPPED, types.BOOLEAN), "false"),
        )
    left, right = parts.left.record, parts.right.record
    # Rows of the right alone have no left row to number.
    number = f"IF(matched_left, l.{quoted(_NUMBER)}, -1L)"
    pair = (
        (types.Field(_LEFT, left), left.row_text("l")),
        (types.Field(_RIGHT, right), right.row_text("r")),
        (types.Field(_NUMBER, types.INTEGER), number),
        (types.Field(_MEETS, types.BOOLEAN), "matched_right"),
        *alone,
        *instead,
    )
    texts = tuple((one.name, text) for one, text in pair)
    made = values.Made(types.RecordType(tuple(one for one, _ in pair)), texts, "false")
    pairs = joins.join_step(
        replace(parts, left=_numbered(parts.left), made=made),
        demands,
        _of_pairs(parts, counts),
    )
    list_text = f"transform({_KEPT}, one -> one.value)"
    record, columns = _columns(
        (
            (types.Field(_LEFT, left), f"l.{_LEFT}"),
            (types.Field(_ROWS, types.TableType(right)), list_text),
            *((one, f"l.{quoted(one.name)}") for one, _ in instead),
        )
    )
    by = (_NUMBER, *(one.name for one, _ in alone))
    step = spec.Counted(pairs.step, record.schema, columns, by)
    return values.DatasetValue(step, record)


def _columns(parts: tuple[Part, ...]) -> tuple[types.RecordType, spec.Columns]:
    """Returns fields with their values as a record and its columns."""
    columns = datasets.columns((one.name, text) for one, text in parts)
    return types.RecordType(tuple(one for one, _ in parts)), columns


def _numbered(left: values.DatasetValue) -> values.DatasetValue:
    """Returns the left rows with a number by which pairs of one row are found."""
    number = types.RecordType((types.Field(_NUMBER, types.INTEGER),)).schema
    schema = Schema((*left.step.schema.columns, *number.columns))
    # Numbers only part rows: gaps do no harm, and Spark gives those without a sort.
    step = spec.Numbered(left.step, schema, _NUMBER, may_gap=True)
    return replace(left, step=step)


def _keys_alone(parts: joins.Parts, demands: joins.Demands) -> Iterator[Part]:
    """Gives the keys of right rows without a partner: by these they are one row."""
    if not parts.given.kind.preserves(spec.Hand.RIGHT):
        return
    scope = Scope.pair(parts.left.record.schema, parts.right.record.schema)
    for number, equality in enumerate(demands.hard, start=1):
        kind = of_spark(parse(equality.right, scope).type)
        text = f"IF(matched_left, NULL, {equality.right})"
        yield types.Field(_KEY.format(number), kind), text


def _instead_of(counts: options.Counts) -> tuple[tuple[str, Expression], ...]:
    """Returns the row that a LIMIT puts in place of too many, if it does."""
    limit = counts.picks.limit
    return limit.transform if isinstance(limit, spec.Limit) else ()


def _of_pairs(parts: joins.Parts, counts: options.Counts) -> options.Counts:
    """Returns the counts of pairs; the row of a LIMIT is one of them."""
    instead, limit = _instead_of(counts), counts.picks.limit
    if not instead or not isinstance(limit, spec.Limit):
        return counts
    row = types.named_struct(*((name, str(text)) for name, text in instead))
    columns = datasets.columns(
        (
            (_LEFT, parts.left.record.row_text("l")),
            (_NUMBER, f"l.{quoted(_NUMBER)}"),
            (_MEETS, "false"),
            (_INSTEAD, row),
            (_IS_OVER, "true"),
            (_IS_SKIPPED, counts.skip),
        )
    )
    picks = replace(counts.picks, limit=replace(limit, transform=columns.columns))
    # Whether it is skipped is asked of what becomes of the pairs, not of the pair.
    return replace(counts, picks=picks, hides_skips=False, skip=NEVER.text)


def _folded(
    step: spec.Step, record: types.RecordType, fold: aggregates.Fold
) -> tuple[spec.Step, values.Made]:
    """Returns rows with what a fold has made, and how that becomes the result."""
    result = (types.Field(_FOLDED, fold.type), fold.text(f"l.{_ROWS}", f"l.{_LEFT}"))
    others = (
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
