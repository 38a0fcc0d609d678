"""Constants, operators and parts: expressions as Spark SQL with the rules of ECL.

Nothing is null: dividing by zero gives 0, whole numbers wrap at 8 bytes, texts are the
same whatever blanks end them, and decimals keep all digits until they are assigned.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import reduce

from dovetail.dialects.ecl.context import (
    Context,
    as_text,
    as_type,
    known_value,
    refusal,
)
from dovetail.dialects.ecl.records import declared_type
from dovetail.dialects.ecl.syntax import (
    Cast,
    Items,
    Member,
    Name,
    Node,
    Number,
    Operation,
    Part,
    Reach,
    Text,
)
from dovetail.dialects.ecl.types import (
    BOOLEAN,
    INTEGER,
    REAL,
    STRING,
    Bytes,
    EclType,
    Exact,
    Letters,
    Real,
    RecordType,
    Scalar,
    SetOf,
    Whole,
    as_exact,
    blank_text,
    common,
    full,
    product,
    quotient,
    signed,
    spark_type,
    total,
    trimmed,
    unsigned,
)
from dovetail.dialects.ecl.values import TypeValue
from dovetail.errors import DialectError
from dovetail.expression.writing import literal_text, text_of
from dovetail.schema import ArrayType, quoted

_MOST = 1 << 64


def read_number(_: Context, node: Number) -> Scalar:
    """Returns a number: whole, or REAL; with the letter d a DECIMAL."""
    text = node.text.rstrip("u")
    if text.startswith("0x"):
        return _whole(node, int(text, 16))
    if "e" in text:
        return Scalar(f"CAST({text} AS DOUBLE)", REAL)
    if "." in text:
        return Scalar(f"{text}D", REAL)
    return _whole(node, int(text))


def _whole(node: Number, value: int) -> Scalar:
    """Returns a whole number; one beyond INTEGER8 is UNSIGNED8."""
    if value >= _MOST:
        raise refusal(node, f"the number {value}", "one of at most 8 bytes")
    if value >= _MOST >> 1:
        return Scalar(f"{value}BD", Whole(is_signed=False))
    return Scalar(f"{value}L", INTEGER)


def read_text(_: Context, node: Text) -> Scalar:
    """Returns a text; the letter before it may make it bytes or a decimal."""
    match node.prefix:
        case "x" | "d":
            is_hex = node.prefix == "x"
            digits = node.value if is_hex else node.value.encode().hex()
            return Scalar(f"X'{digits}'", Bytes())
        case "e":
            number = Decimal(node.value)
            return Scalar(f"{number}BD", _exact(number))
        case "v":
            return Scalar(text_of(node.value), STRING)
        case _:
            length = len(node.value)
            text = node.value.rstrip(" ") if length else ""
            return Scalar(text_of(text), Letters(length))


def _exact(number: Decimal) -> Exact:
    """Returns the type of a decimal with just its digits."""
    places = max(0, -int(number.as_tuple().exponent))
    return Exact(max(len(number.as_tuple().digits), places), places)


NUMBERS = (Whole, Real, Exact)


def of_numbers(node: Operation, operands: list[Scalar]) -> Scalar:
    """Returns what an operator makes of two numbers."""
    values = [_as_number(node, one) for one in operands]
    match node.sign:
        case "/":
            return _divided(node, values)
        case "DIV" | "%":
            return _whole_divided(node, values)
        case "+" | "-" | "*":
            return _calculated(node, values)
        case _:
            raise refusal(node, f'the operator "{node.sign}"', "+, -, *, /, DIV or %")


def _as_number(node: Operation, value: Scalar) -> Scalar:
    """Returns a value as a number."""
    if isinstance(value.type, NUMBERS):
        return value
    return as_type(node, value, INTEGER)


def _divided(node: Operation, values: list[Scalar]) -> Scalar:
    """Returns a quotient with a fraction, 0 where the divisor is 0."""
    kind = reduce(common, [value.type for value in values])
    # Spark gives a quotient the more places the more the dividend has.
    wanted: list[EclType] = [REAL, REAL]
    if isinstance(kind, Exact):
        wanted = [quotient(kind), kind]
    result = wanted[0]
    pairs = zip(values, wanted, strict=True)
    one, other = (as_type(node, value, it).text for value, it in pairs)
    zero, blank = (f"CAST(0 AS {spark_type(it)})" for it in (wanted[1], result))
    text = f"CAST({one} / {other} AS {spark_type(result)})"
    return Scalar(f"IF({other} = {zero}, {blank}, coalesce({text}, {blank}))", result)


def _whole_divided(node: Operation, values: list[Scalar]) -> Scalar:
    """Returns a quotient or a rest of whole numbers, 0 where the divisor is 0."""
    kind = reduce(common, [as_type(node, one, INTEGER).type for one in values])
    is_wide = all(isinstance(one.type, Whole) and one.type.is_wide for one in values)
    wanted = Whole(is_signed=False) if is_wide else kind
    one, other = (as_type(node, value, wanted).text for value in values)
    blank = "0BD" if is_wide else "0L"
    result = f"CAST({one} {node.sign} {other} AS {spark_type(wanted)})"
    return Scalar(f"IF({other} = {blank}, {blank}, {result})", wanted)


def _calculated(node: Operation, values: list[Scalar]) -> Scalar:
    """Returns a sum, a difference or a product; whole numbers wrap at 8 bytes."""
    kind = reduce(common, [value.type for value in values])
    if isinstance(kind, Whole):
        one, other = (signed(value) for value in values)
        text = f"({one} {node.sign} {other})"
        is_wide = any(isinstance(it.type, Whole) and it.type.is_wide for it in values)
        if is_wide and not kind.is_signed:
            return Scalar(unsigned(text), Whole(is_signed=False))
        return Scalar(text, INTEGER)
    if isinstance(kind, Exact):
        return _calculated_exactly(node, values)
    one, other = (as_type(node, value, kind).text for value in values)
    return Scalar(f"CAST({one} {node.sign} {other} AS {spark_type(kind)})", kind)


def _calculated_exactly(node: Operation, values: list[Scalar]) -> Scalar:
    """Returns a sum, a difference or a product of decimals: no digit of it is lost."""
    kinds = [as_exact(it.type) for it in values if isinstance(it.type, Exact | Whole)]
    result = reduce(product if node.sign == "*" else total, kinds)
    pairs = zip(values, kinds, strict=True)
    one, other = (as_type(node, value, kind).text for value, kind in pairs)
    text = f"CAST({one} {node.sign} {other} AS {spark_type(result)})"
    return Scalar(f"coalesce({text}, {blank_text(result)})", result)


_COMPARED = {"=": "=", "<>": "<>", "!=": "<>"} | {
    sign: sign for sign in ("<", "<=", ">", ">=")
}
_EMPTY = "CAST(array() "
_FEW = 100


def read_operation(context: Context, node: Operation) -> Scalar:
    """Returns what an operator makes of its operands."""
    match node.sign:
        case "AND" | "OR":
            both = f" {node.sign} ".join(map(context.condition, node.operands))
            return Scalar(f"({both})", BOOLEAN)
        case "NOT":
            return Scalar(f"(NOT {context.condition(node.operands[0])})", BOOLEAN)
        case "BETWEEN":
            return _between(context, node)
        case "IN":
            return _within(context, node)
        case "NEGATIVE":
            return _negative(context, node)
        case sign if sign in _COMPARED:
            one, other = (context.scalar(part) for part in node.operands)
            return Scalar(compared(node, one, other), BOOLEAN)
        case _:
            return _computed(context, node)


def compared(node: Operation, one: Scalar, other: Scalar) -> str:
    """Returns a comparison of two values in the type that both meet in."""
    left, right = met(node, one, other)
    if isinstance(left.type, RecordType):
        return _records_compared(node, left, right)
    return f"({left.text} {_COMPARED[node.sign]} {right.text})"


def met(node: Node, one: Scalar, other: Scalar) -> tuple[Scalar, Scalar]:
    """Returns two values as they are compared; beside a number a text is one."""
    match one.type, other.type:
        case Letters(), Letters():
            return replace(one, text=trimmed(one)), replace(other, text=trimmed(other))
        case Whole() | Real() | Exact(), Letters():
            return one, as_type(node, other, one.type)
        case Letters(), Whole() | Real() | Exact():
            return as_type(node, one, other.type), other
        case RecordType(), RecordType() if one.type != other.type:
            return one, as_type(node, other, one.type)
        case RecordType(), RecordType():
            return one, other
        case _:
            kind = common(one.type, other.type)
            one, other = as_type(node, one, kind), as_type(node, other, kind)
            return met(node, one, other) if kind == STRING else (one, other)


def _records_compared(node: Operation, one: Scalar, other: Scalar) -> str:
    """Returns a comparison of two records, field by field."""
    if node.sign not in {"=", "<>", "!="} or not isinstance(one.type, RecordType):
        raise refusal(node, f'"{node.sign}" between records', "= or <>")
    same = Operation(node.place, "=", node.operands)
    parts = [
        compared(
            same,
            Scalar(f"{one.text}.{quoted(part.name)}", part.type),
            Scalar(f"{other.text}.{quoted(part.name)}", part.type),
        )
        for part in one.type.fields
    ]
    both = f"({' AND '.join(parts)})"
    return both if node.sign == "=" else f"(NOT {both})"


def _between(context: Context, node: Operation) -> Scalar:
    """Returns whether a value lies within bounds, both of them included."""
    value, least, most = node.operands
    bounds = [
        Operation(node.place, ">=", (value, least)),
        Operation(node.place, "<=", (value, most)),
    ]
    return Scalar(f"({' AND '.join(map(context.condition, bounds))})", BOOLEAN)


def _within(context: Context, node: Operation) -> Scalar:
    """Returns whether a value is in a set."""
    value, wanted = node.operands
    if isinstance(wanted, Items):
        each = [Operation(node.place, "=", (value, item)) for item in wanted.items]
        texts = [context.condition(one) for one in each]
        return Scalar(f"({' OR '.join(texts) or 'false'})", BOOLEAN)
    found, members = context.scalar(value), context.scalar(wanted)
    if not isinstance(members.type, SetOf):
        raise refusal(wanted, "no set behind IN", "a set, [1, 2] for example")
    element = members.type.element
    same = Operation(node.place, "=", node.operands)
    for values in _known_members(wanted, members):
        texts = [compared(same, found, Scalar(one, element)) for one in values]
        return Scalar(f"({' OR '.join(texts) or 'false'})", BOOLEAN)
    is_alike = spark_type(found.type) == spark_type(element)
    if is_alike and isinstance(element, NUMBERS):
        return Scalar(f"array_contains({members.text}, {found.text})", BOOLEAN)
    condition = compared(same, found, Scalar("item", element))
    return Scalar(f"exists({members.text}, item -> {condition})", BOOLEAN)


def _known_members(node: Node, members: Scalar) -> Iterator[list[str]]:
    """Yields the values of a set that the program names, where they are few."""
    kind = spark_type(members.type)
    with suppress(DialectError):
        found = known_value(node, members)
        if (
            isinstance(kind, ArrayType)
            and isinstance(found, list)
            and len(found) <= _FEW
        ):
            yield [literal_text(one, kind.element) for one in found]


def _negative(context: Context, node: Operation) -> Scalar:
    """Returns a number with its sign turned; of a whole one the result has a sign."""
    value = context.scalar(node.operands[0])
    if not isinstance(value.type, NUMBERS):
        raise refusal(node, "a sign before something else", "a number")
    if isinstance(value.type, Whole):
        return Scalar(f"(0L - {signed(value)})", INTEGER)
    return Scalar(f"(- {value.text})", value.type)


def _computed(context: Context, node: Operation) -> Scalar:
    """Returns a sum, a difference, a product, a quotient, or what is put together."""
    one, other = (context.scalar(part) for part in node.operands)
    match one.type, other.type:
        case SetOf(), SetOf():
            return _sets_appended(node, one, other)
        case Letters(), Letters():
            return _texts_appended(node, one, other)
        case (Letters(), _) | (_, Letters()) if node.sign == "+":
            return _appended(as_text(node, one), as_text(node, other))
        case _:
            return of_numbers(node, [one, other])


def _texts_appended(node: Operation, one: Scalar, other: Scalar) -> Scalar:
    """Returns two texts put together."""
    if node.sign != "+":
        raise refusal(node, f'"{node.sign}" between texts', "+")
    return _appended(one, other)


def _appended(one: Scalar, other: Scalar) -> Scalar:
    """Returns two texts put together; the first keeps the blanks of its type."""
    first, second = one.type, other.type
    lengths = [kind.length for kind in (first, second) if isinstance(kind, Letters)]
    if all(lengths):
        return Scalar(f"concat({full(one)}, {other.text})", Letters(sum(lengths)))
    return Scalar(f"concat({full(one)}, {full(other)})", STRING)


def _sets_appended(node: Operation, one: Scalar, other: Scalar) -> Scalar:
    """Returns two sets put together, their values of one type."""
    if node.sign != "+":
        raise refusal(node, f'"{node.sign}" between sets', "+")
    # An empty set has the type of the other one.
    kind = other.type if one.text.startswith(_EMPTY) else common(one.type, other.type)
    texts = [as_type(node, value, kind).text for value in (one, other)]
    return Scalar(f"concat({', '.join(texts)})", kind)


def read_cast(context: Context, node: Cast) -> Scalar:
    """Returns a value as another type, of ECL's own or one that the text names."""
    return context.typed(node.operand, _cast_type(context, node.type))


