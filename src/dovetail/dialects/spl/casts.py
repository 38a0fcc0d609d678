"""Casts of SPL: a value as another type, where the text asks for it.

Whole numbers keep their lowest bits, floats lose what stands behind the point, decimals
are rounded to the digits of their type. A text that is no value of a type gives none.
"""

from __future__ import annotations

from dataclasses import replace

from dovetail.dialects.spl import types, values
from dovetail.dialects.spl.absence import required
from dovetail.dialects.spl.values import Value
from dovetail.errors import Place
from dovetail.expression.functions.casts import cast
from dovetail.expression.reader import compose
from dovetail.schema import AtomicType

_MOST_DIGITS = types.Scalar("decimal128")
_KNOWN = "one between numbers, or from or to a text"


def converted(value: Value, kind: types.SplType, place: Place) -> Value:
    """Returns a value as another type, which the text asks for."""
    old = value.type
    if old == kind:
        return replace(value, place=place)
    if isinstance(kind, types.Scalar) and kind in types.STRINGS:
        return _written(value, kind, place)
    match old, kind:
        # An optional is the value itself, which may be null.
        case types.NULL, types.Holder("optional"):
            return values.of_type(kind, "x", place, x=value.tree)
        case _, types.Holder("optional", (of,)) if of == old:
            return Value(kind, required(value.tree, value.place), place)
        case types.RSTRING | types.USTRING, _:
            return _read(value, kind, place)
        case types.Scalar(), types.Scalar() if {old, kind} <= types.NUMBERS:
            return _number(value, kind, place)
        case types.Holder("set" | "list", of), types.Holder("set" | "list", into) if (
            of == into
        ):
            template = "array_distinct(x)" if kind.word == "set" else "x"
            return values.of_type(kind, template, place, x=value.tree)
        case _:
            raise types.refused(place, f"a cast from {old} to {kind}", _KNOWN)


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


def _written(value: Value, kind: types.Scalar, place: Place) -> Value:
    """Returns a value as a text."""
    old = value.type
    if isinstance(old, types.Enumerated) or old in types.STRINGS:
        return Value(kind, value.tree, place)
    if old in {*types.FLOATS, *types.DECIMALS}:
        return Value(kind, values.digits_of("text", _MOST_DIGITS, value), place)
    if old in {*types.INTEGERS, types.BOOLEAN}:
        return values.of_type(kind, "CAST(x AS STRING)", place, x=value.tree)
    if old == types.TIMESTAMP:
        return values.of_type(kind, _TIMESTAMP_TEXT, place, x=value.tree)
    raise types.refused(place, f"a cast from {old} to {kind}", _KNOWN)


# Seconds, nanoseconds, and the machine, of which there is none.
_TIMESTAMP_TEXT = """concat('(', CAST(CAST(floor(x) AS BIGINT) AS STRING), ',',
    CAST(CAST((x - floor(x)) * 1000000000BD AS BIGINT) AS STRING), ',0)')"""


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
            raise types.refused(place, f"a cast from {value.type} to {kind}", _KNOWN)
