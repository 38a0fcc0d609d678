"""The streaming plan: pack both sides, one stateful operator, unpack.

left  -> keys, time, payload -> pack --+
right -> keys, time, payload -> pack --+-> operator by bucket -> unpack
ticks ---------------------------------+
"""

from __future__ import annotations

import itertools
from functools import reduce

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StructField, StructType

from dovetail.bind.travel import travel_by_value
from dovetail.engines.spark_stream.feeds import Packing
from dovetail.engines.spark_stream.types import as_nullable, unpacked
from dovetail.engines.spark_stream.worker import bucket
from dovetail.engines.spark_stream.worker.operator import make_operator
from dovetail.engines.spark_stream.worker.pack import make_heartbeat, make_pack
from dovetail.kernels.settings import JoinSettings

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


_numbers = itertools.count(1)


def numbered_counters() -> str:
    """Returns a name of counters that no other join of this process has.

    Several joins may stand in one query, where Spark wants a name for each.
    """
    return f"{COUNTERS}.{next(_numbers)}"


def lay(
    packings: tuple[Packing, Packing],
    settings: JoinSettings,
    ticks: tuple[DataFrame, ...],
    counters: str = COUNTERS,
) -> DataFrame:
    """Returns the results of all outlets in one frame: the head, structs `l` and `r`.

    `ticks` are frames whose single column is the batch's own time; by the name
    `counters` Spark observes what is counted.
    """
    travel_by_value()
    packed = [as_lines(packing) for packing in packings]
    labels = packings[0].settings.labels
    beats = [tick.mapInArrow(make_heartbeat(labels), bucket.LINE_DDL) for tick in ticks]
    lines = reduce(DataFrame.unionAll, [*packed, *beats])
    schemas = (packings[0].schema, packings[1].schema)
    told = bucket.told_beside(settings)
    blobs = lines.groupBy("bucket").transformWithStateInPandas(
        make_operator(settings, schemas),
        outputStructType=bucket.RESULT_DDL,
        outputMode="Append",
        timeMode="None",
    )
    sums = [F.sum(name).alias(name) for name in bucket.RESULT_NAMES[1:]]
    counted = blobs.observe(counters, *sums).select("blob")
    return unpacked_rows(counted, packings, told)


def as_lines(packing: Packing) -> DataFrame:
    """Returns a side's lines; PySpark itself reads a name with a dot as two."""
    names = tuple(packing.frame.columns)
    numbered = packing.frame.toDF(*(f"c{number}" for number in range(len(names))))
    return numbered.mapInArrow(make_pack(packing.settings, names), bucket.LINE_DDL)


def unpacked_rows(
    blobs: DataFrame, packings: tuple[Packing, Packing], told: pa.Schema
) -> DataFrame:
    """Returns the blobs' rows as plain columns, each side's in a struct.

    `told` is what stands behind both sides.
    """
    flat, structs = list(_HEAD_TYPES), []
    for letter, packing in zip("lr", packings, strict=True):
        types = {field.name: field.dataType for field in packing.frame.schema}
        columns = []
        for number, name in enumerate(bucket.shown_names(packing.schema)):
            numbered = f"{letter}{number}"
            flat.append(StructField(numbered, as_nullable(types[name])))
            own = packing.types.get(name, types[name])
            columns.append(F.expr(unpacked(numbered, own)).alias(name))
        structs.append(F.struct(*columns).alias(letter))
    flat += from_arrow_schema(told).fields
    schema = bucket.result_schema((packings[0].schema, packings[1].schema), told)
    rows = blobs.mapInArrow(bucket.make_unpack(schema), StructType(flat))
    return rows.select(*bucket.HEAD.names, *structs, *told.names)
