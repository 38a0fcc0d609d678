"""Elements and slices: of lists by their place from 0, of maps by key, of texts.

Lists, sets and maps that are written out, too, and whether one has an element.

A text gives letters, an rstring bytes. An element that is not there has no value; a
slice has what is there of it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dovetail.dialects.spl import syntax, types, values
from dovetail.dialects.spl.absence import composed, failures
from dovetail.dialects.spl.values import Value
from dovetail.errors import Place
from dovetail.expression.functions import build
from dovetail.expression.reader import compose, variable
from dovetail.expression.tree import Lambda

Operate = Callable[[str, Value, Value, Place], Value]
PLACES = frozenset({types.INT32, types.UINT32})
_SIZES = {types.USTRING: "length(x)", types.RSTRING: "octet_length(x)"}


def element(whole: Value, at: Value, place: Place) -> Value:
    """Returns an element of a list or a map, or a letter of a text."""
    match whole.type:
        case types.Holder("map", (key, value)):
            if at.type != types.loose(key):
                raise types.refused(
                    at.place, f"the key of {whole.type} is {at.type}", f"{key}"
                )
            return values.of_type(
                types.loose(value), "x[y]", place, x=whole.tree, y=at.tree
            )
        case types.Holder("list", (of,)):
            _need_place(at)
            found = "x[CAST(y AS INT)]"
            return values.of_type(
                types.loose(of), found, place, x=whole.tree, y=at.tree
            )
        case kind if kind in types.STRINGS:
            _need_place(at)
            letter = values.part_of_text(whole, "y", "1", y=at.tree)
            # Beyond the text there is no letter: the second of one element.
            template = f"array(z)[IF(y >= 0 AND y < {_SIZES[kind]}, 0, 1)]"
            parts = {"x": whole.tree, "y": at.tree, "z": letter}
            return values.of_type(kind, template, place, **parts)
        case kind:
            raise types.refused(
                place, f"an element of {kind}", "a list, a map or a text"
            )


def with_element(given: Sequence[Value], place: Place) -> Value:
    """Returns a list with another element at a place, where it has one."""
    whole, at, item = given
    _need_place(at)
    there = composed("CAST(y AS INT)", y=at.tree)
    # Beyond the list there is none: the second of one element.
    before, behind = (
        "slice(x, 1, greatest(y, 0))",
        "slice(x, greatest(y, 0) + 2, size(x))",
    )
    is_there = "IF(y >= 0 AND y < array_size(x), 0, 1)"
    template = f"array(concat({before}, array(z), {behind}))[{is_there}]"
    parts = {"x": whole.tree, "y": there, "z": item.tree}
    return values.of_type(whole.type, template, place, **parts)


def between(
    whole: Value,
    start: Sequence[Value],
    end: Sequence[Value],
    place: Place,
) -> Value:
    """Returns the elements or letters from one place up to before another."""
    kind = whole.type
    is_list = isinstance(kind, types.Holder) and kind.word == "list"
    if not is_list and kind not in types.STRINGS:
        raise types.refused(place, f"a slice of {kind}", "a list or a text")
    parts = {"x": whole.tree}
    for name, given in (("y", start), ("z", end)):
        for value in given:
            _need_place(value)
            parts[name] = composed("greatest(CAST(v AS INT), 0)", v=value.tree)
    # Without an end it goes on to the last one, however many there are.
    first = "y" if start else "0"
    last = "z" if end else "2147483647"
    length = f"greatest({last} - {first}, 0)"
    if is_list:
        return values.of_type(kind, f"slice(x, {first} + 1, {length})", place, **parts)
    del parts["x"]
    return Value(kind, values.part_of_text(whole, first, length, **parts), place)


def listed(word: str, found: Sequence[Value], place: Place) -> Value:
    """Returns a list or a set that is written out, of one element at least."""
    for value in found[1:]:
        values.need_same(f"a {word}", found[0], value)
    kind = types.Holder(word, (found[0].type,))
    whole = build("array", *(value.tree for value in found))
    tree = build("array_distinct", whole) if word == "set" else whole
    return Value(kind, values.made_of(found, tree), place)


def mapped(parts: Sequence[Value], place: Place) -> Value:
    """Returns a map that is written out: key, value, key, value."""
    keys, items = parts[::2], parts[1::2]
    for column in (keys, items):
        for value in column[1:]:
            values.need_same("a map", column[0], value)
    kind = types.Holder("map", (keys[0].type, items[0].type))
    tree = build("map", *(value.tree for value in parts))
    if len(keys) > 1 and failures(tree):
        # Spark stops at a key that stands twice, also where nobody needs the map.
        own = build("array", *(key.tree for key in keys))
        template = f"IF(size(array_distinct(x)) = {len(keys)}, y, NULL)"
        tree = compose(template, x=own, y=tree)
    return Value(kind, values.made_of(parts, tree), place)


def turns(node: syntax.Each, whole: Value, declared: types.SplType) -> Value:
    """Returns the list through which a `for` goes, whose variable has a declared type.

    Of a map it is its keys, of a text its letters.
    """
    place = node.place
    match whole.type:
        case types.Holder("map", (key, _)):
            kind = types.Holder("list", (key,))
            found = values.of_type(kind, "map_keys(x)", place, x=whole.tree)
        case types.Holder("list" | "set"):
            found = whole
        case types.Scalar() as kind if kind in types.STRINGS:
            at = variable("at", types.stored(types.INT32))
            letter = Lambda((at,), values.part_of_text(whole, "y", "1", y=at))
            places = f"filter(sequence(0, {_SIZES[kind]}), z -> z < {_SIZES[kind]})"
            letters = build("transform", composed(places, x=whole.tree), letter)
            found = Value(types.Holder("list", (kind,)), letters, place)
        case kind:
            known = "a list, a set, a map or a text"
            raise types.refused(node.elements.place, f"a for over {kind}", known)
    assert isinstance(found.type, types.Holder)  # noqa: S101 - all of these are
    item = types.loose(found.type.of[0])
    if declared != item:
        raise types.refused(node.type.place, f"{node.name} is {declared}", str(item))
    return found


def has(one: Value, whole: Value, place: Place) -> Value:
    """Returns whether a list, a set or the keys of a map have a value."""
    kind = whole.type
    if not isinstance(kind, types.Holder) or kind.word == "optional":
        raise types.refused(whole.place, f"in of {kind}", "a list, a set or a map")
    if one.type != kind.of[0]:
        raise types.refused(one.place, f"{one.type} in {kind}", f"{kind.of[0]}")
    template = "array_contains(y, x)"
    if kind.word == "map":
        template = "map_contains_key(y, x)"
    if not values.is_comparable(one.type):
        # To Spark NaN is NaN, to SPL nothing is.
        is_nan = values.nan_within(one.type, "x")
        if not is_nan:
            raise types.refused(
                one.place, f"{one.type} in {kind}", "what can be compared"
            )
        template = f"NOT ({is_nan}) AND {template}"
    return values.of_type(types.BOOLEAN, template, place, x=one.tree, y=whole.tree)


def each(sign: str, one: Value, other: Value, *, operate: Operate) -> Value:
    """Returns what an operator makes of the elements of lists, one by one.

    Beside a list each element meets the same value; lists are as long as each other.
    """
    place = one.place
    kinds = [it.type for it in (one, other) if isinstance(it.type, types.Holder)]
    if not kinds or any(it.word != "list" for it in kinds):
        found = f"{sign} of {one.type} and {other.type}"
        raise types.refused(place, found, "a list, and a list or one value")
    is_pair = len(kinds) > 1
    item_type = types.INT32 if is_pair else kinds[0].of[0]
    item = variable("item", types.stored(item_type))
    it_is = Value(item_type, item, place)
    if is_pair:
        first, second = (element(it, it_is, place) for it in (one, other))
        elements = composed(_PLACES_OF_BOTH, x=one.tree, y=other.tree)
    else:
        is_left = isinstance(one.type, types.Holder)
        first, second = (it_is, other) if is_left else (one, it_is)
        elements = one.tree if is_left else other.tree
    made = operate(sign[1:], first, second, place)
    tree = build("transform", elements, Lambda((item,), made.needed))
    if is_pair:
        # The second element of one: lists that are not as long have no result.
        template = "array(z)[IF(size(x) = size(y), 0, 1)]"
        tree = composed(template, x=one.tree, y=other.tree, z=tree)
    return Value(types.Holder("list", (made.type,)), tree, place)


_PLACES_OF_BOTH = """filter(sequence(0, size(x)),
    at -> at < IF(size(x) = size(y), size(x), 0))"""


def _need_place(value: Value) -> None:
    """Refuses a place that is no number of 32 bits."""
    if value.type not in PLACES:
        found = f"the place of an element is {value.type}"
        raise types.refused(value.place, found, "an int32 or a uint32")
