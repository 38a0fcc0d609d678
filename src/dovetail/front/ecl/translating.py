"""From a whole text to a program: actions in their order, then what they left over.

Definitions are bound when a name asks for them. Those that nothing has asked for are
bound at the end, so that their mistakes are found too; a name in them that nothing
defines is none, as the rows that it would stand for are not needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from dovetail.front.ecl.actions import ACTIONS, act
from dovetail.front.ecl.binding import bind
from dovetail.front.ecl.catalog import Catalog, Listed
from dovetail.front.ecl.context import Context, UnknownNameError, World
from dovetail.front.ecl.names import bound, defined
from dovetail.front.ecl.nodes import Call, Definition, Node, Sequence
from dovetail.front.ecl.reading import read
from dovetail.front.ecl.values import ModuleValue, Scope
from dovetail.schema import Schema
from dovetail.spec.program import Program

_OPTIONS = {"defaultimplicitkeyedjoinlimit": "10000", "slidingjoins": "0"}


def _parted(statement: Node) -> Iterator[Node]:
    """Yields an action and the definition behind it, where no semicolon parts them.

    The document's own programs end so, and stand one below the other.
    """
    match statement:
        case Definition(place, Sequence(_, (Call() as call, *rest)), body) if (
            call.word in ACTIONS and rest
        ):
            yield call
            head = rest[0] if len(rest) == 1 else Sequence(place, tuple(rest))
            yield Definition(head.place, head, body)
        case _:
            yield statement


def _look_at(context: Context, scope: Scope) -> None:
    """Binds what nothing has asked for, inside modules too, to find its mistakes."""
    for definition in scope.definitions:
        with suppress(UnknownNameError):
            found = bound(context, scope, definition)
            if isinstance(found, ModuleValue):
                _look_at(context, found.scope)


def translate(text: str, inputs: Mapping[str, Schema] | Catalog) -> Program:
    """Returns the program of a text; a name that it does not declare is an input."""
    catalog = Listed(inputs) if isinstance(inputs, Mapping) else inputs
    statements = tuple(one for it in read(text) for one in _parted(it))
    definitions = tuple(one for one in statements if isinstance(one, Definition))
    world = World(text, catalog, defined, options=dict(_OPTIONS))
    context = Context(world, Scope(definitions), bind)
    for statement in statements:
        if not isinstance(statement, Definition):
            act(context, statement)
    _look_at(context, context.scope)
    remarks = tuple(dict.fromkeys(world.remarks))
    stored = tuple(world.stored.values())
    return Program(tuple(world.outputs), remarks, tuple(world.builds), stored)
