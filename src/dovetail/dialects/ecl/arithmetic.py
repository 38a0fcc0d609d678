"""Arithmetic: numbers of one type or of several, as Spark SQL with the rules of ECL.

Dividing by zero gives 0, whole numbers wrap at 8 bytes, and decimals keep all digits
until they are assigned.
"""

from __future__ import annotations

from functools import reduce

from dovetail.dialects.ecl.casting import Scalar, signed, unsigned
from dovetail.dialects.ecl.context import as_type, refusal
from dovetail.dialects.ecl.nodes import Operation
from dovetail.dialects.ecl.types import (
    INTEGER,
    REAL,
    EclType,
    Exact,
    Real,
    Whole,
    as_exact,
    blank_text,
    common,
    product,
    quotient,
    spark_type,
    total,
)

NUMBERS = (Whole, Real, Exact)


def of_numbers(node: Operation, operands: list[Scalar]) -> Scalar:
    """Returns what an operator makes of two numbers."""
    values = [_as_number(node, one) for one in operands]
    match node.sign:
        case "/":
            return _divided(node, values)
        case "DIV" | "%":
            return _whole_divided(node, values)
        case "+" | "-" | "*":
            return _calculated(node, values)
        case _:
            raise refusal(node, f'the operator "{node.sign}"', "+, -, *, /, DIV or %")


def _as_number(node: Operation, value: Scalar) -> Scalar:
    """Returns a value as a number."""
    if isinstance(value.type, NUMBERS):
        return value
    return as_type(node, value, INTEGER)


def _divided(node: Operation, values: list[Scalar]) -> Scalar:
    """Returns a quotient with a fraction, 0 where the divisor is 0."""
    kind = reduce(common, [value.type for value in values])
    # Spark gives a quotient the more places the more the dividend has.
    wanted: list[EclType] = [REAL, REAL]
    if isinstance(kind, Exact):
        wanted = [quotient(kind), kind]
    result = wanted[0]
    pairs = zip(values, wanted, strict=True)
    one, other = (as_type(node, value, it).text for value, it in pairs)
    zero, blank = (f"CAST(0 AS {spark_type(it)})" for it in (wanted[1], result))
    text = f"CAST({one} / {other} AS {spark_type(result)})"
    return Scalar(f"IF({other} = {zero}, {blank}, coalesce({text}, {blank}))", result)


def _whole_divided(node: Operation, values: list[Scalar]) -> Scalar:
    """Returns a quotient or a rest of whole numbers, 0 where the divisor is 0."""
    kind = reduce(common, [as_type(node, one, INTEGER).type for one in values])
    is_wide = all(isinstance(one.type, Whole) and one.type.is_wide for one in values)
    wanted = Whole(is_signed=False) if is_wide else kind
    one, other = (as_type(node, value, wanted).text for value in values)
    blank = "0BD" if is_wide else "0L"
    result = f"CAST({one} {node.sign} {other} AS {spark_type(wanted)})"
    return Scalar(f"IF({other} = {blank}, {blank}, {result})", wanted)


def _calculated(node: Operation, values: list[Scalar]) -> Scalar:
    """Returns a sum, a difference or a product; whole numbers wrap at 8 bytes."""
    kind = reduce(common, [value.type for value in values])
    if isinstance(kind, Whole):
        one, other = (signed(value) for value in values)
        text = f"({one} {node.sign} {other})"
        is_wide = any(isinstance(it.type, Whole) and it.type.is_wide for it in values)
        if is_wide and not kind.is_signed:
            return Scalar(unsigned(text), Whole(is_signed=False))
        return Scalar(text, INTEGER)
    if isinstance(kind, Exact):
        return _calculated_exactly(node, values)
    one, other = (as_type(node, value, kind).text for value in values)
    return Scalar(f"CAST({one} {node.sign} {other} AS {spark_type(kind)})", kind)


def _calculated_exactly(node: Operation, values: list[Scalar]) -> Scalar:
    """Returns a sum, a difference or a product of decimals: no digit of it is lost."""
    kinds = [as_exact(it.type) for it in values if isinstance(it.type, Exact | Whole)]
    result = reduce(product if node.sign == "*" else total, kinds)
    pairs = zip(values, kinds, strict=True)
    one, other = (as_type(node, value, kind).text for value, kind in pairs)
    text = f"CAST({one} {node.sign} {other} AS {spark_type(result)})"
    return Scalar(f"coalesce({text}, {blank_text(result)})", result)
