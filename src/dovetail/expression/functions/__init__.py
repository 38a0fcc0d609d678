"""The one table of functions: what a name means, wherever it is asked.

Each theme is a module with a tuple `FUNCTIONS`; a new function is one more entry in
one of them. An entry names its typing rule, its evaluation on plain values, and its
lowering to a program for the kernels.
"""

from __future__ import annotations

from collections.abc import Sequence

from dovetail.errors import SpecError, UnsupportedError
from dovetail.expression.functions import (
    arithmetic,
    conversions,
    logic,
    nested,
    numbers,
    rounding,
    spans,
    texts,
    times,
)
from dovetail.expression.functions.conversions import cast
from dovetail.expression.functions.function import ANY_NUMBER, Entry, Function, Macro
from dovetail.expression.tree import Call, Kind, Node

_THEMES = (
    logic,
    arithmetic,
    numbers,
    rounding,
    spans,
    texts,
    times,
    nested,
    conversions,
)
TABLE: dict[str, Entry] = {
    entry.name: entry for theme in _THEMES for entry in theme.FUNCTIONS
}
_FUNCTIONS = {
    name: entry for name, entry in TABLE.items() if isinstance(entry, Function)
}


def build(name: str, *arguments: Node) -> Node:
    """Returns a call with its arguments cast, or raises where they do not fit."""
    entry = TABLE.get(name.lower())
    if entry is None:
        raise UnsupportedError(f'the function "{name}"')
    if entry.takes not in (ANY_NUMBER, len(arguments)):
        raise misfit(name, arguments)
    if isinstance(entry, Macro):
        return entry.expand(build, arguments)
    signature = entry.rule(arguments)
    if signature is None:
        raise misfit(name, arguments)
    wanted = zip(arguments, signature.arguments, strict=True)
    inputs = tuple(cast(argument, kind) for argument, kind in wanted)
    return Call(entry.name, inputs, signature.result)


def parameters_of(name: str, arguments: Sequence[Node]) -> tuple[Kind, ...]:
    """Returns the types that a function gives a lambda behind these arguments."""
    entry = _FUNCTIONS.get(name.lower())
    return entry.parameters(tuple(arguments)) if entry and arguments else ()


def misfit(name: str, arguments: tuple[Node, ...]) -> SpecError:
    """Returns the error for arguments that a function does not take."""
    given = ", ".join(str(argument.type) for argument in arguments)
    return SpecError(f'"{name}" does not take ({given})')


def function_of(call: Call) -> Function:
    """Returns the entry behind a call of a typed tree."""
    return _FUNCTIONS[call.function]
