"""The lives of one side's rows, event by event, for the join around an inner one.

    during event 3   version 1 of key A comes: nothing ends it yet
    during event 5   version 2 comes, at 10:20: version 1 lives until then, or shorter
    bound 10:20      that is sure

A row of a join lives while all rows do that it is made of. So its life may end long
after it has gone to the join around, which is told so as soon as it is known.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dovetail.conformance.local.cargo import NUMBER
from dovetail.conformance.local.parcels import News
from dovetail.conformance.local.stage import Moment, Stage
from dovetail.kernels.arrays.names import OWN_DEATH, OWN_END
from dovetail.kernels.arrays.rows import NEVER, Rows, Whole, join_rows
from dovetail.kernels.lifetimes.births import births, deaths, ends
from dovetail.kernels.lifetimes.lives import GROUP, SETTLED, TOLD
from dovetail.kernels.lifetimes.successors import later
from dovetail.spec.windows import Inherited, Latest, RowsPreceding


class SideLives(Protocol):
    """The lives of all rows of one side, by number, as far as they are known.

    `own_death` and `own_end` are those that no other row changes. A life of the group
    0 is settled; those of another are sure until what `holds` tells of it.
    """

    own_death: Whole
    own_end: Whole
    group: Whole
    death: Whole
    holds: tuple[int, ...]

    def learn(self, moment: Moment) -> None:
        """Learns what a step has shown."""


@dataclass(slots=True)
class Settled:
    """Lives that no other row ends."""

    own_death: Whole
    own_end: Whole
    group: Whole
    death: Whole
    holds: tuple[int, ...] = ()

    def learn(self, moment: Moment) -> None:
        """Learns nothing."""

    @classmethod
    def of(cls, stage: Stage, hand: int) -> Settled:
        """Returns the lives of one side of a stage; those without time never end."""
        side, rows = stage.settings.sides[hand], stage.cargoes[hand].rows
        group = np.full(len(rows), SETTLED)
        if side.untimed or side.static:
            endless = np.full(len(rows), NEVER)
            return cls(endless, endless, group, endless)
        born = rows.with_arrays(birth=births(side.window, rows))
        lived = born.with_arrays(death=deaths(side, born))
        return cls(lived.death, ends(side, lived), group, lived.death)


@dataclass(slots=True)
class Succeeded:
    """Lives that end with the nth later row of their partition.

    Those are looked at that are not over for sure.
    """

    hand: int
    count: int
    own_death: Whole
    own_end: Whole
    group: Whole
    death: Whole
    holds: tuple[int, ...]
    known: Rows
    newest: int = -1

    @classmethod
    def of(cls, stage: Stage, hand: int, count: int) -> Succeeded:
        """Returns the lives of one side of a stage before anything has come."""
        rows = stage.cargoes[hand].rows
        never = np.full(len(rows), NEVER)
        group, none = np.full(len(rows), SETTLED + 1), rows.take(slice(0))
        return cls(hand, count, never, never, group, never.copy(), (), none)

    def learn(self, moment: Moment) -> None:
        """Learns which rows have come in time, and until when no other can."""
        present = moment.stepped.present
        bound = present.watches[self.hand].bound
        there = (present.rows[self.hand], present.waiting[self.hand])
        rows = join_rows([self.known, *(self._new(one) for one in there)])
        numbers = rows.hidden(NUMBER)
        self.newest = max(self.newest, int(numbers.max(initial=-1)))
        rows = rows.with_arrays(place=numbers)
        death = later(rows, rows.moment, self.count)
        self.death[numbers] = death
        # What ends for sure decides about no row behind it.
        self.known = rows.take(death > bound)
        self.holds = (bound,)

    def _new(self, rows: Rows) -> Rows:
        """Returns the rows that have not been seen before."""
        return rows.take(rows.hidden(NUMBER) > self.newest)


@dataclass(slots=True)
class Handed:
    """Lives that rows have inherited themselves, as they are told."""

    own_death: Whole
    own_end: Whole
    group: Whole
    death: Whole
    news: News
    holds: tuple[int, ...] = ()

    @classmethod
    def of(cls, stage: Stage, hand: int) -> Handed:
        """Returns the lives of one side of a stage before anything is told."""
        rows, news = stage.cargoes[hand].rows, stage.senders[hand].lives
        names = (OWN_DEATH, OWN_END, GROUP, TOLD)
        own, end, group, told = (rows.hidden(name) for name in names)
        return cls(own, end, group, told.copy(), news)

    def learn(self, moment: Moment) -> None:
        """Learns what is told of lives at a position."""
        if moment.position in self.news:
            lives = self.news[moment.position]
            np.minimum.at(self.death, lives.number, lives.death)
            self.holds = lives.holds or self.holds


def lives_of(stage: Stage, hand: int) -> SideLives:
    """Returns the lives of one side's rows."""
    side = stage.settings.sides[hand]
    if side.untimed or side.static:
        return Settled.of(stage, hand)
    match side.window:
        case Latest():
            return Succeeded.of(stage, hand, 1)
        case RowsPreceding(first):
            return Succeeded.of(stage, hand, first + 1)
        case Inherited():
            return Handed.of(stage, hand)
        case _:
            return Settled.of(stage, hand)
