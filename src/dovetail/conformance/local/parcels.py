"""A play cut into parcels: what each side has to say between two positions.

Positions count the opening and the events from 0; what is there from the start comes
before them. A bound starts a new parcel, so that rows behind it are judged by it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from dovetail import spec
from dovetail.conformance.local.rows import BEFORE, Cargo
from dovetail.kernels.arrays.rows import (
    BEGINNING,
    MISSING,
    NEVER,
    Rows,
    Whole,
)
from dovetail.kernels.arrival.arrival import Parcel, Report, bad_intervals
from dovetail.kernels.lifetimes.calendar import shift
from dovetail.kernels.lifetimes.lives import NO_LIVES, Lives
from dovetail.plan.sides import input_of

News = Mapping[int, Lives]
"""What is told of lives by position."""
NO_NEWS: News = {}


@dataclass(frozen=True, slots=True)
class Promise:
    """What an input says of its time at a position: its bound, or that it has ended.

    On the event clock an end is a bound; on the others `stopped` says when it was. Of
    the rows of a join it says when lives end.
    """

    position: int
    bound: int
    stopped: int = NEVER
    lives: Lives = NO_LIVES


@dataclass(frozen=True, slots=True)
class Sender:
    """One side's rows and promises, ready to be sent in pieces."""

    number: int
    source: spec.Input
    clock: spec.Clock
    cargo: Cargo
    promises: tuple[Promise, ...]
    lives: News

    @classmethod
    def of(
        cls,
        play: spec.Play,
        join: spec.JoinSpec,
        hand: spec.Hand,
        cargo: Cargo,
        lives: News,
    ) -> Sender:
        """Returns the sender of one side."""
        source, number = input_of(join, hand, play.inputs), spec.HANDS.index(hand)
        told = [Promise(at, BEGINNING, lives=told) for at, told in lives.items()]
        promises = [*_promises(play, source, join.clock), *told]
        promises.sort(key=lambda one: one.position)
        return cls(number, source, join.clock, cargo, tuple(promises), lives)

    def opening(self) -> Parcel:
        """Returns what is there from the start; nothing follows in a data set."""
        rows = self.cargo.between(MISSING, 0)
        parcel = self._parcel(rows, BEFORE)
        if self.source.kind is not spec.InputKind.DATASET:
            return parcel
        return Parcel(replace(parcel.report, bound=NEVER), rows)

    def between(self, first: int, past: int, most: int) -> Iterator[Parcel]:
        """Gives parcels of at most so many rows, and one for each promise."""
        start = first
        for promise in self.promises:
            if first <= promise.position < past:
                yield from self._rows(start, promise.position, most)
                yield self._promise(promise)
                start = promise.position
        yield from self._rows(start, past, most)

    def everything(self) -> Parcel:
        """Returns all rows as one parcel behind which nothing follows."""
        rows = self.cargo.rows
        parcel = self._parcel(rows, BEFORE)
        return Parcel(replace(parcel.report, bound=NEVER), parcel.rows)

    def _rows(self, first: int, past: int, most: int) -> Iterator[Parcel]:
        """Gives the rows between two positions."""
        rows = self.cargo.between(first, past)
        for start in range(0, len(rows), most):
            part = rows.take(slice(start, start + most))
            yield self._parcel(part, int(part.place[0]))

    def _promise(self, promise: Promise) -> Parcel:
        """Returns a promise as a parcel without rows."""
        report = Report(
            self.number,
            promise.position,
            promise.bound,
            BEGINNING,
            seen=False,
            stopped=promise.stopped,
        )
        return Parcel(report, self.cargo.rows.take(slice(0, 0)), promise.lives)

    def _parcel(self, rows: Rows, position: int) -> Parcel:
        """Returns rows with what they say about their side's time.

        Rows behind what the parcel itself has seen are marked as late.
        """
        rows = self._with_open_times(rows)
        told = rows.moment.copy()
        told[(rows.moment == MISSING) | bad_intervals(rows)] = BEGINNING
        bounds = shift(told, self.source.lateness.negated())
        late = (rows.moment < _before(bounds)) & ~rows.from_start
        late &= ~rows.open_time & (rows.moment != MISSING)
        report = Report(
            self.number,
            position,
            int(bounds.max(initial=BEGINNING)),
            int(told.max(initial=BEGINNING)),
            seen=bool(len(rows)),
        )
        return Parcel(report, rows.with_flags(late=rows.late | late))

    def _with_open_times(self, rows: Rows) -> Rows:
        """Returns the rows; deletes without a time have the newest in the parcel."""
        is_open = rows.open_time & rows.removes
        newest = _before(np.where(rows.moment == MISSING, BEGINNING, rows.moment))
        return rows.with_arrays(moment=np.where(is_open, newest, rows.moment))


def _promises(
    play: spec.Play, source: spec.Input, clock: spec.Clock
) -> Iterator[Promise]:
    """Gives the bounds and ends of an input by position."""
    for position, event in enumerate((*play.opening, *play.events)):
        match event:
            case spec.Bound(name, moment) if name == source.name:
                yield Promise(position, moment)
            case spec.Finish(name, now) if name == source.name:
                ends = clock is spec.Clock.EVENT
                bound = NEVER if ends else BEGINNING
                yield Promise(position, bound, NEVER if ends else now)
            case _:
                pass


def _before(values: Whole) -> Whole:
    """Returns for each value the greatest before it."""
    reached = np.maximum.accumulate(np.concatenate(([BEGINNING], values)))
    return reached[:-1]
