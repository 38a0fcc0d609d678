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
    formats,
    logic,
    numbers,
    patterns,
    spans,
    texts,
    times,
)
from dovetail.expression.functions.casts import cast
from dovetail.expression.functions.function import ANY_NUMBER, Entry, Function, Macro
from dovetail.expression.tree import Call, Kind, Node

THEMES: dict[str, tuple[ModuleType, ...]] = {
    "Truth and choices": (logic,),
    "Numbers": (arithmetic, numbers),
    "Texts": (texts, patterns),
    "Dates and moments": (times, formats, spans),
    "Arrays, maps and structs": (arrays,),
    "Casts": (casts,),
}
TABLE: dict[str, Entry] = {
    entry.name: entry
    for modules in THEMES.values()
    for module in modules
    for entry in module.FUNCTIONS
}
_FUNCTIONS = {
    name: entry for name, entry in TABLE.items() if isinstance(entry, Function)
}


def build(name: str, *arguments: Node) -> Node:
    """Returns a call with its arguments cast, or raises where they do not fit."""
    entry = TABLE.get(name.lower())
    if entry is None:
        raise UnsupportedError(f'the function "{name}"')
    if not _takes(entry, len(arguments)):
        raise misfit(name, arguments)
    if isinstance(entry, Macro):
        return entry.expand(build, arguments)
    signature = entry.rule(arguments)
    if signature is None:
        raise misfit(name, arguments)
    wanted = zip(arguments, signature.arguments, strict=True)
    inputs = tuple(cast(argument, kind) for argument, kind in wanted)
    return Call(entry.name, inputs, signature.result)


def _takes(entry: Entry, count: int) -> bool:
    """Tells whether an entry may take so many arguments."""
    optional = entry.optional if isinstance(entry, Macro) else 0
    return entry.takes == ANY_NUMBER or 0 <= count - entry.takes <= optional


def parameters_of(name: str, arguments: Sequence[Node]) -> tuple[Kind, ...]:
    """Returns the types that a function gives a lambda behind these arguments."""
    entry = _FUNCTIONS.get(name.lower())
    return entry.parameters(tuple(arguments)) if entry and arguments else ()


def misfit(name: str, arguments: tuple[Node, ...]) -> SpecError:
    """Returns the error for arguments that a function does not take."""
    given = ", ".join(str(argument.type) for argument in arguments)
    return SpecError(f'"{name}" does not take ({given})')


def columnwise(name: str) -> tuple[bool, ...]:
    """Returns for each function behind a name whether it has a form for columns."""
    entry = TABLE[name]
    if isinstance(entry, Function):
        return (entry.columnwise is not None,)
    return tuple(has for part in entry.parts for has in columnwise(part)) or (True,)


def function_of(call: Call) -> Function:
    """Returns the entry behind a call of a typed tree."""
    return _FUNCTIONS[call.function]
