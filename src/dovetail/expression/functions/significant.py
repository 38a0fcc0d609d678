"""Decimals of which so many digits count, wherever their point stands.

Spark's decimals have their point at one place, and at most 38 digits. These are those
of IEEE 754, of 7, 16 or 34 digits, rounded half to even after every operation.
They go from one operation to the next as texts, so that none loses a digit on its way;
what has no number is NaN or Infinity. Spark has no such function: who runs expressions
there lends it this one (`engines/spark/functions.py`).
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Mapping
from decimal import Context, Decimal
from functools import reduce

from dovetail.expression.functions import entry

OF_DIGITS = "decimal of digits"
"""The function: what is done, how many digits count, one or two numbers as texts."""
IN_SPARK = "dovetail_decimal"
"""Its name where it is lent."""


def _context(digits: int, most: int) -> Context:
    """Returns the arithmetic of a format of IEEE 754; nothing in it raises."""
    half_even = decimal.ROUND_HALF_EVEN
    return Context(digits, half_even, 1 - most, most, clamp=1, flags=[], traps=[])


_FORMATS = {7: _context(7, 96), 16: _context(16, 384), 34: _context(34, 6144)}


def _whole(rounding: str) -> Callable[..., Decimal]:
    """Returns the function of whole numbers beside a decimal."""
    return lambda context, value: context.plus(value.to_integral_value(rounding))


# Exponents of numbers that are written without one.
_SHORT = range(-7, 18)


def _shortest(context: Context, value: Decimal) -> str:
    """Returns a number without zeros that say nothing, far from 1 with an exponent."""
    plain = context.normalize(value)
    if not plain.is_finite():
        return str(plain).lower().removesuffix("inity")
    return f"{plain:f}" if plain.adjusted() in _SHORT else f"{plain:e}"


_OPERATIONS: Mapping[str, Callable[..., Decimal | str]] = {
    "+": lambda context, one, other: context.add(one, other),
    "-": lambda context, one, other: context.subtract(one, other),
    "*": lambda context, one, other: context.multiply(one, other),
    "/": lambda context, one, other: context.divide(one, other),
    "%": lambda context, one, other: context.remainder(one, other),
    "compare": lambda context, one, other: context.compare(one, other),
    "pow": lambda context, one, other: context.power(one, other),
    "plus": lambda context, value: context.plus(value),
    "abs": lambda context, value: context.abs(value),
    "exp": lambda context, value: context.exp(value),
    "log": lambda context, value: context.ln(value),
    "log10": lambda context, value: context.log10(value),
    "sqrt": lambda context, value: context.sqrt(value),
    "floor": _whole(decimal.ROUND_FLOOR),
    "ceil": _whole(decimal.ROUND_CEILING),
    "round": _whole(decimal.ROUND_HALF_UP),
    "text": _shortest,
    # Of all that stand in one text, each as a text.
    "texts": lambda context, *values: " ".join(_shortest(context, it) for it in values),
    # Of all that stand in one text, rounded after each.
    "sum": lambda context, *values: reduce(context.add, values, Decimal(0)),
}


def of_digits(operation: str, digits: int, *texts: str) -> str:
    """Returns what an operation makes of decimals of so many digits."""
    context = _FORMATS[digits]
    # The operands as they are: of those with too many digits all count.
    numbers = (Decimal(part) for text in texts for part in text.split())
    return str(_OPERATIONS[operation](context, *numbers))


FUNCTIONS: tuple[entry.Entry, ...] = (
    entry.row(OF_DIGITS, "string, int, string[, string] -> string", of_digits),
)
