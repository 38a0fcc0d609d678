"""Arrays as ordered lists: cut, searched, joined, made distinct, put in order.

Elements are equal as in comparisons: null equals null here, NaN equals NaN. What
stands first is kept where equals fall together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from dovetail.expression.coercion import (
    BIGINT,
    BOOLEAN,
    INT,
    NULL,
    STRING,
    columnar,
    implicit,
    is_atomic,
    is_integral,
    tightest,
    without_texts,
)
from dovetail.expression.functions.function import (
    Arguments,
    Entry,
    Evaluation,
    Function,
    Rule,
    Signature,
    alias,
    expects,
    kinds,
    plain,
)
from dovetail.expression.functions.nested import element_of
from dovetail.expression.tree import Call, Kind, Literal, Value
from dovetail.expression.values import order
from dovetail.schema import ArrayType, AtomicType

Key = Callable[[Value], Value]
Elements = list[Value]


def _listed(*others: Kind, result: Kind | None = None) -> Rule:
    """Returns the rule of an array and then fixed types; it keeps the array's type."""

    def rule(arguments: Arguments) -> Signature | None:
        if not arguments or len(arguments) != len(others) + 1:
            return None
        kind = arguments[0].type
        fits = all(map(implicit, kinds(arguments[1:]), others))
        if not isinstance(kind, ArrayType) or not fits:
            return None
        return Signature((kind, *others), result or kind)

    return rule


def _with_element(result: Kind | None = None) -> Rule:
    """Returns the rule of an array and a value like its elements."""

    def rule(arguments: Arguments) -> Signature | None:
        whole, value = kinds(arguments)
        inside = element_of(whole)
        common = inside and without_texts(inside, value)
        if common is None or NULL in (inside, value):
            return None
        kind = ArrayType(columnar(common))
        return Signature((kind, common), result or kind)

    return rule


def _two(result: Kind | None = None) -> Rule:
    """Returns the rule of two arrays of one type."""

    def rule(arguments: Arguments) -> Signature | None:
        common = without_texts(*kinds(arguments))
        if not isinstance(common, ArrayType):
            return None
        return Signature((common, common), result or common)

    return rule


def _keyed(function: Callable[..., Value]) -> Evaluation:
    """Returns the evaluation of a function that is told how elements are equal."""

    def evaluate(call: Call) -> Callable[..., Value]:
        inside = element_of(call.arguments[0].type)
        key = order(inside or NULL)
        return lambda *values: function(
            lambda item: (item is None, None if item is None else _fixed(key(item))),
            *values,
        )

    return evaluate


def _fixed(value: Value) -> Value:
    """Returns a key whose lists are tuples, so that sets can hold it."""
    return tuple(map(_fixed, value)) if isinstance(value, list | tuple) else value


def _unique(key: Key, items: Iterable[Value]) -> Elements:
    """Returns the first of all equal elements."""
    found: dict[Value, Value] = {}
    for item in items:
        found.setdefault(key(item), item)
    return list(found.values())


def _union(key: Key, one: Elements, other: Elements) -> Elements:
    """Returns the distinct elements of two arrays."""
    return _unique(key, (*one, *other))


def _intersection(key: Key, one: Elements, other: Elements) -> Elements:
    """Returns the distinct elements of the first that the second has, too."""
    wanted = set(map(key, other))
    return [item for item in _unique(key, one) if key(item) in wanted]


def _difference(key: Key, one: Elements, other: Elements) -> Elements:
    """Returns the distinct elements of the first that the second lacks."""
    unwanted = set(map(key, other))
    return [item for item in _unique(key, one) if key(item) not in unwanted]


def _overlap(key: Key, one: Elements, other: Elements) -> bool | None:
    """Tells whether two arrays share an element; null where a null could be it."""
    wanted = {key(item) for item in other if item is not None}
    if any(key(item) in wanted for item in one if item is not None):
        return True
    unknown = bool(one) and bool(other) and None in (*one, *other)
    return None if unknown else False


def _place(key: Key, items: Elements, value: Value) -> int:
    """Returns the place of the first equal element, 0 where there is none."""
    wanted = key(value)
    places = (place for place, item in enumerate(items, 1) if key(item) == wanted)
    return next(places, 0)


def _without(key: Key, items: Elements, value: Value) -> Elements:
    """Returns the elements that are not equal to a value."""
    unwanted = key(value)
    return [item for item in items if key(item) != unwanted]


def _slice(items: Elements, start: int, length: int) -> Elements | None:
    """Returns so many elements from a place, from the end where it is negative."""
    if start == 0 or length < 0:
        return None  # Spark fails
    first = start - 1 if start > 0 else len(items) + start
    return items[first : first + length] if first >= 0 else []


def _joined(items: Elements, separator: str, *instead: str) -> str:
    """Returns texts with a separator between; nulls are left out or replaced."""
    known = [item for item in items if item is not None or instead]
    return separator.join(instead[0] if item is None else item for item in known)


