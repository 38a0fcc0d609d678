"""Joins of tables that feed one another: what one changes, the next one takes.

    event 3   a row of `customers`  ->  the inner join: update_before, update_after
                                    ->  the outer join: its table has another row

Each join is played alone, over the events of its inputs and the changes of the joins
in front of it; on streams of Spark they are one query.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.conformance import oracle
from dovetail.conformance.engines import EngineName, NamedPlay, Split, played
from dovetail.conformance.lines import Line, emitted
from dovetail.errors import UnsupportedError
from dovetail.plan.features import Combination
from dovetail.spec.defaults import complete
from dovetail.spec.rules import checked


@dataclass(frozen=True, slots=True)
class TableChain:
    """A result that is a join, of which some inputs are joins of tables."""

    name: str
    step: spec.JoinedInRowTime
    inputs: spec.Inputs
    events: tuple[oracle.Placed, ...]
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
        """Returns what an engine puts out, results under the name of the text."""
        sight, names = engine.sight(split), {spec.Outlet.MATCHED.value: self.name}
        match engine:
            case EngineName.ORACLE:
                player: oracle.JoinPlayer = oracle.play
            case EngineName.LOCAL:
                from dovetail.conformance import local  # noqa: PLC0415 - Arrow is slow

                player = local.play
            case EngineName.STREAM:
                # One query, in which the joins stand in a row.
                found = played(engine, NamedPlay(self.name, self.whole()), split)
                shown = (it for it in found if it.outlet is not spec.Outlet.LATE)
                return [emitted(it, sight, names) for it in shown]
            case _:
                raise UnsupportedError.not_yet(
                    engine.value, Combination.CHANGELOG_INSIDE.value
                )
        found = oracle.join_in_turn(
            self.step, self.inputs, self.events, player, self.settings
        )
        # What is there from the start gives nothing.
        return [emitted(it, sight, names) for it in found if it.after >= 0]

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
            inputs = oracle.inputs_of(step, self.inputs)
            yield complete(step.join, inputs), inputs
            inner = (one.step for one in step.inputs)
            waiting += [it for it in inner if isinstance(it, spec.JoinedInRowTime)]
