"""The names of a body: what it defines, and what it imports from other texts.

`$` is the folder of the text that says it, `$.^` the one around that, `^` the folder
of all modules.
"""

from __future__ import annotations

from collections.abc import Iterable

from dovetail.dialects.ecl.modules import Path
from dovetail.dialects.ecl.nodes import Definition, Import, Node
from dovetail.dialects.ecl.values import Scope

_HERE, _UP, _ALL = "$", "^", "*"


def scope_of(
    statements: Iterable[Node], outer: tuple[Scope, ...] = (), folder: Path = ()
) -> Scope:
    """Returns the scope of a body; `folder` is that of a text with nothing around."""
    found = tuple(statements)
    scope = Scope(tuple(one for one in found if isinstance(one, Definition)), outer)
    if not outer:
        scope.imports[_HERE] = folder
    for one in found:
        if isinstance(one, Import):
            _bring(scope, one)
    return scope


def _bring(scope: Scope, node: Import) -> None:
    """Notes the names of an IMPORT."""
    here = _folder(scope)
    for name, text in node.paths:
        path: Path = ()
        for part in (one.strip() for one in text.split(".")):
            path = {_HERE: here, _UP: path[:-1]}.get(part, (*path, part))
        if name == _ALL:
            scope.opened.append(path[:-1])
        elif name not in {_HERE, _UP}:
            scope.imports[name] = path


def _folder(scope: Scope) -> Path:
    """Returns the folder of the text that a scope stands in."""
    while scope.outer:
        (scope,) = scope.outer
    return scope.imports[_HERE]
