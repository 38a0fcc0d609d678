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

from dovetail.dialects.ecl import syntax, types
from dovetail.dialects.ecl.context import (
    Context,
    as_text,
    as_type,
    known_value,
    refusal,
)
from dovetail.dialects.ecl.records import declared_type
from dovetail.dialects.ecl.values import TypeValue
from dovetail.errors import DialectError
from dovetail.expression.sql import literal_text, text_of
from dovetail.schema import ArrayType, quoted

_MOST = 1 << 64


def read_number(_: Context, node: syntax.Number) -> types.Scalar:
    """Returns a number: whole, or REAL; with the letter d a DECIMAL."""
    text = node.text.rstrip("u")
    if text.startswith("0x"):
        return _whole(node, int(text, 16))
    if "e" in text:
        return types.Scalar(f"CAST({text} AS DOUBLE)", types.REAL)
    if "." in text:
        return types.Scalar(f"{text}D", types.REAL)
    return _whole(node, int(text))


def _whole(node: syntax.Number, value: int) -> types.Scalar:
    """Returns a whole number; one beyond INTEGER8 is UNSIGNED8."""
    if value >= _MOST:
        raise refusal(node, f"the number {value}", "one of at most 8 bytes")
    if value >= _MOST >> 1:
        return types.Scalar(f"{value}BD", types.Whole(is_signed=False))
    return types.Scalar(f"{value}L", types.INTEGER)


def read_text(_: Context, node: syntax.Text) -> types.Scalar:
    """Returns a text; the letter before it may make it bytes or a decimal."""
    match node.prefix:
        case "x" | "d":
            is_hex = node.prefix == "x"
            digits = node.value if is_hex else node.value.encode().hex()
            return types.Scalar(f"X'{digits}'", types.Bytes())
        case "e":
            number = Decimal(node.value)
            return types.Scalar(f"{number}BD", _exact(number))
        case "v":
            return types.Scalar(text_of(node.value), types.STRING)
        case _:
            length = len(node.value)
            text = node.value.rstrip(" ") if length else ""
            return types.Scalar(text_of(text), types.Letters(length))


def _exact(number: Decimal) -> types.Exact:
    """Returns the type of a decimal with just its digits."""
    places = max(0, -int(number.as_tuple().exponent))
    return types.Exact(max(len(number.as_tuple().digits), places), places)


NUMBERS = (types.Whole, types.Real, types.Exact)


def of_numbers(node: syntax.Operation, operands: list[types.Scalar]) -> types.Scalar:
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


def _as_number(node: syntax.Operation, value: types.Scalar) -> types.Scalar:
    """Returns a value as a number."""
    if isinstance(value.type, NUMBERS):
        return value
    return as_type(node, value, types.INTEGER)


def _divided(node: syntax.Operation, values: list[types.Scalar]) -> types.Scalar:
    """Returns a quotient with a fraction, 0 where the divisor is 0."""
    kind = reduce(types.common, [value.type for value in values])
    # Spark gives a quotient the more places the more the dividend has.
    wanted: list[types.EclType] = [types.REAL, types.REAL]
    if isinstance(kind, types.Exact):
        wanted = [types.quotient(kind), kind]
    result = wanted[0]
    pairs = zip(values, wanted, strict=True)
    one, other = (as_type(node, value, it).text for value, it in pairs)
    zero, blank = (f"CAST(0 AS {types.spark_type(it)})" for it in (wanted[1], result))
    text = f"CAST({one} / {other} AS {types.spark_type(result)})"
    return types.Scalar(
        f"IF({other} = {zero}, {blank}, coalesce({text}, {blank}))", result
    )


def _whole_divided(node: syntax.Operation, values: list[types.Scalar]) -> types.Scalar:
    """Returns a quotient or a rest of whole numbers, 0 where the divisor is 0."""
    kind = reduce(
        types.common, [as_type(node, one, types.INTEGER).type for one in values]
    )
    is_wide = all(
        isinstance(one.type, types.Whole) and one.type.is_wide for one in values
    )
    wanted = types.Whole(is_signed=False) if is_wide else kind
    one, other = (as_type(node, value, wanted).text for value in values)
    blank = "0BD" if is_wide else "0L"
    result = f"CAST({one} {node.sign} {other} AS {types.spark_type(wanted)})"
    return types.Scalar(f"IF({other} = {blank}, {blank}, {result})", wanted)


