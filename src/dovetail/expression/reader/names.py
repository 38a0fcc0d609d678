"""What a name with dots means: a lambda's parameter, a side's column, a bare name."""

from __future__ import annotations

from sqlglot import exp

from dovetail.errors import SpecError
from dovetail.expression.coercion import STRING
from dovetail.expression.functions import build
from dovetail.expression.reader.context import Context
from dovetail.expression.scope import BARE
from dovetail.expression.tree import Column, Literal, Node
from dovetail.schema import MapType, StructType


def read_name(context: Context, node: exp.Expr) -> Node:
    """Reads a name: what its front means, then fields."""
    parts = node.parts if isinstance(node, exp.Column) else [node]
    found, fields = _resolved(context, [part.name for part in parts])
    for name in fields:
        found = field(found, name)
    return found


def read_dot(context: Context, node: exp.Expr) -> Node:
    """Reads a field of something that is no plain name."""
    return field(context.read(node.this), node.expression.name)


def field(whole: Node, name: str) -> Node:
    """Returns a field of a struct, or raises with the fields there are."""
    if isinstance(whole.type, StructType):
        known = [known for known, _ in whole.type.fields]
        if name.lower() not in {other.lower() for other in known}:
            raise SpecError(f'no field "{name}"', f"one of {', '.join(known)}")
    if isinstance(whole.type, MapType):
        return build("[]", whole, Literal(name, STRING))
    return build("field", whole, Literal(name, STRING))


def _resolved(context: Context, names: list[str]) -> tuple[Node, list[str]]:
    """Returns what the front of a dotted name means, and the names behind it."""
    first, *rest = names
    if first.lower() in context.variables:
        return context.variables[first.lower()], rest
    schema = context.scope.schema(first)
    if schema and rest and rest[0] in schema:
        column = schema[rest[0]]
        return Column(first.lower(), column.name, column.type), rest[1:]
    if context.row and first in context.scope.rows:
        return field(context.row, first), rest
    if first in context.scope.bare:
        column = context.scope.bare[first]
        return Column(BARE, column.name, column.type), rest
    raise SpecError(f'no column "{".".join(names)}"', _known(context))


def _known(context: Context) -> str:
    """Returns the names that could have been meant."""
    own = context.scope.rows.names if context.row else ()
    return f"one of {', '.join((*own, *context.scope.known))}"
