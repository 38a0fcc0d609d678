"""A traced play laid out across the page: every row with its place and its label."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dovetail.conformance.oracle import Axis, Trace, TracedRow
from dovetail.draw.bars import height_of
from dovetail.draw.labels import Label, label_of
from dovetail.draw.lane import Lane, Placeless
from dovetail.draw.marks import Mark, has_place, mark_of, on_lines
from dovetail.draw.page import MARGIN, WIDTH
from dovetail.draw.scale import Scale, scale_of
from dovetail.draw.words import keys_of, lanes_of, times_of
from dovetail.spec.join import HANDS, Hand, JoinSpec
from dovetail.spec.play import Play

Numbered = tuple[int, TracedRow, Label]


@dataclass(frozen=True, slots=True)
class Sheet:
    """All that goes on the page; `condition` says on what rows meet."""

    join: JoinSpec
    trace: Trace
    scale: Scale
    condition: str
    lanes: Mapping[Hand, Lane]

    @classmethod
    def of(cls, play: Play, join: JoinSpec, trace: Trace) -> Sheet:
        """Returns the sheet of a traced play."""
        scale = scale_of(trace, MARGIN, WIDTH - MARGIN)
        words = lanes_of(play, join)
        lanes = {}
        for hand in HANDS:
            heading = f"{hand.value}: {words[hand.value]}"
            rows = list(_labelled(play, join, trace, hand))
            lanes[hand] = _lane(trace, scale, hand, heading, rows)
        return cls(join, trace, scale, words["join"].partition(", ")[2], lanes)

    @property
    def marks(self) -> list[Mark]:
        """Returns the marks of both lanes."""
        return [mark for lane in self.lanes.values() for mark in lane.marks]

    def heights(self, edges: Mapping[Hand, float]) -> dict[int, float]:
        """Returns the middle of each mark's line, where the lanes' edges are."""
        return {
            mark.number: height_of(mark.line, hand, edges[hand])
            for hand, lane in self.lanes.items()
            for mark in lane.marks
        }


def _labelled(
    play: Play, join: JoinSpec, trace: Trace, hand: Hand
) -> Iterator[Numbered]:
    """Yields the rows of a side with their numbers and labels."""
    keys, times = keys_of(join, hand), times_of(play, join, hand)
    for number, row in enumerate(trace.rows):
        if row.hand is hand:
            yield number, row, label_of(row, keys, times)


def _lane(
    trace: Trace, scale: Scale, hand: Hand, heading: str, rows: list[Numbered]
) -> Lane:
    """Returns the lane of a side."""
    marks = [mark_of(*row, scale) for row in rows if has_place(row[1])]
    beside = [Placeless(*row, trace.axis) for row in rows if not has_place(row[1])]
    bound = dict(trace.bounds)[hand]
    is_shown = trace.axis is Axis.ROW_TIME and scale.shows(bound)
    lane = Lane(hand, heading, on_lines(marks), beside, trace.axis)
    return replace(lane, bound=bound) if is_shown else lane
