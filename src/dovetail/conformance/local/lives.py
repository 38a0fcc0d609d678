"""The lives of one side's rows, event by event, for the join around an inner one.

    during event 3   version 1 of key A comes: nothing ends it yet
    during event 5   version 2 comes, at 10:20: version 1 lives until then, or shorter
    bound 10:20      that is sure

A row of a join lives while all rows do that it is made of. So its life may end long
after it has gone to the join around, which is told so as soon as it is known.

The lives that an inner join hands on: with each row it gives, and again later.

    row 0  of (a 0, v 0)     its own end is that of a 0: nothing else ends it yet
    row 1  of (a 1, v 0)
    v 1 comes, of 10:20      row 0 and row 1 live until 10:20 at most

Lives of one group wait for the same bounds: they are sure until the least of these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from dovetail import spec
from dovetail.conformance.local.frames import NUMBER, ParcelNews
from dovetail.conformance.local.hidden import (
    HANDED_DEATH,
    HANDED_END,
    HANDED_GROUP,
    HANDED_LIFE,
    HANDED_TOLD,
)
from dovetail.conformance.local.outlets import OutputRow
from dovetail.conformance.local.stage import Played, Stage
from dovetail.kernels.arrays.names import OWN_DEATH, OWN_END
from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Rows, Whole, join_rows
from dovetail.kernels.lifetimes.births import births, deaths, ends
from dovetail.kernels.lifetimes.lives import GROUP, KNOWN_END, SETTLED, Lives
from dovetail.kernels.lifetimes.successors import later
from dovetail.kernels.pairs.results import Reason


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

    def learn(self, played: Played) -> None:
        """Learns what a step has shown."""


@dataclass(slots=True)
class Settled:
    """Lives that no other row ends."""

    own_death: Whole
    own_end: Whole
    group: Whole
    death: Whole
    holds: tuple[int, ...] = ()

    def learn(self, played: Played) -> None:
        """Learns nothing."""

    @classmethod
    def of(cls, stage: Stage, hand: int) -> Settled:
        """Returns the lives of one side of a stage; those without time never end."""
        side, rows = stage.settings.sides[hand], stage.frames[hand].rows
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
        rows = stage.frames[hand].rows
        never = np.full(len(rows), NEVER)
        group, none = np.full(len(rows), SETTLED + 1), rows.take(slice(0))
        return cls(hand, count, never, never, group, never.copy(), (), none)

    def learn(self, played: Played) -> None:
        """Learns which rows have come in time, and until when no other can."""
        present = played.stepped.present
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
    told: Mapping[int, ParcelNews]
    holds: tuple[int, ...] = ()

    @classmethod
    def of(cls, stage: Stage, hand: int) -> Handed:
        """Returns the lives of one side of a stage before anything is told."""
        rows, told = stage.frames[hand].rows, stage.frames[hand].told
        names = (OWN_DEATH, OWN_END, GROUP, KNOWN_END)
        own, end, group, until = (rows.hidden(name) for name in names)
        return cls(own, end, group, until.copy(), told)

    def learn(self, played: Played) -> None:
        """Learns what is told of lives at a position."""
        if played.position in self.told:
            lives = self.told[played.position].lives
            np.minimum.at(self.death, lives.number, lives.death)
            self.holds = lives.holds or self.holds


def lives_of(stage: Stage, hand: int) -> SideLives:
    """Returns the lives of one side's rows."""
    side = stage.settings.sides[hand]
    if side.untimed or side.static:
        return Settled.of(stage, hand)
    match side.window:
        case spec.Latest():
            return Succeeded.of(stage, hand, 1)
        case spec.RowsPreceding(first):
            return Succeeded.of(stage, hand, first + 1)
        case spec.Inherited():
            return Handed.of(stage, hand)
        case _:
            return Settled.of(stage, hand)


NOBODY = -1
"""The number of the row on a hand of which nothing is inherited."""
_SETTLED = (0, 0)
_NUMBER, _LEFT, _RIGHT, _GROUP, _DEATH = range(5)


