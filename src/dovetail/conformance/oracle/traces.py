"""What became of every row of a play: its life, whom it met, or why it met nobody.

The clocks themselves play it and are only watched, so a trace cannot disagree with the
rows that come out. What is told of a life depends on the axis:

    row time           a life as its window gives it
    processing time    from arrival until the row leaves its window
    order of arrival   the same, in numbers of events; rows before event 0 count down
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import chain

from dovetail import expression, spec
from dovetail.conformance.oracle import clocks, picks
from dovetail.conformance.oracle.batch import meetings, play_batch
from dovetail.conformance.oracle.emission import Writer
from dovetail.conformance.oracle.horizon import Horizon
from dovetail.conformance.oracle.parts import Parts
from dovetail.conformance.oracle.sides import (
    NEVER,
    PAST,
    LivingRow,
    Moment,
    Pair,
    Plain,
    hold,
    moment_of,
)
from dovetail.conformance.oracle.store import expires_after
from dovetail.schema import DATES


class Axis(Enum):
    """What the moments of a trace are: microseconds of a time, or numbers of rows."""

    ROW_TIME = "row time"
    PROCESSING_TIME = "processing time"
    ARRIVAL = "order of arrival"
    AS_OF_TIME = "time of the asof"
    AS_OF_NUMBER = "number of the asof"

    @property
    def is_time(self) -> bool:
        """Tells whether its moments are microseconds."""
        return self not in {Axis.ARRIVAL, Axis.AS_OF_NUMBER}


class RowOutcome(Enum):
    """What became of a row by the end of a play."""

    MATCHED = "matched"
    UNMATCHED = "unmatched"
    OPEN = "still open"
    LATE = "late"


@dataclass(frozen=True, slots=True)
class TracedRow:
    """One row on one side, with its lives [birth, death) on the axis of the trace.

    `at` is its own place there, `NEVER` where it has none; `bound` that of its input
    when it came too late. A row has several lives in windows of a size; `met` are its
    moments with others.
    """

    hand: spec.Hand
    values: Plain
    at: Moment
    lives: tuple[tuple[Moment, Moment], ...]
    outcome: RowOutcome
    reason: str = ""
    bound: Moment = PAST
    met: tuple[Moment, ...] = ()

    @property
    def unmatched_lives(self) -> tuple[tuple[Moment, Moment], ...]:
        """Returns the lives in which the row met nobody."""
        return tuple(
            (birth, death)
            for birth, death in self.lives
            if not any(birth <= moment <= death for moment in self.met)
        )

    @property
    def birth(self) -> Moment:
        """Returns the first moment at which the row is alive, `NEVER` if at none."""
        return min((birth for birth, _ in self.lives), default=NEVER)

    @property
    def death(self) -> Moment:
        """Returns the moment from which on the row is dead for good."""
        return max((death for _, death in self.lives), default=PAST)

    @property
    def has_life(self) -> bool:
        """Tells whether the row is alive at any moment at all."""
        return self.birth < self.death


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two rows that met, by their numbers among the rows, and whether that came out.

    `moment` is when they did; rows in windows of a size meet once for each such window.
    """

    left: int
    right: int
    comes_out: bool
    moment: Moment


@dataclass(frozen=True, slots=True)
class Trace:
    """All rows in their order, late ones last, their meetings, and the last bounds."""

    axis: Axis
    rows: tuple[TracedRow, ...]
    meetings: tuple[Meeting, ...]
    bounds: tuple[tuple[spec.Hand, Moment], ...]


def trace(play: spec.Play) -> Trace:
    """Returns what became of every row of a play."""
    whole, join, _ = clocks.playable(play)
    watched = Watched.of(whole, join)
    tracer = _Tracer(join, watched, axis_of(join, watched.parts))
    if join.clock is spec.Clock.BATCH:
        tracer.take_whole(whole)
    else:
        tracer.follow(whole)
    return tracer.trace()


