"""Inputs that nobody has seen yet: what a text declares of its files is believed.

A name that the text does not declare is none here, as nothing tells its columns.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from dovetail import spec
from dovetail.errors import SchemaError
from dovetail.schema import Schema


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
