"""The one table of functions: what a name means, wherever it is asked.

Each theme is a module with a tuple `FUNCTIONS`; a new function is one more entry in
one of them. An entry names its typing rule, its evaluation on plain values, and its
lowering to a program for the kernels.
"""

from __future__ import annotations

from dovetail.errors import SpecError, UnsupportedError
from dovetail.expression.functions import (
    conversions,
    logic,
    numbers,
    rounding,
    texts,
)
from dovetail.expression.functions.conversions import cast
from dovetail.expression.functions.function import ANY_NUMBER, Entry, Function, Macro
from dovetail.expression.tree import Call, Node

_THEMES = (logic, numbers, rounding, texts, conversions)
TABLE: dict[str, Entry] = {
    entry.name: entry for theme in _THEMES for entry in theme.FUNCTIONS
}


def build(name: str, *arguments: Node) -> Node:
    """Returns a call with its arguments cast, or raises where they do not fit."""
    match TABLE.get(name.lower()):
        case Function(rule=rule) as function:
            signature = rule(arguments)
            if signature is None:
                raise misfit(name, arguments)
            wanted = zip(arguments, signature.arguments, strict=True)
            inputs = tuple(cast(argument, kind) for argument, kind in wanted)
            return Call(function.name, inputs, signature.result)
        case Macro(expand=expand, takes=takes):
            if takes not in (ANY_NUMBER, len(arguments)):
                raise misfit(name, arguments)
            return expand(build, arguments)
        case _:
            raise UnsupportedError(f'the function "{name}"')


def misfit(name: str, arguments: tuple[Node, ...]) -> SpecError:
    """Returns the error for arguments that a function does not take."""
    given = ", ".join(str(argument.type) for argument in arguments)
    return SpecError(f'"{name}" does not take ({given})')


def function_of(call: Call) -> Function:
    """Returns the entry behind a call of a typed tree."""
    entry = TABLE[call.function]
    if isinstance(entry, Macro):
        raise TypeError(call.function)
    return entry