@dataclass(slots=True)
class _Tracer:
    """Follows a play from outside, and notes when rows come and go."""

    join: spec.JoinSpec
    watched: Watched
    axis: Axis
    came: dict[LivingRow, Moment] = field(default_factory=dict)
    went: dict[LivingRow, Moment] = field(default_factory=dict)
    late: list[TracedRow] = field(default_factory=list)

    @property
    def parts(self) -> Parts:
        """Returns the parts of the join that is played."""
        return self.watched.parts

    def take_whole(self, play: spec.Play) -> None:
        """Plays all rows at once; each stands at its place among those of its side."""
        events = (*self.parts.state(), *play.opening, *play.events)
        gone = rejected(self.parts, events, play_batch(self.parts, play))
        for hand in spec.HANDS:
            rows = [row for row in self.parts.rows if row.hand is hand]
            self.came |= {row: number for number, row in enumerate(rows)}
        self.late += [self._late(one, NEVER, {}) for one in gone]

    def follow(self, play: spec.Play) -> None:
        """Plays event by event and looks at the rows after each."""
        clock = clocks.clock_of(self.parts)
        # What was there before event 0 counts down to it.
        first = -len(play.opening) if play.events else 0
        gone = rejected(self.parts, self.parts.state(), clock.start())
        self.late += [self._late(one, NEVER, {}) for one in gone]
        self._look(PAST)
        for number, event in enumerate((*play.opening, *play.events), start=first):
            is_clock = self.axis is Axis.PROCESSING_TIME
            now, bounds = event.clock if is_clock else number, self._bounds()
            gone = rejected(self.parts, [event], clock.on(event))
            self.late += [self._late(one, now, bounds) for one in gone]
            self._look(now)

    def _look(self, now: Moment) -> None:
        """Notes which rows are new and which have left since the last look."""
        for row in self.parts.rows:
            # Set once: a row that was ever away has gone, whatever comes later.
            self.came.setdefault(row, now)
            if not row.is_stored:
                self.went.setdefault(row, now)

    def _bounds(self) -> dict[spec.Hand, Moment]:
        """Returns the bound of each side's input by now; a batch waits for nobody."""
        if self.join.clock is spec.Clock.BATCH:
            return dict.fromkeys(spec.HANDS, NEVER)
        sides = self.parts.sides
        return {hand: self.parts.bounds.bound(sides[hand].input) for hand in spec.HANDS}

    def trace(self) -> Trace:
        """Returns what was noted."""
        # By the numbers of rows: two traces of one play are the same to the letter.
        found = sorted(
            self._meetings(), key=lambda one: (one.left, one.right, one.moment)
        )
        met: dict[int, list[Moment]] = defaultdict(list)
        for meeting in found:
            met[meeting.left].append(meeting.moment)
            met[meeting.right].append(meeting.moment)
        traced = []
        for number, row in enumerate(self.parts.rows):
            moments, outcome, reason = tuple(met[number]), RowOutcome.MATCHED, ""
            if not moments:
                # Who is still in its window may yet meet somebody.
                is_open = row.is_stored
                if self.join.clock is spec.Clock.EVENT:
                    is_open = horizon_of(self.parts).can_meet(row)
                outcome = RowOutcome.OPEN if is_open else RowOutcome.UNMATCHED
                reason = self._reason(row)
            there = row.hand, row.values, self._place(row), tuple(self._lives(row))
            traced.append(TracedRow(*there, outcome, reason, met=moments))
        bounds = tuple(self._bounds().items())
        return Trace(self.axis, (*traced, *self.late), tuple(found), bounds)

    def _meetings(self) -> Iterator[Meeting]:
        """Yields the meetings of pairs, with their moments on the axis."""
        numbers = {row: number for number, row in enumerate(self.parts.rows)}
        # What came out has met for certain; of other pairs the picker says whether they
        # did.
        written = {
            (rows, self._moment(rows, time))
            for rows, time in self.watched.writer.written
        }
        met = {
            (rows, moment)
            for rows in self.watched.matches()
            for moment in (
                meetings(Pair(*rows))
                if self._is_measured
                else [self._moment(rows, NEVER)]
            )
        }
        for rows, moment in met | written:
            left, right = (numbers[row] for row in rows)
            yield Meeting(left, right, (rows, moment) in written, moment)

    def _moment(self, rows: Together, row_time: Moment) -> Moment:
        """Returns the moment of a pair that came out; if not by row time, of its rows.

        What comes in order of arrival has no row time; there a pair of a `range` has.
        """
        if self._is_measured and self.join.clock is not spec.Clock.ARRIVAL:
            return row_time
        if self._is_measured and self.watched.were_together(Pair(*rows)):
            return meetings(Pair(*rows))[0]
        return max(self.came[row] for row in rows)

    def _reason(self, row: LivingRow) -> str:
        """Returns the first reason that holds, from the row itself to its partners."""
        side, picker = self.parts.sides[row.hand], self.parts.picker
        is_never_alive = all(life.is_empty for life in row.lives)
        match side.window:
            case _ if side.input.is_timed and row.time is None and is_never_alive:
                return "no row time"
            case spec.Latest() if is_never_alive:
                return "replaced at once"
            case window if is_never_alive and window.hop_length != spec.NO_TIME:
                return "between two windows"
            case _ if is_never_alive:
                return "never alive"
            case _ if any(part(row.values) is None for part in side.hard):
                return "null in its key"
        others = [one for one in self.parts.rows if one.hand is row.hand.other]
        # From here on it is not the row alone: the reason lies in who else was there.
        pairs = [Pair.of(row, other) for other in others]
        fitting = [pair for pair in pairs if hold(picker.condition, pair)]
        if not fitting:
            return "no partner fits"
        is_beside = any(map(self.watched.were_together, fitting))
        return "not picked" if is_beside else "not alive together"

    def _late(
        self, gone: Rejected, now: Moment, bounds: Mapping[spec.Hand, Moment]
    ) -> TracedRow:
        """Returns a row that was turned away, at its own time or when it came."""
        source = self.parts.sides[gone.hand].input
        time = moment_of(gone.values.get(source.time))
        by_time = NEVER if time is None else time
        at, late = by_time if self.axis is Axis.ROW_TIME else now, RowOutcome.LATE
        bound = bounds.get(gone.hand, PAST)
        return TracedRow(gone.hand, gone.values, at, (), late, gone.reason, bound)

    @property
    def _is_measured(self) -> bool:
        """Tells whether lives are measured by the axis, not by who comes and goes."""
        return self.axis is Axis.ROW_TIME or self.join.clock is spec.Clock.BATCH

    def _lives(self, row: LivingRow) -> Iterator[tuple[Moment, Moment]]:
        """Yields from when until when a row is alive on the axis; not empty lives."""
        if self._is_measured:
            alive = (life for life in row.lives if not life.is_empty)
            yield from ((life.birth, life.death) for life in alive)
            return
        death = NEVER if row.is_stored else self.went[row]
        if self.axis is Axis.PROCESSING_TIME:
            death = min(death, expires_after(self.parts.sides, row))
        if self.came[row] < death:
            yield self.came[row], death

    def _place(self, row: LivingRow) -> Moment:
        """Returns where on the axis the row itself stands."""
        if self.axis is Axis.ROW_TIME:
            return NEVER if row.time is None else row.time
        if self.axis in {Axis.AS_OF_TIME, Axis.AS_OF_NUMBER}:
            return as_of(self.parts.picker.nearest, row)
        return self.came[row]


