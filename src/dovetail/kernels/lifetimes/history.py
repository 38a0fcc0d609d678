"""Lives as they looked when a row came, before the rows behind it were known.

    place 1   version 10:00   [10:00 ..............
    place 2   version 10:05   [10:00 10:05)[10:05 ..
    place 3   version 10:02   [10:00 10:02)[.......

A row has one stage from its own place on, and one more from each place at which a row
comes that ends it, or lets it begin, earlier than was known. Only rows that stand so
few before a newcomer in its partition are touched by it, so stages are few.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays import search
from dovetail.kernels.arrays.rows import BEGINNING, MISSING, NEVER, Rows, Whole
from dovetail.kernels.arrays.sort import sorted_by
from dovetail.kernels.lifetimes.births import births, later_rows, own_deaths
from dovetail.kernels.lifetimes.successors import starts_of
from dovetail.kernels.settings import SideSettings


@dataclass(frozen=True, slots=True)
class Stages:
    """Lives of rows, each as it looks from `since` on, up to `until`.

    The first stages are those of the rows themselves, in their order.
    """

    row: Whole
    since: Whole
    until: Whole
    birth: Whole
    death: Whole


def stages_of(side: SideSettings, rows: Rows, came: Whole, start: int) -> Stages:
    """Returns the stages of a side's rows from the place `start` on.

    `came` are their places. The lives of rows that came before are those known then.
    """
    # Who came before the step is there from just before its first place.
    number, since = np.arange(len(rows)), np.maximum(came, start - 1)
    if side.is_intrinsic:
        endless = np.full(len(rows), NEVER)
        birth = births(side.window, rows)
        own = own_deaths(side.window, rows.with_arrays(birth=birth))
        return Stages(number, since, endless, birth, own)
    last, over = later_rows(side.window)
    new = np.flatnonzero(came >= start)
    # A newcomer touches the rows before it in its partition, as many as a count says:
    # each of them has a stage more from the newcomer's place on.
    back, line = _Line.of(rows, came, backward=True), _Line.of(rows, came)
    row, moment = [number], [since]
    for touched in back.nexts(new, came[new], over):
        row.append(touched[touched != search.NOWHERE])
        moment.append(came[new][touched != search.NOWHERE])
    return _looked_at(
        rows, line, (np.concatenate(row), np.concatenate(moment)), last, over
    )


def always(rows: Rows, since: Whole, until: Whole) -> Stages:
    """Returns the stages of rows that are there from place to place, in all times."""
    # Without row times it is met at all of them; places say when.
    birth, death = np.full(len(rows), BEGINNING), np.full(len(rows), NEVER)
    return Stages(np.arange(len(rows)), since, until, birth, death)


def time_of(rows: Rows) -> Whole:
    """Returns the row times by which rows of a partition stand."""
    return np.where(rows.moment == MISSING, BEGINNING, rows.moment)


def _looked_at(
    rows: Rows, line: _Line, looks: tuple[Whole, Whole], last: int, over: int
) -> Stages:
    """Returns the stages of rows from places on, by what has come until then."""
    row, since = looks
    times = np.append(time_of(rows), NEVER)  # NOWHERE is -1, which reads the last one
    begun, ended = times[row], times[row]
    for count, found in enumerate(line.nexts(row, since, over), start=1):
        begun = times[found] if count == last else begun
        ended = times[found] if count == over else ended
    if last:
        begun = np.minimum(begun, rows.birth[row])
    ended = np.minimum(ended, rows.death[row])
    # A stage ends where the next one of its row begins.
    until = np.full(len(row), NEVER)
    order = sorted_by(row, since)
    follows = row[order[1:]] == row[order[:-1]]
    until[order[:-1][follows]] = since[order[1:][follows]]
    return Stages(row, since, until, begun, ended)


@dataclass(frozen=True, slots=True)
class _Line:
    """Rows partition by partition by row time, or the other way, with their places."""

    order: Whole
    rank: Whole
    stop: Whole
    place: Whole

    @classmethod
    def of(cls, rows: Rows, came: Whole, *, backward: bool = False) -> _Line:
        """Returns the rows in their line."""
        order = sorted_by(rows.partition, time_of(rows), came)
        if backward:
            order = order[::-1]
        rank = np.empty(len(order), np.int64)
        rank[order] = np.arange(len(order))
        starts = np.flatnonzero(starts_of(rows.partition[order]))
        bounds = np.append(starts, len(order))
        stop = np.repeat(bounds[1:], np.diff(bounds))
        return cls(order, rank, stop, came[order])

    def nexts(self, row: Whole, until: Whole, count: int) -> list[Whole]:
        """Returns the first, second, .. row behind each that has come by a place."""
        at, found = self.rank[row], []
        stops, order = np.append(self.stop, 0), np.append(self.order, search.NOWHERE)
        for _ in range(count):
            # Who came by a place has the lower number: negated, the first one above.
            stop = np.where(at == search.NOWHERE, 0, stops[at])
            at = search.first_above(-self.place, at + 1, stop, -until - 1)
            found.append(order[at])
        return found
