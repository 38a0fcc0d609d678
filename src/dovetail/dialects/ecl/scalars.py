"""Constants, operators and parts: expressions as Spark SQL with the rules of ECL.

Nothing is null: dividing by zero gives 0, whole numbers wrap at 8 bytes, texts are the
same whatever blanks end them, and decimals keep all digits until they are assigned.
"""

from __future__ import annotations

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
            # Its type has just its digits.
            places = max(0, -int(number.as_tuple().exponent))
            count = max(len(number.as_tuple().digits), places)
            return types.Scalar(f"{number}BD", types.Exact(count, places))
        case "v":
            return types.Scalar(text_of(node.value), types.STRING)
        case _:
            length = len(node.value)
            text = node.value.rstrip(" ") if length else ""
            return types.Scalar(text_of(text), types.Letters(length))


NUMBERS = (types.Whole, types.Real, types.Exact)


def of_numbers(node: syntax.Operation, operands: list[types.Scalar]) -> types.Scalar:
    """Returns what an operator makes of two numbers."""
    values = [
        one if isinstance(one.type, NUMBERS) else as_type(node, one, types.INTEGER)
        for one in operands
    ]
    kind = reduce(types.common, [value.type for value in values])
    match node.sign:
        case "/":
            return _divided(node, values, kind)
        case "DIV" | "%":
            return _whole_divided(node, values)
        case "+" | "-" | "*":
            return _calculated(node, values, kind)
        case _:
            raise refusal(node, f'the operator "{node.sign}"', "+, -, *, /, DIV or %")


def _is_wide(value: types.Scalar) -> bool:
    """Tells whether a value is a whole number that does not fit a bigint."""
    return isinstance(value.type, types.Whole) and value.type.is_wide


def _divided(
    node: syntax.Operation, values: list[types.Scalar], kind: types.EclType
) -> types.Scalar:
    """Returns a quotient with a fraction, 0 where the divisor is 0."""
    wanted: list[types.EclType] = [types.REAL, types.REAL]
    if isinstance(kind, types.Exact):
        # Spark gives a quotient the more places the more the dividend has.
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
    kinds = [as_type(node, one, types.INTEGER).type for one in values]
    is_wide = all(map(_is_wide, values))
    wanted = types.Whole(is_signed=False) if is_wide else reduce(types.common, kinds)
    one, other = (as_type(node, value, wanted).text for value in values)
    blank = "0BD" if is_wide else "0L"
    result = f"CAST({one} {node.sign} {other} AS {types.spark_type(wanted)})"
    return types.Scalar(f"IF({other} = {blank}, {blank}, {result})", wanted)


def _calculated(
    node: syntax.Operation, values: list[types.Scalar], kind: types.EclType
) -> types.Scalar:
    """Returns a sum, a difference or a product; whole numbers wrap at 8 bytes."""
    if isinstance(kind, types.Whole):
        one, other = (types.signed(value) for value in values)
        text = f"({one} {node.sign} {other})"
        if any(map(_is_wide, values)) and not kind.is_signed:
            return types.Scalar(types.unsigned(text), types.Whole(is_signed=False))
        return types.whole(text)
    kinds, result = [kind, kind], kind
    if isinstance(kind, types.Exact):
        # Each keeps its own digits, so that no digit of the result is lost.
        exact = [
            types.as_exact(it.type)
            for it in values
            if isinstance(it.type, types.Exact | types.Whole)
        ]
        kinds = [*exact]
        result = reduce(types.product if node.sign == "*" else types.total, exact)
    pairs = zip(values, kinds, strict=True)
    one, other = (as_type(node, value, it).text for value, it in pairs)
    text = f"CAST({one} {node.sign} {other} AS {types.spark_type(result)})"
    if isinstance(result, types.Exact):
        text = f"coalesce({text}, {types.blank_text(result)})"
    return types.Scalar(text, result)


_COMPARED = {"=": "=", "<>": "<>", "!=": "<>"} | {
    sign: sign for sign in ("<", "<=", ">", ">=")
}
_FEW = 100


