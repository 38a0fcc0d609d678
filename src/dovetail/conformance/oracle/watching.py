"""A picker and a writer that remember what they were asked.

They answer as those that they stand in for, so a play that is watched goes on as any.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from dovetail.conformance.oracle.emission import Writer
from dovetail.conformance.oracle.life import NEVER, LivingRow, Moment
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.parts import Parts
from dovetail.conformance.oracle.picking import Picker
from dovetail.conformance.oracle.verdict import by_right_row
from dovetail.spec.inputs import Emission
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec
from dovetail.spec.play import Play

Together = tuple[LivingRow, LivingRow]


@dataclass(frozen=True, slots=True)
class WatchedPicker(Picker):
    """A picker that keeps the pairs that it looked at."""

    seen: set[Together] = field(default_factory=set)

    def may_count(self, pair: Pair) -> bool:
        """Tells whether a pair is one to look at, and remembers it if so."""
        counts = Picker.may_count(self, pair)
        if counts:
            self.seen.add(pair.rows)
        return counts


@dataclass(frozen=True, slots=True)
class WatchedWriter(Writer):
    """A writer that keeps the pairs whose row came out, each with its row time."""

    written: set[tuple[Together, Moment]] = field(default_factory=set)

    def pair(
        self, pair: Pair, counter: int, row_time: Moment = NEVER
    ) -> list[Emission]:
        """Returns the row of a pair, and remembers the pair where there is one."""
        emissions = Writer.pair(self, pair, counter, row_time)
        if emissions:
            self.written.add((pair.rows, row_time))
        return emissions


@dataclass(frozen=True, slots=True)
class Watched:
    """The parts of a join with the watchers in their places."""

    clock: Clock
    parts: Parts
    picker: WatchedPicker
    writer: WatchedWriter

    @classmethod
    def of(cls, play: Play, spec: JoinSpec) -> Watched:
        """Returns the watched parts of a play's join, before anything has come."""
        parts = Parts.of(play, spec)
        left, right = (parts.sides[hand].input for hand in HANDS)
        picker = WatchedPicker.of(spec, left, right)
        writer = WatchedWriter.of(play, spec)
        watched = replace(parts, picker=picker, writer=writer)
        return cls(spec.clock, watched, picker, writer)

    def matches(self) -> Iterator[Together]:
        """Yields the pairs that fit, were alive together and were picked."""
        for left in self.parts.rows:
            if left.hand is Hand.LEFT:
                pairs = self._pairs_of(left)
                met = [pair for pair in pairs if self.were_together(pair)]
                choice = self.picker.choose(met)
                yield from (pair.rows for pair in choice.matches)

    def were_together(self, pair: Pair) -> bool:
        """Tells whether both rows of a pair were there at one time.

        In a batch all are there at once; on a clock, those that the picker saw.
        """
        was_seen = self.clock is Clock.BATCH or pair.rows in self.picker.seen
        return was_seen and pair.is_alive_together

    def _pairs_of(self, left: LivingRow) -> list[Pair]:
        """Returns the pairs of a left row, in the order in which picks go by them."""
        rights = [row for row in self.parts.rows if row.hand is Hand.RIGHT]
        pairs = [Pair(left, right) for right in rights]
        return sorted(pairs, key=by_right_row) if self.clock is Clock.EVENT else pairs
