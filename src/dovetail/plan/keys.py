"""What rows must have in common with those they meet, as one number: the code.

A single key that is a whole number, a date or a time is its own code. Any other key is
hashed, and compared once more by value, so that two keys of one hash never meet.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from dovetail import schema, spec
from dovetail.errors import SpecError, UnsupportedError
from dovetail.expression import Scope, Typed, common_type, parse
from dovetail.expression.tree import Column
from dovetail.plan.sides import candidate_equalities

_CODES = {
    schema.AtomicType.BOOLEAN: "CAST({0} AS BIGINT)",
    schema.AtomicType.TINYINT: "CAST({0} AS BIGINT)",
    schema.AtomicType.SMALLINT: "CAST({0} AS BIGINT)",
    schema.AtomicType.INT: "CAST({0} AS BIGINT)",
    schema.AtomicType.BIGINT: "CAST({0} AS BIGINT)",
    schema.AtomicType.DATE: "CAST(unix_date({0}) AS BIGINT)",
    schema.AtomicType.TIMESTAMP: "unix_micros({0})",
}
"""How a key of one of these types is its own code."""
# TIMESTAMP_NTZ has no number of its own in Spark, so it is hashed like a text.
_HASHED = (
    schema.AtomicType.STRING,
    schema.AtomicType.BINARY,
    schema.AtomicType.TIMESTAMP_NTZ,
)
HASH = "xxhash64("
"""How a hash begins in SQL."""
_COMPARED = {*_CODES, *_HASHED, *schema.FRACTIONS}


@dataclass(frozen=True, slots=True)
class Keys:
    """What rows of a side must have in common with those they meet, in SQL.

    `code` is the value or the hash of all keys, null where one of them is null; what
    is `compared` by value stands beside a hash. `column` is the side's own column that
    is the code as it is, empty where none is.
    """

    code: str = ""
    compared: tuple[str, ...] = ()
    column: str = ""


def keys_of(
    join: spec.JoinSpec, sources: Mapping[spec.Hand, spec.Input]
) -> tuple[Keys, Keys]:
    """Returns the keys of both sides; without an equality all rows have one key."""
    pairs = _key_pairs(join, sources)
    types = _common(pairs)
    # A column of whole numbers is the code as it is: nothing need be computed.
    is_whole = len(pairs) == 1 and all(one.type in schema.WHOLE for one in pairs[0])
    left, right = (
        replace(
            code_of([one.text for one in own], types),
            column=own[0].tree.name
            if is_whole and isinstance(own[0].tree, Column)
            else "",
        )
        for own in (zip(*pairs, strict=True) if pairs else ((), ()))
    )
    return left, right


def _key_pairs(
    join: spec.JoinSpec, sources: Mapping[spec.Hand, spec.Input]
) -> list[tuple[Typed, Typed]]:
    """Returns both sides of each equality that makes a candidate."""
    scope = Scope.pair(*(sources[hand].schema for hand in spec.HANDS))
    return [
        (parse(one.left, scope), parse(one.right, scope))
        for one in candidate_equalities(join)
    ]


def key_types(
    join: spec.JoinSpec, sources: Mapping[spec.Hand, spec.Input]
) -> tuple[schema.Type, ...]:
    """Returns the types in which the keys of both sides are compared."""
    return _common(_key_pairs(join, sources))


def _common(pairs: Sequence[tuple[Typed, Typed]]) -> tuple[schema.Type, ...]:
    """Returns the types in which pairs of keys are compared, or refuses one."""
    types = []
    for left, right in pairs:
        try:
            types.append(common_type(left.type, right.type))
        except SpecError as error:
            raise SpecError(
                f"{error.found}, the keys {left.text} and {right.text}",
                error.expected,
                "cast one of them, or compare other columns",
            ) from error
    for kind in types:
        if not _is_compared(kind):
            raise UnsupportedError.not_yet("stream", f"an equality of {kind}")
    return (*types,)


def _is_compared(kind: schema.Type) -> bool:
    """Tells whether values of a type can be keys: plain ones, and made of such."""
    made_of = schema.ArrayType | schema.StructType | schema.DecimalType
    return all(
        isinstance(one, made_of) or one in _COMPARED for one in schema.inside(kind)
    )


def code_of(keys: Sequence[str], types: Sequence[schema.Type]) -> Keys:
    """Returns what rows have in common that have these keys, in SQL, as they compare.

    Without a key that is nothing.
    """
    if not keys:
        return Keys()
    cast = []
    for text, kind in zip(keys, types, strict=True):
        cast.append(comparable(f"CAST({text} AS {kind})", kind))
    if len(types) == 1 and types[0] in _CODES:
        return Keys(_CODES[types[0]].format(cast[0]))
    # A hash of nulls is a number: a row without a key must meet nobody.
    missing = " OR ".join(f"({key}) IS NULL" for key in cast)
    hashed = f"CASE WHEN NOT ({missing}) THEN xxhash64({', '.join(cast)}) END"
    return Keys(hashed, tuple(cast))


def comparable(key: str, kind: schema.Type) -> str:
    """Returns the SQL of a key as kernels compare it: equal where keys are."""
    if isinstance(kind, schema.ArrayType | schema.StructType):
        return _as_text(key, kind)
    # As text equal values look alike: 0.0 and -0.0, and every NaN.
    return f"CAST({key} + 0.0D AS STRING)" if kind in schema.FRACTIONS else key


def _as_text(value: str, kind: schema.Type, depth: int = 0) -> str:
    """Returns the SQL of a text that tells a value: two are alike where values equal.

        array(1, NULL, 10)      [1:1,n,2:10]
        struct('a', ',')        (1:a1:,)

    Each plain part says how long it is, so none can look like two. As in Spark, parts
    that are null equal each other; of a value that is null the text is.
    """
    match kind:
        case schema.ArrayType(element):
            name = f"part{depth}"
            part = _text_or_null(name, element, depth + 1)
            parts = f"transform({value}, {name} -> {part})"
            return f"concat('[', array_join({parts}, ','), ']')"
        case schema.StructType(fields):
            parts = ", ".join(
                _text_or_null(f"({value}).{schema.quoted(name)}", part, depth)
                for name, part in fields
            )
            return f"CASE WHEN ({value}) IS NOT NULL THEN concat('(', {parts}, ')') END"
        case schema.AtomicType.BINARY:
            plain = f"hex({value})"
        case schema.AtomicType.TIMESTAMP:
            plain = f"CAST(unix_micros({value}) AS STRING)"
        case _:
            plain = f"CAST({comparable(value, kind)} AS STRING)"
    return f"concat(length({plain}), ':', {plain})"


def _text_or_null(value: str, kind: schema.Type, depth: int) -> str:
    """Returns the SQL of a text that tells a part of a value, also where it is null."""
    return f"coalesce({_as_text(value, kind, depth)}, 'n')"


def hash_of(values: Iterable[tuple[str, schema.Type]]) -> str:
    """Returns the SQL of a hash of values in SQL, empty where there is none."""
    # Spark's hash passes over nulls, so each value is hashed with whether it is null.
    parts = [f"({text}) IS NULL, {_hashed_as(text, kind)}" for text, kind in values]
    return f"{HASH}{', '.join(parts)})" if parts else ""


def _hashed_as(value: str, kind: schema.Type, depth: int = 0) -> str:
    """Returns the SQL of what Spark hashes in place of a value: alike where values are.

        map('b', 2, 'a', 1)     the hashes of ('a', 1) and of ('b', 2), sorted

    Spark hashes no map: two that are equal may have their entries in other orders.
    """
    name = f"part{depth}"
    match kind:
        case schema.MapType(key, held):
            # Whatever entries are, their hashes have an order.
            own = _hashed_as(f"{name}.key", key, depth + 1)
            parts = f"xxhash64({own}, {_hashed_as(f'{name}.value', held, depth + 1)})"
            return f"array_sort(transform(map_entries({value}), {name} -> {parts}))"
        case schema.ArrayType(element) if _holds(element, schema.MapType):
            part = _hashed_as(name, element, depth + 1)
            return f"transform({value}, {name} -> {part})"
        case schema.StructType(fields) if _holds(kind, schema.MapType):
            told = (
                _hashed_as(f"{value}.{schema.quoted(one)}", part, depth)
                for one, part in fields
            )
            return f"struct({', '.join(told)})"
        case schema.ArrayType() | schema.StructType():
            # Nulls inside are passed over too, and how long an array is.
            return _as_text(value, kind, depth)
        case _:
            return value


def is_unhashed(kind: schema.Type) -> bool:
    """Tells whether a type is or holds one that Spark does not hash: a variant."""
    return _holds(kind, schema.CarriedType("variant"))


def _holds(kind: schema.Type, wanted: schema.Type | type[schema.Type]) -> bool:
    """Tells whether a type is or holds another one, or one of a class."""
    return any(
        isinstance(one, wanted) if isinstance(wanted, type) else one == wanted
        for one in schema.inside(kind)
    )
