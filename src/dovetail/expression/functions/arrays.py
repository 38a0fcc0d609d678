"""Arrays, maps and structs: their parts, sets of elements, functions given functions.

An index counts from 0 in brackets and from 1 in ELEMENT_AT; what is not there is null.
A lambda's parameters get their types from the arguments before it. Elements are equal
as in comparisons: null equals null here, NaN equals NaN. What stands first is kept
where equals fall together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial, reduce

from dovetail import schema
from dovetail.expression import kinds
from dovetail.expression.functions import entry
from dovetail.expression.functions.logic import conjunction, disjunction, extreme
from dovetail.expression.tree import Call, Kind, Literal, Value
from dovetail.expression.values import hashable, order

ENTRIES = entry.Entries()

NO_SIZE = -1  # the size of null, outside ANSI mode

Elements = list[Value]
Key = Callable[[Value], Value]


def element_of(kind: Kind) -> schema.Type | None:
    """Returns the type of an array's elements, None of anything else."""
    return kind.element if isinstance(kind, schema.ArrayType) else None


# Elements and fields


def _index_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types the taking of an element: an array and a number, or a map and a key."""
    whole, index = entry.types(arguments)
    if isinstance(whole, schema.MapType):
        key = whole.key
        if kinds.tightest(key, index) is None or not kinds.implicit(index, key):
            return None
        return entry.Signature((whole, key), whole.value)
    is_place = kinds.is_integral(index) or index == kinds.NULL
    if not isinstance(whole, schema.ArrayType) or not is_place:
        return None
    return entry.Signature((whole, kinds.BIGINT), whole.element)


@ENTRIES.row("[]", _index_rule, "[]", takes=2)
def _item(whole: Value, index: Value) -> Value:
    if isinstance(whole, dict):
        return whole.get(index)
    return whole[index] if 0 <= index < len(whole) else None


def _element_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types ELEMENT_AT: as in brackets, but a place is no more than an int."""
    whole, index = entry.types(arguments)
    if isinstance(whole, schema.MapType):
        return _index_rule(arguments)
    if index in (kinds.BIGINT, kinds.NULL):
        return None
    signature = _index_rule(arguments)
    return signature and entry.Signature((whole, kinds.INT), signature.result)


@ENTRIES.row("element_at", _element_rule, "element_at", takes=2)
def _element_at(whole: Value, index: Value) -> Value:
    if isinstance(whole, dict):
        return whole.get(index)
    place = index - 1 if index > 0 else len(whole) + index
    return _item(whole, place) if index else None  # Spark fails


def _named_field(arguments: entry.Arguments) -> tuple[str, schema.Type] | None:
    """Returns the field that is written behind a struct, as its type spells it."""
    inside = element_of(arguments[0].type) or arguments[0].type
    fields = inside.fields if isinstance(inside, schema.StructType) else ()
    wanted = str(entry.constant(arguments[1])).lower()
    return next((field for field in fields if field[0].lower() == wanted), None)


def _field_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types a field of a struct, or of every struct of an array."""
    found = _named_field(arguments)
    if found is None:
        return None
    is_listed = element_of(arguments[0].type) is not None
    result = schema.ArrayType(found[1]) if is_listed else found[1]
    return entry.Signature(entry.types(arguments), result)


def _lower_field(call: Call, arguments: entry.Programs) -> entry.Program | None:
    """Lowers a field of a struct; kernels have none for a field of every struct."""
    found = _named_field(call.arguments)
    if found is None or element_of(call.arguments[0].type) is not None:
        return None
    return entry.operation("field", call.type, arguments[0], field=found[0])


@ENTRIES.typed("field", _field_rule, _lower_field, takes=2)
def _field(call: Call) -> entry.Compute:
    name = (_named_field(call.arguments) or ("",))[0]
    if element_of(call.arguments[0].type):
        return lambda items, _name: [item and item.get(name) for item in items]
    return lambda record, _name: record.get(name)


# Made of parts


def _array_of(kind: Kind) -> schema.ArrayType:
    return schema.ArrayType(kinds.columnar(kind))


def _struct_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types NAMED_STRUCT: names written out, each before its value."""
    names = [entry.constant(name) for name in arguments[::2]]
    if len(arguments) % 2 or not all(isinstance(name, str) for name in names):
        return None
    types = [kinds.columnar(kind) for kind in entry.types(arguments[1::2])]
    fields = tuple(zip(names, types, strict=True))
    return entry.Signature(entry.types(arguments), schema.StructType(fields))


