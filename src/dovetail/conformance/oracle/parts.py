"""The parts of one join that every clock plays with, and the bounds of its inputs.

The bound of an input is the newest row time seen less its lateness, or a higher
promise. A row below the bound that stood before it is late:

    lateness 2 seconds   10:00:05 arrives -> bound 10:00:03
                         10:00:03 arrives    in time
                         10:00:02 arrives    late
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count

from dovetail import spec
from dovetail.conformance.oracle import lives
from dovetail.conformance.oracle.emission import Writer
from dovetail.conformance.oracle.picks import Picker
from dovetail.conformance.oracle.sides import (
    NEVER,
    PAST,
    LivingRow,
    Moment,
    NewRow,
    OneSide,
    Pair,
    Plain,
    Sides,
    moment_of,
    sides_of,
)
from dovetail.errors import LimitError

LATE = "late"
NULL_TIME = "null_time"
BAD_INTERVAL = "bad_interval"
IN_TIME = ""


class Bounds:
    """The bound of every input, moved by rows, promises and ends."""

    def __init__(self) -> None:
        """Starts with nothing seen."""
        self._newest: dict[str, Moment] = defaultdict(lambda: PAST)
        self._promised: dict[str, Moment] = defaultdict(lambda: PAST)

    def newest(self, source: spec.Input) -> Moment:
        """Returns the newest row time seen."""
        return self._newest[source.name]

    def bound(self, source: spec.Input) -> Moment:
        """Returns the time below which a row would be late."""
        newest = self.newest(source)
        if newest > PAST:
            newest = source.lateness.negated().after(int(newest))
        return max(newest, self._promised[source.name])

    def see(self, source: spec.Input, time: Moment) -> None:
        """Moves the newest time forward, never back."""
        self._newest[source.name] = max(self.newest(source), time)
        # Less a month a later time may be an earlier day; a bound never goes back.
        self.promise(source.name, self.bound(source))

    def promise(self, name: str, time: Moment = NEVER) -> None:
        """Takes a promise that no earlier row follows; without a time, none at all."""
        self._promised[name] = max(self._promised[name], time)

    def rejection(self, source: spec.Input, values: Plain) -> str:
        """Returns why a row takes no part, or `IN_TIME`."""
        if not source.is_timed:
            return IN_TIME
        time = moment_of(values[source.time])
        if time is None:
            return NULL_TIME
        return LATE if time < self.bound(source) else IN_TIME


@dataclass(frozen=True, slots=True)
class Parts:
    """A join taken apart: its kind, sides, picker and writer, and how far it is.

    `rows` are those that have come in and take part, in their order. `inner` are the
    joins that sides are made of, taken apart; they look at the same bounds.
    """

    kind: spec.Kind
    clock: spec.Clock
    inputs: spec.Inputs
    sides: Sides
    picker: Picker
    writer: Writer
    settings: spec.Settings
    inner: Mapping[spec.Hand, Parts]
    bounds: Bounds
    places: Iterator[int] = field(default_factory=count)
    rows: list[LivingRow] = field(default_factory=list)

    @classmethod
    def of(cls, play: spec.Play, join: spec.JoinSpec) -> Parts:
        """Returns the parts of a play's join, before anything has come."""
        return cls.inside(play, join, "the join", Bounds())

    @classmethod
    def inside(
        cls, play: spec.Play, join: spec.JoinSpec, place: str, bounds: Bounds
    ) -> Parts:
        """Returns the parts of a join that stands at a place of the whole one."""
        sides = sides_of(play, join, place)
        left, right = (sides[hand].input for hand in spec.HANDS)
        inner = {
            hand: cls.inside(play, source.join, sides[hand].input.name, bounds)
            for hand in spec.HANDS
            for source in [join.side(hand).source]
            if isinstance(source, spec.Nested)
        }
        return cls(
            join.kind,
            join.clock,
            play.inputs,
            sides,
            Picker.of(join, left, right),
            Writer.of(play, join),
            play.settings,
            inner,
            bounds,
        )

    def late_null_rows(self, event: spec.Arrive) -> Iterator[spec.Emission]:
        """Yields the null rows of a row that is late, where its side is preserved."""
        for hand in self.hands_of(event.input):
            if self.kind.preserves(hand):
                row = LivingRow(hand, event.row, 0, None)
                yield from self.writer.unmatched(row)

    def waits_for_table(self, hand: spec.Hand) -> bool:
        """Tells whether the unmatched rows of a side wait for a table's row."""
        kinds = [self.sides[one].input.kind for one in (hand, hand.other)]
        return (
            self.settings.late_table_rows != spec.IgnoreLateTableRows()
            and kinds == [spec.InputKind.STREAM, spec.InputKind.TABLE]
            and self.kind.preserves(hand)
            and self.kind.gives_pairs
        )

    def has_waited(self, since: Moment, now: Moment) -> bool:
        """Tells whether a row has waited longer than rows wait for a table."""
        match self.settings.late_table_rows:
            case spec.EmitLateTableRows(wait=spec.Span() as wait) if math.isfinite(
                since
            ):
                return now > wait.after(int(since))
            case _:
                return False

    def hands_of(self, name: str) -> tuple[spec.Hand, ...]:
        """Returns the hands of an input: both, left first, in a self-join."""
        return tuple(hand for hand in spec.HANDS if self.sides[hand].input.name == name)

    def leaves(self) -> Iterator[OneSide]:
        """Yields the sides whose rows are those of an input, inner joins' too."""
        for hand in spec.HANDS:
            if hand in self.inner:
                yield from self.inner[hand].leaves()
            else:
                yield self.sides[hand]

    def rejection(self, event: spec.Arrive, *, is_state: bool = False) -> str:
        """Returns why a row takes no part, or `IN_TIME`; state is never late.

        In a self-join an interval that is bad on one side is bad on both: the row
        leaves once.
        """
        reason = self.bounds.rejection(self.inputs[event.input], event.row)
        # State is never late, though rows of it have moved the bound.
        if reason == NULL_TIME or (reason == LATE and not is_state):
            return reason
        # Its own time decides before its interval: who is late for that is late once.
        row = self.new_row(event)
        sides = [side for side in self.leaves() if side.input.name == event.input]
        is_bad = any(lives.is_bad_interval(side, row) for side in sides)
        return BAD_INTERVAL if is_bad else IN_TIME

    def rejection_of_result(self, hand: spec.Hand, row: NewRow) -> str:
        """Returns why the row of an inner join takes no part: never late either."""
        side = self.sides[hand]
        if side.input.is_timed and row.time is None:
            return NULL_TIME
        return BAD_INTERVAL if lives.is_bad_interval(side, row) else IN_TIME

    def state(self) -> tuple[spec.Arrive, ...]:
        """Returns the rows that are there from the start; those of a stream arrive."""
        sources = {side.input.name: side.input for side in self.leaves()}
        return tuple(
            spec.Arrive(source.name, row)
            for source in sources.values()
            if source.kind is not spec.InputKind.STREAM
            for row in source.rows
        )

    def new_row(self, event: spec.Arrive) -> NewRow:
        """Returns the row of an event with its row time."""
        return NewRow(event.row, self._time(self.inputs[event.input], event.row))

    def row(self, hand: spec.Hand, new: NewRow, arrived: int = 0) -> LivingRow:
        """Returns the next row of a side; its row time has now been seen."""
        if new.time is not None:
            # Seen as it takes part: one that is turned away moves no bound.
            self.bounds.see(self.sides[hand].input, new.time)
        place = next(self.places)
        row = LivingRow(hand, new.values, place, new.time, new.origin, arrived)
        self.rows.append(row)
        return row

    def delete(self, hand: spec.Hand, values: Plain) -> lives.Version:
        """Returns the delete of a key; without a time it takes the newest time seen."""
        side = self.sides[hand]
        time = self._time(side.input, values)
        if time is not None:
            self.bounds.see(side.input, time)
        # Without a time of its own a delete happens at the newest time seen.
        newest = self.bounds.newest(side.input)
        # A delete stands in the order of arrival too: a version of its time that comes
        # behind it lives.
        place = next(self.places)
        return lives.Version(
            side.key_of(values), newest if time is None else time, place
        )

    def refuse_excess(self, left: LivingRow, count: int) -> None:
        """Ends the job where a left row has more candidates than a fatal limit.

        That is at the first one too many, whatever is still to come: no more are told.
        """
        picker = self.picker
        if count > picker.limit and picker.on_exceed is spec.OnExceed.FAIL:
            key = [str(part(left.values)) for part in self.sides[spec.Hand.LEFT].hard]
            raise LimitError(
                f"{spec.row_of_key(key)} has {picker.limit + 1} candidates",
                f"at most {picker.limit}",
            )

    def pair_rows(
        self, matches: Sequence[Pair], row_times: Callable[[Pair], Iterable[Moment]]
    ) -> Iterator[tuple[Moment, spec.Emission]]:
        """Yields what each match of one left row gives, as long as it keeps more.

        A row that is skipped counts in `counter`, but is not kept. A pair that meets
        more than once is kept once.
        """
        counter = count(start=1)
        for pair in matches:
            if pair.left.emitted < self.picker.keep:
                rows = [
                    (moment, emission)
                    for moment in row_times(pair)
                    for emission in self.writer.pair(pair, next(counter), moment)
                ]
                # Once, in however many windows the two have met.
                pair.left.emitted += bool(rows)
                yield from rows

    def is_late(self, event: spec.Remove) -> bool:
        """Tells whether a delete, with the time that it takes, comes too late."""
        source = self.inputs[event.input]
        time = self._time(source, event.row)
        taken = self.bounds.newest(source) if time is None else time
        return source.is_timed and taken < self.bounds.bound(source)

    def _time(self, source: spec.Input, values: Plain) -> int | None:
        """Returns the row time of a row, None where it has none."""
        return moment_of(values.get(source.time)) if source.is_timed else None
