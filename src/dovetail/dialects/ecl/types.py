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

from dovetail import schema
from dovetail.dialects.ecl import trees
from dovetail.dialects.ecl.trees import Node, sql
from dovetail.schema import (
    MOST_DIGITS,
    ArrayType,
    AtomicType,
    Column,
    DecimalType,
    Schema,
    StructType,
    Type,
)

WIDEST = 8
_NAME = re.compile(r"(?P<word>[A-Z]+?)(?P<size>[\d_]*)$")
_LOCALE = re.compile(r"(?<=UTF|ODE)(_[A-Z]{2,})+")
# DECIMAL of HPCC has room for 32 digits.
_DIGITS = 32
# Where digits do not fit, so many places stay at least, as DECIMAL has them.
_LEAST_PLACES = 16
# A quotient has twelve places, however few the dividend has.
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

    def __str__(self) -> str:
        """Returns the name of the type."""
        return f"REAL{self.size}"


@dataclass(frozen=True, slots=True)
class Exact:
    """DECIMALn_m: n digits, m of them behind the point."""

    digits: int
    places: int

    @property
    def whole(self) -> int:
        """Returns how many digits there are before the point."""
        return self.digits - self.places

    def __str__(self) -> str:
        """Returns the name of the type."""
        return f"DECIMAL{self.digits}" + f"_{self.places}" * bool(self.places)


@dataclass(frozen=True, slots=True)
class Letters:
    """STRINGn and its relatives; a length of 0 is one that varies."""

    length: int = 0
    is_upper: bool = False

    def __str__(self) -> str:
        """Returns the name of the type."""
        return "Q" * self.is_upper + "STRING" + f"{self.length or ''}"


@dataclass(frozen=True, slots=True)
class Truth:
    """BOOLEAN."""

    def __str__(self) -> str:
        """Returns the name of the type."""
        return "BOOLEAN"


@dataclass(frozen=True, slots=True)
class Bytes:
    """DATAn."""

    def __str__(self) -> str:
        """Returns the name of the type."""
        return "DATA"