def axis_of(join: spec.JoinSpec, parts: Parts) -> Axis:
    """Returns what the windows of a join are measured by.

    Windows of a `range` look at row time on the arrival clock too.
    """
    windows = [side.window for side in parts.sides.values()]
    match join.clock:
        case spec.Clock.EVENT:
            return Axis.ROW_TIME
        case spec.Clock.ARRIVAL if any(
            isinstance(one, spec.Seconds) for one in windows
        ):
            return Axis.PROCESSING_TIME
        case spec.Clock.ARRIVAL if all(isinstance(one, spec.Range) for one in windows):
            return Axis.ROW_TIME
        case spec.Clock.BATCH if any(side.is_timed for side in parts.sides.values()):
            return Axis.ROW_TIME
        case spec.Clock.BATCH if isinstance(parts.picker.nearest, picks.Nearest):
            # Rows that are simply there are laid out by what the asof compares.
            compared = parts.picker.nearest.pick.left
            schema = parts.sides[spec.Hand.LEFT].input.schema
            kind = expression.parse(
                compared, expression.Scope(((spec.Hand.LEFT.letter, schema),))
            ).type
            return Axis.AS_OF_TIME if kind in DATES else Axis.AS_OF_NUMBER
        case spec.Clock.BATCH if all(
            side.input.is_timed for side in parts.sides.values()
        ):
            return Axis.ROW_TIME
        case _:
            return Axis.ARRIVAL


def as_of(nearest: picks.Nearest | spec.Unlimited, row: LivingRow) -> Moment:
    """Returns what an `asof` compares of a row, `NEVER` where that is nothing."""
    if not isinstance(nearest, picks.Nearest):
        return NEVER
    scalar = nearest.left if row.hand is spec.Hand.LEFT else nearest.right
    measured = picks.measure(scalar(row.values))
    return NEVER if measured is None else float(measured)


