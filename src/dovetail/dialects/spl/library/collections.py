"""spl.collection: lists, sets and maps, none of which is changed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dovetail.dialects.spl import types, values
from dovetail.dialects.spl.library import call
from dovetail.dialects.spl.values import Value
from dovetail.errors import Place


def _any(arguments: Sequence[Value]) -> list[frozenset[types.SplType]]:
    """Returns the kinds of arguments that are looked at elsewhere."""
    return [call.only(one.type) for one in arguments]


def _size(arguments: Sequence[Value], place: Place) -> Value:
    """Returns how many elements a list, a set or a map has."""
    call.checked(arguments, place, *_any(arguments)[:1], least=1)
    call.element_of(arguments[0], "list", "set", "map")
    return values.of_type(types.INT32, "size(x)", place, x=arguments[0].tree)


def _has(arguments: Sequence[Value], place: Place) -> Value:
    """Returns whether a set has an element, or a map a key."""
    call.checked(arguments, place, *_any(arguments)[:2], least=2)
    whole, item = arguments
    kind = call.element_of(whole, "set", "map", "list")
    if item.type != kind or not values.is_comparable(kind):
        raise types.refused(item.place, f"{item.type} in {whole.type}", str(kind))
    is_map = isinstance(whole.type, types.Holder) and whole.type.word == "map"
    template = "map_contains_key(x, y)" if is_map else "array_contains(x, y)"
    return values.of_type(types.BOOLEAN, template, place, x=whole.tree, y=item.tree)


def _find(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the first place of an element in a list, -1 where it is not."""
    call.checked(arguments, place, *_any(arguments)[:2], least=2)
    whole, item = arguments
    kind = call.element_of(whole, "list")
    if item.type != kind or not values.is_comparable(kind):
        raise types.refused(item.place, f"{item.type} in {whole.type}", str(kind))
    template = "CAST(array_position(x, y) AS INT) - 1"
    return values.of_type(types.INT32, template, place, x=whole.tree, y=item.tree)


def _same(template: str, *words: str) -> call.Function:
    """Returns a function of one holder that gives one of its type."""

    def function(arguments: Sequence[Value], place: Place) -> Value:
        call.checked(arguments, place, *_any(arguments)[:1], least=1)
        call.element_of(arguments[0], *words)
        return values.of_type(arguments[0].type, template, place, x=arguments[0].tree)

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
    if not values.is_comparable(kind) and kind not in types.FLOATS:
        raise types.refused(
            place, f"sort of {arguments[0].type}", "elements with an order"
        )
    return values.of_type(
        arguments[0].type, "array_sort(x)", place, x=arguments[0].tree
    )


def _keys(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the keys of a map."""
    call.checked(arguments, place, *_any(arguments)[:1], least=1)
    kind = types.Holder("list", (call.element_of(arguments[0], "map"),))
    return values.of_type(kind, "map_keys(x)", place, x=arguments[0].tree)


def _slice(arguments: Sequence[Value], place: Place) -> Value:
    """Returns so many elements of a list from a place on."""
    call.checked(arguments, place, *_any(arguments)[:1], call.PLACE, call.PLACE)
    call.element_of(arguments[0], "list")
    parts = dict(zip("xyz", (one.tree for one in arguments), strict=True))
    template = "slice(x, greatest(y, 0) + 1, greatest(z, 0))"
    return values.of_type(arguments[0].type, template, place, **parts)


FUNCTIONS: Mapping[str, call.Function] = {
    "size": _size,
    "has": _has,
    "findFirst": _find,
    "concat": _pair("concat(x, y)", "list"),
    "reverse": _same("reverse(x)", "list"),
    "sort": _sort,
    "keys": _keys,
    "slice": _slice,
    "setUnion": _pair("array_union(x, y)", "set"),
    "setIntersection": _pair("array_intersect(x, y)", "set"),
    "setDifference": _pair("array_except(x, y)", "set"),
}
