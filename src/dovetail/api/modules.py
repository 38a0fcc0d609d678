"""The texts below a folder that a program may import.

`a/b.ecl` below the folder is `a.b`; names have no case. A program that stands in the
folder, or deeper, calls the folder that it stands in `$`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dovetail.errors import SpecError

_ENDING = ".ecl"


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
                yield _text(one), one.relative_to(self.root).as_posix()

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
    yield from sorted(it for it in folder.iterdir() if it.name.lower() == name)[:1]


def _text(path: Path) -> str:
    """Returns the text of a file."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise SpecError(
            f'"{path}" cannot be read', "a text in UTF-8", rule="modules"
        ) from error
