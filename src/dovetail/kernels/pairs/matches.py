"""Which rows of two sides meet: equal codes and overlapping lifetimes.

Two rows meet when max(births) < min(deaths). Where, within one code, rows die in the
order in which they were born (all windows of one length, newest rows, versions), the
partners of a row are one run of the other side in order of birth, and two binary
searches find it:

    other side by birth    [b0 d0) [b1 d1) [b2 d2) [b3 d3) [b4 d4)
    partners of [b d)              first d > b ... last b < d

Else every pair has a row that is born while its partner lives, so that two passes,
each over runs of births, find each pair once. There is no scan per row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dovetail.kernels.arrays import sort
from dovetail.kernels.arrays.rows import NEVER, Mask, Rows, Whole, can_meet

_ROOM = 2**62
"""Codes and times are folded into numbers below this one."""


@dataclass(frozen=True, slots=True)
class Matches:
    """Pairs of row numbers; which hand is which is the caller's business."""

    left: Whole
    right: Whole

    def __len__(self) -> int:
        """Returns how many pairs there are."""
        return len(self.left)

    def swapped(self) -> Matches:
        """Returns the same pairs with the hands exchanged."""
        return Matches(self.right, self.left)

    def take(self, chosen: Whole | Mask | slice) -> Matches:
        """Returns the chosen pairs."""
        return Matches(self.left[chosen], self.right[chosen])


NO_MATCHES = Matches(np.empty(0, np.int64), np.empty(0, np.int64))


def join_matches(parts: list[Matches]) -> Matches:
    """Returns all pairs of the parts."""
    filled = [part for part in parts if len(part)] or [NO_MATCHES]
    if len(filled) == 1:
        return filled[0]
    return Matches(
        np.concatenate([part.left for part in filled]),
        np.concatenate([part.right for part in filled]),
    )


class TooManyPairsError(Exception):
    """More pairs would be found than there may be; says how many."""

    def __init__(self, pairs: int) -> None:
        """Keeps how many there are."""
        super().__init__(f"{pairs} pairs")
        self.pairs = pairs


@dataclass(frozen=True, slots=True)
class _Lives:
    """Rows that may meet somebody, by birth on one number line: code, then time."""

    number: Whole
    birth: Whole
    death: Whole

    def where(self, chosen: Mask) -> _Lives:
        """Returns the chosen lives, still by birth."""
        return _Lives(self.number[chosen], self.birth[chosen], self.death[chosen])


def first_overlaps(left: Rows, right: Rows, most: int) -> Matches:
    """Returns the first so many pairs of each left row, where all lives are endless."""
    chosen = [can_meet(rows).nonzero()[0] for rows in (left, right)]
    if not len(chosen[0]) or not len(chosen[1]):
        return NO_MATCHES
    ours, theirs = _on_one_line((left, right), chosen)
    first = np.searchsorted(theirs.death, ours.birth, "right")
    past = np.searchsorted(theirs.birth, ours.death, "left")
    return _runs(ours, theirs, (first, np.minimum(past, first + most)))


def overlaps(
    left: Rows, right: Rows, old: tuple[int, int] = (0, 0), *, most: int = NEVER
) -> Matches:
    """Returns every pair of rows that meet, each once.

    Pairs of two old rows are left out: so many rows of each side, from its first. None
    is made where one search alone would find more than `most`: that is an error.
    """
    chosen = [can_meet(rows).nonzero()[0] for rows in (left, right)]
    if not len(chosen[0]) or not len(chosen[1]):
        return NO_MATCHES
    ours, theirs = _on_one_line((left, right), chosen)
    if not old[0] or not old[1]:
        return _meetings(ours, theirs, most)
    # Our new rows with all of theirs, then their new ones with our old ones.
    new, newer = ours.number >= old[0], theirs.number >= old[1]
    with_ours = _meetings(ours.where(new), theirs, most)
    with_theirs = _meetings(theirs.where(newer), ours.where(~new), most)
    return join_matches([with_ours, with_theirs.swapped()])


