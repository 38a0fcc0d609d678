"""What comes in a step, place by place: how far both bounds were behind each row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, MISSING, NEVER, Whole
from dovetail.kernels.arrival.arrival import Arrived, Parcel
from dovetail.kernels.lifetimes.calendar import shift
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.state import JoinState


@dataclass(frozen=True, slots=True)
class _Course:
    """How far a side's bound was behind each position; the first is before all."""

    position: Whole
    bound: Whole

    @classmethod
    def of(
        cls, parcels: list[Parcel], position: Whole, moved: Whole, before: int
    ) -> _Course:
        """Returns the course of a bound, by rows and by what tasks report."""
        last = [
            int(parcel.rows.place.max(initial=parcel.report.position))
            for parcel in parcels
        ]
        told = [parcel.report.bound for parcel in parcels]
        position = np.concatenate((position, np.array(last, np.int64)))
        moved = np.concatenate((moved, np.array(told, np.int64)))
        order = np.argsort(position, kind="stable")
        reached = np.maximum.accumulate(np.append(before, moved[order]))
        return cls(position[order], reached)

    def at(self, position: Whole) -> Whole:
        """Returns the bounds behind the rows at the positions."""
        found: Whole = self.bound[np.searchsorted(self.position, position, "right")]
        return found


@dataclass(frozen=True, slots=True)
class News:
    """The positions of all rows that came in a step, in order, and both courses.

    `since` is the place of the first of them.
    """

    position: Whole
    courses: tuple[_Course, _Course]
    since: int

    def bounds(self, place: Whole) -> tuple[Whole, Whole]:
        """Returns both sides' bounds behind the rows that came at these places.

        What they were behind rows that came before the step is not asked.
        """
        if not len(self.position):
            return np.full(len(place), BEGINNING), np.full(len(place), BEGINNING)
        position = self.position[np.maximum(place - self.since, 0)]
        left, right = (course.at(position) for course in self.courses)
        return left, right


_NOBODY = np.empty(0, np.int64)
_NOWHERE = _Course(_NOBODY, _NOBODY)
NO_NEWS = News(_NOBODY, (_NOWHERE, _NOWHERE), 0)
"""The news of a step after which nobody asks."""


def news_of(
    settings: JoinSettings,
    state: JoinState,
    parcels: list[Parcel],
    arrived: tuple[Arrived, Arrived],
) -> News:
    """Returns the news of a step."""
    left, right = (
        _Course.of(
            [parcel for parcel in parcels if parcel.report.hand == hand],
            came.on_time.place,
            np.where(
                came.on_time.moment == MISSING,
                BEGINNING,
                shift(came.on_time.moment, side.lateness.negated()),
            ),
            NEVER if side.static else watch.bound,
        )
        for hand, (side, came, watch) in enumerate(
            zip(settings.sides, arrived, state.watches, strict=True)
        )
    )
    position = np.sort(np.concatenate([came.on_time.place for came in arrived]))
    return News(position, (left, right), state.next_place)
