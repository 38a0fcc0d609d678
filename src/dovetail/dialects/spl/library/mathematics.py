"""spl.math: floats as IEEE says, decimals with their digits, whole numbers wrapping."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from dovetail.dialects.spl import types, values
from dovetail.dialects.spl.casts import resized
from dovetail.dialects.spl.library import call
from dovetail.dialects.spl.values import Value
from dovetail.errors import Place

_INFINITE = "CAST('{}Infinity' AS DOUBLE)"


def _with_decimals(name: str, template: str) -> call.Function:
    """Returns a function of floats by its template, and of decimals by its name."""
    return call.first_that_takes(
        [call.of(None, template, call.FLOAT), call.of_decimals(name)]
    )


def _logarithm(name: str) -> str:
    """Returns a logarithm, which Spark knows of what is above 0 alone."""
    return (
        f"CASE WHEN x > 0 OR isnan(x) THEN {name}(x) "
        f"WHEN x = 0 THEN {_INFINITE.format('-')} ELSE CAST('NaN' AS DOUBLE) END"
    )


def _whole(value: str) -> str:
    """Returns a whole float: beyond 2^52 all are."""
    return f"IF(abs(x) >= 4503599627370496D OR isnan(x), x, CAST({value} AS DOUBLE))"


def _extreme(sign: str) -> call.Function:
    """Returns the greater or the lesser of two values."""

    def function(arguments: Sequence[Value], place: Place) -> Value:
        call.checked(arguments, place, call.ORDERED, call.ORDERED)
        one, other = arguments
        values.need_same("max or min", one, other)
        is_first = values.comparison(sign, one, other, place)
        parts = {"x": one.tree, "y": other.tree, "z": is_first.tree}
        return values.of_type(one.type, "IF(z, x, y)", place, **parts)

    return function


def _extreme_of_list(name: str) -> call.Function:
    """Returns the greatest or the least element of a list that has one."""

    def function(arguments: Sequence[Value], place: Place) -> Value:
        call.checked(
            arguments, place, *[frozenset({one.type}) for one in arguments][:1]
        )
        kind = call.element_of(arguments[0], "list", "set")
        if kind not in call.ORDERED - {*types.FLOATS}:
            known = "elements that have an order, and no NaN among them"
            raise types.refused(place, f"the extreme of {arguments[0].type}", known)
        # Of no elements there is none: neither element of one.
        template = "array_sort(x)[0]" if name == "min" else "reverse(array_sort(x))[0]"
        return values.of_type(kind, template, place, x=arguments[0].tree)

    return function


def _sum(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the sum of a list of numbers, which wraps at their width."""
    call.checked(arguments, place, *[frozenset({one.type}) for one in arguments][:1])
    kind = call.element_of(arguments[0], "list", "set")
    parts = {"x": arguments[0].tree}
    if kind in types.FLOATS:
        template = "aggregate(x, 0D, (total, item) -> total + item)"
        return values.of_type(kind, template, place, **parts)
    if kind not in types.INTEGERS:
        known = "whole numbers, or floats"
        raise types.refused(place, f"the sum of {arguments[0].type}", known)
    assert isinstance(kind, types.Scalar)  # noqa: S101 - a number's type is one
    step = "(total + CAST(item AS DECIMAL(38, 0))) % 18446744073709551616BD"
    total = (
        f"aggregate(x, CAST(0 AS DECIMAL(38, 0)), "
        f"(total, item) -> CAST({step} AS DECIMAL(38, 0)))"
    )
    # A sum of remainders wraps to the same bits as the sum itself.
    wide = values.of_type(
        types.UINT64, f"pmod({total}, 18446744073709551616BD)", place, **parts
    )
    return resized(wide, kind, place)


def _abs(arguments: Sequence[Value], place: Place) -> Value:
    """Returns a whole number without its sign; the least one has none of the other."""
    call.checked(arguments, place, call.INTEGER)
    value = arguments[0]
    if value.type in types.UNSIGNED:
        return value
    assert isinstance(value.type, types.Scalar)  # noqa: S101 - a number's type is one
    # In the type of the value, at whose width the least one wraps to itself.
    zero = values.literal(0, value.type, place)
    below = values.comparison("<", value, zero, place)
    turned = values.arithmetic("-", zero, value, place)
    parts = {"x": value.tree, "y": turned.tree, "z": below.tree}
    return values.of_type(value.type, "IF(z, y, x)", place, **parts)


def _is(template: str) -> call.Function:
    """Returns a test of a float."""
    return call.of(types.BOOLEAN, template, call.FLOAT)


def _pi(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the number."""
    call.checked(arguments, place)
    return values.literal(math.pi, types.FLOAT64, place)


_CURVES = ("sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh")

FUNCTIONS: Mapping[str, call.Function] = {
    "abs": call.first_that_takes(
        [call.of(None, "abs(x)", call.FLOAT), call.of_decimals("abs"), _abs]
    ),
    "max": call.first_that_takes([_extreme(">"), _extreme_of_list("max")]),
    "min": call.first_that_takes([_extreme("<"), _extreme_of_list("min")]),
    "sum": _sum,
    "exp": _with_decimals("exp", "exp(x)"),
    "log": _with_decimals("log", _logarithm("ln")),
    "log10": _with_decimals("log10", _logarithm("log10")),
    "sqrt": _with_decimals("sqrt", "sqrt(x)"),
    "pow": call.first_that_takes(
        [
            call.of(None, "power(x, y)", call.FLOAT, call.FLOAT),
            call.of_decimals("pow", 2),
        ]
    ),
    "floor": _with_decimals("floor", _whole("floor(x)")),
    "ceil": _with_decimals("ceil", _whole("ceil(x)")),
    # Half away from zero, as C has it.
    "round": _with_decimals("round", _whole("sign(x) * floor(abs(x) + 0.5D)")),
    "PI": _pi,
    **{name: call.of(None, f"{name}(x)", call.FLOAT) for name in _CURVES},
    "atan2": call.of(None, "atan2(x, y)", call.FLOAT, call.FLOAT),
    "isNaN": _is("isnan(x)"),
    "isInf": _is(f"abs(x) = {_INFINITE.format('')}"),
}
