"""Meetings as links: from a left row to a right one, at the moment at which both live.

Links that would lie upon each other stand side by side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from dovetail.conformance.oracle import Meeting
from dovetail.draw.marks import DOT, THICK, Mark
from dovetail.draw.scale import Scale
from dovetail.draw.shapes import group, shape, written

BESIDE = 4.0


@dataclass(slots=True)
class Linking:
    """Draws the links of a picture; knows how many lie at each place already.

    `heights` are the middles of the marks' lines, by the number of the row.
    """

    scale: Scale
    marks: Mapping[int, Mark]
    heights: Mapping[int, float]
    taken: Counter[int] = field(default_factory=Counter)

    def all(self, meetings: Sequence[Meeting]) -> Iterator[Element]:
        """Yields every link whose rows are both on the page."""
        for meeting in meetings:
            if meeting.left in self.marks and meeting.right in self.marks:
                yield self._link(meeting)

    def _link(self, meeting: Meeting) -> Element:
        """Returns one link with its two ends."""
        left, right = self.marks[meeting.left], self.marks[meeting.right]
        above, below = self._places((left, right), meeting.moment)
        top = self.heights[meeting.left] + _half(left)
        bottom = self.heights[meeting.right] - _half(right)
        css = "link" if meeting.comes_out else "link silent"
        line = shape("path", css, d=_curve((above, top), (below, bottom)))
        ends = [
            shape("circle", "end", cx=across, cy=height, r="2.4")
            for across, height in ((above, top), (below, bottom))
        ]
        facts = {"data_left": str(meeting.left), "data_right": str(meeting.right)}
        return group("meeting", [line, *ends], **facts)

    def _places(self, rows: Sequence[Mark], moment: float) -> tuple[float, float]:
        """Returns where a link leaves the left row and where it reaches the right."""
        ones, others = (ends(row, self.scale.place(moment)) for row in rows)
        shared = max(ones[0], others[0]), min(ones[1], others[1])
        if shared[0] > shared[1]:
            return self._clear(ones), self._clear(others)
        place = self._clear(shared)
        return place, place

    def _clear(self, room: tuple[float, float]) -> float:
        """Returns the first place of a room that no link has taken, if there is one."""
        start, stop = room
        place = start + min(BESIDE, (stop - start) / 2)
        while self.taken[round(place / BESIDE)] and place + 2 * BESIDE <= stop:
            place += BESIDE
        self.taken[round(place / BESIDE)] += 1
        return place


def ends(mark: Mark, place: float) -> tuple[float, float]:
    """Returns between which places a link may touch a mark, from a place on."""
    if mark.is_dot:
        return mark.middle, mark.middle
    inside = min(max(place, mark.start), mark.stop)
    return (inside, inside) if mark.lives else (inside, mark.stop)


def _half(mark: Mark) -> float:
    """Returns how far a mark reaches from the middle of its line."""
    return DOT if mark.is_dot else THICK / 2


def _curve(start: tuple[float, float], stop: tuple[float, float]) -> str:
    """Returns a straight line, or a curve where the ends are not above each other."""
    (above, top), (below, bottom) = start, stop
    begin = f"M{written(above)} {written(top)}"
    if abs(above - below) < 1:
        return f"{begin} L{written(below)} {written(bottom)}"
    middle = written((top + bottom) / 2)
    return (
        f"{begin} C{written(above)} {middle} {written(below)} {middle} "
        f"{written(below)} {written(bottom)}"
    )
