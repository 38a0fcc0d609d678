"""Programs of several operators as streams: a play for each stream that comes out.

Each has the events of the whole program, cut alike, and of them what its query takes;
so it is known of each row during which event it came out. What comes out without a join
has a query without state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from pyspark.sql import SparkSession

from dovetail import spec
from dovetail.conformance.spark_stream import cases, replay, script, shared
from dovetail.engines.spark_stream.failures import sentence
from dovetail.engines.spark_stream.ways import Riders, gathered
from dovetail.engines.spark_stream.worker import relay
from dovetail.engines.tables import plain_rows
from dovetail.errors import DovetailError
from dovetail.kernels.arrays.names import LineKind
from dovetail.plan import flow as planned

Found = list[tuple[str, spec.Emission]] | DovetailError
"""What comes out of a program, each row with the name of its stream, or an error."""
Outcome = list[spec.Emission] | DovetailError


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
        ends = any(isinstance(one, spec.Finish) for one in self.events)
        return planned.plan_flow(
            self.program, planned.in_sequence(replay.SEQUENCE), ends=ends
        )

    def play(self, query: planned.JoinQuery, out: planned.Exit) -> script.StreamPlay:
        """Returns the play of one stream that comes out of a join."""
        play = spec.Play(query.plan.join, self.inputs, self.events, self.opening)
        alone = replace(query, exits=(out,))
        name = f"{self.name} {out.name}"
        return script.StreamPlay(
            name, play, self.ends, self.stepwise, self.in_order, alone
        )


def play_flows(
    session: Callable[[], SparkSession], flows: Sequence[StreamFlow]
) -> Iterator[tuple[str, Found]]:
    """Gives what each program puts out, by its name, once all are through."""
    found: dict[str, Found] = {}
    plays: dict[str, tuple[StreamFlow, planned.Exit]] = {}
    wanted: list[script.StreamPlay] = []
    plain: list[tuple[StreamFlow, planned.PlainQuery]] = []
    for flow in flows:
        try:
            queries = flow.queries
        except DovetailError as error:
            yield flow.name, error
            continue
        found[flow.name] = []
        plain += [(flow, one) for one in queries if isinstance(one, planned.PlainQuery)]
        joins = (one for one in queries if isinstance(one, planned.JoinQuery))
        for query, out in ((one, out) for one in joins for out in one.exits):
            wanted.append(flow.play(query, out))
            plays[wanted[-1].name] = flow, out
    for name, outcome in cases.play_all(session, wanted):
        flow, out = plays[name]
        own = _own(out, outcome)
        found[flow.name] = _with(found[flow.name], out.name, own)
    for flow, one in plain:
        rows = _played(session(), flow, one)
        found[flow.name] = _with(found[flow.name], one.name, rows)
    yield from found.items()


def _with(
    known: Found, stream: str, more: list[spec.Emission] | DovetailError
) -> Found:
    """Returns what comes out with the rows of one more stream, in order of events."""
    if isinstance(known, DovetailError):
        return known
    if isinstance(more, DovetailError):
        return more
    listed = [*known, *((stream, one) for one in more)]
    return sorted(listed, key=lambda one: one[1].after)


def _own(out: planned.Exit, outcome: Outcome) -> Outcome:
    """Returns what leaves by an exit; marks are of the first port."""
    if isinstance(outcome, DovetailError):
        return outcome
    own = {out.onward.outlet}
    if spec.Outlet.MATCHED in own:
        own.add(spec.Outlet.MARKS)
    return [one for one in outcome if one.outlet in own]


def _played(
    spark: SparkSession, flow: StreamFlow, query: planned.PlainQuery
) -> Outcome:
    """Returns what comes out without a join."""
    try:
        return [*_rows(shared.session_of_our_own(spark), flow, query)]
    except Exception as error:  # noqa: BLE001 - one play must not hide the others
        return sentence(error)


def _rows(
    spark: SparkSession, flow: StreamFlow, query: planned.PlainQuery
) -> Iterator[spec.Emission]:
    """Yields the rows that steps alone make of those of inputs."""
    written, stepwise = script.Script(0), flow.stepwise
    # While time passes alone a batch goes by all the same, so that events keep theirs.
    carrier = query.paths[0].input
    opening = [*script.lines_told(flow.opening, carrier)]
    if stepwise:
        written.cut(opening, spec.UNKNOWN_EVENT)
        opening = []
    for first, past in pairwise((0, *flow.ends)):
        event = first if stepwise else spec.UNKNOWN_EVENT
        written.cut(
            [*opening, *script.lines_told(flow.events[first:past], carrier)], event
        )
        opening = []
    inputs = {path.input: flow.inputs[path.input] for path in query.paths}
    rows = {
        name: shared.table_of(source, written.rows.get(name, []))
        for name, source in inputs.items()
    }
    with shared.folder() as place:
        replay.record(place / "events.parquet", written.lines, rows)
        replayed = replay.replay(spark, place / "events.parquet")
        riders = Riders(replay.RIDING, replay.SEQUENCE, query.ranks)
        lines = gathered(
            lambda name: replay.lines_of(replayed, name), query.paths, riders
        )
        frame = lines.where(lines[relay.EVENT] == int(LineKind.ROW))
        batches = shared.collected(frame, place / "checkpoint")
    for number, table in sorted(batches.items()):
        ordered = table.sort_by(replay.SEQUENCE).select(query.schema.names)
        for row in plain_rows(ordered):
            event = written.events[number]
            yield spec.Emission(spec.Outlet.MATCHED, row, event)
