"""Values from one type to another, as Spark SQL.

What does not fit is never null: numbers wrap at the size of their field, texts are cut
or filled with blanks, a text that is no number is 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import assert_never

from dovetail.dialects.ecl.types import (
    INTEGER,
    STRING,
    WIDEST,
    Bytes,
    EclType,
    Exact,
    Field,
    Letters,
    Real,
    RecordType,
    SetOf,
    TableType,
    Truth,
    Whole,
    blank_text,
    spark_type,
)
from dovetail.expression.writing import text_of
from dovetail.schema import AtomicType, quoted

_ALL = 1 << 64
_HALF = 1 << 63
_SIDES = {"l", "r"}
_DIGITS_OF_REAL = 16
_SIGNS = r"'^[ +-]*'"
_WHOLE_NUMBER = r"'^[ +-]*([0-9]+)'"
_ANY_NUMBER = r"'^ *([+-]?[0-9]*[.]?[0-9]*([eE][+-]?[0-9]+)?)'"


@dataclass(frozen=True, slots=True)
class Scalar:
    """A value as Spark SQL, with its type in ECL."""

    text: str
    type: EclType


def converted(value: Scalar, wanted: EclType) -> Scalar | None:
    """Returns the value as another type, or None where ECL has no such cast."""
    if value.type == wanted:
        return _standing(value)
    match wanted:
        case Whole():
            text = _to_whole(value, wanted)
        case Real() | Exact():
            text = _to_fraction(value, wanted)
        case Letters():
            text = _to_letters(value, wanted)
        case Truth():
            text = _to_truth(value)
        case SetOf() | RecordType() | TableType():
            text = _to_nested(value, wanted)
        case Bytes():
            text = _to_bytes(value)
        case _:
            assert_never(wanted)
    return Scalar(text, wanted) if text else None


def _standing(value: Scalar) -> Scalar:
    """Returns a value as it may stand: the row of a side is no value in Spark SQL."""
    if value.text in _SIDES and isinstance(value.type, RecordType):
        return Scalar(rebuilt(value, value.type), value.type)
    return value


def signed(value: Scalar) -> str:
    """Returns a whole number as a bigint; one beyond wraps."""
    if not (isinstance(value.type, Whole) and value.type.is_wide):
        return value.text
    wrapped = f"IF({value.text} >= {_HALF}BD, {value.text} - {_ALL}BD, {value.text})"
    return f"CAST({wrapped} AS BIGINT)"


def unsigned(text: str) -> str:
    """Returns a bigint as the number of UNSIGNED8 that has the same bits."""
    exact = f"CAST({text} AS DECIMAL(20,0))"
    return f"CAST(IF({text} < 0L, {exact} + {_ALL}BD, {exact}) AS DECIMAL(20,0))"


def full(value: Scalar) -> str:
    """Returns a text with the blanks that its type gives it."""
    if isinstance(value.type, Letters) and value.type.length:
        return f"rpad({value.text}, {value.type.length}, ' ')"
    return value.text


def trimmed(value: Scalar) -> str:
    """Returns a text as it is compared: without trailing blanks."""
    is_stored_so = isinstance(value.type, Letters) and value.type.length
    return value.text if is_stored_so else f"rtrim({value.text})"


def _to_whole(value: Scalar, wanted: Whole) -> str:
    """Returns a whole number of a size, or nothing."""
    match value.type:
        case Whole():
            return _resized(value, wanted)
        case Real() | Exact():
            whole = Scalar(f"CAST({value.text} AS BIGINT)", INTEGER)
        case Letters():
            whole = _read_whole(value.text, wanted)
        case Truth():
            whole = Scalar(f"CAST({value.text} AS BIGINT)", Whole(1))
        case _:
            return ""
    return _resized(whole, wanted)


def _read_whole(text: str, wanted: Whole) -> Scalar:
    """Returns the number that a text begins with, 0 where it begins with none.

    A type without a sign does not look at that of the text.
    """
    number = f"regexp_extract({text}, {_WHOLE_NUMBER}, 1)"
    if wanted.is_wide:
        found = f"coalesce(CAST({number} AS DECIMAL(20,0)), 0BD)"
        return Scalar(f"IF({found} < {_ALL}BD, {found}, 0BD)", wanted)
    found = f"coalesce(CAST({number} AS BIGINT), 0L)"
    if wanted.is_signed:
        sign = f"regexp_extract({text}, {_SIGNS}, 0)"
        found = f"IF(instr({sign}, '-') > 0, 0L - {found}, {found})"
    return Scalar(found, INTEGER)


def _resized(value: Scalar, wanted: Whole) -> str:
    """Returns a whole number in another size: it wraps where it does not fit."""
    found = value.type
    if not isinstance(found, Whole) or _holds(wanted, found):
        return _widened(value, wanted)
    if wanted.size == WIDEST:
        return signed(value) if wanted.is_signed else unsigned(value.text)
    room = 1 << (8 * wanted.size)
    if not wanted.is_signed:
        return f"pmod({signed(value)}, {room}L)"
    return f"(pmod({signed(value)} + {room // 2}L, {room}L) - {room // 2}L)"


def _holds(wanted: Whole, found: Whole) -> bool:
    """Tells whether every number of a type is one of another."""
    if wanted.is_signed == found.is_signed:
        return wanted.size >= found.size
    return wanted.is_signed and wanted.size > found.size


def _widened(value: Scalar, wanted: Whole) -> str:
    """Returns a number that fits, in the type that Spark has for it."""
    is_wide = isinstance(value.type, Whole) and value.type.is_wide
    return (
        f"CAST({value.text} AS DECIMAL(20,0))"
        if wanted.is_wide and not is_wide
        else value.text
    )


def _to_fraction(value: Scalar, wanted: Real | Exact) -> str:
    """Returns a number with a point, or nothing."""
    kind = spark_type(wanted)
    match value.type:
        case Letters():
            number = f"regexp_extract({value.text}, {_ANY_NUMBER}, 1)"
            text = f"CAST({number} AS {kind})"
        case Whole() | Real() | Exact():
            text = f"CAST({value.text} AS {kind})"
        case Truth():
            text = f"CAST(CAST({value.text} AS BIGINT) AS {kind})"
        case _:
            return ""
    return f"coalesce({text}, {blank_text(wanted)})"


def _to_letters(value: Scalar, wanted: Letters) -> str:
    """Returns a text of a length, or nothing."""
    match value.type:
        case Letters():
            text = _cut(value, wanted.length) if wanted.length else full(value)
            is_new = wanted.is_upper and not value.type.is_upper
            return f"upper({text})" if is_new else text
        case Bytes():
            text = f"CAST({value.text} AS STRING)"
        case Truth():
            text = f"IF({value.text}, '1', '')"
        case Real():
            return _within(_written_real(value), wanted.length, is_cut=True)
        case Whole() | Exact():
            return _within(_written_exact(value), wanted.length, is_cut=False)
        case _:
            return ""
    return _to_letters(Scalar(text, STRING), wanted)


def _within(text: str, length: int, *, is_cut: bool) -> str:
    """Returns a number that has been written, in a text of a length.

    Of a fraction places may be left out; a number that has no room is stars.
    """
    if not length:
        return text
    stars = text_of("*" * length)
    if is_cut:
        fits = f"instr({text}, '.') BETWEEN 1 AND {length + 1}"
        stars = f"IF({fits}, substring({text}, 1, {length}), {stars})"
    return f"IF(length({text}) > {length}, {stars}, {text})"


def _written_exact(value: Scalar) -> str:
    """Returns a whole number or a decimal as a text, without zeros at its end."""
    if not isinstance(value.type, Exact):
        return f"CAST({value.text} AS STRING)"
    # CAST would write small decimals with an exponent.
    text = f"TRY_CAST({value.text} AS STRING)"
    return f"regexp_replace({text}, '[.]?0+$', '')" if value.type.places else text


def _written_real(value: Scalar) -> str:
    """Returns a REAL as a text of at most 16 digits, those of REAL4 of 7, as HPCC does.

    An exponent is written below 0.0001 and where the digits do not reach the point;
    all other numbers have a point.
    """
    digits = _DIGITS_OF_REAL if spark_type(value.type) == AtomicType.DOUBLE else 7
    number = f"CAST({value.text} AS DOUBLE)"
    written = f"format_string('%.{digits - 1}e', {number})"
    exponent = f"regexp_replace({written}, '[.]?0*e', 'e')"
    exact = f"TRY_CAST(CAST({written} AS DECIMAL(38,20)) AS STRING)"
    plain = f"regexp_replace(regexp_replace({exact}, '0+$', ''), '[.]$', '.0')"
    size = f"abs(CAST({written} AS DOUBLE))"
    is_plain = f"{size} = 0D OR ({size} >= 1e-4D AND {size} < 1e{digits}D)"
    return f"IF({is_plain}, {plain}, lower({exponent}))"


def _cut(value: Scalar, length: int) -> str:
    """Returns a text of at most so many letters, without trailing blanks."""
    found = value.type.length if isinstance(value.type, Letters) else 0
    if 0 < found <= length:
        return value.text
    return f"rtrim(substring({value.text}, 1, {length}))"


def _to_truth(value: Scalar) -> str:
    """Returns whether a value is not blank, or nothing."""
    match value.type:
        case Letters():
            return f"({trimmed(value)} <> '')"
        case Whole() | Real() | Exact():
            return f"({value.text} <> {blank_text(value.type)})"
        case _:
            return ""


def _to_bytes(value: Scalar) -> str:
    """Returns the bytes of a text, or nothing."""
    if isinstance(value.type, Letters):
        return f"CAST({full(value)} AS BINARY)"
    return ""


def _to_nested(value: Scalar, wanted: SetOf | RecordType | TableType) -> str:
    """Returns a set, a record or a child data set part by part, or nothing."""
    match value.type, wanted:
        case SetOf(found), SetOf(element):
            return _each(value.text, found, element)
        case TableType(found), TableType(record):
            return _each(value.text, found, record)
        case RecordType(), RecordType():
            return rebuilt(value, wanted)
        case _:
            return ""


def _each(text: str, found: EclType, wanted: EclType) -> str:
    """Returns an array whose elements are converted, or nothing."""
    if spark_type(found) == spark_type(wanted) and found == wanted:
        return text
    inner = converted(Scalar("item", found), wanted)
    return f"transform({text}, item -> {inner.text})" if inner else ""


def rebuilt(value: Scalar, wanted: RecordType) -> str:
    """Returns a record of other fields, each taken by its name or blank."""
    found = value.type if isinstance(value.type, RecordType) else RecordType(())
    parts = []
    for one in wanted.fields:
        texts = [part_text(value.text, other, one) for other in found.find(one.name)]
        text = texts[0] if texts else one.initial or blank_text(one.type)
        parts += [text_of(one.name), text]
    return f"named_struct({', '.join(parts)})"


def part_text(text: str, found: Field, wanted: Field) -> str:
    """Returns a field of a record in the type of another record's field."""
    part = Scalar(f"{text}.{quoted(found.name)}", found.type)
    inner = converted(part, wanted.type)
    return inner.text if inner else blank_text(wanted.type)
