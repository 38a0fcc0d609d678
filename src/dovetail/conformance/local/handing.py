"""The lives that an inner join hands on: with each row it gives, and again later.

    row 0  of (a 0, v 0)     its own end is that of a 0: nothing else ends it yet
    row 1  of (a 1, v 0)
    v 1 comes, of 10:20      row 0 and row 1 live until 10:20 at most

Lives of one group wait for the same bounds: they are sure until the least of these.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from dovetail.conformance.local.hidden import (
    HANDED_DEATH,
    HANDED_END,
    HANDED_GROUP,
    HANDED_LIFE,
    HANDED_TOLD,
)
from dovetail.conformance.local.lives import SideLives, lives_of
from dovetail.conformance.local.outlets import Line
from dovetail.conformance.local.stage import Moment, Stage
from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Whole
from dovetail.kernels.lifetimes.lives import Lives
from dovetail.kernels.pairs.leaving import Reason
from dovetail.spec.inputs import Outlet, Row
from dovetail.spec.windows import HopSize

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
        hops = any(isinstance(side.window, HopSize) for side in stage.settings.sides)
        return cls((left, right), hops)

    @property
    def may_shorten(self) -> bool:
        """Tells whether a row has been given whose life other rows may end."""
        return len(self.groups) > 1

    def given(self, line: Line) -> Row:
        """Returns what goes with a row: its own life, its number and group.

        One without a partner is alive at its own row time only; windows of a size are
        met at their ends.
        """
        time = BEGINNING if line.row_time is None else line.row_time
        rows = (line.left, line.right)
        is_pair = line.outlet is Outlet.MATCHED and line.reason is Reason.NONE
        if self.hops or not is_pair:
            rows = (None, None)
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

    def learn(self, moment: Moment) -> None:
        """Learns what a moment has shown of the lives of both sides."""
        for side in self.sides:
            side.learn(moment)

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
