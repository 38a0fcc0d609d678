"""Names that stand twice, where each is one thing: the second would hide the first."""

from __future__ import annotations

from collections.abc import Iterable

from dovetail.dialects.spl import syntax
from dovetail.dialects.spl.types import refused

_Named = (
    syntax.Composite
    | syntax.Definition
    | syntax.Source
    | syntax.Head
    | syntax.Declared
    | syntax.Logic
    | syntax.Variable
)


def refuse_repeats(whole: syntax.Program) -> None:
    """Refuses streams, types, parameters, variables and the like of one name."""
    refuse_second("composite", whole.composites)
    refuse_second("type", whole.types)
    for one in whole.composites:
        heads = (head for call in one.graph for head in call.heads)
        refuse_second("stream", (*one.inputs, *heads))
        refuse_second("stream", one.outputs)
        refuse_second("type", one.types)
        refuse_second("parameter", one.declared)
    for function in whole.functions:
        # A body is no place of its own: what a function takes is known in it.
        body = syntax.listed(function.body)
        refuse_second("variable", (*function.formals, *_variables(body)))
    for node in syntax.nodes(whole):
        match node:
            case syntax.Block():
                refuse_second("variable", _variables(syntax.listed(node)))
            case syntax.Invocation():
                refuse_second("variable", node.lasting)
                refuse_second("clause", node.codes)


def _variables(body: Iterable[syntax.Node]) -> list[syntax.Variable]:
    """Returns the variables that statements declare."""
    return [one for one in body if isinstance(one, syntax.Variable)]


def refuse_second(what: str, found: Iterable[_Named]) -> None:
    """Refuses the second one of a name."""
    known: set[str] = set()
    for one in found:
        if one.name in known:
            raise refused(one.place, f'a second {what} "{one.name}"', "one of each")
        known.add(one.name)
