"""A join of joins as a join of inputs: the inner joins are played first.

What an inner join gives comes to the join around it as an input of its own: during
each event its rows, then, on the event clock, its bound: the least row time of any row
that it can still give.

    event           inner join gives          the outer join hears
    3  (a row)      row x, nothing < 10:05    x arrives, bound 10:05
    4  (an end)     row y, nothing more       y arrives, its input ends

Beside its columns such a row has its row time and, where it lives as long as the rows
that it is made of, its life. These stand in columns which do not come out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import attrgetter

from dovetail import schema, spec
from dovetail.conformance.local import outlets
from dovetail.conformance.local.refusals import refuse_inner
from dovetail.conformance.local.stage import (
    NOTHING_TOLD,
    InPlace,
    Played,
    Stage,
    Told,
    batch_rows,
    steps,
)
from dovetail.kernels.arrays.names import is_reserved
from dovetail.kernels.arrays.rows import BEGINNING, NEVER
from dovetail.kernels.lifetimes.lives import HANDED, NO_LIVES, Lives, join_lives
from dovetail.kernels.pairs.results import Reason
from dovetail.plan import nested

START_OF_ALL = -1


def has_inner(join: spec.JoinSpec | spec.SetJoinSpec) -> bool:
    """Tells whether a side is the rows of another join."""
    # Rows of sets come from inputs alone.
    if isinstance(join, spec.SetJoinSpec):
        return False
    return bool(nested.inner_joins(join))


@dataclass(frozen=True, slots=True)
class Flat:
    """A play of inputs alone, made of one with inner joins.

    `positions` are those of its events among the events of the first one, its opening
    included; where time passes in front of some, `numbers` tell for each of which event
    it is. `late` are the rows that inner joins have turned away, `told` what is to be
    known beside the events.
    """

    play: spec.Play
    positions: tuple[int, ...]
    numbers: tuple[int, ...]
    late: tuple[spec.Emission, ...] = ()
    told: Told = NOTHING_TOLD

    @classmethod
    def of(cls, play: spec.Play) -> Flat:
        """Returns a play in which inner joins have been played."""
        count = len(play.opening) + len(play.events)
        join = play.join
        if isinstance(join, spec.SetJoinSpec) or not has_inner(join):
            return cls(play, tuple(range(count)), tuple(range(count)))
        play = replace(play, inputs=spec.with_intervals(join, play.inputs))
        whole, of = play, tuple(range(count))
        if join.clock is spec.Clock.ARRIVAL:
            whole, of = spec.with_time_passing(play)
        inner = {
            hand: _InnerSide.of(whole, join, hand, source)
            for hand, source in nested.inner_joins(join).items()
        }
        # A row of a join stands on one side only, so that no late one is told twice.
        late = tuple(one for side in inner.values() for one in side.given.late)
        return _Outer(whole, join, inner).flat(late, of)

    def by_event(self) -> Flat:
        """Returns the same where all positions are those of events of the first."""
        positions = tuple(map(self._event, self.positions))
        late = tuple(replace(one, after=self._event(one.after)) for one in self.late)
        return replace(self, positions=positions, late=late)

    def _event(self, position: int) -> int:
        """Returns the event of the first that is at a position; before all is none."""
        return position if position < 0 else self.numbers[position]

    def whole(
        self, found: Sequence[spec.Emission], openings: int
    ) -> list[spec.Emission]:
        """Returns the rows of the whole by event; what is late leaves once."""
        before = len(self.play.opening)
        placed = [
            one
            if one.after == spec.UNKNOWN_EVENT
            else replace(one, after=self.positions[before + one.after])
            for one in found
        ]
        # What leaves as time passes stands in front of a row that is late by then.
        every = [*self.late, *_once(self.late, placed)]
        every.sort(key=attrgetter("after"))
        return [
            replace(
                one,
                row=without_hidden(one.row),
                after=max(self._event(one.after) - openings, spec.UNKNOWN_EVENT),
            )
            for one in every
        ]


def _once(
    known: Sequence[spec.Emission], found: Sequence[spec.Emission]
) -> Iterator[spec.Emission]:
    """Gives the rows without those that are late and known to be."""
    # Counted: rows with the same values may have come late together.
    left = Counter(map(_told, known))
    for one in found:
        if (
            one.outlet is spec.Outlet.LATE
            and nested.TIME not in one.row
            and left[_told(one)]
        ):
            left[_told(one)] -= 1
        else:
            yield one


def _told(emission: spec.Emission) -> tuple[int, str]:
    """Returns what makes two late rows the same."""
    return emission.after, repr(sorted(emission.row.items()))


@dataclass(frozen=True, slots=True)
class _InnerSide:
    """A side that is the rows of a join: as an input, and what comes of it when."""

    input: spec.Input
    given: Given
    holds: int = 0

    @classmethod
    def of(
        cls,
        play: spec.Play,
        join: spec.JoinSpec,
        hand: spec.Hand,
        source: spec.Nested,
    ) -> _InnerSide:
        """Returns the side, its join played."""
        refuse_inner(play, join, hand)
        waits = nested.inner_settings(join, play.settings)
        inputs = play.inputs
        if source.join.clock is not join.clock:
            # A data set of its own: what is bad around it is not in it.
            inputs = {it: replace(one, intervals=()) for it, one in inputs.items()}
        within = replace(play, join=source.join, inputs=inputs, settings=waits)
        flat = Flat.of(within).by_event()
        inherits = join.side(hand).window.is_inherited
        stage = Stage.of(flat.play, flat.told, inherited=inherits)
        inner = Inner(stage, flat.positions)
        given = inner.given(len(play.opening) + len(play.events))
        if spec.is_batch_inside(join, join.side(hand), play.inputs):
            return cls.of_data_set(play, source, hand, given)
        late = [*flat.late, *_once(flat.late, given.late)]
        handed = HANDED.names if inherits else ()
        columns = [schema.Column(name, schema.AtomicType.BIGINT) for name in handed]
        told = nested.rows_of_join(source, play.inputs, hand, columns)
        # In a batch all that a join gives is there from the start.
        rows = given.rows[0] if join.clock is spec.Clock.BATCH else ()
        side, whole = replace(told, rows=tuple(rows)), replace(given, late=late)
        return cls(side, whole, stage.settings.holds if inherits else 0)

    @classmethod
    def of_data_set(
        cls, play: spec.Play, source: spec.Nested, hand: spec.Hand, given: Given
    ) -> _InnerSide:
        """Returns the side of a join that is a data set: nothing comes of it later."""
        rows = tuple(without_hidden(row) for row in given.rows[0])
        name = nested.rows_of_join(source, play.inputs, hand).name
        told = spec.data_set_of(source, play.inputs, name)
        nothing: tuple[list[spec.Row], ...] = tuple([] for _ in given.rows)
        return cls(replace(told, rows=rows), replace(given, rows=nothing))


@dataclass(frozen=True, slots=True)
class _Outer:
    """The join around inner ones: its events, and what those give between them."""

    play: spec.Play
    join: spec.JoinSpec
    inner: Mapping[spec.Hand, _InnerSide]

    def flat(self, late: tuple[spec.Emission, ...], numbers: tuple[int, ...]) -> Flat:
        """Returns the whole as a play of inputs alone."""
        openings = len(self.play.opening)
        # The pause stands for the start: what comes of the state of joins inside is
        # there before all events.
        whole = (spec.Pause(), *self.play.opening, *self.play.events)
        placed = [
            (position, one)
            for position, event in enumerate(whole, start=START_OF_ALL)
            for one in self._around(position, event)
        ]
        # What stands around the opening is the opening of the whole.
        split = sum(position < openings for position, _ in placed)
        events = tuple(one for _, one in placed)
        positions = tuple(position for position, _ in placed)
        known = {hand: side.input for hand, side in self.inner.items()}
        join, inputs = nested.unnested(self.join, self.play.inputs, known)
        return Flat(
            spec.Play(join, inputs, events[split:], events[:split], self.play.settings),
            positions,
            numbers,
            late,
            self._told(positions),
        )

    def _told(self, positions: Sequence[int]) -> Told:
        """Returns what is told of lives, at the last of what comes of an event.

        All of that is one step, but where rows meet in order of arrival.
        """
        # Written from first to last, so that of each event the last line stays.
        last = {position: number for number, position in enumerate(positions)}
        news = {
            hand: {
                last[position]: lives
                for position, lives in enumerate(side.given.lives, start=START_OF_ALL)
                if not lives.says_nothing
            }
            for hand, side in self.inner.items()
        }
        is_event = self.join.clock is spec.Clock.EVENT
        ends = tuple(past + 1 for past in last.values() if is_event)
        left, right = (
            self.inner[hand].holds if hand in self.inner else 0 for hand in spec.HANDS
        )
        return Told(news, ends, (left, right))

    def _around(self, position: int, event: spec.Event) -> Iterator[spec.Event]:
        """Gives an event as the outer join hears it, first that time has passed."""
        if self.join.clock is spec.Clock.BATCH:
            yield from [event] if position > START_OF_ALL else []
            return
        yield spec.Pause(event.clock)
        for hand in spec.HANDS:
            if hand in self.inner:
                given, name = self.inner[hand].given, self.inner[hand].input.name
                for row in given.rows[position + 1]:
                    yield spec.Arrive(name, row, event.clock)
                # Behind the rows: what the join inside has given by then is in time.
                bound = given.bounds[position + 1]
                if bound == NEVER:
                    yield spec.Finish(name, event.clock)
                elif bound > BEGINNING:
                    yield spec.Bound(name, bound, event.clock)
            elif not isinstance(event, spec.Pause):
                source = self.join.side(hand).source
                yield from [event] if source == spec.Named(event.input) else []


def without_hidden(row: spec.Row) -> spec.Row:
    """Returns a row without the columns that do not come out."""
    return {name: value for name, value in row.items() if not is_reserved(name)}


@dataclass(frozen=True, slots=True)
class Given:
    """What an inner join gives: at the start, then during each event.

    `bounds` are the least row times of what it can still give; `late` are the rows
    that it turns away. `lives` tell of those that its rows inherit.
    """

    rows: tuple[list[spec.Row], ...]
    bounds: list[int]
    late: list[spec.Emission]
    lives: list[Lives]

    @classmethod
    def nothing(cls, count: int) -> Given:
        """Returns what comes of nothing, during so many events."""
        rows: tuple[list[spec.Row], ...] = tuple([] for _ in range(count + 1))
        return cls(rows, [BEGINNING] * len(rows), [], [NO_LIVES] * len(rows))


@dataclass(frozen=True, slots=True)
class Inner:
    """An inner join on its stage; `positions` are those of its events in the whole."""

    stage: Stage
    positions: tuple[int, ...]

    def given(self, count: int) -> Given:
        """Returns what it gives, during so many events."""
        given = Given.nothing(count)
        if self.stage.join.clock is spec.Clock.BATCH:
            self._take(given, START_OF_ALL, batch_rows(self.stage))
            return given
        memory = InPlace(self.stage)
        start = self.stage.run(memory, self.stage.opening())
        lost = (row for frame in self.stage.frames for row in frame.lost)
        given.late.extend(outlets.late_row(row, Reason.NULL_TIME) for row in lost)
        if self.stage.is_arrival:
            # What comes of the state is no row that arrives.
            late = (row for row in start.rows if row.outlet is spec.Outlet.LATE)
            self._take(given, START_OF_ALL, late)
        else:
            self._step(given, START_OF_ALL, start)
        for played in steps(self.stage, memory):
            self._step(given, self.positions[played.position], played)
        return given

    def _step(self, given: Given, position: int, played: Played) -> None:
        """Takes down what a step has given, and what can still come.

        The position is one in the whole.
        """
        self._take(given, position, played.rows)
        until = played.stepped.until
        # Several steps may be of one event, and a bound never goes back.
        given.bounds[position + 1] = max(given.bounds[position + 1], until)
        told = (given.lives[position + 1], played.stepped.lives)
        given.lives[position + 1] = join_lives(told)

    def _take(
        self, given: Given, position: int, found: Iterable[outlets.OutputRow]
    ) -> None:
        """Takes down rows that come out at a position."""
        for row in found:
            emission = self.stage.writer.emission(row)
            if row.outlet is spec.Outlet.LATE:
                given.late.append(replace(emission, after=position))
            else:
                time = (
                    None
                    if row.row_time is None
                    else schema.from_microseconds(row.row_time)
                )
                is_inherited = self.stage.settings.inherited
                given.rows[position + 1].append(
                    {
                        **emission.row,
                        nested.TIME: time,
                        **(row.handed if is_inherited else {}),
                    }
                )
