"""Plays cases as streams: many share a query, and two queries run at a time.

Starting a query costs seconds, a batch some tenths of one, whatever comes: so as many
plays as may share a query do, those of one shape as one part of it. Two queries at a
time fill the pauses of one; more give nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from itertools import count
from queue import SimpleQueue

from pyspark.sql import SparkSession

from dovetail import spec
from dovetail.bind.failures import sentence
from dovetail.conformance import spark_batch
from dovetail.conformance.spark_stream import shared
from dovetail.conformance.spark_stream.replay import SEQUENCE
from dovetail.conformance.spark_stream.results import GONE, emissions
from dovetail.conformance.spark_stream.script import StreamPlay, script
from dovetail.engines.kernel_settings import stream_settings
from dovetail.errors import DovetailError
from dovetail.plan import nested, sets
from dovetail.plan.stream import plan_play
from dovetail.plan.ways import Onward

AT_A_TIME = 2
MOST_SCOPES = 64
"""Waking a bucket costs a millisecond a batch: many plays share one, yet not all."""
MOST_PARTS = 8
"""Each part is two tasks a batch, and what breaks one breaks all of a query."""
Outcome = list[spec.Emission] | DovetailError
Named = tuple[str, Outcome]


@dataclass(frozen=True, slots=True)
class _Group:
    """Plays of one shape."""

    shape: shared.Shape
    plays: tuple[StreamPlay, ...]

    @property
    def batches(self) -> int:
        """Returns how many batches the longest of the plays has, or nearly."""
        return max(len(one.ends) for one in self.plays)

    def part(self, spark: SparkSession) -> shared.Part:
        """Returns the plays as scripts, each a scope of one part of a query."""
        plays = enumerate(_with_batches(spark, one) for one in self.plays)
        scripts = [script(scope, one, self.shape.plan) for scope, one in plays]
        return shared.Part(self.shape, scripts)

    @property
    def is_alone(self) -> bool:
        """Tells whether the plays have a query of their own.

        A row over a limit fails the job, and joins in a row are a plan of their own.
        """
        plan = self.shape.plan
        return plan.join.picks.fails or bool(plan.inside)


_Query = Sequence[_Group]
"""What one query plays."""


def play_all(
    session: Callable[[], SparkSession], plays: Sequence[StreamPlay]
) -> Iterator[Named]:
    """Gives what each play puts out, by its name, as queries end; refusals first.

    Where all are refused no session is asked for.
    """
    groups: dict[str, _Group] = {}
    for one in plays:
        try:
            shape = shape_of(one)
        except DovetailError as error:
            yield one.name, error
            continue
        # A group that is full is followed by another one of the same shape.
        key = repr(shape)
        places = (f"{number} {key}" for number in count())
        known = ((place, groups.get(place, _Group(shape, ()))) for place in places)
        place, group = next(it for it in known if len(it[1].plays) < MOST_SCOPES)
        groups[place] = replace(group, plays=(*group.plays, one))
    if groups:
        yield from _all_run(session(), list(groups.values()))


def shape_of(one: StreamPlay) -> shared.Shape:
    """Returns the shape of a play, or refuses it."""
    plan = one.query.plan if one.query else plan_play(one.play, SEQUENCE)
    stream_settings(plan)  # the kernels refuse here what they cannot read
    events = (*one.play.opening, *one.play.events)
    ended = {event.input for event in events if isinstance(event, spec.Finish)}
    ends = all(
        source.name in ended
        for source in (side.source for side in plan.leaves)
        if source.kind is spec.InputKind.STREAM
        or (source.kind is spec.InputKind.TABLE and source.is_timed)
    )
    feeding = None
    if query := one.query:
        paths = (it for some in query.paths.values() for it in some)
        taken = {name for path in paths for name in path.inputs}
        inputs = {name: one.play.inputs[name] for name in sorted(taken)}
        # Steps behind the join go on from each of its exits in the same ways.
        (onwards,) = {it.onwards for it in query.exits} or {(query.plan.onward,)}
        feeding = shared.Feeding(inputs, query.paths, query.ranks, onwards)
    if isinstance(join := one.play.join, spec.SetJoinSpec):
        inputs = {name: one.play.inputs[name] for name in join.sets}
        ways = sets.paths_of(join, one.play.inputs)
        feeding = shared.Feeding(inputs, ways, ranks=1, exits=(Onward(),))
    return shared.Shape(plan, one.stepwise, ends, one.in_order, feeding=feeding)


def _with_batches(spark: SparkSession, one: StreamPlay) -> StreamPlay:
    """Returns a play whose batches inside are data sets, joined by Spark before."""
    play = one.play
    if not isinstance(play.join, spec.JoinSpec):
        return one
    join, inputs, batches = nested.with_data_sets(play.join, play.inputs)
    if not batches:
        return one
    known, lost = dict(inputs), list(one.lost)
    for name, source in batches.items():
        inner = replace(play, join=source.join, settings=spec.Settings())
        found = spark_batch.play(spark, inner)
        # What a batch inside turns away leaves before any event.
        lost += [it for it in found if it.outlet is spec.Outlet.LATE]
        rows = tuple(it.row for it in found if it.outlet is spec.Outlet.MATCHED)
        known[name] = replace(known[name], rows=rows)
    whole = spec.without_static(replace(play, inputs=known), join)
    return replace(one, play=whole, lost=tuple(lost))


def _queries(groups: Sequence[_Group]) -> list[_Query]:
    """Returns the groups of each query, enough of them for all that run at a time.

    Groups of as many batches stand together: a part has its two tasks in each batch,
    whether anything comes or not. What a limit may fail is alone.
    """
    alone = [group for group in groups if group.is_alone]
    together = [group for group in groups if not group.is_alone]
    # The longest first, so that none of them is what all wait for at the end.
    together.sort(key=lambda group: group.batches, reverse=True)
    # `-(-a // b)` rounds up: so no more queries are made than run at a time.
    each = max(1, min(MOST_PARTS, -(-len(together) // AT_A_TIME)))
    queries = [together[at : at + each] for at in range(0, len(together), each)]
    return [*queries, *([group] for group in alone)]


def _all_run(spark: SparkSession, groups: Sequence[_Group]) -> Iterator[Named]:
    """Gives the outcomes of all groups as they come."""
    # Each query sets its own partitions, so none shares a session while it runs.
    sessions: SimpleQueue[SparkSession] = SimpleQueue()
    for _ in range(min(AT_A_TIME, len(groups))):
        sessions.put(shared.session_of_our_own(spark))
    with ThreadPoolExecutor(AT_A_TIME, "dovetail stream") as pool:
        running: list[Future[list[Named]]] = [
            pool.submit(_with_a_session, sessions, query) for query in _queries(groups)
        ]
        try:
            for ended in as_completed(running):
                yield from ended.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _with_a_session(sessions: SimpleQueue[SparkSession], query: _Query) -> list[Named]:
    """Returns the outcomes of a query, played in a session that nobody else uses."""
    spark = sessions.get()
    try:
        return _outcomes(spark, query)
    finally:
        sessions.put(spark)


def _outcomes(spark: SparkSession, query: _Query) -> list[Named]:
    """Returns the outcomes of a query; if it breaks, of each group and play alone."""
    try:
        return _played(spark, query)
    except Exception as error:  # noqa: BLE001 - one play must not hide the others
        plays = [_Group(one.shape, (play,)) for one in query for play in one.plays]
        if len(plays) == 1:
            return [(plays[0].plays[0].name, sentence(error))]
        # In halves of sense: group by group, and then play by play.
        smaller = query if len(query) > 1 else plays
        return [named for one in smaller for named in _outcomes(spark, [one])]


def _played(spark: SparkSession, query: _Query) -> list[Named]:
    """Returns what each play of a query puts out."""
    parts = [group.part(spark) for group in query]
    # Of plays without a line nothing is started, and only what is lost comes out.
    has_lines = any(one.lines for part in parts for one in part.scripts)
    raw = shared.run(spark, parts) if has_lines else [[] for _ in parts]
    named: list[Named] = []
    for group, part, joins in zip(query, parts, raw, strict=True):
        found = [list(one.lost) for one in part.scripts]
        if joins:
            found = emissions(spark, part.shape, joins, part.scripts)
        # After the marks: those count the rows too that steps have dropped.
        found = [[one for one in rows if one.row is not GONE] for rows in found]
        names = [one.name for one in group.plays]
        named += zip(names, found, strict=True)
    return named