def _meetings(ours: _Lives, theirs: _Lives, most: int) -> Matches:
    """Returns every pair of two lives that overlap, each once."""
    if len(theirs.number) < len(ours.number):  # the fewer look: each look is a search
        return _meetings(theirs, ours, most).swapped()
    # Who dies in the order of birth is found in one run.
    if sort.never_falls(theirs.death):
        return _in_order(ours, theirs, most)
    if sort.never_falls(ours.death):
        return _in_order(theirs, ours, most).swapped()
    while_ours = _runs(ours, theirs, _born_within(ours, theirs, "left"), most)
    while_theirs = _runs(theirs, ours, _born_within(theirs, ours, "right"), most)
    return join_matches([while_ours, while_theirs.swapped()])


def _in_order(hosts: _Lives, guests: _Lives, most: int) -> Matches:
    """Returns every pair of two lives that overlap, where guests die as they came."""
    first = guests.death.searchsorted(hosts.birth, "right")
    past = guests.birth.searchsorted(hosts.death, "left")
    return _runs(hosts, guests, (first, past), most)


def _born_within(
    hosts: _Lives, guests: _Lives, edge: Literal["left", "right"]
) -> tuple[Whole, Whole]:
    """Returns each host's run of guests born in its life; `right`: after its birth."""
    first = guests.birth.searchsorted(hosts.birth, edge)
    return first, guests.birth.searchsorted(hosts.death, "left")


def _runs(
    ours: _Lives, theirs: _Lives, runs: tuple[Whole, Whole], most: int = NEVER
) -> Matches:
    """Returns each of our rows with its run of their rows, `most` pairs at most."""
    first, past = runs
    # A life that ends before any of theirs begins has its `past` before its `first`.
    counts = np.maximum(past - first, 0)
    total = int(counts.sum())
    if not total:
        return NO_MATCHES
    if total > most:
        raise TooManyPairsError(total)
    # One count over all runs: each run's start is put back to where it begins.
    starts = first - counts.cumsum() + counts
    partner = starts.repeat(counts) + np.arange(total)
    return Matches(ours.number.repeat(counts), theirs.number[partner])


def _on_one_line(sides: tuple[Rows, Rows], chosen: list[Whole]) -> list[_Lives]:
    """Returns both sides' lives with codes and times folded into one number."""
    parts = [*zip(sides, chosen, strict=True)]
    codes, births, deaths = (
        np.concatenate([_chosen(getattr(rows, name), own) for rows, own in parts])
        for name in ("code", "birth", "death")
    )
    # Times are counted from the earliest birth; ends behind the last birth meet nobody
    # more, so they are cut off there.
    # Births before all time would leave no room: they are one before the rest.
    lowest = int(births.min())
    finite = births[births > lowest] if lowest < -(2**61) else births
    floor = int(finite.min()) if len(finite) else lowest
    ceiling = int(births.max()) + 1
    starts = np.maximum(births, floor - 1) - (floor - 1)
    stops = np.minimum(np.maximum(deaths, floor), ceiling) - (floor - 1)
    births, deaths, width = starts, stops, ceiling - floor + 3
    # Codes keep their gaps where these leave room for the times: that needs no sort.
    least, most = int(codes.min()), int(codes.max())
    if (most - least + 1) * max(width, len(codes)) < _ROOM:
        codes, count = codes - least, most - least + 1
    else:
        known, dense = np.unique(codes, return_inverse=True)
        codes, count = dense, len(known)
    if count * width >= _ROOM:
        # Spans too wide to be folded with the codes: ranks of the times will do.
        moments, ranks = np.unique(
            np.concatenate((births, deaths)), return_inverse=True
        )
        births, deaths, width = (
            ranks[: len(births)],
            ranks[len(births) :],
            len(moments) + 1,
        )
    # Each code has `width` numbers to itself, so lives of two codes never overlap.
    base, split = codes * width, len(chosen[0])
    births, deaths = base + births, base + deaths
    return [
        _by_birth(own, births[part], deaths[part])
        for own, part in zip(chosen, (slice(split), slice(split, None)), strict=True)
    ]


def _chosen(array: Whole, own: Whole) -> Whole:
    """Returns the values of the rows that are chosen, by their numbers in order."""
    # Mostly everybody may meet somebody: then nothing is copied.
    return array if len(own) == len(array) else array[own]


def _by_birth(own: Whole, births: Whole, deaths: Whole) -> _Lives:
    """Returns lives by birth, of the rows of these numbers."""
    order = sort.sorted_by(births)
    # Numbers in order, of which the last is as great as there are: they are all.
    number = order if own[-1] == len(own) - 1 else own[order]
    return _Lives(number, births[order], deaths[order])