def read_operation(context: Context, node: syntax.Operation) -> types.Scalar:
    """Returns what an operator makes of its operands."""
    match node.sign:
        case "AND" | "OR":
            both = f" {node.sign} ".join(map(context.condition, node.operands))
            return types.truth(f"({both})")
        case "NOT":
            return types.truth(f"(NOT {context.condition(node.operands[0])})")
        case "BETWEEN":
            # Both bounds are included.
            value, least, most = node.operands
            bounds = [
                syntax.Operation(node.place, ">=", (value, least)),
                syntax.Operation(node.place, "<=", (value, most)),
            ]
            return types.truth(f"({' AND '.join(map(context.condition, bounds))})")
        case "IN":
            return _within(context, node)
        case "NEGATIVE":
            number = context.scalar(node.operands[0])
            if not isinstance(number.type, NUMBERS):
                raise refusal(node, "a sign before something else", "a number")
            if isinstance(number.type, types.Whole):
                # So the result has a sign whatever the number has.
                return types.whole(f"(0L - {types.signed(number)})")
            return types.Scalar(f"(- {number.text})", number.type)
        case sign:
            one, other = (context.scalar(part) for part in node.operands)
            if sign in _COMPARED:
                return types.truth(compared(node, one, other))
            return _computed(node, one, other)


def compared(node: syntax.Operation, one: types.Scalar, other: types.Scalar) -> str:
    """Returns a comparison of two values in the type that both meet in."""
    left, right = met(node, one, other)
    if not isinstance(left.type, types.RecordType):
        return f"({left.text} {_COMPARED[node.sign]} {right.text})"
    # Records are compared field by field.
    if node.sign not in {"=", "<>", "!="}:
        raise refusal(node, f'"{node.sign}" between records', "= or <>")
    same = syntax.Operation(node.place, "=", node.operands)
    parts = [
        compared(same, left.part(part), right.part(part)) for part in left.type.fields
    ]
    both = f"({' AND '.join(parts)})"
    return both if node.sign == "=" else f"(NOT {both})"


