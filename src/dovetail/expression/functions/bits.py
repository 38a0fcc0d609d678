"""Whole numbers bit by bit, in the width of their type and two's complement."""

from __future__ import annotations

import operator
from collections.abc import Callable

from dovetail.expression.coercion import (
    BIGINT,
    BITS,
    BOOLEAN,
    INT,
    implicit,
    is_integral,
    tightest,
)
from dovetail.expression.functions.arithmetic import narrowing
from dovetail.expression.functions.function import (
    Arguments,
    Entry,
    Evaluation,
    Function,
    Signature,
    alias,
    kernel,
    kinds,
    plain,
)
from dovetail.expression.tree import Call, Value

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


def _ones(value: int) -> int:
    """Returns the number of ones; a narrow number counts as the bigint it is."""
    return (int(value) % (1 << BITS[BIGINT])).bit_count()


FUNCTIONS: tuple[Entry, ...] = (
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
    Function("bit_count", _counted_rule, plain(_ones), kernel("bit_count"), takes=1),
    alias("<<", "shiftleft"),
    alias(">>", "shiftright"),
)
