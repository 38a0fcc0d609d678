"""A schema: columns in order, each a name and a type, as texts of Spark SQL have them.

A type is written as Spark SQL writes it (`bigint`, `decimal(16,4)`, `array<int>`,
`struct<a:int>`); `parse_type` reads that text and `str` gives it back. A column may be
called `order`, `a.b` or `it``s`: whoever writes a name into a text of Spark SQL writes
it with `quoted`, in backticks, and whoever reads it back takes it with `unquoted`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import Enum

from dovetail.errors import SchemaError

QUOTED = r"`(?:[^`]|``)+`"
"""What a name in backticks looks like; a backtick of its own stands there twice."""


def quoted(name: str) -> str:
    """Returns a name in backticks, those that are part of it doubled."""
    return f"`{name.replace('`', '``')}`"


def unquoted(text: str) -> str:
    """Returns the name that stands in a text, without its backticks if it has any."""
    return text[1:-1].replace("``", "`") if text.startswith("`") else text


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


WHOLE = (AtomicType.TINYINT, AtomicType.SMALLINT, AtomicType.INT, AtomicType.BIGINT)
"""The types of whole numbers: a later one holds what an earlier one holds."""
FRACTIONS = (AtomicType.FLOAT, AtomicType.DOUBLE)
MOMENTS = (AtomicType.TIMESTAMP, AtomicType.TIMESTAMP_NTZ)
DATES = (AtomicType.DATE, AtomicType.TIMESTAMP_NTZ, AtomicType.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class DecimalType:
    """A decimal with `precision` digits, `scale` of them behind the point."""

    precision: int
    scale: int

    def __post_init__(self) -> None:
        """Refuses what Spark has no room for."""
        if not 0 < self.precision <= MOST_DIGITS or self.scale > self.precision:
            raise SchemaError(
                f'no type "{self}"', f"1 to {MOST_DIGITS} digits, scale among them"
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
        # in backticks only where need be, as Spark shows it
        words = (
            (name if name.isidentifier() else quoted(name), kind)
            for name, kind in self.fields
        )
        return f"struct<{','.join(f'{word}:{kind}' for word, kind in words)}>"


@dataclass(frozen=True, slots=True)
class CarriedType:
    """A type of Spark's that is carried through a join and never computed with."""

    name: str

    def __str__(self) -> str:
        """Returns the type as Spark SQL writes it."""
        return self.name


Type = AtomicType | DecimalType | ArrayType | MapType | StructType | CarriedType

# Names that Spark SQL has beside those that it shows.
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
# `a: int`, or `a int` as columns of a table are written.
_FIELD = re.compile(rf"\s*({QUOTED}|[^\s:`]+)(?:\s*:\s*|\s+)(\S.*)$", re.DOTALL)
MOST_DIGITS = 38
"""A decimal has at most so many digits."""


def parse_type(text: str) -> Type:
    """Returns the type that a text in Spark SQL's notation names."""
    plain = text.strip()
    lowered = plain.lower()
    if decimal := _DECIMAL.match(lowered):
        # what Spark takes where nothing is said
        return DecimalType(int(decimal[1] or 10), int(decimal[2] or 0))
    # names of fields keep their case, so the text as it was goes on
    if lowered.endswith(">") and "<" in plain:
        return _parse_nested(plain)
    # Spark checks the size where it writes a table, never in an expression
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
    name, within = text[:-1].split("<", 1)
    match name.strip().lower(), split_outside(within):
        case "array", [element]:
            return ArrayType(parse_type(element))
        case "map", [key, value]:
            return MapType(parse_type(key), parse_type(value))
        case "struct", parts:
            fields = []
            # of `struct<>`, which has no fields, one empty part is left
            for part in filter(None, parts):
                if not (field := _FIELD.match(part)):
                    raise SchemaError(
                        f'no field "{part}"', "a name, a colon and a type"
                    )
                fields.append((unquoted(field[1]), parse_type(field[2])))
            return StructType(tuple(fields))
        case _:
            raise SchemaError(f'no type "{text}"', "array<>, map<,> or struct<>")


def inside(kind: Type) -> Iterator[Type]:
    """Yields a type and all that it is made of."""
    yield kind
    parts: Iterable[Type] = ()
    match kind:
        case ArrayType(element):
            parts = (element,)
        case MapType(key, value):
            parts = (key, value)
        case StructType(fields):
            parts = (part for _, part in fields)
        case _:
            pass
    for part in parts:
        yield from inside(part)


def split_outside(text: str) -> list[str]:
    """Returns the parts of a text between commas outside brackets and backticks."""
    # a backtick inside of a name stands twice, which changes nothing here
    parts, depth, start, is_quoted = [], 0, 0, False
    for place, letter in enumerate(text):
        is_quoted ^= letter == "`"
        depth += 0 if is_quoted else (letter in "<(") - (letter in ">)")
        if letter == "," and depth == 0 and not is_quoted:
            parts.append(text[start:place].strip())
            start = place + 1
    return [*parts, text[start:].strip()]


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name as written, and its type."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Schema:
    """Columns in order; no two have the same name, whatever the case."""

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        """Refuses a name that stands twice."""
        seen: set[str] = set()
        for name in self.names:
            if name.lower() in seen:
                raise SchemaError(
                    f'the column "{name}" stands twice',
                    "one of each name, whatever the case",
                    'name them anew, as with frame.toDF("id", "id_2")',
                )
            seen.add(name.lower())

    @classmethod
    def of(cls, types: Mapping[str, str] | Iterable[tuple[str, str]]) -> Schema:
        """Returns the schema of names with the texts of their types."""
        pairs = types.items() if isinstance(types, Mapping) else types
        return cls(tuple(Column(name, parse_type(text)) for name, text in pairs))

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the names in order, as written."""
        return tuple(column.name for column in self.columns)

    def __contains__(self, name: object) -> bool:
        """Tells whether a column has this name, whatever the case."""
        return isinstance(name, str) and any(
            column.name.lower() == name.lower() for column in self.columns
        )

    def __getitem__(self, name: str) -> Column:
        """Returns the column of this name, or raises a SchemaError."""
        for column in self.columns:
            if column.name.lower() == name.lower():
                return column
        raise SchemaError.no_column(name, self.names)

    def spelled(self, name: str) -> str:
        """Returns a column's name as the schema spells it; others stay as they are."""
        return self[name].name if name in self else name

    def to_sql(self) -> str:
        """Returns the schema as Spark's DDL, names in backticks."""
        return ", ".join(
            f"{quoted(column.name)} {column.type}" for column in self.columns
        )
