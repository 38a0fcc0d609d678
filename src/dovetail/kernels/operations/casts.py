"""Casts in columns, as Spark does them without ANSI mode.

Whole numbers lose their high bits, doubles are cut and kept at the edges, decimals are
rounded half up and are null where they have no room. Of texts only numbers and truths
are read here, whole columns at once; whitespace around a text does not count. Other
casts expressions do row by row.
"""

from __future__ import annotations

from decimal import Decimal

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.operations import numbers, values

_BLANKS = "".join(map(chr, range(33))) + "\x7f"  # what Spark trims: controls and space
_WHOLE = r"^(?P<sign>[+-]?)(?P<digits>[0-9]*)(?P<rest>\.[0-9]*)?$"
_FRACTION = (
    r"^[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[dDfF]?|inf|nan)$"
)
_YES, _NO = ["t", "true", "y", "yes", "1"], ["f", "false", "n", "no", "0"]
_DIGITS = 19  # no bigint has more


def cast(kind: pa.DataType, value: values.Value) -> values.Value:
    """Returns values of another type."""
    if value.type == kind:
        return value
    if pa.types.is_string(value.type):
        return _read(kind, value, careful=False)
    if pa.types.is_string(kind):
        return value.cast(kind)
    if pa.types.is_boolean(kind):
        return pc.not_equal(value, pa.scalar(Decimal(0)).cast(value.type))
    if pa.types.is_integer(kind) or pa.types.is_floating(kind):
        return _to_machine_number(kind, value)
    if pa.types.is_decimal(kind):
        if pa.types.is_decimal(value.type):
            return numbers.fitted(kind, value)
        whole = value.cast(pa.int64()).cast(pa.decimal128(19, 0))
        return numbers.fitted(kind, whole)
    return value.cast(kind, safe=False)


def try_cast(kind: pa.DataType, value: values.Value) -> values.Value:
    """Returns values that texts say; a whole number has no digits behind a point."""
    return _read(kind, value, careful=True)


def _to_machine_number(kind: pa.DataType, value: values.Value) -> values.Value:
    """Returns numbers: whole ones cut towards zero, else the nearest ones."""
    is_whole = pa.types.is_integer(kind)
    if pa.types.is_decimal(value.type):
        # Arrow reads texts exactly, but divides decimals by powers of ten.
        exact = value if is_whole else value.cast(pa.string())
        value = exact.cast(pa.int64() if is_whole else pa.float64(), safe=False)
    elif is_whole and pa.types.is_floating(value.type):
        # Java cuts a double to an int before it narrows that further.
        least = kind if kind.bit_width >= pa.int32().bit_width else pa.int32()
        value = numbers.saturated(least, value)
    elif pa.types.is_boolean(value.type):
        value = value.cast(pa.int8())
    # Not safe: what has no room loses its high bits, as in Java.
    return value.cast(kind, safe=False)


def _read(kind: pa.DataType, value: values.Value, *, careful: bool) -> values.Value:
    """Returns the values of a type that texts say; the careful want whole numbers."""
    plain = pc.utf8_trim(value, characters=_BLANKS)
    if pa.types.is_integer(kind):
        return _whole(kind, plain, careful=careful)
    if pa.types.is_floating(kind):
        word = pc.replace_substring(pc.ascii_lower(plain), "infinity", "inf")
        wrong = pc.invert(pc.match_substring_regex(word, pattern=_FRACTION))
        unsigned = pc.replace_substring_regex(word, pattern=r"^\+", replacement="")
        # Java's suffixes `d` and `f` are allowed; Arrow reads neither.
        digits = pc.replace_substring_regex(
            unsigned, pattern=r"([0-9.])[df]$", replacement=r"\1"
        )
        found = values.null_where(wrong, digits).cast(pa.float64())
        return found.cast(kind, safe=False)
    # A word that is neither is null, not false.
    word = pc.ascii_lower(plain)
    is_yes, is_no = (pc.is_in(word, value_set=pa.array(words)) for words in (_YES, _NO))
    return values.null_where(pc.invert(pc.or_(is_yes, is_no)), is_yes)


def _whole(kind: pa.DataType, plain: values.Value, *, careful: bool) -> values.Value:
    """Returns whole numbers that fit; only the careful mind digits behind a point."""
    parts = pc.extract_regex(plain, pattern=_WHOLE)
    sign, digits, rest = (pc.struct_field(parts, [place]) for place in range(3))
    wrong = pc.and_(pc.equal(digits, ""), pc.equal(rest, ""))
    wrong = pc.or_(wrong, pc.not_equal(rest, "")) if careful else wrong
    short = pc.utf8_ltrim(digits, characters="0")
    long = pc.greater(pc.utf8_length(short), _DIGITS)
    minus = pc.if_else(pc.equal(sign, "-"), "-", "")
    known = values.null_where(pc.or_(wrong, long), short)
    # a zero in front of every number: Arrow reads no empty text
    text = pc.binary_join_element_wise(minus, "0", known, "")
    number = text.cast(pa.decimal128(_DIGITS + 2, 0))
    most = 1 << (kind.bit_width - 1)
    low, high = (pa.scalar(Decimal(edge), number.type) for edge in (-most, most - 1))
    outside = pc.or_(pc.less(number, low), pc.greater(number, high))
    return values.null_where(outside, number).cast(kind)
