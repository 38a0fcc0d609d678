"""Rows as marks on the page: how long, with the label where it has room, on which line.

    line 1        [==== a row ====]
    line 0   [====] a short row      [==== a later row ====]

Marks of one line never touch, their labels included. A mark is drawn as a bar or a dot,
with a notch at the row's own time. Meetings are links from a left row to a right one,
at the moment at which both live; links that would lie upon each other stand side by
side.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from xml.etree.ElementTree import Element, SubElement

from dovetail import spec
from dovetail.conformance.oracle import Axis, Meeting, RowOutcome, TracedRow
from dovetail.draw import shapes
from dovetail.draw.labels import Label, whole_row
from dovetail.draw.scale import Scale, is_simply_there

LINE = 22.0
THICK = 17.0
DOT = 5.0
# A shorter bar would be no longer than it is thick: it is drawn as a dot.
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
    page. `lives` are the places of its lives where it has more than one, `unmatched`
    those in which it met nobody.
    """

    number: int
    row: TracedRow
    start: float
    stop: float
    label: Label
    own: float = 0
    lives: tuple[Places, ...] = ()
    unmatched: tuple[Places, ...] = ()
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
    mark = Mark(number, row, 0, 0, label)
    if is_simply_there(row) or not row.has_life:
        return _labelled(_dot(mark, scale.place(row.at)), scale)
    start, stop = scale.place(row.birth), scale.place(row.death)
    if stop - start < SHORTEST:
        mark = _dot(mark, start)
    else:
        has_several = len(row.lives) > 1
        mark = replace(
            mark,
            start=start,
            stop=stop,
            lives=_places(row.lives, scale) if has_several else (),
            unmatched=_places(row.unmatched_lives, scale) if has_several else (),
            comes_from_before=row.birth < scale.first,
            goes_on=row.death > scale.last,
        )
    # A notch tells the row's own time where it is not its birth, nor within the dot.
    own = scale.place(row.at)
    is_told = scale.shows(row.at) and row.at != row.birth
    is_apart = not mark.is_dot or abs(own - mark.middle) > DOT
    return _labelled(replace(mark, own=own, has_notch=is_told and is_apart), scale)


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


def _labelled(mark: Mark, scale: Scale) -> Mark:
    """Returns the mark with its label inside it, behind it, before it: as it fits."""
    # Inside it would lie upon the gaps between several lives.
    is_whole = not mark.is_dot and not mark.lives
    if is_whole and mark.label.width + 2 * INSET <= mark.stop - mark.start:
        return replace(mark, label_at=mark.start + INSET)
    stop = max(mark.stop, mark.own + NOTCH) if mark.has_notch else mark.stop
    behind = scale.stop - stop - GAP
    start = min(mark.start, mark.own - NOTCH) if mark.has_notch else mark.start
    before = start - GAP - scale.start
    # Behind, where it fits: before a bar a label would be taken for that of another.
    if mark.label.width <= behind or behind >= before:
        label = mark.label.within(behind)
        return replace(mark, label=label, label_at=stop + GAP / 2)
    label = mark.label.within(before)
    return replace(mark, label=label, label_at=start - GAP / 2 - label.width)


def on_lines(marks: Iterable[Mark]) -> list[Mark]:
    """Returns the marks, each on the first line where it touches no other."""
    # How far each line is taken: marks come from left to right.
    ends: list[float] = []
    placed: list[Mark] = []
    for mark in sorted(marks, key=lambda one: (one.reach[0], one.number)):
        left, right = mark.reach
        line = next((at for at, end in enumerate(ends) if end + GAP <= left), len(ends))
        ends[line : line + 1] = [right]  # replaces the end of a line, or adds a line
        placed.append(replace(mark, line=line))
    return placed


def lines_of(marks: Sequence[Mark]) -> int:
    """Returns how many lines marks take."""
    return max((mark.line + 1 for mark in marks), default=0)


POINTED = 7.0
BASELINE = 3.8  # from the middle of a line to the foot of its letters
CLASSES = {
    RowOutcome.MATCHED: "matched",
    RowOutcome.UNMATCHED: "unmatched",
    RowOutcome.OPEN: "open",
    RowOutcome.LATE: "late",
}


def drawn(mark: Mark, middle: float, axis: Axis) -> Element:
    """Returns a mark on a line, whose middle is at a height."""
    css = f"row {mark.row.hand.value} {CLASSES[mark.row.outcome]}"
    parts = [_body(mark, middle), *_notch(mark, middle)]
    if not mark.is_labelled_inside:
        # Ground of its own, so that no link runs through the words.
        ground = shapes.shape(
            "rect",
            "ground",
            x=mark.label_at - 1,
            y=middle - THICK / 2,
            width=mark.label.width + 2,
            height=THICK,
        )
        parts.append(ground)
    parts.append(label_text(mark.label, mark.label_at, middle))
    row = shapes.group(css, parts, data_row=str(mark.number))
    return shapes.titled(row, whole_row(mark.row, axis))


