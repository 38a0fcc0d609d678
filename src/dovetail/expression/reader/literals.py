"""Constants as they are written: numbers, typed literals, and casts to a written type.

A number without a point is an int, or a bigint where it must be; with a point it is a
decimal with just its digits; with an exponent it is a double.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

from sqlglot import exp

from dovetail.errors import SpecError
from dovetail.expression.coercion import BIGINT, BITS, DOUBLE, INT, MOST_DIGITS, STRING
from dovetail.expression.functions.casts import checked_cast, converter
from dovetail.expression.tree import Literal, Node
from dovetail.expression.values import WIDE
from dovetail.schema import DecimalType, Type, parse_type


def number(text: str) -> Literal:
    """Returns the literal of a written number."""
    if "e" in text.lower():
        return Literal(float(text), DOUBLE)
    if "." in text:
        return exact(text)
    value = int(text)
    for kind in (INT, BIGINT):
        if -(1 << (BITS[kind] - 1)) <= value < 1 << (BITS[kind] - 1):
            return Literal(value, kind)
    return exact(text)


def exact(text: str) -> Literal:
    """Returns the decimal literal with just the digits of a written number."""
    value = WIDE.create_decimal(text)
    scale = max(0, -int(value.as_tuple().exponent))
    precision = max(len(value.as_tuple().digits), scale)
    if precision > MOST_DIGITS:
        raise SpecError(f'the number "{text}"', f"at most {MOST_DIGITS} digits")
    return Literal(value, DecimalType(precision, scale))


def written_type(node: exp.Expr) -> Type:
    """Returns the type that an expression names."""
    return parse_type(node.sql(dialect="spark"))


def read_cast(read: Callable[[exp.Expr], Node], node: exp.Expr) -> Node:
    """Reads CAST, TRY_CAST, a text with a type before it, or a number with a suffix."""
    kind = written_type(node.args["to"])
    if node.meta.get("suffix") == "BD":
        return exact(node.this.this)
    inner = number(node.this.this) if "suffix" in node.meta else read(node.this)
    if "suffix" in node.meta or type(node) is exp.Cast:
        return _typed_literal(inner, kind)
    return checked_cast("try_cast" if node.args.get("safe") else "cast", inner, kind)


def _typed_literal(inner: Node, kind: Type) -> Node:
    """Returns a literal of another type, or raises where its text is none."""
    if not isinstance(inner, Literal):
        return checked_cast("cast", inner, kind)
    # a suffix casts the digits that were written, so 1.1F is the nearest single
    source = STRING if isinstance(inner.value, Decimal) else inner.type
    convert = converter(source, kind, careful=True)
    value = (
        convert(str(inner.value) if source == STRING else inner.value)
        if convert
        else None
    )
    if value is None:
        raise SpecError(f'the literal "{inner.value}" is no {kind}')
    return Literal(value, kind)
