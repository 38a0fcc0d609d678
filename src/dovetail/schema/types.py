"""The types of columns: Spark SQL's names, as small frozen values.

A type is written as Spark SQL writes it (`bigint`, `decimal(16,4)`, `array<int>`,
`struct<a:int>`); `parse_type` reads that text and `str` gives it back.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import Enum

from dovetail.errors import SchemaError
from dovetail.schema.names import QUOTED, quoted, unquoted


class AtomicType(Enum):
    """The types without a parameter, each by its name in Spark SQL."""

    NULL = "void"
    BOOLEAN = "boolean"
    TINYINT = "tinyint"
    SMALLINT = "smallint"
    INT = "int"
    BIGINT = "bigint"
    FLOAT = "float"
    DOUBLE = "double"
    STRING = "string"
    BINARY = "binary"
    DATE = "date"
    TIMESTAMP = "timestamp"
    TIMESTAMP_NTZ = "timestamp_ntz"

    def __str__(self) -> str:
        """Returns the name in Spark SQL."""
        return self.value


@dataclass(frozen=True, slots=True)
class DecimalType:
    """A decimal with `precision` digits, `scale` of them behind the point."""

    precision: int
    scale: int

    def __post_init__(self) -> None:
        """Refuses what Spark has no room for."""
        if not 0 < self.precision <= _MOST_DIGITS or self.scale > self.precision:
            raise SchemaError(
                f'no type "{self}"', f"1 to {_MOST_DIGITS} digits, scale among them"
            )

    def __str__(self) -> str:
        """Returns the type as Spark SQL writes it."""
        return f"decimal({self.precision},{self.scale})"


@dataclass(frozen=True, slots=True)
class ArrayType:
    """An array whose elements are of one type."""

    element: Type

    def __str__(self) -> str:
        """Returns the type as Spark SQL writes it."""
        return f"array<{self.element}>"


@dataclass(frozen=True, slots=True)
class MapType:
    """A map from keys of one type to values of one type."""

    key: Type
    value: Type

    def __str__(self) -> str:
        """Returns the type as Spark SQL writes it."""
        return f"map<{self.key},{self.value}>"


@dataclass(frozen=True, slots=True)
class StructType:
    """A record inside a column: names with their types, in order."""

    fields: tuple[tuple[str, Type], ...]

    def __str__(self) -> str:
        """Returns the type as Spark SQL writes it."""
        inside = ",".join(f"{_word(name)}:{kind}" for name, kind in self.fields)
        return f"struct<{inside}>"


@dataclass(frozen=True, slots=True)
class CarriedType:
    """A type of Spark's that is carried through a join and never computed with."""

    name: str

    def __str__(self) -> str:
        """Returns the type as Spark SQL writes it."""
        return self.name


Type = AtomicType | DecimalType | ArrayType | MapType | StructType | CarriedType

_SYNONYMS = {
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
    "real": "float",
    "bool": "boolean",
    "timestamp_ltz": "timestamp",
}
_DECIMAL = re.compile(
    r"(?:decimal|numeric|dec)\s*(?:\(\s*(\d+)\s*(?:,\s*(\d+)\s*)?\))?$"
)
_SIZED_TEXT = re.compile(r"(?:var)?char\s*\(\s*\d+\s*\)$")
_FIELD = re.compile(rf"\s*({QUOTED}|[^\s:`]+)(?:\s*:\s*|\s+)(\S.*)$", re.DOTALL)
_MOST_DIGITS = 38


def parse_type(text: str) -> Type:
    """Returns the type that a text in Spark SQL's notation names."""
    plain = text.strip()
    lowered = plain.lower()
    if decimal := _DECIMAL.match(lowered):
        return DecimalType(int(decimal[1] or 10), int(decimal[2] or 0))
    if lowered.endswith(">") and "<" in plain:
        return _parse_nested(plain)
    if _SIZED_TEXT.match(lowered):
        return AtomicType.STRING
    try:
        return AtomicType(_SYNONYMS.get(lowered, lowered))
    except ValueError:
        known = ", ".join(kind.value for kind in AtomicType)
        raise SchemaError(
            f'no type "{text}"', f"{known}, decimal(p,s), array<>, map<> or struct<>"
        ) from None


def _parse_nested(text: str) -> Type:
    """Returns the array, map or struct that a text with angle brackets names."""
    name, inside = text[:-1].split("<", 1)
    match name.strip().lower(), split_outside(inside, ","):
        case "array", [element]:
            return ArrayType(parse_type(element))
        case "map", [key, value]:
            return MapType(parse_type(key), parse_type(value))
        case "struct", parts:
            return StructType(tuple(_parse_field(part) for part in parts if part))
        case _:
            raise SchemaError(f'no type "{text}"', "array<>, map<,> or struct<>")


def _parse_field(text: str) -> tuple[str, Type]:
    """Returns the name and the type of one field of a struct."""
    if not (field := _FIELD.match(text)):
        raise SchemaError(f'no field "{text}"', "a name, a colon and a type")
    return unquoted(field[1]), parse_type(field[2])


def _word(name: str) -> str:
    """Returns a name as it may stand in a type: in backticks unless it is a word."""
    return name if name.isidentifier() else quoted(name)


def split_outside(text: str, comma: str) -> list[str]:
    """Returns the parts of a text between commas outside brackets and backticks."""
    parts, depth, start, is_quoted = [], 0, 0, False
    for place, letter in enumerate(text):
        is_quoted ^= letter == "`"
        depth += 0 if is_quoted else (letter in "<(") - (letter in ">)")
        if letter == comma and depth == 0 and not is_quoted:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()]
