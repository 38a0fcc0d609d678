"""Lives that other rows end, told from outside: the rows of a join inherit theirs.

    inner    x = (a, v)  10:00 [----------- ? ------    a newer v will end it
    told                 x lives no longer than 10:20; lives are sure until 10:12

What is told of a life only ever makes it shorter. A meeting at 10:11 is sure by then;
one at 10:15 may still fall away, and one at 10:20 has.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from dovetail.kernels.arrays.names import hidden
from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Rows, Whole

LIFE, GROUP, KNOWN_END = hidden("life"), hidden("group"), hidden("known end")
"""The payload columns of lives: their numbers, their groups, their ends when told."""
SETTLED = 0
"""The group of lives that no other row ends."""


@dataclass(frozen=True, slots=True)
class Lives:
    """When lives end, by number, if no other row ends them sooner.

    `holds` tells of each group but the settled one until when its lives are sure;
    without any, what was told before holds.
    """

    number: Whole
    death: Whole
    holds: tuple[int, ...] = ()

    @property
    def says_nothing(self) -> bool:
        """Tells whether nothing is told."""
        return not len(self.number) and not self.holds


NO_LIVES = Lives(np.empty(0, np.int64), np.empty(0, np.int64))


def join_lives(parts: Iterable[Lives]) -> Lives:
    """Returns all that is told, one part after the other."""
    told = [part for part in parts if not part.says_nothing]
    if len(told) < 2:  # noqa: PLR2004 - one stays as it is
        return told[0] if told else NO_LIVES
    holds = [part.holds for part in told if part.holds]
    return Lives(
        np.concatenate([part.number for part in told]),
        np.concatenate([part.death for part in told]),
        holds[-1] if holds else (),
    )


def shortened(rows: Rows, lives: Lives) -> Rows:
    """Returns the rows with the ends that they are told."""
    if not len(lives.number) or not len(rows):
        return rows
    # Of a life that has two ends here the earlier one counts.
    known, group = np.unique(lives.number, return_inverse=True)
    least = np.full(len(known), NEVER)
    np.minimum.at(least, group, lives.death)
    number = rows.hidden(LIFE)
    # Who is not among them finds another's place: nothing ends it.
    at = np.minimum(np.searchsorted(known, number), len(known) - 1)
    told = np.where(known[at] == number, least[at], NEVER)
    return rows.with_arrays(death=np.minimum(rows.death, told))


def sure_until(rows: Rows, holds: tuple[int, ...]) -> Whole:
    """Returns until when each life is sure; nothing is known of a group not told of."""
    group = rows.hidden(GROUP)
    # One place a group: the settled one first, then those that holds tell of.
    known = np.full(int(group.max(initial=len(holds))) + 1, BEGINNING)
    known[SETTLED] = NEVER
    known[1 : len(holds) + 1] = holds
    until: Whole = known[group]
    return until
