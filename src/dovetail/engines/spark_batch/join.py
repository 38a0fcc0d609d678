"""A join of DataFrames as one native plan: the way in to this engine.

    arrivals     which rows of an input take part, and which are late
    lives        from when until when each is alive
    candidates   which rows meet: equalities, the rest of the condition, lives
    picks        which candidates of a left row become its pairs (nearest: `asof`)
    lines        pairs, rows alone, rows met once; the select, and the outlets
    stops        when Spark stops the job: limits, skew
    sets         the other join, of several sets of rows

The rows of a join inside are the input of the one around. They carry their row time in
a hidden column, and their life where it is inherited.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import reduce
from typing import assert_never

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.bind.schemas import schema_of
from dovetail.engines import tables
from dovetail.engines.spark import rules, values
from dovetail.engines.spark_batch import candidates, lines, lives
from dovetail.engines.spark_batch.arrivals import (
    PLACE,
    REASON,
    WHAT,
    Admitted,
    Arrivals,
    What,
    admit,
)
from dovetail.engines.spark_batch.picks import pruned
from dovetail.engines.spark_batch.refusals import refuse_unsteady, words_of_spark
from dovetail.engines.spark_batch.sets import join_sets
from dovetail.engines.spark_batch.stops import watched
from dovetail.kernels.arrays.names import reserved
from dovetail.plan import batch
from dovetail.schema import Schema, quoted

_NO_STOPS = spec.Stops()
_MOMENT = reserved("moment")


@dataclass(frozen=True, slots=True)
class BatchRows:
    """The rows of every outlet, and the late rows of every input with their reasons.

    Where `in_left_order` they come in the order of the left rows as they are.
    """

    outlets: Mapping[spec.Outlet, DataFrame]
    late: Mapping[str, DataFrame]
    in_left_order: bool = False


def join_batch(
    plan: batch.AnyPlan,
    frames: Mapping[str, Arrivals],
    *,
    stops: spec.Stops = _NO_STOPS,
) -> BatchRows:
    """Returns the rows of a join; nothing runs before they are asked for."""
    spark = next(iter(frames.values())).frame.sparkSession
    # What the user computed before keeps the user's rules.
    own = {
        name: replace(one, frame=rules.pinned(one.frame))
        for name, one in frames.items()
    }
    with rules.plain_rules(spark), words_of_spark(plan.join, plan.inputs):
        own = {name: one.in_order() for name, one in own.items()}
        if isinstance(plan, batch.SetsPlan):
            together = rules.pinned(join_sets(plan.join, plan.inputs, own))
            return BatchRows({spec.Outlet.MATCHED: together}, {})
        rows = ordered_rows(plan, own, stops=stops)
        found = {}
        for outlet, frame in rows.outlets.items():
            in_order = frame
            if plan.settings.order is spec.Order.ROW_TIME:
                in_order = frame.sort(lines.ROW_TIME)
            elif plan.is_ordered and not rows.in_left_order:
                in_order = _in_left_order(frame)
            found[outlet] = rules.pinned(in_order.drop(*lines.ORDER))
        late = {
            name: rules.pinned(frame.drop(PLACE)) for name, frame in rows.late.items()
        }
        return BatchRows(found, late)


def sample(frame: DataFrame, schema: Schema, most: int) -> list[spec.Row]:
    """Returns at most so many rows, with times in UTC whatever the session says."""
    table = frame.limit(most).toArrow().cast(tables.arrow_schema(schema))
    return [*tables.plain_rows(table)]


def ordered_rows(
    plan: batch.BatchPlan,
    frames: Mapping[str, Arrivals],
    *,
    stops: spec.Stops = _NO_STOPS,
) -> BatchRows:
    """Returns the rows with the columns of ORDER; the plain rules are in force."""
    join, inputs = plan.join, spec.with_intervals(plan.join, plan.inputs)
    arrivals, admitted, late = {}, {}, {}
    for name in spec.source_names(join):
        source, given = inputs[name], frames[name]
        # Columns that the input does not declare are left out.
        names = [quoted(column) for column in source.schema.names]
        hidden = [PLACE, WHAT] if given.has_places else []
        own = replace(given, frame=given.frame.select(*names, *hidden))
        arrivals[name] = own
        admitted[name] = admit(source, own, join.clock)
        on_time = join.clock is spec.Clock.EVENT and source.is_timed
        if on_time or source.intervals:
            late[name] = admitted[name].late
    # Nothing else asks when a row of a semi join has first met.
    is_open = any(one.bound < values.LATEST for one in arrivals.values())
    by_time = plan.settings.order is spec.Order.ROW_TIME
    asked = _Asked(
        row_time=is_open or by_time or candidates.mentions(join, "row_time"),
        order=plan.is_ordered,
    )
    known = _Sources(inputs, arrivals, admitted, stops)
    found = _joined(plan, known, asked, "the join")
    return replace(found, late={**late, **found.late})


def plain_lines(plan: batch.BatchPlan, frames: Mapping[str, DataFrame]) -> DataFrame:
    """Returns the lines of a join without picks or times; a side may be a stream.

    Its rows have no places: nobody asks for them, and Spark numbers no stream's rows.
    """
    nowhere = {PLACE: F.lit(0).cast("bigint"), WHAT: F.lit(What.ROW.value)}
    arrivals = {
        name: Arrivals(frame.withColumns(nowhere), has_places=True)
        for name, frame in frames.items()
    }
    admitted = {
        name: admit(plan.inputs[name], one, plan.join.clock)
        for name, one in arrivals.items()
    }
    known = _Sources(plan.inputs, arrivals, admitted, _NO_STOPS)
    asked = _Asked(row_time=False, order=False)
    meeting, _ = _met(plan, known, asked, "the join")
    return lines.result_lines(meeting)


@dataclass(frozen=True, slots=True)
class _Sources:
    """The inputs that all joins of a tree stand on, and what is known of them."""

    inputs: spec.Inputs
    arrivals: Mapping[str, Arrivals]
    admitted: Mapping[str, Admitted]
    stops: spec.Stops


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is asked of a join's rows: their row time, an order, hidden columns."""

    row_time: bool
    order: bool
    hidden: tuple[str, ...] = lines.ORDER


