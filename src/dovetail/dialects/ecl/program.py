"""From a whole text to a program: actions in their order, then what they left over.

Definitions are bound when a name asks for them. Those that nothing has asked for are
bound at the end, so that their mistakes are found too; a name in them that nothing
defines is none, as the rows that it would stand for are not needed; nor is a field that
one of their transforms leaves without a value, as the document's own programs do.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress

from dovetail import spec
from dovetail.dialects.ecl import parser, syntax, values
from dovetail.dialects.ecl.actions import ACTIONS, act
from dovetail.dialects.ecl.binder import bind
from dovetail.dialects.ecl.catalog import NO_MODULES, Catalog, Listed, Modules
from dovetail.dialects.ecl.context import (
    Context,
    UnassignedError,
    UnknownNameError,
    World,
)
from dovetail.dialects.ecl.library import follow, leads, macros_beside
from dovetail.dialects.ecl.names import bound, defined, head_of, is_exported
from dovetail.errors import DialectError, Place
from dovetail.schema import Schema

# The options of #OPTION that are honoured, as they are where a text says nothing.
_OPTIONS = {"defaultimplicitkeyedjoinlimit": "10000", "slidingjoins": "0"}


def _parted(statement: syntax.Node) -> Iterator[syntax.Node]:
    """Yields an action and the definition behind it, where no semicolon parts them.

    The document's own programs end so, and stand one below the other.
    """
    match statement:
        case syntax.Definition(
            place, syntax.Sequence(_, (syntax.Call() as call, *rest)), body
        ) if call.word in ACTIONS and rest:
            yield call
            head = rest[0] if len(rest) == 1 else syntax.Sequence(place, tuple(rest))
            yield syntax.Definition(head.place, head, body)
        case _:
            yield statement


def _actions(statements: tuple[syntax.Node, ...]) -> list[syntax.Node]:
    """Returns what a text does; one that does nothing puts out what it exports last."""
    found: list[syntax.Node] = [
        it for it in statements if not isinstance(it, syntax.Definition | syntax.Import)
    ]
    match statements[-1:]:
        # A text that others import is run by itself, too: its definition comes out,
        # unless there is nothing to be seen in it before it has arguments.
        case (syntax.Definition() as last,) if not found and is_exported(last):
            is_value = not isinstance(
                last.body,
                syntax.Function | syntax.Module | syntax.Record | syntax.Transform,
            )
            named = head_of(last)[-1]
            return [named] if is_value and isinstance(named, syntax.Name) else []
        case _:
            return found


def _look_at(context: Context, scope: values.Scope) -> None:
    """Binds what nothing has asked for, inside modules too, to find its mistakes."""
    for definition in scope.definitions:
        # Without a row there is nothing to say of what a row has asked for.
        if id(definition) in context.world.of_rows:
            continue
        # Its rows are not needed, so an input that is not there is no mistake.
        with suppress(UnknownNameError, UnassignedError):
            found = bound(context, scope, definition)
            # Where names have no value yet, what is made of them has none.
            if isinstance(found, values.ModuleValue) and not found.open:
                _look_at(context, found.scope)


def translate(
    text: str,
    inputs: Mapping[str, Schema] | Catalog,
    modules: Modules = NO_MODULES,
) -> spec.Program:
    """Returns the program of a text; a name that it does not declare is an input.

    `modules` are the texts that it may import.
    """
    try:
        return _translated(text, inputs, modules)
    except RecursionError as error:
        raise DialectError(
            "too many parts inside of each other",
            "fewer, and no definition inside of its own",
            "a name for a part of it",
            place=Place(text, 1, 1),
        ) from error


def _translated(
    text: str, inputs: Mapping[str, Schema] | Catalog, modules: Modules
) -> spec.Program:
    """Returns the program of a text whose parts do not fill Python's stack."""
    catalog = Listed(inputs) if isinstance(inputs, Mapping) else inputs
    read = parser.read(text, "", *macros_beside(modules, text, modules.home))
    statements = tuple(one for it in read for one in _parted(it))
    if not statements:
        found, expected = "the text has no statement", "an action, as OUTPUT(rows)"
        raise DialectError(found, expected, place=Place(text, 1, 1))
    world = World(catalog, defined, follow, modules=modules, options=dict(_OPTIONS))
    context = Context(world, values.scope_of(statements, folder=modules.home), bind)
    imports = (one for one in statements if isinstance(one, syntax.Import))
    for name in (name for one in imports for name, _ in one.paths):
        path = context.scope.imports.get(name)
        if path is not None and not leads(world, path):
            remark = f"IMPORT of {name} brings nothing: no folder of modules has it"
            world.remarks.append(remark)
    # Definitions are bound as actions ask for them, the others behind all actions.
    actions = _actions(statements)
    for statement in actions:
        act(context, statement)
    if not actions:
        remark = "nothing comes out: the text has no action, as OUTPUT(rows)"
        world.remarks.append(remark)
    _look_at(context, context.scope)
    # What is read twice is told once.
    remarks = tuple(dict.fromkeys(world.remarks))
    stored = tuple(world.stored.values())
    return spec.Program(tuple(world.outputs), remarks, tuple(world.builds), stored)
