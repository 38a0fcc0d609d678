"""A play as lines for replay: positions, cuts, and which event each cut plays.

    cut      0                       1              2
    lines    state (arrival clock)   opening rows   event 0 ..

On the arrival clock rows of the state meet nobody when they come, so they have a cut of
their own, of which only late rows count. Else they share the first one. Where each
event is played by itself there, time passes before it in a cut of its own.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from dovetail import spec
from dovetail.conformance.spark_stream.replay import Line
from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.arrays.rows import BEGINNING
from dovetail.plan.flow import JoinQuery
from dovetail.plan.stream import StreamPlan

Told = spec.Arrive | spec.Remove | spec.Bound | spec.Finish
"""What a source can bring."""


@dataclass(frozen=True, slots=True)
class StreamPlay:
    """A play under its name, and how many events are over at the end of each batch.

    `stepwise`: each event is a batch, so that it is known what comes out during it.
    `in_order`: rows must leave in the order of the definition. Of a program of several
    operators it is one `query`, which has one exit. Some rows are `lost` before any
    event: batches inside its join have turned them away.
    """

    name: str
    play: spec.Play
    ends: tuple[int, ...]
    stepwise: bool = False
    in_order: bool = False
    query: JoinQuery | None = None
    lost: tuple[spec.Emission, ...] = ()

    @property
    def carrier(self) -> str:
        """Returns the input that brings lines without a row, if a query says which."""
        every = self.query.paths.values() if self.query else ()
        return next((paths[0].inputs[0] for paths in every), "")


@dataclass(slots=True)
class Script:
    """The lines of a play with their rows; for each cut its event, and if it is state.

    `lost` are rows that come out before anything is played. In cuts that are `pauses`
    time alone passes.
    """

    scope: int
    lines: list[Line] = field(default_factory=list)
    rows: dict[str, list[spec.Row]] = field(default_factory=dict)
    events: list[int] = field(default_factory=list)
    pauses: set[int] = field(default_factory=set)
    lost: list[spec.Emission] = field(default_factory=list)
    has_silent_start: bool = False

    @property
    def sequence(self) -> int:
        """Returns the position of the next line."""
        return self.lines[-1].sequence + 1 if self.lines else 0

    def cut(self, lines: Sequence[tuple[Told, LineKind]], event: int) -> None:
        """Adds a cut, unless nothing is in it."""
        if not lines:
            return
        for one, kind in lines:
            moment = one.moment if isinstance(one, spec.Bound) else None
            # The cut being written has the number of those that stand before it.
            head = len(self.events), self.sequence, self.scope, one.input, kind
            self.lines.append(Line(*head, moment, one.clock))
            if isinstance(one, spec.Arrive | spec.Remove):
                self.rows.setdefault(one.input, []).append(one.row)
        if all(_is_pause(one) for one, _ in lines):
            self.pauses.add(len(self.events))
        self.events.append(event)


def _is_pause(told: Told) -> bool:
    """Tells whether a line says nothing but how late it is."""
    return isinstance(told, spec.Bound) and told.moment == BEGINNING


def cut_by_time(ends: Iterable[int], events: Sequence[spec.Event]) -> tuple[int, ...]:
    """Returns where batches end of which each has one processing time.

    A stream that goes on has no others: what time lets out comes before all of a batch.
    """
    moved = (
        number
        for number, (one, other) in enumerate(pairwise(events), 1)
        if other.clock > one.clock
    )
    return tuple(sorted({*ends, *moved}))


def script(scope: int, wanted: StreamPlay, plan: StreamPlan) -> Script:
    """Returns the lines of one play."""
    play, written = wanted.play, Script(scope, lost=[*wanted.lost])
    inputs = {side.source.name: side.source for side in plan.leaves}
    # Of a data set in row time nothing can still come: it is whole from the start.
    is_in_time = plan.join.clock is spec.Clock.EVENT
    is_arrival = plan.join.clock is spec.Clock.ARRIVAL
    data_sets = {
        name for name, one in inputs.items() if one.kind is spec.InputKind.DATASET
    }
    state = [
        *(
            (spec.Arrive(name, row), LineKind.INITIAL)
            for name, row in _state(play, plan, written)
        ),
        *_ends(data_sets if is_in_time else ()),
    ]
    # Time passes for all inputs at once: it does not matter which one tells it.
    carrier = wanted.carrier or plan.leaves[0].source.name
    opening = _coming(play.opening, plan, carrier)
    written.has_silent_start = bool(state) and is_arrival
    if written.has_silent_start:
        written.cut(state, spec.UNKNOWN_EVENT)
        state = []
    if wanted.stepwise:
        written.cut([*state, *opening], spec.UNKNOWN_EVENT)
        state, opening = [], []
    ends = wanted.ends
    if is_arrival and (plan.every_inside or plan.onward.keeps_rows):
        ends = cut_by_time(ends, play.events)
    cuts = [*pairwise((0, *ends))]
    paused = _after_a_while(play) if wanted.stepwise and is_arrival else set()
    for first, past in cuts:
        known = first if wanted.stepwise else spec.UNKNOWN_EVENT
        coming = _coming(play.events[first:past], plan, carrier)
        if known in paused:
            now = play.events[known].clock
            written.cut(_coming([spec.Pause(now)], plan, carrier), known)
        # On the clock batch all inputs have ended when all has come.
        if plan.join.clock is spec.Clock.BATCH and (first, past) == cuts[-1]:
            sets = play.join.sets if isinstance(play.join, spec.SetJoinSpec) else inputs
            coming += _ends({*sets})
        written.cut([*state, *opening, *coming], known)
        state, opening = [], []
    return written


def _after_a_while(play: spec.Play) -> set[int]:
    """Returns the events that bring more than time, some of which has passed."""
    before = (spec.Pause(), *play.opening, *play.events)[len(play.opening) :]
    return {
        number
        for number, (one, other) in enumerate(zip(before, play.events, strict=False))
        if other.clock > one.clock and not isinstance(other, spec.Pause)
    }


def _coming(
    events: Sequence[spec.Event], plan: StreamPlan, carrier: str
) -> list[tuple[Told, LineKind]]:
    """Returns what events bring; on the clock batch only rows and deletes count."""
    found = lines_told(events, carrier)
    is_batch = plan.join.clock is spec.Clock.BATCH
    rows = (LineKind.ROW, LineKind.DELETE)
    return [one for one in found if not is_batch or one[1] in rows]


def lines_told(
    events: Sequence[spec.Event], carrier: str
) -> Iterator[tuple[Told, LineKind]]:
    """Gives the events that a source can bring, with what each is.

    While time passes a source says nothing but the time, under the name `carrier`.
    """
    for event in events:
        match event:
            case spec.Arrive():
                yield event, LineKind.ROW
            case spec.Remove():
                yield event, LineKind.DELETE
            case spec.Bound():
                yield event, LineKind.BOUND
            case spec.Finish():
                yield event, LineKind.FINISH
            case spec.Pause(clock):
                yield spec.Bound(carrier, BEGINNING, clock), LineKind.BOUND


def _state(
    play: spec.Play, plan: StreamPlan, written: Script
) -> Iterator[tuple[str, spec.Row]]:
    """Gives the rows that are there from the start, those without time first.

    Where a side is outside time, its row without the time of its input is lost.
    """
    if isinstance(play.join, spec.SetJoinSpec):
        for name in dict.fromkeys(play.join.sets):
            yield from ((name, row) for row in play.inputs[name].rows)
        return
    seen: set[str] = set()
    for side in sorted(plan.leaves, key=lambda side: side.source.is_timed):
        source = side.source
        if source.kind is spec.InputKind.STREAM or source.name in seen:
            continue
        seen.add(source.name)
        is_outside_time = source.is_timed and side.static
        for row in play.inputs[source.name].rows:
            if is_outside_time and row.get(source.time) is None:
                late = {**row, "reason": "null_time"}
                written.lost.append(spec.Emission(spec.Outlet.LATE, late))
            else:
                yield source.name, row


def _ends(names: Collection[str]) -> list[tuple[Told, LineKind]]:
    """Returns the ends of inputs, by their names."""
    return [(spec.Finish(name), LineKind.FINISH) for name in sorted(names)]