def _cast_type(context: Context, node: Node) -> EclType:
    """Returns the type in front of a value, or refuses what is none."""
    if not isinstance(node, Name | Member):
        return declared_type(context, node)
    found = context.value(node)
    if isinstance(found, TypeValue):
        return found.type
    raise refusal(
        node,
        "a cast to what is no type",
        "a type, as (DECIMAL8_2)x",
        "between two values an operator, such as + or =, says what becomes of them",
    )


def read_items(context: Context, node: Items) -> Scalar:
    """Returns a set of values of one type."""
    values = [context.scalar(item) for item in node.items]
    kind = reduce(common, [value.type for value in values]) if values else STRING
    texts = [
        as_type(item, value, kind).text
        for item, value in zip(node.items, values, strict=True)
    ]
    text = f"array({', '.join(texts)})"
    return Scalar(f"CAST({text} AS array<{spark_type(kind)}>)", SetOf(kind))


def read_letters(context: Context, node: Part, value: Scalar) -> Scalar:
    """Returns letters of a text, or an item of a set; what is not there is blank."""
    if isinstance(value.type, SetOf):
        return _item(context, node, value)
    if not isinstance(value.type, Letters):
        raise refusal(node, f"{node.reach.value} of something else", "a text or a set")
    first = context.typed(node.first, INTEGER).text
    match node.reach:
        case Reach.ONE:
            return _one_letter(node, value, first)
        case Reach.TO:
            last = context.typed(node.last, INTEGER).text
            bounds = (_place(node.first, first), last)
            return _cut(value, bounds, length=_length((node.first, node.last)))
        case Reach.END:
            start = f"CAST({_place(node.first, first)} AS INT)"
            return Scalar(f"substring({full(value)}, {start})", STRING)
        case Reach.ANY:
            raise refusal(
                node, "[n..*] here", "it in an equality of a JOIN with ATMOST"
            )