def _map_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types MAP: keys and values in turn, each in their wider type."""
    if not arguments:
        return entry.Signature((), schema.MapType(kinds.NULL, kinds.NULL))
    if len(arguments) % 2:
        return None
    key, value = (kinds.widest(entry.types(arguments[start::2])) for start in (0, 1))
    if key is None or value is None or isinstance(key, schema.MapType):
        return None
    result = schema.MapType(kinds.columnar(key), kinds.columnar(value))
    return entry.Signature((key, value) * (len(arguments) // 2), result)


@ENTRIES.row("map", _map_rule, strict=False)
def _map(*parts: Value) -> Value:
    keys = parts[::2]
    if None in keys or len(set(keys)) < len(keys):
        return None  # Spark fails
    return dict(zip(keys, parts[1::2], strict=True))


@ENTRIES.row(
    "map_from_arrays",
    entry.kept(
        lambda keys, values: (
            schema.MapType(keys.element, values.element)
            if element_of(keys) and element_of(values)
            else None
        )
    ),
    takes=2,
)
def _zipped(keys: Elements, values: Elements) -> Value:
    if len(keys) != len(values):
        return None  # Spark fails
    return _map(*(part for pair in zip(keys, values, strict=True) for part in pair))


@ENTRIES.row("sequence", entry.alike(kinds.whole, _array_of), takes=2)
def _sequence(first: int, last: int) -> list[int]:
    step = 1 if first <= last else -1
    return list(range(first, last + step, step))  # both are included


# Maps


def _of_map(result: Callable[[schema.MapType], schema.Type]) -> entry.Rule:
    """Returns the rule of a function of a map that gives an array."""
    return entry.kept(
        lambda kind: (
            schema.ArrayType(result(kind)) if isinstance(kind, schema.MapType) else None
        )
    )


def _has_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types MAP_CONTAINS_KEY: a map, and a key in the wider type of both."""
    whole, wanted = entry.types(arguments)
    if not isinstance(whole, schema.MapType):
        return None
    key = kinds.tightest(whole.key, wanted)
    if key is None:
        return None
    searched = schema.MapType(kinds.columnar(key), whole.value)
    return entry.Signature((searched, key), kinds.BOOLEAN)


# Functions given functions


def _elements(arguments: entry.Arguments) -> tuple[Kind, ...]:
    """Returns the types of a lambda's parameters over an array: element and place."""
    inside = element_of(arguments[0].type)
    return () if inside is None else (inside, kinds.INT)


def _element(arguments: entry.Arguments) -> tuple[Kind, ...]:
    """Returns the type of a test's parameter: the element alone."""
    return _elements(arguments)[:1]


def _folding(arguments: entry.Arguments) -> tuple[Kind, ...]:
    """Returns the types of the parameters of AGGREGATE: of merge, then of finish."""
    whole, *so_far = entry.types(arguments)
    inside = element_of(whole)
    if len(so_far) == 1 and inside is not None:
        return (so_far[0], inside)
    return tuple(so_far[:1])


def _over(
    name: str,
    result: Callable[[Kind, Kind], Kind | None],
    compute: entry.Compute,
    given: entry.Parameters = _elements,
) -> entry.Function:
    """Returns the entry of a function that gives each element to a lambda.

    `result` is found from the type of the array and what the lambda gives.
    """
    rule = entry.kept(
        lambda whole, body: result(whole, body) if element_of(whole) else None
    )
    return entry.row(name, rule, compute, name, parameters=given, takes=2)


