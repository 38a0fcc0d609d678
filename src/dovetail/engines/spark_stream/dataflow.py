"""The streaming plan: pack both sides, one stateful operator, unpack.

left  -> keys, time, payload -> pack --+
right -> keys, time, payload -> pack --+-> operator by bucket -> unpack
ticks ---------------------------------+

Where a side is the rows of another join, that one stands before it in the same query:

a -> pack -+
b -> pack -+-> operator -> relay -> select -> pack -+
c ------------------------------------------> pack -+-> operator -> unpack

Where rows of other keys end a row, one bucket in front of the join's sees a few numbers
of all rows, and tells the others. Their lines go by there, so each side is read once:

left, right -> pack -> lives, or by -> operator by bucket -> unpack
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructField, StructType

from dovetail.bind.travel import travel_by_value
from dovetail.engines.spark_stream.feeds import Buckets, Packing, packings
from dovetail.engines.spark_stream.outlets import Outlets, inside
from dovetail.engines.spark_stream.types import as_nullable, unpacked
from dovetail.engines.spark_stream.ways import changed
from dovetail.engines.spark_stream.worker import bucket, relay
from dovetail.engines.spark_stream.worker.operator import (
    JoinOperator,
    make_lives_operator,
    make_operator,
)
from dovetail.engines.spark_stream.worker.pack import make_heartbeat, make_pack
from dovetail.kernels.arrays.names import is_reserved
from dovetail.kernels.settings import JoinSettings
from dovetail.plan.stream import StreamPlan

COUNTERS = "dovetail.join"
"""The name of the counters of a join that is written; others are numbered."""
_HEAD_TYPES = (
    StructType()
    .add(bucket.OUTLET, "byte")
    .add(bucket.REASON, "byte")
    .add(bucket.ROW_TIME, "timestamp")
    .add(bucket.LEFT, "boolean")
    .add(bucket.RIGHT, "boolean")
)
_RELAYED_TYPES = from_arrow_schema(relay.RELAYED)


_numbers = itertools.count(1)


def numbered_counters() -> str:
    """Returns a name of counters that no other join of this process has.

    Several joins may stand in one query, where Spark wants a name for each.
    """
    return f"{COUNTERS}.{next(_numbers)}"


Sides = tuple[Packing, Packing]


@dataclass(frozen=True, slots=True)
class Packed:
    """Both sides of a join ready to be packed, and what stands behind its results."""

    sides: Sides
    told: pa.Schema

    @property
    def results(self) -> pa.Schema:
        """Returns the columns of the join's results."""
        left, right = self.sides
        return bucket.result_schema((left.schema, right.schema), self.told)

    def columns(self, prefix: str = "") -> tuple[list[StructField], list[Column]]:
        """Returns the results' plain columns, and how they are shown.

        Each side's are shown in a struct, between the head and what stands behind.
        """
        flat = [*_HEAD_TYPES]
        structs = []
        for letter, packing in zip("lr", self.sides, strict=True):
            types = {field.name: field.dataType for field in packing.frame.schema}
            columns = []
            for number, name in enumerate(bucket.shown_names(packing.schema)):
                numbered = f"{letter}{number}"
                flat.append(StructField(numbered, as_nullable(types[name])))
                own = packing.types.get(name, types[name])
                shown = unpacked(f"{prefix}{numbered}", own)
                columns.append(F.expr(shown).alias(name))
            structs.append(F.struct(*columns).alias(letter))
        flat += from_arrow_schema(self.told).fields
        plain = [
            [F.col(f"{prefix}{name}").alias(name) for name in names]
            for names in (bucket.HEAD.names, self.told.names)
        ]
        named = [StructField(f"{prefix}{one.name}", one.dataType) for one in flat]
        return named, [*plain[0], *structs, *plain[1]]


@dataclass(frozen=True, slots=True)
class Layout:
    """What whoever runs a query says of the joins in it.

    Settings are `identified` by what the state of a join is made of, once it is packed.
    Lines of inputs may be more than rows where they come `with_events`; `ticks` have as
    columns the batch's own time, and whether all ends. By the name `counters` Spark
    observes what the outermost counts.
    """

    buckets: Callable[[StreamPlan], Buckets]
    settings: Callable[[StreamPlan], JoinSettings]
    identified: Callable[[StreamPlan, Sides, JoinSettings], JoinSettings]
    ticks: tuple[DataFrame, ...] = ()
    counters: str = COUNTERS
    with_events: bool = False


Frames = tuple["DataFrame | Frames", "DataFrame | Frames"]
"""The rows of both sides of a join; of a join inside, those of its own two sides."""


def leaves(frames: Frames) -> Iterator[DataFrame]:
    """Gives the frames of all inputs."""
    for one in frames:
        if isinstance(one, tuple):
            yield from leaves(one)
        else:
            yield one


