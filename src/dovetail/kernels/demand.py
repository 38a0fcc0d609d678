"""What a step asks of the state: rows of the codes that came, and rows that fall due.

    came     code 7, code 9            bound now 10:05, it was 10:02
    kept     7  [10:00 10:08)          has the code: it may meet who came
             8  [09:58 10:04)          falls due: its null row comes out
             8  [10:01 10:20)          neither: nothing can happen to it
    waits    6  born 10:04             falls due: it takes part; code 6 is read

A row is due when something may happen to it whoever comes: its life is over, the bound
has passed what it waits for. When that is stands beside each row, and is told anew
whenever a step has looked at the row. Sooner than need be costs time, never a row: one
that is due and stays is looked at again by each step.

Where `JoinSettings.reads_all` says why, the step asks for every row.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import reduce

import numpy as np

from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Rows, Whole
from dovetail.kernels.arrays.sort import distinct
from dovetail.kernels.arrival import arrival
from dovetail.kernels.arrival.admission import Present, hold_of
from dovetail.kernels.candidates import nearest
from dovetail.kernels.candidates.choice import row_times
from dovetail.kernels.candidates.picks import Picked, remembered
from dovetail.kernels.horizon import Horizon
from dovetail.kernels.lifetimes.births import births, least_births
from dovetail.kernels.pairs.matches import NO_MATCHES
from dovetail.kernels.settings import JoinSettings, SideSettings, waits_for
from dovetail.kernels.state import JoinState

NO_LIMIT = BEGINNING
"""The limit before anything has come: nobody is due."""


_MANY = 4
"""Where so many times more rows come than are alive, all that are alive are read."""


@dataclass(frozen=True, slots=True)
class Coming:
    """What is known before a step: how far both sides have come, and with which rows.

    `rows` has those that came, and of those that waited the ones that may take part
    now. Of all others that wait the least births are `behind`. `told` are the codes of
    rows of whose lives others tell.
    """

    settings: JoinSettings
    watches: tuple[arrival.Watch, arrival.Watch]
    rows: tuple[list[Rows], list[Rows]]
    told: tuple[list[Whole], list[Whole]]
    behind: tuple[int, int] = (NEVER, NEVER)

    @classmethod
    def of(
        cls,
        settings: JoinSettings,
        state: JoinState,
        parcels: list[arrival.Parcel],
        now: int,
    ) -> Coming:
        """Returns what comes in parcels, before anybody is asked for who waits."""
        rows: tuple[list[Rows], list[Rows]] = [state.waiting[0]], [state.waiting[1]]
        told: tuple[list[Whole], list[Whole]] = [], []
        for parcel in parcels:
            rows[parcel.report.hand].append(parcel.rows)
            told[parcel.report.hand].append(parcel.told.code)
        # Reports are read in the order in which the tasks read their rows.
        left, right = (
            reduce(
                lambda known, parcel: known.after(parcel, now),
                sorted(
                    (parcel for parcel in parcels if parcel.report.hand == hand),
                    key=lambda parcel: parcel.report.position,
                ),
                watch,
            )
            for hand, watch in enumerate(state.watches)
        )
        watches = left, right
        if not settings.gathers:
            watches = arrival.awake(watches, settings.sides, now)
        return cls(settings, watches, rows, told)

    def beside(self, waiting: tuple[Rows, Rows], behind: tuple[int, int]) -> Coming:
        """Returns the same with rows that have waited."""
        left, right = (
            [*came, more] for came, more in zip(self.rows, waiting, strict=True)
        )
        return replace(self, rows=(left, right), behind=behind)

    def limit_of_waiting(self, hand: int) -> int:
        """Returns the limit up to which rows of a side that wait are due.

        A left row that can match nobody takes part as the bound of right times says so.
        """
        if self.settings.gathers:
            ended = all(watch.bound == NEVER for watch in self.watches)
            return NEVER if ended else NO_LIMIT
        limit = hold_of(self.settings, self.watches)
        is_left = hand == 0 and _may_be_hopeless(self.settings)
        return max(limit, self.watches[1].bound) if is_left else limit

    def limit_of_pairs(self) -> int:
        """Returns the limit up to which pairs that wait are due: no pair comes before.

        Where candidates are judged together they wait for their left rows instead.
        """
        return self.watches[1].bound if self.settings.event_clock else NO_LIMIT

    def limit(self, hand: int) -> int:
        """Returns the limit up to which rows of a side are due in a step."""
        settings, side = self.settings, self.settings.sides[hand]
        if settings.gathers or not settings.event_clock:
            return NO_LIMIT  # who is due leaves with the row that ends it
        none = (self.rows[0][0].take(slice(0)), self.rows[1][0].take(slice(0)))
        nobody = np.empty(0, bool), np.empty(0, bool)
        present = Present(none, (0, 0), none, self.watches, 0, nobody)
        # A horizon over no rows: bounds alone say what can come.
        horizon = Horizon(settings, present)
        limit = horizon.first_birth(1 - hand)
        if hand == 0 and settings.picks.waits:
            return limit
        # Who is due waits for rows of the other side that wait themselves.
        limit = min(limit, self.behind[1 - hand])
        if leaves_unseen(settings, hand):
            # Nobody leaves unseen whom a row may meet that only comes to wait.
            least = hold_of(settings, self.watches)
            for rows in self.rows[1 - hand]:
                birth = births(settings.sides[1 - hand].window, rows)
                limit = min(limit, int(birth[birth >= least].min(initial=NEVER)))
        # An end that is not known yet is not due, even if nobody comes on the other
        # side.
        is_open = side.remembers and not side.is_intrinsic and horizon.can_come(hand)
        return min(limit, NEVER - 1) if is_open else limit

    def newest(self, hand: int) -> int:
        """Returns how many newest rows end nowhere in a step, where each ends one."""
        # Whoever comes ends one at most; those that are late end nobody.
        came = sum(map(len, self.rows[hand]))
        return max(0, self.settings.newest_of_all(hand) - came)

    def codes(self, hand: int, alive: int) -> Whole | None:
        """Returns each code of which a side's rows may meet who comes, or be ended.

        Nothing where many more come than are alive, which then are all looked at: to
        sort codes costs more. Rows that others end are let go as their key comes.
        """
        # All that came, on both hands: whoever came may meet, or end, a row of this
        # side.
        came = sum(len(rows) for of_hand in self.rows for rows in of_hand)
        is_intrinsic = self.settings.sides[hand].is_intrinsic
        if not alive or (is_intrinsic and came > _MANY * alive):
            return None
        return self.all_codes(hand)

    def all_codes(self, hand: int) -> Whole:
        """Returns each code of which a side's rows may meet who comes, or be ended."""
        if self.settings.gathers:
            return np.empty(0, np.int64)
        # Whom the other side's rows may meet ...
        codes = [rows.code[rows.has_key] for rows in self.rows[1 - hand]]
        if self.settings.sides[hand].told:
            codes += self.told[hand]
        elif not self.settings.sides[hand].is_intrinsic:
            # ... and whom rows of their own side may end.
            codes += [rows.code for rows in self.rows[hand]]
        return distinct(np.concatenate(codes))


