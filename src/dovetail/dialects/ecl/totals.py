"""What every row gets of other rows by a join: a value of all, or one found by LOOKUP.

pets(n = MAX(pets, n))    is    JOIN(pets, TABLE(pets, {m := MAX(GROUP, n)}), TRUE, ALL)
of which those rows stay where n = m
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.dialects.ecl import types, values
from dovetail.dialects.ecl.context import Context, beside, is_hidden, total_name
from dovetail.errors import DovetailError
from dovetail.expression import Expression, Scope, parse
from dovetail.expression.sql import written_tree
from dovetail.expression.tree import Column, Node, with_parts
from dovetail.schema import quoted

Gathered = values.Total | values.Lookup
_FOUND, _ROW = "found", "row"


def gathering(context: Context) -> tuple[Context, list[Gathered]]:
    """Returns the context in which such values may stand, and where they gather."""
    totals: list[Gathered] = []
    return context.with_totals(totals), totals


def column_of(number: int, one: Gathered) -> types.Field:
    """Returns the hidden column of a value."""
    kind = (
        one.value.type if isinstance(one, values.Total) else lookup_type(one.dictionary)
    )
    return types.Field(total_name(number, one), kind)


def lookup_type(dictionary: values.Dictionary) -> types.RecordType:
    """Returns what is known of a row that is looked up: whether it is there, and it."""
    row = types.Field(_ROW, dictionary.source.record)
    return types.RecordType((types.Field(_FOUND, types.BOOLEAN), row))


def widened(source: values.DatasetValue, totals: Sequence[Gathered]) -> spec.Step:
    """Returns rows with a hidden column for each value; without any as they are."""
    step, record = source.step, source.record
    for number, total in enumerate(totals):
        one = column_of(number, total)
        step = _beside(step, record, one, total, is_grouped=source.is_grouped)
        record = types.RecordType((*record.fields, one))
    return step


def alone(value: types.Scalar, totals: Sequence[Gathered]) -> values.Total:
    """Returns a value that is made of values of whole data sets, as one of them."""
    nothing = types.RecordType(())
    one_row = values.DatasetValue(spec.Inline(nothing.schema, ((),)), nothing)
    return values.Total(replace(one_row, step=widened(one_row, totals)), value)


def narrowed(
    step: spec.Step, record: types.RecordType, totals: Sequence[Gathered]
) -> spec.Step:
    """Returns rows without their hidden columns."""
    if not totals:
        return step
    columns = ((one.name, Expression(f"l.{quoted(one.name)}")) for one in record.fields)
    return spec.Projected(step, record.schema, spec.Columns(tuple(columns)))


def origin(step: spec.Step) -> spec.Step:
    """Returns the rows that a step leaves as they are: some of them, in some order."""
    match step:
        case (
            spec.Filtered()
            | spec.Ordered()
            | spec.Deduped()
            | spec.Grouped()
            | spec.Chosen()
        ):
            return origin(step.source)
        # Between these two, a filter sees what it needs of other rows.
        case spec.Projected() if _has_hidden(step.source) and all(
            # All columns are those of their names.
            text.text == f"l.{quoted(name)}"
            for name, text in step.select.columns
        ):
            return origin(step.source)
        case spec.Joined() if _has_hidden(step):
            return origin(step.left)
        case _:
            return step


def _has_hidden(step: spec.Step) -> bool:
    """Tells whether rows have columns with values of other rows."""
    return any(is_hidden(name) for name in step.schema.names)


def _beside(
    left: spec.Step,
    record: types.RecordType,
    one: types.Field,
    total: Gathered,
    *,
    is_grouped: bool,
) -> spec.Joined:
    """Returns rows beside what they need of other rows."""
    equalities: tuple[spec.Equality, ...] = ()
    if isinstance(total, values.Total):
        # The one row that there is.
        of_all = spec.Columns(((one.name, Expression(total.value.text)),))
        schema = types.RecordType((one,)).schema
        other: spec.Step = spec.Counted(
            spec.Grouped(total.source.step, ()), schema, of_all
        )
        value, title = f"r.{quoted(one.name)}", "a value of a data set"
        kind, strategy = spec.Kind.INNER, spec.Strategy.ALL
    else:
        # One row at most: no two have the same keys.
        source = total.dictionary.source
        row = (_ROW, source.record.row_text("r"))
        value = types.named_struct((_FOUND, "matched_right"), row)
        other, title = source.step, "a row of a dictionary"
        kind, strategy = spec.Kind.LEFT_OUTER, spec.Strategy.LOOKUP
        pairs = (map(Expression, pair) for pair in total.equalities)
        equalities = tuple(spec.Equality(*pair) for pair in pairs)
    both = types.RecordType((*record.fields, one))
    texts = [(it.name, Expression(f"l.{quoted(it.name)}")) for it in record.fields]
    join = spec.JoinSpec(
        spec.Side(spec.Named(spec.LEFT)),
        spec.Side(spec.Named(spec.RIGHT)),
        kind,
        spec.Clock.BATCH,
        equalities,
        select=spec.Columns((*texts, (one.name, Expression(value)))),
        absent_left=spec.BlankRow(),
        absent_right=spec.BlankRow(),
        picks=spec.Picks(strategy=strategy),
    )
    hard = (("hard", f"{it.left} = {it.right}") for it in equalities)
    told = spec.Told(f"{title} beside rows", (*hard, ("value", value)))
    return spec.Joined(left, other, join, both.schema, told, keeps_groups=is_grouped)


@dataclass(frozen=True, slots=True)
class AtHand:
    """A row at hand, and where the values of other rows beside it gather."""

    letter: str
    totals: list[values.Total | values.Lookup]
    seen: Scope

    def has(self, text: str) -> bool:
        """Tells whether a value is one of the row alone."""
        return is_of(text, self.seen)

    def beside(
        self, dictionary: values.Dictionary, pairs: tuple[tuple[str, str], ...]
    ) -> str:
        """Returns the column of an entry, of which the pairs of values are equal."""
        wanted = ((as_left(text, self.seen), key) for text, key in pairs)
        return beside(
            self.totals, values.Lookup(dictionary, tuple(wanted)), self.letter
        )


def rows_at_hand(context: Context) -> Iterator[AtHand]:
    """Yields the rows of a step beside which values of other rows may stand."""
    rows = (*context.rows, *context.named, *context.sides.values())
    for letter, totals in zip("lr", context.totals, strict=False):
        at_hand = [
            it for it in rows if isinstance(it, values.RowValue) and it.text == letter
        ]
        hidden = [column_of(number, one) for number, one in enumerate(totals)]
        for row in at_hand[:1]:
            record = types.RecordType((*row.record.fields, *hidden))
            yield AtHand(letter, totals, Scope(((letter, record.schema),)))


def looked_up(
    context: Context, dictionary: values.Dictionary, pairs: tuple[tuple[str, str], ...]
) -> tuple[str, ...]:
    """Returns the column beside the rows, where what is looked for is of the row."""
    for row in rows_at_hand(context):
        if all(row.has(text) for text, _ in pairs):
            return (row.beside(dictionary, pairs),)
    return ()


def is_of(text: str, seen: Scope) -> bool:
    """Tells whether a value is made of what a scope knows, and of nothing else."""
    with suppress(DovetailError):
        parse(Expression(text), seen)
        return True
    return False


def as_left(text: str, seen: Scope) -> str:
    """Returns a value of the one row that a scope knows as one of `l`."""
    tree = parse(Expression(text), seen).tree
    return text if seen.schema("l") else written_tree(of_left(tree))


def of_left(tree: Node) -> Node:
    """Returns a tree with all columns those of `l`."""
    if isinstance(tree, Column):
        return replace(tree, side="l")
    return with_parts(tree, of_left)
