"""What of the standard library is understood.

IMPORT Std;
Std.Str.ToUpperCase(name)
"""

from __future__ import annotations

from collections.abc import Mapping

from dovetail.front.ecl.casting import Scalar, full
from dovetail.front.ecl.context import Context, refusal
from dovetail.front.ecl.modules import Path
from dovetail.front.ecl.nodes import Call
from dovetail.front.ecl.types import STRING, EclType, Letters, Whole
from dovetail.front.ecl.values import Imported, TypeValue

LIBRARY = "std"
_LETTERS: Mapping[str, str] = {
    "str.touppercase": "upper",
    "str.tolowercase": "lower",
    "str.reverse": "reverse",
}
_TYPES: Mapping[str, EclType] = {
    "date.date_t": Whole(4, is_signed=False),
    "date.days_t": Whole(4),
    "date.time_t": Whole(3, is_signed=False),
    "date.seconds_t": Whole(8),
    "date.timestamp_t": Whole(8),
}


def read_part(path: Path) -> Imported | TypeValue:
    """Returns what a path into the library means: a type, or a part of it."""
    name = ".".join(path[1:])
    return TypeValue(_TYPES[name]) if name in _TYPES else Imported(path)


def read_library(context: Context, node: Call, path: Path) -> Scalar:
    """Returns what a function of the library gives."""
    name = ".".join(path[1:])
    if name not in _LETTERS:
        raise refusal(
            node.of,
            f'"{".".join(path)}" is outside of what is understood of the library',
            "Str.ToUpperCase, Str.ToLowerCase or Str.Reverse",
            "compute the column before the program, or write it as an expression",
        )
    if len(node.arguments) != 1:
        raise refusal(node, f"{len(node.arguments)} arguments", "one text")
    value = context.scalar(node.arguments[0])
    if not isinstance(value.type, Letters):
        raise refusal(node.arguments[0], "no text", "a text")
    return Scalar(f"{_LETTERS[name]}({full(value)})", STRING)
