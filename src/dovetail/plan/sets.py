"""A join of several sets as streams see it: the first set left, all others right.

    a (k, n)    b (k, m)    c (k)

    left   k  n  m   set          right  k  n  m   set
           1  7  -   0                   1  -  4   1
                                         1  -  -   2

Rows of all sets have the columns of all, and two hidden ones: the number of their set,
and which version of a table's key they are.
"""

from __future__ import annotations

from dovetail import schema, spec
from dovetail.expression import Expression, Scope, parse
from dovetail.expression.sql import written
from dovetail.plan.keys import hash_of
from dovetail.plan.ways import Path, Paths, Reshaped

SET = "__dovetail_hidden_set"
"""The column with the number of a row's set."""
VERSION = "__dovetail_hidden_version"
"""The column by which versions of a table's row are one; null where none are."""
_OURS = (
    schema.Column(SET, schema.AtomicType.INT),
    schema.Column(VERSION, schema.AtomicType.BIGINT),
)
# Of MOFN any set may be missing, so rows of both sides come out without a partner.
_KINDS = {
    spec.SetKind.INNER: spec.Kind.INNER,
    spec.SetKind.LEFT_OUTER: spec.Kind.LEFT_OUTER,
    spec.SetKind.LEFT_ONLY: spec.Kind.LEFT_ONLY,
    spec.SetKind.M_OF_N: spec.Kind.FULL_OUTER,
}


def side_by_side(
    join: spec.SetJoinSpec, inputs: spec.Inputs
) -> tuple[spec.JoinSpec, spec.Inputs]:
    """Returns a join of sets as one of two sides, with the rows of these as inputs.

    Its columns are SQL over both sides' rows, and `rows`: all that stand together.
    """
    shown = spec.schema_of_sets(join, inputs)
    columns = schema.Schema((*shown.columns, *_OURS))
    sources = {
        hand: spec.Input(hand.value, spec.InputKind.STREAM, columns)
        for hand in spec.HANDS
    }
    left, right = (
        spec.Side(spec.Named(hand.value), spec.Forever()) for hand in spec.HANDS
    )
    names = [shown[name].name for name in join.stepped]
    steps = (spec.Equality.of_columns(name, name) for name in names)
    scope = scope_of(shown)
    # Spark has no word such as ROWS_COUNT: the texts are written out for it.
    texts = (
        (name, Expression(written(parse(text, scope))))
        for name, text in join.select.columns
    )
    two = spec.JoinSpec(
        left,
        right,
        _KINDS[join.kind],
        spec.Clock.BATCH,
        hard=tuple(steps),
        select=spec.Columns(tuple(texts)),
        absent_left=spec.BlankRow(),
        absent_right=spec.BlankRow(),
    )
    return two, {source.name: source for source in sources.values()}


def scope_of(shown: schema.Schema) -> Scope:
    """Returns what expressions see of rows that stand together."""
    return Scope((("l", shown), ("r", shown)), rows=shown)


def shown_of(columns: schema.Schema) -> schema.Schema:
    """Returns the columns of all sets without those of ours."""
    return schema.Schema(columns.columns[: -len(_OURS)])


def paths_of(join: spec.SetJoinSpec, inputs: spec.Inputs) -> Paths:
    """Returns how the rows of each set come to their side."""
    shown = spec.schema_of_sets(join, inputs)
    columns = schema.Schema((*shown.columns, *_OURS))
    ways = []
    # Of one set alone the right side has its rows once more, at which nobody looks.
    sets = join.sets if join.sets[1:] else join.sets * 2
    for number, name in enumerate(sets):
        source = inputs[name]
        own = {column.name.lower(): column for column in source.schema.columns}
        texts = {}
        for column in shown.columns:
            known = own.get(column.name.lower())
            text = f"l.{schema.quoted(known.name)}" if known else "NULL"
            # In the type that all sets have, so that their rows can be one.
            is_cast = known is not None and known.type != column.type
            texts[column.name] = f"CAST({text} AS {column.type})" if is_cast else text
        version = hash_of(
            (f"l.{schema.quoted(name)}", source.schema[name].type)
            for name in source.key
        )
        texts |= {SET: str(number), VERSION: version or "NULL"}
        select = tuple((name, Expression(text)) for name, text in texts.items())
        ways.append(Path(name, (Reshaped(spec.Columns(select), columns),)))
    return {"left": tuple(ways[:1]), "right": tuple(ways[1:])}


def reason_for_one(join: spec.SetJoinSpec, inputs: spec.Inputs) -> str:
    """Returns why all rows of sets are in one bucket; empty where they need not be."""
    if join.ordered_by:
        return "one bucket: all rows leave in one order"
    steps = {name.lower() for name in join.stepped}
    for name in join.sets:
        key = {one.lower() for one in inputs[name].key}
        # A new version may have other stepped values, and stand in another bucket.
        if key and not steps <= key:
            return f"one bucket: versions of {name} are not told apart by the steps"
    return ""
