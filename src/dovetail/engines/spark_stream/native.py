"""A stream and a table, joined by Spark itself: each batch with all of the table.

It is the batch engine's join, kept on the side of the stream, in the columns in which
the operator's results come: so outlets, sinks and counters are the same. No row waits
for another, and nothing is kept between two batches.
"""

from __future__ import annotations

import json
from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.engines.spark_batch.join import plain_lines
from dovetail.engines.spark_batch.lines import matched
from dovetail.engines.spark_stream.dataflow import Frames
from dovetail.engines.spark_stream.fingerprint import Identity, SideFacts
from dovetail.engines.spark_stream.outlets import Outlets
from dovetail.engines.spark_stream.worker.bucket import (
    COUNTED,
    LEFT,
    OUTLET,
    REASON,
    RIGHT,
    ROW_TIME,
)
from dovetail.kernels.pairs.results import UNMATCHED, code
from dovetail.plan.batch import BatchPlan, plan_batch
from dovetail.plan.stream import StreamPlan


def native_results(
    plan: StreamPlan, frames: Frames, ticks: tuple[DataFrame, ...], counters: str
) -> DataFrame:
    """Returns the results of all outlets in one frame, as the operator gives them.

    `ticks` bring no row: what has ended is known by them.
    """
    raw = _results(plan, frames, counters)
    left = {
        f"{hand.value}_unmatched": F.col(OUTLET) == code(outlet)
        for hand, outlet in zip(spec.HANDS, UNMATCHED, strict=True)
    }
    is_match = F.col(OUTLET) == code(spec.Outlet.MATCHED)
    went = _counted(raw, f"{counters}.out", matched=is_match, **left)
    for tick in ticks:
        # Spark drops the branch, but keeps in its log how far the heartbeat has come.
        nothing = (F.lit(None).cast(one.dataType).alias(one.name) for one in raw.schema)
        went = went.unionAll(tick.where("false").select(*nothing))
    return went


def _results(plan: StreamPlan, frames: Frames, counters: str) -> DataFrame:
    """Returns the results of a join; its stream may be the rows of another such join.

    What has come is counted where it comes in.
    """
    given = {}
    for side, frame in zip(plan.sides, frames, strict=True):
        rows = frame
        if isinstance(rows, tuple):
            inner = plan.inside[side.hand]
            results = _results(inner, rows, counters)
            rows = Outlets(inner).frame(results, spec.Outlet.MATCHED)
        elif side.streams:
            came = {f"{side.hand.value}_came": F.lit(1)}
            rows = _counted(rows, f"{counters}.in", **came)
        given[side.source.name] = rows
    found = plain_lines(_as_batch(plan), given)
    here = {hand: F.col(matched(hand)) for hand in spec.HANDS}
    outlet = (
        F.when(here[spec.Hand.LEFT] & here[spec.Hand.RIGHT], code(spec.Outlet.MATCHED))
        .when(here[spec.Hand.LEFT], code(spec.Outlet.LEFT_UNMATCHED))
        .otherwise(code(spec.Outlet.RIGHT_UNMATCHED))
    )
    return found.select(
        outlet.cast("byte").alias(OUTLET),
        F.lit(0).cast("byte").alias(REASON),
        F.lit(None).cast("timestamp").alias(ROW_TIME),
        here[spec.Hand.LEFT].alias(LEFT),
        here[spec.Hand.RIGHT].alias(RIGHT),
        *(F.col(hand.letter) for hand in spec.HANDS),
    )


def native_identity(plan: StreamPlan, frames: Frames) -> Identity:
    """Returns what must be the same where joins go on: the joins and their columns."""
    inside = {
        side.hand.value: json.loads(native_identity(plan.inside[side.hand], frame).text)
        for side, frame in zip(plan.sides, frames, strict=True)
        if isinstance(frame, tuple)
    }
    left, right = (side.source for side in plan.sides)
    ours, theirs = (
        SideFacts("", "", () if isinstance(frame, tuple) else tuple(frame.dtypes))
        for frame in frames
    )
    manner = {"native": inside} if inside else "native"
    return Identity(plan.join, (left, right), (ours, theirs), manner, 0)


def _as_batch(plan: StreamPlan) -> BatchPlan:
    """Returns the join as that of a batch, whose rows are all there."""
    # A row that is met once meets what is there, as one does that is there for ever.
    left, right = (
        replace(plan.join.side(hand), window=spec.Forever(), partition_by=())
        for hand in spec.HANDS
    )
    join = replace(plan.join, clock=spec.Clock.BATCH, left=left, right=right)
    inputs = {
        name: replace(source, kind=spec.InputKind.DATASET, key=())
        for name, source in plan.inputs.items()
    }
    found = plan_batch(join, inputs)
    assert isinstance(found, BatchPlan)  # noqa: S101 - of two sides
    return found


def _counted(frame: DataFrame, name: str, **counts: Column) -> DataFrame:
    """Returns a frame of which Spark observes so many rows under a name."""
    sums = [
        F.sum(counts[one].cast("bigint")).alias(one) for one in COUNTED if one in counts
    ]
    return frame.observe(name, *sums)
