"""What the kernels know of a join: nodes of the spec, formulas, switches: frozen data.

It travels to Spark's workers. The fingerprint that it has been given stands in every
checkpoint, so that another join is refused at a restart instead of giving other rows.
Pairs of values are always (left, right). A count that is not limited is UNLIMITED, a
condition that nobody wrote is no formula at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import NamedTuple

from dovetail.kernels.arrays.names import hidden
from dovetail.kernels.arrays.rows import NEVER
from dovetail.spec import windows
from dovetail.spec.inputs import (
    Arrival,
    EmitLateTableRows,
    IgnoreLateTableRows,
    OuterRows,
    Outlet,
)
from dovetail.spec.picks import AtMost, Direction, Limit, OnExceed, Tie, Unlimited
from dovetail.spec.spans import NO_TIME, Span

FORMAT = 12
"""Which blobs a state is made of; one of another format is refused."""


class Closing(Enum):
    """Which time closes a side's window in order of arrival, where rows do not.

    CLOCK: processing time closes `Seconds`. ROW_TIME: the highest row time seen on
    either side closes a `Range`, whose rows meet by row time and leave by arrival.
    """

    NONE = "none"
    CLOCK = "clock"
    ROW_TIME = "row_time"


EARLY_TIME = hidden("early")
"""The payload column with the row time that an early null row has told."""


UNLIMITED = NEVER
Program = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Formula:
    """A program, and the columns that it reads, each as (side, name)."""

    program: Program
    columns: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Letters:
    """Two texts that are compared letter by letter, up to a width."""

    left: Formula
    right: Formula
    width: int


@dataclass(frozen=True, slots=True)
class Nearest:
    """The pick of the right row whose time is nearest.

    How far it may be is a span of time, or of numbers that are none a number.
    `is_row_time`: bounds tell of right times; `is_left_row_time`: and of left ones.
    """

    left: Formula
    right: Formula
    direction: Direction
    tolerance: Span | float | Unlimited
    exact: bool
    tie: Tie
    is_row_time: bool
    is_left_row_time: bool = False

    @property
    def takes_last(self) -> bool:
        """Tells whether of right rows of one time the last is taken."""
        return self.tie is Tie.LAST


@dataclass(frozen=True, slots=True)
class SkipFormulas:
    """When a row does not come out: a pair, an unmatched row of a hand, one too many.

    What stands for an absent side is written into the formulas.
    """

    pair: Formula
    unmatched: tuple[Formula, Formula]
    over: Formula


@dataclass(frozen=True, slots=True)
class PickSettings:
    """The picks of a join, with what the spec says of them as programs.

    `keep` pairs of a left row come out. By its `key` a left row is named in errors.
    `shared` ranks the candidates of an `AtMost` by how many elements they share, and
    those that share least go first.
    `numbered` pairs say which of their left row's they are; `shown` are the output
    columns of a changelog that say so. A left row's pairs stand in the order in which
    its right rows came, or first `by_time`, a payload column.
    """

    keep: int = UNLIMITED
    limit: AtMost | Limit | Unlimited = Unlimited()
    key: tuple[Formula, ...] = ()
    shared: tuple[Formula | Letters, ...] = ()
    skip: tuple[SkipFormulas, ...] = ()
    nearest: tuple[Nearest, ...] = ()
    numbered: bool = False
    time: str = ""
    by_time: bool = False
    shown: tuple[Formula, ...] = ()

    @property
    def most(self) -> int:
        """Returns how many candidates a left row may have."""
        return UNLIMITED if isinstance(self.limit, Unlimited) else self.limit.count

    @property
    def unmatches(self) -> bool:
        """Tells whether a left row with too many candidates has no match instead."""
        return isinstance(self.limit, AtMost)

    @property
    def fails(self) -> bool:
        """Tells whether a left row with too many candidates is fatal."""
        return self._exceeds(OnExceed.FAIL)

    @property
    def transforms(self) -> bool:
        """Tells whether another row stands for one with too many candidates."""
        return self._exceeds(OnExceed.TRANSFORM)

    @property
    def counts(self) -> bool:
        """Tells whether candidates are counted before anything else is asked."""
        return self.most < UNLIMITED

    @property
    def takes_nearest(self) -> bool:
        """Tells whether the nearest is taken, and nothing is counted before."""
        return bool(self.nearest) and not self.counts

    @property
    def waits(self) -> bool:
        """Tells whether a pair that comes later decides about those before it."""
        return self.counts or bool(self.nearest)

    @property
    def ranks(self) -> bool:
        """Tells whether the order of a left row's pairs matters."""
        return self.numbered or self.waits or self.keep < UNLIMITED

    @property
    def by_turn(self) -> bool:
        """Tells whether pairs are numbered as they come out in the order of row time.

        Elsewhere a left row's pairs have their numbers whatever comes of other rows.
        """
        return self.numbered and not self.waits and self.keep == UNLIMITED

    def _exceeds(self, how: OnExceed) -> bool:
        """Tells whether this becomes of a left row with too many candidates."""
        return isinstance(self.limit, Limit) and self.limit.on_exceed is how


