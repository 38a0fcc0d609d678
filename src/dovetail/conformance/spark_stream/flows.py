"""Programs of several operators as streams: a play for each stream that comes out.

Each has the events of the whole program, cut alike, and of them what its query takes;
so it is known of each row during which event it came out. What comes out without a join
has a query without state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from dovetail import spec
from dovetail.bind.failures import sentence
from dovetail.conformance.spark_stream import cases, replay, script, shared
from dovetail.engines.spark_stream.ways import Riders, gathered
from dovetail.engines.tables import plain_rows
from dovetail.errors import DovetailError
from dovetail.kernels.arrays.names import PLACE, TURN, LineKind
from dovetail.kernels.arrays.rows import BEGINNING
from dovetail.kernels.keeping.lines import KIND
from dovetail.plan import flow as planned
from dovetail.schema import Schema

Found = list[tuple[str, spec.Emission]] | DovetailError
"""What comes out of a program, each row with the name of its stream, or an error."""
_Alone = planned.PlainQuery | planned.TailQuery | planned.TurnQuery
_SHOWN = (int(LineKind.ROW), int(LineKind.MARK))


@dataclass(frozen=True, slots=True)
class StreamFlow:
    """A program under a name, with its inputs and events; the rest as in a play."""

    name: str
    program: spec.Program
    inputs: spec.Inputs
    opening: tuple[spec.Event, ...]
    events: tuple[spec.Event, ...]
    ends: tuple[int, ...]
    stepwise: bool
    in_order: bool

    @property
    def queries(self) -> tuple[planned.Query, ...]:
        """Returns the queries of the program, or refuses it."""
        # Where inputs end, windows give at the end what they have left.
        ends = any(isinstance(one, spec.Finish) for one in self.events)
        return planned.plan_flow(
            self.program, planned.in_sequence(replay.SEQUENCE), ends=ends
        )

    def heard(
        self, query: planned.JoinQuery | planned.TurnQuery
    ) -> tuple[spec.Event, ...]:
        """Returns the events of a query; ends that change nothing are but time.

        So are rows of inputs that it does not take: time passes with them, too.
        """
        return tuple(
            spec.Pause(one.clock)
            if isinstance(one, spec.Pause)
            or one.input not in query.inputs
            or (isinstance(one, spec.Finish) and not query.hears_ends)
            else one
            for one in self.events
        )

    def play(self, query: planned.JoinQuery, name: str) -> script.StreamPlay:
        """Returns the play of a query's last join, under a name."""
        play = spec.Play(query.plan.join, self.inputs, self.heard(query), self.opening)
        return script.StreamPlay(
            name, play, self.ends, self.stepwise, self.in_order, query
        )


def play_flows(
    session: Callable[[], SparkSession], flows: Sequence[StreamFlow]
) -> Iterator[tuple[str, Found]]:
    """Gives what each program puts out, by its name, once all are through."""
    found: dict[str, Found] = {}
    plays: dict[str, tuple[StreamFlow, planned.Exit]] = {}
    wanted: list[script.StreamPlay] = []
    alone: list[tuple[StreamFlow, _Alone]] = []
    for flow in flows:
        try:
            queries = flow.queries
        except DovetailError as error:
            yield flow.name, error
            continue
        found[flow.name] = []
        others = (one for one in queries if not isinstance(one, planned.JoinQuery))
        alone += [(flow, one) for one in others]
        joins = (one for one in queries if isinstance(one, planned.JoinQuery))
        # Joins share queries with those of other programs; what has none runs alone.
        for query, out in ((one, out) for one in joins for out in one.exits):
            single = replace(query, exits=(out,))
            wanted.append(flow.play(single, f"{flow.name} {out.name}"))
            plays[wanted[-1].name] = flow, out
    for name, outcome in cases.play_all(session, wanted):
        flow, out = plays[name]
        own = _own(out, outcome)
        found[flow.name] = _with(found[flow.name], out.name, own)
    if alone:
        with ThreadPoolExecutor(cases.AT_A_TIME, "dovetail stream") as pool:
            play = partial(_played, session())
            played = pool.map(play, *zip(*alone, strict=True))
            for (flow, one), rows in zip(alone, played, strict=True):
                found[flow.name] = _with(found[flow.name], one.name, rows)
    yield from found.items()


def _with(known: Found, stream: str, more: cases.Outcome) -> Found:
    """Returns what comes out with the rows of one more stream, in order of events."""
    # The first error stays: what else comes of the program tells no more.
    if isinstance(known, DovetailError):
        return known
    if isinstance(more, DovetailError):
        return more
    listed = [*known, *((stream, one) for one in more)]
    return sorted(listed, key=lambda one: one[1].after)


