"""spl.collection: lists, sets and maps, none of which is changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from dovetail.dialects.spl import types, values
from dovetail.dialects.spl.absence import composed
from dovetail.dialects.spl.casts import resized
from dovetail.dialects.spl.library import call
from dovetail.dialects.spl.values import Value
from dovetail.errors import Place
from dovetail.expression.functions import build
from dovetail.expression.reader import variable
from dovetail.expression.tree import Lambda


def _of_one(
    template: str,
    *words: str,
    gives: Callable[[types.Holder], types.SplType] = lambda whole: whole,
) -> call.Function:
    """Returns a function of one holder, which gives another of its type by itself."""

    def function(arguments: Sequence[Value], place: Place) -> Value:
        call.checked(arguments, place, *call.own(arguments, 1))
        call.element_of(arguments[0], *words)
        kind = arguments[0].type
        assert isinstance(kind, types.Holder)  # noqa: S101 - it has elements
        return values.of_type(gives(kind), template, place, x=arguments[0].tree)

    return function


def _looking(kind: types.SplType, templates: Mapping[str, str]) -> call.Function:
    """Returns a function that looks for an element or a key, by words of holders."""

    def function(arguments: Sequence[Value], place: Place) -> Value:
        call.checked(arguments, place, *call.own(arguments, 2))
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
        call.checked(arguments, place, *call.own(arguments, 2))
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
    call.checked(arguments, place, *call.own(arguments, 1))
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
    call.checked(arguments, place, *call.own(arguments, 1), call.PLACE, call.PLACE)
    call.element_of(arguments[0], "list")
    parts = dict(zip("xyz", (one.tree for one in arguments), strict=True))
    # A place below 0 is the first; Spark counts from 1, and back from the end.
    template = "slice(x, greatest(y, 0) + 1, greatest(z, 0))"
    return values.of_type(arguments[0].type, template, place, **parts)


def _distinct(arguments: Sequence[Value], place: Place) -> Value:
    """Returns how many different elements a list has."""
    call.checked(arguments, place, *call.own(arguments, 1))
    kind = call.element_of(arguments[0], "list")
    if not values.is_comparable(kind):
        raise types.refused(
            place, f"countDistinct of {arguments[0].type}", "what can be compared"
        )
    count = "array_size(array_distinct(x))"
    return values.of_type(types.INT32, count, place, x=arguments[0].tree)


def _at(*kinds: call.Kinds, element: bool, gives: str) -> call.Function:
    """Returns a function of a list, perhaps of an element too, and other arguments."""

    def function(arguments: Sequence[Value], place: Place) -> Value:
        whole = call.only(arguments[0].type) if arguments else call.only()
        kind = call.element_of(arguments[0], "list") if arguments else types.INT32
        own = (whole, call.only(kind)) if element else (whole,)
        call.checked(arguments, place, *own, *kinds)
        parts = dict(zip("xyz", (one.tree for one in arguments), strict=False))
        found = gives.startswith("#")
        if found and not values.is_comparable(kind):
            item, known = arguments[1], "what can be compared"
            raise types.refused(item.place, f"a search for {kind}", known)
        result = types.INT32 if found else arguments[0].type
        return values.of_type(result, gives.lstrip("#"), place, **parts)

    return function


def _chosen(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the elements of a list at some places; beyond it there are none."""
    places = types.Holder("list", (types.UINT32,))
    call.checked(arguments, place, *call.own(arguments, 1), call.only(places))
    call.element_of(arguments[0], "list")
    whole, at = (one.tree for one in arguments)
    template = "transform(filter(y, z -> z < size(x)), z -> x[CAST(z AS INT)])"
    return values.of_type(arguments[0].type, template, place, x=whole, y=at)


def _compared(arguments: Sequence[Value], place: Place) -> Value:
    """Returns -1, 0 or 1: which of two lists is less where they first differ."""
    call.checked(arguments, place, *call.own(arguments, 2))
    one, other = arguments
    values.need_same("two of them", one, other)
    kind = call.element_of(one, "list")
    if kind not in call.ORDERED - {*types.FLOATS}:
        known = "elements that have an order, and no NaN among them"
        raise types.refused(place, f"lexicographicalCompare of {one.type}", known)
    template = "CASE WHEN x < y THEN -1 WHEN x > y THEN 1 ELSE 0 END"
    return values.of_type(types.INT32, template, place, x=one.tree, y=other.tree)


def _inserted(arguments: Sequence[Value], place: Place) -> Value:
    """Returns a set with one more element, if it has not had it."""
    call.checked(arguments, place, *call.own(arguments, 2))
    kind = call.element_of(arguments[0], "set")
    call.checked(arguments, place, call.only(arguments[0].type), call.only(kind))
    parts = {"x": arguments[0].tree, "y": arguments[1].tree}
    return values.of_type(arguments[0].type, "array_union(x, array(y))", place, **parts)


def _without(arguments: Sequence[Value], place: Place) -> Value:
    """Returns a set without an element."""
    call.checked(arguments, place, *call.own(arguments, 2))
    kind = call.element_of(arguments[0], "set")
    if arguments[1].type != kind or not values.is_comparable(kind):
        raise types.refused(
            arguments[1].place, f"{arguments[1].type} in {arguments[0].type}", str(kind)
        )
    parts = {"x": arguments[0].tree, "y": arguments[1].tree}
    return values.of_type(
        arguments[0].type, "array_except(x, array(y))", place, **parts
    )


