"""The one table of functions: what a name means, wherever it is asked.

Each idea is a module with a tuple `FUNCTIONS`; a new function is one more entry in
one of them. An entry names its typing rule and its evaluation on plain values; what
kernels do for whole columns at once is a bonus (`kernels/operations`).
"""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType

from dovetail.errors import SpecError, UnsupportedError
from dovetail.expression.functions import (
    arithmetic,
    arrays,
    casts,
    entry,
    formats,
    logic,
    numbers,
    patterns,
    significant,
    spans,
    texts,
    times,
)
from dovetail.expression.tree import Call, Kind, Node

THEMES: dict[str, tuple[ModuleType, ...]] = {
    "Truth and choices": (logic,),
    "Numbers": (arithmetic, numbers, significant),
    "Texts": (texts, patterns),
    "Dates and moments": (times, formats, spans),
    "Arrays, maps and structs": (arrays,),
    "Casts": (casts,),
}
TABLE: dict[str, entry.Entry] = {
    known.name: known
    for modules in THEMES.values()
    for module in modules
    for known in module.FUNCTIONS
}
_FUNCTIONS = {
    name: known for name, known in TABLE.items() if isinstance(known, entry.Function)
}


def build(name: str, *arguments: Node) -> Node:
    """Returns a call with its arguments cast, or raises where they do not fit."""
    known = TABLE.get(name.lower())
    if known is None:
        raise unknown(name)
    more = len(arguments) - known.takes
    optional = known.optional if isinstance(known, entry.Macro) else 0
    if known.takes != entry.ANY_NUMBER and not 0 <= more <= optional:
        raise _misfit(name, arguments)
    if isinstance(known, entry.Macro):
        return known.expand(build, *arguments)
    signature = known.rule(arguments)
    if signature is None:
        raise _misfit(name, arguments)
    # casts stand in the tree, so that all who read it cast alike
    wanted = zip(arguments, signature.arguments, strict=True)
    inputs = tuple(casts.cast(argument, kind) for argument, kind in wanted)
    return Call(known.name, inputs, signature.result)


def unknown(name: str) -> UnsupportedError:
    """Returns the error for a function that is none of ours."""
    expected = "one that is known of each row by itself: docs/expressions.md"
    return UnsupportedError(f'the function "{name}"', expected)


def _misfit(name: str, arguments: tuple[Node, ...]) -> SpecError:
    """Returns the error for arguments that a function does not take."""
    given = ", ".join(str(argument.type) for argument in arguments)
    return SpecError(f'"{name}" does not take ({given})')


def parameters_of(name: str, arguments: Sequence[Node]) -> tuple[Kind, ...]:
    """Returns the types that a function gives a lambda behind these arguments."""
    known = _FUNCTIONS.get(name.lower())
    return known.parameters(tuple(arguments)) if known and arguments else ()


def columnwise(name: str) -> tuple[bool, ...]:
    """Returns for each function behind a name whether it has a form for columns."""
    known = TABLE[name]
    if isinstance(known, entry.Function):
        return (known.columnwise is not None,)
    return tuple(has for part in known.parts for has in columnwise(part)) or (True,)


def function_of(call: Call) -> entry.Function:
    """Returns the entry behind a call of a typed tree."""
    return _FUNCTIONS[call.function]
