"""The reader of expressions: one walk over sqlglot's tree, one function a kind of node.

What is not in the table of readers is refused by its name, with a caret in the text.
"""

from __future__ import annotations

from functools import lru_cache

from sqlglot import exp

from dovetail.expression.coercion import BINARY, BOOLEAN, NULL, STRING, columnar
from dovetail.expression.folding import folded
from dovetail.expression.reader.calls import read_call
from dovetail.expression.reader.context import Context, Reader
from dovetail.expression.reader.literals import number, read_cast
from dovetail.expression.reader.names import read_dot, read_name
from dovetail.expression.reader.operators import OPERATORS
from dovetail.expression.reader.spans import span
from dovetail.expression.reader.syntax import syntax
from dovetail.expression.scope import Scope
from dovetail.expression.text import Expression
from dovetail.expression.tree import Literal, Node, Typed


def parse(expression: Expression | str, scope: Scope) -> Typed:
    """Returns the typed expression that a text means in a scope."""
    return _parsed(str(expression), scope)


# Rules, plans and engines all ask what the same few texts mean.
@lru_cache(maxsize=1000)
def _parsed(text: str, scope: Scope) -> Typed:
    """Returns the typed expression of a text."""
    tree = folded(Context(text, scope, _READERS).read(syntax(text)))
    return Typed(tree, columnar(tree.type), text)


def _written(_context: Context, node: exp.Expr) -> Node:
    """Reads a literal: a text or a number."""
    return Literal(node.this, STRING) if node.args["is_string"] else number(node.this)


def _joined(_context: Context, node: exp.Expr) -> Node:
    """Reads texts that stand beside each other as one."""
    return Literal("".join(part.name for part in node.expressions), STRING)


def _bytes(_context: Context, node: exp.Expr) -> Node:
    """Reads bytes in hexadecimal digits."""
    digits = node.this
    if len(digits) % 2:
        digits = f"0{digits}"
    return Literal(bytes.fromhex(digits), BINARY)


_READERS: dict[type[exp.Expr], Reader] = {
    **OPERATORS,
    exp.Column: read_name,
    exp.Identifier: read_name,
    exp.Dot: read_dot,
    exp.Literal: _written,
    exp.Concat: _joined,
    exp.RawString: lambda _context, node: Literal(node.this, STRING),
    exp.HexString: _bytes,
    exp.Null: lambda _context, _node: Literal(None, NULL),
    exp.Boolean: lambda _context, node: Literal(bool(node.this), BOOLEAN),
    exp.Paren: lambda context, node: context.read(node.this),
    exp.Cast: lambda context, node: read_cast(context.read, node),
    exp.TryCast: lambda context, node: read_cast(context.read, node),
    exp.Interval: lambda _context, node: span(node),
    exp.Anonymous: read_call,
}
