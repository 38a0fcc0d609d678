"""A traced play laid out across the page: a lane a side, mirrored about the middle.

left lane     heading, rows without a place, bound, rows
the middle, where links cross
right lane    rows, bound, rows without a place, heading
legend        a sample and a word for each sign that is on the page, and no other
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import inf, isfinite
from xml.etree.ElementTree import Element

from dovetail import spec
from dovetail.conformance.oracle import Axis, RowOutcome, Trace, TracedRow
from dovetail.draw import labels, marks, shapes
from dovetail.draw.scale import Scale, moment_words, scale_of


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that goes on the page; `condition` says on what rows meet."""

    join: spec.JoinSpec
    trace: Trace
    scale: Scale
    condition: str
    lanes: Mapping[spec.Hand, Lane]

    @classmethod
    def of(cls, play: spec.Play, join: spec.JoinSpec, trace: Trace) -> Sheet:
        """Returns the sheet of a traced play."""
        # One scale for both lanes: rows of one time stand above each other.
        scale = scale_of(trace, shapes.MARGIN, shapes.WIDTH - shapes.MARGIN)
        words = labels.lanes_of(play, join)
        lanes = {}
        for hand in spec.HANDS:
            keys, times = labels.keys_of(join, hand), labels.times_of(play, join, hand)
            rows = [
                (number, row, labels.label_of(row, keys, times))
                for number, row in enumerate(trace.rows)
                if row.hand is hand
            ]
            bound = dict(trace.bounds)[hand]
            # A bound is a row time: on another axis it has no place.
            is_shown = trace.axis is Axis.ROW_TIME and scale.shows(bound)
            lanes[hand] = Lane(
                hand,
                f"{hand.value}: {words[hand.value]}",
                marks.on_lines(
                    marks.mark_of(*row, scale)
                    for row in rows
                    if marks.has_place(row[1])
                ),
                [
                    Placeless(*row, trace.axis)
                    for row in rows
                    if not marks.has_place(row[1])
                ],
                trace.axis,
                bound if is_shown else inf,
            )
        return cls(join, trace, scale, words["join"].partition(", ")[2], lanes)

    @property
    def marks(self) -> list[marks.Mark]:
        """Returns the marks of both lanes."""
        return [mark for lane in self.lanes.values() for mark in lane.marks]

    def heights(self, edges: Mapping[spec.Hand, float]) -> dict[int, float]:
        """Returns the middle of each mark's line, where the lanes' edges are."""
        return {
            mark.number: marks.height_of(mark.line, hand, edges[hand])
            for hand, lane in self.lanes.items()
            for mark in lane.marks
        }


STRIP = 18.0
BEYOND = 9.0  # a bound reaches out of its lane, lest bars hide all of it


@dataclass(frozen=True, slots=True)
class Placeless:
    """A row that stands nowhere on the axis, in the list beside the lane."""

    number: int
    row: TracedRow
    label: labels.Label
    axis: Axis

    @property
    def width(self) -> float:
        """Returns the room of its sign, its label and the space behind it."""
        return 4 * marks.DOT + self.label.width + 2 * marks.DOT

    def at(self, across: float, middle: float) -> Iterator[Element]:
        """Yields its sign and its label."""
        css = f"row {self.row.hand.value} {marks.CLASSES[self.row.outcome]}"
        sign = marks.dot(across + marks.DOT, middle)
        if self.row.outcome is RowOutcome.LATE:
            sign = marks.cross(across + marks.DOT, middle)
        place = across + 3 * marks.DOT
        words = marks.label_text(self.label, place, middle)
        row = shapes.group(css, [sign, words], data_row=str(self.number))
        yield shapes.titled(row, labels.whole_row(self.row, self.axis))


@dataclass(frozen=True, slots=True)
class Lane:
    """One side: its heading, its marks on their lines, its rows without a place.

    `bound` is infinite where it is not on the page.
    """

    hand: spec.Hand
    heading: str
    marks: Sequence[marks.Mark]
    placeless: Sequence[Placeless]
    axis: Axis
    bound: float = inf

    @property
    def height(self) -> float:
        """Returns the height of its lines."""
        return max(marks.lines_of(self.marks), 1) * marks.LINE

    @property
    def shows_bound(self) -> bool:
        """Tells whether its bound stands on the page."""
        return isfinite(self.bound)

    def write_heading(self, column: shapes.Column) -> None:
        """Writes what the side is, and lists the rows that have no place."""
        # The lanes are mirrored: the list is always next to the rows.
        if self.hand is spec.Hand.RIGHT:
            column.flow(self.placeless, marks.LINE)
        column.prose(self.heading, f"lane {self.hand.value}")
        if self.hand is spec.Hand.LEFT:
            column.flow(self.placeless, marks.LINE)

    def rows(self, edge: float) -> list[Element]:
        """Returns the rows of the lane, which grows away from its edge."""
        return [
            marks.drawn(mark, marks.height_of(mark.line, self.hand, edge), self.axis)
            for mark in self.marks
        ]

    def bound_line(self, top: float, strip: float, scale: Scale) -> Iterator[Element]:
        """Yields the bound, if it stands on the page: a line, and its time."""
        if not self.shows_bound:
            return
        across = scale.place(self.bound)
        words = f"bound {moment_words(self.axis, self.bound)}"
        # Words that would run off the page stand before the line.
        is_far = across + len(words) * shapes.LETTER > scale.stop
        ends = {"y1": top - BEYOND, "y2": top + self.height + BEYOND}
        yield shapes.shape("line", "bound", x1=across, x2=across, **ends)
        yield shapes.text(
            words,
            "promise",
            x=across - 4 if is_far else across + 4,
            y=strip + 0.7 * STRIP,
            text_anchor="end" if is_far else "start",
        )


