"""The parts of one join that every clock plays with."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from dovetail.conformance.oracle.emission import Writer
from dovetail.conformance.oracle.intervals import is_bad_interval
from dovetail.conformance.oracle.lateness import (
    BAD_INTERVAL,
    IN_TIME,
    NULL_TIME,
    Bounds,
)
from dovetail.conformance.oracle.life import Came, LivingRow, Moment, Plain, moment_of
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.picking import Picker
from dovetail.conformance.oracle.sides import OneSide, Sides, sides_of
from dovetail.conformance.oracle.versions import Version
from dovetail.errors import LimitError
from dovetail.spec.inputs import (
    Arrive,
    Emission,
    IgnoreLateTableRows,
    Input,
    InputKind,
    Inputs,
    Remove,
    Settings,
)
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec, Kind, Nested
from dovetail.spec.play import Play
from dovetail.spec.stops import row_of_key


@dataclass(frozen=True, slots=True)
class Parts:
    """A join taken apart: its kind, sides, picker and writer, and how far it is.

    `rows` are those that have come in and take part, in their order. `inner` are the
    joins that sides are made of, taken apart; they look at the same bounds.
    """

    kind: Kind
    clock: Clock
    inputs: Inputs
    sides: Sides
    picker: Picker
    writer: Writer
    settings: Settings
    inner: Mapping[Hand, Parts]
    bounds: Bounds
    places: Iterator[int] = field(default_factory=count)
    rows: list[LivingRow] = field(default_factory=list)

    @classmethod
    def of(cls, play: Play, spec: JoinSpec) -> Parts:
        """Returns the parts of a play's join, before anything has come."""
        return cls.inside(play, spec, "the join", Bounds())

    @classmethod
    def inside(cls, play: Play, spec: JoinSpec, place: str, bounds: Bounds) -> Parts:
        """Returns the parts of a join that stands at a place of the whole one."""
        sides = sides_of(play, spec, place)
        left, right = (sides[hand].input for hand in HANDS)
        inner = {
            hand: cls.inside(play, source.join, sides[hand].input.name, bounds)
            for hand in HANDS
            for source in [spec.side(hand).source]
            if isinstance(source, Nested)
        }
        return cls(
            spec.kind,
            spec.clock,
            play.inputs,
            sides,
            Picker.of(spec, left, right),
            Writer.of(play, spec),
            play.settings,
            inner,
            bounds,
        )

    def waits_for_table(self, hand: Hand) -> bool:
        """Tells whether the unmatched rows of a side wait for a table's row."""
        kinds = [self.sides[one].input.kind for one in (hand, hand.other)]
        return (
            self.settings.late_table_rows != IgnoreLateTableRows()
            and kinds == [InputKind.STREAM, InputKind.TABLE]
            and self.kind.preserves(hand)
            and self.kind.gives_pairs
        )

    def hands_of(self, name: str) -> tuple[Hand, ...]:
        """Returns the hands of an input: both, left first, in a self-join."""
        return tuple(hand for hand in HANDS if self.sides[hand].input.name == name)

    def leaves(self) -> Iterator[OneSide]:
        """Yields the sides whose rows are those of an input, inner joins' too."""
        for hand in HANDS:
            if hand in self.inner:
                yield from self.inner[hand].leaves()
            else:
                yield self.sides[hand]

    def verdict(self, event: Arrive) -> str:
        """Returns why a row that arrives takes no part, or `IN_TIME`."""
        reason = self.bounds.verdict(self.inputs[event.input], event.row)
        return reason if reason != IN_TIME else self._verdict_of_interval(event)

    def verdict_of_state(self, event: Arrive) -> str:
        """Returns why a row that is there from the start takes no part: never late."""
        reason = self.bounds.verdict(self.inputs[event.input], event.row)
        return reason if reason == NULL_TIME else self._verdict_of_interval(event)

    def _verdict_of_interval(self, event: Arrive) -> str:
        """Returns whether the interval of a row is bad.

        In a self-join one that is bad on one side is bad on both: the row leaves once.
        """
        came = self.came(event)
        sides = [side for side in self.leaves() if side.input.name == event.input]
        is_bad = any(is_bad_interval(side, came) for side in sides)
        return BAD_INTERVAL if is_bad else IN_TIME

    def verdict_of_result(self, hand: Hand, came: Came) -> str:
        """Returns why the row of an inner join takes no part: never late either."""
        side = self.sides[hand]
        if side.input.is_timed and came.time is None:
            return NULL_TIME
        return BAD_INTERVAL if is_bad_interval(side, came) else IN_TIME

    def state(self) -> tuple[Arrive, ...]:
        """Returns the rows that are there from the start; those of a stream arrive."""
        sources = {side.input.name: side.input for side in self.leaves()}
        return tuple(
            Arrive(source.name, row)
            for source in sources.values()
            if source.kind is not InputKind.STREAM
            for row in source.rows
        )

    def came(self, event: Arrive) -> Came:
        """Returns the row of an event with its row time."""
        return Came(event.row, self._time(self.inputs[event.input], event.row))

    def row(self, hand: Hand, came: Came, arrived: int = 0) -> LivingRow:
        """Returns the next row of a side; its row time has now been seen."""
        if came.time is not None:
            self.bounds.see(self.sides[hand].input, came.time)
        place = next(self.places)
        row = LivingRow(hand, came.values, place, came.time, came.origin, arrived)
        self.rows.append(row)
        return row

    def delete(self, hand: Hand, values: Plain) -> Version:
        """Returns the delete of a key; without a time it takes the newest time seen."""
        side = self.sides[hand]
        time = self._time(side.input, values)
        if time is not None:
            self.bounds.see(side.input, time)
        newest = self.bounds.newest(side.input)
        place = next(self.places)
        return Version(side.key_of(values), newest if time is None else time, place)

    def refuse_excess(self, left: LivingRow, count: int) -> None:
        """Ends the job where a left row has more candidates than a fatal limit."""
        if self.picker.is_fatal(count):
            key = [str(part(left.values)) for part in self.sides[Hand.LEFT].hard]
            raise LimitError(
                f"{row_of_key(key)} has {count} candidates",
                f"at most {self.picker.limit}",
            )

    def pair_rows(
        self, matches: Sequence[Pair], row_times: Callable[[Pair], Iterable[Moment]]
    ) -> Iterator[tuple[Moment, Emission]]:
        """Yields what each match of one left row gives, as long as it keeps more.

        A row that is skipped counts in `counter`, but is not kept. A pair that meets
        more than once is kept once.
        """
        counter = count(start=1)
        for pair in matches:
            if pair.left.given < self.picker.keep:
                rows = [
                    (moment, emission)
                    for moment in row_times(pair)
                    for emission in self.writer.pair(pair, next(counter), moment)
                ]
                pair.left.given += bool(rows)
                yield from rows

    def is_late(self, event: Remove) -> bool:
        """Tells whether a delete, with the time that it takes, comes too late."""
        source = self.inputs[event.input]
        time = self._time(source, event.row)
        taken = self.bounds.newest(source) if time is None else time
        return source.is_timed and taken < self.bounds.bound(source)

    def _time(self, source: Input, values: Plain) -> int | None:
        """Returns the row time of a row, None where it has none."""
        return moment_of(values.get(source.time)) if source.is_timed else None
