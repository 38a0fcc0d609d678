"""The legend: a sample and a word for each sign that is on the page, and no other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from dovetail.conformance.oracle import RowOutcome, Trace
from dovetail.draw.bars import BASELINE, CLASSES, cross
from dovetail.draw.marks import DOT, Mark
from dovetail.draw.page import LETTER
from dovetail.draw.shapes import group, path, shape, text
from dovetail.draw.sheet import Sheet
from dovetail.spec.join import HANDS, Hand, JoinSpec, Kind

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
        return SAMPLE + len(self.words) * LETTER + SPACE

    def at(self, across: float, middle: float) -> Iterator[Element]:
        """Yields the sign and the words beside it."""
        moved = f"translate({across + SAMPLE / 2 - 4:.1f} {middle:.1f})"
        yield group("sign", [self.sign], transform=moved)
        yield text(self.words, "quiet", x=across + SAMPLE, y=middle + BASELINE)


def legend(sheet: Sheet) -> Iterator[Sample]:
    """Yields a sample of every sign on the page."""
    trace, join = sheet.trace, sheet.join
    for hand in HANDS:
        fates = {row.outcome for row in trace.rows if row.hand is hand}
        for fate in RowOutcome:
            if fate in fates and fate is not RowOutcome.LATE:
                yield Sample(_row_sign(hand, fate), fate_meaning(join, hand, fate))
    if any(row.outcome is RowOutcome.LATE for row in trace.rows):
        yield Sample(group("late", [cross(0, 0)]), "too late or faulty: takes no part")
    yield from _of_marks(sheet.marks)
    yield from _of_meetings(trace, join.kind)
    if any(lane.shows_bound for lane in sheet.lanes.values()):
        yield Sample(_upright("bound"), "bound: what is older comes too late")


def fate_meaning(join: JoinSpec, hand: Hand, fate: RowOutcome) -> str:
    """Returns what a fate means for the rows of a side."""
    match fate:
        case RowOutcome.UNMATCHED:
            comes_out = join.kind.preserves(hand)
            told = "comes out" if comes_out else "does not come out"
            return f"{hand.value}, unmatched: {told}"
        case RowOutcome.OPEN:
            return f"{hand.value}, a partner may still come"
        case _:
            return f"{hand.value}, {fate.value}"


def _of_marks(marks: Sequence[Mark]) -> Iterator[Sample]:
    """Yields the signs that tell of the shape of a life."""
    if any(mark.is_dot and mark.row.outcome is not RowOutcome.LATE for mark in marks):
        dot = shape("circle", "sample", cx=0, cy=0, r=DOT - 0.5)
        yield Sample(dot, "at one moment only")
    if any(mark.goes_on or mark.comes_from_before for mark in marks):
        yield Sample(_pointed(), "goes on beyond the page")
    if any(mark.has_notch for mark in marks):
        notch = path([(-4, -3), (4, -3), (0, 3)], "sample filled", closed=True)
        yield Sample(notch, "the row's own time")


def _of_meetings(trace: Trace, kind: Kind) -> Iterator[Sample]:
    """Yields the signs of rows that meet."""
    outcomes = {meeting.comes_out for meeting in trace.meetings}
    if True in outcomes:
        yield Sample(_upright("link"), "they meet: a pair comes out")
    if False in outcomes:
        told = "no pair has come out" if kind.gives_pairs else "no pair comes out"
        yield Sample(_upright("link silent"), f"they meet: {told}")


def _row_sign(hand: Hand, fate: RowOutcome) -> Element:
    """Returns a small bar as a row of such a fate has it."""
    corners = [(-LONG / 2, -HIGH / 2), (LONG / 2, -HIGH / 2)]
    corners += [(across, -height) for across, height in reversed(corners)]
    css = f"row {hand.value} {CLASSES[fate]}"
    return group(css, [path(corners, "bar", closed=True)])


def _pointed() -> Element:
    """Returns a small bar that goes on."""
    edge, half = LONG / 2, HIGH / 2
    corners = [(-edge, -half), (0, -half), (edge, 0), (0, half), (-edge, half)]
    return path(corners, "sample", closed=True)


def _upright(css: str) -> Element:
    """Returns a short upright line."""
    return shape("line", css, x1=0, y1=-HIGH / 2 - 1, x2=0, y2=HIGH / 2 + 1)
