"""The page: how wide it is, and a column in which bands are stacked from the top."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol
from xml.etree.ElementTree import Element

from dovetail.draw.shapes import text

WIDTH = 1000.0
MARGIN = 20.0
LETTER = 6.9  # more than letters of 12 points are wide in any common face
PROSE = 17.0
WRAP = int((WIDTH - 2 * MARGIN) / LETTER)


class Item(Protocol):
    """Something with a width, drawn at a place of the line on which it comes to lie."""

    @property
    def width(self) -> float:
        """Returns how much of a line it takes."""

    def at(self, across: float, middle: float) -> Iterator[Element]:
        """Yields its shapes."""


@dataclass(slots=True)
class Column:
    """What is on the page so far, and how far down it reaches."""

    bottom: float = MARGIN
    shapes: list[Element] = field(default_factory=list)

    def band(self, height: float) -> float:
        """Returns the top of a new band below all others."""
        top = self.bottom
        self.bottom += height
        return top

    def add(self, shapes: Iterable[Element]) -> None:
        """Puts shapes on the page, above those that are there."""
        self.shapes.extend(shapes)

    def prose(self, words: str, css: str = "") -> None:
        """Writes a text in as many lines as it needs."""
        for line in textwrap.wrap(words, WRAP):
            foot = self.band(PROSE) + 0.75 * PROSE
            self.add([text(line, css, x=MARGIN, y=foot)])

    def flow(self, items: Iterable[Item], height: float = PROSE) -> None:
        """Sets items side by side, on new lines where one is full."""
        for line in _lines(items):
            middle = self.band(height) + height / 2
            across = MARGIN
            for item in line:
                self.add(item.at(across, middle))
                across += item.width


def _lines(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yields the items that fit on a line together."""
    line: list[Item] = []
    taken = MARGIN
    for item in items:
        if line and taken + item.width > WIDTH - MARGIN:
            yield line
            line, taken = [], MARGIN
        line.append(item)
        taken += item.width
    if line:
        yield line
