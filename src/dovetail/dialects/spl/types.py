"""The types of SPL: what the language calls them, and what they are inside Spark.

    int8 .. int64       as they are           timestamp   decimal(28,9): seconds
    uint8 .. uint32     the next larger one   list, set   array
    uint64              decimal(20,0)         map         map
    decimal32 .. 128    decimal(38,18)        tuple       struct

Two types are the same where their texts are: names and order of attributes count.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from dovetail.errors import DialectError, Place, SchemaError
from dovetail.schema import (
    ArrayType,
    AtomicType,
    Column,
    DecimalType,
    MapType,
    Schema,
    StructType,
    Type,
)
from dovetail.spec import NumberRange


@dataclass(frozen=True, slots=True)
class Scalar:
    """One of the language's own types, by its word."""

    word: str

    def __str__(self) -> str:
        """Returns the word."""
        return self.word


@dataclass(frozen=True, slots=True)
class Holder:
    """A list, set, map or optional of other types."""

    word: str
    of: tuple[SplType, ...]

    def __str__(self) -> str:
        """Returns the type as SPL writes it."""
        return f"{self.word}<{','.join(map(str, self.of))}>"


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple: names with types, in order."""

    attributes: tuple[tuple[str, SplType], ...]

    def __str__(self) -> str:
        """Returns the type as SPL writes it."""
        return f"tuple<{', '.join(f'{kind} {name}' for name, kind in self.attributes)}>"

    def get(self, name: str) -> SplType | None:
        """Returns the type of an attribute, None where there is none of that name."""
        return dict(self.attributes).get(name)

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the names in order."""
        return tuple(name for name, _ in self.attributes)


@dataclass(frozen=True, slots=True)
class Enumerated:
    """Some words, in their order; the first is the default."""

    words: tuple[str, ...]

    def __str__(self) -> str:
        """Returns the type as SPL writes it."""
        return f"enum{{{','.join(self.words)}}}"


@dataclass(frozen=True, slots=True)
class Bounded:
    """A text, list, set or map of at most so many bytes, letters or elements.

    A value that is read is one of the type without a bound; what is assigned is cut.
    """

    of: SplType
    most: int

    def __str__(self) -> str:
        """Returns the type as SPL writes it."""
        return f"{self.of}[{self.most}]"


SplType = Scalar | Holder | Tuple | Enumerated | Bounded


def loose(kind: SplType) -> SplType:
    """Returns the type of a value that is read from an attribute."""
    return kind.of if isinstance(kind, Bounded) else kind


BOOLEAN, RSTRING, USTRING = Scalar("boolean"), Scalar("rstring"), Scalar("ustring")
INT32, INT64 = Scalar("int32"), Scalar("int64")
UINT32, UINT64 = Scalar("uint32"), Scalar("uint64")
FLOAT32, FLOAT64 = Scalar("float32"), Scalar("float64")
TIMESTAMP = Scalar("timestamp")
_DATES = ("YYYY_MM_DD_hh_mm_ss", "MM_DD_YYYY_hh_mm_ss", "DD_MM_YYYY_hh_mm_ss")
TIME_FORMS = Enumerated(("YYYYMMDDhhmmss", *_DATES, *(f"{it}_mmm" for it in _DATES)))
"""How a text may say a time, which the toolkit has as Sys.YYYYMMDDhhmmss and so on."""
# What `null` is before an optional takes it.
NULL = Scalar("null")

SIGNED: Mapping[Scalar, AtomicType] = {
    Scalar("int8"): AtomicType.TINYINT,
    Scalar("int16"): AtomicType.SMALLINT,
    INT32: AtomicType.INT,
    INT64: AtomicType.BIGINT,
}
# Spark has signs on all numbers: the next wider one has room for these.
UNSIGNED: Mapping[Scalar, Type] = {
    Scalar("uint8"): AtomicType.SMALLINT,
    Scalar("uint16"): AtomicType.INT,
    UINT32: AtomicType.BIGINT,
    UINT64: DecimalType(20, 0),
}
FLOATS: Mapping[Scalar, AtomicType] = {
    FLOAT32: AtomicType.FLOAT,
    FLOAT64: AtomicType.DOUBLE,
}
STRINGS = frozenset({RSTRING, USTRING})
# Digits that count: what a result is rounded to, half to the even one.
DECIMALS: Mapping[Scalar, int] = {
    Scalar("decimal32"): 7,
    Scalar("decimal64"): 16,
    Scalar("decimal128"): 34,
}
INTEGERS: Mapping[Scalar, Type] = {**SIGNED, **UNSIGNED}
NUMBERS: frozenset[SplType] = frozenset({*INTEGERS, *FLOATS, *DECIMALS})
# A decimal of any width has 18 digits behind its point, and 20 before it.
_STORED: Mapping[Scalar, Type] = {
    **INTEGERS,
    **FLOATS,
    **dict.fromkeys(STRINGS, AtomicType.STRING),
    **dict.fromkeys(DECIMALS, DecimalType(38, 18)),
    BOOLEAN: AtomicType.BOOLEAN,
    TIMESTAMP: DecimalType(28, 9),
    Scalar("blob"): AtomicType.BINARY,
    NULL: AtomicType.NULL,
}
_UNKNOWN = {
    "complex32": "two columns, its parts",
    "complex64": "two columns, its parts",
    "xml": "rstring",
}


def refused(
    place: Place, found: str, expected: str = "", hint: str = ""
) -> DialectError:
    """Returns the error for something at a place."""
    return DialectError(found, expected, hint, place=place)


def scalar(word: str, place: Place) -> Scalar:
    """Returns a type by its word; one that has nothing like it on Spark is refused."""
    if word in _UNKNOWN:
        raise refused(place, f"the type {word} is not supported", _UNKNOWN[word])
    return Scalar(word)


