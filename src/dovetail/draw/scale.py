"""From moments to places on the page, and what part of time the page shows."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from dovetail.conformance.oracle import Axis, Trace, TracedRow

LEAST_REACH = 1.25
FEW = 60
BORDER = 0.02
SECOND = 1_000_000


@dataclass(frozen=True, slots=True)
class Scale:
    """The moments from `first` to `last` lie between two places on the page."""

    first: float
    last: float
    start: float
    stop: float

    def place(self, moment: float) -> float:
        """Returns the place of a moment, at the edge where the page does not reach."""
        inside = min(max(moment, self.first), self.last)
        part = (inside - self.first) / (self.last - self.first)
        return self.start + part * (self.stop - self.start)

    def shows(self, moment: float) -> bool:
        """Tells whether the page reaches a moment."""
        return self.first <= moment <= self.last


def scale_of(trace: Trace, start: float, stop: float) -> Scale:
    """Returns the scale on which all rows stand, with as much of their lives as fits.

    Lives far longer than the time between rows go on beyond the edge; else all rows
    would be drawn at one place. A few rows may be: they need little room.
    """
    places = _finite(row.at for row in trace.rows)
    births = _finite(row.birth for row in trace.rows if row.has_life)
    deaths = _finite(row.death for row in trace.rows if row.has_life)
    bounds = _finite(bound for _, bound in trace.bounds if trace.axis is Axis.ROW_TIME)
    inner = places or [*births, *deaths, *bounds] or [0.0]
    times = max(FEW / max(len(trace.rows), 1), LEAST_REACH)
    reach = times * (max(inner) - min(inner)) or math.inf
    first, last = min(inner) - reach, max(inner) + reach
    seen = [
        *inner,
        *(one for one in [*births, *deaths, *bounds] if first <= one <= last),
    ]
    return _bordered(min(seen), max(seen), trace, (start, stop))


def _bordered(
    first: float, last: float, trace: Trace, edges: tuple[float, float]
) -> Scale:
    """Returns the scale with room at both ends: one step where rows are counted."""
    if trace.axis is Axis.ARRIVAL:
        has_state = any(math.isinf(row.at) and row.has_life for row in trace.rows)
        return Scale(first - (1 if has_state else 0.5), last + 1, *edges)
    room = BORDER * (last - first) or (SECOND if trace.axis.is_time else 1)
    return Scale(first - room, last + room, *edges)


def _finite(moments: Iterable[float]) -> list[float]:
    """Returns the moments that have a place in time."""
    return [moment for moment in moments if math.isfinite(moment)]


def is_simply_there(row: TracedRow) -> bool:
    """Tells whether a row has no beginning and no end but a place of its own."""
    is_endless = math.isinf(row.birth) and math.isinf(row.death)
    return is_endless and math.isfinite(row.at)
