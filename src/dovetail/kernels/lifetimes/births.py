"""From rows to births and deaths, window by window.

    event clock          birth          death (exclusive)
    Range                t - following  t + preceding + 1
    Rows(0)              t              t + 1
    Latest               t              birth of the next version of its partition
    RowsPreceding        t of the `last`th later row, until t of the one after `first`
    Forever              t              never
    HopUnit              t              end of the unit
    Between              its start      its end + 1
    HopSize              window's end   window's end + 1: the row is there once for each
    Inherited            t              death of the first of the rows it is made of
    arrival clock        place          Rows(0): place + 1
    Rows(n)              place          place of the nth later row of the partition
    Delta                place          place of the first later one that is far above
    Seconds, Range       place          place at which time has passed (`passing`)

A new window is one more arm in `births` and `own_deaths` or `deaths`.
"""

from __future__ import annotations

import numpy as np

from dovetail.kernels.arrays import names
from dovetail.kernels.arrays.rows import (
    BEGINNING,
    MISSING,
    NEVER,
    Rows,
    Whole,
)
from dovetail.kernels.lifetimes import calendar, successors
from dovetail.kernels.settings import Closing, SideSettings
from dovetail.spec import windows
from dovetail.spec.windows import Window

FIRST_MOMENT = BEGINNING // 2
"""Moments before this one are no row times; who dies there has no end in row time."""


def unfolded(window: Window, rows: Rows) -> Rows:
    """Returns the rows as often as the window holds them, before they are born."""
    if isinstance(window, windows.HopSize):
        return calendar.hopped(rows, window)
    return rows


def births(window: Window, rows: Rows) -> Whole:
    """Returns the births on the event clock; rows without a time were always there."""
    match window:
        case windows.Range(_, following):
            begun = calendar.shift(rows.moment, following.negated())
        case windows.Between():
            return rows.hidden(names.START)
        case windows.RowsPreceding(_, last) if last:
            return np.full(len(rows), NEVER)  # not known yet
        case _:
            begun = rows.moment
    return np.where(rows.moment == MISSING, BEGINNING, begun)


def later_rows(window: Window) -> tuple[int, int]:
    """Returns which later row of its partition begins a life, and which one ends it.

    The row itself is number 0.
    """
    if isinstance(window, windows.RowsPreceding):
        return window.last, window.first + 1
    return 0, 1


def known_lives(side: SideSettings, rows: Rows, bound: int) -> Rows:
    """Returns rows whose lives others end, with births and ends that stay as they are.

    What is not known is NEVER; no moment is before the row's own. A row that is never
    born dies before it is.
    """
    # Below the bound nothing comes any more: an end there is the end.
    ends, sure = deaths(side, rows), np.maximum(rows.moment, bound)
    rows = rows.with_arrays(
        death=np.minimum(np.where(ends <= sure, ends, NEVER), rows.death)
    )
    if not isinstance(side.window, windows.RowsPreceding):
        return rows
    # Where the bound has reached the later row's time nobody comes in between.
    begun = successors.later(rows, rows.moment, side.window.last)
    birth = np.minimum(np.where(begun <= sure, begun, NEVER), rows.birth)
    # Nothing comes any more and too few rows came: it is never born.
    unborn = (birth == NEVER) & (bound == NEVER)
    return rows.with_arrays(birth=birth, death=np.where(unborn, BEGINNING, rows.death))


def deaths(side: SideSettings, rows: Rows, old: int = 0) -> Whole:
    """Returns the deaths of rows whose births are set.

    None of the first `old` rows ends the life of another of them.
    """
    if side.is_intrinsic:
        return own_deaths(side.window, rows)
    match side.window:
        case windows.Rows(count):
            return successors.birth_of_later(rows, count)
        case windows.RowsPreceding(first):
            return successors.later(rows, rows.moment, first + 1)
        case windows.Delta():
            return successors.birth_of_farther(rows, old)
        case windows.Latest():
            return (
                _deaths_of_versions(rows)
                if side.aged
                else successors.birth_of_later(rows, 1)
            )
        case windows.Inherited():
            return rows.death
        case _:  # time closes the others, and `passing` says when
            return np.full(len(rows), NEVER)


