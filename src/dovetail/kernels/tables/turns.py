"""Rows of a changing result that come or go, and at which place of the arrival.

A pair stands while both its rows live:

    order 1    [-----------------------)
    trade 1        [----)[----)               the second replaces the first
    pair           +    - +   -               comes, goes, comes, goes
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.rows import NEVER, Mask, Whole
from dovetail.kernels.pairs.matches import Matches
from dovetail.kernels.pairs.results import Reason, code
from dovetail.spec.inputs import Outlet

_NAMES = ("outlet", "reason", "left", "right", "when", "counter")


@dataclass(frozen=True, slots=True)
class Turns:
    """Rows of the result that all come, or all go: what they are of, and when.

    `outlet` and `reason` are codes; `counter` says which of its left row's pairs a pair
    is.
    """

    outlet: Whole
    reason: Whole
    left: Whole
    right: Whole
    when: Whole
    counter: Whole

    def take(self, chosen: Whole | Mask) -> Turns:
        """Returns the chosen ones."""
        return Turns(*(getattr(self, name)[chosen] for name in _NAMES))


def join_turns(parts: list[Turns]) -> Turns:
    """Returns all of the parts; there must be one."""
    return Turns(
        *(np.concatenate([getattr(part, name) for part in parts]) for name in _NAMES)
    )


@dataclass(frozen=True, slots=True)
class Met:
    """Pairs of rows that are partners, and from when until when they are."""

    pairs: Matches
    start: Whole
    stop: Whole

    def take(self, chosen: Whole | Mask) -> Met:
        """Returns the chosen ones."""
        return Met(self.pairs.take(chosen), self.start[chosen], self.stop[chosen])


@dataclass(frozen=True, slots=True)
class Standing:
    """Rows of the result with what they are of, from when until when they stand."""

    outlet: Outlet
    met: Met
    counter: Whole
    reason: Reason = Reason.NONE

    def take(self, chosen: Whole | Mask) -> Standing:
        """Returns the chosen ones."""
        met, counter = self.met.take(chosen), self.counter[chosen]
        return Standing(self.outlet, met, counter, self.reason)

    def gone(self) -> Turns:
        """Returns those that go."""
        return self._turns(self.met.stop, self.met.stop < NEVER)

    def come(self, since: int) -> Turns:
        """Returns those that come, from a place on."""
        return self._turns(self.met.start, self.met.start >= since)

    def _turns(self, when: Whole, chosen: Mask) -> Turns:
        """Returns the chosen ones, with the places at which they turn."""
        outlet, reason = (
            np.full(len(when), code(word)) for word in (self.outlet, self.reason)
        )
        pairs = self.met.pairs
        turns = Turns(outlet, reason, pairs.left, pairs.right, when, self.counter)
        return turns.take(chosen)


@dataclass(frozen=True, slots=True)
class TableChange:
    """What a step changes: rows that are partners by hand, rows that stand by both.

    The partners of one hand's rows decide whether these stand by themselves.
    """

    met: tuple[Met, Met]
    standing: tuple[Standing, ...]
