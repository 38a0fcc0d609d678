"""What an Aggregate computes over the tuples of a group: functions of lists of values.

    output Out: total = Sum(price), top = ArgMax(price, name);

Each argument is a list of what it is of every tuple, in the order in which they came.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dovetail.dialects.spl import types, values
from dovetail.dialects.spl.casts import converted
from dovetail.dialects.spl.library import call, mathematics
from dovetail.dialects.spl.values import Value
from dovetail.errors import Place

ADDED = frozenset[types.SplType]({types.FLOAT64, *types.SIGNED})
"""Types whose sums are totals of a window: others are cut or rounded on the way."""
COMPARED = call.ORDERED - {*types.FLOATS, types.TIMESTAMP}
"""Types whose order is that of the values which stand for them."""
Aggregate = Callable[[Sequence[Value], Place], Value]
"""A function of lists, each with as many values as there are tuples."""


def list_of(kind: types.SplType) -> types.Holder:
    """Returns the type of a list."""
    return types.Holder("list", (kind,))


def _of(template: str, result: types.SplType | None = None) -> Aggregate:
    """Returns a function of one list: it gives a result, or one of its elements."""

    def aggregate(lists: Sequence[Value], place: Place) -> Value:
        kind = result or call.element_of(lists[0], "list")
        return values.of_type(kind, template, place, x=lists[0].tree)

    return aggregate


def _same(template: str, result: types.SplType | None = None) -> Aggregate:
    """Returns a function of elements that are compared; else it gives such a list."""

    # Of floats SPL and Spark disagree: to SPL no NaN equals another one.
    def aggregate(lists: Sequence[Value], place: Place) -> Value:
        kind = call.element_of(lists[0], "list")
        if not values.is_comparable(kind):
            raise types.refused(place, f"distinct values of {kind}", "no floats")
        return _of(template, result or list_of(kind))(lists, place)

    return aggregate


def _sum(lists: Sequence[Value], place: Place) -> Value:
    """Returns the sum of numbers, which wraps at their width, or texts in a row."""
    kind = call.element_of(lists[0], "list")
    if kind in types.STRINGS:
        return values.of_type(kind, "array_join(x, '')", place, x=lists[0].tree)
    if isinstance(kind, types.Scalar) and kind in types.DECIMALS:
        # Rounded after each of them; Spark takes no function of ours into a lambda: so
        # all go as one text.
        texts = "array_join(transform(x, item -> CAST(item AS STRING)), ' ')"
        every = values.of_type(types.RSTRING, texts, place, x=lists[0].tree)
        return values.decimal("sum", kind, place, every)
    return mathematics.FUNCTIONS["sum"](lists[:1], place)


def _average(lists: Sequence[Value], place: Place) -> Value:
    """Returns the sum by the number of tuples, in the type of the values."""
    kind = call.element_of(lists[0], "list")
    if kind not in types.NUMBERS:
        raise types.refused(place, f"the average of {kind}", "numbers")
    # The sum has wrapped before it is divided, as in C.
    count = converted(_size(lists, place), kind, place)
    return values.arithmetic("/", _sum(lists, place), count, place)


# Spark's own array_max says that NaN is above all numbers.
_FOLD = "aggregate(x, element_at(x, 1), (best, item) -> IF({}, item, best))"


def _extreme(sign: str) -> Aggregate:
    """Returns the greatest or the least value; of floats no NaN is above another."""

    def aggregate(lists: Sequence[Value], place: Place) -> Value:
        kind = call.element_of(lists[0], "list")
        # No comparison with NaN holds, as in C; to Spark it is above all numbers.
        if kind not in call.ORDERED:
            raise types.refused(place, f"values of {kind}", "values with an order")
        known = "isnan(item)" if sign == ">" else "isnan(best)"
        check = f"item {sign} best" + f" AND NOT {known}" * (kind in types.FLOATS)
        return values.of_type(kind, _FOLD.format(check), place, x=lists[0].tree)

    return aggregate


def _at_extreme(sign: str, template: str, *, is_list: bool = False) -> Aggregate:
    """Returns what is told of the tuples that have the greatest or least value.

    `x` are all values, `m` is that one, and `y` what of the tuples is given.
    """

    def aggregate(lists: Sequence[Value], place: Place) -> Value:
        best = _extreme(sign)(lists, place)
        # Without a second argument tuples are counted.
        kind = call.element_of(lists[1], "list") if lists[1:] else types.INT32
        parts = dict(zip("xy", (one.tree for one in lists), strict=False))
        parts["m"] = best.tree
        found = list_of(kind) if is_list else kind
        return values.of_type(found, template, place, **parts)

    return aggregate


def _deviation(*, is_sample: bool) -> Aggregate:
    """Returns how far floats are from their average, as a rule."""
    # Of one value alone a sample's deviation is 0, as there is nothing to divide by.
    template = (
        "sqrt(aggregate(x, 0D, (total, item) -> total + (item - m) * (item - m)) / "
    )
    count = "CAST(greatest(size(x) - 1, 1) AS DOUBLE))" if is_sample else "n)"

    def aggregate(lists: Sequence[Value], place: Place) -> Value:
        kind = call.element_of(lists[0], "list")
        if kind not in types.FLOATS:
            hint = "(float64) before it"
            raise types.refused(place, f"the deviation of {kind}", "floats", hint)
        parts = {"x": lists[0].tree, "m": _average(lists, place).tree}
        if not is_sample:
            parts["n"] = values.of_type(
                types.FLOAT64, "size(x)", place, x=lists[0].tree
            ).tree
        return values.of_type(kind, template + count, place, **parts)

    return aggregate


_size = _of("size(x)", types.INT32)
# Of tuples that share the extreme the first one is told.
_FIRST = "element_at(y, CAST(array_position(x, m) AS INT))"
_ALL = "filter(y, (item, at) -> element_at(x, at + 1) = m)"
_COUNT = "size(filter(x, item -> item = m))"
_EACH = "transform(array_distinct(x), one -> size(filter(x, item -> item = one)))"

AGGREGATES: Mapping[str, tuple[int, Aggregate]] = {
    "Any": (1, _of("element_at(x, 1)")),
    "First": (1, _of("element_at(x, 1)")),
    "Last": (1, _of("element_at(x, -1)")),
    "Collect": (1, lambda lists, place: Value(lists[0].type, lists[0].tree, place)),
    "CollectDistinct": (1, _same("array_distinct(x)")),
    "CountDistinct": (1, _same("size(array_distinct(x))", types.INT32)),
    "CountByDistinct": (1, _same(_EACH, list_of(types.INT32))),
    "Sum": (1, _sum),
    "Average": (1, _average),
    "Max": (1, _extreme(">")),
    "Min": (1, _extreme("<")),
    "MaxCount": (1, _at_extreme(">", _COUNT)),
    "MinCount": (1, _at_extreme("<", _COUNT)),
    "ArgMax": (2, _at_extreme(">", _FIRST)),
    "ArgMin": (2, _at_extreme("<", _FIRST)),
    "CollectArgMax": (2, _at_extreme(">", _ALL, is_list=True)),
    "CollectArgMin": (2, _at_extreme("<", _ALL, is_list=True)),
    "SampleStdDev": (1, _deviation(is_sample=True)),
    "PopulationStdDev": (1, _deviation(is_sample=False)),
}
"""Functions by their names, each with how many arguments it takes."""

COUNTS: Mapping[str, tuple[str, types.SplType]] = {
    "CountGroups": ("size(x)", types.INT32),
    "CountAll": ("aggregate(x, 0, (total, item) -> total + item)", types.INT32),
    "CountByGroup": ("x", list_of(types.INT32)),
}
"""Functions without an argument, of how many tuples each group of the window has."""
