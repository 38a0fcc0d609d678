"""The types of ECL, what each is inside Spark, and how one becomes another.

Whole numbers are bigint whatever their size, which assignments keep; only UNSIGNED8
needs a decimal. A STRINGn is stored without its trailing blanks, and gets them back
where they count: in front of what is appended to it, and in its length.

What does not fit is never null: numbers wrap at the size of their field, texts are cut
or filled with blanks, a text that is no number is 0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import assert_never

from dovetail.expression.sql import text_of
from dovetail.schema import (
    ArrayType,
    AtomicType,
    Column,
    DecimalType,
    Schema,
    StructType,
    Type,
    quoted,
)

WIDEST = 8
_NAME = re.compile(r"(?P<word>[A-Z]+?)(?P<size>[\d_]*)$")
_LOCALE = re.compile(r"(?<=UTF|ODE)(_[A-Z]{2,})+")
_DIGITS = 32
# What Spark has room for, while decimals are computed with.
_MOST_DIGITS = 38
_PLACES = 12
# A sum has room for 10 ** 15 rows.
_MORE_DIGITS = 15


@dataclass(frozen=True, slots=True)
class Whole:
    """INTEGERn and UNSIGNEDn: n bytes."""

    size: int = WIDEST
    is_signed: bool = True

    @property
    def is_wide(self) -> bool:
        """Tells whether values do not fit a bigint."""
        return self.size == WIDEST and not self.is_signed

    @property
    def bounds(self) -> tuple[int, int]:
        """Returns the least and the greatest number."""
        count = 1 << (8 * self.size)
        least = -count // 2 if self.is_signed else 0
        return least, least + count - 1

    def __str__(self) -> str:
        """Returns the name of the type."""
        return f"{'INTEGER' if self.is_signed else 'UNSIGNED'}{self.size}"


@dataclass(frozen=True, slots=True)
class Real:
    """REAL4 and REAL8."""

    size: int = WIDEST


@dataclass(frozen=True, slots=True)
class Exact:
    """DECIMALn_m: n digits, m of them behind the point."""

    digits: int
    places: int


@dataclass(frozen=True, slots=True)
class Letters:
    """STRINGn and its relatives; a length of 0 is one that varies."""

    length: int = 0
    is_upper: bool = False


@dataclass(frozen=True, slots=True)
class Truth:
    """BOOLEAN."""


@dataclass(frozen=True, slots=True)
class Bytes:
    """DATAn."""


@dataclass(frozen=True, slots=True)
class SetOf:
    """SET OF a type; `is_open`: it is empty, and what it stands beside has the type."""

    element: EclType
    is_open: bool = field(default=False, compare=False)


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record.

    `initial` is the value behind `:=`, `default` the one in `{DEFAULT(..)}`, `computed`
    what a table makes of the row `l`: as Spark SQL, empty where there is none.
    `is_position` says virtual(fileposition), `is_key` that a dictionary finds by it.
    """

    name: str
    type: EclType
    initial: str = field(default="", compare=False)
    default: str = field(default="", compare=False)
    computed: str = field(default="", compare=False)
    is_position: bool = False
    is_key: bool = field(default=False, compare=False)

    @property
    def word(self) -> str:
        """Returns the name in lower case."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class RecordType:
    """A record: fields in order."""

    fields: tuple[Field, ...]

    def find(self, name: str) -> Iterator[Field]:
        """Gives the field of a name, whatever its case, where there is one."""
        return (one for one in self.fields if one.word == name.lower())

    @property
    def schema(self) -> Schema:
        """Returns the columns inside Spark."""
        return Schema(
            tuple(Column(one.name, spark_type(one.type)) for one in self.fields)
        )

    @property
    def shape(self) -> list[str]:
        """Returns the fields with their types; names have no case."""
        return [f"{one.name.lower()} {one.type}" for one in self.schema.columns]

    @property
    def absent_text(self) -> str:
        """Returns the row that stands for an absent one: blank, or as DEFAULT says."""
        return named_struct(
            *((one.name, one.default or blank_text(one.type)) for one in self.fields)
        )

    def row_text(self, letter: str) -> str:
        """Returns the row of a side with these fields alone."""
        return named_struct(
            *((one.name, f"{letter}.{quoted(one.name)}") for one in self.fields)
        )


def named_struct(*parts: tuple[str, str]) -> str:
    """Returns named values as a record in Spark SQL."""
    named = (f"{text_of(name)}, {text}" for name, text in parts)
    return f"named_struct({', '.join(named)})"


def merged(records: Iterable[RecordType]) -> RecordType:
    """Returns the fields of all records; one that is there already stays as it is."""
    found: dict[str, Field] = {}
    for record in records:
        for one in record.fields:
            found.setdefault(one.word, one)
    return RecordType(tuple(found.values()))


@dataclass(frozen=True, slots=True)
class TableType:
    """A child data set: rows of a record."""

    record: RecordType


EclType = (
    Whole | Real | Exact | Letters | Truth | Bytes | SetOf | RecordType | TableType
)
INTEGER = Whole()
STRING = Letters()
REAL = Real()
BOOLEAN = Truth()


def spark_type(kind: EclType) -> Type:
    """Returns the type inside Spark."""
    match kind:
        case Whole():
            return DecimalType(20, 0) if kind.is_wide else AtomicType.BIGINT
        case Real(size):
            return AtomicType.DOUBLE if size == WIDEST else AtomicType.FLOAT
        case Exact(digits, places):
            return DecimalType(digits, places)
        case Letters():
            return AtomicType.STRING
        case Truth():
            return AtomicType.BOOLEAN
        case Bytes():
            return AtomicType.BINARY
        case SetOf(element):
            return ArrayType(spark_type(element))
        case RecordType(fields):
            parts = ((part.name, spark_type(part.type)) for part in fields)
            return StructType(tuple(parts))
        case TableType(record):
            return ArrayType(spark_type(record))
        case _:
            assert_never(kind)


def blank_text(kind: EclType) -> str:
    """Returns the blank value of a type as Spark SQL."""
    match kind:
        case Whole():
            return "0BD" if kind.is_wide else "0L"
        case Letters():
            return "''"
        case Truth():
            return "false"
        case Bytes():
            return "X''"
        case RecordType(fields):
            return named_struct(*((one.name, blank_text(one.type)) for one in fields))
        case SetOf() | TableType():
            return f"CAST(array() AS {spark_type(kind)})"
        case Real() | Exact():
            return f"CAST(0 AS {spark_type(kind)})"
        case _:
            assert_never(kind)


def unsized(kind: EclType) -> EclType:
    """Returns the type of what may stand in a type's column: its sizes are left out."""
    match kind:
        case Letters():
            return STRING
        case Whole():
            return kind if kind.is_wide else INTEGER
        case SetOf(element):
            return SetOf(unsized(element))
        case TableType(record):
            return TableType(_unsized_record(record))
        case RecordType():
            return _unsized_record(kind)
        case _:
            return kind