def lay(plan: StreamPlan, frames: Frames, layout: Layout) -> DataFrame:
    """Returns the results of all outlets in one frame: the head, structs `l` and `r`.

    Beside them stand the results of each join inside, as a struct of the same columns.
    """
    travel_by_value()
    lines, packed = _operated(plan, frames, layout, 0)
    if len(packed) == 1:
        return unpacked_rows(lines, packed[0])
    return _unpacked_all(lines, packed)


def _operated(
    plan: StreamPlan, frames: Frames, layout: Layout, number: int
) -> tuple[DataFrame, list[Packed]]:
    """Returns the lines of results of a join, and what all joins in it have packed."""
    rows: list[DataFrame] = []
    below: list[Packed] = []
    for side, frame in zip(plan.sides, frames, strict=True):
        if not isinstance(frame, tuple):
            rows.append(frame)
            continue
        # Numbers go as the plan lists its joins: each before those inside it.
        inner, within = number + len(below) + 1, plan.inside[side.hand]
        lines, packed = _operated(within, frame, layout, inner)
        rows.append(_handed_on(within, lines, packed[0], inner, layout))
        below += packed
    left, right = rows
    buckets = layout.buckets(plan)
    settings = layout.settings(plan)
    sides = packings(
        plan, settings, (left, right), buckets, with_events=layout.with_events
    )
    settings = layout.identified(plan, sides, settings)
    beat = make_heartbeat((*buckets.labels, *buckets.lives))
    beats = [tick.mapInArrow(beat, bucket.LINE_DDL) for tick in layout.ticks]
    lines = reduce(DataFrame.unionAll, [*map(as_lines, sides), *beats])
    schemas = sides[0].schema, sides[1].schema
    if buckets.lives:
        finding = dict.fromkeys(buckets.lives, (settings, schemas))
        lines = by_bucket(lines, make_lives_operator(finding), bucket.LINE_DDL)
    results = by_bucket(lines, make_operator(settings, schemas), bucket.RESULT_DDL)
    name = f"{layout.counters}.{inside(number)}" if number else layout.counters
    counted = results.observe(name, *_counters())
    own = Packed(sides, bucket.told_beside(settings))
    return counted.select(*bucket.RELAYED), [own, *below]


def by_bucket(lines: DataFrame, operator: JoinOperator, types: str) -> DataFrame:
    """Returns what an operator makes of the lines of each bucket."""
    return lines.groupBy("bucket").transformWithStateInPandas(
        operator, outputStructType=types, outputMode="Append", timeMode="None"
    )


def _counters() -> Iterator[Column]:
    """Gives what Spark observes of all buckets: an entry of their counts each."""
    ways = dict.fromkeys(bucket.BOUNDS, F.min) | {bucket.LARGEST: F.max}
    for number, name in enumerate(bucket.COUNTED):
        count = F.get(bucket.COUNTS, F.lit(number))
        yield ways.get(name, F.sum)(count).alias(name)
    yield F.collect_list(bucket.HOT).alias(bucket.HOT)


def _handed_on(
    plan: StreamPlan, lines: DataFrame, packed: Packed, number: int, layout: Layout
) -> DataFrame:
    """Returns the results of a join as rows of a side of the join around it."""
    known = layout.buckets(plan)
    scopes = {label: at // known.per_scope for at, label in enumerate(known.labels)}
    flat, shown = packed.columns()
    hand_on = relay.make_relay(packed.results, number, scopes)
    plain = lines.mapInArrow(hand_on, StructType([*flat, *_RELAYED_TYPES]))
    results = plain.select(*shown, *_RELAYED_TYPES.names)
    told = (name for name in packed.told.names if name not in bucket.MORE.names)
    outlets = Outlets(plan, (*_RELAYED_TYPES.names, *told))
    outlets.refuse_select(results)
    rows = outlets.handed_on(results)
    own = [name for name in rows.columns if is_reserved(name)]
    return changed(rows, plan.onward.changes, own)


def as_lines(packing: Packing) -> DataFrame:
    """Returns a side's lines; PySpark itself reads a name with a dot as two."""
    names = tuple(packing.frame.columns)
    numbered = packing.frame.toDF(*(f"c{number}" for number in range(len(names))))
    return numbered.mapInArrow(make_pack(packing.settings, names), bucket.LINE_DDL)


def unpacked_rows(lines: DataFrame, packed: Packed) -> DataFrame:
    """Returns the results of one join, of a frame whose lines have their blobs."""
    flat, shown = packed.columns()
    unpack = bucket.make_unpack(packed.results)
    return lines.select("blob").mapInArrow(unpack, StructType(flat)).select(*shown)


def _unpacked_all(lines: DataFrame, packed: Sequence[Packed]) -> DataFrame:
    """Returns the results of a join, and beside them those of each join inside."""
    flat: list[StructField] = []
    every: list[Column] = []
    for number, one in enumerate(packed):
        fields, shown = one.columns(f"{inside(number)}_")
        every += [F.struct(*shown).alias(inside(number))] if number else shown
        flat += fields
    unpack = relay.make_unpack_all([one.results for one in packed])
    rows = lines.select("blob", "join").mapInArrow(unpack, StructType(flat))
    return rows.select(*every)
