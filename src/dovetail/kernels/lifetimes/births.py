"""From rows to births and deaths, window by window.

    event clock          birth          death (exclusive)
    Fixed                t - following  t + preceding + 1
    Point                t              t + 1
    Version              t              birth of the next version of its partition
    Preceding            t of the `last`th later row, until t of the one after `first`
    Endless              t              never
    Calendar             t              end of the unit
    Interval             its start      its end + 1
    Hop                  window's end   window's end + 1: the row is there once for each
    Inherited            t              death of the first of the rows it is made of
    arrival clock        place          Point: place + 1
    Newest               place          place of the nth later row of the partition
    Delta                place          place of the first later one that is far above
    Seconds, Band        place          place at which time has passed (`passing`)

A new window is one more arm in `births` and `deaths`.
"""

from __future__ import annotations

from typing import assert_never

import numpy as np

from dovetail.kernels.arrays.rows import (
    BEGINNING,
    DUE,
    MISSING,
    NEVER,
    Rows,
    Whole,
)
from dovetail.kernels.lifetimes.hopping import first_end, hopped, unit_ends
from dovetail.kernels.lifetimes.lengths import least_shifted, shift
from dovetail.kernels.lifetimes.successors import (
    birth_of_farther,
    birth_of_later,
    in_partitions,
    later,
    starts_of,
)
from dovetail.kernels.lifetimes.windows import (
    END,
    OWN_DEATH,
    OWN_END,
    START,
    Band,
    Calendar,
    Delta,
    Endless,
    Fixed,
    Hop,
    Inherited,
    Interval,
    Newest,
    Point,
    Preceding,
    Seconds,
    Version,
    Window,
    is_intrinsic,
)

FIRST_MOMENT = BEGINNING // 2
"""Moments before this one are no row times; who dies there has no end in row time."""


def unfolded(window: Window, rows: Rows) -> Rows:
    """Returns the rows as often as the window holds them, before they are born."""
    if isinstance(window, Hop):
        return hopped(rows, window.size, window.every)
    return rows


def births(window: Window, rows: Rows) -> Whole:
    """Returns the births on the event clock; rows without a time were always there."""
    match window:
        case Fixed(_, following):
            begun = shift(rows.moment, following.back)
        case Interval():
            return rows.hidden(START)
        case Preceding(_, last) if last:
            return np.full(len(rows), NEVER)  # not known yet
        case _:
            begun = rows.moment
    return np.where(rows.moment == MISSING, BEGINNING, begun)


def known_lives(window: Version | Preceding, rows: Rows, bound: int) -> Rows:
    """Returns the rows with the births and ends that no row to come can change.

    What is not known is NEVER; no moment is before the row's own. A row that is never
    born dies before it is.
    """
    ends, sure = deaths(window, rows), np.maximum(rows.moment, bound)
    rows = rows.with_arrays(
        death=np.minimum(np.where(ends <= sure, ends, NEVER), rows.death)
    )
    if not isinstance(window, Preceding):
        return rows
    begun = later(rows, rows.moment, window.last)
    birth = np.minimum(np.where(begun <= sure, begun, NEVER), rows.birth)
    unborn = (birth == NEVER) & (bound == NEVER)
    return rows.with_arrays(birth=birth, death=np.where(unborn, BEGINNING, rows.death))


def deaths(window: Window, rows: Rows, old: int = 0) -> Whole:
    """Returns the deaths of rows whose births are set.

    None of the first `old` rows ends the life of another of them.
    """
    match window:
        case Newest(count):
            return birth_of_later(rows, count)
        case Preceding(first):
            return later(rows, rows.moment, first + 1)
        case Delta():
            return birth_of_farther(rows, old)
        case Seconds() | Band():
            return np.full(len(rows), NEVER)
        case Version(timed):
            return _deaths_of_versions(rows, timed=timed)
        case Inherited():
            return rows.death
        case _:
            return _own_deaths(window, rows)


def _own_deaths(
    window: Fixed | Point | Calendar | Interval | Hop | Endless, rows: Rows
) -> Whole:
    """Returns the deaths that a row has by itself; one without a time never dies."""
    match window:
        case Point() | Hop():
            return rows.birth + 1
        case Interval():
            last = rows.hidden(END)
            return np.where(last == NEVER, NEVER, last + 1)
        case Fixed(preceding):
            death = shift(rows.moment, preceding) + 1
        case Calendar(unit):
            death = unit_ends(unit, rows.moment)
        case Endless():
            death = np.full(len(rows), NEVER)
        case _:
            assert_never(window)
    return np.where(rows.moment == MISSING, NEVER, death)


def ends(window: Window, rows: Rows) -> Whole:
    """Returns when null rows come out: the ends of lifetimes, or NEVER."""
    if isinstance(window, Band):
        return np.where(rows.has(DUE), rows.death, rows.death - 1)
    if isinstance(window, Preceding):
        return np.where(rows.death < rows.birth, NEVER, rows.death)
    if isinstance(window, Version):
        return np.where(rows.death < FIRST_MOMENT, NEVER, rows.death)
    if isinstance(window, Inherited):
        own, end = rows.hidden(OWN_DEATH), rows.hidden(OWN_END)
        return np.where(rows.death < own, rows.death, end)
    if not is_intrinsic(window) or isinstance(window, Calendar | Endless):
        return rows.death
    return np.where(rows.death == NEVER, NEVER, rows.death - 1)


def least_birth(window: Window, bound: int) -> int:
    """Returns the least birth of a row that is not before the bound."""
    match window:
        case Fixed(_, following):
            return least_shifted(max(bound, BEGINNING), following.back)
        case Hop(size, every) if bound > BEGINNING:
            return first_end(bound, size, every)
        case _:
            return max(bound, BEGINNING)


def least_end(window: Window, bound: int) -> int:
    """Returns the least row time of a null row that is not before the bound."""
    match window:
        case Fixed(preceding):
            return least_shifted(max(bound, BEGINNING), preceding)
        case Calendar(unit):
            return int(unit_ends(unit, np.array([bound]))[0])
        case Hop():
            return least_birth(window, bound)
        case Endless():
            return NEVER
        case _:
            return bound


def _deaths_of_versions(rows: Rows, *, timed: bool) -> Whole:
    """Returns when versions are replaced; an outdated one dies at its birth."""
    if not timed:
        return birth_of_later(rows, 1)
    order = in_partitions(rows)
    groups = np.cumsum(starts_of(rows.partition[order])) - 1
    _, ages = np.unique(rows.moment[order], return_inverse=True)
    newest = np.maximum.accumulate(groups * (len(rows) + 1) + ages)
    current = order[newest == groups * (len(rows) + 1) + ages]
    result = rows.birth.copy()
    result[current] = birth_of_later(rows.take(current).bare(), 1)
    return result
