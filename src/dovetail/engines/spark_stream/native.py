"""A stream and a table, joined by Spark itself: each batch with all of the table.

It is the batch engine's join, kept on the side of the stream, in the columns in which
the operator's results come: so outlets, sinks and counters are the same. No row waits
for another, and nothing is kept between two batches.

A table that is looked up in is asked instead, for the keys that a batch brings:

    rows of the stream     in Spark's workers         Spark again
    l.id, l.customer   ->  l, a list of table rows -> those of the list that the whole
                                                      condition holds of -> lines

A list is filtered by Spark's own SQL, with the row of the table as the parameter of a
lambda that has its letter: so a row of the stream is alone, or met, by the same rule
as in any join of Spark's. Nothing is shuffled, and a task asks once for many rows.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql import types as spark
from pyspark.sql.pandas.types import from_arrow_schema

from dovetail import spec
from dovetail.bind.lookups import tables
from dovetail.bind.travel import over_batches
from dovetail.engines.spark import values
from dovetail.engines.spark_batch.join import plain_lines
from dovetail.engines.spark_batch.lines import matched
from dovetail.engines.spark_stream.dataflow import Frames, Merged
from dovetail.engines.spark_stream.fingerprint import Identity, SideFacts
from dovetail.engines.spark_stream.outlets import Outlets
from dovetail.engines.spark_stream.types import as_nullable
from dovetail.engines.spark_stream.worker.bucket import (
    COUNTED,
    LEFT,
    OUTLET,
    REASON,
    RIGHT,
    ROW_TIME,
)
from dovetail.engines.tables import arrow_schema
from dovetail.kernels.arrays.names import reserved
from dovetail.kernels.pairs.results import UNMATCHED, code
from dovetail.plan import lookups
from dovetail.plan.batch import BatchPlan, plan_batch
from dovetail.plan.stream import StreamPlan, StreamSide
from dovetail.schema import Schema, quoted


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
        # Rows that go by turns are those of operators of ours.
        assert not isinstance(frame, Merged)  # noqa: S101 - no join of Spark's
        rows = frame
        if isinstance(rows, tuple):
            inner = plan.inside[side.hand]
            results = _results(inner, rows, counters)
            rows = Outlets(inner).frame(results, spec.Outlet.MATCHED)
        elif side.feed.streams:
            came = {f"{side.hand.value}_came": F.lit(1)}
            rows = _counted(rows, f"{counters}.in", **came)
        given[side.source.name] = rows
    asks = [side for side in plan.sides if isinstance(side.feed.lookup, lookups.Lookup)]
    if asks:
        (side,) = asks
        other = given[plan.side(side.hand.other).source.name]
        found = _asked_lines(plan, side, other, counters=counters)
    else:
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


def _asked_lines(
    plan: StreamPlan, side: StreamSide, rows: DataFrame, *, counters: str
) -> DataFrame:
    """Returns the lines of a join whose one side is asked for, beside the rows."""
    assert isinstance(side.feed.lookup, lookups.Lookup)  # noqa: S101 - it is one
    hand = side.hand.other
    sources = {one.hand: one.source for one in plan.sides}
    wanted = lookups.asked(
        plan.join, side.hand, sources=sources, lookup=side.feed.lookup
    )
    found = _with_found(side, wanted, rows)
    # The table is asked here: its counts are those of the rows as they come.
    sums = [
        F.sum(reserved(one)).alias(f"{side.hand.value}_{one}") for one in tables.COUNTS
    ]
    found = found.observe(f"{counters}.lookup{len(plan.joins)}", *sums)
    own = F.struct(*(quoted(name) for name in rows.columns)).alias(hand.letter)
    met = found.select(own, tables.FOUND)
    equal = [f"(({one.left.text}) = ({one.right.text}))" for one in plan.join.hard]
    condition = " AND ".join([*equal, f"({plan.join.soft.text})"])
    pairs = F.expr(f"filter({quoted(tables.FOUND)}, {side.hand.letter} -> {condition})")
    listed = met.select(hand.letter, pairs.alias(tables.FOUND))
    return _met_lines(plan, side, listed, wanted=wanted)


def _with_found(side: StreamSide, wanted: lookups.Asked, rows: DataFrame) -> DataFrame:
    """Returns rows with the rows that the table has for their keys."""
    lookup = side.feed.lookup
    assert isinstance(lookup, lookups.Lookup)  # noqa: S101 - as the one above
    assert isinstance(lookup.table, tables.LookupTable)  # noqa: S101 - it is given so
    known = side.source.schema
    kept = Schema(tuple(known[name] for name in wanted.columns))
    table = lookup.table.narrowed(wanted.columns, wanted.conditions)
    # A worker has a clock of its own, which counts in seconds.
    lengths = [
        one.microseconds / 1_000_000
        for one in (lookup.ttl, lookup.refresh, lookup.retry)
    ]
    # Joins that ask one table for other columns do not share what they keep.
    name = f"{lookup.number} {wanted.columns} {wanted.conditions}"
    how = tables.How(name, lookup.key, arrow_schema(kept), lookup.size, *lengths)
    names = [reserved(f"key_{at}") for at, _ in enumerate(lookup.key)]
    # A number that the key's type has no room for equals none: it becomes a null.
    keys = (
        F.expr(f"try_cast({text} AS {known[key].type})").alias(name)
        for name, key, text in zip(names, lookup.key, wanted.keys, strict=True)
    )
    asking = rows.alias(side.hand.other.letter).select("*", *keys)
    fields = [
        spark.StructField(one.name, as_nullable(one.dataType)) for one in rows.schema
    ]
    more = [spark.StructField(reserved(one), spark.LongType()) for one in tables.COUNTS]
    return over_batches(
        asking,
        partial(tables.make_lookup, table, how, names),
        spark.StructType(
            [
                *fields,
                spark.StructField(
                    tables.FOUND, spark.ArrayType(from_arrow_schema(how.columns))
                ),
                *more,
            ]
        ),
    )


def _met_lines(
    plan: StreamPlan, side: StreamSide, rows: DataFrame, *, wanted: lookups.Asked
) -> DataFrame:
    """Returns the lines of rows beside lists of those that they meet.

    A line has both rows and whether each is there, as those of a batch have.
    """
    kind, hand = plan.join.kind, side.hand.other
    if kind.gives_pairs:
        # Of an empty list one line is left where its row is preserved.
        explode = F.explode_outer if kind.preserves(hand) else F.explode
        rows = rows.select(hand.letter, explode(tables.FOUND).alias(tables.FOUND))
        is_there = F.col(tables.FOUND).isNotNull()
    else:
        is_met, is_once = F.size(tables.FOUND) > 0, kind.gives_once(hand)
        rows = rows.where(is_met if is_once else ~is_met)
        is_there = F.lit(is_once)
    # What nobody looks at has not been fetched: it has its place, and no value.
    fetched = {*wanted.columns} if kind.gives_pairs else frozenset[str]()
    columns = [
        (F.col(tables.FOUND)[one.name] if one.name in fetched else F.lit(None))
        .cast(str(one.type))
        .alias(one.name)
        for one in side.source.schema.columns
    ]
    row = F.when(is_there & F.lit(kind.gives_pairs), F.struct(*columns))
    return rows.select(
        hand.letter,
        row.alias(side.hand.letter),
        values.yes().alias(matched(hand)),
        is_there.alias(matched(side.hand)),
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
        SideFacts("", "", tuple(frame.dtypes) if isinstance(frame, DataFrame) else ())
        for frame in frames
    )
    manner = {"native": inside} if inside else "native"
    return Identity(plan.join, (left, right), (ours, theirs), manner, 0)


def _as_batch(plan: StreamPlan) -> BatchPlan:
    """Returns the join as that of a batch, whose rows are all there."""
    # A row that is met once meets what is there, as one does that is there for ever.
    join = plan.join.with_sides(
        lambda _, side: replace(side, window=spec.Forever(), partition_by=())
    )
    join = replace(join, clock=spec.Clock.BATCH)
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
