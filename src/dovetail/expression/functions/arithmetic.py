"""Operators of numbers, as Java does them; decimals by Spark's rules of digits.

Whole numbers wrap around, division by zero is null, `/` is never whole, `%` has the
sign of the dividend, and decimals round half up at the scale of the result. Bits are
those of two's complement, in the width of the type.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from decimal import Decimal

from dovetail.expression import kinds
from dovetail.expression.functions import entry
from dovetail.expression.tree import Call, Kind, Literal, Node, Value
from dovetail.expression.values import LONG, WIDE, fitted, rounded, single, wrapped
from dovetail.schema import DecimalType

Digits = Callable[[DecimalType, DecimalType], DecimalType]
Whole = Callable[[Value, Value], Value]
Exact = Callable[[Decimal, Decimal], Decimal]

MOST_WIDE_DIGITS = 76  # of Arrow's decimals
# Spark rounds quotients and products once at 39 digits, then at the result's scale.
WIDER_DIGITS = kinds.MOST_DIGITS + 1
FACTORS = WIDE.copy()
FACTORS.prec = WIDER_DIGITS

# Types: how many digits a result has


def _sum_size(left: DecimalType, right: DecimalType) -> tuple[int, int]:
    """Returns the digits of a sum and its scale, the larger: one whole digit more."""
    scale = max(left.scale, right.scale)
    whole = max(left.precision - left.scale, right.precision - right.scale)
    return whole + scale + 1, scale


def _sum_digits(left: DecimalType, right: DecimalType) -> DecimalType:
    """Returns the type of a sum."""
    return kinds.adjusted(*_sum_size(left, right))


def _product_digits(left: DecimalType, right: DecimalType) -> DecimalType:
    """Returns the type of a product."""
    digits = left.precision + right.precision + 1
    return kinds.adjusted(digits, left.scale + right.scale)


def _quotient_digits(left: DecimalType, right: DecimalType) -> DecimalType:
    """Returns the type of a quotient: at least six digits behind the point."""
    scale = max(kinds.LEAST_SCALE, left.scale + right.precision + 1)
    return kinds.adjusted(left.precision - left.scale + right.scale + scale, scale)


def _remainder_digits(left: DecimalType, right: DecimalType) -> DecimalType:
    """Returns the type of a remainder: the fewer whole digits, the larger scale."""
    scale = max(left.scale, right.scale)
    whole = min(left.precision - left.scale, right.precision - right.scale)
    return kinds.adjusted(whole + scale, scale)


def _decimal(node: Node) -> DecimalType:
    """Returns the decimal of an operand; a written number has only its digits."""
    if isinstance(node, Literal) and kinds.is_integral(node.type):
        return DecimalType(len(str(abs(node.value))), 0)
    return kinds.as_decimal(node.type)


def _operands(arguments: entry.Arguments) -> tuple[Kind, Kind] | None:
    """Returns the types that two numbers are computed in."""
    found = [
        kinds.DOUBLE if kind == kinds.STRING else kind
        for kind in entry.types(arguments)
    ]
    # a null is of the type of what it stands beside
    if kinds.NULL in found:
        found = [max(found, key=lambda kind: kind != kinds.NULL)] * 2
    if not all(map(kinds.is_numeric, found)):
        is_unknown = found == [kinds.NULL, kinds.NULL]
        return (kinds.DOUBLE, kinds.DOUBLE) if is_unknown else None
    left, right = found
    if not any(isinstance(kind, DecimalType) for kind in found):
        common = kinds.tightest(left, right)
        return None if common is None else (common, common)
    if any(map(kinds.is_fraction, found)):
        return kinds.DOUBLE, kinds.DOUBLE
    if left == right:
        return left, right
    return _decimal(arguments[0]), _decimal(arguments[1])


def _arithmetic(digits: Digits) -> entry.Rule:
    """Returns the rule of an operator of two numbers, given its rule of digits."""

    def rule(arguments: entry.Arguments) -> entry.Signature | None:
        operands = _operands(arguments)
        if operands is None:
            return None
        left, right = operands
        if isinstance(left, DecimalType) and isinstance(right, DecimalType):
            return entry.Signature(operands, digits(left, right))
        return entry.Signature(operands, left)

    return rule


def _quotient_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types `/`: decimals stay decimals, all other numbers are divided as doubles."""
    signature = _arithmetic(_quotient_digits)(arguments)
    # an untyped null is divided as a double
    is_known = signature is not None and arguments[0].type != kinds.NULL
    if signature is None or (is_known and isinstance(signature.result, DecimalType)):
        return signature
    return entry.Signature((kinds.DOUBLE, kinds.DOUBLE), kinds.DOUBLE)


