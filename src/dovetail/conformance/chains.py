"""Joins of tables that feed one another: what one changes, the next one takes.

    event 3   a row of `customers`  ->  the inner join: update_before, update_after
                                    ->  the outer join: its table has another row

Each join is played alone, over the events of its inputs and the changes of the joins
in front of it, each change behind the event that made it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from operator import itemgetter

from dovetail import spec
from dovetail.conformance import oracle
from dovetail.conformance.engines import EngineName, NamedPlay, Split, outcomes
from dovetail.conformance.lines import Line, emitted
from dovetail.errors import DovetailError, UnsupportedError
from dovetail.plan.features import Combination
from dovetail.spec.defaults import complete
from dovetail.spec.rules import checked

Placed = tuple[int, spec.Event]
Player = Callable[[spec.Play], list[spec.Emission]]


@dataclass(frozen=True, slots=True)
class TableChain:
    """A result that is a join, of which some inputs are joins of tables."""

    name: str
    step: spec.JoinedInRowTime
    inputs: spec.Inputs
    events: tuple[Placed, ...]
    settings: spec.Settings

    @classmethod
    def of(
        cls,
        output: spec.Output,
        inputs: spec.Inputs,
        events: tuple[spec.Event, ...],
        settings: spec.Settings,
    ) -> TableChain:
        """Returns a result with what comes in; rows from the start come before it."""
        assert isinstance(output.step, spec.JoinedInRowTime)  # noqa: S101 - as asked
        # In front of event 0, and of whatever it makes.
        first = (
            (-1, spec.Arrive(one.name, row))
            for one in inputs.values()
            for row in one.rows
        )
        emptied = {name: replace(one, rows=()) for name, one in inputs.items()}
        placed = (*first, *enumerate(events))
        return cls(output.name, output.step, emptied, placed, settings)

    def lines(self, engine: EngineName, split: Split) -> list[Line]:
        """Returns what an engine puts out."""
        match engine:
            case EngineName.ORACLE:
                player: Player = oracle.play
            case EngineName.LOCAL:
                from dovetail.conformance import local  # noqa: PLC0415 - Arrow is slow

                player = local.play
            case EngineName.STREAM:
                return self._streamed(split)
            case _:
                raise UnsupportedError.not_yet(
                    engine.value, Combination.CHANGELOG_INSIDE.value
                )
        sight = engine.sight(split)
        found = self._played(self.step, player, self.settings)
        # What is there from the start gives nothing.
        lines = (emitted(one, sight) for one in found if one.after >= 0)
        results = spec.Outlet.MATCHED.value
        return [
            Line(it.row, {**it.facts, "out": self.name})
            if it.facts["out"] == results
            else it
            for it in lines
        ]

    def _streamed(self, split: Split) -> list[Line]:
        """Returns what one query of Spark gives, in which the joins stand in a row."""
        named = NamedPlay(self.name, self.whole())
        ((_, found),) = outcomes(EngineName.STREAM, [named], split)
        if isinstance(found, DovetailError):
            raise found
        sight = EngineName.STREAM.sight(split)
        return [
            Line(it.row, {**it.facts, "out": self.name})
            for it in (emitted(one, sight) for one in found)
            if it.facts["out"] == spec.Outlet.MATCHED.value
        ]

    def whole(self) -> spec.Play:
        """Returns the play of all joins as one, with those in front inside of it."""
        whole = spec.whole_join(self.step)
        assert whole is not None  # noqa: S101 - a chain is made of joins alone
        opening = [one for place, one in self.events if place < 0]
        events = tuple(one for place, one in self.events if place >= 0)
        rows = {name: list[spec.Row]() for name in self.inputs}
        for one in opening:
            if isinstance(one, spec.Arrive):
                rows[one.input].append(one.row)
        inputs = {
            name: replace(it, rows=tuple(rows[name]))
            for name, it in self.inputs.items()
        }
        return checked(spec.Play(whole, inputs, events, settings=self.settings))

    def joins(self) -> Iterator[tuple[spec.JoinSpec, spec.Inputs]]:
        """Yields each join with its inputs, the last one first."""
        waiting = [self.step]
        while waiting:
            step = waiting.pop(0)
            inputs = self._inputs(step)
            yield complete(step.join, inputs), inputs
            inner = (one.step for one in step.inputs)
            waiting += [it for it in inner if isinstance(it, spec.JoinedInRowTime)]

    def _inputs(self, step: spec.JoinedInRowTime) -> spec.Inputs:
        """Returns the inputs of a join; what a join in front of it keeps is a table."""
        table = spec.InputKind.TABLE
        return {
            one.name: spec.Input(one.name, table, one.step.schema, key=one.key)
            if isinstance(one.step, spec.JoinedInRowTime)
            else self.inputs[one.name]
            for one in step.inputs
        }

    def _played(
        self, step: spec.JoinedInRowTime, player: Player, settings: spec.Settings
    ) -> list[spec.Emission]:
        """Returns what a join gives, each row with the event that made it."""
        inputs = self._inputs(step)
        made = [
            change
            for one in step.inputs
            if isinstance(one.step, spec.JoinedInRowTime)
            for change in self._changes(one, player)
        ]
        own = [
            (place, event)
            for place, event in self.events
            if isinstance(event, spec.Pause) or event.input in inputs
        ]
        # Stable: what an event brings stands in front of what it makes.
        placed = sorted([*own, *made], key=itemgetter(0))
        play = spec.Play(
            step.join, inputs, tuple(event for _, event in placed), settings=settings
        )
        return [
            # A row knows its place in this play: from here on it is the event's of the
            # text.
            replace(one, after=placed[one.after][0])
            for one in player(checked(play))
        ]

    def _changes(self, one: spec.TimedInput, player: Player) -> Iterator[Placed]:
        """Yields what a join changes of the table that it is to another one."""
        assert isinstance(one.step, spec.JoinedInRowTime)  # noqa: S101 - as asked
        found = self._played(one.step, player, spec.Settings())
        for number, made in enumerate(found):
            match made.change:
                case spec.Change.INSERT | spec.Change.UPDATE_AFTER:
                    yield made.after, spec.Arrive(one.name, made.row)
                case spec.Change.DELETE:
                    yield made.after, spec.Remove(one.name, made.row)
                case spec.Change.UPDATE_BEFORE:
                    # Where the key stays the row is replaced, else it goes.
                    after = found[number + 1].row
                    if any(made.row[name] != after[name] for name in one.key):
                        yield made.after, spec.Remove(one.name, made.row)
                case _:
                    pass