def _unsized_record(record: RecordType) -> RecordType:
    """Returns a record whose fields have no sizes."""
    return RecordType(
        tuple(replace(one, type=unsized(one.type)) for one in record.fields)
    )


def named_type(text: str) -> EclType | None:
    """Returns the type of a name of the language, or None where it is none."""
    *_, plain = text.split()
    # UNICODE_de5: a locale changes no rows.
    found = _NAME.match(_LOCALE.sub("", plain.replace("UTF8", "UTF")))
    if found is None:
        return None
    word, size = found["word"], found["size"]
    match word:
        case "INTEGER" | "UNSIGNED":
            return Whole(int(size or WIDEST), not text.startswith("UNSIGNED"))
        case "REAL":
            return Real(int(size or WIDEST))
        case "STRING" | "QSTRING" | "UTF" | "UNICODE":
            return Letters(int(size.strip("_") or 0), word == "QSTRING")
        case "VARSTRING" | "VARUNICODE":
            return STRING
        case "DATA":
            return Bytes()
        case "BOOLEAN":
            return BOOLEAN
        case "DECIMAL" | "UDECIMAL":
            digits, _, places = (size or "32_16").partition("_")
            return Exact(int(digits), int(places or 0)) if digits else None
        case _:
            return None


def common(one: EclType, other: EclType) -> EclType:
    """Returns the type that values of both fit in; beside a text all are texts."""
    if one == other:
        return one
    match one, other:
        case Letters(), Letters():
            both = one.length and other.length
            return Letters(max(one.length, other.length) if both else 0)
        case (Letters(), _) | (_, Letters()):
            return STRING
        # A truth is 1 or 0 beside a number.
        case Truth(), Whole() | Real() | Exact():
            return other
        case Whole(), Whole():
            return Whole(max(one.size, other.size), one.is_signed or other.is_signed)
        case Whole() | Exact(), Whole() | Exact():
            return _common_exact(as_exact(one), as_exact(other))
        case Whole() | Real() | Exact(), Whole() | Real() | Exact():
            return REAL
        case SetOf(element), SetOf(item):
            return SetOf(common(element, item))
        case _:
            return one


