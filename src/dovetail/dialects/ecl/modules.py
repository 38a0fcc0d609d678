"""Whoever knows the texts that a text imports: files of a folder, by their paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

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
