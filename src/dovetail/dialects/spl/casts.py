"""Casts of SPL: a value as another type, where the text asks for it.

Whole numbers keep their lowest bits, floats lose what stands behind the point, decimals
are rounded to the digits of their type. A text that is no value of a type gives none.
Lists, sets and maps are cast element by element.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from dovetail.dialects.spl import types, values
from dovetail.dialects.spl.absence import composed, required
from dovetail.dialects.spl.values import Value
from dovetail.dialects.spl.written import KNOWN, each, texts_of, written
from dovetail.errors import Place
from dovetail.expression.functions import build
from dovetail.expression.functions.casts import cast
from dovetail.expression.reader import compose
from dovetail.expression.tree import Node
from dovetail.schema import AtomicType


def converted(value: Value, kind: types.SplType, place: Place) -> Value:
    """Returns a value as another type, which the text asks for."""
    old, parts = value.type, {"x": value.tree}
    if old == kind:
        return replace(value, place=place)
    if isinstance(kind, types.Scalar) and kind in types.STRINGS:
        return replace(written(value, place), type=kind)
    match old, kind:
        case types.RSTRING | types.USTRING, types.Scalar() | types.Enumerated():
            return _read(value, kind, place)
        case types.Scalar(), types.Scalar() if {old, kind} <= types.NUMBERS:
            return _number(value, kind, place)
        case types.FLOAT64, types.TIMESTAMP:
            return values.of_type(kind, "CAST(x AS DECIMAL(28, 9))", place, **parts)
        case types.TIMESTAMP, types.FLOAT64:
            return values.of_type(kind, "x", place, **parts)
        # The number of a word is its place among all words of its type.
        case types.Enumerated(words), types.Scalar() if kind in types.INTEGERS:
            known = build("array", *map(values.text, words))
            at = composed("array_position(y, x) - 1", y=known, **parts)
            return resized(Value(types.INT64, at, place), kind, place)
        case types.Scalar(), types.Enumerated(words) if old in types.INTEGERS:
            known = build("array", *map(values.text, words))
            return values.of_type(kind, "y[CAST(x AS INT)]", place, y=known, **parts)
        case _:
            return _held(value, kind, place)


def _held(value: Value, kind: types.SplType, place: Place) -> Value:
    """Returns a value as what holds others: an optional, or elements one by one."""
    match value.type, kind:
        # An optional is the value itself, which may be null.
        case types.NULL, types.Holder("optional"):
            return values.of_type(kind, "x", place, x=value.tree)
        case old, types.Holder("optional", (of,)) if old == of or _is_plain(old):
            inside = converted(value, of, place)
            return Value(kind, required(inside.tree, value.place), place)
        case types.Holder("set" | "list", of), types.Holder("set" | "list", into) if (
            of == into
        ):
            template = "array_distinct(x)" if kind.word == "set" else "x"
            return values.of_type(kind, template, place, x=value.tree)
        case types.Holder("set" | "list" as word, (of,)), types.Holder(to, (into,)) if (
            word == to and _is_plain(of) and _is_plain(into)
        ):
            whole = _elements(value.tree, of, into, place=place)
            tree = build("array_distinct", whole) if word == "set" else whole
            return Value(kind, tree, place)
        case types.Holder("map", (key, of)), types.Holder("map", (other, into)) if (
            key == other and _is_plain(of) and _is_plain(into)
        ):
            whole = composed("map_values(x)", x=value.tree)
            items = _elements(whole, of, into, place=place)
            template = "map_from_arrays(map_keys(x), y)"
            return Value(kind, composed(template, x=value.tree, y=items), place)
        case old, _:
            raise types.refused(place, f"a cast from {old} to {kind}", KNOWN)


def _is_plain(kind: types.SplType) -> bool:
    """Tells whether elements of a type are cast one by one; of decimals none is."""
    is_one = isinstance(kind, types.Scalar | types.Enumerated)
    return is_one and kind not in {types.NULL, *types.DECIMALS}


def _elements(
    node: Node, kind: types.SplType, into: types.SplType, *, place: Place
) -> Node:
    """Returns the elements of a list as those of another type."""
    if into in types.STRINGS:
        return texts_of(node, kind, place)
    return each(node, kind, partial(converted, kind=into, place=place), place=place)


def _number(value: Value, kind: types.Scalar, place: Place) -> Value:
    """Returns a number as another one."""
    if kind in types.DECIMALS:
        return values.decimal("plus", kind, place, value)
    if kind in types.FLOATS:
        return values.of_type(kind, "x", place, x=value.tree)
    if value.type in types.INTEGERS:
        return resized(value, kind, place)
    whole = _WHOLE if value.type in types.FLOATS else "IF(x < 0, ceil(x), floor(x))"
    # C goes towards 0, to whichever side that is.
    tree = cast(compose(whole, x=value.tree), types.stored(types.UINT64))
    if kind == types.UINT64:
        return values.of_type(kind, f"pmod(x, {values.MODULUS}BD)", place, x=tree)
    return values.wrapped(kind, "CAST(x AS BIGINT)", place, x=value.tree)


# A float beyond 2^63 has nothing behind its point.
_WHOLE = """IF(abs(x) < 9223372036854775808D,
    CAST(CAST(x AS BIGINT) AS DECIMAL(20, 0)), CAST(x AS DECIMAL(20, 0)))"""


def resized(value: Value, kind: types.Scalar, place: Place) -> Value:
    """Returns a whole number at another width: its lowest bits."""
    tree = value.tree
    if value.type == types.UINT64:
        # Beyond 2^63 the bits are those of a negative number.
        signed = f"IF(x >= 9223372036854775808BD, x - {values.MODULUS}BD, x)"
        tree = cast(compose(signed, x=value.tree), AtomicType.BIGINT)
    if kind == types.UINT64:
        template = f"pmod(CAST(x AS DECIMAL(20, 0)), {values.MODULUS}BD)"
        return values.of_type(kind, template, place, x=tree)
    return values.wrapped(kind, "x", place, x=tree)


_WHOLE_TEXT = "^[+-]?[0-9]+$"
_NUMBER_TEXT = "^[+-]?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]+)?$"


def _read(value: Value, kind: types.SplType, place: Place) -> Value:
    """Returns what a text says of a type."""
    parts = {"x": value.tree}
    match kind:
        case types.Enumerated(words):
            known = ", ".join(f"'{word}'" for word in words)
            # Another word is the second of one element, which is not there.
            template = f"array(x)[IF(x IN ({known}), 0, 1)]"
            return values.of_type(kind, template, place, **parts)
        case types.Scalar() if kind in types.DECIMALS:
            # Only this is a number: no blanks around it, no words such as inf.
            said = f"IF(x RLIKE '{_NUMBER_TEXT}', x, 'NaN')"
            return values.decimal(
                "plus", kind, place, values.of_type(types.RSTRING, said, place, **parts)
            )
        case types.Scalar() if kind in types.INTEGERS:
            # A number beyond the type is no value of it, and wraps nowhere.
            least, most = types.limits_of(kind)
            whole = f"CAST(IF(x RLIKE '{_WHOLE_TEXT}', x, '') AS DECIMAL(38, 0))"
            fits = f"IF({whole} BETWEEN {least}BD AND {most}BD, x, '')"
            return values.of_type(
                kind, f"CAST({fits} AS DECIMAL(20, 0))", place, **parts
            )
        case types.Scalar() if kind in types.FLOATS:
            template = f"CAST(IF(x RLIKE '{_NUMBER_TEXT}', x, '') AS DOUBLE)"
            return values.of_type(kind, template, place, **parts)
        case types.Scalar() if kind == types.BOOLEAN:
            template = "CAST(IF(x IN ('true', 'false'), x, '') AS BOOLEAN)"
            return values.of_type(kind, template, place, **parts)
        case _:
            raise types.refused(place, f"a cast from {value.type} to {kind}", KNOWN)