def horizon_of(parts: Parts) -> Horizon:
    """Returns what can still come to a join, and to the joins inside it."""
    inner = {hand: horizon_of(part) for hand, part in parts.inner.items()}
    return Horizon(parts.sides, parts.bounds, set(), inner)


@dataclass(frozen=True, slots=True)
class Rejected:
    """A row that takes no part on a side, and why."""

    hand: spec.Hand
    values: Plain
    reason: str


def rejected(
    parts: Parts, events: Iterable[spec.Event], emissions: Iterable[spec.Emission]
) -> Iterator[Rejected]:
    """Yields the rows of events that left by the outlet `late`, once a side.

    A late row that none of the events has brought is the row of an inner join; its
    columns say of which.
    """
    came = [
        (event.row, parts.hands_of(event.input))
        for event in events
        if isinstance(event, spec.Arrive)
    ]
    for emission in emissions:
        if emission.outlet is spec.Outlet.LATE:
            reason = emission.row["reason"]
            values = {key: emission.row[key] for key in emission.row if key != "reason"}
            inner = (
                (values, (hand,))
                for hand in parts.inner
                if set(parts.sides[hand].input.schema.names) == set(values)
            )
            found = (
                one for one in came if {**one[0], "reason": reason} == emission.row
            )
            row, hands = newcomer = next(chain(found, inner), (values, ()))
            # Rows with the same values are told apart by how many of them have come.
            if newcomer in came:
                came.remove(newcomer)
            for hand in hands:
                yield Rejected(hand, row, str(reason))


Together = tuple[LivingRow, LivingRow]


@dataclass(frozen=True, slots=True)
class WatchedPicker(picks.Picker):
    """A picker that keeps the pairs that it looked at."""

    seen: set[Together] = field(default_factory=set)

    def may_count(self, pair: Pair) -> bool:
        """Tells whether a pair is one to look at, and remembers it if so."""
        counts = picks.Picker.may_count(self, pair)
        if counts:
            self.seen.add(pair.rows)
        return counts


@dataclass(frozen=True, slots=True)
class WatchedWriter(Writer):
    """A writer that keeps the pairs whose row came out, each with its row time."""

    written: set[tuple[Together, Moment]] = field(default_factory=set)

    def pair(
        self, pair: Pair, counter: int, row_time: Moment = NEVER
    ) -> list[spec.Emission]:
        """Returns the row of a pair, and remembers the pair where there is one."""
        emissions = Writer.pair(self, pair, counter, row_time)
        if emissions:
            self.written.add((pair.rows, row_time))
        return emissions


@dataclass(frozen=True, slots=True)
class Watched:
    """The parts of a join with the watchers in their places."""

    clock: spec.Clock
    parts: Parts
    picker: WatchedPicker
    writer: WatchedWriter

    @classmethod
    def of(cls, play: spec.Play, join: spec.JoinSpec) -> Watched:
        """Returns the watched parts of a play's join, before anything has come."""
        parts = Parts.of(play, join)
        left, right = (parts.sides[hand].input for hand in spec.HANDS)
        picker = WatchedPicker.of(join, left, right)
        writer = WatchedWriter.of(play, join)
        watched = replace(parts, picker=picker, writer=writer)
        return cls(join.clock, watched, picker, writer)

    def matches(self) -> Iterator[Together]:
        """Yields the pairs that fit, were alive together and were picked."""
        rights = [row for row in self.parts.rows if row.hand is spec.Hand.RIGHT]
        if (
            self.clock is spec.Clock.EVENT
        ):  # on which picks go by row time, then arrival
            rights.sort(key=lambda right: right.time or 0)
        for left in self.parts.rows:
            if left.hand is spec.Hand.LEFT:
                pairs = [Pair(left, right) for right in rights]
                met = [pair for pair in pairs if self.were_together(pair)]
                yield from (pair.rows for pair in self.picker.choose(met).matches)

    def were_together(self, pair: Pair) -> bool:
        """Tells whether both rows of a pair were there at one time.

        In a batch all are there at once; on a clock, those that the picker saw.
        """
        was_seen = self.clock is spec.Clock.BATCH or pair.rows in self.picker.seen
        return was_seen and pair.is_alive_together