def label_text(label: Label, across: float, middle: float) -> Element:
    """Returns a label as a line of text, its reason set apart."""
    words = shapes.text(label.values, "label", x=across, y=middle + BASELINE)
    if label.reason:
        reason = SubElement(words, "tspan", {"class": "reason"})
        reason.text = shapes.sayable(
            f" {label.reason}" if label.values else label.reason
        )
    return words


def _body(mark: Mark, middle: float) -> Element:
    """Returns a bar, pointed where it goes on beyond the page; a dot; or a cross."""
    if mark.row.outcome is RowOutcome.LATE:
        return cross(mark.middle, middle)
    if mark.is_dot:
        return dot(mark.middle, middle)
    if not mark.lives:
        return bar((mark.start, mark.stop), middle, mark)
    # Several lives are tied by one line, hollow where the row met nobody.
    parts = [_line((mark.start, mark.stop), middle)]
    for life in mark.lives:
        css = "life hollow" if life in mark.unmatched else "life"
        start, stop = life
        is_short = stop - start < SHORTEST
        body = dot(start, middle) if is_short else bar(life, middle, mark)
        parts.append(shapes.group(css, [body]))
    return shapes.group("lives", parts)


def dot(across: float, middle: float) -> Element:
    """Returns the sign of a row that is alive at one moment."""
    return shapes.shape("circle", "dot", cx=across, cy=middle, r=DOT - 0.5)


def _line(ends: tuple[float, float], middle: float) -> Element:
    """Returns a thin line between two places."""
    return shapes.shape("line", "bar", x1=ends[0], x2=ends[1], y1=middle, y2=middle)


def bar(ends: tuple[float, float], middle: float, mark: Mark) -> Element:
    """Returns a bar between two places."""
    (start, stop), half = ends, THICK / 2
    before = POINTED if mark.comes_from_before else 0
    behind = POINTED if mark.goes_on else 0
    corners = [
        (start + before, middle - half),
        (stop - behind, middle - half),
        *([(stop, middle)] if behind else []),
        (stop - behind, middle + half),
        (start + before, middle + half),
        *([(start, middle)] if before else []),
    ]
    return shapes.path(corners, "bar", closed=True)


def cross(across: float, middle: float) -> Element:
    """Returns the sign of a row that takes no part."""
    near, far = across - DOT + 1, across + DOT - 1
    up, down = middle - DOT + 1, middle + DOT - 1
    start, stop, top, foot = map(shapes.written, (near, far, up, down))
    strokes = f"M{start} {top} L{stop} {foot} M{start} {foot} L{stop} {top}"
    return shapes.shape("path", "cross", d=strokes)


def _notch(mark: Mark, middle: float) -> list[Element]:
    """Returns a notch at the row's own time: on the outer edge, or tied to the bar."""
    if not mark.has_notch:
        return []
    across = mark.own
    # The outer edge: links come to the inner one.
    out = -1 if mark.row.hand is spec.Hand.LEFT else 1
    if not mark.start <= across <= mark.stop:
        near = mark.start if across < mark.start else mark.stop
        return [
            _line((across, near), middle),
            _arrow(across, middle + out * NOTCH, out),
        ]
    return [_arrow(across, middle + out * THICK / 2, out)]


def _arrow(across: float, edge: float, out: int) -> Element:
    """Returns an arrowhead that points at the middle of the page."""
    corners = [
        (across - NOTCH, edge),
        (across + NOTCH, edge),
        (across, edge - out * 1.4 * NOTCH),
    ]
    return shapes.path(corners, "notch", closed=True)


def height_of(line: int, hand: spec.Hand, edge: float) -> float:
    """Returns the middle of a line; lines count away from the middle of the page."""
    away = (line + 0.5) * LINE
    return edge - away if hand is spec.Hand.LEFT else edge + away


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
        # In the order of meetings, so that who met first has the place of the meeting,
        # and those behind move aside.
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
        start, stop, middle = map(shapes.written, (above, below, (top + bottom) / 2))
        begin = f"M{start} {shapes.written(top)}"
        end = f"{stop} {shapes.written(bottom)}"
        # A curve, but for ends that are above each other.
        curve = f"C{start} {middle} {stop} {middle} {end}"
        steps = f"L{end}" if abs(above - below) < 1 else curve
        line = shapes.shape("path", css, d=f"{begin} {steps}")
        ends = [
            shapes.shape("circle", "end", cx=across, cy=height, r="2.4")
            for across, height in ((above, top), (below, bottom))
        ]
        facts = {"data_left": str(meeting.left), "data_right": str(meeting.right)}
        return shapes.group("meeting", [line, *ends], **facts)

    def _places(self, rows: Sequence[Mark], moment: float) -> tuple[float, float]:
        """Returns where a link leaves the left row and where it reaches the right."""
        ones, others = (ends(row, self.scale.place(moment)) for row in rows)
        shared = max(ones[0], others[0]), min(ones[1], others[1])
        # Who never live at once, as in an asof, are linked askew.
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
    # Of several lives only the moment itself is surely one of them.
    return (inside, inside) if mark.lives else (inside, mark.stop)


def _half(mark: Mark) -> float:
    """Returns how far a mark reaches from the middle of its line."""
    return DOT if mark.is_dot else THICK / 2
