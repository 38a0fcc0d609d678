"""Programs whose inputs are files below a folder: found, declared, and read.

A name that a text declares needs only to be there; one that it does not declare has the
columns of its file.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dovetail import spec
from dovetail.bind.files import Root
from dovetail.bind.files.columns import own_schema
from dovetail.dialects.ecl import NO_MODULES, Modules, translate
from dovetail.schema import Schema


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


def folder_program(
    text: str, root: Root, modules: Modules = NO_MODULES
) -> spec.Program:
    """Returns the program of a text whose inputs are the files of a folder."""
    return translate(text, FolderCatalog(root), modules)