def bounded(kind: SplType, most: object, place: Place) -> Bounded:
    """Returns a type with its bound, which only what has elements or letters has."""
    # A bound of letters or elements; an optional holds one at most anyway.
    is_known = isinstance(kind, Holder) and kind.word != "optional"
    # To Python a truth is a number, too.
    if (is_known or kind in STRINGS) and type(most) is int and most >= 0:
        return Bounded(kind, most)
    expected = "rstring, ustring, list, set or map with a whole number"
    raise refused(place, f"the type {kind}[{most}]", expected)


def refuse_keys(kind: Holder, place: Place) -> None:
    """Refuses a map by what has parts: nothing is looked up by it."""
    key = loose(kind.of[0])
    if kind.word == "map" and isinstance(key, Tuple | Holder):
        hint = "(rstring) t is a text, by which a map<rstring, ..> is looked up"
        raise refused(place, f"a map by {key}", "keys that are one value", hint)


def bits_of(kind: Scalar) -> int:
    """Returns how many bits a number has."""
    # uint16 is a word and its bits.
    return int(kind.word.lstrip("abcdefghijklmnopqrstuvwxyz"))


def limits_of(kind: Scalar) -> tuple[int, int]:
    """Returns the least and the greatest number of a whole type."""
    least = 0 if kind in UNSIGNED else -(1 << (bits_of(kind) - 1))
    return least, least + (1 << bits_of(kind)) - 1


def stored(kind: SplType) -> Type:
    """Returns what a type is inside Spark."""
    match kind:
        case Scalar():
            return _STORED[kind]
        case Enumerated():
            return AtomicType.STRING
        case Bounded(of):
            return stored(of)
        case Holder("map", (key, value)):
            return MapType(stored(key), stored(value))
        case Holder("optional", (of,)):
            return stored(of)
        case Holder(of=(of, *_)):
            return ArrayType(stored(of))
        case Tuple(attributes):
            return StructType(tuple((name, stored(it)) for name, it in attributes))
        case _:
            raise TypeError(kind)


def has_optional(kind: SplType) -> bool:
    """Tells whether a value, or a part of it, may be lacking."""
    match kind:
        case Holder(word, of):
            return word == "optional" or any(map(has_optional, of))
        case Tuple(attributes):
            return any(has_optional(it) for _, it in attributes)
        case Bounded(bounded):
            return has_optional(bounded)
        case _:
            return False


def parts_of(kind: SplType) -> Iterator[SplType]:
    """Yields a type and all that it is made of."""
    yield kind
    match kind:
        case Holder(_, of):
            for part in of:
                yield from parts_of(part)
        case Tuple(attributes):
            for _, part in attributes:
                yield from parts_of(part)
        case Bounded(bounded):
            yield bounded
        case _:
            pass


def words_in(kind: SplType) -> Iterator[Enumerated]:
    """Yields the types of words that a type is made of."""
    return (one for one in parts_of(kind) if isinstance(one, Enumerated))


def schema_of(kind: Tuple, place: Place) -> Schema:
    """Returns the columns of a stream."""
    columns = tuple(Column(name, stored(it)) for name, it in kind.attributes)
    try:
        return Schema(columns)
    except SchemaError as error:
        hint = "two columns of Spark differ by more than upper and lower case"
        raise refused(place, error.found, error.expected, hint) from error


def ranges_of(kind: Tuple) -> tuple[NumberRange, ...]:
    """Returns the ranges of numbers whose columns have room for more."""
    return tuple(
        NumberRange(name, 0, (1 << bits_of(it)) - 1, it.word)
        for name, it in kind.attributes
        if isinstance(it, Scalar) and it in UNSIGNED
    )


def optionals_of(kind: Tuple) -> tuple[str, ...]:
    """Returns the attributes that may have no value, or whose parts may have none."""
    # A type is told as it is written.
    return tuple(name for name, it in kind.attributes if "optional<" in str(it))


MOST_SECONDS = 10**12
"""A length of time is shorter: it is kept as microseconds, in 64 bits."""
_FROM_STORED: Mapping[Type, Scalar] = {
    **{kind: it for it, kind in {**SIGNED, **FLOATS}.items()},
    AtomicType.STRING: RSTRING,
    AtomicType.BOOLEAN: BOOLEAN,
    AtomicType.BINARY: Scalar("blob"),
    UNSIGNED[UINT64]: UINT64,
    _STORED[TIMESTAMP]: TIMESTAMP,
}


def from_stored(kind: Type, place: Place) -> SplType:
    """Returns the type of a column that no text declares."""
    match kind:
        case StructType(fields):
            return Tuple(tuple((name, from_stored(it, place)) for name, it in fields))
        case ArrayType(element):
            return Holder("list", (from_stored(element, place),))
        case MapType(key, value):
            pair = (from_stored(key, place), from_stored(value, place))
            return Holder("map", pair)
        case _ if kind in _FROM_STORED:
            return _FROM_STORED[kind]
        case _:
            hint = "declare the stream with its type: stream<int32 a, rstring b> X"
            raise refused(place, f"a column of the type {kind}", "a type of SPL", hint)


def merged(parts: Iterable[tuple[str, SplType, Place]]) -> Tuple:
    """Returns the tuple of attributes; one that stands twice must be the same twice."""
    found: dict[str, SplType] = {}
    for name, kind, place in parts:
        # tuple<T, U> may give one attribute twice, if both agree on it.
        if found.setdefault(name, kind) != kind:
            raise refused(
                place,
                f'the attribute "{name}" is {found[name]} and {kind}',
                "one type for each name",
            )
    return Tuple(tuple(found.items()))
