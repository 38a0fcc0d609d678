"""Numbers in columns, as Java computes them: they wrap, and x/0 is null.

Decimals are computed wide and exactly, then rounded half up to their type; what Arrow
cannot do exactly (quotients, products of many digits) expressions compute row by row.
Bits are those of two's complement, shifts go round at the width of the type. Angles,
logarithms and their kin are NaN out of range, never an error.
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations.values import Value, null_where, spread

MOST_WIDE_DIGITS = 76
BYTE = 8
# The ones of each byte: those of a number are the sum over its bytes.
_COUNTS = np.array([value.bit_count() for value in range(1 << BYTE)], np.int32)
Curve = Callable[..., np.ndarray]


def add(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns sums; machine numbers wrap, decimals without room are null."""
    if pa.types.is_decimal(kind):
        return fitted(kind, pc.add(_widened(left), _widened(right)))
    return pc.add(left, right)


def subtract(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns differences."""
    if pa.types.is_decimal(kind):
        return add(kind, left, pc.negate(right))
    return pc.subtract(left, right)


def multiply(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns products."""
    if pa.types.is_decimal(kind):
        return fitted(kind, pc.multiply(_widened(left), _widened(right)))
    return pc.multiply(left, right)


def divide(_kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns quotients, null where the divisor is zero."""
    return null_where(pc.equal(right, _zero(right)), pc.divide(left, right))


def whole_quotient(_kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns quotients cut towards zero, null where the divisor is zero."""
    return _cut_quotient(left, null_where(pc.equal(right, _zero(right)), right))


def _cut_quotient(left: Value, divisor: Value) -> Value:
    """Returns quotients cut towards zero; the least number over -1 wraps to itself."""
    minus_one = pa.scalar(-1, divisor.type)
    # the least number over -1 wraps in Java, but not in Arrow: negate in its place
    by_minus_one = pc.equal(divisor, minus_one)
    quotient = pc.divide(
        left, pc.if_else(by_minus_one, pa.scalar(1, divisor.type), divisor)
    )
    return pc.if_else(by_minus_one, pc.negate(left), quotient)


def remainder(kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns remainders with the sign of the dividend, null where the divisor is 0."""
    divisor = null_where(pc.equal(right, _zero(right)), right)
    if pa.types.is_floating(kind):
        one, other = spread(left, divisor)
        # `fmod` has the sign of the dividend, as Java has it; an infinite one gives
        # NaN.
        with np.errstate(invalid="ignore"):
            found = np.fmod(_numpy(one), _numpy(other))
        return _masked(pa.array(found, kind), one, other)
    return pc.subtract(left, pc.multiply(_cut_quotient(left, divisor), divisor))


def negate(_kind: pa.DataType, value: Value) -> Value:
    """Returns numbers with the other sign."""
    return pc.negate(value)


def absolute(_kind: pa.DataType, value: Value) -> Value:
    """Returns numbers without sign; the least wraps to itself."""
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
        return cut(_widened(value)).cast(pa.decimal256(MOST_WIDE_DIGITS, 0)).cast(kind)
    return value if value.type == kind else saturated(kind, cut(value))


def saturated(kind: pa.DataType, value: Value) -> Value:
    """Returns doubles cut towards zero, at the edges where too great; NaN is 0."""
    most = np.iinfo(kind.to_pandas_dtype()).max
    numbers = np.nan_to_num(np.trunc(_numpy(value).astype("f8")), nan=0)
    # the greatest bigint is no double: compare first, and cast only what is inside
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
    # C says 1 here, Java says NaN
    unknown = (np.abs(base) == 1) & ~np.isfinite(exponent)
    found = np.where(unknown, np.nan, found)
    # Not `from_pandas`: to that a NaN would be a null.
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
    """Returns decimals rounded, halves away from zero."""
    return _rounded(kind, value, digits=digits, mode="half_towards_infinity")


def round_half_even(kind: pa.DataType, value: Value, *, digits: int) -> Value:
    """Returns decimals rounded, halves to the even neighbour."""
    return _rounded(kind, value, digits=digits, mode="half_to_even")


def _rounded(kind: pa.Decimal128Type, value: Value, *, digits: int, mode: str) -> Value:
    """Returns decimals rounded to a number of digits."""
    if digits < value.type.scale:
        # Rounding up may need one digit more: 9.99 becomes 10.0.
        value = pc.round(_widened(value), ndigits=digits, round_mode=mode)
    return fitted(kind, value)


def _widened(value: Value) -> Value:
    """Returns decimals with room for one more digit."""
    kind = value.type
    return value.cast(
        pa.decimal256(min(kind.precision + 1, MOST_WIDE_DIGITS), kind.scale)
    )


def fitted(kind: pa.Decimal128Type, value: Value) -> Value:
    """Returns decimals at the type's scale, half up, null where they have no room."""
    if value.type.scale > kind.scale:
        value = pc.round(
            _widened(value), ndigits=kind.scale, round_mode="half_towards_infinity"
        )
    # Only where values have more digits in front of the point can one be too great.
    if value.type.precision - value.type.scale > kind.precision - kind.scale:
        most = Decimal(10) ** (kind.precision - kind.scale)
        # Wide enough for the bound as well as for the values that are compared with it.
        whole = max(
            value.type.precision - value.type.scale, kind.precision - kind.scale + 1
        )
        bound = pa.scalar(most).cast(
            pa.decimal256(
                min(whole + value.type.scale, MOST_WIDE_DIGITS), value.type.scale
            )
        )
        value = null_where(pc.greater_equal(pc.abs(value), bound), value)
    return value.cast(pa.decimal256(MOST_WIDE_DIGITS, kind.scale)).cast(kind)


def bits_of_both(_kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns the bits that both have."""
    return pc.bit_wise_and(left, right)


def bits_of_either(_kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns the bits that either has."""
    return pc.bit_wise_or(left, right)


def bits_of_one(_kind: pa.DataType, left: Value, right: Value) -> Value:
    """Returns the bits that one of both has."""
    return pc.bit_wise_xor(left, right)


def other_bits(_kind: pa.DataType, value: Value) -> Value:
    """Returns the bits that a number lacks."""
    return pc.bit_wise_not(value)


def _shift(
    move: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Callable[..., Value]:
    """Returns the operation of a shift."""

    def shifted(kind: pa.DataType, value: Value, places: Value) -> Value:
        numbers, counts = spread(value, places)
        known = pc.and_(pc.is_valid(numbers), pc.is_valid(counts))
        width = np.dtype(kind.to_pandas_dtype())
        # To Java a shift of an int by 33 places is one by 1.
        moved = move(_numpy(numbers), _numpy(counts).astype(width) % kind.bit_width)
        return null_where(pc.invert(known), pa.array(moved.astype(width), kind))

    return shifted


def _unsigned(numbers: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Returns bits moved right, with zeros behind them."""
    width = np.dtype(f"u{numbers.itemsize}")
    # Without a sign: so zeros come in from the left, not the sign's ones.
    moved = np.right_shift(numbers.view(width), counts.astype(width))
    return np.asarray(moved.view(numbers.dtype))


shifted_left = _shift(np.left_shift)
shifted_right = _shift(np.right_shift)
shifted_unsigned = _shift(_unsigned)


def count_bits(kind: pa.DataType, value: Value) -> Value:
    """Returns the number of ones; a narrow number counts as the bigint it is."""
    numbers = _numpy(
        value.cast(pa.int8()) if pa.types.is_boolean(value.type) else value
    )
    parts = np.ascontiguousarray(numbers.astype(np.int64)).view(np.uint8)
    found = _COUNTS[parts].reshape(len(numbers), BYTE).sum(axis=1)
    return null_where(pc.is_null(value), pa.array(found.astype(np.int32), kind))


def curve(function: Curve) -> Callable[..., Value]:
    """Returns the operation of a function of doubles."""

    def operation(kind: pa.DataType, *values: Value) -> Value:
        columns = spread(*values)
        numbers = [np.asarray(column.fill_null(0)) for column in columns]
        with np.errstate(all="ignore"):
            found = pa.array(function(*numbers), kind, from_pandas=False)
        for column in columns:
            found = null_where(pc.is_null(column), found)
        return found

    return operation


def positive_curve(function: Curve, above: float) -> Callable[..., Value]:
    """Returns the operation of a logarithm, null of what is not above a bound."""
    computed = curve(function)

    def operation(kind: pa.DataType, *values: Value) -> Value:
        found = computed(kind, *values)
        for value in values:
            found = null_where(pc.less_equal(value, pa.scalar(above)), found)
        return found

    return operation


def to_base(base: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Returns logarithms to a base."""
    return np.asarray(np.log(value) / np.log(base))


def angle(height: np.ndarray, width: np.ndarray) -> np.ndarray:
    """Returns the angles of points; a negative zero is a zero."""
    # Adding 0.0 makes a zero of -0.0, which lies at another angle.
    return np.asarray(np.arctan2(height + 0.0, width + 0.0))


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