def _calculated(node: syntax.Operation, values: list[types.Scalar]) -> types.Scalar:
    """Returns a sum, a difference or a product; whole numbers wrap at 8 bytes."""
    kind = reduce(types.common, [value.type for value in values])
    if isinstance(kind, types.Whole):
        one, other = (types.signed(value) for value in values)
        text = f"({one} {node.sign} {other})"
        is_wide = any(
            isinstance(it.type, types.Whole) and it.type.is_wide for it in values
        )
        if is_wide and not kind.is_signed:
            return types.Scalar(types.unsigned(text), types.Whole(is_signed=False))
        return types.Scalar(text, types.INTEGER)
    if isinstance(kind, types.Exact):
        return _calculated_exactly(node, values)
    one, other = (as_type(node, value, kind).text for value in values)
    return types.Scalar(
        f"CAST({one} {node.sign} {other} AS {types.spark_type(kind)})", kind
    )


def _calculated_exactly(
    node: syntax.Operation, values: list[types.Scalar]
) -> types.Scalar:
    """Returns a sum, a difference or a product of decimals: no digit of it is lost."""
    kinds = [
        types.as_exact(it.type)
        for it in values
        if isinstance(it.type, types.Exact | types.Whole)
    ]
    result = reduce(types.product if node.sign == "*" else types.total, kinds)
    pairs = zip(values, kinds, strict=True)
    one, other = (as_type(node, value, kind).text for value, kind in pairs)
    text = f"CAST({one} {node.sign} {other} AS {types.spark_type(result)})"
    return types.Scalar(f"coalesce({text}, {types.blank_text(result)})", result)


_COMPARED = {"=": "=", "<>": "<>", "!=": "<>"} | {
    sign: sign for sign in ("<", "<=", ">", ">=")
}
_FEW = 100


def read_operation(context: Context, node: syntax.Operation) -> types.Scalar:
    """Returns what an operator makes of its operands."""
    match node.sign:
        case "AND" | "OR":
            both = f" {node.sign} ".join(map(context.condition, node.operands))
            return types.Scalar(f"({both})", types.BOOLEAN)
        case "NOT":
            return types.Scalar(
                f"(NOT {context.condition(node.operands[0])})", types.BOOLEAN
            )
        case "BETWEEN":
            return _between(context, node)
        case "IN":
            return _within(context, node)
        case "NEGATIVE":
            return _negative(context, node)
        case sign if sign in _COMPARED:
            one, other = (context.scalar(part) for part in node.operands)
            return types.Scalar(compared(node, one, other), types.BOOLEAN)
        case _:
            return _computed(context, node)


def compared(node: syntax.Operation, one: types.Scalar, other: types.Scalar) -> str:
    """Returns a comparison of two values in the type that both meet in."""
    left, right = met(node, one, other)
    if isinstance(left.type, types.RecordType):
        return _records_compared(node, left, right)
    return f"({left.text} {_COMPARED[node.sign]} {right.text})"


def met(
    node: syntax.Node, one: types.Scalar, other: types.Scalar
) -> tuple[types.Scalar, types.Scalar]:
    """Returns two values as they are compared; beside a number a text is one."""
    match one.type, other.type:
        case types.Letters(), types.Letters():
            return replace(one, text=types.trimmed(one)), replace(
                other, text=types.trimmed(other)
            )
        case types.Whole() | types.Real() | types.Exact(), types.Letters():
            return one, as_type(node, other, one.type)
        case types.Letters(), types.Whole() | types.Real() | types.Exact():
            return as_type(node, one, other.type), other
        case types.RecordType(), types.RecordType() if one.type != other.type:
            return one, as_type(node, other, one.type)
        case types.RecordType(), types.RecordType():
            return one, other
        case _:
            kind = types.common(one.type, other.type)
            one, other = as_type(node, one, kind), as_type(node, other, kind)
            return met(node, one, other) if kind == types.STRING else (one, other)


def _records_compared(
    node: syntax.Operation, one: types.Scalar, other: types.Scalar
) -> str:
    """Returns a comparison of two records, field by field."""
    if node.sign not in {"=", "<>", "!="} or not isinstance(one.type, types.RecordType):
        raise refusal(node, f'"{node.sign}" between records', "= or <>")
    same = syntax.Operation(node.place, "=", node.operands)
    parts = [
        compared(
            same,
            types.Scalar(f"{one.text}.{quoted(part.name)}", part.type),
            types.Scalar(f"{other.text}.{quoted(part.name)}", part.type),
        )
        for part in one.type.fields
    ]
    both = f"({' AND '.join(parts)})"
    return both if node.sign == "=" else f"(NOT {both})"


