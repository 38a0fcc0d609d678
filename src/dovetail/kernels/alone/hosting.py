"""Right rows in order of arrival that leave late, because a left row held their pair.

    right row leaves its window ... its left row leaves, without a match: null row

A pair that is held may still match its right row, so the null row of that one waits for
the last left row that is judged, and stands behind what comes of this.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dovetail.kernels.arrays.rows import DUE, Rows, Whole
from dovetail.kernels.arrays.sorting import sorted_by
from dovetail.kernels.arriving.admission import Present
from dovetail.kernels.arriving.passing import last_moments
from dovetail.kernels.lifetimes.births import ends
from dovetail.kernels.pairs.leaving import ABSENT, Leaving, Turn
from dovetail.kernels.pairs.matching import Matches
from dovetail.kernels.settings import JoinSettings


@dataclass(frozen=True, slots=True)
class _Turns:
    """When rows leave: the first number decides, then the next."""

    when: Whole
    turn: Whole
    due: Whole
    place: Whole

    @classmethod
    def of(cls, settings: JoinSettings, hand: int, rows: Rows, chosen: Whole) -> _Turns:
        """Returns the turns of the chosen rows, as they leave their windows."""
        is_due = rows.has(DUE)[chosen]
        last = last_moments(settings, hand, rows)[chosen]
        end = ends(settings.sides[hand], rows)[chosen]
        return cls(
            np.where(is_due, rows.death[chosen], end),
            np.where(is_due, int(Turn.DUE), int(Turn.ALONE)),
            np.where(is_due, last, 0),
            rows.place[chosen],
        )

    @property
    def keys(self) -> tuple[Whole, ...]:
        """Returns the numbers in the order in which they decide."""
        return self.when, self.turn, self.due, self.place


def with_host(
    settings: JoinSettings, present: Present, part: Leaving, judged: Matches
) -> list[Leaving]:
    """Returns rows that leave alone, right ones no sooner than their left rows.

    `judged` are the candidates of left rows that are judged in this step.
    """
    if settings.event_clock or not len(part.when) or not len(judged):
        return [part]
    if part.turn not in (Turn.DUE, Turn.ALONE) or np.count_nonzero(part.left >= 0):
        return [part]
    hosts, own = (
        _Turns.of(settings, hand, present.rows[hand], chosen)
        for hand, chosen in enumerate((judged.left, part.right))
    )
    ranks = _ranks(hosts, own)
    rank, mine = ranks[: len(judged)], ranks[len(judged) :]
    last = _last_of(judged, rank, len(present.rows[1]))[part.right]
    is_hosted = (last > ABSENT) & (rank[last] > mine)
    chosen = np.flatnonzero(is_hosted)
    chosen = chosen[np.argsort(mine[chosen])]
    return [part.take(~is_hosted), *_let_out(part.take(chosen), hosts, last[chosen])]


def at_first_host(
    settings: JoinSettings, present: Present, part: Leaving, met: Matches
) -> list[Leaving]:
    """Returns right rows that leave alone with the first left row that they met."""
    hosts = _Turns.of(settings, 0, present.rows[0], met.left)
    order = sorted_by(*hosts.keys)[::-1]
    first = np.full(len(present.rows[1]), ABSENT)
    first[met.right[order]] = order
    return _let_out(part, hosts, first[part.right])


def _ranks(hosts: _Turns, own: _Turns) -> Whole:
    """Returns which leaves when, those of both as one row of numbers."""
    pairs = zip(hosts.keys, own.keys, strict=True)
    order = sorted_by(*(np.concatenate(both) for both in pairs))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _last_of(judged: Matches, rank: Whole, size: int) -> Whole:
    """Returns for each right row the candidate whose left row leaves last, or none."""
    order = np.argsort(rank)
    last = np.full(size, ABSENT)
    last[judged.right[order]] = order
    return last


def _let_out(part: Leaving, hosts: _Turns, host: Whole) -> list[Leaving]:
    """Returns right rows at the turns of their left rows."""
    moved = replace(part, when=hosts.when[host], due=hosts.due[host])
    moved = replace(moved, host=hosts.place[host])
    is_due = hosts.turn[host] == int(Turn.DUE)
    return [
        replace(moved.take(is_due), turn=Turn.DUE),
        replace(moved.take(~is_due), turn=Turn.ALONE),
    ]
