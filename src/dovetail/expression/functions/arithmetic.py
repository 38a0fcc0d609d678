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

from dovetail.expression.coercion import (
    BIGINT,
    BITS,
    BOOLEAN,
    DOUBLE,
    FLOAT,
    INT,
    LEAST_SCALE,
    MOST_DIGITS,
    NULL,
    SMALLINT,
    STRING,
    TINYINT,
    adjusted,
    as_decimal,
    bounded,
    implicit,
    is_fraction,
    is_integral,
    is_numeric,
    tightest,
)
from dovetail.expression.functions.function import (
    Arguments,
    Columnwise,
    Entries,
    Entry,
    Evaluation,
    Function,
    Program,
    Rule,
    Signature,
    alias,
    kernel,
    kinds,
    operation,
    plain,
)
from dovetail.expression.tree import Call, Kind, Literal, Node, Value
from dovetail.expression.values import WIDE, fitted, rounded, single, wrapped
from dovetail.schema import DecimalType

ENTRIES = Entries()

Digits = Callable[[DecimalType, DecimalType], DecimalType]
# Spark rounds quotients and products once at 39 digits, then at the result's scale.
MOST_WIDE_DIGITS = 76  # of Arrow's decimals
FACTORS = WIDE.copy()
FACTORS.prec = MOST_DIGITS + 1


def sum_digits(left: DecimalType, right: DecimalType) -> DecimalType:
    """Returns the type of a sum: the larger scale, one whole digit more."""
    scale = max(left.scale, right.scale)
    whole = max(left.precision - left.scale, right.precision - right.scale)
    return adjusted(whole + scale + 1, scale)


def product_digits(left: DecimalType, right: DecimalType) -> DecimalType:
    """Returns the type of a product."""
    return adjusted(left.precision + right.precision + 1, left.scale + right.scale)


def quotient_digits(left: DecimalType, right: DecimalType) -> DecimalType:
    """Returns the type of a quotient: at least six digits behind the point."""
    scale = max(LEAST_SCALE, left.scale + right.precision + 1)
    return adjusted(left.precision - left.scale + right.scale + scale, scale)


def remainder_digits(left: DecimalType, right: DecimalType) -> DecimalType:
    """Returns the type of a remainder: the fewer whole digits, the larger scale."""
    scale = max(left.scale, right.scale)
    whole = min(left.precision - left.scale, right.precision - right.scale)
    return adjusted(whole + scale, scale)


def _decimal(node: Node) -> DecimalType:
    """Returns the decimal of an operand; a written number has only its digits."""
    if isinstance(node, Literal) and is_integral(node.type):
        return DecimalType(len(str(abs(node.value))), 0)
    return as_decimal(node.type)


def _operands(arguments: Arguments) -> tuple[Kind, Kind] | None:
    """Returns the types that two numbers are computed in."""
    found = [DOUBLE if kind == STRING else kind for kind in kinds(arguments)]
    if NULL in found:
        found = [max(found, key=lambda kind: kind != NULL)] * 2
    if not all(map(is_numeric, found)):
        return (DOUBLE, DOUBLE) if found == [NULL, NULL] else None
    left, right = found
    if not any(isinstance(kind, DecimalType) for kind in found):
        common = tightest(left, right)
        return None if common is None else (common, common)
    if any(map(is_fraction, found)):
        return DOUBLE, DOUBLE
    if left == right:
        return left, right
    return _decimal(arguments[0]), _decimal(arguments[1])


def arithmetic(digits: Digits) -> Rule:
    """Returns the rule of an operator of two numbers, given its rule of digits."""

    def rule(arguments: Arguments) -> Signature | None:
        operands = _operands(arguments)
        if operands is None:
            return None
        left, right = operands
        if isinstance(left, DecimalType) and isinstance(right, DecimalType):
            return Signature(operands, digits(left, right))
        return Signature(operands, left)

    return rule


def _is_exact(arguments: Arguments, signature: Signature) -> bool:
    """Tells whether a quotient is a decimal; an untyped null is divided as a double."""
    return isinstance(signature.result, DecimalType) and arguments[0].type != NULL


def _quotient_rule(arguments: Arguments) -> Signature | None:
    """Types `/`: decimals stay decimals, all other numbers are divided as doubles."""
    signature = arithmetic(quotient_digits)(arguments)
    if signature is None or _is_exact(arguments, signature):
        return signature
    return Signature((DOUBLE, DOUBLE), DOUBLE)


def _whole_quotient_rule(arguments: Arguments) -> Signature | None:
    """Types DIV: whole numbers or decimals to a bigint."""
    operands = _operands(arguments)
    if kinds(arguments) == (NULL, NULL):
        operands = (BIGINT, BIGINT)
    if operands is None or any(map(is_fraction, operands)):
        return None
    if isinstance(operands[0], DecimalType):
        return Signature(operands, BIGINT)
    return Signature((BIGINT, BIGINT), BIGINT)


