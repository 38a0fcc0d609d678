"""The types of ECL, and what each is inside Spark.

Whole numbers are bigint whatever their size, which assignments keep; only UNSIGNED8
needs a decimal. A STRINGn is stored without its trailing blanks, and gets them back
where they count: in front of what is appended to it, and in its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import assert_never

from dovetail.expression.writing import text_of
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
    """SET OF a type."""

    element: EclType


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
        parts = (
            f"{text_of(one.name)}, {one.default or blank_text(one.type)}"
            for one in self.fields
        )
        return f"named_struct({', '.join(parts)})"

    def row_text(self, letter: str) -> str:
        """Returns the row of a side with these fields alone."""
        parts = (
            f"{text_of(one.name)}, {letter}.{quoted(one.name)}" for one in self.fields
        )
        return f"named_struct({', '.join(parts)})"


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
        case _:
            return _nested_type(kind)


def _nested_type(kind: SetOf | RecordType | TableType) -> Type:
    """Returns the type of what has parts."""
    match kind:
        case SetOf(element):
            return ArrayType(spark_type(element))
        case RecordType(fields):
            return StructType(
                tuple((part.name, spark_type(part.type)) for part in fields)
            )
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
            parts = [f"{text_of(one.name)}, {blank_text(one.type)}" for one in fields]
            return f"named_struct({', '.join(parts)})"
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
    is_signed = not text.startswith("UNSIGNED")
    # UNICODE_de5: a locale changes no rows.
    found = _NAME.match(_LOCALE.sub("", plain.replace("UTF8", "UTF")))
    if found is None:
        return None
    return _sized(found["word"], found["size"], is_signed=is_signed)


def _sized(word: str, size: str, *, is_signed: bool) -> EclType | None:
    """Returns the type of a word with a size behind it."""
    match word:
        case "INTEGER" | "UNSIGNED":
            return Whole(int(size or WIDEST), is_signed)
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
        case (
            (Whole() | Real() | Exact() | Truth()),
            (Whole() | Real() | Exact() | Truth()),
        ):
            return _common_number(one, other)
        case SetOf(element), SetOf(item):
            return SetOf(common(element, item))
        case _:
            return one


def _common_number(
    one: Whole | Real | Exact | Truth, other: Whole | Real | Exact | Truth
) -> EclType:
    """Returns the numbers that hold those of both; a truth is 1 or 0 beside one."""
    match one, other:
        case Truth(), _:
            return other
        case _, Truth():
            return one
        case Whole(), Whole():
            return _common_whole(one, other)
        case Exact(), Exact() | Whole():
            return _common_exact(one, as_exact(other))
        case Whole(), Exact():
            return _common_exact(as_exact(one), other)
        case _:
            return REAL


def _common_whole(one: Whole, other: Whole) -> Whole:
    """Returns the whole numbers of both; signed where one of them is."""
    return Whole(max(one.size, other.size), one.is_signed or other.is_signed)


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
