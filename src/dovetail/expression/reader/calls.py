"""Calls by name, their lambdas, and the functions over the active rows.

`ROWS_LIST(column)` and its relatives are array functions of one list of records, the
bare column `rows`; inside them the fields of a record stand bare.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from sqlglot import exp

from dovetail.errors import SpecError, UnsupportedError
from dovetail.expression.coercion import BOOLEAN, INT, STRING, columnar
from dovetail.expression.functions import build, parameters_of
from dovetail.expression.reader.context import Context
from dovetail.expression.scope import BARE
from dovetail.expression.tree import Column, Kind, Lambda, Literal, Node, Variable
from dovetail.schema import ArrayType, StructType, blank

ROWS = "rows"
# Functions that may begin with a bare unit of time, by the names they then have.
_WITH_UNIT = {
    "timestampadd": "timestampadd",
    "dateadd": "timestampadd",
    "date_add": "timestampadd",
    "timestampdiff": "timestampdiff",
    "datediff": "timestampdiff",
    "date_diff": "timestampdiff",
}
_WITH_UNIT_TAKE = 3


def read_call(context: Context, node: exp.Expr) -> Node:
    """Reads a call by its name."""
    if not isinstance(node.this, str):
        raise UnsupportedError(f'the function "{node.name}"')
    name = node.this.lower()
    if name in _OVER_ROWS:
        return _read_over_rows(context, name, node.expressions)
    if name == "struct":
        return build("named_struct", *_named(context, node.expressions))
    arguments: list[Node] = []
    if name in _WITH_UNIT and len(node.expressions) == _WITH_UNIT_TAKE:
        return _with_unit(context, _WITH_UNIT[name], node.expressions)
    for part in node.expressions:
        arguments.append(_argument(context, part, parameters_of(name, arguments)))
    return build(name, *arguments)


def _with_unit(context: Context, name: str, nodes: list[exp.Expr]) -> Node:
    """Reads a call whose first argument is a bare unit of time."""
    unit, *rest = nodes
    return build(name, Literal(unit.name, STRING), *map(context.read, rest))


def _argument(context: Context, node: exp.Expr, given: Sequence[Kind]) -> Node:
    """Reads an argument; a lambda's parameters have the types that are given."""
    if not isinstance(node, exp.Lambda):
        return context.read(node)
    names = [parameter.name for parameter in node.expressions]
    if len(names) > len(given):
        raise SpecError(f"a lambda of {', '.join(names)}", f"{len(given)} parameters")
    parameters = tuple(
        Variable(name, next(context.numbers), kind)
        for name, kind in zip(names, given, strict=False)
    )
    known = {parameter.name.lower(): parameter for parameter in parameters}
    inner = replace(context, variables={**context.variables, **known})
    return Lambda(parameters, inner.read(node.this))


def _named(context: Context, nodes: list[exp.Expr]) -> Iterator[Node]:
    """Yields the names and values of STRUCT; a value without a name gets `col3`."""
    for place, node in enumerate(nodes, start=1):
        named = isinstance(node, exp.Alias | exp.Column | exp.Dot)
        yield Literal(node.output_name if named else f"col{place}", STRING)
        yield context.read(node.this if isinstance(node, exp.Alias) else node)


def _read_over_rows(context: Context, name: str, nodes: list[exp.Expr]) -> Node:
    """Reads a function over the active rows."""
    columns = context.scope.rows.columns
    record = StructType(tuple((column.name, column.type) for column in columns))
    if not columns:
        raise SpecError(f'"{name}" outside a join of several sets')
    rows = Column(BARE, ROWS, ArrayType(record))
    count, write = _OVER_ROWS[name]
    if len(nodes) != count:
        raise SpecError(f'"{name}" with {len(nodes)} arguments', f"{count}")
    return write(rows, [_of_a_row(context, record, node) for node in nodes])


def _of_a_row(context: Context, record: StructType, node: exp.Expr) -> Lambda:
    """Returns the lambda of one active row, whose fields stand bare."""
    row = Variable("row", next(context.numbers), record)
    return Lambda((row,), replace(context, row=row).read(node))


def _listed(rows: Node, given: list[Lambda]) -> Node:
    """Writes ROWS_LIST: the values of all rows."""
    return build("transform", rows, given[-1])


def _nth(rows: Node, given: list[Lambda]) -> Node:
    """Writes ROWS_NTH: the value of the row at a place from 1, blank beyond them."""
    place, value = given[0].body, given[-1].body
    is_there = build("between", place, Literal(1, INT), build("size", rows))
    found = build("element_at", _listed(rows, given), place)
    return build(
        "if", is_there, found, Literal(blank(columnar(value.type)), value.type)
    )


def _last(rows: Node, given: list[Lambda]) -> Node:
    """Writes ROWS_LAST: the value of the last row."""
    return build("element_at", _listed(rows, given), Literal(-1, INT))


def _any(rows: Node, given: list[Lambda]) -> Node:
    """Writes ROWS_ANY: whether any row passes; an unknown does not."""
    some = build("exists", rows, *given)
    return build("coalesce", some, Literal(value=False, type=BOOLEAN))


_OVER_ROWS: dict[str, tuple[int, Callable[[Node, list[Lambda]], Node]]] = {
    "rows_count": (0, lambda rows, _given: build("size", rows)),
    "rows_list": (1, _listed),
    "rows_nth": (2, _nth),
    "rows_last": (1, _last),
    "rows_min": (1, lambda rows, given: build("array_min", _listed(rows, given))),
    "rows_max": (1, lambda rows, given: build("array_max", _listed(rows, given))),
    "rows_any": (1, _any),
}