def narrowing(kind: Kind) -> Callable[[Value], Value]:
    """Returns what makes a plain result a value of the type: wrap, round or fit."""
    if isinstance(kind, DecimalType):
        return lambda value: fitted(value, kind)
    if kind in BITS:
        bits = BITS[kind]
        return lambda value: wrapped(value, bits)
    return single if kind == FLOAT else lambda value: value


def _operator(
    whole: Callable[[Value, Value], Value], exact: Callable[[Decimal, Decimal], Decimal]
) -> Evaluation:
    """Returns the evaluation of an operator on machine numbers and on decimals."""

    def evaluate(call: Call) -> Callable[..., Value]:
        narrow = narrowing(call.type)
        operation = exact if isinstance(call.arguments[0].type, DecimalType) else whole
        return lambda left, right: narrow(operation(left, right))

    return evaluate


def _unless_zero(evaluate: Evaluation) -> Evaluation:
    """Returns an evaluation that is null where the second argument is zero."""

    def guarded(call: Call) -> Callable[..., Value]:
        function = evaluate(call)
        return lambda left, right: None if right == 0 else function(left, right)

    return guarded


def _quotient(left: Decimal, right: Decimal) -> Decimal:
    """Returns a quotient at 39 digits behind the point."""
    return rounded(WIDE.divide(left, right), MOST_DIGITS + 1)


def _whole_quotient(left: int, right: int) -> int:
    """Returns a quotient cut towards zero."""
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


def _remainder(left: Value, right: Value) -> Value:
    """Returns a remainder with the sign of the dividend."""
    if isinstance(left, float):
        return math.nan if math.isinf(left) else math.fmod(left, right)
    return abs(left) % abs(right) * (-1 if left < 0 else 1)


