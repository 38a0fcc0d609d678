"""spl.math: floats as IEEE says, decimals with their digits, whole numbers wrapping."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

from dovetail.dialects.spl import types, values
from dovetail.dialects.spl.casts import resized
from dovetail.dialects.spl.library import call
from dovetail.dialects.spl.values import Value
from dovetail.errors import Place
from dovetail.expression.functions import build
from dovetail.expression.reader import variable
from dovetail.expression.tree import Lambda

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
        call.checked(arguments, place, *call.own(arguments, 1))
        kind = call.element_of(arguments[0], "list", "set")
        if kind not in call.ORDERED - {*types.FLOATS}:
            known = "elements that have an order, and no NaN among them"
            raise types.refused(place, f"the extreme of {arguments[0].type}", known)
        found = "array_sort(x)[0]" if name == "min" else "reverse(array_sort(x))[0]"
        return _unless_empty(arguments[0], kind, found, place=place)

    return function


def _unless_empty(
    whole: Value, kind: types.SplType, template: str, *, place: Place
) -> Value:
    """Returns what a template makes of a list; of no elements it is what is blank."""
    parts = {"x": whole.tree, "none": values.blank(kind, place).tree}
    return values.of_type(kind, f"IF(size(x) = 0, none, {template})", place, **parts)


def _of_list(
    arguments: Sequence[Value], place: Place, known: call.Kinds
) -> types.Scalar:
    """Returns the type of the elements of the list that a function takes."""
    call.checked(arguments, place, *call.own(arguments, 1))
    kind = call.element_of(arguments[0], "list")
    if kind not in known:
        words = " or ".join(sorted(f"list<{one}>" for one in known))
        found = f"an argument of the type {arguments[0].type}"
        raise types.refused(arguments[0].place, found, words)
    assert isinstance(kind, types.Scalar)  # noqa: S101 - those known are
    return kind


_SUMMED: call.Kinds = frozenset({*types.INTEGERS, *types.FLOATS})


def _divided(total: Value, count: Value, place: Place) -> Value:
    """Returns a sum through a number of elements, in the type of the sum."""
    assert isinstance(total.type, types.Scalar)  # noqa: S101 - a number's type is one
    if total.type in types.INTEGERS:
        count = resized(count, total.type, place)
    else:
        count = values.of_type(total.type, "x", place, x=count.tree)
    return values.arithmetic("/", total, count, place)


def _average(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the average of a list in the type of its elements, of none zero."""
    kind = _of_list(arguments, place, _SUMMED)
    whole = arguments[0]
    count = values.of_type(types.INT32, "greatest(size(x), 1)", place, x=whole.tree)
    return replace(_divided(_sum([whole], place), count, place), type=kind)


def _median(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the element in the middle, of two whole numbers there half their sum."""
    kind = _of_list(arguments, place, call.ORDERED - {*types.FLOATS, *types.DECIMALS})
    whole, half = arguments[0], "CAST(floor(size(x) / 2) AS INT)"
    upper = _unless_empty(whole, kind, f"array_sort(x)[{half}]", place=place)
    if kind not in types.INTEGERS:
        return upper
    # Of one element there is nothing in front of it.
    front = f"array_sort(x)[greatest({half} - 1, 0)]"
    lower = _unless_empty(whole, kind, front, place=place)
    two = resized(values.literal(2, types.INT32, place), kind, place)
    between = values.arithmetic(
        "/", values.arithmetic("+", upper, lower, place), two, place
    )
    parts = {"x": whole.tree, "y": upper.tree, "z": between.tree}
    return values.of_type(kind, "IF(size(x) % 2 = 0, z, y)", place, **parts)


_SQUARES = "aggregate(x, 0D, (total, item) -> total + (item - m) * (item - m))"


def _deviation(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the standard deviation of floats, of a sample where that is said."""
    kind = _of_list(arguments[:1], place, call.FLOAT)
    call.checked(
        arguments,
        place,
        call.only(arguments[0].type),
        call.only(types.BOOLEAN),
        least=1,
    )
    mean = _average(arguments[:1], place)
    parts = {"x": arguments[0].tree, "m": mean.tree}
    count = "CAST(size(x) AS DOUBLE)"
    if len(arguments) > 1:
        parts["s"] = arguments[1].tree
        count = f"({count} - IF(s, 1D, 0D))"
    nothing = "CAST('NaN' AS DOUBLE)"
    shared = f"IF({count} = 0D, {nothing}, sqrt({_SQUARES} / {count}))"
    template = f"IF(size(x) = 0, 0D, {shared})"
    return values.of_type(kind, template, place, **parts)


def _element_at(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the element that stands at a place where a list is sorted."""
    kind = _of_list(arguments[:1], place, call.ORDERED - {*types.FLOATS})
    kinds = (*call.own(arguments, 1), call.only(types.UINT32))
    call.checked(arguments, place, *kinds)
    parts = {"x": arguments[0].tree, "y": arguments[1].tree}
    return values.of_type(kind, "array_sort(x)[CAST(y AS INT)]", place, **parts)


def _root(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the root of a whole number, cut; a number below 0 has none."""
    call.checked(arguments, place, call.INTEGER - {types.UINT64})
    # Below 0 it is the second element of one: none.
    root = "array(CAST(sqrt(CAST(abs(x) AS DOUBLE)) AS BIGINT))[IF(x < 0, 1, 0)]"
    return values.of_type(arguments[0].type, root, place, x=arguments[0].tree)


def _abs_of_list(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the numbers of a list without their signs."""
    kind = _of_list(arguments, place, call.ORDERED & types.NUMBERS)
    item = variable("item", types.stored(kind))
    made = FUNCTIONS["abs"]([Value(kind, item, place)], place)
    tree = build("transform", arguments[0].tree, Lambda((item,), made.needed))
    return Value(arguments[0].type, tree, place)


def _sum(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the sum of a list of numbers, which wraps at their width."""
    call.checked(arguments, place, *call.own(arguments, 1))
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
        [
            call.of(None, "abs(x)", call.FLOAT),
            call.of_decimals("abs"),
            _abs,
            _abs_of_list,
        ]
    ),
    "max": call.first_that_takes([_extreme(">"), _extreme_of_list("max")]),
    "min": call.first_that_takes([_extreme("<"), _extreme_of_list("min")]),
    "sum": _sum,
    "exp": _with_decimals("exp", "exp(x)"),
    "log": _with_decimals("log", _logarithm("ln")),
    "log10": _with_decimals("log10", _logarithm("log10")),
    "sqrt": call.first_that_takes([_with_decimals("sqrt", "sqrt(x)"), _root]),
    "avg": _average,
    "median": _median,
    "stddev": _deviation,
    "kthelem": _element_at,
    # The remainder has the sign of what is divided.
    "fmod": call.of(
        None, "IF(y = 0D, CAST('NaN' AS DOUBLE), x % y)", call.FLOAT, call.FLOAT
    ),
    **{
        name: call.of(kind, f"CAST('{value}' AS DOUBLE)")
        for name, kind, value in (
            ("nanl", types.FLOAT64, "NaN"),
            ("nanw", types.FLOAT32, "NaN"),
            ("infl", types.FLOAT64, "Infinity"),
            ("infw", types.FLOAT32, "Infinity"),
        )
    },
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