def _tested(whole: Kind, body: Kind) -> Kind | None:
    """Returns the type of FILTER, whose lambda tells truths."""
    return whole if body in (kinds.BOOLEAN, kinds.NULL) else None


def _truth(whole: Kind, body: Kind) -> Kind | None:
    """Returns the type of EXISTS and FORALL, whose lambda tells truths."""
    return _tested(whole, body) and kinds.BOOLEAN


def _given(items: Elements, function: Value) -> Elements:
    """Returns what a lambda gives for each element and its place."""
    return [function(item, place) for place, item in enumerate(items)]


_FOLD_TAKES = (3, 4)  # the last one finishes


def _aggregate_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types AGGREGATE: the first lambda gives the type that it starts with."""
    if len(arguments) not in _FOLD_TAKES:
        return None
    whole, start, merge, *finish = entry.types(arguments)
    if element_of(whole) is None or merge != start:
        return None
    return entry.Signature(entry.types(arguments), finish[0] if finish else start)


def _aggregate(items: Elements | None, start: Value, *functions: Value) -> Value:
    if items is None:
        return None
    merge, *finish = functions
    found = reduce(merge, items, start)
    return finish[0](found) if finish else found


# Elements that are equal, or in an order


def _listed(*others: Kind, result: Kind | None = None) -> entry.Rule:
    """Returns the rule of an array and then fixed types; it keeps the array's type."""

    def rule(arguments: entry.Arguments) -> entry.Signature | None:
        if not arguments or len(arguments) != len(others) + 1:
            return None
        kind, *rest = entry.types(arguments)
        if element_of(kind) is None or not all(map(kinds.implicit, rest, others)):
            return None
        return entry.Signature((kind, *others), result or kind)

    return rule


def _with_element(result: Kind | None = None) -> entry.Rule:
    """Returns the rule of an array and a value like its elements."""

    def rule(arguments: entry.Arguments) -> entry.Signature | None:
        whole, value = entry.types(arguments)
        inside = element_of(whole)
        common = inside and kinds.without_texts(inside, value)
        # of an untyped null Spark cannot say what the array is to become
        if common is None or kinds.NULL in (inside, value):
            return None
        kind = schema.ArrayType(kinds.columnar(common))
        return entry.Signature((kind, common), result or kind)

    return rule


