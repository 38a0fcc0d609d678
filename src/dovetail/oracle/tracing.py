"""What became of every row of a play: its life, whom it met, or why it met nobody.

The clocks themselves play it and are only watched, so a trace cannot disagree with the
rows that come out. What is told of a life depends on the axis:

    row time           a life as its window gives it
    processing time    from arrival until the row leaves its window
    order of arrival   the same, in numbers of events; rows before event 0 count down
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from dovetail.errors import UnsupportedError
from dovetail.oracle.axis import Axis, as_of, axis_of
from dovetail.oracle.clock_batch import play_batch
from dovetail.oracle.expiry import expires_after
from dovetail.oracle.life import NEVER, PAST, LivingRow, Moment, Plain, moment_of
from dovetail.oracle.parts import Parts
from dovetail.oracle.playing import playable, player_of
from dovetail.oracle.reasons import Fate, Loneliness
from dovetail.oracle.rejection import Rejected, arriving, rejected, state_of
from dovetail.oracle.watching import Watched
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec, Nested
from dovetail.spec.play import Play


@dataclass(frozen=True, slots=True)
class TracedRow:
    """One row on one side, alive in [birth, death) on the axis of the trace.

    `at` is its own place there, `NEVER` where it has none; `bound` that of its input
    when it came too late. A row that never lives has its death before its birth.
    """

    hand: Hand
    values: Plain
    at: Moment
    birth: Moment
    death: Moment
    fate: Fate
    reason: str = ""
    bound: Moment = PAST


@dataclass(frozen=True, slots=True)
class Meeting:
    """Two rows that met, by their numbers among the rows, and whether that came out."""

    left: int
    right: int
    comes_out: bool


@dataclass(frozen=True, slots=True)
class Trace:
    """All rows in their order, late ones last, their meetings, and the last bounds."""

    axis: Axis
    rows: tuple[TracedRow, ...]
    meetings: tuple[Meeting, ...]
    bounds: tuple[tuple[Hand, Moment], ...]


def trace(play: Play) -> Trace:
    """Returns what became of every row of a play."""
    join = playable(play)
    if any(isinstance(join.side(hand).source, Nested) for hand in HANDS):
        raise UnsupportedError.not_yet("oracle", "a trace of a join of a join")
    watched = Watched.of(play, join)
    tracer = _Tracer(join, watched, axis_of(join, watched.parts))
    if join.clock is Clock.BATCH:
        tracer.take_whole(play)
    else:
        tracer.follow(play)
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
        events = arriving(self.parts, (*play.opening, *play.events))
        newcomers = [*state_of(self.parts), *events]
        gone = rejected(newcomers, play_batch(self.parts, play))
        for hand in HANDS:
            rows = [row for row in self.parts.rows if row.hand is hand]
            self.came |= {row: number for number, row in enumerate(rows)}
        self.late += [self._late(one, NEVER, {}) for one in gone]

    def follow(self, play: Play) -> None:
        """Plays event by event and looks at the rows after each."""
        player = player_of(self.parts)
        first = -len(play.opening) if play.events else 0
        gone = rejected(state_of(self.parts), player.start())
        self.late += [self._late(one, NEVER, {}) for one in gone]
        self._look(PAST)
        for number, event in enumerate((*play.opening, *play.events), start=first):
            is_clock = self.axis is Axis.PROCESSING_TIME
            now, bounds = event.clock if is_clock else number, self._bounds()
            gone = rejected(arriving(self.parts, [event]), player.on(event))
            self.late += [self._late(one, now, bounds) for one in gone]
            self._look(now)

    def _look(self, now: Moment) -> None:
        """Notes which rows are new and which have left since the last look."""
        for row in self.parts.rows:
            self.came.setdefault(row, now)
            if not row.is_stored:
                self.went.setdefault(row, now)

    def _bounds(self) -> dict[Hand, Moment]:
        """Returns the bound of each side's input by now."""
        sides = self.parts.sides
        return {hand: self.parts.bounds.bound(sides[hand].input) for hand in HANDS}

    def told(self) -> Trace:
        """Returns what was noted."""
        pairs = sorted(
            self.watched.matches(), key=lambda pair: [row.place for row in pair]
        )
        matched = {row for pair in pairs for row in pair}
        numbers = {row: number for number, row in enumerate(self.parts.rows)}
        written = self.watched.writer.written
        return Trace(
            self.axis,
            (*(self._traced(row, matched) for row in self.parts.rows), *self.late),
            tuple(
                Meeting(numbers[pair[0]], numbers[pair[1]], pair in written)
                for pair in pairs
            ),
            tuple(self._bounds().items()),
        )

    def _traced(self, row: LivingRow, matched: Collection[LivingRow]) -> TracedRow:
        """Returns what became of a row that took part."""
        lonely = Loneliness(self.watched, row)
        fate, reason = Fate.MATCHED, ""
        if row not in matched:
            fate, reason = lonely.fate(), lonely.reason()
        birth, death = self._life(row)
        at = self._place(row)
        return TracedRow(row.hand, row.values, at, birth, death, fate, reason)

    def _late(
        self, gone: Rejected, now: Moment, bounds: Mapping[Hand, Moment]
    ) -> TracedRow:
        """Returns a row that was turned away, at its own time or when it came."""
        source = self.parts.sides[gone.hand].input
        time = moment_of(gone.values.get(source.time))
        by_time = NEVER if time is None else time
        at = by_time if self.axis is Axis.ROW_TIME else now
        bound = bounds.get(gone.hand, PAST)
        return TracedRow(
            gone.hand, gone.values, at, at, at, Fate.LATE, gone.reason, bound
        )

    def _life(self, row: LivingRow) -> tuple[Moment, Moment]:
        """Returns from when until when a row is alive on the axis."""
        is_measured = self.axis is Axis.ROW_TIME or self.join.clock is Clock.BATCH
        if is_measured:
            return row.span
        death = NEVER if row.is_stored else self.went[row]
        if self.axis is Axis.PROCESSING_TIME:
            death = min(death, expires_after(self.parts.sides, row))
        return self.came[row], max(self.came[row], death)

    def _place(self, row: LivingRow) -> Moment:
        """Returns where on the axis the row itself stands."""
        if self.axis is Axis.ROW_TIME:
            return NEVER if row.time is None else row.time
        if self.axis in {Axis.AS_OF_TIME, Axis.AS_OF_NUMBER}:
            return as_of(self.parts.picker.nearest, row)
        return self.came[row]