def _whole_quotient_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types DIV: whole numbers or decimals to a bigint."""
    operands = _operands(arguments)
    # other operators take two nulls for doubles, which DIV does not divide
    if entry.types(arguments) == (kinds.NULL, kinds.NULL):
        operands = (kinds.BIGINT, kinds.BIGINT)
    if operands is None or any(map(kinds.is_fraction, operands)):
        return None
    if isinstance(operands[0], DecimalType):
        return entry.Signature(operands, kinds.BIGINT)
    return entry.Signature((kinds.BIGINT, kinds.BIGINT), kinds.BIGINT)


def _only_numbers(digits: Digits) -> entry.Rule:
    """Returns the rule of an operator that takes no texts for numbers."""
    rule = _arithmetic(digits)
    return lambda given: (
        rule(given) if all(map(kinds.is_numeric, entry.types(given))) else None
    )


# What is computed, and narrowed to the type of the result


def unchanged(value: Value) -> Value:
    """Returns the value itself."""
    return value


def narrowing(kind: Kind) -> Callable[[Value], Value]:
    """Returns what makes a plain result a value of the type: wrap, round or fit."""
    if isinstance(kind, DecimalType):
        return lambda value: fitted(value, kind)
    if kind in kinds.BITS:
        bits = kinds.BITS[kind]
        return lambda value: wrapped(value, bits)
    return single if kind == kinds.FLOAT else unchanged


def _operator(whole: Whole, exact: Exact) -> entry.Evaluation:
    """Returns the evaluation of an operator on machine numbers and on decimals."""

    def evaluate(call: Call) -> entry.Compute:
        narrow = narrowing(call.type)
        operation = exact if isinstance(call.arguments[0].type, DecimalType) else whole
        return lambda left, right: narrow(operation(left, right))

    return evaluate


def _fitting(whole: Whole, exact: Exact) -> entry.Evaluation:
    """Returns the evaluation of an operator that is null where it would wrap."""

    def evaluate(call: Call) -> entry.Compute:
        wrapping = _operator(whole, exact)(call)
        if call.type not in kinds.BITS:
            return wrapping

        def fitting(left: int, right: int) -> int | None:
            found = whole(left, right)
            return found if found == wrapping(left, right) else None

        return fitting

    return evaluate


def _unless_zero(evaluate: entry.Evaluation) -> entry.Evaluation:
    """Returns an evaluation that is null where the second argument is zero."""

    def guarded(call: Call) -> entry.Compute:
        function = evaluate(call)
        return lambda left, right: None if right == 0 else function(left, right)

    return guarded


def _remainder(left: Value, right: Value) -> Value:
    """Returns a remainder with the sign of the dividend."""
    if isinstance(left, float):
        return math.nan if math.isinf(left) else math.fmod(left, right)
    return abs(left) % abs(right) * (-1 if left < 0 else 1)


def _added_in(kind: Kind) -> Kind:
    """Returns the type in which Java adds numbers of a type: at least 32 bits."""
    return kinds.INT if kind in (kinds.TINYINT, kinds.SMALLINT) else kind


def _positive_remainder(call: Call) -> entry.Compute:
    """Returns the evaluation of PMOD: not negative where the divisor is positive."""
    exact = isinstance(call.type, DecimalType)
    remainder = WIDE.remainder if exact else _remainder
    add = WIDE.add if exact else operator.add
    # a sum of machine numbers may wrap or round on the way
    narrow = unchanged if exact else narrowing(_added_in(call.type))
    finish = narrowing(call.type)

    def positive(left: Value, right: Value) -> Value:
        found = remainder(left, right)
        # as Java writes it, ((a % n) + n) % n: of a negative divisor it stays negative
        if found < 0:
            found = remainder(narrow(add(found, right)), right)
        return finish(found)

    return positive


def _whole_quotients(call: Call) -> entry.Compute:
    """Returns the evaluation of DIV, whose bigint has only the low bits."""

    def whole(left: int, right: int) -> int:
        # Python rounds down, Java towards zero
        found = abs(left) // abs(right)
        return wrapped(found if (left < 0) == (right < 0) else -found, LONG)

    match entry.types(call.arguments):
        case (DecimalType() as one, DecimalType() as other):
            digits = one.precision - one.scale + other.scale
            kind = kinds.bounded(max(digits, 1), 0)
        case _:
            return whole

    def exact(left: Decimal, right: Decimal) -> int | None:
        found = fitted(WIDE.divide_int(left, right), kind)
        return None if found is None else wrapped(int(found), LONG)

    return exact


# Programs: what Arrow's numbers have room for


def _of_machine_numbers(name: str) -> entry.Columnwise:
    """Returns the program of an operation that Arrow cannot do exactly on decimals."""

    def lower(call: Call, arguments: entry.Programs) -> entry.Program | None:
        if isinstance(call.arguments[0].type, DecimalType):
            return None
        return entry.operation(name, call.type, *arguments)

    return lower


def _with_room(
    name: str, digits: Callable[[DecimalType, DecimalType], int], most: int
) -> entry.Columnwise:
    """Returns the program of an operation on decimals that give so many digits."""

    def lower(call: Call, arguments: entry.Programs) -> entry.Program | None:
        match entry.types(call.arguments):
            case (DecimalType() as left, DecimalType() as right):
                if digits(left, right) > most:
                    return None
        return entry.operation(name, call.type, *arguments)

    return lower


def _lower_sum(name: str) -> entry.Columnwise:
    """Returns the program of a sum, for which Arrow's widest decimals need room."""
    return _with_room(
        name, lambda left, right: _sum_size(left, right)[0], MOST_WIDE_DIGITS
    )