def _contains_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types ARRAY_CONTAINS: unlike its kin it takes an array of nulls, but no map."""
    whole, value = entry.types(arguments)
    inside = element_of(whole)
    common = inside and kinds.without_texts(inside, value)
    if common is None or value == kinds.NULL or not kinds.is_comparable(common):
        return None
    searched = schema.ArrayType(kinds.columnar(common))
    return entry.Signature((searched, common), kinds.BOOLEAN)


@ENTRIES.typed("array_contains", _contains_rule, "array_contains", takes=2)
def _contains(call: Call) -> entry.Compute:
    key = order(call.arguments[1].type)

    def contains(items: Elements, value: Value) -> bool | None:
        wanted = key(value)
        # null where only a null could still be equal
        found = (None if item is None else key(item) == wanted for item in items)
        return disjunction(*found)

    return contains


def _two(result: Kind | None = None) -> entry.Rule:
    """Returns the rule of two arrays of one type."""

    def meet(left: Kind, right: Kind) -> Kind | None:
        common = kinds.without_texts(left, right)
        return common if isinstance(common, schema.ArrayType) else None

    return entry.alike(meet, lambda common: result or common)


def _keyed(function: entry.Compute) -> entry.Evaluation:
    """Returns the evaluation of a function that is told how elements are equal."""

    def evaluate(call: Call) -> entry.Compute:
        inside = element_of(call.arguments[0].type)
        key = order(inside or kinds.NULL)
        # null equals null here, and nothing else: it is told apart from every key
        return lambda *values: function(
            lambda item: (item is None, None if item is None else hashable(key(item))),
            *values,
        )

    return evaluate


def _unique(key: Key, items: Iterable[Value]) -> Elements:
    """Returns the first of all equal elements."""
    found: dict[Value, Value] = {}
    for item in items:
        found.setdefault(key(item), item)
    return list(found.values())


@ENTRIES.row("array_intersect", _two(), told=_keyed, takes=2)
def _intersection(key: Key, one: Elements, other: Elements) -> Elements:
    wanted = set(map(key, other))
    return [item for item in _unique(key, one) if key(item) in wanted]


@ENTRIES.row("array_except", _two(), told=_keyed, takes=2)
def _difference(key: Key, one: Elements, other: Elements) -> Elements:
    unwanted = set(map(key, other))
    return [item for item in _unique(key, one) if key(item) not in unwanted]


@ENTRIES.row("arrays_overlap", _two(kinds.BOOLEAN), told=_keyed, takes=2)
def _overlap(key: Key, one: Elements, other: Elements) -> bool | None:
    wanted = {key(item) for item in other if item is not None}
    if any(key(item) in wanted for item in one if item is not None):
        return True
    # a null could be an element of both, unless one of them has none
    unknown = bool(one) and bool(other) and None in (*one, *other)
    return None if unknown else False


@ENTRIES.row("array_position", _with_element(kinds.BIGINT), told=_keyed, takes=2)
def _place(key: Key, items: Elements, value: Value) -> int:
    wanted = key(value)
    places = (place for place, item in enumerate(items, 1) if key(item) == wanted)
    return next(places, 0)


@ENTRIES.row("array_remove", _with_element(), told=_keyed, takes=2)
def _without(key: Key, items: Elements, value: Value) -> Elements:
    unwanted = key(value)
    return [item for item in items if key(item) != unwanted]


def _choosing(name: str, choose: Callable[..., Value]) -> entry.Function:
    """Returns the entry of ARRAY_MIN or ARRAY_MAX."""

    def inside(kind: Kind) -> Kind | None:
        found = element_of(kind)
        return found if found is not None and kinds.is_comparable(found) else None

    return entry.typed(name, entry.kept(inside), partial(extreme, choose), takes=1)


def _sorted_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types SORT_ARRAY, whose direction is written out."""
    if len(arguments) == 1:
        return _listed()(arguments)
    signature = _listed(kinds.BOOLEAN)(arguments)
    return signature if signature and isinstance(arguments[1], Literal) else None


@ENTRIES.typed("sort_array", _sorted_rule)
def _sorted(call: Call) -> entry.Compute:
    key = order(element_of(call.type) or kinds.NULL)

    def ordered(items: Elements, *ascending: bool) -> Elements:
        # null is least here, whatever the direction, and greatest in ARRAY_SORT
        known = sorted(_present(items), key=key)
        nulls = [None] * (len(items) - len(known))
        return [*nulls, *known] if all(ascending) else [*known[::-1], *nulls]

    return ordered


@ENTRIES.typed("array_sort", _listed())
def _array_sort(call: Call) -> entry.Compute:
    key = order(element_of(call.type) or kinds.NULL)
    return lambda items: [
        *sorted(_present(items), key=key),
        *(item for item in items if item is None),
    ]


# Put together and cut


def _present(items: Elements) -> Elements:
    """Returns an array without its nulls."""
    return [item for item in items if item is not None]


@ENTRIES.row("slice", _listed(kinds.INT, kinds.INT))
def _slice(items: Elements, start: int, length: int) -> Elements | None:
    if start == 0 or length < 0:
        return None  # Spark fails
    first = start - 1 if start > 0 else len(items) + start
    return items[first : first + length] if first >= 0 else []


