"""Decimals in columns: computed wide and exactly, then rounded half up to their type.

What Arrow cannot do exactly (quotients, remainders, products of many digits) is
computed row by row with Python's decimals.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations.values import Value, each, null_where

MOST_DIGITS, MOST_WIDE_DIGITS = 38, 76
_WIDE = Context(prec=400, rounding=ROUND_HALF_UP, Emax=9999, Emin=-9999)
_FACTORS = Context(prec=MOST_DIGITS + 1, rounding=ROUND_HALF_UP, Emax=9999, Emin=-9999)
_SIGNS = Context(prec=34, rounding=ROUND_HALF_EVEN, Emax=9999, Emin=-9999)
_QUOTIENT = Decimal(1).scaleb(-MOST_DIGITS - 1)


def add(kind: pa.Decimal128Type, left: Value, right: Value) -> Value:
    """Returns sums, null where they have no room."""
    scale = max(left.type.scale, right.type.scale)
    whole = max(value.type.precision - value.type.scale for value in (left, right))
    if whole + scale + 1 > MOST_WIDE_DIGITS:
        return _exactly(kind, _WIDE.add, left, right)
    return fitted(kind, pc.add(widened(left), widened(right)))


def multiply(kind: pa.Decimal128Type, left: Value, right: Value) -> Value:
    """Returns products, null where they have no room."""
    if left.type.precision + right.type.precision > MOST_DIGITS:
        return _exactly(kind, _FACTORS.multiply, left, right)
    return fitted(kind, pc.multiply(widened(left), widened(right)))


def divide(kind: pa.Decimal128Type, left: Value, right: Value) -> Value:
    """Returns quotients, rounded at 39 digits first as Spark does; null over zero."""

    def quotient(one: Decimal, other: Decimal) -> Decimal:
        return _WIDE.divide(one, other).quantize(_QUOTIENT, context=_WIDE)

    return _exactly(kind, quotient, left, _not_zero(right))


def remainder(kind: pa.Decimal128Type, left: Value, right: Value) -> Value:
    """Returns remainders with the sign of the dividend, null over zero."""
    return _exactly(kind, _WIDE.remainder, left, _not_zero(right))


def whole_quotient(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns quotients cut towards zero, as bigints of the low bits."""
    digits = left.type.precision - left.type.scale + right.type.scale
    wide = pa.decimal128(min(max(digits, 1), MOST_DIGITS), 0)
    found = _exactly(wide, _WIDE.divide_int, left, _not_zero(right))
    return found.cast(kind, safe=False)


def whole(
    kind: pa.Decimal128Type, value: Value, cut: Callable[[Value], Value]
) -> Value:
    """Returns decimals cut to whole ones."""
    return cut(widened(value)).cast(pa.decimal256(MOST_WIDE_DIGITS, 0)).cast(kind)


def negate(kind: pa.Decimal128Type, value: Value) -> Value:
    """Returns decimals with the other sign; Scala then keeps 34 digits."""
    if kind.precision <= _SIGNS.prec:
        return pc.negate(value)
    return _exactly(kind, _SIGNS.minus, value)


def absolute(kind: pa.Decimal128Type, value: Value) -> Value:
    """Returns decimals without sign; Scala keeps 34 digits of those that had one."""
    if kind.precision <= _SIGNS.prec:
        return pc.abs(value)
    return _exactly(kind, _unsigned, value)


def _unsigned(value: Decimal) -> Decimal:
    """Returns one decimal without its sign."""
    return _SIGNS.minus(value) if value < 0 else value


def rounded(kind: pa.Decimal128Type, value: Value, *, digits: int, mode: str) -> Value:
    """Returns decimals rounded to a number of digits."""
    if digits < value.type.scale:
        value = pc.round(widened(value), ndigits=digits, round_mode=mode)
    return fitted(kind, value)


def widened(value: Value) -> Value:
    """Returns decimals with room for one more digit."""
    kind = value.type
    return value.cast(
        pa.decimal256(min(kind.precision + 1, MOST_WIDE_DIGITS), kind.scale)
    )


def fitted(kind: pa.Decimal128Type, value: Value) -> Value:
    """Returns decimals at the type's scale, half up, null where they have no room."""
    if value.type.scale > kind.scale:
        value = pc.round(
            widened(value), ndigits=kind.scale, round_mode="half_towards_infinity"
        )
    if value.type.precision - value.type.scale > kind.precision - kind.scale:
        most = Decimal(10) ** (kind.precision - kind.scale)
        bound = pa.scalar(most).cast(_room(value.type, kind))
        value = null_where(pc.greater_equal(pc.abs(value), bound), value)
    return value.cast(pa.decimal256(MOST_WIDE_DIGITS, kind.scale)).cast(kind)


def _room(kind: pa.DataType, target: pa.Decimal128Type) -> pa.DataType:
    """Returns the type that can hold the bound of a target beside values of a type."""
    whole = max(kind.precision - kind.scale, target.precision - target.scale + 1)
    return pa.decimal256(min(whole + kind.scale, MOST_WIDE_DIGITS), kind.scale)


def _not_zero(value: Value) -> Value:
    """Returns divisors, null where they are zero."""
    return null_where(pc.equal(value, pa.scalar(Decimal(0)).cast(value.type)), value)


def _exactly(
    kind: pa.Decimal128Type,
    function: Callable[..., Decimal],
    *values: Value,
) -> pa.Array:
    """Returns what a function of decimals gives, row by row, null without room."""
    unit, room = Decimal(1).scaleb(-kind.scale), kind.precision - kind.scale

    def computed(*numbers: Decimal) -> Decimal | None:
        found = function(*numbers).quantize(unit, context=_WIDE)
        return found if not found or found.adjusted() < room else None

    return each(kind, computed, *values)
