"""spl.collection: lists, sets and maps, none of which is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dovetail.dialects.spl import types, values
from dovetail.dialects.spl.library import call
from dovetail.dialects.spl.values import Value
from dovetail.errors import Place


def _any(arguments: Sequence[Value]) -> list[frozenset[types.SplType]]:
    """Returns the kinds of arguments that are looked at elsewhere."""
    return [call.only(one.type) for one in arguments]


def _of_one(
    template: str,
    *words: str,
    gives: Callable[[types.Holder], types.SplType] = lambda whole: whole,
) -> call.Function:
    """Returns a function of one holder, which gives another of its type by itself."""

    def function(arguments: Sequence[Value], place: Place) -> Value:
        call.checked(arguments, place, *_any(arguments)[:1], least=1)
        call.element_of(arguments[0], *words)
        kind = arguments[0].type
        assert isinstance(kind, types.Holder)  # noqa: S101 - it has elements
        return values.of_type(gives(kind), template, place, x=arguments[0].tree)

    return function


def _looking(kind: types.SplType, templates: Mapping[str, str]) -> call.Function:
    """Returns a function that looks for an element or a key, by words of holders."""

    def function(arguments: Sequence[Value], place: Place) -> Value:
        call.checked(arguments, place, *_any(arguments)[:2], least=2)
        whole, item = arguments
        element = call.element_of(whole, *templates)
        # NaN equals itself on Spark alone: floats are not looked for.
        if item.type != element or not values.is_comparable(element):
            raise types.refused(
                item.place, f"{item.type} in {whole.type}", str(element)
            )
        assert isinstance(whole.type, types.Holder)  # noqa: S101 - it has elements
        template = templates[whole.type.word]
        return values.of_type(kind, template, place, x=whole.tree, y=item.tree)

    return function


def _pair(template: str, word: str) -> call.Function:
    """Returns a function of two holders of one type that gives another of it."""

    def function(arguments: Sequence[Value], place: Place) -> Value:
        call.checked(arguments, place, *_any(arguments)[:2], least=2)
        one, other = arguments
        values.need_same("two of them", one, other)
        kind = call.element_of(one, word)
        if word == "set" and not values.is_comparable(kind):
            raise types.refused(
                place, f"a set of {kind}", "elements that are comparable"
            )
        return values.of_type(one.type, template, place, x=one.tree, y=other.tree)

    return function


def _sort(arguments: Sequence[Value], place: Place) -> Value:
    """Returns a list in the order of its elements."""
    call.checked(arguments, place, *_any(arguments)[:1], least=1)
    kind = call.element_of(arguments[0], "list")
    # Of floats Spark's order is good enough: only NaN has no place in any.
    if not values.is_comparable(kind) and kind not in types.FLOATS:
        raise types.refused(
            place, f"sort of {arguments[0].type}", "elements with an order"
        )
    return values.of_type(
        arguments[0].type, "array_sort(x)", place, x=arguments[0].tree
    )


def _slice(arguments: Sequence[Value], place: Place) -> Value:
    """Returns so many elements of a list from a place on."""
    call.checked(arguments, place, *_any(arguments)[:1], call.PLACE, call.PLACE)
    call.element_of(arguments[0], "list")
    parts = dict(zip("xyz", (one.tree for one in arguments), strict=True))
    # A place below 0 is the first; Spark counts from 1, and back from the end.
    template = "slice(x, greatest(y, 0) + 1, greatest(z, 0))"
    return values.of_type(arguments[0].type, template, place, **parts)


_HAS = {
    "set": "array_contains(x, y)",
    "map": "map_contains_key(x, y)",
    "list": "array_contains(x, y)",
}
_LIST = types.Holder("list", (types.INT32,))
# From one number up to before another, of which there may be none.
_RANGE = "filter(sequence({0}, greatest({1}, {0})), item -> item < {1})"
FUNCTIONS: Mapping[str, call.Function] = {
    "range": call.first_that_takes(
        [
            call.of(_LIST, _RANGE.format("0", "x"), call.PLACE),
            call.of(_LIST, _RANGE.format("x", "y"), call.PLACE, call.PLACE),
        ]
    ),
    "size": _of_one("size(x)", "list", "set", "map", gives=lambda _: types.INT32),
    "has": _looking(types.BOOLEAN, _HAS),
    # Spark counts places from 1, and 0 is where there is none.
    "findFirst": _looking(
        types.INT32, {"list": "CAST(array_position(x, y) AS INT) - 1"}
    ),
    "concat": _pair("concat(x, y)", "list"),
    "reverse": _of_one("reverse(x)", "list"),
    "sort": _sort,
    "keys": _of_one(
        "map_keys(x)", "map", gives=lambda whole: types.Holder("list", whole.of[:1])
    ),
    "slice": _slice,
    "setUnion": _pair("array_union(x, y)", "set"),
    "setIntersection": _pair("array_intersect(x, y)", "set"),
    "setDifference": _pair("array_except(x, y)", "set"),
}