SAMPLE = 24.0
SPACE = 16.0
LONG, HIGH = 16.0, 12.0


@dataclass(frozen=True, slots=True)
class Sample:
    """A sign with its meaning; the sign stands around the origin."""

    sign: Element
    words: str

    @property
    def width(self) -> float:
        """Returns the room of the sign, the words and the space behind them."""
        return SAMPLE + len(self.words) * shapes.LETTER + SPACE

    def at(self, across: float, middle: float) -> Iterator[Element]:
        """Yields the sign and the words beside it."""
        moved = f"translate({across + SAMPLE / 2 - 4:.1f} {middle:.1f})"
        yield shapes.group("sign", [self.sign], transform=moved)
        yield shapes.text(
            self.words, "quiet", x=across + SAMPLE, y=middle + marks.BASELINE
        )


def legend(sheet: Sheet) -> Iterator[Sample]:
    """Yields a sample of every sign on the page."""
    trace, join = sheet.trace, sheet.join
    edge, half = LONG / 2, HIGH / 2
    box = [(-edge, -half), (edge, -half), (edge, half), (-edge, half)]
    for hand in spec.HANDS:
        found = {row.outcome for row in trace.rows if row.hand is hand}
        # Late rows have one sign on both sides.
        for outcome in RowOutcome:
            if outcome in found and outcome is not RowOutcome.LATE:
                css = f"row {hand.value} {marks.CLASSES[outcome]}"
                bar = shapes.path(box, "bar", closed=True)
                yield Sample(
                    shapes.group(css, [bar]), outcome_meaning(join, hand, outcome)
                )
    if any(row.outcome is RowOutcome.LATE for row in trace.rows):
        yield Sample(
            shapes.group("late", [marks.cross(0, 0)]),
            "too late or faulty: takes no part",
        )
    yield from _of_marks(sheet.marks)
    outcomes = {meeting.comes_out for meeting in trace.meetings}
    if True in outcomes:
        yield Sample(_upright("link"), "they meet: a pair comes out")
    if False in outcomes:
        # What a semi join finds is no pair, whatever becomes of its row.
        told = "has come out" if join.kind.gives_pairs else "comes out"
        yield Sample(_upright("link silent"), f"they meet: no pair {told}")
    if any(lane.shows_bound for lane in sheet.lanes.values()):
        yield Sample(_upright("bound"), "bound: what is older comes too late")


def outcome_meaning(join: spec.JoinSpec, hand: spec.Hand, outcome: RowOutcome) -> str:
    """Returns what an outcome means for the rows of a side."""
    match outcome:
        case RowOutcome.UNMATCHED:
            comes_out = join.kind.preserves(hand)
            told = "comes out" if comes_out else "does not come out"
            return f"{hand.value}, unmatched: {told}"
        case RowOutcome.OPEN:
            return f"{hand.value}, a partner may still come"
        case _:
            return f"{hand.value}, {outcome.value}"


def _of_marks(laid: Sequence[marks.Mark]) -> Iterator[Sample]:
    """Yields the signs that tell of the shape of a life."""
    if any(mark.is_dot and mark.row.outcome is not RowOutcome.LATE for mark in laid):
        moment = shapes.shape("circle", "sample", cx=0, cy=0, r=marks.DOT - 0.5)
        yield Sample(moment, "at one moment only")
    if any(mark.goes_on or mark.comes_from_before for mark in laid):
        half = HIGH / 2
        # As a bar is drawn that the page cuts off, on its right.
        near, far = [(-LONG / 2, -half), (0, -half)], [(0, half), (-LONG / 2, half)]
        pointed = shapes.path([*near, (LONG / 2, 0), *far], "sample", closed=True)
        yield Sample(pointed, "goes on beyond the page")
    if any(mark.has_notch for mark in laid):
        notch = shapes.path([(-4, -3), (4, -3), (0, 3)], "sample filled", closed=True)
        yield Sample(notch, "the row's own time")


def _upright(css: str) -> Element:
    """Returns a short upright line."""
    return shapes.shape("line", css, x1=0, y1=-HIGH / 2 - 1, x2=0, y2=HIGH / 2 + 1)
