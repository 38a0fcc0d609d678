"""From text to the typed tree: names are resolved, arguments cast, types found.

The reader walks sqlglot's tree once. Each kind of node has one short function, found
in a table by the node's class; what is not in the table is refused by its name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import count

from sqlglot import exp

from dovetail.errors import DovetailError, SpecError, UnsupportedError
from dovetail.expression.coercion import BOOLEAN, NULL, STRING, columnar
from dovetail.expression.folding import folded
from dovetail.expression.functions import build
from dovetail.expression.literals import number, read_cast
from dovetail.expression.scope import BARE, Scope
from dovetail.expression.syntax import pointed, syntax
from dovetail.expression.text import Expression
from dovetail.expression.tree import (
    Column,
    Literal,
    Node,
    Typed,
    Variable,
)


@dataclass(frozen=True, slots=True)
class _Reading:
    """What a reader knows: the text, the names, and the lambda parameters around."""

    text: str
    scope: Scope
    variables: Mapping[str, Variable] = field(default_factory=dict)
    numbers: count[int] = field(default_factory=count)

    def read(self, node: exp.Expr) -> Node:
        """Returns the typed node of a node of sqlglot's."""
        reader = _READERS.get(type(node))
        try:
            if reader is None:
                raise UnsupportedError(f"{node.key} in an expression")
            return reader(self, node)
        except DovetailError as error:
            if "\n" in error.hint or error.hint.startswith("in "):
                raise
            raise pointed(error, self.text, node) from error


def parse(expression: Expression | str, scope: Scope) -> Typed:
    """Returns the typed expression that a text means in a scope."""
    text = str(expression)
    tree = folded(_Reading(text, scope).read(syntax(text)))
    return Typed(tree, columnar(tree.type), text)


def _column(reading: _Reading, node: exp.Expr) -> Node:
    """Reads a name with dots: a side's column or a bare name, then fields."""
    names = (
        [part.name for part in node.parts]
        if isinstance(node, exp.Column)
        else [node.name]
    )
    first, rest = _resolved(reading, names)
    for name in rest:
        first = build("field", first, Literal(name, STRING))
    return first


def _resolved(reading: _Reading, names: list[str]) -> tuple[Node, list[str]]:
    """Returns what the front of a dotted name means, and the names behind it."""
    variable = reading.variables.get(names[0].lower())
    if variable:
        return variable, names[1:]
    schema = reading.scope.schema(names[0])
    if schema and len(names) > 1 and names[1] in schema:
        column = schema[names[1]]
        return Column(names[0].lower(), column.name, column.type), names[2:]
    if names[0] in reading.scope.bare:
        column = reading.scope.bare[names[0]]
        return Column(BARE, column.name, column.type), names[1:]
    raise SpecError(
        f'no column "{".".join(names)}"', f"one of {', '.join(reading.scope.known)}"
    )


def _dot(reading: _Reading, node: exp.Expr) -> Node:
    """Reads a field of something that is no plain name."""
    return build(
        "field", reading.read(node.this), Literal(node.expression.name, STRING)
    )


def _written(_reading: _Reading, node: exp.Expr) -> Node:
    """Reads a literal: a text or a number."""
    return Literal(node.this, STRING) if node.args["is_string"] else number(node.this)


def _negative(reading: _Reading, node: exp.Expr) -> Node:
    """Reads a sign; before a written number it belongs to the number."""
    inner = node.this
    if isinstance(inner, exp.Literal) and not inner.is_string:
        return number("-" + inner.this)
    return build("negative", reading.read(inner))


def _operator(name: str) -> Callable[[_Reading, exp.Expr], Node]:
    """Returns the reader of an operator with two sides."""

    def read(reading: _Reading, node: exp.Expr) -> Node:
        sides = (node.this, node.expression)
        if name in _COMPARISONS and any(isinstance(side, _CHAINED) for side in sides):
            raise UnsupportedError(
                "a comparison of comparisons", hint="add parentheses"
            )
        return build(name, *map(reading.read, sides))

    return read


