"""Casts in columns, as Spark does them without ANSI mode.

Whole numbers lose their high bits, doubles are cut and kept at the edges, decimals are
rounded half up and are null where they have no room.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations import decimals, numbers
from dovetail.kernels.operations.reading import read
from dovetail.kernels.operations.values import Value, each, null_where
from dovetail.kernels.operations.writing import written

_WIDE = Context(prec=400, rounding=ROUND_HALF_UP, Emax=9999, Emin=-9999)


def cast(kind: pa.DataType, value: Value) -> Value:
    """Returns values of another type."""
    if value.type == kind:
        return value
    if pa.types.is_string(value.type):
        return read(kind, value, careful=False)
    if pa.types.is_string(kind):
        return written(kind, value)
    if pa.types.is_boolean(kind):
        return pc.not_equal(value, pa.scalar(Decimal(0)).cast(value.type))
    if pa.types.is_integer(kind):
        return _to_whole(kind, value)
    if pa.types.is_floating(kind):
        return _to_fraction(kind, value)
    if pa.types.is_decimal(kind):
        return _to_decimal(kind, value)
    return value.cast(kind, safe=False)


def try_cast(kind: pa.DataType, value: Value) -> Value:
    """Returns values that texts say; a whole number has no digits behind a point."""
    return read(kind, value, careful=True)


def _to_whole(kind: pa.DataType, value: Value) -> Value:
    """Returns whole numbers, cut towards zero."""
    if pa.types.is_floating(value.type):
        least = kind if kind.bit_width >= pa.int32().bit_width else pa.int32()
        return numbers.saturated(least, value).cast(kind, safe=False)
    if pa.types.is_decimal(value.type):
        value = value.cast(pa.int64(), safe=False)
    return value.cast(kind, safe=False)


def _to_fraction(kind: pa.DataType, value: Value) -> Value:
    """Returns floating point numbers, of decimals the nearest ones.

    Arrow reads texts exactly, but divides decimals by powers of ten.
    """
    if pa.types.is_decimal(value.type):
        return value.cast(pa.string()).cast(pa.float64()).cast(kind, safe=False)
    if pa.types.is_boolean(value.type):
        value = value.cast(pa.int8())
    return value.cast(kind, safe=False)


def _to_decimal(kind: pa.Decimal128Type, value: Value) -> Value:
    """Returns decimals, half up, null where they have no room."""
    if pa.types.is_floating(value.type):
        return _from_fraction(kind, value)
    if pa.types.is_decimal(value.type):
        return decimals.fitted(kind, value)
    whole = value.cast(pa.int64()).cast(pa.decimal128(19, 0))
    return decimals.fitted(kind, whole)


def _from_fraction(kind: pa.Decimal128Type, value: Value) -> Value:
    """Returns the decimals that floating point numbers are written as."""
    unit, room = Decimal(1).scaleb(-kind.scale), kind.precision - kind.scale

    def exactly(number: float) -> Decimal | None:
        found = Decimal(repr(number)).quantize(unit, context=_WIDE)
        return found if not found or found.adjusted() < room else None

    finite = null_where(pc.invert(pc.is_finite(value)), value)
    return each(kind, exactly, finite)
