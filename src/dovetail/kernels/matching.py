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

from dovetail.kernels.rows import Rows, Whole
from dovetail.kernels.windows import can_meet


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

    def take(self, chosen: Whole | slice) -> Matches:
        """Returns the chosen pairs."""
        return Matches(self.left[chosen], self.right[chosen])


NO_MATCHES = Matches(np.empty(0, np.int64), np.empty(0, np.int64))


def join_matches(parts: list[Matches]) -> Matches:
    """Returns all pairs of the parts."""
    return Matches(
        np.concatenate([part.left for part in parts]),
        np.concatenate([part.right for part in parts]),
    )


@dataclass(frozen=True, slots=True)
class _Lives:
    """Rows that may meet somebody, on one number line: code first, then time."""

    number: Whole
    birth: Whole
    death: Whole

    def by_birth(self) -> _Lives:
        """Returns the same lives in order of birth."""
        order = np.argsort(self.birth, kind="stable")
        return _Lives(self.number[order], self.birth[order], self.death[order])


def overlaps(left: Rows, right: Rows) -> Matches:
    """Returns every pair of rows that meet, each once."""
    chosen = [np.flatnonzero(can_meet(rows)) for rows in (left, right)]
    if not len(chosen[0]) or not len(chosen[1]):
        return NO_MATCHES
    ours, theirs = _on_one_line((left, right), chosen)
    theirs = theirs.by_birth()
    if bool((theirs.death[1:] >= theirs.death[:-1]).all()):
        first = np.searchsorted(theirs.death, ours.birth, "right")
        past = np.searchsorted(theirs.birth, ours.death, "left")
        return _runs(ours, theirs, first, past)
    while_ours = _born_within(ours, theirs, "left")
    while_theirs = _born_within(theirs, ours.by_birth(), "right")
    return join_matches([while_ours, while_theirs.swapped()])


def _born_within(
    hosts: _Lives, guests: _Lives, edge: Literal["left", "right"]
) -> Matches:
    """Returns pairs of a host and a guest born in its life, or (`right`) after birth."""
    first = np.searchsorted(guests.birth, hosts.birth, edge)
    past = np.searchsorted(guests.birth, hosts.death, "left")
    return _runs(hosts, guests, first, past)


def _runs(ours: _Lives, theirs: _Lives, first: Whole, past: Whole) -> Matches:
    """Returns each of our rows with its run of their rows."""
    counts = np.maximum(past - first, 0)
    total = int(counts.sum())
    if not total:
        return NO_MATCHES
    starts = first - np.concatenate(([0], np.cumsum(counts)[:-1]))
    partner = np.arange(total) + np.repeat(starts, counts)
    return Matches(np.repeat(ours.number, counts), theirs.number[partner])


def _on_one_line(sides: tuple[Rows, Rows], chosen: list[Whole]) -> list[_Lives]:
    """Returns both sides' lives with codes and times folded into one number."""
    split = len(chosen[0])
    codes, births, deaths = (
        np.concatenate([getattr(sides[hand], name)[chosen[hand]] for hand in (0, 1)])
        for name in ("code", "birth", "death")
    )
    births, deaths, width = _from_zero(births, deaths)
    keys, dense = np.unique(codes, return_inverse=True)
    if len(keys) * width >= 2**62:
        births, deaths, width = _ranked(births, deaths)
    base = dense * width
    births, deaths = base + births, base + deaths
    return [
        _Lives(pick, births[part], deaths[part])
        for pick, part in zip(
            chosen, (slice(None, split), slice(split, None)), strict=True
        )
    ]


def _from_zero(births: Whole, deaths: Whole) -> tuple[Whole, Whole, int]:
    """Returns the times counted from the earliest birth, ends cut off at the last."""
    lowest = int(np.sort(births)[0])
    finite = births[births > lowest]
    floor = int(finite.min()) if len(finite) and lowest < -(2**61) else lowest
    ceiling = int(births.max()) + 1
    starts = np.maximum(births, floor - 1) - (floor - 1)
    stops = np.clip(deaths, floor, ceiling) - (floor - 1)
    return starts, stops, ceiling - floor + 3


def _ranked(births: Whole, deaths: Whole) -> tuple[Whole, Whole, int]:
    """Returns the times as ranks, for spans too wide to be folded with the codes."""
    moments, ranks = np.unique(np.concatenate((births, deaths)), return_inverse=True)
    return ranks[: len(births)], ranks[len(births) :], len(moments) + 1
