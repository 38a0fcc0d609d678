"""Bits of whole numbers: & | ^ ~ << >>, each at the width of its type.

A uint64, which is a decimal on Spark, is a bigint of the same bits meanwhile.
"""

from __future__ import annotations

from dovetail.dialects.spl import types, values
from dovetail.dialects.spl.casts import converted, resized
from dovetail.dialects.spl.values import Value
from dovetail.errors import Place

_WHOLE = "whole numbers"


def operation(sign: str, one: Value, other: Value, place: Place) -> Value:
    """Returns what an operator makes of the bits of two whole numbers."""
    if not {one.type, other.type} <= {*types.INTEGERS}:
        raise types.refused(place, f"{sign} of {one.type} and {other.type}", _WHOLE)
    # How far bits are moved may be of any whole type.
    if sign not in {"<<", ">>"}:
        values.need_same(sign, one, other)
    if one.type == types.UINT64:
        return _wide(sign, one, other)
    assert isinstance(one.type, types.Scalar)  # noqa: S101 - a whole type is one
    count = converted(other, types.INT64, place)
    parts = {"x": converted(one, types.INT64, place).tree, "y": other.tree}
    if sign in {"<<", ">>"}:
        name = "shiftleft" if sign == "<<" else "shiftright"
        template, parts["y"] = f"{name}(x, CAST(y AS INT))", count.tree
        return values.wrapped(one.type, template, place, **parts)
    return values.of_type(one.type, f"x {sign} y", place, x=one.tree, y=other.tree)


def _wide(sign: str, one: Value, other: Value) -> Value:
    """Returns what an operator makes of the bits of a uint64."""
    parts = [resized(value, types.INT64, one.place).tree for value in (one, other)]
    # A uint64 has no sign that would come in from the left.
    shifts = {"<<": "shiftleft", ">>": "shiftrightunsigned"}
    name = shifts.get(sign)
    template = f"{name}(x, CAST(y AS INT))" if name else f"x {sign} y"
    bits = values.of_type(types.INT64, template, one.place, x=parts[0], y=parts[1])
    return resized(bits, types.UINT64, one.place)


def turned(value: Value, place: Place) -> Value:
    """Returns a whole number whose bits are all others."""
    kind = value.type
    assert isinstance(kind, types.Scalar)  # noqa: S101 - a whole type is one
    if kind in types.UNSIGNED:
        most = types.limits_of(kind)[1]
        # All bits set, less the number: ~ would set those above its width, too.
        number = f"{most}BD" if kind == types.UINT64 else f"{most}L"
        return values.of_type(kind, f"{number} - x", place, x=value.tree)
    return values.of_type(kind, "~x", place, x=value.tree)