def _lower_positive(call: Call, arguments: entry.Programs) -> entry.Program | None:
    """Lowers PMOD of machine numbers to remainders and a choice."""
    if isinstance(call.type, DecimalType):
        return None
    wide, operation = _added_in(call.type), entry.operation
    left, right = (operation("cast", wide, side) for side in arguments)
    found = operation("remainder", wide, left, right)
    again = operation("remainder", wide, operation("add", wide, found, right), right)
    below = operation("<", kinds.BOOLEAN, found, ("literal", 0, str(wide)))
    return operation("cast", call.type, operation("case", wide, below, again, found))


# Bits


def _shift(name: str, shift: Callable[[int, int, int], int]) -> entry.Function:
    """Returns the entry of a shift; as in Java it goes round at the width."""

    def rule(arguments: entry.Arguments) -> entry.Signature | None:
        base, places = entry.types(arguments)
        # bigints stay wide, all other numbers become ints
        kind = kinds.BIGINT if base == kinds.BIGINT else kinds.INT
        fits = kinds.implicit(base, kind) and kinds.implicit(places, kinds.INT)
        return entry.Signature((kind, kinds.INT), kind) if fits else None

    def evaluate(call: Call) -> entry.Compute:
        bits = LONG if call.type == kinds.BIGINT else kinds.BITS[kinds.INT]
        return lambda value, places: wrapped(shift(value, places % bits, bits), bits)

    return entry.typed(name, rule, evaluate, name, takes=2)


FUNCTIONS: tuple[entry.Entry, ...] = (
    entry.typed(
        "+ of numbers",
        _arithmetic(_sum_digits),
        _operator(operator.add, WIDE.add),
        _lower_sum("add"),
        takes=2,
    ),
    entry.typed(
        "- of numbers",
        _arithmetic(_sum_digits),
        _operator(operator.sub, WIDE.subtract),
        _lower_sum("subtract"),
        takes=2,
    ),
    entry.typed(
        "* of numbers",
        _arithmetic(_product_digits),
        _operator(operator.mul, FACTORS.multiply),
        # beyond, Spark rounds at 39 digits on the way, which Arrow does not
        _with_room(
            "multiply",
            lambda left, right: left.precision + right.precision,
            kinds.MOST_DIGITS,
        ),
        takes=2,
    ),
    entry.typed(
        "/",
        _quotient_rule,
        _unless_zero(
            _operator(
                operator.truediv,
                lambda left, right: rounded(WIDE.divide(left, right), WIDER_DIGITS),
            )
        ),
        _of_machine_numbers("divide"),
        takes=2,
    ),
    entry.typed(
        "div",
        _whole_quotient_rule,
        _unless_zero(_whole_quotients),
        _of_machine_numbers("div"),
        takes=2,
    ),
    entry.typed(
        "%",
        _arithmetic(_remainder_digits),
        _unless_zero(_operator(_remainder, WIDE.remainder)),
        _of_machine_numbers("remainder"),
        takes=2,
    ),
    entry.typed(
        "pmod",
        _arithmetic(_remainder_digits),
        _unless_zero(_positive_remainder),
        _lower_positive,
        takes=2,
    ),
    entry.typed(
        "try_add",
        _only_numbers(_sum_digits),
        _fitting(operator.add, WIDE.add),
        takes=2,
    ),
    entry.typed(
        "try_subtract",
        _only_numbers(_sum_digits),
        _fitting(operator.sub, WIDE.subtract),
        takes=2,
    ),
    entry.typed(
        "try_multiply",
        _only_numbers(_product_digits),
        _fitting(operator.mul, FACTORS.multiply),
        takes=2,
    ),
    entry.row("&", entry.alike(kinds.whole), operator.and_, "&", takes=2),
    entry.row("|", entry.alike(kinds.whole), operator.or_, "|", takes=2),
    entry.row("^", entry.alike(kinds.whole), operator.xor, "^", takes=2),
    entry.row("~", entry.alike(kinds.whole), operator.invert, "~", takes=1),
    _shift("shiftleft", lambda value, places, _bits: value << places),
    _shift("shiftright", lambda value, places, _bits: value >> places),
    # with zeros behind the bits that move
    _shift(
        "shiftrightunsigned",
        lambda value, places, bits: (value % (1 << bits)) >> places,
    ),
    # a narrow number counts as the bigint it is
    entry.row(
        "bit_count",
        entry.kept(
            lambda kind: (
                kinds.INT if kinds.is_integral(kind) or kind == kinds.BOOLEAN else None
            )
        ),
        lambda value: (int(value) % (1 << LONG)).bit_count(),
        "bit_count",
        takes=1,
    ),
    entry.alias("try_divide", "/"),
    entry.alias("try_mod", "%"),
    entry.alias("mod", "%"),
    entry.alias("<<", "shiftleft"),
    entry.alias(">>", "shiftright"),
)