@dataclass(frozen=True, slots=True)
class _Incoming:
    """The rows of a side, wherever they come from; those that are late by name."""

    source: spec.Input
    arrivals: Arrivals
    admitted: Admitted
    late: Mapping[str, DataFrame]


def _joined(
    plan: batch.BatchPlan, known: _Sources, asked: _Asked, place: str
) -> BatchRows:
    """Returns the rows of one join of the tree, which stands at a place in it."""
    meeting, late = _met(plan, known, asked, place)
    # Left rows that look for one right row in memory stay where they are.
    strategies = (plan.join.picks.strategy, meeting.join.picks.strategy)
    stays = strategies == (spec.Strategy.LOOKUP, spec.Strategy.MANY_LOOKUP)
    # Late rows of preserved streams, where they give their null rows all the same.
    also = {}
    for hand in spec.HANDS if plan.settings.late_null_rows else ():
        source = plan.join.side(hand).source
        if not isinstance(source, spec.Named) or not plan.join.kind.preserves(hand):
            continue
        is_stream = known.inputs[source.name].kind is spec.InputKind.STREAM
        if is_stream and source.name in known.admitted:
            rows = known.admitted[source.name].late
            also[hand] = rows.where(F.col(REASON) == "late")
    outlets = lines.outlets(meeting, asked.hidden, also)
    return BatchRows(outlets, late, in_left_order=stays)


def _met(
    plan: batch.BatchPlan, known: _Sources, asked: _Asked, place: str
) -> tuple[candidates.Meeting, dict[str, DataFrame]]:
    """Returns how the rows of one join of the tree meet, and the late rows by name."""
    join = plan.join
    sides: dict[spec.Hand, lives.Living] = {}
    late: dict[str, DataFrame] = {}
    # Sorting what a join inside gives costs: it is done where the order is looked at.
    ends = any(join.side(hand).window.is_ended_by_rows for hand in spec.HANDS)
    looks = join.picks != spec.Picks() or ends or candidates.mentions(join, "counter")
    wanted = _Asked(
        row_time=True, order=asked.order or looks, hidden=(*lines.ORDER, *lives.LASTING)
    )
    for hand in spec.HANDS:
        came = _incoming(plan, hand, known, wanted, f"{hand.value} of {place}")
        of_side = (came.source, join.side(hand), came.arrivals, join.clock)
        seat = lives.Seat(
            hand, *of_side, spec.is_state(join, hand, timed=came.source.is_timed)
        )
        sides[hand] = lives.give_lives(seat, came.admitted)
        late |= came.late
    whole = candidates.Meeting(plan, join, sides, asked.row_time, known.stops.failure)
    refuse_unsteady(join, lambda: [sides[hand].frame for hand in spec.HANDS])
    # Unevenness is measured of all rows, so before any are pruned.
    return pruned(watched(whole, known.stops.skew)), late


def _incoming(
    plan: batch.BatchPlan, hand: spec.Hand, known: _Sources, asked: _Asked, place: str
) -> _Incoming:
    """Returns what comes to a side; the rows of a join are an input of that name."""
    join, side = plan.join, plan.join.side(hand)
    match side.source:
        case spec.Named(name):
            named = known.inputs[name], known.arrivals[name], known.admitted[name]
            return _Incoming(*named, {})
        case spec.Nested():
            below = _joined(plan.inside[hand], known, asked, place)
            rows = below.outlets[spec.Outlet.MATCHED]
            if asked.order and join.clock is spec.Clock.EVENT:
                # By row time: pairs first, then in the order of arrival.
                places = [F.col(lines.ORDINALS[one]) for one in spec.HANDS]
                is_single = reduce(Column.__or__, (one.isNull() for one in places))
                last, first = F.greatest(*places), F.least(*places)
                rows = rows.sort(lines.ROW_TIME, is_single, last, first)
            elif asked.order:
                rows = _in_left_order(rows)
            source = replace(
                spec.known_input(side.source, known.inputs),
                name=place,
                schema=schema_of(rows.drop(*lines.ORDER, *lives.LASTING)),
                time=_MOMENT if spec.is_timed(side.source, known.inputs) else "",
                intervals=(side.window.interval,) if side.window.interval else (),
            )
            timed = rows.withColumn(_MOMENT, values.timestamp(F.col(lines.ROW_TIME)))
            arrivals = Arrivals(timed.drop(*lines.ORDER))
            admitted = admit(source, arrivals, join.clock)
            late = {**below.late, place: admitted.late}
            return _Incoming(source, arrivals, admitted, late)
        case _:
            assert_never(side.source)


def _in_left_order(rows: DataFrame) -> DataFrame:
    """Returns rows in the order of left rows, for each that of its right rows."""
    left, right = (F.col(lines.ORDINALS[hand]) for hand in spec.HANDS)
    return rows.sort(left.asc_nulls_last(), right.asc_nulls_first(), lines.ROW_TIME)