def _place(node: Node, text: str) -> str:
    """Returns a place in a text; one before the first letter is that of the first."""
    return text if _is_place(node) else f"greatest({text}, 1L)"


def _is_place(node: Node) -> bool:
    """Tells whether a node is a number from 1 on."""
    return isinstance(node, Number) and bool(node.text.strip("0"))


def _one_letter(node: Part, value: Scalar, place: str) -> Scalar:
    """Returns the letter at a place, blank where there is none."""
    found = _cut(value, (place, place), length=1)
    if _is_place(node.first):
        return found
    return replace(found, text=f"IF({place} < 1L, '', {found.text})")


def _length(bounds: tuple[Node, Node]) -> int:
    """Returns the length between two places that are written, or 0."""
    match bounds:
        case Number(text=one), Number(text=other) if one.isdigit() and other.isdigit():
            return max(0, int(other) - max(1, int(one)) + 1)
        case _:
            return 0


def _cut(value: Scalar, bounds: tuple[str, str], *, length: int) -> Scalar:
    """Returns letters between two places; of a written length it is one of the type."""
    first, last = bounds
    if length:
        size = str(length)
    else:
        size = f"CAST(greatest({last} - {first} + 1L, 0L) AS INT)"
    text = f"substring({full(value)}, CAST({first} AS INT), {size})"
    if length:
        return Scalar(f"rtrim({text})", Letters(length))
    return Scalar(text, STRING)


def _item(context: Context, node: Part, value: Scalar) -> Scalar:
    """Returns an item of a set, from 1; beyond its end it is blank."""
    if node.reach is not Reach.ONE or not isinstance(value.type, SetOf):
        raise refusal(node, f"{node.reach.value} of a set", "[n]")
    element = value.type.element
    place = f"CAST({context.typed(node.first, INTEGER).text} AS INT)"
    found = f"get({value.text}, {place} - 1)"
    return Scalar(f"coalesce({found}, {blank_text(element)})", element)