@dataclass(frozen=True, slots=True)
class SetOf:
    """SET OF a type; `is_open`: it is empty, and what it stands beside has the type."""

    element: EclType
    is_open: bool = field(default=False, compare=False)

    def __str__(self) -> str:
        """Returns the type as ECL writes it."""
        return f"SET OF {self.element}"


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record.

    `initial` is the value behind `:=`, `default` the one in `{DEFAULT(..)}`, `computed`
    what a table makes of the row `l`: each one tree, or none.
    `is_position` says virtual(fileposition), `is_key` that a dictionary finds by it.
    """

    name: str
    type: EclType
    initial: tuple[Node, ...] = field(default=(), compare=False)
    default: tuple[Node, ...] = field(default=(), compare=False)
    computed: tuple[Node, ...] = field(default=(), compare=False)
    is_position: bool = False
    is_key: bool = field(default=False, compare=False)

    @property
    def word(self) -> str:
        """Returns the name in lower case."""
        return self.name.lower()

    @property
    def absent(self) -> Node:
        """Returns its value in an absent row: the one that DEFAULT says, or blank."""
        of = self.type
        inside = of.absent if isinstance(of, RecordType) else blank(of)
        return [*self.default, inside][0]


@dataclass(frozen=True, slots=True)
class RecordType:
    """A record: fields in order."""

    fields: tuple[Field, ...]

    def __str__(self) -> str:
        """Returns the type as ECL writes it."""
        return f"{{{', '.join(f'{it.type} {it.name}' for it in self.fields)}}}"

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
    def struct(self) -> Type:
        """Returns the type of a whole row inside Spark."""
        return spark_type(self)

    @property
    def absent(self) -> Node:
        """Returns the row that stands for an absent one: blank, or as DEFAULT says."""
        return trees.struct(*((one.name, one.absent) for one in self.fields))

    def parts(self, row: Node) -> list[tuple[str, Node]]:
        """Returns the fields by their names, as they are of a row."""
        return [(one.name, part(row, one).tree) for one in self.fields]

    def side(self, letter: str = "l") -> Node:
        """Returns the row of a side, which is no value by itself."""
        return trees.side(letter, self.struct)

    def columns(self, letter: str = "l") -> list[tuple[str, Node]]:
        """Returns the fields by their names, as columns of a side."""
        return self.parts(self.side(letter))

    def row(self, letter: str) -> Node:
        """Returns the row of a side as a value, with these fields alone."""
        return trees.struct(*self.columns(letter))


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

    def __str__(self) -> str:
        """Returns the type as ECL writes it."""
        return f"DATASET({self.record})"


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


def blank(kind: EclType) -> Node:
    """Returns the blank value of a type."""
    match kind:
        case RecordType(fields):
            return trees.struct(*((one.name, blank(one.type)) for one in fields))
        case _:
            inside = spark_type(kind)
            return trees.Literal(schema.blank(inside), inside)


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
            kind = Exact(int(digits or 0), int(places or 0))
            is_known = 0 < kind.digits <= _DIGITS and kind.whole >= 0
            return kind if is_known else None
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


def _holding(whole: int, places: int) -> Exact:
    """Returns the decimals of so many digits before and behind the point."""
    places = min(places, max(MOST_DIGITS - whole, _LEAST_PLACES))
    return Exact(min(whole + places, MOST_DIGITS), places)


def _common_exact(one: Exact, other: Exact) -> Exact:
    """Returns the decimals of both."""
    return _holding(max(one.whole, other.whole), max(one.places, other.places))


@dataclass(frozen=True, slots=True)
class Computed:
    """The decimals of a result, and pairs of types to compute it in.

    Spark gives wide types a result of fewer places; of the first pair that both values
    fit it has all of them.
    """

    kind: Exact
    pairs: tuple[tuple[Exact, Exact], ...]


def _sized(whole: int, places: int) -> Exact:
    """Returns the decimals of just so many digits before and behind the point."""
    return Exact(max(1, whole + places), places)


def total(one: Exact, other: Exact) -> Computed:
    """Returns the decimals that hold every sum and difference of two types."""
    whole, places = max(one.whole, other.whole) + 1, max(one.places, other.places)
    result = _holding(whole, places)
    narrow = (Exact(MOST_DIGITS - 1, it) for it in (places, result.places))
    pairs = [(it, it) for it in dict.fromkeys(narrow) if it.whole >= 0]
    is_wide = whole + places > MOST_DIGITS
    return Computed(result, (*(pairs if is_wide else []), (one, other)))


def product(one: Exact, other: Exact) -> Computed:
    """Returns the decimals that hold every product of two types."""
    result = _holding(one.whole + other.whole, one.places + other.places)
    # Spark keeps a digit before the point for itself.
    room = MOST_DIGITS - 1 - result.places
    is_wide = one.whole + other.whole > room
    shares = range(max(0, room - other.whole), min(one.whole, room) + 1)
    pairs = [(_sized(it, one.places), _sized(room - it, other.places)) for it in shares]
    return Computed(result, (*(pairs if is_wide else []), (one, other)))


def quotient(one: Exact, other: Exact) -> Computed:
    """Returns the decimals of a quotient: with more places than what is divided."""
    places = max(one.places, other.places, _PLACES)
    # All that stands before the dividend's point has room.
    places = min(places, MOST_DIGITS - one.whole)
    result = Exact(MOST_DIGITS, places)
    # Spark gives a quotient the more places the more the dividend has, and the fewer
    # digits can stand before the point.
    is_wide = one.whole + other.places > result.whole
    pairs = [
        (_sized(min(one.whole, result.whole - it), places), _sized(other.whole, it))
        for it in (*range(other.places, 0, -4), 0)
        if it <= result.whole
    ]
    last = (_sized(one.whole, places), other)
    return Computed(result, (*(pairs if is_wide else []), last))


def sum_of(kind: Exact) -> Exact:
    """Returns the decimals that hold the sum of many of a type."""
    return Exact(min(kind.digits + _MORE_DIGITS, MOST_DIGITS), kind.places)


_ALL = 1 << 64
_HALF = 1 << 63
# HPCC writes a REAL8 with so many digits, a REAL4 with seven.
_DIGITS_OF_REAL, _DIGITS_OF_REAL4 = 16, 7
# A text is the number that it begins with; of several signs a minus anywhere counts.
_SIGNS = r"'^[ +-]*'"
_WHOLE_NUMBER = r"'^[ +-]*([0-9]+)'"
_ANY_NUMBER = r"'^ *([+-]?[0-9]*[.]?[0-9]*([eE][+-]?[0-9]+)?)'"


@dataclass(frozen=True, slots=True, eq=False)
class Scalar:
    """A value as a tree, with its type in ECL; two that are written alike are equal.

    `default` is what DEFAULT says of the field that it is, if it is one.
    """

    tree: Node
    type: EclType
    default: tuple[Node, ...] = ()

    def __eq__(self, other: object) -> bool:
        """Tells whether two values are the same."""
        if not isinstance(other, Scalar):
            return NotImplemented
        mine, its = trees.simple(self.tree), trees.simple(other.tree)
        return self.type == other.type and mine == its

    def __hash__(self) -> int:
        """Returns the hash of the type."""
        return hash(self.type)


def truth(tree: Node) -> Scalar:
    """Returns a condition as a value."""
    return Scalar(tree, BOOLEAN)


def whole(tree: Node) -> Scalar:
    """Returns a whole number of 8 bytes with a sign as a value."""
    return Scalar(tree, INTEGER)


def part(row: Node, one: Field) -> Scalar:
    """Returns a field of a row."""
    tree = trees.field(row, one.name, spark_type(one.type))
    return Scalar(tree, one.type, one.default)


def leaves(value: Scalar) -> Iterator[Scalar]:
    """Yields the fields of a record, of records inside theirs; of others the value."""
    if not isinstance(value.type, RecordType):
        yield value
        return
    for one in value.type.fields:
        yield from leaves(part(value.tree, one))


def column(one: Field, letter: str = "l") -> Node:
    """Returns a field as a column of a side."""
    return trees.column(one.name, spark_type(one.type), letter)


def converted(value: Scalar, wanted: EclType) -> Scalar | None:
    """Returns the value as another type, or None where ECL has no such cast."""
    if value.type == wanted:
        # The row of a side is no value in Spark SQL.
        if trees.is_side(value.tree) and isinstance(value.type, RecordType):
            return Scalar(rebuilt(value, value.type), value.type)
        return value
    tree = _cast(value, wanted)
    return Scalar(tree, wanted) if tree else None


def _cast(value: Scalar, wanted: EclType) -> Node | None:
    """Returns the value as another type, or nothing."""
    match wanted, value.type:
        case Whole(), _:
            return _to_whole(value, wanted)
        case Real() | Exact(), _:
            return _to_fraction(value, wanted)
        case Letters(), _:
            return _to_letters(value, wanted)
        case Truth(), Letters():
            return sql("compared <> ''", compared=compared(value))
        case Truth(), Whole() | Real() | Exact():
            return sql("x <> zero", x=value.tree, zero=blank(value.type))
        case Bytes(), Letters():
            return sql("CAST(x AS BINARY)", x=full(value))
        case (SetOf(element), SetOf(found)) | (TableType(element), TableType(found)):
            return _each(value.tree, found, element)
        case RecordType() as record, RecordType():
            return rebuilt(value, record)
        case _:
            return None


def signed(value: Scalar) -> Node:
    """Returns a whole number as a bigint; one beyond wraps."""
    if not (isinstance(value.type, Whole) and value.type.is_wide):
        return value.tree
    wraps = f"CAST(IF(x >= {_HALF}BD, x - {_ALL}BD, x) AS BIGINT)"
    return sql(wraps, x=value.tree)


def unsigned(tree: Node) -> Node:
    """Returns a bigint as the number of UNSIGNED8 that has the same bits."""
    exact = sql("CAST(x AS DECIMAL(20,0))", x=tree)
    text = f"CAST(IF(x < 0L, exact + {_ALL}BD, exact) AS DECIMAL(20,0))"
    return sql(text, x=tree, exact=exact)


def full(value: Scalar) -> Node:
    """Returns a text with the blanks that its type gives it."""
    if isinstance(value.type, Letters) and value.type.length:
        return sql(f"rpad(x, {value.type.length}, ' ')", x=value.tree)
    return value.tree


def compared(value: Scalar) -> Node:
    """Returns a value as it is compared: a text without trailing blanks."""
    # One of a length is stored so.
    is_long = isinstance(value.type, Letters) and not value.type.length
    return sql("rtrim(x)", x=value.tree) if is_long else value.tree


def _to_whole(value: Scalar, wanted: Whole) -> Node | None:
    """Returns a whole number of a size, or nothing; it wraps where it does not fit."""
    match value.type:
        case Whole() as kind:
            found = value
        case Real() | Exact():
            found, kind = whole(sql("CAST(x AS BIGINT)", x=value.tree)), INTEGER
        case Letters():
            found, kind = _read_whole(value.tree, wanted)
        case Truth():
            found, kind = whole(sql("CAST(x AS BIGINT)", x=value.tree)), Whole(1)
        case _:
            return None
    least, most = wanted.bounds
    # All values of the type fit: nothing wraps, and the number stays as it is.
    if least <= kind.bounds[0] and kind.bounds[1] <= most:
        is_widened = wanted.is_wide and not kind.is_wide
        wide = "CAST(x AS DECIMAL(20,0))" if is_widened else "x"
        return sql(wide, x=found.tree)
    if wanted.size == WIDEST:
        return signed(found) if wanted.is_signed else unsigned(found.tree)
    room = 1 << (8 * wanted.size)
    if not wanted.is_signed:
        return sql(f"pmod(x, {room}L)", x=signed(found))
    # Moved up by half of the room, and back: so the rest has a sign.
    half = room // 2
    return sql(f"pmod(x + {half}L, {room}L) - {half}L", x=signed(found))


def _read_whole(text: Node, wanted: Whole) -> tuple[Scalar, Whole]:
    """Returns the number that a text begins with, 0 where it begins with none.

    A type without a sign does not look at that of the text.
    """
    digits = sql(f"regexp_extract(x, {_WHOLE_NUMBER}, 1)", x=text)
    if wanted.is_wide:
        found = sql("coalesce(CAST(x AS DECIMAL(20,0)), 0BD)", x=digits)
        return Scalar(sql(f"IF(x < {_ALL}BD, x, 0BD)", x=found), wanted), wanted
    found = sql("coalesce(CAST(x AS BIGINT), 0L)", x=digits)
    if wanted.is_signed:
        is_below = f"instr(regexp_extract(text, {_SIGNS}, 0), '-') > 0"
        found = sql(f"IF({is_below}, 0L - x, x)", x=found, text=text)
    return whole(found), INTEGER


def _to_fraction(value: Scalar, wanted: Real | Exact) -> Node | None:
    """Returns a number with a point, or nothing."""
    match value.type:
        case Letters():
            number = f"regexp_extract(x, {_ANY_NUMBER}, 1)"
        case Whole() | Real() | Exact():
            number = "x"
        case Truth():
            number = "CAST(x AS BIGINT)"
        case _:
            return None
    cast = f"coalesce(CAST({number} AS {spark_type(wanted)}), zero)"
    return sql(cast, x=value.tree, zero=blank(wanted))


def _to_letters(value: Scalar, wanted: Letters) -> Node | None:
    """Returns a text of a length, or nothing."""
    match value.type:
        case Letters(length=length):
            text = full(value)
            if wanted.length:
                text = value.tree
                if not 0 < length <= wanted.length:
                    text = sql(f"rtrim(substring(x, 1, {wanted.length}))", x=text)
            is_new = wanted.is_upper and not value.type.is_upper
            return sql("upper(x)", x=text) if is_new else text
        case Bytes():
            text = sql("CAST(x AS STRING)", x=value.tree)
        case Truth():
            text = sql("IF(x, '1', '')", x=value.tree)
        case Real():
            return _within(_written_real(value), wanted.length, is_cut=True)
        case Whole():
            text = sql("CAST(x AS STRING)", x=value.tree)
            return _within(text, wanted.length, is_cut=False)
        case Exact(places=places):
            # CAST would write small decimals with an exponent.
            text = sql("TRY_CAST(x AS STRING)", x=value.tree)
            if places:
                text = sql("regexp_replace(x, '[.]?0+$', '')", x=text)
            return _within(text, wanted.length, is_cut=False)
        case _:
            return None
    return _to_letters(Scalar(text, STRING), wanted)


def _within(text: Node, length: int, *, is_cut: bool) -> Node:
    """Returns a number that has been written, in a text of a length.

    Of a fraction places may be left out; a number that has no room is stars.
    """
    if not length:
        return text
    stars = f"'{'*' * length}'"
    if is_cut:
        fits = f"instr(x, '.') BETWEEN 1 AND {length + 1}"
        stars = f"IF({fits}, substring(x, 1, {length}), {stars})"
    return sql(f"IF(length(x) > {length}, {stars}, x)", x=text)


def _written_real(value: Scalar) -> Node:
    """Returns a REAL as a text of at most 16 digits, those of REAL4 of 7, as HPCC does.

    An exponent is written below 0.0001 and where the digits do not reach the point;
    all other numbers have a point.
    """
    is_double = spark_type(value.type) == AtomicType.DOUBLE
    digits = _DIGITS_OF_REAL if is_double else _DIGITS_OF_REAL4
    # Rounded to its digits first: what is written of it has no more.
    form = f"format_string('%.{digits - 1}e', CAST(x AS DOUBLE))"
    written = sql(form, x=value.tree)
    exact = "TRY_CAST(CAST(x AS DECIMAL(38,20)) AS STRING)"
    return sql(
        f"IF(size = 0D OR (size >= 1e-4D AND size < 1e{digits}D), "
        f"regexp_replace(regexp_replace({exact}, '0+$', ''), '[.]$', '.0'), "
        "lower(regexp_replace(x, '[.]?0*e', 'e')))",
        x=written,
        size=sql("abs(CAST(x AS DOUBLE))", x=written),
    )


def _each(items: Node, found: EclType, wanted: EclType) -> Node | None:
    """Returns an array whose elements are converted, or nothing."""
    if found == wanted:
        return items
    item = trees.variable("item", spark_type(found))
    inner = converted(Scalar(item, found), wanted)
    if inner is None:
        return None
    each = trees.function(inner.tree, item)
    return sql("transform(items, each)", items=items, each=each)


def rebuilt(value: Scalar, wanted: RecordType) -> Node:
    """Returns a record of other fields, each taken by its name or blank."""
    return trees.struct(*((one.name, field_of(value, one)) for one in wanted.fields))


def field_of(value: Scalar, wanted: Field) -> Node:
    """Returns a field of a row in a type; a missing one is as its record says."""
    # Without a cast between the types the field is blank, as one that is not there.
    if isinstance(value.type, RecordType):
        for one in value.type.find(wanted.name):
            inner = converted(part(value.tree, one), wanted.type)
            return inner.tree if inner else blank(wanted.type)
    return [*wanted.initial, blank(wanted.type)][0]