def _joined_rule(arguments: Arguments) -> Signature | None:
    """Types ARRAY_JOIN: an array of what can be written, and one or two texts."""
    texts = ArrayType(AtomicType.STRING)
    inside = element_of(arguments[0].type) if arguments else None
    if inside is None or not (is_atomic(inside) and implicit(inside, STRING)):
        return None
    rule = expects(STRING, STRING, STRING, optional=1)(arguments[1:])
    return rule and Signature((texts, *rule.arguments), STRING)


def _sorted(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of SORT_ARRAY: null is least, whatever the direction."""
    key = order(element_of(call.type) or NULL)

    def ordered(items: Elements, *ascending: bool) -> Elements:
        known = sorted((item for item in items if item is not None), key=key)
        nulls = [None] * (len(items) - len(known))
        return [*nulls, *known] if all(ascending) else [*known[::-1], *nulls]

    return ordered


def _sorted_rule(arguments: Arguments) -> Signature | None:
    """Types SORT_ARRAY, whose direction is written out."""
    if len(arguments) == 1:
        return _listed()(arguments)
    signature = _listed(BOOLEAN)(arguments)
    return signature if isinstance(arguments[1], Literal) else None


def _nulls_last(items: Elements) -> Elements:
    """Returns an array with its nulls behind everything else."""
    known = [item for item in items if item is not None]
    return [*known, *[None] * (len(items) - len(known))]


def _array_sort(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of ARRAY_SORT: null is greatest."""
    ordered = _sorted(call)
    return lambda items: _nulls_last(ordered(items))


def _flat_rule(arguments: Arguments) -> Signature | None:
    """Types FLATTEN: an array of arrays."""
    inside = element_of(arguments[0].type)
    if not isinstance(inside, ArrayType):
        return None
    return Signature(kinds(arguments), inside)


def _flat(lists: list[Elements | None]) -> Elements | None:
    """Returns the elements of all arrays of an array, null where one is null."""
    known = [items for items in lists if items is not None]
    if len(known) < len(lists):
        return None
    return [item for items in known for item in items]


def _repeated_rule(arguments: Arguments) -> Signature | None:
    """Types ARRAY_REPEAT: any value, and how often."""
    kind, count = kinds(arguments)
    if not implicit(count, INT):
        return None
    return Signature((kind, INT), ArrayType(columnar(kind)))


def _repeated(value: Value, count: int | None) -> Elements | None:
    """Returns a value, which may be null, so many times."""
    return None if count is None else [value] * max(count, 0)


def _appended(items: Elements | None, value: Value) -> Elements | None:
    """Returns an array with a value, which may be null, behind it."""
    return None if items is None else [*items, value]


def _prepended(items: Elements | None, value: Value) -> Elements | None:
    """Returns an array with a value, which may be null, before it."""
    return None if items is None else [value, *items]


def _compact(items: Elements) -> Elements:
    """Returns an array without its nulls."""
    return [item for item in items if item is not None]


def _sequence_rule(arguments: Arguments) -> Signature | None:
    """Types SEQUENCE of whole numbers, by steps of one."""
    common = tightest(*kinds(arguments))
    if common is None or not is_integral(common):
        return None
    return Signature((common, common), ArrayType(columnar(common)))


def _sequence(first: int, last: int) -> list[int]:
    """Returns the numbers from one to another, both included, downwards if need be."""
    step = 1 if first <= last else -1
    return list(range(first, last + step, step))


def _with_null(name: str, rule: Rule, function: Callable[..., Value]) -> Function:
    """Returns the entry of a function of two values that may be null."""
    return Function(name, rule, plain(function), strict=False, takes=2)


FUNCTIONS: tuple[Entry, ...] = (
    Function("slice", _listed(INT, INT), plain(_slice)),
    Function("array_position", _with_element(BIGINT), _keyed(_place), takes=2),
    Function("array_remove", _with_element(), _keyed(_without), takes=2),
    _with_null("array_append", _with_element(), _appended),
    _with_null("array_prepend", _with_element(), _prepended),
    Function("array_compact", _listed(), plain(_compact)),
    Function("array_distinct", _listed(), _keyed(_unique)),
    Function("array_union", _two(), _keyed(_union), takes=2),
    Function("array_intersect", _two(), _keyed(_intersection), takes=2),
    Function("array_except", _two(), _keyed(_difference), takes=2),
    Function("arrays_overlap", _two(BOOLEAN), _keyed(_overlap), takes=2),
    Function("array_join", _joined_rule, plain(_joined)),
    Function("sort_array", _sorted_rule, _sorted),
    Function("array_sort", _listed(), _array_sort),
    Function("flatten", _flat_rule, plain(_flat), takes=1),
    _with_null("array_repeat", _repeated_rule, _repeated),
    Function("sequence", _sequence_rule, plain(_sequence), takes=2),
    Function("array_size", _listed(result=INT), plain(len)),
    alias("get", "[]", takes=2),
    alias("try_element_at", "element_at", takes=2),
)
