"""Arrays, maps and structs: their parts, sets of elements, functions given functions.

An index counts from 0 in brackets and from 1 in ELEMENT_AT; what is not there is null.
A lambda's parameters get their types from the arguments before it. Elements are equal
as in comparisons: null equals null here, NaN equals NaN. What stands first is kept
where equals fall together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import reduce

from dovetail import schema
from dovetail.expression.coercion import (
    BIGINT,
    BOOLEAN,
    INT,
    NULL,
    STRING,
    columnar,
    implicit,
    is_atomic,
    is_comparable,
    is_integral,
    tightest,
    widest,
    without_texts,
)
from dovetail.expression.functions.function import (
    Arguments,
    Entries,
    Entry,
    Evaluation,
    Function,
    Parameters,
    Program,
    Rule,
    Signature,
    alias,
    constant,
    expects,
    kinds,
    operation,
    parts,
    plain,
)
from dovetail.expression.functions.logic import conjunction, disjunction
from dovetail.expression.tree import Call, Kind, Literal, Value
from dovetail.expression.values import order

ENTRIES = Entries()

_FOLD_TAKES = (3, 4)  # the last one finishes
NO_SIZE = -1  # the size of null, outside ANSI mode


def element_of(kind: Kind) -> schema.Type | None:
    """Returns the type of an array's elements, None of anything else."""
    return kind.element if isinstance(kind, schema.ArrayType) else None


def _array_rule(arguments: Arguments) -> Signature | None:
    """Types ARRAY: all elements in their wider type."""
    common = widest(kinds(arguments))
    if common is None:
        return None
    return Signature((common,) * len(arguments), schema.ArrayType(columnar(common)))


def _index_rule(arguments: Arguments) -> Signature | None:
    """Types the taking of an element: an array and a number, or a map and a key."""
    whole, index = kinds(arguments)
    if isinstance(whole, schema.MapType):
        fits = tightest(whole.key, index) is not None and implicit(index, whole.key)
        return Signature((whole, whole.key), whole.value) if fits else None
    if not isinstance(whole, schema.ArrayType) or not (
        is_integral(index) or index == NULL
    ):
        return None
    return Signature((whole, BIGINT), whole.element)


def _parts_rule(part: Callable[[schema.MapType], schema.Type]) -> Rule:
    """Returns the rule of MAP_KEYS and MAP_VALUES."""

    def rule(arguments: Arguments) -> Signature | None:
        kind = arguments[0].type
        if not isinstance(kind, schema.MapType):
            return None
        return Signature((kind,), schema.ArrayType(part(kind)))

    return rule


@ENTRIES.function("map_values", _parts_rule(lambda kind: kind.value), takes=1)
def _values(entries: dict[Value, Value]) -> list[Value]:
    """Returns the values of a map."""
    return list(entries.values())


def _item(whole: Value, index: Value) -> Value:
    """Returns the element at a place from 0, or the value of a key; null if absent."""
    if isinstance(whole, dict):
        return whole.get(index)
    return whole[index] if 0 <= index < len(whole) else None


def _element_rule(arguments: Arguments) -> Signature | None:
    """Types ELEMENT_AT: as in brackets, but a place is no more than an int."""
    whole, index = kinds(arguments)
    too_wide = isinstance(whole, schema.ArrayType) and index in (BIGINT, NULL)
    signature = None if too_wide else _index_rule(arguments)
    if signature is None or isinstance(whole, schema.MapType):
        return signature
    return Signature((whole, INT), signature.result)


@ENTRIES.function("element_at", _element_rule, columnwise=parts("element_at"), takes=2)
def _element_at(whole: Value, index: Value) -> Value:
    """Returns the element at a place from 1, or from the end; or the value of a key."""
    if isinstance(whole, dict):
        return whole.get(index)
    place = index - 1 if index > 0 else len(whole) + index
    return _item(whole, place) if index else None


def _size_rule(arguments: Arguments) -> Signature | None:
    """Types SIZE: an array or a map."""
    fits = isinstance(arguments[0].type, schema.ArrayType | schema.MapType)
    return Signature(kinds(arguments), INT) if fits else None


@ENTRIES.function("size", _size_rule, columnwise=parts("size"), strict=False, takes=1)
def _size(whole: Value) -> int:
    """Returns the number of elements; null counts -1."""
    return NO_SIZE if whole is None else len(whole)