def leaves_unseen(settings: JoinSettings, hand: int) -> bool:
    """Tells whether nothing comes of a side's row that falls due: none is looked at."""
    side = settings.sides[hand]
    return side.is_intrinsic and not side.remembers and not settings.picks.ranks


@dataclass(frozen=True, slots=True)
class Due:
    """When something happens to rows and pairs that a step leaves, whoever comes."""

    rows: tuple[Whole, Whole]
    pairs: Whole


def nobody_due(sides: tuple[Rows, Rows]) -> Due:
    """Returns that no row is due: only a new row can change what is there."""
    left, right = (np.full(len(rows), NEVER) for rows in sides)
    return Due((left, right), left[:0])


def due_times(horizon: Horizon, present: Present, picked: Picked) -> Due:
    """Returns when rows and pairs are due, as a step leaves them.

    A row of a pair that waits is due with that pair, or with its left row.
    """
    settings = horizon.settings
    # A pair that waits is due as no right row can come that stands before it.
    held = remembered(settings, picked)
    picks, rights = horizon.settings.picks, horizon.present.rows[1]
    if picks.waits or not picks.by_time or not len(held):
        pairs = np.full(len(held), NEVER)
    else:
        pairs = row_times(horizon.settings, rights)[held.right]
    if not settings.event_clock:
        return replace(nobody_due(present.rows), pairs=pairs)
    left, right = (
        _due(side, rows, needed)
        for side, rows, needed in zip(
            settings.sides,
            present.rows,
            (picked.held.left, picked.held.right),
            strict=True,
        )
    )
    if settings.picks.waits:
        judged = least_births(settings.sides[1].window, picked.settled_by)
        left = np.minimum(horizon.latest_ends(0), judged)
        outdated = least_births(settings.sides[0].window, picked.outdated_by)
        right = np.minimum(right, outdated)
    return Due((left, right), pairs)


def _due(side: SideSettings, rows: Rows, needed: Whole) -> Whole:
    """Returns when something happens to a side's rows: the limit is past them.

    A row given once that has met comes out when no earlier meeting can follow.
    """
    due = rows.death.copy()
    due[needed] = NEVER
    if not side.once:
        return due
    # It has met, but an earlier meeting may follow until its own is past.
    is_open = (rows.met < NEVER) & ~rows.emitted
    return np.where(is_open, np.minimum(rows.met, rows.death), due)


def due_waiting(settings: JoinSettings, present: Present, hand: int) -> Whole:
    """Returns when rows that wait are due: as they take part."""
    rows = present.waiting[hand]
    if settings.gathers:
        return np.full(len(rows), NEVER - 1)  # as all have come
    if not settings.event_clock:
        return rows.moment
    if hand or not len(rows) or not _may_be_hopeless(settings):
        return rows.birth
    # Who may do so before it is born, since it matches nobody, is looked at each time.
    sides = rows, present.rows[1].take(slice(0))
    nearby = nearest.Nearby(sides, NO_MATCHES, present.watches[1].bound)
    settled = nearest.settled_by(settings.picks.nearest[0], nearby)
    return np.where(settled < rows.birth, NO_LIMIT, rows.birth)


def _may_be_hopeless(settings: JoinSettings) -> bool:
    """Tells whether left rows that wait may take part because they match nobody."""
    is_asof = settings.event_clock and settings.picks.takes_nearest
    return is_asof and waits_for(settings)[1]
