"""What every row gets of other rows by a join: a value of all, or one found by LOOKUP.

pets(n = MAX(pets, n))    is    JOIN(pets, TABLE(pets, {m := MAX(GROUP, n)}), TRUE, ALL)
of which those rows stay where n = m
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.dialects.ecl import trees, types, values
from dovetail.dialects.ecl.context import Context, beside, column_of, is_hidden
from dovetail.expression.evaluation import closure
from dovetail.schema import shown

Gathered = values.Total | values.Lookup


def gathering(context: Context) -> tuple[Context, list[Gathered]]:
    """Returns the context in which such values may stand, and where they gather."""
    totals: list[Gathered] = []
    return context.with_totals(totals), totals


def widened(source: values.DatasetValue, totals: Sequence[Gathered]) -> spec.Step:
    """Returns rows with a hidden column for each value; without any as they are."""
    step, record = source.step, source.record
    # One join a value, each on top of the one before: a value may need one before it.
    for number, total in enumerate(totals):
        one = column_of(number, total)
        step = _beside(step, record, one, total, is_grouped=source.is_grouped)
        record = types.RecordType((*record.fields, one))
    return step


def as_total(value: types.Scalar, totals: Sequence[Gathered]) -> values.Total:
    """Returns a value that is made of values of whole data sets, as one of them."""
    return values.Total(_by_themselves(totals), value)


def as_row(
    record: types.RecordType, row: trees.Node, totals: Sequence[Gathered]
) -> values.DatasetValue:
    """Returns a row that is made of values of whole data sets, as a data set of it."""
    step, shown = _by_themselves(totals).step, trees.select(record.parts(row))
    return values.DatasetValue(spec.Projected(step, record.schema, shown), record)


def _by_themselves(totals: Sequence[Gathered]) -> values.DatasetValue:
    """Returns one row without fields beside which values of whole data sets stand."""
    nothing = types.RecordType(())
    one_row = values.DatasetValue(spec.Inline(nothing.schema, ((),)), nothing)
    return replace(one_row, step=widened(one_row, totals))


def narrowed(
    step: spec.Step, record: types.RecordType, totals: Sequence[Gathered]
) -> spec.Step:
    """Returns rows without their hidden columns."""
    if not totals:
        return step
    return spec.Projected(step, record.schema, trees.select(record.columns()))


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
            text == trees.expressed(trees.column(name, step.schema[name].type))
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


def absent_row(record: types.RecordType) -> spec.Absent:
    """Returns the row of a side that is not there: blank, or as DEFAULT says."""
    # What DEFAULT says is known from the text: it is computed here, of no row.
    given = tuple(
        (one.name, shown(closure(one.absent)({})))
        for one in record.fields
        if one.absent != types.blank(one.type)
    )
    return spec.GivenRow(given, spec.BlankRow()) if given else spec.BlankRow()


def plain_join(
    select: spec.Columns,
    *hard: spec.Equality,
    picks: spec.Picks,
    kind: spec.Kind = spec.Kind.INNER,
) -> spec.JoinSpec:
    """Returns a join of two sides, whose rows are blank where there are none."""
    return spec.JoinSpec(
        spec.Side(spec.Named(spec.LEFT)),
        spec.Side(spec.Named(spec.RIGHT)),
        kind,
        spec.Clock.BATCH,
        hard,
        select=select,
        absent_left=spec.BlankRow(),
        absent_right=spec.BlankRow(),
        picks=picks,
    )


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
    absent: spec.Absent = spec.BlankRow()
    if isinstance(total, values.Total):
        # The one row that there is.
        of_all = trees.select([(one.name, total.value.tree)])
        schema = types.RecordType((one,)).schema
        other: spec.Step = spec.Counted(
            spec.Grouped(total.source.step, ()), schema, of_all
        )
        value, title = types.column(one, "r"), "a value of a data set"
        kind, strategy = spec.Kind.INNER, spec.Strategy.ALL
    else:
        # One row at most: no two have the same keys.
        source = total.dictionary.source
        found = trees.of_pair("matched_right")
        value = trees.struct(("found", found), ("row", source.record.row("r")))
        other, title = source.step, "a row of a dictionary"
        kind, strategy = spec.Kind.LEFT_OUTER, spec.Strategy.LOOKUP
        equalities, absent = total.equalities, absent_row(source.record)
    both = types.RecordType((*record.fields, one))
    select = trees.select([*record.columns(), (one.name, value)])
    picks = spec.Picks(strategy=strategy)
    join = plain_join(select, *equalities, picks=picks, kind=kind)
    join = replace(join, absent_right=absent)
    hard = (("hard", f"{it.left} = {it.right}") for it in equalities)
    told = spec.Told(f"{title} beside rows", (*hard, ("value", trees.text_of(value))))
    return spec.Joined(left, other, join, both.schema, told, keeps_groups=is_grouped)


@dataclass(frozen=True, slots=True)
class AtHand:
    """A row at hand, and where the values of other rows beside it gather."""

    row: trees.Column
    totals: list[values.Total | values.Lookup]

    def has(self, tree: trees.Node) -> bool:
        """Tells whether a value is one of the row alone."""
        return trees.is_of(tree, self.row)

    def beside(
        self,
        dictionary: values.Dictionary,
        pairs: Iterable[tuple[trees.Node, trees.Node]],
    ) -> trees.Node:
        """Returns the column of an entry, of which the pairs of values are equal."""
        wanted = tuple(
            spec.Equality(
                trees.expressed(trees.on_side(mine, "l")), trees.expressed(key)
            )
            for mine, key in pairs
        )
        return beside(self.totals, values.Lookup(dictionary, wanted), self.row.name)


def rows_at_hand(context: Context) -> Iterator[AtHand]:
    """Yields the rows of a step beside which values of other rows may stand."""
    rows = (*context.rows, *context.named, *context.sides.values())
    at_hand = [it.tree for it in rows if isinstance(it, values.RowValue)]
    for letter, totals in zip("lr", context.totals, strict=False):
        for row in [it for it in at_hand if trees.is_side(it, letter)][:1]:
            yield AtHand(row, totals)


def looked_up(
    context: Context,
    dictionary: values.Dictionary,
    pairs: tuple[tuple[trees.Node, trees.Node], ...],
) -> tuple[trees.Node, ...]:
    """Returns the column beside the rows, where what is looked for is of the row."""
    for row in rows_at_hand(context):
        if all(row.has(tree) for tree, _ in pairs):
            return (row.beside(dictionary, pairs),)
    return ()