def own_deaths(window: Window, rows: Rows) -> Whole:
    """Returns the deaths that a row has by itself; one without a time never dies."""
    match window:
        case windows.Rows() | windows.HopSize():
            return rows.birth + 1
        case windows.Between():
            last = rows.hidden(names.END)
            return np.where(last == NEVER, NEVER, last + 1)
        case windows.Range(preceding):
            death = calendar.shift(rows.moment, preceding) + 1
        case windows.HopUnit(unit):
            death = calendar.unit_ends(unit, rows.moment)
        case _:
            death = np.full(len(rows), NEVER)
    return np.where(rows.moment == MISSING, NEVER, death)


def ends(side: SideSettings, rows: Rows) -> Whole:
    """Returns when null rows come out: the ends of lifetimes, or NEVER."""
    match side.window:
        case windows.Range() if side.closing is Closing.ROW_TIME:
            return np.where(rows.due, rows.death, rows.death - 1)
        # One that is never born has no end to tell.
        case windows.RowsPreceding():
            return np.where(rows.death < rows.birth, NEVER, rows.death)
        case windows.Latest():
            return np.where(rows.death < FIRST_MOMENT, NEVER, rows.death)
        case windows.Inherited():
            own, end = rows.hidden(names.OWN_DEATH), rows.hidden(names.OWN_END)
            return np.where(rows.death < own, rows.death, end)
        case windows.HopUnit() | windows.Forever():
            return rows.death
        case _ if side.is_intrinsic:
            # the last moment of the life, which is before its exclusive end
            return np.where(rows.death == NEVER, NEVER, rows.death - 1)
        case _:
            return rows.death


def least_births(window: Window, bounds: Whole) -> Whole:
    """Returns for each bound the least birth of a row that is not before it."""
    bounds = np.maximum(bounds, BEGINNING)
    match window:
        case windows.Range(_, following):
            return calendar.least_shifted(bounds, following.negated())
        case windows.HopSize():
            fixed = (bounds == BEGINNING) | (bounds == NEVER)
            ends = calendar.first_ends(np.where(fixed, 0, bounds), window)
            return np.where(fixed, bounds, ends)
        case _:
            return bounds


def least_birth(window: Window, bound: int) -> int:
    """Returns the least birth of a row that is not before the bound."""
    return int(least_births(window, np.array([bound]))[0])


def least_end(window: Window, bound: int) -> int:
    """Returns the least row time of a null row that is not before the bound."""
    match window:
        case windows.Range(preceding):
            first = np.array([max(bound, BEGINNING)])
            return int(calendar.least_shifted(first, preceding)[0])
        case windows.HopUnit(unit):
            return int(calendar.unit_ends(unit, np.array([bound]))[0])
        case windows.HopSize():
            return least_birth(window, bound)
        case windows.Forever():
            return NEVER
        case _:
            return bound


def least_death(window: windows.Window, bound: int) -> int:
    """Returns the least death of a row that is not before the bound."""
    match window:
        case windows.Range() | windows.HopUnit() | windows.Rows(0) if bound > BEGINNING:
            end = least_end(window, bound)
            return end if isinstance(window, windows.HopUnit) else end + 1
        case windows.Forever():
            return NEVER
        case _:
            return bound


def _deaths_of_versions(rows: Rows) -> Whole:
    """Returns when aged versions are replaced; an outdated one dies at its birth."""
    order = successors.in_partitions(rows)
    groups = np.cumsum(successors.starts_of(rows.partition[order])) - 1
    # A rank of partition, then age: its running maximum never crosses a partition, and
    # a version below it came behind a newer one.
    _, ages = np.unique(rows.moment[order], return_inverse=True)
    newest = np.maximum.accumulate(groups * (len(rows) + 1) + ages)
    current = order[newest == groups * (len(rows) + 1) + ages]
    result = rows.birth.copy()
    result[current] = successors.birth_of_later(rows.take(current).bare(), 1)
    return result