@dataclass(frozen=True, slots=True)
class SeenFormula:
    """A formula over rows that stand together: of several, and of one that is alone.

    Of one alone, what stands for the second row is written into the formula.
    """

    several: Formula
    alone: Formula


@dataclass(frozen=True, slots=True)
class SetSettings:
    """A join of so many sets, whose rows all have the same `columns`.

    Of a key so many sets have a row as `bounds` say, where they are counted; elsewhere
    all have one. What is whole comes out (`gives_whole`), and so do left
    rows that are in no whole (`gives_alone`).
    Neighbours must `fit`, and of all that stand together something `holds`; what is
    said to be skipped does not come out. Results stand in the `order` of values.
    """

    count: int
    columns: tuple[str, ...]
    bounds: tuple[int, int]
    gives_whole: bool
    gives_alone: bool
    fits: tuple[Formula, ...]
    holds: tuple[SeenFormula, ...]
    skips: tuple[SeenFormula, ...]
    order: tuple[SeenFormula, ...]

    @property
    def is_counted(self) -> bool:
        """Tells whether it matters how many sets have a key, and not which."""
        return self.bounds != (0, 0)


@dataclass(frozen=True, slots=True)
class SideSettings:
    """One side: its window, what is put out of it, and how late its rows may be.

    `untimed` is a table without row times on the event clock: a row of the other side
    meets it as it is when that row comes. `aged`: of versions in order of arrival the
    newest by row time counts, so that one that comes behind a newer one never lives; of
    a side that `is_table` such a row gives no null row either.
    `late_tables`: whether unmatched rows wait for rows of a table that come late.
    Where rows are gathered their input `has_time`, so that who lacks it meets nobody;
    where a side `is_state` it is the newest version of each key.
    The rows of a join, where they `inherit` lives, have so many `holds`: bounds that
    these wait for.
    `ends_by_key`: rows that others end have the key of these; `told`: they have not,
    and another operator tells when they end. `is_whole`: all rows are one partition.
    `late_null_rows`: late rows give their null row too.
    """

    window: windows.Window
    preserved: bool
    once: bool
    timed: bool
    static: bool
    lateness: Span
    idle: int
    own_partition: bool
    eviction: windows.Eviction = windows.KeepPartitions()
    untimed: bool = False
    closing: Closing = Closing.NONE
    aged: bool = False
    is_table: bool = False
    late_tables: IgnoreLateTableRows | EmitLateTableRows = IgnoreLateTableRows()
    has_time: bool = False
    is_state: bool = False
    ends_by_key: bool = False
    told: bool = False
    is_whole: bool = False
    holds: int = 0
    late_null_rows: bool = False

    @property
    def remembers(self) -> bool:
        """Tells whether it matters later that a row has met somebody."""
        return self.preserved or self.once

    @property
    def waits(self) -> bool:
        """Tells whether unmatched rows wait for rows of a table that come late."""
        return isinstance(self.late_tables, EmitLateTableRows)

    @property
    def longest_wait(self) -> int:
        """Returns how long they do, in microseconds; NEVER is however long it takes."""
        match self.late_tables:
            case EmitLateTableRows(Span(microseconds=length)):
                return length
            case _:
                return NEVER

    @property
    def evicts(self) -> bool:
        """Tells whether rows may leave with their whole partition."""
        return not isinstance(self.eviction, windows.KeepPartitions)

    @property
    def inherits(self) -> bool:
        """Tells whether lives are inherited, and their ends told as time goes on."""
        return self.window.is_inherited

    @property
    def groups(self) -> int:
        """Returns how many groups of lives there are, by the bounds they wait for."""
        if self.untimed or self.static:
            return 1
        return 1 + (self.holds if self.inherits else int(self.ends_with_later))

    @property
    def copies_rows(self) -> bool:
        """Tells whether a row may be in several windows, and so there several times."""
        return self.window.hop_length != NO_TIME

    @property
    def counts_later(self) -> bool:
        """Tells whether a row begins and ends with the nth later row by row time."""
        return self.window.counts_later

    @property
    def ends_with_later(self) -> bool:
        """Tells whether a later row of its partition ends a row, by row time."""
        return self.counts_later or isinstance(self.window, windows.Latest)

    @property
    def is_intrinsic(self) -> bool:
        """Tells whether a row alone says how long it lives."""
        # Rows that come later may end it, other rows that it is made of, or time.
        ends = self.told or self.inherits or self.window.is_ended_by_rows
        return not ends and self.closing is Closing.NONE


