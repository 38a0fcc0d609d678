"""The record of a JOIN without a transform.

All fields of the left, then those of the right with a new name. A field that both have
is the left one's, in a RIGHT join the right one's; in a FULL join the left one's unless
that is blank.
"""

from __future__ import annotations

from dovetail.dialects.ecl.casting import Scalar, converted, trimmed
from dovetail.dialects.ecl.types import Field, Letters, RecordType, blank_text
from dovetail.dialects.ecl.values import Made
from dovetail.schema import quoted
from dovetail.spec.join import Kind

_RIGHT = {Kind.RIGHT_OUTER, Kind.RIGHT_ONLY}
_FULL = {Kind.FULL_OUTER, Kind.FULL_ONLY}


def default_record(left: RecordType, right: RecordType, kind: Kind) -> Made:
    """Returns what a JOIN without a transform gives."""
    new = [one for one in right.fields if not list(left.find(one.name))]
    columns = [(one.name, _shared(one, right, kind)) for one in left.fields]
    columns += [(one.name, f"r.{quoted(one.name)}") for one in new]
    return Made(RecordType((*left.fields, *new)), tuple(columns), "false")


def _shared(one: Field, right: RecordType, kind: Kind) -> str:
    """Returns a field of the left, or what stands for it where both have one."""
    own = f"l.{quoted(one.name)}"
    for other in right.find(one.name):
        value = Scalar(f"r.{quoted(other.name)}", other.type)
        found = converted(value, one.type)
        if found is not None and kind in _RIGHT:
            return found.text
        if found is not None and kind in _FULL:
            return f"IF({_is_blank(Scalar(own, one.type))}, {found.text}, {own})"
    return own


def _is_blank(value: Scalar) -> str:
    """Returns whether a value is blank."""
    text = trimmed(value) if isinstance(value.type, Letters) else value.text
    return f"{text} = {blank_text(value.type)}"
