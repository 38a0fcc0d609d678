"""Constants, operators and parts: expressions as Spark SQL with the rules of ECL.

Nothing is null: dividing by zero gives 0, whole numbers wrap at 8 bytes, texts are the
same whatever blanks end them, and decimals keep all digits until they are assigned.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from decimal import Decimal
from functools import reduce

from dovetail.dialects.ecl import syntax, trees, types
from dovetail.dialects.ecl.context import (
    Context,
    as_text,
    as_type,
    known_value,
    refusal,
)
from dovetail.dialects.ecl.records import declared_type
from dovetail.dialects.ecl.trees import Node, sql
from dovetail.dialects.ecl.values import TypeValue
from dovetail.errors import DialectError
from dovetail.expression.kinds import LEAST_SCALE
from dovetail.schema import AtomicType

_MOST = 1 << 64


def read_number(_: Context, node: syntax.Number) -> types.Scalar:
    """Returns a number: whole, or REAL; with the letter d a DECIMAL."""
    text = node.text.rstrip("u")
    if text.startswith("0x"):
        return _whole(node, int(text, 16))
    if text.endswith("d"):
        return _decimal(node, text.rstrip("d"))
    if "e" in text or "." in text:
        return types.Scalar(trees.Literal(float(text), AtomicType.DOUBLE), types.REAL)
    return _whole(node, int(text))


# A DECIMAL has 32 digits at most.
_DECIMAL = re.compile(r"[+-]?(?=(\.?\d){1,32}\.?$)\d*\.?\d*")


def _decimal(node: syntax.Node, text: str) -> types.Scalar:
    """Returns a decimal whose type has just its digits."""
    if not _DECIMAL.fullmatch(text):
        raise refusal(node, f"the number {text}", "a number of up to 32 digits")
    number = Decimal(text)
    places = max(0, -int(number.as_tuple().exponent))
    kind = types.Exact(max(len(number.as_tuple().digits), places), places)
    return types.Scalar(trees.Literal(number, types.spark_type(kind)), kind)


def _whole(node: syntax.Number, value: int) -> types.Scalar:
    """Returns a whole number; one beyond INTEGER8 is UNSIGNED8."""
    if value >= _MOST:
        raise refusal(node, f"the number {value}", "one of at most 8 bytes")
    if value >= _MOST >> 1:
        kind = types.Whole(is_signed=False)
        return types.Scalar(trees.Literal(Decimal(value), types.spark_type(kind)), kind)
    return types.whole(trees.literal(value))


_ANYTHING = re.compile(".*", re.DOTALL), ""
_WRITTEN = {
    "x": (re.compile("[0-9A-Fa-f]*"), "digits from 0 to F"),
}


# 'abc'   x'0A0B' and D'abc' are bytes   e'1.50' is a DECIMAL3_2
def read_text(_: Context, node: syntax.Text) -> types.Scalar:
    """Returns a text; the letter before it may make it bytes or a decimal."""
    fits, expected = _WRITTEN.get(node.prefix, _ANYTHING)
    if not fits.fullmatch(node.value):
        raise refusal(node, f"the text {node.prefix}'{node.value}'", expected)
    match node.prefix:
        case "x" | "d":
            is_hex = node.prefix == "x"
            # Spark puts a zero before an odd number of digits.
            digits = "0" * (len(node.value) % 2) + node.value
            value = bytes.fromhex(digits) if is_hex else node.value.encode()
            return types.Scalar(trees.Literal(value, AtomicType.BINARY), types.Bytes())
        case "e":
            return _decimal(node, node.value)
        case "v":
            return types.Scalar(trees.literal(node.value), types.STRING)
        case _:
            length = len(node.value)
            return types.Scalar(
                trees.literal(node.value.rstrip(" ")), types.Letters(length)
            )


NUMBERS = (types.Whole, types.Real, types.Exact)


def of_numbers(node: syntax.Operation, operands: list[types.Scalar]) -> types.Scalar:
    """Returns what an operator makes of two numbers."""
    # A truth counts as 1 or 0, a text as the number that it begins with.
    values = [
        one if isinstance(one.type, NUMBERS) else as_type(node, one, types.INTEGER)
        for one in operands
    ]
    kind = reduce(types.common, [value.type for value in values])
    match node.sign:
        case "&" | "|" | "^" | "<<" | ">>":
            return _of_bits(node, operands)
        case "/":
            return _divided(node, values, kind)
        case "DIV" | "%":
            return _whole_divided(node, values)
        case "+" | "-" | "*":
            return _calculated(node, values, kind)
        case _:
            raise refusal(node, f'the operator "{node.sign}"', "+, -, *, /, DIV or %")


_OF_BITS: Mapping[str, str] = {
    **{sign: f"x {sign} y" for sign in ("&", "|", "^")},
    "<<": "shiftleft(x, CAST(y AS INT))",
    ">>": "shiftright(x, CAST(y AS INT))",
    "BNOT": "~ x",
}


# 5 & 4, 1 << 3, BNOT flags
def _of_bits(node: syntax.Operation, operands: list[types.Scalar]) -> types.Scalar:
    """Returns what an operator makes of the bits of whole numbers of 8 bytes."""
    for value in operands:
        if not isinstance(value.type, types.Whole):
            raise refusal(
                node,
                f'"{node.sign}" of {value.type}',
                "whole numbers, whose bits it takes",
                "AND, OR and NOT are of conditions",
            )
    given = dict(zip("xy", map(types.signed, operands), strict=False))
    # What moves keeps its own sign; of two numbers it is as in a sum of them.
    one, *others = operands if len(node.sign) == 1 else operands[:1]
    kind = reduce(types.common, [it.type for it in others], one.type)
    is_wide = kind == types.Whole(is_signed=False)
    text = _OF_BITS[node.sign]
    if node.sign == ">>" and is_wide:
        text = "shiftrightunsigned(x, CAST(y AS INT))"
    found = sql(text, **given)
    if is_wide:
        return types.Scalar(types.unsigned(found), kind)
    # The other bits are those of the number's own bytes.
    own = kind if node.sign == "BNOT" else types.INTEGER
    return as_type(node, types.whole(found), own)


def _is_wide(value: types.Scalar) -> bool:
    """Tells whether a value is a whole number that does not fit a bigint."""
    return isinstance(value.type, types.Whole) and value.type.is_wide


def _divided(
    node: syntax.Operation, values: list[types.Scalar], kind: types.EclType
) -> types.Scalar:
    """Returns a quotient with a fraction, 0 where the divisor is 0."""
    if isinstance(kind, types.Exact):
        return _of_decimals(node, values)
    one, other = (as_type(node, value, types.REAL).tree for value in values)
    return types.Scalar(sql("coalesce(x / y, 0D)", x=one, y=other), types.REAL)


# Each keeps its own digits, so that no digit of the result is lost.
def _of_decimals(node: syntax.Operation, values: list[types.Scalar]) -> types.Scalar:
    """Returns what is computed of two decimals, with the places that it has in ECL."""
    kinds = [
        types.as_exact(it.type)
        for it in values
        if isinstance(it.type, types.Exact | types.Whole)
    ]
    compute = {"*": types.product, "/": types.quotient}.get(node.sign, types.total)
    computed = compute(*kinds)
    given = [
        (name, as_type(node, value, kind).tree)
        for name, value, kind in zip("xy", values, kinds, strict=True)
    ]
    if len(computed.pairs) == 1:
        found = _first_of(node, computed, dict(given))
        return types.Scalar(found, computed.kind)
    # As parameters, so that each is computed once however often it is looked at.
    whole = types.RecordType(tuple(map(types.Field, "xy", kinds)))
    row = trees.variable("both", whole.struct)
    once = trees.function(_first_of(node, computed, dict(whole.parts(row))), row)
    text = "get(transform(array(x), once), 0)"
    found = sql(text, x=trees.struct(*given), once=once)
    return types.Scalar(found, computed.kind)


def _first_of(
    node: syntax.Operation, computed: types.Computed, sides: Mapping[str, Node]
) -> Node:
    """Returns what is computed in the first types that both sides fit, or 0."""
    kind, ways = types.spark_type(computed.kind), []
    for pair in computed.pairs:
        left, right = (
            f"CAST({name} AS {types.spark_type(kind)})"
            for name, kind in zip("xy", pair, strict=True)
        )
        if node.sign == "/" and pair != computed.pairs[-1]:
            # A divisor counts as it is, not rounded.
            right = f"IF({right} = y, {right}, NULL)"
        ways.append(f"CAST({left} {node.sign} {right} AS {kind})")
    if node.sign == "/" and computed.kind.places < LEAST_SCALE:
        ways.append(_long_quotient(computed.kind))
    # By 0 Spark divides to null.
    text = f"coalesce({', '.join(ways)}, zero)"
    return sql(text, **sides, zero=types.blank(computed.kind))


def _long_quotient(kind: types.Exact) -> str:
    """Returns the quotient of x and y that has more digits before its point.

    Spark keeps six places of each: so much less is divided, and comes back in halves.
    """
    move = LEAST_SCALE - kind.places
    part = f"CAST((it - floor(it)) * 1{'0' * move} AS DECIMAL(7,{kind.places}))"
    whole = f"floor(it) * 1{'0' * move} + {part}"
    quotient = f"array(x * 0.{'0' * (move - 1)}1BD / y)"
    found = f"get(transform({quotient}, it -> {whole}), 0)"
    return f"CAST({found} AS {types.spark_type(kind)})"


def _whole_divided(node: syntax.Operation, values: list[types.Scalar]) -> types.Scalar:
    """Returns a quotient or a rest of whole numbers, 0 where the divisor is 0."""
    kinds = [as_type(node, one, types.INTEGER).type for one in values]
    is_wide = all(map(_is_wide, values))
    # As whole numbers, whatever is divided; both of eight bytes without a sign stay so.
    wanted = types.Whole(is_signed=False) if is_wide else reduce(types.common, kinds)
    one, other = (as_type(node, value, wanted).tree for value in values)
    result = f"CAST(x {node.sign} y AS {types.spark_type(wanted)})"
    zero = types.blank(wanted)
    found = sql(f"IF(y = zero, zero, {result})", x=one, y=other, zero=zero)
    return types.Scalar(found, wanted)


def _calculated(
    node: syntax.Operation, values: list[types.Scalar], kind: types.EclType
) -> types.Scalar:
    """Returns a sum, a difference or a product; whole numbers wrap at 8 bytes."""
    if isinstance(kind, types.Whole):
        # Computed with a sign: what wraps at 8 bytes has the same bits without one.
        one, other = (types.signed(value) for value in values)
        found = trees.build(node.sign, one, other)
        if any(map(_is_wide, values)) and not kind.is_signed:
            return types.Scalar(types.unsigned(found), types.Whole(is_signed=False))
        return types.whole(found)
    if isinstance(kind, types.Exact):
        return _of_decimals(node, values)
    one, other = (as_type(node, value, kind).tree for value in values)
    return types.Scalar(trees.build(node.sign, one, other), kind)


_COMPARED = {"=": "=", "<>": "<>", "!=": "<>"} | {
    sign: sign for sign in ("<", "<=", ">", ">=")
}
# Beyond so many values of a set an expression of comparisons costs more than a list.
_FEW = 100


def read_operation(context: Context, node: syntax.Operation) -> types.Scalar:
    """Returns what an operator makes of its operands."""
    match node.sign:
        case "AND" | "OR":
            parts = map(context.condition, node.operands)
            return types.truth(
                (trees.all_of if node.sign == "AND" else trees.any_of)(parts)
            )
        case "NOT":
            return types.truth(sql("NOT x", x=context.condition(node.operands[0])))
        case "BETWEEN":
            # Both bounds are included.
            value, least, most = node.operands
            bounds = [
                syntax.Operation(node.place, ">=", (value, least)),
                syntax.Operation(node.place, "<=", (value, most)),
            ]
            return types.truth(trees.all_of(map(context.condition, bounds)))
        case "IN":
            return _within(context, node)
        case "BNOT":
            return _of_bits(node, [context.scalar(node.operands[0])])
        case "NEGATIVE":
            number = context.scalar(node.operands[0])
            if not isinstance(number.type, NUMBERS):
                raise refusal(node, "a sign before something else", "a number")
            if isinstance(number.type, types.Whole):
                # So the result has a sign whatever the number has.
                return types.whole(sql("0L - x", x=types.signed(number)))
            return types.Scalar(sql("- x", x=number.tree), number.type)
        case sign:
            one, other = (context.scalar(part) for part in node.operands)
            if sign in _COMPARED:
                return types.truth(compared(node, one, other))
            return _computed(node, one, other)


# 'ab ' = 'ab' is true, '10' = 10 too, and two rows are compared field by field.
def compared(node: syntax.Operation, one: types.Scalar, other: types.Scalar) -> Node:
    """Returns a comparison of two values in the type that both meet in."""
    left, right = met(node, one, other)
    if not isinstance(left.type, types.RecordType):
        return trees.build(_COMPARED[node.sign], left.tree, right.tree)
    # Records are compared field by field.
    if node.sign not in {"=", "<>", "!="}:
        raise refusal(node, f'"{node.sign}" between records', "= or <>")
    same = syntax.Operation(node.place, "=", node.operands)
    both = trees.all_of(
        compared(same, *(types.part(row.tree, one) for row in (left, right)))
        for one in left.type.fields
    )
    return both if node.sign == "=" else sql("NOT x", x=both)


def met(
    node: syntax.Node, one: types.Scalar, other: types.Scalar
) -> tuple[types.Scalar, types.Scalar]:
    """Returns two values as they are compared; beside a number a text is one."""
    match one.type, other.type:
        case types.Letters(), types.Letters():
            return (
                replace(one, tree=types.compared(one)),
                replace(other, tree=types.compared(other)),
            )
        case types.Whole() | types.Real() | types.Exact(), types.Letters():
            return one, as_type(node, other, one.type)
        case types.Letters(), types.Whole() | types.Real() | types.Exact():
            return as_type(node, one, other.type), other
        # The row of a side is no value by itself: of the same record it stays a row.
        case types.RecordType(), types.RecordType():
            is_alike = one.type == other.type
            return one, other if is_alike else as_type(node, other, one.type)
        case _:
            kind = types.common(one.type, other.type)
            one, other = as_type(node, one, kind), as_type(node, other, kind)
            return met(node, one, other) if kind == types.STRING else (one, other)


# LEFT.a IN [1, 2, 3]
def _within(context: Context, node: syntax.Operation) -> types.Scalar:
    """Returns whether a value is in a set."""
    value, wanted = node.operands
    if isinstance(wanted, syntax.Items):
        each = (
            syntax.Operation(node.place, "=", (value, item)) for item in wanted.items
        )
        return types.truth(trees.any_of(map(context.condition, each)))
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
        items = (types.Scalar(trees.Literal(it, kind), element) for it in known)
        return types.truth(trees.any_of(compared(same, found, item) for item in items))
    if types.spark_type(found.type) == kind and isinstance(element, NUMBERS):
        within = sql("array_contains(items, x)", items=members.tree, x=found.tree)
        return types.truth(within)
    item = trees.variable("item", kind)
    equal = trees.function(compared(same, found, types.Scalar(item, element)), item)
    return types.truth(sql("exists(items, equal)", items=members.tree, equal=equal))


def _computed(
    node: syntax.Operation, one: types.Scalar, other: types.Scalar
) -> types.Scalar:
    """Returns a sum, a difference, a product, a quotient, or what is put together."""
    match one.type, other.type:
        case types.SetOf() as first, types.SetOf() as second:
            if node.sign != "+":
                raise refusal(node, f'"{node.sign}" between sets', "+")
            kind = second if first.is_open else types.common(first, second)
            both = (as_type(node, value, kind).tree for value in (one, other))
            return types.Scalar(trees.build("concat", *both), kind)
        case types.Letters(), types.Letters():
            if node.sign != "+":
                raise refusal(node, f'"{node.sign}" between texts', "+")
            return _appended(one, other)
        case (types.Letters(), _) | (_, types.Letters()) if node.sign == "+":
            return _appended(as_text(node, one), as_text(node, other))
        case _:
            return of_numbers(node, [one, other])


# 'ab' + c, where a STRING5 brings its blanks along in front of what follows.
def _appended(one: types.Scalar, other: types.Scalar) -> types.Scalar:
    """Returns two texts put together; the first keeps the blanks of its type."""
    lengths = [
        it.type.length for it in (one, other) if isinstance(it.type, types.Letters)
    ]
    if all(lengths):
        both = trees.build("concat", types.full(one), other.tree)
        return types.Scalar(both, types.Letters(sum(lengths)))
    return types.Scalar(
        trees.build("concat", types.full(one), types.full(other)), types.STRING
    )


# (STRING4)LEFT.id, or (money)LEFT.price with a type that the text names
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


# [1, 2.5] is a set of REAL: all its values are of one type.
def read_items(context: Context, node: syntax.Items) -> types.Scalar:
    """Returns a set of values of one type."""
    values = [context.scalar(item) for item in node.items]
    kind = (
        reduce(types.common, [value.type for value in values])
        if values
        else types.STRING
    )
    items = [
        as_type(item, value, kind).tree
        for item, value in zip(node.items, values, strict=True)
    ]
    listed = trees.array(items, types.spark_type(kind))
    return types.Scalar(listed, types.SetOf(kind, is_open=not values))


# name[2], name[2..4], name[2..]; of a set numbers[2]
def read_letters(
    context: Context, node: syntax.Part, value: types.Scalar
) -> types.Scalar:
    """Returns letters of a text, or an item of a set; what is not there is blank."""
    if isinstance(value.type, types.SetOf):
        if node.reach is not syntax.Reach.ONE:
            raise refusal(node, f"{node.reach.value} of a set", "[n]")
        element = value.type.element
        # Items are counted from 1, by Spark's `get` from 0.
        place = context.typed(node.first, types.INTEGER).tree
        return types.Scalar(trees.nth(value.tree, place, types.blank(element)), element)
    if not isinstance(value.type, types.Letters):
        raise refusal(node, f"{node.reach.value} of something else", "a text or a set")
    first = context.typed(node.first, types.INTEGER).tree
    is_place = isinstance(node.first, syntax.Number) and bool(
        node.first.text.strip("0")
    )
    # A place before the first letter is that of the first.
    start = first if is_place else sql("greatest(x, 1L)", x=first)
    match node.reach:
        case syntax.Reach.ONE:
            letter = _cut(value, first, first, length=1)
            # There is no letter before the first; Spark would count from the end.
            if is_place:
                return letter
            tree = sql("IF(place < 1L, '', x)", place=first, x=letter.tree)
            return replace(letter, tree=tree)
        case syntax.Reach.TO:
            last = context.typed(node.last, types.INTEGER).tree
            length = 0
            match node.first, node.last:
                # Between two places that are written the length is one of the type.
                case syntax.Number(text=one), syntax.Number(text=other) if (
                    one.isdigit() and other.isdigit()
                ):
                    length = max(0, int(other) - max(1, int(one)) + 1)
            return _cut(value, start, last, length=length)
        case syntax.Reach.END:
            whole = types.full(value)
            tree = sql("substring(x, CAST(place AS INT))", x=whole, place=start)
            return types.Scalar(tree, types.STRING)
        case syntax.Reach.ANY:
            raise refusal(
                node, "[n..*] here", "it in an equality of a JOIN with ATMOST"
            )


def _cut(value: types.Scalar, first: Node, last: Node, *, length: int) -> types.Scalar:
    """Returns letters between two places; of a written length it is one of the type."""
    text, start = types.full(value), sql("CAST(x AS INT)", x=first)
    if length:
        cut = sql(f"rtrim(substring(x, place, {length}))", x=text, place=start)
        return types.Scalar(cut, types.Letters(length))
    count = sql("CAST(greatest(y - x + 1L, 0L) AS INT)", x=first, y=last)
    cut = sql("substring(x, place, many)", x=text, place=start, many=count)
    return types.Scalar(cut, types.STRING)