@dataclass(slots=True)
class Hander:
    """Hands on the lives of a join's rows, which are numbered as they are given.

    Groups are known by those of the rows on both hands. `open_rows` has a line for
    each life that may end sooner: its number, its two rows, group and end by now.
    """

    sides: tuple[SideLives, SideLives]
    hops: bool
    count: int = 0
    groups: dict[tuple[int, int], int] = field(default_factory=lambda: {_SETTLED: 0})
    fresh: list[tuple[int, ...]] = field(default_factory=list)
    open_rows: Whole = field(default_factory=lambda: np.empty((0, 5), np.int64))

    @classmethod
    def of(cls, stage: Stage) -> Hander:
        """Returns who hands on the lives of a stage's rows."""
        left, right = (lives_of(stage, hand) for hand in (0, 1))
        hops = any(
            isinstance(side.window, spec.HopSize) for side in stage.settings.sides
        )
        return cls((left, right), hops)

    @property
    def may_shorten(self) -> bool:
        """Tells whether a row has been given whose life other rows may end."""
        return len(self.groups) > 1

    def given(self, row: OutputRow) -> spec.Row:
        """Returns what goes with a row: its own life, its number and group.

        One without a partner is alive at its own row time only; windows of a size are
        met at their ends.
        """
        time = BEGINNING if row.row_time is None else row.row_time
        is_pair = row.outlet is spec.Outlet.MATCHED and row.reason is Reason.NONE
        rows = row.numbers if is_pair and not self.hops else (None, None)
        numbers = tuple(NOBODY if number is None else number for number in rows)
        found = [
            (side, number)
            for side, number in zip(self.sides, numbers, strict=True)
            if number != NOBODY
        ]
        own = min((int(side.own_death[row]) for side, row in found), default=time + 1)
        end = min((int(side.own_end[row]) for side, row in found), default=time)
        death = min((int(side.death[row]) for side, row in found), default=own)
        group = self._group(numbers)
        life, self.count = self.count, self.count + 1
        if group:
            self.fresh.append((life, *numbers, group, death))
        return {
            HANDED_LIFE: life,
            HANDED_GROUP: group,
            HANDED_DEATH: own,
            HANDED_END: end,
            HANDED_TOLD: death,
        }

    def learn(self, played: Played) -> None:
        """Learns what a step has shown of the lives of both sides."""
        for side in self.sides:
            side.learn(played)

    def news(self) -> Lives:
        """Returns which lives end sooner than told, and until when all are sure."""
        fresh = np.array(self.fresh, np.int64).reshape(-1, 5)
        self.fresh.clear()
        rows = np.concatenate((self.open_rows, fresh))
        death = rows[:, _DEATH].copy()
        for side, column in zip(self.sides, (_LEFT, _RIGHT), strict=True):
            number = rows[:, column]
            is_one = number != NOBODY
            ends = side.death[number[is_one]]
            death[is_one] = np.minimum(death[is_one], ends)
        shorter = death < rows[:, _DEATH]
        rows[:, _DEATH] = death
        holds = np.array([NEVER, *self._holds()])
        self.open_rows = rows[death > holds[rows[:, _GROUP]]]
        return Lives(rows[shorter, _NUMBER], death[shorter], self._holds())

    def _group(self, numbers: tuple[int, ...]) -> int:
        """Returns the group of a row by the rows that it is made of."""
        left, right = (
            0 if number == NOBODY else int(side.group[number])
            for side, number in zip(self.sides, numbers, strict=True)
        )
        return self.groups.setdefault((left, right), len(self.groups))

    def _holds(self) -> tuple[int, ...]:
        """Returns until when the lives of each group but the settled one are sure."""
        return tuple(
            min(
                hold_of(side, group)
                for side, group in zip(self.sides, both, strict=True)
            )
            for both in self.groups
            if both != _SETTLED
        )


def hold_of(side: SideLives, group: int) -> int:
    """Returns until when the lives of a group of one side are sure."""
    return ([NEVER, *side.holds] + [BEGINNING] * group)[group]