def _between(reading: _Reading, node: exp.Expr) -> Node:
    """Reads BETWEEN."""
    parts = (node.this, node.args["low"], node.args["high"])
    return build("between", *map(reading.read, parts))


def _in(reading: _Reading, node: exp.Expr) -> Node:
    """Reads IN with a list of values."""
    if not node.expressions:
        raise UnsupportedError("IN with anything but a list")
    return build("in", *map(reading.read, (node.this, *node.expressions)))


def _is(reading: _Reading, node: exp.Expr) -> Node:
    """Reads IS NULL, IS TRUE and IS FALSE."""
    value = reading.read(node.this)
    if isinstance(node.expression, exp.Null):
        return build("isnull", value)
    return build("<=>", value, reading.read(node.expression))


def _like(reading: _Reading, node: exp.Expr, *escape: Node) -> Node:
    """Reads LIKE and NOT LIKE."""
    found = build(
        "like", reading.read(node.this), reading.read(node.expression), *escape
    )
    return build("not", found) if node.args.get("negate") else found


def _escape(reading: _Reading, node: exp.Expr) -> Node:
    """Reads LIKE with an escape letter."""
    return _like(reading, node.this, reading.read(node.expression))


def _case(reading: _Reading, node: exp.Expr) -> Node:
    """Reads CASE with or without a value to compare."""
    subject = node.this and reading.read(node.this)
    arguments: list[Node] = []
    for branch in node.args["ifs"]:
        condition = reading.read(branch.this)
        arguments.append(build("=", subject, condition) if subject else condition)
        arguments.append(reading.read(branch.args["true"]))
    default = node.args.get("default")
    arguments.append(reading.read(default) if default else Literal(None, NULL))
    return build("case", *arguments)


def _cast(reading: _Reading, node: exp.Expr) -> Node:
    """Reads CAST, TRY_CAST, a literal with its type, or a number with its suffix."""
    return read_cast(reading.read, node)


def _called(reading: _Reading, node: exp.Expr) -> Node:
    """Reads a call by its name."""
    if not isinstance(node.this, str):
        raise UnsupportedError(f'the function "{node.name}"')
    return build(node.this, *map(reading.read, node.expressions))


_COMPARISON_CLASSES = {
    exp.EQ: "=",
    exp.NEQ: "<>",
    exp.NullSafeEQ: "<=>",
    exp.GT: ">",
    exp.GTE: ">=",
    exp.LT: "<",
    exp.LTE: "<=",
}
_COMPARISONS = frozenset(_COMPARISON_CLASSES.values())
_CHAINED = tuple(_COMPARISON_CLASSES)
_BINARY = {
    **_COMPARISON_CLASSES,
    exp.Add: "+",
    exp.Sub: "-",
    exp.Mul: "*",
    exp.Div: "/",
    exp.IntDiv: "div",
    exp.Mod: "%",
    exp.DPipe: "||",
    exp.And: "and",
    exp.Or: "or",
}
_READERS: dict[type[exp.Expr], Callable[[_Reading, exp.Expr], Node]] = {
    **{operator: _operator(name) for operator, name in _BINARY.items()},
    exp.Column: _column,
    exp.Identifier: _column,
    exp.Dot: _dot,
    exp.Literal: _written,
    exp.Null: lambda _reading, _node: Literal(None, NULL),
    exp.Boolean: lambda _reading, node: Literal(bool(node.this), BOOLEAN),
    exp.Paren: lambda reading, node: reading.read(node.this),
    exp.Neg: _negative,
    exp.Not: lambda reading, node: build("not", reading.read(node.this)),
    exp.Between: _between,
    exp.In: _in,
    exp.Is: _is,
    exp.Like: _like,
    exp.Escape: _escape,
    exp.Case: _case,
    exp.Cast: _cast,
    exp.TryCast: _cast,
    exp.Anonymous: _called,
}