def met(
    node: syntax.Node, one: types.Scalar, other: types.Scalar
) -> tuple[types.Scalar, types.Scalar]:
    """Returns two values as they are compared; beside a number a text is one."""
    match one.type, other.type:
        case types.Letters(), types.Letters():
            return replace(one, text=types.compared_text(one)), replace(
                other, text=types.compared_text(other)
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


def _within(context: Context, node: syntax.Operation) -> types.Scalar:
    """Returns whether a value is in a set."""
    value, wanted = node.operands
    if isinstance(wanted, syntax.Items):
        each = (
            syntax.Operation(node.place, "=", (value, item)) for item in wanted.items
        )
        texts = [context.condition(one) for one in each]
        return types.truth(f"({' OR '.join(texts) or 'false'})")
    found, members = context.scalar(value), context.scalar(wanted)
    if not isinstance(members.type, types.SetOf):
        raise refusal(wanted, "no set behind IN", "a set, [1, 2] for example")
    element = members.type.element
    kind = types.spark_type(element)
    same = syntax.Operation(node.place, "=", node.operands)
    known: object = None
    with suppress(DialectError):
        known = known_value(wanted, members)
    # Where the program itself names the values, and few, each is compared.
    if isinstance(known, list) and len(known) <= _FEW:
        items = (types.Scalar(literal_text(it, kind), element) for it in known)
        texts = [compared(same, found, item) for item in items]
        return types.truth(f"({' OR '.join(texts) or 'false'})")
    if types.spark_type(found.type) == kind and isinstance(element, NUMBERS):
        return types.truth(f"array_contains({members.text}, {found.text})")
    condition = compared(same, found, types.Scalar("item", element))
    return types.truth(f"exists({members.text}, item -> {condition})")


def _computed(
    node: syntax.Operation, one: types.Scalar, other: types.Scalar
) -> types.Scalar:
    """Returns a sum, a difference, a product, a quotient, or what is put together."""
    match one.type, other.type:
        case types.SetOf() as first, types.SetOf() as second:
            if node.sign != "+":
                raise refusal(node, f'"{node.sign}" between sets', "+")
            kind = second if first.is_open else types.common(first, second)
            texts = [as_type(node, value, kind).text for value in (one, other)]
            return types.Scalar(f"concat({', '.join(texts)})", kind)
        case types.Letters(), types.Letters():
            if node.sign != "+":
                raise refusal(node, f'"{node.sign}" between texts', "+")
            return _appended(one, other)
        case (types.Letters(), _) | (_, types.Letters()) if node.sign == "+":
            return _appended(as_text(node, one), as_text(node, other))
        case _:
            return of_numbers(node, [one, other])


def _appended(one: types.Scalar, other: types.Scalar) -> types.Scalar:
    """Returns two texts put together; the first keeps the blanks of its type."""
    lengths = [
        it.type.length for it in (one, other) if isinstance(it.type, types.Letters)
    ]
    if all(lengths):
        text = f"concat({types.full(one)}, {other.text})"
        return types.Scalar(text, types.Letters(sum(lengths)))
    return types.Scalar(f"concat({types.full(one)}, {types.full(other)})", types.STRING)


def read_cast(context: Context, node: syntax.Cast) -> types.Scalar:
    """Returns a value as another type, of ECL's own or one that the text names."""
    if not isinstance(node.type, syntax.Name | syntax.Member):
        return context.typed(node.operand, declared_type(context, node.type))
    found = context.value(node.type)
    if isinstance(found, TypeValue):
        return context.typed(node.operand, found.type)
    raise refusal(
        node.type,
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
        if node.reach is not syntax.Reach.ONE:
            raise refusal(node, f"{node.reach.value} of a set", "[n]")
        element = value.type.element
        # Items are counted from 1, by Spark's `get` from 0.
        place = f"CAST({context.typed(node.first, types.INTEGER).text} AS INT)"
        found = f"coalesce(get({value.text}, {place} - 1), {types.blank_text(element)})"
        return types.Scalar(found, element)
    if not isinstance(value.type, types.Letters):
        raise refusal(node, f"{node.reach.value} of something else", "a text or a set")
    first = context.typed(node.first, types.INTEGER).text
    is_place = isinstance(node.first, syntax.Number) and bool(
        node.first.text.strip("0")
    )
    # A place before the first letter is that of the first.
    start = first if is_place else f"greatest({first}, 1L)"
    match node.reach:
        case syntax.Reach.ONE:
            one = _cut(value, (first, first), length=1)
            text = one.text if is_place else f"IF({first} < 1L, '', {one.text})"
            return replace(one, text=text)
        case syntax.Reach.TO:
            last = context.typed(node.last, types.INTEGER).text
            length = _length(node.first, node.last)
            return _cut(value, (start, last), length=length)
        case syntax.Reach.END:
            text = f"substring({types.full(value)}, CAST({start} AS INT))"
            return types.Scalar(text, types.STRING)
        case syntax.Reach.ANY:
            raise refusal(
                node, "[n..*] here", "it in an equality of a JOIN with ATMOST"
            )


def _length(first: syntax.Node, last: syntax.Node) -> int:
    """Returns the length between two places that are written, or 0."""
    match first, last:
        case syntax.Number(text=one), syntax.Number(text=other) if (
            one.isdigit() and other.isdigit()
        ):
            return max(0, int(other) - max(1, int(one)) + 1)
        case _:
            return 0


def _cut(value: types.Scalar, bounds: tuple[str, str], *, length: int) -> types.Scalar:
    """Returns letters between two places; of a written length it is one of the type."""
    first, last = bounds
    text, start = types.full(value), f"CAST({first} AS INT)"
    if length:
        cut = f"rtrim(substring({text}, {start}, {length}))"
        return types.Scalar(cut, types.Letters(length))
    size = f"CAST(greatest({last} - {first} + 1L, 0L) AS INT)"
    return types.Scalar(f"substring({text}, {start}, {size})", types.STRING)