def _joined_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types ARRAY_JOIN: an array of what can be written, and one or two texts."""
    inside = element_of(arguments[0].type) if arguments else None
    if inside is None or not kinds.is_atomic(inside):
        return None
    rest = entry.shape("string[, string] -> string")(arguments[1:])
    if rest is None or not kinds.implicit(inside, kinds.STRING):
        return None
    texts = schema.ArrayType(schema.AtomicType.STRING)
    return entry.Signature((texts, *rest.arguments), kinds.STRING)


@ENTRIES.row("array_join", _joined_rule)
def _joined(items: Elements, separator: str, *instead: str) -> str:
    known = items if instead else _present(items)
    return separator.join(instead[0] if item is None else item for item in known)


@ENTRIES.row(
    "flatten",
    entry.kept(
        lambda kind: kind.element if element_of(element_of(kind) or kind) else None
    ),
    takes=1,
)
def _flat(lists: list[Elements | None]) -> Elements | None:
    known = _present(lists)
    # what an unknown array has in it is unknown, and so is the whole
    if len(known) < len(lists):
        return None
    return [item for items in known for item in items]


FUNCTIONS: tuple[entry.Entry, ...] = (
    *ENTRIES.written,
    entry.row(
        "size",
        entry.kept(
            lambda kind: (
                kinds.INT
                if isinstance(kind, schema.ArrayType | schema.MapType)
                else None
            )
        ),
        lambda whole: NO_SIZE if whole is None else len(whole),
        "size",
        strict=False,
        takes=1,
    ),
    entry.row(
        "array",
        entry.alike(lambda *types: kinds.widest(types), _array_of),
        lambda *items: list(items),
        "array",
        strict=False,
    ),
    entry.row(
        "named_struct",
        _struct_rule,
        lambda *parts: dict(zip(parts[::2], parts[1::2], strict=True)),
        # the names are in the type
        lambda call, given: entry.operation("named_struct", call.type, *given[1::2]),
        strict=False,
    ),
    entry.row("map_keys", _of_map(lambda kind: kind.key), list, takes=1),
    entry.row(
        "map_values",
        _of_map(lambda kind: kind.value),
        lambda whole: list(whole.values()),
        takes=1,
    ),
    entry.row(
        "map_entries",
        _of_map(
            lambda kind: schema.StructType((("key", kind.key), ("value", kind.value)))
        ),
        lambda whole: [{"key": key, "value": value} for key, value in whole.items()],
        takes=1,
    ),
    entry.row("map_contains_key", _has_rule, lambda whole, key: key in whole, takes=2),
    _over("transform", lambda _, body: _array_of(body), _given),
    _over(
        "filter",
        _tested,
        lambda items, function: [
            item for place, item in enumerate(items) if function(item, place)
        ],
    ),
    _over("exists", _truth, lambda *given: disjunction(*_given(*given)), _element),
    _over("forall", _truth, lambda *given: conjunction(*_given(*given)), _element),
    *(
        entry.row(
            name,
            _aggregate_rule,
            _aggregate,
            "aggregate",
            strict=False,
            parameters=_folding,
        )
        for name in ("aggregate", "reduce")
    ),
    _choosing("array_min", min),
    _choosing("array_max", max),
    entry.typed("array_distinct", _listed(), _keyed(_unique)),
    entry.typed(
        "array_union",
        _two(),
        _keyed(lambda key, one, other: _unique(key, (*one, *other))),
        takes=2,
    ),
    entry.row("array_size", _listed(result=kinds.INT), len),
    entry.row("array_compact", _listed(), _present),
    # what is put in may be null, the array may not
    entry.row(
        "array_append",
        _with_element(),
        lambda items, value: None if items is None else [*items, value],
        strict=False,
        takes=2,
    ),
    entry.row(
        "array_prepend",
        _with_element(),
        lambda items, value: None if items is None else [value, *items],
        strict=False,
        takes=2,
    ),
    entry.row(
        "array_repeat",
        lambda given: (
            entry.Signature((given[0].type, kinds.INT), _array_of(given[0].type))
            if kinds.implicit(given[1].type, kinds.INT)
            else None
        ),
        lambda value, count: None if count is None else [value] * max(count, 0),
        strict=False,
        takes=2,
    ),
    entry.alias("cardinality", "size", takes=1),
    entry.alias("get", "[]", takes=2),
    entry.alias("try_element_at", "element_at", takes=2),
)