def as_exact(kind: Whole | Exact) -> Exact:
    """Returns the decimals that hold all values of a type."""
    return kind if isinstance(kind, Exact) else Exact(20, 0)


def _common_exact(one: Exact, other: Exact) -> Exact:
    """Returns the decimals of both."""
    places = max(one.places, other.places)
    whole = max(one.digits - one.places, other.digits - other.places)
    return Exact(min(whole + places, _DIGITS), places)


def total(one: Exact, other: Exact) -> Exact:
    """Returns the decimals that hold every sum and difference of two types."""
    both = _common_exact(one, other)
    return Exact(min(both.digits + 1, _MOST_DIGITS), both.places)


def product(one: Exact, other: Exact) -> Exact:
    """Returns the decimals that hold every product of two types."""
    places = min(one.places + other.places, _MOST_DIGITS)
    return Exact(min(one.digits + other.digits, _MOST_DIGITS), places)


def quotient(kind: Exact) -> Exact:
    """Returns the decimals of a quotient: with more places than what is divided."""
    return Exact(_DIGITS, max(kind.places, _PLACES))


def sum_of(kind: Exact) -> Exact:
    """Returns the decimals that hold the sum of many of a type."""
    return Exact(min(kind.digits + _MORE_DIGITS, _MOST_DIGITS), kind.places)


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

    def part(self, one: Field) -> Scalar:
        """Returns a field of a record."""
        return Scalar(f"{self.text}.{quoted(one.name)}", one.type)


def truth(text: str) -> Scalar:
    """Returns a condition as a value."""
    return Scalar(text, BOOLEAN)


def whole(text: str) -> Scalar:
    """Returns a whole number of 8 bytes with a sign as a value."""
    return Scalar(text, INTEGER)


def converted(value: Scalar, wanted: EclType) -> Scalar | None:
    """Returns the value as another type, or None where ECL has no such cast."""
    if value.type == wanted:
        # The row of a side is no value in Spark SQL.
        if value.text in _SIDES and isinstance(value.type, RecordType):
            return Scalar(rebuilt(value, value.type), value.type)
        return value
    text = _cast(value, wanted)
    return Scalar(text, wanted) if text else None


def _cast(value: Scalar, wanted: EclType) -> str:
    """Returns the value as another type in Spark SQL, or nothing."""
    match wanted, value.type:
        case Whole(), _:
            return _to_whole(value, wanted)
        case Real() | Exact(), _:
            return _to_fraction(value, wanted)
        case Letters(), _:
            return _to_letters(value, wanted)
        case Truth(), Letters():
            return f"({compared_text(value)} <> '')"
        case Truth(), Whole() | Real() | Exact():
            return f"({value.text} <> {blank_text(value.type)})"
        case Bytes(), Letters():
            return f"CAST({full(value)} AS BINARY)"
        case (SetOf(element), SetOf(found)) | (TableType(element), TableType(found)):
            return _each(value.text, found, element)
        case RecordType() as record, RecordType():
            return rebuilt(value, record)
        case _:
            return ""


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