class Unread(NamedTuple):
    """What nobody looks at of rows that leave: columns of both sides, their times."""

    left: frozenset[str] = frozenset()
    right: frozenset[str] = frozenset()
    time: bool = False


@dataclass(frozen=True, slots=True)
class JoinSettings:
    """The whole join, as far as a bucket needs it.

    `changelog`: the result of two tables is told by its changes. `finds_lives`: it is
    no join, but the bucket in front of one that is told of lives. `caused`: beside each
    row stands who let it out, by which a join around knows when it came. `inherited`:
    beside each row stands until when it lives, and the join around is told of ends.
    `by_turns`: of rows of one number their turns say which is first, on whichever side;
    so they do of the steps of a program, of which the join is one, as time passes.
    `gathers`: rows are kept until all have come, and `ordered` is what they ask to be.
    Of several `sets` the first is the left side, the right one has all others.
    A key that is its own code is of the `key_type`; hashed ones are hidden columns.
    Over so many `buckets` keys are spread; state fits only where that and the
    `fingerprint` of the join are the same. The `identity` says in full what is hashed.
    A step that would find more new pairs than `most_pairs` at once gives up.
    Of rows that leave by an outlet nobody looks at what is `unread`.
    """

    sides: tuple[SideSettings, SideSettings]
    event_clock: bool
    gives_pairs: bool
    arrival: Arrival
    ordered: bool
    soft: Program
    soft_columns: tuple[tuple[str, str], ...]
    key_columns: int
    self_join: bool
    changelog: bool = False
    finds_lives: bool = False
    caused: bool = False
    by_turns: bool = False
    step: int = 0
    inherited: bool = False
    gathers: bool = False
    sets: tuple[SetSettings, ...] = ()
    outer_rows: OuterRows = OuterRows.EXPIRY
    picks: PickSettings = PickSettings()
    key_type: str = ""
    buckets: int = 0
    fingerprint: str = ""
    identity: str = ""
    most_pairs: int = NEVER
    unread: Mapping[Outlet, Unread] = field(default_factory=dict)

    def counts_partitions(self, hand: int) -> bool:
        """Tells whether a bucket knows how many partitions of a window have rows.

        Where another operator ends rows, a partition may be in several buckets.
        """
        side = self.sides[hand]
        is_partitioned = not (side.is_whole or side.told)
        return is_partitioned and not (self.event_clock or self.changelog)

    @property
    def numbered(self) -> bool:
        """Tells whether the order of arrival can be seen in the result."""
        return self.shows_order(1)

    def shows_order(self, hand: int) -> bool:
        """Tells whether the result shows in which order a side's rows came.

        Picks go through the right rows by it, for each left row by itself.
        """
        bucket_windows = any(
            side.untimed or not side.is_intrinsic for side in self.sides
        )
        is_shown = self.ordered or bucket_windows or self.asks_bounds
        return not self.event_clock or is_shown or (hand == 1 and self.picks.ranks)

    @property
    def shows_meetings(self) -> bool:
        """Tells whether anybody looks at when pairs meet, or goes by it."""
        is_unread = self.unread.get(Outlet.MATCHED, Unread()).time
        goes_on = self.gathers or self.inherited or self.caused
        goes_by_it = self.shows_order(0) or goes_on
        asks = bool(self.picks.skip) or self.picks.waits or self.retracts
        return goes_by_it or asks or not is_unread

    @property
    def holds(self) -> int:
        """Returns how many bounds the lives wait for that its rows hand on."""
        left, right = (side.groups for side in self.sides)
        return 0 if self.copies_rows else left * right - 1

    @property
    def inherits(self) -> bool:
        """Tells whether rows inherit lives that are told as time goes on."""
        return any(side.inherits for side in self.sides)

    @property
    def copies_rows(self) -> bool:
        """Tells whether a row may be in several windows."""
        return any(side.copies_rows for side in self.sides)

    @property
    def keeps_places(self) -> bool:
        """Tells whether rows keep the places at which they came, twice as far apart.

        Elsewhere they are numbered when they take part; where rows count by row time
        one that takes part early may still stand behind one that waits. The copies of
        a row that is in several windows are known by its place.
        """
        counts = any(side.counts_later or side.copies_rows for side in self.sides)
        return self.event_clock and counts

    @property
    def early(self) -> bool:
        """Tells whether null rows come with their rows, not at the end of these."""
        return self.outer_rows in (OuterRows.EAGER, OuterRows.EAGER_RETRACT)

    @property
    def pairs_wait(self) -> bool:
        """Tells whether pairs in order of arrival wait until their left row leaves."""
        waits = self.picks.waits and not self.sides[1].static
        return waits and not self.event_clock

    @property
    def marks_early(self) -> bool:
        """Tells whether rows that have given an early null row carry a mark.

        Elsewhere their first meeting says so: in order of arrival it comes out at once,
        unless picks hold pairs back.
        """
        return self.early and (self.event_clock or self.pairs_wait)

    @property
    def takes_back(self) -> bool:
        """Tells whether such null rows are taken back with the row time they had."""
        return self.event_clock and self.retracts

    @property
    def retracts(self) -> bool:
        """Tells whether null rows come with their rows, to be taken back."""
        return self.outer_rows is OuterRows.EAGER_RETRACT

    @property
    def splits_nulls(self) -> bool:
        """Tells whether each stretch of a life without a partner has a null row."""
        return self.outer_rows is OuterRows.PER_MILLISECOND

    @property
    def counts_pairs(self) -> bool:
        """Tells whether left rows carry how many pairs they have had by now."""
        return self.picks.ranks and not self.changelog

    @property
    def asks_bounds(self) -> bool:
        """Tells whether it matters how far bounds were when each row came.

        So it does where rows wait for some time for a table without a time.
        """
        return (self.early and self.event_clock) or any(
            side.waits and side.longest_wait < NEVER and other.untimed
            for side, other in zip(self.sides, self.sides[::-1], strict=True)
        )

    def without_failing(self) -> JoinSettings:
        """Returns the same join where too many candidates are no error."""
        if not self.picks.fails:
            return self
        skipping = Limit(self.picks.most, OnExceed.SKIP)
        return replace(self, picks=replace(self.picks, limit=skipping))

    @property
    def reads_clock(self) -> bool:
        """Tells whether rows carry the processing time at which they came."""
        waits = any(side.waits for side in self.sides)
        return (waits and not self.event_clock) or any(
            isinstance(side.window, windows.Seconds)
            or isinstance(side.eviction, windows.EvictAge)
            for side in self.sides
        )

    @property
    def reads_all(self) -> str:
        """Returns why a batch reads all rows that are kept; empty where it does not.

        Elsewhere it reads its working set: rows of the keys that come, and rows due.
        """
        if self.gathers:
            return ""  # nothing is looked at before the end
        early = self.outer_rows is not OuterRows.EXPIRY
        sides = self.sides
        reasons = {
            "results come out in the order of row time": self.ordered,
            "the result is told by its changes": self.changelog,
            "null rows come before their rows end": early,
            "a table has no row times": any(side.untimed for side in sides),
            "time closes windows in the order of arrival": self.reads_time,
            "rows end lives of rows of other keys": any(
                not (one.is_intrinsic or one.ends_by_key or one.told) for one in sides
            ),
            "lives begin with later rows, or are inherited": any(
                one.counts_later or one.inherits for one in sides
            ),
            "versions of a key count by row time, and come in any order": any(
                one.aged and not one.told for one in sides
            ),
            "whole partitions are evicted": any(
                one.evicts and not one.told for one in sides
            ),
            "unmatched rows wait for late ones": any(side.waits for side in sides),
            "rows in several windows come out once": any(
                side.copies_rows and side.once for side in sides
            ),
        }
        return next((reason for reason, holds in reasons.items() if holds), "")

    @property
    def is_told(self) -> bool:
        """Tells whether rows get their places, and some their ends, from elsewhere."""
        return any(side.told for side in self.sides)

    def of_lives(self) -> JoinSettings:
        """Returns the settings by which the lives are found that this join is told.

        Nobody meets there, and rows have the key of those that end them. Rows of a side
        that nothing is told of only have a place, as if they were never stored.
        """
        left, right = (
            replace(side, told=False, ends_by_key=True, preserved=False, once=False)
            if side.told
            else replace(
                side,
                window=windows.Rows(0),
                eviction=windows.KeepPartitions(),
                closing=Closing.NONE,
                aged=False,
                preserved=False,
                once=False,
            )
            for side in self.sides
        )
        # By the identity a checkpoint knows joins, and this is none.
        without = replace(self, picks=PickSettings(), identity="")
        return replace(without, sides=(left, right), finds_lives=True)

    def newest_of_all(self, hand: int) -> int:
        """Returns how many newest rows of all are alive, where lives are found by that.

        Then rows end in the order in which they came. Elsewhere it is 0.
        """
        match self.sides[hand]:
            case SideSettings(window=windows.Rows(count), is_whole=True):
                return count if self.finds_lives else 0
            case _:
                return 0

    @property
    def reads_time(self) -> bool:
        """Tells whether time closes windows in order of arrival."""
        return any(side.closing is not Closing.NONE for side in self.sides)


def waits_for(settings: JoinSettings) -> tuple[bool, bool]:
    """Tells whose bounds rows wait for before they take part.

    A version's end is known only when no older row of its side can come, so rows
    that might meet it wait until its side's bound is above their birth.
    """
    if settings.event_clock:
        left, right = (
            side.ends_with_later and not (side.static or side.untimed)
            for side in settings.sides
        )
        return left, right
    merged = settings.arrival is Arrival.MERGED
    return (merged and not settings.sides[0].static), (
        merged and not settings.sides[1].static
    )
