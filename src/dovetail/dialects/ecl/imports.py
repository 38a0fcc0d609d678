"""What stands behind the names that IMPORT brings: definitions of other texts.

A file `a/b.ecl` has one definition for others, `EXPORT b := ..`; what else it defines
is its own.
"""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.dialects.ecl.context import Context, World, refusal
from dovetail.dialects.ecl.library import read_part
from dovetail.dialects.ecl.modules import LIBRARY, Path
from dovetail.dialects.ecl.names import bound, exported
from dovetail.dialects.ecl.nodes import Definition, Import, Node
from dovetail.dialects.ecl.reading import read
from dovetail.dialects.ecl.scopes import scope_of
from dovetail.dialects.ecl.values import Imported, Scope, Value


def follow(context: Context, node: Node, path: Path) -> Iterator[Value]:
    """Gives what a path leads to: a definition of another text, or a folder."""
    modules = context.world.modules
    if path[:1] == (LIBRARY,):
        yield read_part(path)
        return
    for given in modules.texts(path):
        yield _definition(context, node, path, _scope(context, path, given))
        return
    if modules.has(path):
        yield Imported(path)


def leads(world: World, path: Path) -> bool:
    """Tells whether anything stands behind a path."""
    modules = world.modules
    is_library = path[:1] == (LIBRARY,)
    return is_library or modules.has(path) or any(modules.texts(path))


def _scope(context: Context, path: Path, given: tuple[str, str]) -> Scope:
    """Returns the scope of another text, which is read once."""
    known = context.world.brought
    if path not in known:
        statements = read(*given)
        for one in statements:
            if not isinstance(one, Definition | Import):
                raise refusal(
                    one, "an action in a text that is imported", "definitions alone"
                )
        known[path] = scope_of(statements, folder=path[:-1])
    return known[path]


def _definition(context: Context, node: Node, path: Path, scope: Scope) -> Value:
    """Returns the definition of a text that has its name."""
    for definition in exported(scope, path[-1]):
        if id(definition) in scope.pending:
            raise refusal(node, f'"{path[-1]}" inside of itself', "another name")
        return bound(context.alone(), scope, definition)
    raise refusal(
        node,
        f'the text "{".".join(path)}" exports no "{path[-1]}"',
        f"EXPORT {path[-1]} := .. in it",
    )