def _own(out: planned.Exit, outcome: cases.Outcome) -> cases.Outcome:
    """Returns what leaves by an exit; marks are of the first port."""
    if isinstance(outcome, DovetailError):
        return outcome
    # How often each row of an outlet is there.
    own = {out.outlet: 1}
    # A mark goes all the ways that the rows go.
    if spec.Outlet.MATCHED in own:
        own[spec.Outlet.MARKS] = sum(one.passes_marks for one in out.onwards)
    return [it for one in outcome for it in [one] * own.get(one.outlet, 0)]


def _played(spark: SparkSession, flow: StreamFlow, query: _Alone) -> cases.Outcome:
    """Returns what comes out without a join, or not by an outlet of one."""
    own = shared.session_of_our_own(spark)
    try:
        with shared.folder() as place:
            file = place / "events.parquet"
            if isinstance(query, planned.TailQuery):
                # What operators behind joins make of the rows of the last join.
                play = flow.play(query.joins, query.name)
                shape = cases.shape_of(play)
                part = shared.Part(shape, [script.script(0, play, shape.plan)])
                shared.record_parts(file, [part])
                rows = shared.rows_behind(own, part, file)
                lines = _Lines(rows, (PLACE, TURN), part.scripts[0].events)
            elif isinstance(query, planned.TurnQuery):
                names = sorted(query.inputs)
                ends = script.cut_by_time(flow.ends, flow.events)
                timed = replace(flow, events=flow.heard(query), ends=ends)
                script_of, replayed = _replayed(own, timed, names, file=file)
                rows = shared.rows_by_turns(own, query, replayed)
                lines = _Lines(rows, (PLACE, TURN), script_of.events)
            else:
                lines = _alone(own, flow, query, file=file)
            batches = shared.collected(lines.frame, place / "checkpoint")
            return list(lines.emissions(batches, query.schema))
    except Exception as error:  # noqa: BLE001 - one play must not hide the others
        return sentence(error)


@dataclass(frozen=True, slots=True)
class _Lines:
    """Rows and marks as a stream, in each batch in the order of some columns.

    `events` says of each batch which event it plays.
    """

    frame: DataFrame
    order: tuple[str, ...]
    events: Sequence[int]

    def emissions(
        self, batches: shared.Batches, schema: Schema
    ) -> Iterator[spec.Emission]:
        """Yields the rows and marks of batches."""
        for number, table in sorted(batches.items()):
            # Bounds and ends ride along; nobody is shown them.
            shown = pc.is_in(table[KIND], pa.array(_SHOWN, pa.int32()))
            ordered = table.filter(shown).sort_by(
                [(name, "ascending") for name in self.order]
            )
            event = self.events[number]
            rows = plain_rows(ordered.select(schema.names))
            for kind, row in zip(ordered[KIND].to_pylist(), rows, strict=True):
                if kind == LineKind.MARK:
                    yield spec.Emission(spec.Outlet.MARKS, {}, event)
                else:
                    yield spec.Emission(spec.Outlet.MATCHED, row, event)


def _alone(
    spark: SparkSession, flow: StreamFlow, query: planned.PlainQuery, *, file: Path
) -> _Lines:
    """Returns the rows that operators make of those of inputs, without a join."""
    names = sorted({name for path in query.paths for name in path.inputs})
    written, replayed = _replayed(spark, flow, names, file=file)
    # One task sees all rows, in the order of the lines.
    spark.conf.set("spark.sql.shuffle.partitions", "1")
    riders = Riders(replay.RIDING, replay.SEQUENCE, query.ranks)
    lines = gathered(
        lambda path: replay.lines_of(replayed, path.input), query.paths, riders
    )
    return _Lines(lines, (replay.SEQUENCE,), written.events)


def _replayed(
    spark: SparkSession, flow: StreamFlow, names: Sequence[str], *, file: Path
) -> tuple[script.Script, DataFrame]:
    """Returns the events of some inputs as they are cut, and as a stream."""
    written, stepwise = script.Script(0), flow.stepwise
    opening = [*_told(flow.opening, names)]
    if stepwise:
        written.cut(opening, spec.UNKNOWN_EVENT)
        opening = []
    for first, past in pairwise((0, *flow.ends)):
        event = first if stepwise else spec.UNKNOWN_EVENT
        written.cut([*opening, *_told(flow.events[first:past], names)], event)
        opening = []
    rows = {
        name: shared.table_of(flow.inputs[name], written.rows.get(name, []))
        for name in names
    }
    replay.record(file, written.lines, rows)
    return written, replay.replay(spark, file)


def _told(
    events: Sequence[spec.Event], names: Sequence[str]
) -> Iterator[tuple[script.Told, LineKind]]:
    """Yields what events bring; time passes for all inputs, before anything comes.

    So events keep a batch of their own, and windows of time hear of each.
    """
    for event in events:
        for name in names:
            yield spec.Bound(name, BEGINNING, event.clock), LineKind.BOUND
        if not isinstance(event, spec.Pause) and event.input in names:
            yield from script.lines_told([event], event.input)