def _between(context: Context, node: syntax.Operation) -> types.Scalar:
    """Returns whether a value lies within bounds, both of them included."""
    value, least, most = node.operands
    bounds = [
        syntax.Operation(node.place, ">=", (value, least)),
        syntax.Operation(node.place, "<=", (value, most)),
    ]
    return types.Scalar(
        f"({' AND '.join(map(context.condition, bounds))})", types.BOOLEAN
    )


def _within(context: Context, node: syntax.Operation) -> types.Scalar:
    """Returns whether a value is in a set."""
    value, wanted = node.operands
    if isinstance(wanted, syntax.Items):
        each = [
            syntax.Operation(node.place, "=", (value, item)) for item in wanted.items
        ]
        texts = [context.condition(one) for one in each]
        return types.Scalar(f"({' OR '.join(texts) or 'false'})", types.BOOLEAN)
    found, members = context.scalar(value), context.scalar(wanted)
    if not isinstance(members.type, types.SetOf):
        raise refusal(wanted, "no set behind IN", "a set, [1, 2] for example")
    element = members.type.element
    same = syntax.Operation(node.place, "=", node.operands)
    for values in _known_members(wanted, members):
        texts = [compared(same, found, types.Scalar(one, element)) for one in values]
        return types.Scalar(f"({' OR '.join(texts) or 'false'})", types.BOOLEAN)
    is_alike = types.spark_type(found.type) == types.spark_type(element)
    if is_alike and isinstance(element, NUMBERS):
        return types.Scalar(
            f"array_contains({members.text}, {found.text})", types.BOOLEAN
        )
    condition = compared(same, found, types.Scalar("item", element))
    return types.Scalar(f"exists({members.text}, item -> {condition})", types.BOOLEAN)


def _known_members(node: syntax.Node, members: types.Scalar) -> Iterator[list[str]]:
    """Yields the values of a set that the program names, where they are few."""
    kind = types.spark_type(members.type)
    with suppress(DialectError):
        found = known_value(node, members)
        if (
            isinstance(kind, ArrayType)
            and isinstance(found, list)
            and len(found) <= _FEW
        ):
            yield [literal_text(one, kind.element) for one in found]


def _negative(context: Context, node: syntax.Operation) -> types.Scalar:
    """Returns a number with its sign turned; of a whole one the result has a sign."""
    value = context.scalar(node.operands[0])
    if not isinstance(value.type, NUMBERS):
        raise refusal(node, "a sign before something else", "a number")
    if isinstance(value.type, types.Whole):
        return types.Scalar(f"(0L - {types.signed(value)})", types.INTEGER)
    return types.Scalar(f"(- {value.text})", value.type)


def _computed(context: Context, node: syntax.Operation) -> types.Scalar:
    """Returns a sum, a difference, a product, a quotient, or what is put together."""
    one, other = (context.scalar(part) for part in node.operands)
    match one.type, other.type:
        case types.SetOf(), types.SetOf():
            return _sets_appended(node, one, other)
        case types.Letters(), types.Letters():
            return _texts_appended(node, one, other)
        case (types.Letters(), _) | (_, types.Letters()) if node.sign == "+":
            return _appended(as_text(node, one), as_text(node, other))
        case _:
            return of_numbers(node, [one, other])


def _texts_appended(
    node: syntax.Operation, one: types.Scalar, other: types.Scalar
) -> types.Scalar:
    """Returns two texts put together."""
    if node.sign != "+":
        raise refusal(node, f'"{node.sign}" between texts', "+")
    return _appended(one, other)


def _appended(one: types.Scalar, other: types.Scalar) -> types.Scalar:
    """Returns two texts put together; the first keeps the blanks of its type."""
    first, second = one.type, other.type
    lengths = [
        kind.length for kind in (first, second) if isinstance(kind, types.Letters)
    ]
    if all(lengths):
        return types.Scalar(
            f"concat({types.full(one)}, {other.text})", types.Letters(sum(lengths))
        )
    return types.Scalar(f"concat({types.full(one)}, {types.full(other)})", types.STRING)


def _sets_appended(
    node: syntax.Operation, one: types.Scalar, other: types.Scalar
) -> types.Scalar:
    """Returns two sets put together, their values of one type."""
    if node.sign != "+":
        raise refusal(node, f'"{node.sign}" between sets', "+")
    kind = types.common(one.type, other.type)
    if isinstance(one.type, types.SetOf) and one.type.is_open:
        kind = other.type
    texts = [as_type(node, value, kind).text for value in (one, other)]
    return types.Scalar(f"concat({', '.join(texts)})", kind)


