"""A join as a batch: all rows at once, and the order in which they come out."""

from __future__ import annotations

from functools import partial

from dovetail.conformance.local.cargo import Cargo
from dovetail.conformance.local.outlets import Line, lines
from dovetail.conformance.local.stage import InPlace, Stage
from dovetail.spec.inputs import Outlet

_NEVER = float("inf")


def batch_lines(stage: Stage) -> list[Line]:
    """Returns what comes out of a batch, in the order of the left rows.

    What takes no part comes before all.
    """
    stepped = InPlace(stage).step(stage.everything(), 0)
    found = list(lines(stepped.out))
    late = [line for line in found if line.outlet is Outlet.LATE]
    others = [line for line in found if line.outlet is not Outlet.LATE]
    return [
        *sorted(late, key=partial(_came, stage.cargoes)),
        *sorted(others, key=_place),
    ]


def by_row_time(line: Line) -> float:
    """Returns what the order by row time looks at."""
    return _or(line.row_time, _NEVER)


def _came(cargoes: tuple[Cargo, Cargo], line: Line) -> tuple[int, int]:
    """Returns the order in which rows came: data sets side by side, then by event."""
    hand, number = (1, line.right) if line.left is None else (0, line.left)
    place = int(cargoes[hand].rows.place[number])
    return (hand if place < 0 else len(cargoes)), place


def _place(line: Line) -> tuple[float, float, float]:
    """Returns the order of left rows, for each that of its right rows, then of time."""
    left, right = (_or(one, _NEVER) for one in (line.left, line.right))
    return left, right, _or(line.row_time, _NEVER)


def _or(number: int | None, otherwise: float) -> float:
    """Returns a number, or what stands for none."""
    return otherwise if number is None else number
