"""What became of every row of a play: its life, whom it met, or why it met nobody.

The clocks themselves play it and are only watched, so a trace cannot disagree with the
rows that come out. What is told of a life depends on the axis:

    row time           a life as its window gives it
    processing time    from arrival until the row leaves its window
    order of arrival   the same, in numbers of events; rows before event 0 count down
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from dovetail.conformance.oracle.axis import Axis, as_of, axis_of
from dovetail.conformance.oracle.clock_batch import meetings, play_batch
from dovetail.conformance.oracle.expiry import expires_after
from dovetail.conformance.oracle.life import (
    NEVER,
    PAST,
    LivingRow,
    Moment,
    Plain,
    moment_of,
)
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.parts import Parts
from dovetail.conformance.oracle.playing import playable, player_of
from dovetail.conformance.oracle.reasons import Fate, Loneliness
from dovetail.conformance.oracle.rejection import Rejected, rejected
from dovetail.conformance.oracle.watching import Together, Watched
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec
from dovetail.spec.play import Play


@dataclass(frozen=True, slots=True)
class TracedRow:
    """One row on one side, with its lives [birth, death) on the axis of the trace.

    `at` is its own place there, `NEVER` where it has none; `bound` that of its input
    when it came too late. A row has several lives in windows of a size; `met` are its
    moments with others.
    """

    hand: Hand
    values: Plain
    at: Moment
    lives: tuple[tuple[Moment, Moment], ...]
    fate: Fate
    reason: str = ""
    bound: Moment = PAST
    met: tuple[Moment, ...] = ()

    @property
    def lonely_lives(self) -> tuple[tuple[Moment, Moment], ...]:
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
    bounds: tuple[tuple[Hand, Moment], ...]


def trace(play: Play) -> Trace:
    """Returns what became of every row of a play."""
    whole, join = playable(play)
    watched = Watched.of(whole, join)
    tracer = _Tracer(join, watched, axis_of(join, watched.parts))
    if join.clock is Clock.BATCH:
        tracer.take_whole(whole)
    else:
        tracer.follow(whole)
    return tracer.told()


@dataclass(slots=True)
class _Tracer:
    """Follows a play from outside, and notes when rows come and go."""

    join: JoinSpec
    watched: Watched
    axis: Axis
    came: dict[LivingRow, Moment] = field(default_factory=dict)
    went: dict[LivingRow, Moment] = field(default_factory=dict)
    late: list[TracedRow] = field(default_factory=list)

    @property
    def parts(self) -> Parts:
        """Returns the parts of the join that is played."""
        return self.watched.parts

    def take_whole(self, play: Play) -> None:
        """Plays all rows at once; each stands at its place among those of its side."""
        events = (*self.parts.state(), *play.opening, *play.events)
        gone = rejected(self.parts, events, play_batch(self.parts, play))
        for hand in HANDS:
            rows = [row for row in self.parts.rows if row.hand is hand]
            self.came |= {row: number for number, row in enumerate(rows)}
        self.late += [self._late(one, NEVER, {}) for one in gone]

    def follow(self, play: Play) -> None:
        """Plays event by event and looks at the rows after each."""
        player = player_of(self.parts)
        first = -len(play.opening) if play.events else 0
        gone = rejected(self.parts, self.parts.state(), player.start())
        self.late += [self._late(one, NEVER, {}) for one in gone]
        self._look(PAST)
        for number, event in enumerate((*play.opening, *play.events), start=first):
            is_clock = self.axis is Axis.PROCESSING_TIME
            now, bounds = event.clock if is_clock else number, self._bounds()
            gone = rejected(self.parts, [event], player.on(event))
            self.late += [self._late(one, now, bounds) for one in gone]
            self._look(now)

    def _look(self, now: Moment) -> None:
        """Notes which rows are new and which have left since the last look."""
        for row in self.parts.rows:
            self.came.setdefault(row, now)
            if not row.is_stored:
                self.went.setdefault(row, now)

    def _bounds(self) -> dict[Hand, Moment]:
        """Returns the bound of each side's input by now; a batch waits for nobody."""
        if self.join.clock is Clock.BATCH:
            return dict.fromkeys(HANDS, NEVER)
        sides = self.parts.sides
        return {hand: self.parts.bounds.bound(sides[hand].input) for hand in HANDS}

    def told(self) -> Trace:
        """Returns what was noted."""
        found = sorted(
            self._meetings(), key=lambda one: (one.left, one.right, one.moment)
        )
        met: dict[int, list[Moment]] = defaultdict(list)
        for meeting in found:
            met[meeting.left].append(meeting.moment)
            met[meeting.right].append(meeting.moment)
        traced = [
            self._traced(row, tuple(met[number]))
            for number, row in enumerate(self.parts.rows)
        ]
        bounds = tuple(self._bounds().items())
        return Trace(self.axis, (*traced, *self.late), tuple(found), bounds)

    def _meetings(self) -> Iterator[Meeting]:
        """Yields the meetings of pairs, with their moments on the axis."""
        numbers = {row: number for number, row in enumerate(self.parts.rows)}
        written = {
            (rows, self._moment(rows, time))
            for rows, time in self.watched.writer.written
        }
        met = {
            (rows, moment)
            for rows in self.watched.matches()
            for moment in self._moments(rows)
        }
        for rows, moment in met | written:
            left, right = (numbers[row] for row in rows)
            yield Meeting(left, right, (rows, moment) in written, moment)

    def _moments(self, rows: Together) -> list[Moment]:
        """Returns when two rows meet."""
        if self._is_measured:
            return meetings(Pair(*rows))
        return [self._moment(rows, NEVER)]

    def _moment(self, rows: Together, row_time: Moment) -> Moment:
        """Returns the moment of a pair that came out; if not by row time, of its rows.

        What comes in order of arrival has no row time; there a pair of a `range` has.
        """
        if self._is_measured and self.join.clock is not Clock.ARRIVAL:
            return row_time
        if self._is_measured and self.watched.were_together(Pair(*rows)):
            return meetings(Pair(*rows))[0]
        return max(self.came[row] for row in rows)

    def _traced(self, row: LivingRow, met: tuple[Moment, ...]) -> TracedRow:
        """Returns what became of a row that took part."""
        lonely = Loneliness(self.watched, row)
        fate, reason = Fate.MATCHED, ""
        if not met:
            fate, reason = lonely.fate(), lonely.reason()
        at, lives = self._place(row), tuple(self._lives(row))
        return TracedRow(row.hand, row.values, at, lives, fate, reason, met=met)

    def _late(
        self, gone: Rejected, now: Moment, bounds: Mapping[Hand, Moment]
    ) -> TracedRow:
        """Returns a row that was turned away, at its own time or when it came."""
        source = self.parts.sides[gone.hand].input
        time = moment_of(gone.values.get(source.time))
        by_time = NEVER if time is None else time
        at = by_time if self.axis is Axis.ROW_TIME else now
        bound = bounds.get(gone.hand, PAST)
        return TracedRow(gone.hand, gone.values, at, (), Fate.LATE, gone.reason, bound)

    @property
    def _is_measured(self) -> bool:
        """Tells whether lives are measured by the axis, not by who comes and goes."""
        return self.axis is Axis.ROW_TIME or self.join.clock is Clock.BATCH

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
