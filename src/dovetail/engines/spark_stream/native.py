"""A stream and a table, joined by Spark itself: each batch with all of the table.

It is the batch engine's join, kept on the side of the stream, in the columns in which
the operator's results come: so outlets, sinks and counters are the same. No row waits
for another, and nothing is kept between two batches.
"""

from __future__ import annotations

from dataclasses import replace

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.engines.spark_batch.join import plain_lines
from dovetail.engines.spark_batch.lines import matched
from dovetail.engines.spark_stream.fingerprint import Identity, SideFacts
from dovetail.engines.spark_stream.worker.bucket import (
    LEFT,
    OUTLET,
    REASON,
    RESULT_NAMES,
    RIGHT,
    ROW_TIME,
)
from dovetail.kernels.pairs.results import code
from dovetail.plan.batch import BatchPlan, plan_batch
from dovetail.plan.stream import StreamPlan

_COUNTS = RESULT_NAMES[1:]
Frames = tuple[DataFrame, DataFrame]


def native_results(
    plan: StreamPlan, frames: Frames, ticks: tuple[DataFrame, ...], counters: str
) -> DataFrame:
    """Returns the results of all outlets in one frame, as the operator gives them.

    `ticks` bring no row: what has ended is known by them.
    """
    counted = {
        side.source.name: _counted(frame, f"{counters}.in", came=F.lit(1))
        if side.streams
        else frame
        for side, frame in zip(plan.sides, frames, strict=True)
    }
    found = plain_lines(_as_batch(plan), counted)
    here = {hand: F.col(matched(hand)) for hand in spec.HANDS}
    outlet = (
        F.when(here[spec.Hand.LEFT] & here[spec.Hand.RIGHT], code(spec.Outlet.MATCHED))
        .when(here[spec.Hand.LEFT], code(spec.Outlet.LEFT_UNMATCHED))
        .otherwise(code(spec.Outlet.RIGHT_UNMATCHED))
    )
    raw = found.select(
        outlet.cast("byte").alias(OUTLET),
        F.lit(0).cast("byte").alias(REASON),
        F.lit(None).cast("timestamp").alias(ROW_TIME),
        here[spec.Hand.LEFT].alias(LEFT),
        here[spec.Hand.RIGHT].alias(RIGHT),
        *(F.col(hand.letter) for hand in spec.HANDS),
    )
    is_match = F.col(OUTLET) == code(spec.Outlet.MATCHED)
    went = _counted(raw, f"{counters}.out", matched=is_match, unmatched=~is_match)
    for tick in ticks:
        # Spark drops the branch, but keeps in its log how far the heartbeat has come.
        nothing = (F.lit(None).cast(one.dataType).alias(one.name) for one in raw.schema)
        went = went.unionAll(tick.where("false").select(*nothing))
    return went


def native_identity(plan: StreamPlan, frames: Frames) -> Identity:
    """Returns what must be the same where a join goes on: the join and its columns."""
    left, right = (side.source for side in plan.sides)
    ours, theirs = (SideFacts("", "", tuple(frame.dtypes)) for frame in frames)
    return Identity(plan.join, (left, right), (ours, theirs), "native", 0)


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
        F.sum(counts.get(one, F.lit(0)).cast("bigint")).alias(one) for one in _COUNTS
    ]
    return frame.observe(name, *sums)
