"""Kinds of values: their names, their families, and the one that two of them meet in.

Meeting follows Spark's rules without ANSI mode. Spark has three questions and so have
we: the *tightest* type that loses nothing (operators), the *wider* type (CASE,
coalesce, arrays; texts win), and the type that two sides of a comparison are cast to
(texts lose). None of them knows a function.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dovetail import schema
from dovetail.errors import UnsupportedError
from dovetail.expression.tree import Interval, Kind

NULL = schema.AtomicType.NULL
BOOLEAN = schema.AtomicType.BOOLEAN
TINYINT = schema.AtomicType.TINYINT
SMALLINT = schema.AtomicType.SMALLINT
INT = schema.AtomicType.INT
BIGINT = schema.AtomicType.BIGINT
FLOAT = schema.AtomicType.FLOAT
DOUBLE = schema.AtomicType.DOUBLE
STRING = schema.AtomicType.STRING
BINARY = schema.AtomicType.BINARY
DATE = schema.AtomicType.DATE
TIMESTAMP = schema.AtomicType.TIMESTAMP
TIMESTAMP_NTZ = schema.AtomicType.TIMESTAMP_NTZ

BITS = {TINYINT: 8, SMALLINT: 16, INT: 32, BIGINT: 64}
FRACTIONS, MOMENTS, DATES = schema.FRACTIONS, schema.MOMENTS, schema.DATES
# In both of these a later type holds what an earlier one holds.
_PRECEDENCE = (*BITS, *FRACTIONS)
# A bigint has 19 digits; Spark counts 20 where one becomes a decimal.
_DIGITS: dict[Kind, int] = {TINYINT: 3, SMALLINT: 5, INT: 10, BIGINT: 20}
MOST_DIGITS = schema.MOST_DIGITS
LEAST_SCALE = 6  # digits behind the point that an overflowing result keeps

Meeting = Callable[[Kind, Kind], Kind | None]

# Families


def is_integral(kind: Kind) -> bool:
    """Tells whether values of this type are whole machine numbers."""
    return kind in BITS


def is_fraction(kind: Kind) -> bool:
    """Tells whether values of this type are floating point numbers."""
    return kind in FRACTIONS


def is_numeric(kind: Kind) -> bool:
    """Tells whether values of this type are numbers."""
    return kind in _PRECEDENCE or isinstance(kind, schema.DecimalType)


def sum_text(total: str, item: str, kind: schema.Type) -> str:
    """Returns in Spark's SQL a total of a type and one more value, exact or null.

    From the sum of decimals of 38 digits Spark takes one behind the point, for one more
    in front; where both have one less in front, all are there.
    """
    plain = f"CAST({total} + {item} AS {kind})"
    if not isinstance(kind, schema.DecimalType) or kind.precision < MOST_DIGITS:
        return plain
    scale = kind.scale
    if scale <= LEAST_SCALE:
        return plain
    # What is too long for that is added without its point.
    digits = (
        f"CAST(replace(TRY_CAST(CAST({it} AS {kind}) AS STRING), '.', '') AS "
        f"{schema.DecimalType(MOST_DIGITS, 0)})"
        for it in (total, item)
    )
    exact = f"CAST(concat(CAST({' + '.join(digits)} AS STRING), 'E-{scale}') AS {kind})"
    if scale == MOST_DIGITS:
        return exact
    narrow = schema.DecimalType(MOST_DIGITS - 1, scale)
    return f"coalesce(CAST({total} AS {narrow}) + CAST({item} AS {narrow}), {exact})"


def is_atomic(kind: Kind) -> bool:
    """Tells whether values of this type have no parts; null has no type yet."""
    atomic = schema.AtomicType | schema.DecimalType | Interval
    return isinstance(kind, atomic) and kind != NULL


def is_comparable(kind: Kind) -> bool:
    """Tells whether values of a type stand in an order; maps do not."""
    if isinstance(kind, Interval):
        return True
    return not any(isinstance(one, schema.MapType) for one in schema.inside(kind))


def holds(kind: Kind, other: Kind) -> bool:
    """Tells whether a type has all values of another one, each as it is."""
    # So many bits of a whole number a float, and a double, has.
    exact = {FLOAT: 24, DOUBLE: 53}
    match kind, other:
        case _ if other in (kind, NULL):
            return True
        case schema.DecimalType(), schema.DecimalType():
            whole = kind.precision - kind.scale >= other.precision - other.scale
            return whole and kind.scale >= other.scale
        case schema.DecimalType(), schema.AtomicType() if other in BITS:
            digits = len(str(1 << (BITS[other] - 1)))
            return kind.precision - kind.scale >= digits
        case schema.AtomicType(), schema.AtomicType() if other in BITS:
            return {**BITS, **exact}.get(kind, 0) >= BITS[other]
        case _:
            return (kind, other) == (DOUBLE, FLOAT)


def columnar(kind: Kind) -> schema.Type:
    """Returns the type of a column, or raises for a span of time, which has none."""
    if isinstance(kind, Interval):
        raise UnsupportedError(f'a value of type "{kind}"', hint="use a number")
    return kind


# Decimals


def bounded(precision: int, scale: int) -> schema.DecimalType:
    """Returns a decimal cut to 38 digits, the scale too."""
    return schema.DecimalType(min(precision, MOST_DIGITS), min(scale, MOST_DIGITS))


def adjusted(precision: int, scale: int) -> schema.DecimalType:
    """Returns a decimal of at most 38 digits that keeps its whole digits first."""
    if precision <= MOST_DIGITS:
        return schema.DecimalType(precision, scale)
    # what is lost first are digits behind the point, but for the last six of them
    room = MOST_DIGITS - (precision - scale)
    return schema.DecimalType(MOST_DIGITS, max(room, min(scale, LEAST_SCALE)))


def as_decimal(kind: Kind) -> schema.DecimalType:
    """Returns the decimal that holds every value of a decimal or a whole number."""
    if isinstance(kind, schema.DecimalType):
        return kind
    return schema.DecimalType(_DIGITS[kind], 0)


def _both_decimals(left: Kind, right: Kind) -> Kind | None:
    """Returns the wider type of two numbers of which one is a decimal."""
    both = (left, right)
    if not any(isinstance(kind, schema.DecimalType) for kind in both):
        return None
    if any(map(is_fraction, both)):
        return DOUBLE
    if not all(map(is_numeric, both)):
        return None
    one, other = map(as_decimal, both)
    # the whole digits of both, and the scale as far as it fits
    whole = max(one.precision - one.scale, other.precision - other.scale)
    scale = min(max(one.scale, other.scale), MOST_DIGITS - whole)
    return schema.DecimalType(whole + scale, scale)


# Meeting


def tightest(left: Kind, right: Kind) -> Kind | None:
    """Returns the type that holds both without loss, or None."""
    if right in (left, NULL):
        return left
    if left == NULL:
        return right
    for ordered in (_PRECEDENCE, DATES):
        if left in ordered and right in ordered:
            return max(left, right, key=ordered.index)
    # days and time are both microseconds; a month is no number of them
    if isinstance(left, Interval) and isinstance(right, Interval):
        return None if Interval.MONTHS in (left, right) else Interval.TIME
    for one, other in ((left, right), (right, left)):
        if isinstance(one, schema.DecimalType) and is_integral(other):
            # an operator does not widen a decimal for a number: it has room, or none
            fits = one.precision - one.scale >= as_decimal(other).precision
            return one if fits else None
    return _inside(left, right, tightest)


def _inside(left: Kind, right: Kind, meet: Meeting) -> Kind | None:
    """Returns the nested type whose parts meet, or None."""
    match left, right:
        case schema.ArrayType(element=one), schema.ArrayType(element=other):
            element = meet(one, other)
            return None if element is None else schema.ArrayType(columnar(element))
        case schema.MapType(), schema.MapType():
            key, value = meet(left.key, right.key), meet(left.value, right.value)
            if key is None or value is None:
                return None
            return schema.MapType(columnar(key), columnar(value))
        case schema.StructType(), schema.StructType():
            names = [[it.lower() for it, _ in side.fields] for side in (left, right)]
            # by name and place: Spark casts no struct to one in another order
            if names[0] != names[1]:
                return None
            pairs = zip(left.fields, right.fields, strict=True)
            kinds = [(it, meet(one, other)) for (it, one), (_, other) in pairs]
            known = [(it, columnar(kind)) for it, kind in kinds if kind is not None]
            whole = len(known) == len(kinds)
            return schema.StructType(tuple(known)) if whole else None
        case _:
            return None


def without_texts(left: Kind, right: Kind) -> Kind | None:
    """Returns the wider type, digits lost where needed; texts meet only texts."""
    return (
        tightest(left, right)
        or _both_decimals(left, right)
        or _inside(left, right, without_texts)
    )


def wider(left: Kind, right: Kind) -> Kind | None:
    """Returns the wider type; a text turns what it meets into text."""
    found = tightest(left, right) or _both_decimals(left, right)
    if found is not None:
        return found
    for one, other in ((left, right), (right, left)):
        if one == STRING and is_atomic(other) and other not in (BINARY, BOOLEAN):
            return STRING
    return _inside(left, right, wider)


def widest(types: Sequence[Kind]) -> Kind | None:
    """Returns the wider type of all; texts first, for `wider` is not associative."""

    def is_text(kind: Kind) -> bool:
        return (
            is_text(kind.element)
            if isinstance(kind, schema.ArrayType)
            else (kind == STRING)
        )

    return _fold(sorted(types, key=is_text, reverse=True), wider)


def widest_without_texts(types: Sequence[Kind]) -> Kind | None:
    """Returns the wider type of all, where texts meet only texts."""
    return _fold(types, without_texts)


def _fold(types: Sequence[Kind], meet: Meeting) -> Kind | None:
    """Returns where all types meet, two by two from the left, or None."""
    found: Kind | None = NULL
    for kind in types:
        found = None if found is None else meet(found, kind)
    return found


def compared(left: Kind, right: Kind) -> Kind | None:
    """Returns the type in which a comparison looks at both sides, or None."""
    if STRING in (left, right) and left != right:
        # a text is read as what it is compared with
        other = right if left == STRING else left
        if other == NULL:
            return STRING
        if isinstance(other, schema.DecimalType):
            return other if other.scale == 0 else DOUBLE
        return other if isinstance(other, schema.AtomicType) else None
    if NULL in (left, right):
        return tightest(left, right)
    # digits may be lost: decimals do not meet in the tightest type
    if any(isinstance(kind, schema.DecimalType) for kind in (left, right)):
        return _both_decimals(left, right)
    return tightest(left, right)


def whole(*types: Kind) -> Kind | None:
    """Returns the machine number that whole numbers of all types fit, or None."""
    common = _fold(types, tightest)
    return common if common is not None and is_integral(common) else None


def implicit(source: Kind, target: Kind) -> bool:
    """Tells whether a function that wants `target` takes a `source` by itself."""
    if source in (target, NULL):
        return True
    if source == STRING:
        return is_numeric(target) or target in (*DATES, BINARY)
    if target == STRING:
        return is_atomic(source) and not isinstance(source, Interval)
    if is_numeric(source):
        return is_numeric(target)
    return source in DATES and target in DATES
