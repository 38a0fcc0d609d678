"""The texts that a text imports, and the names that its bodies see.

`$` is the folder of the text that says it, `$.^` the one around that, `^` the folder
of all modules.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

from dovetail.dialects.ecl.syntax import Definition, Import, Node
from dovetail.dialects.ecl.values import Scope

Path = tuple[str, ...]
# The standard library, and the name of its older functions, which needs no IMPORT.
LIBRARY, OLDER = "std", "stringlib"


class Modules(Protocol):
    """The texts below a folder; paths are in lower case, `()` is the folder itself."""

    @property
    def home(self) -> Path:
        """Returns the folder of the program itself, which calls it `$`."""

    def texts(self, path: Path) -> Iterator[tuple[str, str]]:
        """Gives the text of a path and the name of its file, if there is one."""

    def has(self, path: Path) -> bool:
        """Tells whether a path is a folder."""

    def names(self, path: Path) -> Iterable[str]:
        """Returns what stands in a folder, in lower case."""


@dataclass(frozen=True, slots=True)
class NoModules:
    """No other text is known."""

    home: Path = ()

    def texts(self, path: Path) -> Iterator[tuple[str, str]]:  # noqa: ARG002
        """Gives nothing."""
        yield from ()

    def has(self, path: Path) -> bool:  # noqa: ARG002 - there is none
        """Tells that there is no folder."""
        return False

    def names(self, path: Path) -> Iterable[str]:  # noqa: ARG002 - there is none
        """Returns no name."""
        return ()


NO_MODULES = NoModules()


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
