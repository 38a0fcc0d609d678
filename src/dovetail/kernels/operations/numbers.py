"""Numbers in columns, as Java computes them: they wrap, and x/0 is null."""

from __future__ import annotations

from collections.abc import Callable
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP, Context, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations import decimals
from dovetail.kernels.operations.values import Value, each, null_where, spread

_WIDE = Context(prec=400, Emax=9999, Emin=-9999)


def add(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns sums."""
    operation = decimals.add if pa.types.is_decimal(kind) else _add
    return operation(kind, left, right)


def _add(_kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns sums of machine numbers, which wrap."""
    return pc.add(left, right)


def subtract(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns differences."""
    if pa.types.is_decimal(kind):
        return decimals.add(kind, left, pc.negate(right))
    return pc.subtract(left, right)


def multiply(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns products."""
    if pa.types.is_decimal(kind):
        return decimals.multiply(kind, left, right)
    return pc.multiply(left, right)


def divide(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns quotients, null where the divisor is zero."""
    if pa.types.is_decimal(kind):
        return decimals.divide(kind, left, right)
    return null_where(pc.equal(right, _zero(right)), pc.divide(left, right))


def whole_quotient(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns quotients cut towards zero, null where the divisor is zero."""
    if pa.types.is_decimal(left.type):
        return decimals.whole_quotient(kind, left, right)
    return _cut_quotient(left, null_where(pc.equal(right, _zero(right)), right))


def _cut_quotient(left: Value, divisor: Value) -> Value:
    """Returns quotients cut towards zero; the least number over -1 wraps to itself."""
    minus_one = pa.scalar(-1, divisor.type)
    by_minus_one = pc.equal(divisor, minus_one)
    quotient = pc.divide(
        left, pc.if_else(by_minus_one, pa.scalar(1, divisor.type), divisor)
    )
    return pc.if_else(by_minus_one, pc.negate(left), quotient)


def remainder(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns remainders with the sign of the dividend, null where the divisor is 0."""
    if pa.types.is_decimal(kind):
        return decimals.remainder(kind, left, right)
    divisor = null_where(pc.equal(right, _zero(right)), right)
    if pa.types.is_floating(kind):
        return _float_remainder(kind, left, divisor)
    return pc.subtract(left, pc.multiply(_cut_quotient(left, divisor), divisor))


def _float_remainder(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns floating point remainders."""
    one, other = spread(left, right)
    with np.errstate(invalid="ignore"):
        found = np.fmod(_numpy(one), _numpy(other))
    return _masked(pa.array(found, kind), one, other)


def negate(kind: pa.DataType, value: Value) -> Value:
    """Returns numbers with the other sign."""
    if pa.types.is_decimal(kind):
        return decimals.negate(kind, value)
    return pc.negate(value)


def absolute(kind: pa.DataType, value: Value) -> Value:
    """Returns numbers without sign; the least wraps to itself."""
    if pa.types.is_decimal(kind):
        return decimals.absolute(kind, value)
    return pc.abs(value)


def sign(_kind: pa.DataType, value: Value) -> Value:
    """Returns 1, 0 or -1 as doubles."""
    return pc.sign(value)


def floor(kind: pa.DataType, value: Value) -> Value:
    """Returns the whole numbers at or below."""
    return _whole(kind, value, pc.floor)


def ceil(kind: pa.DataType, value: Value) -> Value:
    """Returns the whole numbers at or above."""
    return _whole(kind, value, pc.ceil)


def _whole(kind: pa.DataType, value: Value, cut: Callable[[Value], Value]) -> Value:
    """Returns whole numbers of decimals or doubles; bigints are whole already."""
    if pa.types.is_decimal(value.type):
        return decimals.whole(kind, value, cut)
    return value if value.type == kind else saturated(kind, cut(value))


def saturated(kind: pa.DataType, value: Value) -> Value:
    """Returns doubles cut towards zero, at the edges where too great; NaN is 0."""
    most = np.iinfo(kind.to_pandas_dtype()).max
    numbers = np.nan_to_num(np.trunc(_numpy(value).astype("f8")), nan=0)
    low, high = numbers <= float(-most - 1), numbers >= float(most)
    inside = np.where(low | high, 0, numbers).astype(f"i{kind.bit_width // 8}")
    found = np.where(high, most, np.where(low, -most - 1, inside))
    return _masked(pa.array(found, kind), value)


def power(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns powers; one to the infinite is NaN, as in Java."""
    one, other = spread(left, right)
    base, exponent = _numpy(one), _numpy(other)
    with np.errstate(all="ignore"):
        found = np.power(base, exponent)
    unknown = (np.abs(base) == 1) & ~np.isfinite(exponent)
    found = np.where(unknown, np.nan, found)
    return _masked(pa.array(found, kind, from_pandas=False), one, other)


def root(_kind: pa.DataType, value: Value) -> Value:
    """Returns square roots, NaN of negative numbers."""
    return pc.sqrt(value)


def exponential(_kind: pa.DataType, value: Value) -> Value:
    """Returns e to the power."""
    return pc.exp(value)


def logarithm(_kind: pa.DataType, value: Value) -> Value:
    """Returns natural logarithms, null of what is not positive."""
    return null_where(pc.less_equal(value, _zero(value)), pc.ln(value))


def round_half_up(kind: pa.DataType, value: Value, *, digits: int) -> Value:
    """Returns numbers rounded, halves away from zero."""
    if pa.types.is_decimal(value.type):
        return decimals.rounded(
            kind, value, digits=digits, mode="half_towards_infinity"
        )
    return _rounded(kind, value, digits=digits, mode=ROUND_HALF_UP)


def round_half_even(kind: pa.DataType, value: Value, *, digits: int) -> Value:
    """Returns numbers rounded, halves to the even neighbour."""
    if pa.types.is_decimal(value.type):
        return decimals.rounded(kind, value, digits=digits, mode="half_to_even")
    return _rounded(kind, value, digits=digits, mode=ROUND_HALF_EVEN)


def _rounded(kind: pa.DataType, value: Value, *, digits: int, mode: str) -> Value:
    """Returns machine numbers rounded by their decimal digits, as Spark does."""
    unit = Decimal(1).scaleb(-digits)

    def exactly(number: float) -> float:
        return number if not np.isfinite(number) else _quantized(number, unit, mode)

    if pa.types.is_floating(kind):
        return each(kind, exactly, value)
    if digits >= 0:
        return value
    wide = each(
        pa.int64(), lambda number: _low_bits(_quantized(number, unit, mode)), value
    )
    return wide.cast(kind, safe=False)


def _quantized(number: float, unit: Decimal, mode: str) -> float:
    """Returns one number rounded to a unit."""
    found = Decimal(repr(number)).quantize(unit, rounding=mode, context=_WIDE)
    return type(number)(found)


def _low_bits(number: float) -> int:
    """Returns the bigint that a whole number wraps to."""
    return (int(number) + (1 << 63)) % (1 << 64) - (1 << 63)


def _zero(value: Value) -> pa.Scalar:
    """Returns the zero of a type of numbers."""
    return pa.scalar(0, value.type)


def _numpy(value: pa.Array) -> np.ndarray:
    """Returns numbers for numpy; what stands for null is masked afterwards."""
    return np.asarray(value.fill_null(0).to_numpy(zero_copy_only=False))


def _masked(found: pa.Array, *values: pa.Array) -> pa.Array:
    """Returns values with null wherever an argument was null."""
    for value in values:
        if value.null_count:
            found = null_where(pc.is_null(value), found)
    return found
