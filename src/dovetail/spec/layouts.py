"""How a text says that an input is written, where it says it at all."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class AnyLayout:
    """The ending of a file tells; of rows that are given there is nothing to tell."""


@dataclass(frozen=True, slots=True)
class CsvLayout:
    """Values between separators, a row a line.

    `has_heading`: the first line names the columns; else they go by their place. Where
    the text does not say, the first line is a heading if it names one of them.
    """

    separator: str = ","
    quote: str = '"'
    has_heading: bool = True
    says_heading: bool = False


@dataclass(frozen=True, slots=True)
class JsonLayout:
    """An object a line, or a list of objects."""


Layout = AnyLayout | CsvLayout | JsonLayout