def read_cast(context: Context, node: syntax.Cast) -> types.Scalar:
    """Returns a value as another type, of ECL's own or one that the text names."""
    return context.typed(node.operand, _cast_type(context, node.type))


def _cast_type(context: Context, node: syntax.Node) -> types.EclType:
    """Returns the type in front of a value, or refuses what is none."""
    if not isinstance(node, syntax.Name | syntax.Member):
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


def read_items(context: Context, node: syntax.Items) -> types.Scalar:
    """Returns a set of values of one type."""
    values = [context.scalar(item) for item in node.items]
    kind = (
        reduce(types.common, [value.type for value in values])
        if values
        else types.STRING
    )
    texts = [
        as_type(item, value, kind).text
        for item, value in zip(node.items, values, strict=True)
    ]
    text = f"array({', '.join(texts)})"
    return types.Scalar(
        f"CAST({text} AS array<{types.spark_type(kind)}>)",
        types.SetOf(kind, is_open=not values),
    )


def read_letters(
    context: Context, node: syntax.Part, value: types.Scalar
) -> types.Scalar:
    """Returns letters of a text, or an item of a set; what is not there is blank."""
    if isinstance(value.type, types.SetOf):
        return _item(context, node, value)
    if not isinstance(value.type, types.Letters):
        raise refusal(node, f"{node.reach.value} of something else", "a text or a set")
    first = context.typed(node.first, types.INTEGER).text
    match node.reach:
        case syntax.Reach.ONE:
            return _one_letter(node, value, first)
        case syntax.Reach.TO:
            last = context.typed(node.last, types.INTEGER).text
            bounds = (_place(node.first, first), last)
            return _cut(value, bounds, length=_length((node.first, node.last)))
        case syntax.Reach.END:
            start = f"CAST({_place(node.first, first)} AS INT)"
            return types.Scalar(
                f"substring({types.full(value)}, {start})", types.STRING
            )
        case syntax.Reach.ANY:
            raise refusal(
                node, "[n..*] here", "it in an equality of a JOIN with ATMOST"
            )


def _place(node: syntax.Node, text: str) -> str:
    """Returns a place in a text; one before the first letter is that of the first."""
    return text if _is_place(node) else f"greatest({text}, 1L)"


def _is_place(node: syntax.Node) -> bool:
    """Tells whether a node is a number from 1 on."""
    return isinstance(node, syntax.Number) and bool(node.text.strip("0"))


def _one_letter(node: syntax.Part, value: types.Scalar, place: str) -> types.Scalar:
    """Returns the letter at a place, blank where there is none."""
    found = _cut(value, (place, place), length=1)
    if _is_place(node.first):
        return found
    return replace(found, text=f"IF({place} < 1L, '', {found.text})")


def _length(bounds: tuple[syntax.Node, syntax.Node]) -> int:
    """Returns the length between two places that are written, or 0."""
    match bounds:
        case syntax.Number(text=one), syntax.Number(text=other) if (
            one.isdigit() and other.isdigit()
        ):
            return max(0, int(other) - max(1, int(one)) + 1)
        case _:
            return 0


def _cut(value: types.Scalar, bounds: tuple[str, str], *, length: int) -> types.Scalar:
    """Returns letters between two places; of a written length it is one of the type."""
    first, last = bounds
    if length:
        size = str(length)
    else:
        size = f"CAST(greatest({last} - {first} + 1L, 0L) AS INT)"
    text = f"substring({types.full(value)}, CAST({first} AS INT), {size})"
    if length:
        return types.Scalar(f"rtrim({text})", types.Letters(length))
    return types.Scalar(text, types.STRING)


def _item(context: Context, node: syntax.Part, value: types.Scalar) -> types.Scalar:
    """Returns an item of a set, from 1; beyond its end it is blank."""
    if node.reach is not syntax.Reach.ONE or not isinstance(value.type, types.SetOf):
        raise refusal(node, f"{node.reach.value} of a set", "[n]")
    element = value.type.element
    place = f"CAST({context.typed(node.first, types.INTEGER).text} AS INT)"
    found = f"get({value.text}, {place} - 1)"
    return types.Scalar(f"coalesce({found}, {types.blank_text(element)})", element)