def _positive_remainder(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of PMOD: not negative where the divisor is positive."""
    exact = isinstance(call.type, DecimalType)
    remainder = WIDE.remainder if exact else _remainder
    add = WIDE.add if exact else operator.add
    # Java adds in the width of the numbers, at least 32 bits: the sum may wrap or round
    narrow = unchanged if exact else narrowing(_added_in(call.type))

    def positive(left: Value, right: Value) -> Value:
        found = remainder(left, right)
        return remainder(narrow(add(found, right)), right) if found < 0 else found

    return lambda left, right: narrowing(call.type)(positive(left, right))


def _added_in(kind: Kind) -> Kind:
    """Returns the type in which Java adds numbers of a type."""
    return INT if kind in (TINYINT, SMALLINT) else kind


def _lower_positive(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Lowers PMOD of machine numbers to remainders and a choice."""
    if isinstance(call.type, DecimalType):
        return None
    wide = _added_in(call.type)
    left, right = (operation("cast", wide, side) for side in arguments)
    found = operation("remainder", wide, left, right)
    again = operation("remainder", wide, operation("add", wide, found, right), right)
    below = operation("<", BOOLEAN, found, ("literal", 0, str(wide)))
    return operation("cast", call.type, operation("case", wide, below, again, found))


def unchanged(value: Value) -> Value:
    """Returns the value itself."""
    return value


def _whole_quotients(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of DIV; decimals that lose digits are null."""
    match call.arguments[0].type, call.arguments[1].type:
        case DecimalType() as left, DecimalType() as right:
            digits = left.precision - left.scale + right.scale
            kind = bounded(max(digits, 1), 0)
            return lambda one, other: _low_bits(
                fitted(WIDE.divide_int(one, other), kind)
            )
        case _:
            return lambda one, other: _low_bits(_whole_quotient(one, other))


def _low_bits(value: Decimal | int | None) -> int | None:
    """Returns the bigint of a whole number."""
    return None if value is None else wrapped(int(value), BITS[BIGINT])


def _of_machine_numbers(name: str) -> Columnwise:
    """Returns the program of an operation that Arrow cannot do exactly on decimals."""
    lower = kernel(name)
    return lambda call, arguments: (
        None
        if isinstance(call.arguments[0].type, DecimalType)
        else lower(call, arguments)
    )


def _sum(name: str) -> Columnwise:
    """Returns the program of a sum; decimals need room for it in Arrow's widest."""
    lower = kernel(name)

    def fitting(call: Call, arguments: tuple[Program, ...]) -> Program | None:
        match kinds(call.arguments):
            case (DecimalType() as left, DecimalType() as right):
                scale = max(left.scale, right.scale)
                whole = max(left.precision - left.scale, right.precision - right.scale)
                if whole + scale + 1 > MOST_WIDE_DIGITS:
                    return None
        return lower(call, arguments)

    return fitting


def _lower_product(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Lowers a product, unless Spark rounds it at 39 digits on the way."""
    match kinds(call.arguments):
        case (DecimalType(precision=left), DecimalType(precision=right)):
            if left + right > MOST_DIGITS:
                return None
    return operation("multiply", call.type, *arguments)


def _only_numbers(rule: Rule) -> Rule:
    """Returns a rule that takes no texts for numbers."""
    return lambda given: rule(given) if all(map(is_numeric, kinds(given))) else None


def _try(
    name: str,
    digits: Digits,
    whole: Callable[[Value, Value], Value],
    exact: Callable[[Decimal, Decimal], Decimal],
) -> Function:
    """Returns the entry of an operator that is null where whole numbers would wrap."""

    def evaluate(call: Call) -> Callable[..., Value]:
        plain = _operator(whole, exact)(call)
        if call.type not in BITS:
            return plain

        def fitting(left: int, right: int) -> int | None:
            found = plain(left, right)
            return found if found == whole(left, right) else None

        return fitting

    return Function(name, _only_numbers(arithmetic(digits)), evaluate, takes=2)


Shift = Callable[[int, int, int], int]


def _both(arguments: Arguments) -> Signature | None:
    """Types an operator of the bits of two whole numbers."""
    common = tightest(*kinds(arguments))
    if common is None or not is_integral(common):
        return None
    return Signature((common, common), common)


def _one(arguments: Arguments) -> Signature | None:
    """Types an operator of the bits of one whole number."""
    (kind,) = kinds(arguments)
    return Signature((kind,), kind) if is_integral(kind) else None


def _shift_rule(arguments: Arguments) -> Signature | None:
    """Types a shift: bigints stay wide, all other numbers become ints."""
    base, places = kinds(arguments)
    kind = BIGINT if base == BIGINT else INT
    fits = implicit(base, kind) and implicit(places, INT)
    return Signature((kind, INT), kind) if fits else None


def _shifted(shift: Shift) -> Evaluation:
    """Returns the evaluation of a shift; as in Java it goes round at the width."""

    def evaluate(call: Call) -> Callable[..., Value]:
        bits = BITS[BIGINT if call.type == BIGINT else INT]
        narrow = narrowing(call.type)
        return lambda value, places: narrow(shift(value, places % bits, bits))

    return evaluate


def _unsigned_right(value: int, places: int, bits: int) -> int:
    """Returns the bits moved right, with zeros behind them."""
    return (value % (1 << bits)) >> places


def _counted_rule(arguments: Arguments) -> Signature | None:
    """Types BIT_COUNT: a whole number or a truth."""
    (kind,) = kinds(arguments)
    fits = is_integral(kind) or kind == BOOLEAN
    return Signature((kind,), INT) if fits else None


@ENTRIES.function("bit_count", _counted_rule, columnwise=kernel("bit_count"), takes=1)
def _ones(value: int) -> int:
    """Returns the number of ones; a narrow number counts as the bigint it is."""
    return (int(value) % (1 << BITS[BIGINT])).bit_count()


FUNCTIONS: tuple[Entry, ...] = (
    *ENTRIES.written,
    Function(
        "+ of numbers",
        arithmetic(sum_digits),
        _operator(operator.add, WIDE.add),
        _sum("add"),
        takes=2,
    ),
    Function(
        "- of numbers",
        arithmetic(sum_digits),
        _operator(operator.sub, WIDE.subtract),
        _sum("subtract"),
        takes=2,
    ),
    Function(
        "* of numbers",
        arithmetic(product_digits),
        _operator(operator.mul, FACTORS.multiply),
        _lower_product,
        takes=2,
    ),
    Function(
        "/",
        _quotient_rule,
        _unless_zero(_operator(operator.truediv, _quotient)),
        _of_machine_numbers("divide"),
        takes=2,
    ),
    Function(
        "div",
        _whole_quotient_rule,
        _unless_zero(_whole_quotients),
        _of_machine_numbers("div"),
        takes=2,
    ),
    Function(
        "%",
        arithmetic(remainder_digits),
        _unless_zero(_operator(_remainder, WIDE.remainder)),
        _of_machine_numbers("remainder"),
        takes=2,
    ),
    Function(
        "pmod",
        arithmetic(remainder_digits),
        _unless_zero(_positive_remainder),
        _lower_positive,
        takes=2,
    ),
    _try("try_add", sum_digits, operator.add, WIDE.add),
    _try("try_subtract", sum_digits, operator.sub, WIDE.subtract),
    _try("try_multiply", product_digits, operator.mul, FACTORS.multiply),
    alias("try_divide", "/"),
    alias("try_mod", "%"),
    alias("mod", "%"),
    Function("&", _both, plain(operator.and_), kernel("&"), takes=2),
    Function("|", _both, plain(operator.or_), kernel("|"), takes=2),
    Function("^", _both, plain(operator.xor), kernel("^"), takes=2),
    Function("~", _one, plain(operator.invert), kernel("~"), takes=1),
    Function(
        "shiftleft",
        _shift_rule,
        _shifted(lambda value, places, _bits: value << places),
        kernel("shiftleft"),
        takes=2,
    ),
    Function(
        "shiftright",
        _shift_rule,
        _shifted(lambda value, places, _bits: value >> places),
        kernel("shiftright"),
        takes=2,
    ),
    Function(
        "shiftrightunsigned",
        _shift_rule,
        _shifted(_unsigned_right),
        kernel("shiftrightunsigned"),
        takes=2,
    ),
    alias("<<", "shiftleft"),
    alias(">>", "shiftright"),
)