def _field_rule(arguments: Arguments) -> Signature | None:
    """Types a field of a struct, or of every struct of an array."""
    whole, name = arguments
    inside = element_of(whole.type) or whole.type
    if not isinstance(inside, schema.StructType):
        return None
    wanted = str(constant(name)).lower()
    found = [kind for field, kind in inside.fields if field.lower() == wanted]
    if not found:
        return None
    result = schema.ArrayType(found[0]) if element_of(whole.type) else found[0]
    return Signature(kinds(arguments), result)


def _lower_field(call: Call, arguments: tuple[Program, ...]) -> Program | None:
    """Lowers a field of a struct; the program has its name as the type spells it."""
    inside = call.arguments[0].type
    wanted = str(constant(call.arguments[1])).lower()
    if not isinstance(inside, schema.StructType):
        return None
    names = (name for name, _ in inside.fields if name.lower() == wanted)
    return operation("field", call.type, arguments[0], field=next(names))


@ENTRIES.typed("field", _field_rule, columnwise=_lower_field, takes=2)
def _field(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of a field, its name as the type spells it."""
    inside = element_of(call.arguments[0].type) or call.arguments[0].type
    wanted = str(constant(call.arguments[1])).lower()
    fields = inside.fields if isinstance(inside, schema.StructType) else ()
    (name,) = (field for field, _ in fields if field.lower() == wanted)
    if element_of(call.arguments[0].type):
        return lambda items, _name: [item and item.get(name) for item in items]
    return lambda record, _name: record.get(name)


def _struct_rule(arguments: Arguments) -> Signature | None:
    """Types NAMED_STRUCT: names written out, each before its value."""
    names = [constant(name) for name in arguments[::2]]
    if len(arguments) % 2 or not all(isinstance(name, str) for name in names):
        return None
    types = [columnar(kind) for kind in kinds(arguments[1::2])]
    return Signature(
        kinds(arguments), schema.StructType(tuple(zip(names, types, strict=True)))
    )


def _lower_struct(call: Call, arguments: tuple[Program, ...]) -> Program:
    """Lowers NAMED_STRUCT; the names are in its type."""
    return operation("named_struct", call.type, *arguments[1::2])


@ENTRIES.function("named_struct", _struct_rule, columnwise=_lower_struct, strict=False)
def _struct(*parts: Value) -> dict[str, Value]:
    """Returns the record of names and values."""
    return dict(zip(parts[::2], parts[1::2], strict=True))


def _contains_rule(arguments: Arguments) -> Signature | None:
    """Types ARRAY_CONTAINS: the value in the type of the elements."""
    whole, value = kinds(arguments)
    inside = element_of(whole)
    common = inside and without_texts(inside, value)
    if common is None or value == NULL or not is_comparable(common):
        return None
    return Signature((schema.ArrayType(columnar(common)), common), BOOLEAN)


@ENTRIES.typed(
    "array_contains", _contains_rule, columnwise=parts("array_contains"), takes=2
)
def _contains(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of ARRAY_CONTAINS: null where only a null could match."""
    key = order(call.arguments[1].type)

    def contains(items: list[Value], value: Value) -> bool | None:
        wanted = key(value)
        found = (None if item is None else key(item) == wanted for item in items)
        return disjunction(*found)

    return contains


def _ordered_rule(arguments: Arguments) -> Signature | None:
    """Types ARRAY_MIN and ARRAY_MAX."""
    inside = element_of(arguments[0].type)
    if inside is None or not is_comparable(inside):
        return None
    return Signature(kinds(arguments), inside)


def _extreme(choose: Callable[..., Value]) -> Callable[[Call], Callable[..., Value]]:
    """Returns the evaluation of ARRAY_MIN or ARRAY_MAX, which pass over nulls."""

    def evaluate(call: Call) -> Callable[..., Value]:
        key = order(call.type)

        def extreme(items: list[Value]) -> Value:
            present = [item for item in items if item is not None]
            return choose(present, key=key) if present else None

        return extreme

    return evaluate


def _elements(arguments: Arguments) -> tuple[Kind, ...]:
    """Returns the types of a lambda's parameters over an array: element and place."""
    inside = element_of(arguments[0].type)
    return () if inside is None else (inside, INT)


def _folding(arguments: Arguments) -> tuple[Kind, ...]:
    """Returns the types of the parameters of AGGREGATE: of merge, then of finish."""
    whole, *so_far = kinds(arguments)
    inside = element_of(whole)
    if len(so_far) == 1 and inside is not None:
        return (so_far[0], inside)
    return tuple(so_far[:1])


def _each(result: Callable[[Kind, Kind], Kind | None]) -> Rule:
    """Returns the rule of giving each element to a lambda, by both their types."""

    def rule(arguments: Arguments) -> Signature | None:
        whole, body = kinds(arguments)
        found = result(whole, body) if isinstance(whole, schema.ArrayType) else None
        return None if found is None else Signature((whole, body), found)

    return rule


def _element(arguments: Arguments) -> tuple[Kind, ...]:
    """Returns the type of a test's parameter: the element alone."""
    return _elements(arguments)[:1]


def _over(
    name: str, rule: Rule, evaluate: Evaluation, given: Parameters = _elements
) -> Function:
    """Returns the entry of a function that gives each element to a lambda."""
    return Function(name, rule, evaluate, parts(name), parameters=given, takes=2)


def _mapped(_whole: Kind, body: Kind) -> Kind:
    """Returns the type of TRANSFORM."""
    return schema.ArrayType(columnar(body))


def _tested(whole: Kind, body: Kind) -> Kind | None:
    """Returns the type of FILTER, whose lambda tells truths."""
    return whole if body in (BOOLEAN, NULL) else None


def _truth(whole: Kind, body: Kind) -> Kind | None:
    """Returns the type of EXISTS and FORALL, whose lambda tells truths."""
    return _tested(whole, body) and BOOLEAN


def _given(items: list[Value], function: Value) -> list[Value]:
    """Returns what a lambda gives for each element and its place."""
    return [function(item, place) for place, item in enumerate(items)]


def _kept(items: list[Value], function: Value) -> list[Value]:
    """Returns the elements for which a lambda is true."""
    kept = _given(items, function)
    return [item for item, keep in zip(items, kept, strict=True) if keep]


def _some(items: list[Value], function: Value) -> bool | None:
    """Returns whether a lambda is true of any element."""
    return disjunction(*_given(items, function))


def _all(items: list[Value], function: Value) -> bool | None:
    """Returns whether a lambda is true of every element."""
    return conjunction(*_given(items, function))


def _aggregate_rule(arguments: Arguments) -> Signature | None:
    """Types AGGREGATE: the first lambda gives the type that it starts with."""
    if len(arguments) not in _FOLD_TAKES:
        return None
    whole, start, merge, *finish = kinds(arguments)
    if not isinstance(whole, schema.ArrayType) or merge != start:
        return None
    return Signature(kinds(arguments), finish[0] if finish else start)


def _aggregate(items: list[Value] | None, start: Value, *functions: Value) -> Value:
    """Returns the elements folded into one value; null of a null array."""
    if items is None:
        return None
    merge, *finish = functions
    found = reduce(merge, items, start)
    return finish[0](found) if finish else found


def _fold(name: str) -> Function:
    """Returns the entry of AGGREGATE under one of its names."""
    return Function(
        name,
        _aggregate_rule,
        plain(_aggregate),
        parts("aggregate"),
        strict=False,
        parameters=_folding,
    )


Key = Callable[[Value], Value]
Elements = list[Value]


def _listed(*others: Kind, result: Kind | None = None) -> Rule:
    """Returns the rule of an array and then fixed types; it keeps the array's type."""

    def rule(arguments: Arguments) -> Signature | None:
        if not arguments or len(arguments) != len(others) + 1:
            return None
        kind = arguments[0].type
        fits = all(map(implicit, kinds(arguments[1:]), others))
        if not isinstance(kind, schema.ArrayType) or not fits:
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
        kind = schema.ArrayType(columnar(common))
        return Signature((kind, common), result or kind)

    return rule


def _two(result: Kind | None = None) -> Rule:
    """Returns the rule of two arrays of one type."""

    def rule(arguments: Arguments) -> Signature | None:
        common = without_texts(*kinds(arguments))
        if not isinstance(common, schema.ArrayType):
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


@ENTRIES.function("array_union", _two(), told=_keyed, takes=2)
def _union(key: Key, one: Elements, other: Elements) -> Elements:
    """Returns the distinct elements of two arrays."""
    return _unique(key, (*one, *other))


@ENTRIES.function("array_intersect", _two(), told=_keyed, takes=2)
def _intersection(key: Key, one: Elements, other: Elements) -> Elements:
    """Returns the distinct elements of the first that the second has, too."""
    wanted = set(map(key, other))
    return [item for item in _unique(key, one) if key(item) in wanted]


@ENTRIES.function("array_except", _two(), told=_keyed, takes=2)
def _difference(key: Key, one: Elements, other: Elements) -> Elements:
    """Returns the distinct elements of the first that the second lacks."""
    unwanted = set(map(key, other))
    return [item for item in _unique(key, one) if key(item) not in unwanted]


@ENTRIES.function("arrays_overlap", _two(BOOLEAN), told=_keyed, takes=2)
def _overlap(key: Key, one: Elements, other: Elements) -> bool | None:
    """Tells whether two arrays share an element; null where a null could be it."""
    wanted = {key(item) for item in other if item is not None}
    if any(key(item) in wanted for item in one if item is not None):
        return True
    unknown = bool(one) and bool(other) and None in (*one, *other)
    return None if unknown else False


@ENTRIES.function("array_position", _with_element(BIGINT), told=_keyed, takes=2)
def _place(key: Key, items: Elements, value: Value) -> int:
    """Returns the place of the first equal element, 0 where there is none."""
    wanted = key(value)
    places = (place for place, item in enumerate(items, 1) if key(item) == wanted)
    return next(places, 0)


@ENTRIES.function("array_remove", _with_element(), told=_keyed, takes=2)
def _without(key: Key, items: Elements, value: Value) -> Elements:
    """Returns the elements that are not equal to a value."""
    unwanted = key(value)
    return [item for item in items if key(item) != unwanted]


@ENTRIES.function("slice", _listed(INT, INT))
def _slice(items: Elements, start: int, length: int) -> Elements | None:
    """Returns so many elements from a place, from the end where it is negative."""
    if start == 0 or length < 0:
        return None  # Spark fails
    first = start - 1 if start > 0 else len(items) + start
    return items[first : first + length] if first >= 0 else []


def _joined_rule(arguments: Arguments) -> Signature | None:
    """Types ARRAY_JOIN: an array of what can be written, and one or two texts."""
    texts = schema.ArrayType(schema.AtomicType.STRING)
    inside = element_of(arguments[0].type) if arguments else None
    if inside is None or not (is_atomic(inside) and implicit(inside, STRING)):
        return None
    rule = expects(STRING, STRING, STRING, optional=1)(arguments[1:])
    return rule and Signature((texts, *rule.arguments), STRING)


@ENTRIES.function("array_join", _joined_rule)
def _joined(items: Elements, separator: str, *instead: str) -> str:
    """Returns texts with a separator between; nulls are left out or replaced."""
    known = [item for item in items if item is not None or instead]
    return separator.join(instead[0] if item is None else item for item in known)


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


@ENTRIES.typed("array_sort", _listed())
def _array_sort(call: Call) -> Callable[..., Value]:
    """Returns the evaluation of ARRAY_SORT: null is greatest."""
    ordered = _sorted(call)
    return lambda items: _nulls_last(ordered(items))


def _flat_rule(arguments: Arguments) -> Signature | None:
    """Types FLATTEN: an array of arrays."""
    inside = element_of(arguments[0].type)
    if not isinstance(inside, schema.ArrayType):
        return None
    return Signature(kinds(arguments), inside)


@ENTRIES.function("flatten", _flat_rule, takes=1)
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
    return Signature((kind, INT), schema.ArrayType(columnar(kind)))


@ENTRIES.function("array_repeat", _repeated_rule, strict=False, takes=2)
def _repeated(value: Value, count: int | None) -> Elements | None:
    """Returns a value, which may be null, so many times."""
    return None if count is None else [value] * max(count, 0)


@ENTRIES.function("array_append", _with_element(), strict=False, takes=2)
def _appended(items: Elements | None, value: Value) -> Elements | None:
    """Returns an array with a value, which may be null, behind it."""
    return None if items is None else [*items, value]


@ENTRIES.function("array_prepend", _with_element(), strict=False, takes=2)
def _prepended(items: Elements | None, value: Value) -> Elements | None:
    """Returns an array with a value, which may be null, before it."""
    return None if items is None else [value, *items]


@ENTRIES.function("array_compact", _listed())
def _compact(items: Elements) -> Elements:
    """Returns an array without its nulls."""
    return [item for item in items if item is not None]


def _sequence_rule(arguments: Arguments) -> Signature | None:
    """Types SEQUENCE of whole numbers, by steps of one."""
    common = tightest(*kinds(arguments))
    if common is None or not is_integral(common):
        return None
    return Signature((common, common), schema.ArrayType(columnar(common)))


@ENTRIES.function("sequence", _sequence_rule, takes=2)
def _sequence(first: int, last: int) -> list[int]:
    """Returns the numbers from one to another, both included, downwards if need be."""
    step = 1 if first <= last else -1
    return list(range(first, last + step, step))


def _with_null(name: str, rule: Rule, function: Callable[..., Value]) -> Function:
    """Returns the entry of a function of two values that may be null."""
    return Function(name, rule, plain(function), strict=False, takes=2)


def _map_rule(arguments: Arguments) -> Signature | None:
    """Types MAP: keys and values in turn, each in their wider type."""
    if len(arguments) % 2 or not arguments:
        return None
    key, value = (widest(kinds(arguments[start::2])) for start in (0, 1))
    if key is None or value is None or isinstance(key, schema.MapType):
        return None
    result = schema.MapType(columnar(key), columnar(value))
    return Signature((key, value) * (len(arguments) // 2), result)


def _map(*parts: Value) -> Value:
    """Returns the map of keys and values; Spark fails where a key is null or twice."""
    keys = parts[::2]
    if None in keys or len(set(keys)) < len(keys):
        return None
    return dict(zip(keys, parts[1::2], strict=True))


def _zipped_rule(arguments: Arguments) -> Signature | None:
    """Types MAP_FROM_ARRAYS: an array of keys and one of values."""
    keys, values = kinds(arguments)
    if not isinstance(keys, schema.ArrayType) or not isinstance(
        values, schema.ArrayType
    ):
        return None
    return Signature((keys, values), schema.MapType(keys.element, values.element))


@ENTRIES.function("map_from_arrays", _zipped_rule, takes=2)
def _zipped(keys: list[Value], values: list[Value]) -> Value:
    """Returns the map of keys and values; Spark fails where there are not as many."""
    if len(keys) != len(values):
        return None
    return _map(*(part for pair in zip(keys, values, strict=True) for part in pair))


def _has_rule(arguments: Arguments) -> Signature | None:
    """Types MAP_CONTAINS_KEY: a map, and a key in the wider type of both."""
    whole, wanted = kinds(arguments)
    if not isinstance(whole, schema.MapType):
        return None
    key = tightest(whole.key, wanted)
    if key is None:
        return None
    return Signature((schema.MapType(columnar(key), whole.value), key), BOOLEAN)


def _entries_rule(arguments: Arguments) -> Signature | None:
    """Types MAP_ENTRIES: an array of records of key and value."""
    (whole,) = kinds(arguments)
    if not isinstance(whole, schema.MapType):
        return None
    record = schema.StructType((("key", whole.key), ("value", whole.value)))
    return Signature((whole,), schema.ArrayType(record))


@ENTRIES.function("map_entries", _entries_rule, takes=1)
def _entries(whole: dict[Value, Value]) -> list[Value]:
    """Returns the entries of a map."""
    return [{"key": key, "value": value} for key, value in whole.items()]


FUNCTIONS: tuple[Entry, ...] = (
    *ENTRIES.written,
    Function(
        "array",
        _array_rule,
        plain(lambda *items: list(items)),
        parts("array"),
        strict=False,
    ),
    Function("[]", _index_rule, plain(_item), parts("[]"), takes=2),
    Function("array_min", _ordered_rule, _extreme(min), takes=1),
    Function("array_max", _ordered_rule, _extreme(max), takes=1),
    Function("map_keys", _parts_rule(lambda kind: kind.key), plain(list), takes=1),
    _over("transform", _each(_mapped), plain(_given)),
    _over("filter", _each(_tested), plain(_kept)),
    _over("exists", _each(_truth), plain(_some), _element),
    _over("forall", _each(_truth), plain(_all), _element),
    _fold("aggregate"),
    _fold("reduce"),
    alias("cardinality", "size", takes=1),
    Function("array_distinct", _listed(), _keyed(_unique)),
    Function("sort_array", _sorted_rule, _sorted),
    Function("array_size", _listed(result=INT), plain(len)),
    alias("get", "[]", takes=2),
    alias("try_element_at", "element_at", takes=2),
    Function("map", _map_rule, plain(_map), strict=False),
    Function(
        "map_contains_key", _has_rule, plain(lambda whole, key: key in whole), takes=2
    ),
)
