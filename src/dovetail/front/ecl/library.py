"""What of the standard library is understood: the case of letters.

IMPORT Std;
Std.Str.ToUpperCase(name)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dovetail.front.ecl.casting import Scalar, full
from dovetail.front.ecl.context import Context, refusal
from dovetail.front.ecl.nodes import Call, Member, Name, Node
from dovetail.front.ecl.types import STRING, Letters

_LETTERS: Mapping[str, str] = {
    "std.str.touppercase": "upper",
    "std.str.tolowercase": "lower",
    "std.str.reverse": "reverse",
}


def library_path(context: Context, node: Node) -> Iterator[str]:
    """Gives the path of something of the library, if a node is that."""
    path = _path(context, node)
    if path.startswith("std."):
        yield path


def _path(context: Context, node: Node) -> str:
    """Returns the path of members that begins with an imported name, or nothing."""
    match node:
        case Member(of=of, name=name):
            before = _path(context, of)
            return f"{before}.{name.lower()}" if before else ""
        case Name():
            return context.world.imported.get(node.word, "")
        case _:
            return ""


def read_library(context: Context, node: Call, path: str) -> Scalar:
    """Returns what a function of the library gives."""
    if path not in _LETTERS:
        raise refusal(
            node.of,
            f'"{path}" is outside of what is understood of the library',
            "Str.ToUpperCase, Str.ToLowerCase or Str.Reverse",
            "compute the column before the program, or write it as an expression",
        )
    if len(node.arguments) != 1:
        raise refusal(node, f"{len(node.arguments)} arguments", "one text")
    value = context.scalar(node.arguments[0])
    if not isinstance(value.type, Letters):
        raise refusal(node.arguments[0], "no text", "a text")
    return Scalar(f"{_LETTERS[path]}({full(value)})", STRING)
