"""How a text says that an input is written, where it says it at all."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class AnyLayout:
    """The ending of a file tells; of rows that are given there is nothing to tell."""


class Heading(Enum):
    """What the first line of a file of CSV is.

    IF_NAMED: names of columns, if it has the name of one that is declared.
    """

    NAMES = "names of columns"
    NONE = "a row"
    IF_NAMED = "either"


@dataclass(frozen=True, slots=True)
class CsvLayout:
    """Values between separators, a row a line.

    Without a heading columns go by their place.
    """

    separator: str = ","
    quote: str = '"'
    heading: Heading = Heading.IF_NAMED

    @property
    def has_heading(self) -> bool:
        """Tells whether the first line is, or may be, no row."""
        return self.heading is not Heading.NONE


@dataclass(frozen=True, slots=True)
class JsonLayout:
    """An object a line, or a list of objects."""


Layout = AnyLayout | CsvLayout | JsonLayout
