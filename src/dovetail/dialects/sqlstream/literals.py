"""Rows that stand in a text: VALUES.

    FROM (VALUES (1, 'a'), (2.5, NULL)) AS v (k, n)     k DECIMAL(11,1), n STRING

What stands there is computed as the text is read: no column is near.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlglot import exp

from dovetail import expression, schema, spec
from dovetail.dialects.sqlstream.parser import Text
from dovetail.dialects.sqlstream.syntax import NOTHING


def stated(
    values: exp.Values,
    text: Text,
    spelled: Callable[[exp.Expr, expression.Scope, exp.Expr], str],
) -> spec.Inline:
    """Returns the rows of VALUES, whose columns have room for the values of all."""
    lines = [*map(_parts, values.expressions)]
    for line in lines:
        if len(line) != len(lines[0]):
            told = f"a row of {len(line)} values behind one of {len(lines[0])}"
            raise text.wrong(line[0], told, "as many")
        for name in (it for one in line for it in one.find_all(exp.Column)):
            told = f'"{name.sql()}" in VALUES, which looks at no row'
            raise text.wrong(name, told, "a value that is written out")
    columns, cells = list[schema.Column](), list[list[object]]()
    for number, column in enumerate(zip(*lines, strict=True)):
        texts = [spelled(one, NOTHING, one) for one in column]
        found = [expression.parse(one, NOTHING).type for one in texts]
        kind = expression.kinds.widest_without_texts(found)
        if kind is None or kind is schema.AtomicType.NULL:
            told = f"values of the types {', '.join(map(str, found))} in a column"
            hint = "CAST says of what type a value is"
            raise text.wrong(column[0], told, "one type, or numbers", hint)
        whole = [expression.parse(f"CAST({it} AS {kind})", NOTHING) for it in texts]
        columns.append(schema.Column(f"EXPR${number}", whole[0].type))
        cells.append([expression.evaluate(it, {}) for it in whole])
    rows = tuple(zip(*cells, strict=True))
    return spec.Inline(schema.Schema(tuple(columns)), rows)


def _parts(line: exp.Expr) -> Sequence[exp.Expr]:
    """Returns the values of a row: (1, 'a'), also as ROW(1, 'a')."""
    first, *others = line.expressions
    is_row = isinstance(first, exp.Anonymous) and first.name.upper() == "ROW"
    return first.expressions if is_row and not others else line.expressions
