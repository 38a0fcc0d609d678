"""A join as a batch: all rows at once, and the order in which they come out."""

from __future__ import annotations

from dovetail.kernels.pairs.leaving import Outlet
from dovetail.run.local.outlets import Line, lines
from dovetail.run.local.stage import InPlace, Stage

_NEVER = float("inf")


def batch_lines(stage: Stage) -> list[Line]:
    """Returns what comes out of a batch, in the order of the left rows."""
    stepped = InPlace(stage).step(stage.everything(), 0)
    return sorted(lines(stepped.out), key=_place)


def by_row_time(line: Line) -> float:
    """Returns what the order by row time looks at."""
    return _or(line.row_time, _NEVER)


def _place(line: Line) -> tuple[bool, float, float, float]:
    """Returns the order of left rows, for each that of its right rows, then of time.

    What takes no part comes before all, in the order in which it came.
    """
    if line.outlet == Outlet.LATE:
        return False, 0, 0, 0
    right, time = (_or(one, _NEVER) for one in (line.right, line.row_time))
    return True, _or(line.left, _NEVER), right, time


def _or(number: int | None, otherwise: float) -> float:
    """Returns a number, or what stands for none."""
    return otherwise if number is None else number
