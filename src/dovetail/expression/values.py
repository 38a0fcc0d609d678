"""Plain values: how numbers wrap, round and fit, and in which order values stand.

Spark computes in Java's machine numbers; Python's are wider. Everything that narrows
them is here, so that functions can be written in plain arithmetic.
"""

from __future__ import annotations

import decimal
import math
import struct
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from dovetail import schema
from dovetail.expression import kinds
from dovetail.expression.tree import Kind, Value

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
EPOCH_DAY = date(1970, 1, 1).toordinal()
MICROSECOND = timedelta(microseconds=1)
SECOND = 1_000_000  # microseconds
MINUTE, HOUR, DAY = 60 * SECOND, 3600 * SECOND, 86_400 * SECOND
LONG = 64  # bits of a bigint

# Wide enough for sums and products of 38 digits, and for the digits of any double.
WIDE = decimal.Context(
    prec=400, rounding=decimal.ROUND_HALF_UP, Emax=9999, Emin=-9999, traps=[]
)


def wrapped(value: int, bits: int) -> int:
    """Returns the machine number that a whole number becomes: the low bits, signed."""
    # Python's % is never negative, so moving by half and back keeps the sign
    half = 1 << (bits - 1)
    return (value + half) % (half << 1) - half


def saturated(value: float, bits: int) -> int:
    """Returns the nearest machine number of a double, cut towards zero; NaN is 0."""
    if math.isnan(value):
        return 0
    most = (1 << (bits - 1)) - 1
    return int(max(-most - 1, min(most, value)))


def single(value: float) -> float:
    """Returns the double of the single-precision number nearest to a double."""
    return float(struct.unpack("f", struct.pack("f", value))[0])


def rounded(value: Decimal, scale: int) -> Decimal:
    """Returns a decimal with so many digits behind the point, half up."""
    found = value.quantize(Decimal(1).scaleb(-scale), context=WIDE)
    return found or found.copy_abs()  # Java's decimals know no negative zero


def fitted(value: Decimal, kind: schema.DecimalType) -> Decimal | None:
    """Returns a decimal at the type's scale, or None where it has no room."""
    if not value.is_finite():
        return None
    found = rounded(value, kind.scale)
    # a number of more digits than WIDE has is none any more
    room = found.is_zero() or found.adjusted() < kind.precision - kind.scale
    return found if room and found.is_finite() else None


def exact(value: float | Decimal) -> Decimal:
    """Returns the decimal that Java takes a number for: a double as it is written."""
    return Decimal(repr(value)) if isinstance(value, float) else Decimal(value)


def micros_in(seconds: Decimal) -> int:
    """Returns the microseconds in so many seconds, parts of one cut off."""
    return int(WIDE.multiply(seconds, Decimal(SECOND)))


def micros(moment: datetime) -> int:
    """Returns the microseconds from 1970 to a moment, with or without its zone."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - EPOCH) // MICROSECOND


def moment(count: int) -> datetime | None:
    """Returns the moment so many microseconds after 1970, None beyond year 9999."""
    try:
        return EPOCH + timedelta(microseconds=count)
    except OverflowError:
        return None


def order(kind: Kind) -> Callable[[Value], Value]:
    """Returns what to compare values of a type by: NaN is greatest, null least."""
    match kind:
        case _ if kinds.is_fraction(kind):
            # no NaN stands in the key: it would not even equal itself
            return lambda value: (True, 0.0) if math.isnan(value) else (False, value)
        case schema.ArrayType(element=element):
            inner = _null_first(order(element))
            return lambda items: [inner(item) for item in items]
        case schema.StructType(fields=fields):
            # in the type's order, whatever the order in the record
            parts = [(name, _null_first(order(part))) for name, part in fields]
            return lambda record: [part(record.get(name)) for name, part in parts]
        case _:
            return lambda value: value


def _null_first(inner: Callable[[Value], Value]) -> Callable[[Value], Value]:
    """Returns a key in which null equals itself and is least."""
    return lambda value: (False,) if value is None else (True, inner(value))


def hashable(value: Value) -> Value:
    """Returns a key whose lists are tuples, so that sets and dictionaries hold it."""
    return tuple(map(hashable, value)) if isinstance(value, list | tuple) else value