def _keyed(template: str, *, valued: bool) -> call.Function:
    """Returns a function of a map and a key, perhaps with its value too."""

    def function(arguments: Sequence[Value], place: Place) -> Value:
        call.checked(arguments, place, *call.own(arguments, 3 if valued else 2))
        kind = arguments[0].type
        key = call.element_of(arguments[0], "map")
        assert isinstance(kind, types.Holder)  # noqa: S101 - it has elements
        wanted = [types.loose(one) for one in kind.of][: len(arguments) - 1]
        call.checked(arguments, place, call.only(kind), *map(call.only, wanted))
        if not values.is_comparable(key):
            raise types.refused(place, f"a key of {kind}", "what can be compared")
        parts = dict(zip("xyz", (one.tree for one in arguments), strict=False))
        return values.of_type(kind, template, place, **parts)

    return function


def _sequence(arguments: Sequence[Value], place: Place) -> Value:
    """Returns numbers from one on, each by one or by so many more than the last."""
    kind = arguments[0].type if arguments else types.INT32
    known = (call.INTEGER, call.PLACE, call.only(kind))
    call.checked(arguments, place, *known, least=2)
    assert isinstance(kind, types.Scalar)  # noqa: S101 - a number's type is one
    item = variable("at", types.stored(types.INT32))
    at = resized(Value(types.INT32, item, place), kind, place)
    if len(arguments) > len(known) - 1:
        at = values.arithmetic("*", at, arguments[2], place)
    made = values.arithmetic("+", arguments[0], at, place)
    places = composed(_RANGE.format("0", "x"), x=arguments[1].tree)
    tree = build("transform", places, Lambda((item,), made.tree))
    return Value(types.Holder("list", (kind,)), tree, place)


# From the place that is asked for on, or up to it; Spark counts from 1, and gives 0
# where there is none.
_FROM = "array_position(slice(x, greatest(z, 0) + 1, size(x)), y)"
_FIND_FROM = f"#CAST(IF({_FROM} = 0, -1, {_FROM} - 1 + greatest(z, 0)) AS INT)"
_LAST = "greatest(least(z, size(x) - 1), -1)"
_UP_TO = f"array_position(reverse(slice(x, 1, {_LAST} + 1)), y)"
_FIND_UP_TO = f"#CAST(IF({_UP_TO} = 0, -1, {_LAST} + 1 - {_UP_TO}) AS INT)"
_PLACE_IN = "greatest(least(z, size(x)), 0)"
_PUT = f"concat(slice(x, 1, {_PLACE_IN}), {{}}, slice(x, {_PLACE_IN} + 1, size(x)))"
_CUT = """IF({1} < 0 OR {1} < {0}, x,
    concat(slice(x, 1, greatest({0}, 0)), slice(x, {1} + 2, size(x))))"""
# So many steps from one number are in front of another; of no step there are none.
_STEPS = """CASE WHEN z > 0 THEN greatest((y - x + z - 1) div z, 0)
    WHEN z < 0 THEN greatest((x - y - z - 1) div (-z), 0) END"""
_HAS = {
    "set": "array_contains(x, y)",
    "map": "map_contains_key(x, y)",
    "list": "array_contains(x, y)",
}
# A key that is there keeps its place among the others.
_WITH_KEY = """map_from_arrays(array_union(map_keys(x), array(y)),
    IF(map_contains_key(x, y),
        transform(map_entries(x), item -> IF(item.key = y, z, item.value)),
        concat(map_values(x), array(z))))"""
_LESS = "filter(map_entries(x), item -> item.key <> y)"
_WITHOUT_KEY = f"map_from_arrays({_LESS}.key, {_LESS}.value)"
_LIST = types.Holder("list", (types.INT32,))
# From one number up to before another, of which there may be none.
_STEPPED = f"""transform(filter(sequence(0L, {_STEPS}), at -> at < {_STEPS}),
    at -> CAST(x + at * z AS INT))"""
_RANGE = "filter(sequence({0}, greatest({1}, {0})), item -> item < {1})"
FUNCTIONS: Mapping[str, call.Function] = {
    "range": call.first_that_takes(
        [
            call.of(_LIST, _RANGE.format("0", "x"), call.PLACE),
            call.of(_LIST, _RANGE.format("x", "y"), call.PLACE, call.PLACE),
            call.of(_LIST, _STEPPED, call.PLACE, call.PLACE, call.PLACE),
            _of_one(_RANGE.format("0", "array_size(x)"), "list", gives=lambda _: _LIST),
        ]
    ),
    # Of no list Spark's size is -1, where this has no value.
    "size": call.first_that_takes(
        [
            _of_one("array_size(x)", "list", "set", gives=lambda _: types.INT32),
            _of_one("array_size(map_keys(x))", "map", gives=lambda _: types.INT32),
        ]
    ),
    "has": _looking(types.BOOLEAN, _HAS),
    # Spark counts places from 1, and 0 is where there is none.
    "findFirst": call.first_that_takes(
        [
            _looking(types.INT32, {"list": "CAST(array_position(x, y) AS INT) - 1"}),
            _at(call.PLACE, element=True, gives=_FIND_FROM),
        ]
    ),
    "findLast": _at(call.PLACE, element=True, gives=_FIND_UP_TO),
    "countDistinct": _distinct,
    "at": _chosen,
    "lexicographicalCompare": _compared,
    "makeSequence": _sequence,
    "toSet": _of_one(
        "array_distinct(x)", "list", gives=lambda whole: types.Holder("set", whole.of)
    ),
    "insert": call.first_that_takes(
        [
            _at(call.PLACE, element=True, gives=_PUT.format("array(y)")),
            _inserted,
            _keyed(_WITH_KEY, valued=True),
        ]
    ),
    "remove": call.first_that_takes(
        [
            _at(call.PLACE, element=False, gives=_CUT.format("y", "y")),
            _at(call.PLACE, call.PLACE, element=False, gives=_CUT.format("y", "z")),
            _without,
            _keyed(_WITHOUT_KEY, valued=False),
        ]
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
