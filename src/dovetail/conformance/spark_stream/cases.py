"""Plays plays as streams: those of one shape share a query, two queries run at a time.

Starting a query costs seconds, a batch some tenths of one, whatever comes: so as many
plays as may share a query do. Two queries at a time fill the pauses of one; more give
nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from dataclasses import dataclass, replace
from queue import SimpleQueue

from pyspark.sql import SparkSession

from dovetail import spec
from dovetail.conformance.spark_stream.results import emissions
from dovetail.conformance.spark_stream.script import StreamPlay, script
from dovetail.conformance.spark_stream.shared import Shape, run, session_of_our_own
from dovetail.engines.kernel_settings import stream_settings
from dovetail.engines.spark_stream.failures import sentence
from dovetail.errors import DovetailError
from dovetail.kernels.arrays.names import reserved
from dovetail.plan.stream import plan_play

AT_A_TIME = 2
MOST_SCOPES = 64
"""Waking a bucket costs a millisecond a batch: many plays share one, yet not all."""
Outcome = list[spec.Emission] | DovetailError
Named = tuple[str, Outcome]


@dataclass(frozen=True, slots=True)
class _Group:
    """Plays of one shape."""

    shape: Shape
    plays: tuple[StreamPlay, ...]


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
        _join_group(groups, shape, one)
    if groups:
        yield from _all_run(session(), list(groups.values()))


def _join_group(groups: dict[str, _Group], shape: Shape, one: StreamPlay) -> None:
    """Adds a play to the group of its shape, if that is not full."""
    key, number = repr(shape), 0
    while f"{number} {key}" in groups:
        known = groups[f"{number} {key}"]
        if len(known.plays) < MOST_SCOPES:
            break
        number += 1
    place = f"{number} {key}"
    members = groups[place].plays if place in groups else ()
    groups[place] = _Group(shape, (*members, one))


def shape_of(one: StreamPlay) -> Shape:
    """Returns the shape of a play, or refuses it."""
    plan = plan_play(one.play, reserved("sequence"))
    stream_settings(plan)  # the kernels refuse here what they cannot read
    events = (*one.play.opening, *one.play.events)
    ended = {event.input for event in events if isinstance(event, spec.Finish)}
    ends = all(
        source.name in ended
        for source in plan.inputs.values()
        if source.kind is spec.InputKind.STREAM
        or (source.kind is spec.InputKind.TABLE and source.is_timed)
    )
    return Shape(plan, one.stepwise, ends, one.in_order)


def _all_run(spark: SparkSession, groups: Sequence[_Group]) -> Iterator[Named]:
    """Gives the outcomes of all groups as they come."""
    sessions: SimpleQueue[SparkSession] = SimpleQueue()
    for _ in range(min(AT_A_TIME, len(groups))):
        sessions.put(session_of_our_own(spark))
    with ThreadPoolExecutor(AT_A_TIME, "dovetail stream") as pool:
        running: list[Future[list[Named]]] = [
            pool.submit(_with_a_session, sessions, group) for group in groups
        ]
        try:
            for ended in as_completed(running):
                yield from ended.result()
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def _with_a_session(sessions: SimpleQueue[SparkSession], group: _Group) -> list[Named]:
    """Returns the outcomes of a group, played in a session that nobody else uses."""
    spark = sessions.get()
    try:
        return _outcomes(spark, group)
    finally:
        sessions.put(spark)


def _outcomes(spark: SparkSession, group: _Group) -> list[Named]:
    """Returns the outcomes of a group; if the query breaks, each play runs alone."""
    try:
        found = _played(spark, group)
    except Exception as error:  # noqa: BLE001 - one play must not hide the others
        if len(group.plays) == 1:
            return [(group.plays[0].name, sentence(error))]
        alone = [_Group(group.shape, (one,)) for one in group.plays]
        return [named for one in alone for named in _outcomes(spark, one)]
    return [(one.name, rows) for one, rows in zip(group.plays, found, strict=True)]


def _played(spark: SparkSession, group: _Group) -> list[list[spec.Emission]]:
    """Returns what each play of a group puts out."""
    shape = group.shape
    scripts = [script(scope, one, shape.plan) for scope, one in enumerate(group.plays)]
    if not any(one.lines for one in scripts):
        return [list(one.lost) for one in scripts]
    found = emissions(spark, shape, run(spark, shape, scripts), scripts)
    if shape.stepwise and shape.plan.join.clock is spec.Clock.ARRIVAL:
        return [list(_marked(rows)) for rows in found]
    return found


def _marked(rows: Sequence[spec.Emission]) -> Iterator[spec.Emission]:
    """Gives the rows with a mark behind those of an event that the first port gave."""
    sent = 0
    for number, one in enumerate(rows):
        yield one
        sent += one.outlet is spec.Outlet.MATCHED
        is_last = number + 1 == len(rows) or rows[number + 1].after != one.after
        came = any(
            other.outlet is spec.Outlet.MATCHED
            for other in rows
            if other.after == one.after
        )
        if is_last and came:
            yield replace(
                one, outlet=spec.Outlet.MARKS, row={"port": 0, "ordinal": sent}
            )
