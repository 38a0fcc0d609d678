"""Rows as marks on the page: how long, with the label where it has room, on which line.

    line 1        [==== a row ====]
    line 0   [====] a short row      [==== a later row ====]

Marks of one line never touch, their labels included.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dovetail.conformance.oracle import TracedRow
from dovetail.draw.labels import Label
from dovetail.draw.scale import Scale, is_simply_there

LINE = 22.0
THICK = 17.0
DOT = 5.0
SHORTEST = 9.0
GAP = 8.0
INSET = 9.0
Places = tuple[float, float]
NOTCH = 3.0


@dataclass(frozen=True, slots=True)
class Mark:
    """One row on the page, its bar between two places; a dot has them beside it.

    `own` is the place of the row's own time, which a notch tells where it is not the
    birth. `label_at` is where its label starts, `line` counts from the middle of the
    page. `lives` are the places of its lives where it has more than one, `lonely` those
    in which it met nobody.
    """

    number: int
    row: TracedRow
    start: float
    stop: float
    label: Label
    own: float = 0
    lives: tuple[Places, ...] = ()
    lonely: tuple[Places, ...] = ()
    label_at: float = 0
    line: int = 0
    comes_from_before: bool = False
    goes_on: bool = False
    is_dot: bool = False
    has_notch: bool = False

    @property
    def middle(self) -> float:
        """Returns the middle of the mark."""
        return (self.start + self.stop) / 2

    @property
    def is_labelled_inside(self) -> bool:
        """Tells whether the label stands within the bar."""
        return not self.is_dot and self.start < self.label_at < self.stop

    @property
    def reach(self) -> tuple[float, float]:
        """Returns from where to where the mark and its label take room."""
        end = self.label_at + self.label.width
        own = self.own if self.has_notch else self.start
        left = min(self.start, self.label_at, own - NOTCH)
        return left, max(self.stop, end, own + NOTCH)


def has_place(row: TracedRow) -> bool:
    """Tells whether a row stands anywhere on the axis."""
    return row.has_life or abs(row.at) != float("inf")


def mark_of(number: int, row: TracedRow, label: Label, scale: Scale) -> Mark:
    """Returns the mark of a row that has a place, with its label."""
    return _labelled(_bar_or_dot(Mark(number, row, 0, 0, label), scale), scale)


def _bar_or_dot(mark: Mark, scale: Scale) -> Mark:
    """Returns the mark with its places: a bar, or a dot where the life is too short."""
    row = mark.row
    if is_simply_there(row) or not row.has_life:
        return _dot(mark, scale.place(row.at))
    start, stop = scale.place(row.birth), scale.place(row.death)
    if stop - start < SHORTEST:
        return _with_own_time(_dot(mark, start), scale)
    has_several = len(row.lives) > 1
    bar = replace(
        mark,
        start=start,
        stop=stop,
        lives=_places(row.lives, scale) if has_several else (),
        lonely=_places(row.unmatched_lives, scale) if has_several else (),
        comes_from_before=row.birth < scale.first,
        goes_on=row.death > scale.last,
    )
    return _with_own_time(bar, scale)


def _with_own_time(mark: Mark, scale: Scale) -> Mark:
    """Returns the mark with a notch where the row's own time is not its birth."""
    place = scale.place(mark.row.at)
    is_told = scale.shows(mark.row.at) and mark.row.at != mark.row.birth
    is_apart = not mark.is_dot or abs(place - mark.middle) > DOT
    return replace(mark, own=place, has_notch=is_told and is_apart)


def _places(lives: Iterable[Places], scale: Scale) -> tuple[Places, ...]:
    """Returns the places of lives that begin on the page."""
    return tuple(
        (scale.place(birth), scale.place(death))
        for birth, death in lives
        if scale.shows(birth)
    )


def _dot(mark: Mark, middle: float) -> Mark:
    """Returns the mark as a dot around a place."""
    return replace(mark, start=middle - DOT, stop=middle + DOT, is_dot=True)


def _has_room(mark: Mark) -> bool:
    """Tells whether a mark is a bar, on which a label may stand."""
    return not mark.is_dot and not mark.lives


def _labelled(mark: Mark, scale: Scale) -> Mark:
    """Returns the mark with its label inside it, behind it, before it: as it fits."""
    if _has_room(mark) and mark.label.width + 2 * INSET <= mark.stop - mark.start:
        return replace(mark, label_at=mark.start + INSET)
    stop = max(mark.stop, mark.own + NOTCH) if mark.has_notch else mark.stop
    behind = scale.stop - stop - GAP
    start = min(mark.start, mark.own - NOTCH) if mark.has_notch else mark.start
    before = start - GAP - scale.start
    if mark.label.width <= behind or behind >= before:
        label = mark.label.within(behind)
        return replace(mark, label=label, label_at=stop + GAP / 2)
    label = mark.label.within(before)
    return replace(mark, label=label, label_at=start - GAP / 2 - label.width)


def on_lines(marks: Iterable[Mark]) -> list[Mark]:
    """Returns the marks, each on the first line where it touches no other."""
    ends: list[float] = []
    placed: list[Mark] = []
    for mark in sorted(marks, key=lambda one: (one.reach[0], one.number)):
        left, right = mark.reach
        line = next((at for at, end in enumerate(ends) if end + GAP <= left), len(ends))
        ends[line : line + 1] = [right]
        placed.append(replace(mark, line=line))
    return placed


def lines_of(marks: Sequence[Mark]) -> int:
    """Returns how many lines marks take."""
    return max((mark.line + 1 for mark in marks), default=0)
