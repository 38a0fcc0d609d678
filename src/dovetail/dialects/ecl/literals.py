"""Constants as they are written."""

from __future__ import annotations

from decimal import Decimal

from dovetail.dialects.ecl.casting import Scalar
from dovetail.dialects.ecl.context import Context, refusal
from dovetail.dialects.ecl.nodes import Number, Text
from dovetail.dialects.ecl.types import (
    INTEGER,
    REAL,
    STRING,
    Bytes,
    Exact,
    Letters,
    Whole,
)
from dovetail.expression.writing import text_of

_MOST = 1 << 64


def read_number(_: Context, node: Number) -> Scalar:
    """Returns a number: whole, or REAL; with the letter d a DECIMAL."""
    text = node.text.rstrip("u")
    if text.startswith("0x"):
        return _whole(node, int(text, 16))
    if "e" in text:
        return Scalar(f"CAST({text} AS DOUBLE)", REAL)
    if "." in text:
        return Scalar(f"{text}D", REAL)
    return _whole(node, int(text))


def _whole(node: Number, value: int) -> Scalar:
    """Returns a whole number; one beyond INTEGER8 is UNSIGNED8."""
    if value >= _MOST:
        raise refusal(node, f"the number {value}", "one of at most 8 bytes")
    if value >= _MOST >> 1:
        return Scalar(f"{value}BD", Whole(is_signed=False))
    return Scalar(f"{value}L", INTEGER)


def read_text(_: Context, node: Text) -> Scalar:
    """Returns a text; the letter before it may make it bytes or a decimal."""
    match node.prefix:
        case "x" | "d":
            is_hex = node.prefix == "x"
            digits = node.value if is_hex else node.value.encode().hex()
            return Scalar(f"X'{digits}'", Bytes())
        case "e":
            number = Decimal(node.value)
            return Scalar(f"{number}BD", _exact(number))
        case "v":
            return Scalar(text_of(node.value), STRING)
        case _:
            length = len(node.value)
            text = node.value.rstrip(" ") if length else ""
            return Scalar(text_of(text), Letters(length))


def _exact(number: Decimal) -> Exact:
    """Returns the type of a decimal with just its digits."""
    places = max(0, -int(number.as_tuple().exponent))
    return Exact(max(len(number.as_tuple().digits), places), places)
