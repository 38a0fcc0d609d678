"""The lane of a side: its heading, its bound, its rows; mirrored about the middle.

left lane     heading, rows without a place, bound, rows
              the middle, where links cross
right lane    rows, bound, rows without a place, heading
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from xml.etree.ElementTree import Element

from dovetail.conformance.oracle import Axis, RowOutcome, TracedRow
from dovetail.draw.bars import CLASSES, cross, dot, drawn, height_of, label_text
from dovetail.draw.labels import Label
from dovetail.draw.marks import DOT, LINE, Mark, lines_of
from dovetail.draw.page import LETTER, Column
from dovetail.draw.scale import Scale
from dovetail.draw.shapes import group, shape, text, titled
from dovetail.draw.ticks import moment_words
from dovetail.draw.words import whole_row
from dovetail.spec.join import Hand

STRIP = 18.0
BEYOND = 9.0  # a bound reaches out of its lane, lest bars hide all of it


@dataclass(frozen=True, slots=True)
class Placeless:
    """A row that stands nowhere on the axis, in the list beside the lane."""

    number: int
    row: TracedRow
    label: Label
    axis: Axis

    @property
    def width(self) -> float:
        """Returns the room of its sign, its label and the space behind it."""
        return 4 * DOT + self.label.width + 2 * DOT

    def at(self, across: float, middle: float) -> Iterator[Element]:
        """Yields its sign and its label."""
        css = f"row {self.row.hand.value} {CLASSES[self.row.outcome]}"
        sign = dot(across + DOT, middle)
        if self.row.outcome is RowOutcome.LATE:
            sign = cross(across + DOT, middle)
        place = across + 3 * DOT
        words = label_text(self.label, place, middle)
        row = group(css, [sign, words], data_row=str(self.number))
        yield titled(row, whole_row(self.row, self.axis))


@dataclass(frozen=True, slots=True)
class Lane:
    """One side: its heading, its marks on their lines, and who has no place.

    `bound` is infinite where it is not on the page.
    """

    hand: Hand
    heading: str
    marks: Sequence[Mark]
    placeless: Sequence[Placeless]
    axis: Axis
    bound: float = inf

    @property
    def height(self) -> float:
        """Returns the height of its lines."""
        return max(lines_of(self.marks), 1) * LINE

    @property
    def shows_bound(self) -> bool:
        """Tells whether its bound stands on the page."""
        return isfinite(self.bound)

    def write_heading(self, column: Column) -> None:
        """Writes what the side is, and lists the rows that have no place."""
        parts = [self._write_words, self._write_placeless]
        for part in parts if self.hand is Hand.LEFT else reversed(parts):
            part(column)

    def _write_words(self, column: Column) -> None:
        """Writes the heading."""
        column.prose(self.heading, f"lane {self.hand.value}")

    def _write_placeless(self, column: Column) -> None:
        """Lists the rows that have no place on the axis."""
        column.flow(self.placeless, LINE)

    def rows(self, edge: float) -> list[Element]:
        """Returns the rows of the lane, which grows away from its edge."""
        return [
            drawn(mark, height_of(mark.line, self.hand, edge), self.axis)
            for mark in self.marks
        ]

    def promise(self, top: float, strip: float, scale: Scale) -> Iterator[Element]:
        """Yields the bound: a line through the lane, and its time."""
        if not self.shows_bound:
            return
        across = scale.place(self.bound)
        words = f"bound {moment_words(self.axis, self.bound)}"
        is_far = across + len(words) * LETTER > scale.stop
        ends = {"y1": top - BEYOND, "y2": top + self.height + BEYOND}
        yield shape("line", "bound", x1=across, x2=across, **ends)
        yield text(
            words,
            "promise",
            x=across - 4 if is_far else across + 4,
            y=strip + 0.7 * STRIP,
            text_anchor="end" if is_far else "start",
        )