def compared_text(value: Scalar) -> str:
    """Returns a value as it is compared: a text without trailing blanks."""
    # One of a length is stored so.
    is_long = isinstance(value.type, Letters) and not value.type.length
    return f"rtrim({value.text})" if is_long else value.text


def _to_whole(value: Scalar, wanted: Whole) -> str:
    """Returns a whole number of a size, or nothing; it wraps where it does not fit."""
    match value.type:
        case Whole() as kind:
            found = value
        case Real() | Exact():
            found, kind = whole(f"CAST({value.text} AS BIGINT)"), INTEGER
        case Letters():
            found, kind = _read_whole(value.text, wanted)
        case Truth():
            found, kind = whole(f"CAST({value.text} AS BIGINT)"), Whole(1)
        case _:
            return ""
    least, most = wanted.bounds
    if least <= kind.bounds[0] and kind.bounds[1] <= most:
        is_widened = wanted.is_wide and not kind.is_wide
        return f"CAST({found.text} AS DECIMAL(20,0))" if is_widened else found.text
    if wanted.size == WIDEST:
        return signed(found) if wanted.is_signed else unsigned(found.text)
    room = 1 << (8 * wanted.size)
    if not wanted.is_signed:
        return f"pmod({signed(found)}, {room}L)"
    # Moved up by half of the room, and back: so the rest has a sign.
    return f"(pmod({signed(found)} + {room // 2}L, {room}L) - {room // 2}L)"


def _read_whole(text: str, wanted: Whole) -> tuple[Scalar, Whole]:
    """Returns the number that a text begins with, 0 where it begins with none.

    A type without a sign does not look at that of the text.
    """
    number = f"regexp_extract({text}, {_WHOLE_NUMBER}, 1)"
    if wanted.is_wide:
        found = f"coalesce(CAST({number} AS DECIMAL(20,0)), 0BD)"
        return Scalar(f"IF({found} < {_ALL}BD, {found}, 0BD)", wanted), wanted
    found = f"coalesce(CAST({number} AS BIGINT), 0L)"
    if wanted.is_signed:
        sign = f"regexp_extract({text}, {_SIGNS}, 0)"
        found = f"IF(instr({sign}, '-') > 0, 0L - {found}, {found})"
    return whole(found), INTEGER


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
        case Letters(length=length):
            text = full(value)
            if wanted.length:
                fits = 0 < length <= wanted.length
                cut = f"rtrim(substring({value.text}, 1, {wanted.length}))"
                text = value.text if fits else cut
            is_new = wanted.is_upper and not value.type.is_upper
            return f"upper({text})" if is_new else text
        case Bytes():
            text = f"CAST({value.text} AS STRING)"
        case Truth():
            text = f"IF({value.text}, '1', '')"
        case Real():
            return _within(_written_real(value), wanted.length, is_cut=True)
        case Whole():
            text = f"CAST({value.text} AS STRING)"
            return _within(text, wanted.length, is_cut=False)
        case Exact(places=places):
            # CAST would write small decimals with an exponent.
            text = f"TRY_CAST({value.text} AS STRING)"
            text = f"regexp_replace({text}, '[.]?0+$', '')" if places else text
            return _within(text, wanted.length, is_cut=False)
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


def _each(text: str, found: EclType, wanted: EclType) -> str:
    """Returns an array whose elements are converted, or nothing."""
    if found == wanted:
        return text
    inner = converted(Scalar("item", found), wanted)
    return f"transform({text}, item -> {inner.text})" if inner else ""


def rebuilt(value: Scalar, wanted: RecordType) -> str:
    """Returns a record of other fields, each taken by its name or blank."""
    found = value.type if isinstance(value.type, RecordType) else RecordType(())
    parts = []
    for one in wanted.fields:
        texts = [part_text(value.text, other, one) for other in found.find(one.name)]
        parts.append((one.name, [*texts, one.initial or blank_text(one.type)][0]))
    return named_struct(*parts)


def part_text(text: str, found: Field, wanted: Field) -> str:
    """Returns a field of a record in the type of another record's field."""
    inner = converted(Scalar(f"{text}.{quoted(found.name)}", found.type), wanted.type)
    return inner.text if inner else blank_text(wanted.type)
