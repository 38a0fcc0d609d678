"""What a text finds by a name: files as its inputs, and the texts that it imports.

A name that a text declares needs only to be there; one that it does not declare has the
columns of its file. Where nobody has seen the files, what the text declares of them is
believed, and a name that it does not declare is none, as nothing tells its columns.

Of modules, `a/b.ecl` below their folder is `a.b`; names have no case. A program that
stands in the folder, or deeper, calls the folder that it stands in `$`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dovetail import spec
from dovetail.bind.document import FROM_HERE, text_of
from dovetail.bind.files import Root
from dovetail.bind.files.columns import own_schema
from dovetail.errors import SchemaError, SpecError
from dovetail.schema import Schema

_ENDING = ".ecl"


@dataclass(frozen=True, slots=True)
class FolderCatalog:
    """The files below a folder as the inputs of a text."""

    root: Root

    def spelled(self, word: str) -> str:
        """Returns the name of a file, or nothing; raises where there are two."""
        return self.file(word, spec.AnyLayout())

    def file(self, word: str, layout: spec.Layout) -> str:
        """Returns the name of a file as the text says it is written, or nothing."""
        if not self.root.has(word):
            return ""
        return self.root.find(word, layout).name

    def has_index(self, file: str) -> bool:
        """Tells whether BUILD has written an index below the folder."""
        return self.root.has_index(file)

    def schema(self, name: str) -> Schema:
        """Returns the columns that a file has by itself."""
        return own_schema(self.root.find(name, spec.AnyLayout()), spec.AnyLayout())

    def names(self) -> Iterable[str]:
        """Returns the names of all files."""
        return self.root.names()


@dataclass(frozen=True, slots=True)
class Unseen:
    """A file of every name."""

    def spelled(self, word: str) -> str:  # noqa: ARG002 - no name is known
        """Returns nothing: no input is known by its columns."""
        return ""

    def file(self, word: str, layout: spec.Layout) -> str:  # noqa: ARG002
        """Returns the name itself: it will be there."""
        return word.removeprefix("~")

    def has_index(self, file: str) -> bool:  # noqa: ARG002 - none is looked for
        """Tells that no index is there: its rows will be an input."""
        return False

    def schema(self, name: str) -> Schema:
        """Raises: nobody knows the columns."""
        raise SchemaError(f'nobody has seen "{name}"', "the folder of the files")

    def names(self) -> Iterable[str]:
        """Returns no name."""
        return ()


@dataclass(frozen=True, slots=True)
class ModuleFolder:
    """A folder of texts; `home` is the path of the program's own folder in it."""

    root: Path
    home: tuple[str, ...] = ()

    @classmethod
    def of(cls, root: Path | str, home: Path | str = "") -> ModuleFolder:
        """Returns the texts of a folder; raises where there is no such folder.

        A program that stands elsewhere has the folder itself for its own.
        """
        folder = Path(root).resolve()
        if not folder.is_dir():
            raise SpecError(
                f'"{root}" is no folder of modules',
                "a folder in which a.b is the file a/b.ecl",
                "a path that is not whole begins where Python or the shell runs",
                rule="modules",
            )
        own = Path(home).resolve() if home else folder
        is_inside = own.is_relative_to(folder)
        parts = own.relative_to(folder).parts if is_inside else ()
        return cls(folder, tuple(one.lower() for one in parts))

    def texts(self, path: tuple[str, ...]) -> Iterator[tuple[str, str]]:
        """Gives the text of a path and the name of its file, if there is one."""
        if not path:
            return
        for folder in self._folders(path[:-1]):
            for one in _entries(folder, path[-1] + _ENDING):
                yield text_of(one, FROM_HERE), one.relative_to(self.root).as_posix()

    def has(self, path: tuple[str, ...]) -> bool:
        """Tells whether a path is a folder."""
        return any(self._folders(path))

    def names(self, path: tuple[str, ...]) -> Iterable[str]:
        """Returns the names of texts and folders in a folder, in lower case."""
        return [
            one.stem.lower()
            for folder in self._folders(path)
            for one in folder.iterdir()
            if one.is_dir() or one.suffix.lower() == _ENDING
        ]

    def _folders(self, path: tuple[str, ...]) -> Iterator[Path]:
        """Gives the folder of a path, if there is one."""
        if not path:
            yield self.root
            return
        for folder in self._folders(path[:-1]):
            yield from (one for one in _entries(folder, path[-1]) if one.is_dir())


def _entries(folder: Path, name: str) -> Iterator[Path]:
    """Gives what stands in a folder under a name, whatever its case."""
    # Where a file system has case, several may be meant: the first one is, always.
    yield from sorted(it for it in folder.iterdir() if it.name.lower() == name)[:1]
