"""Operators of a program that keep rows and are no joins, as stages of a query.

    rows -> lines as blobs -> one bucket for all -> blobs -> rows

All rows of a stream are in one order there, so one task has them all.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import ArrayType, DataType, IntegerType, StructField, StructType

from dovetail import spec
from dovetail.bind.travel import Carried, travel_by_value
from dovetail.engines.kernel_settings import firing_settings
from dovetail.engines.spark_stream.types import as_nullable
from dovetail.engines.spark_stream.worker import firing, relay
from dovetail.engines.spark_stream.worker.operator import JoinOperator
from dovetail.kernels.arrays.names import CLOCK, LineKind
from dovetail.kernels.firing import KIND, NOW
from dovetail.schema import quoted


@dataclass(frozen=True, slots=True)
class Riding:
    """Columns of ours beside those of rows; by those of `place` lines are in order."""

    columns: tuple[str, ...] = ()
    place: tuple[str, ...] = ()


def fired(
    frame: DataFrame, step: spec.Windowed | spec.Aligned, riding: Riding
) -> DataFrame:
    """Returns rows as an operator gives them."""
    travel_by_value()
    own, beside = step.source.schema.names, riding.columns
    # Rows of a join say when their cause has come; of bounds nothing asks it.
    now = F.coalesce(F.col(CLOCK), F.lit(0)) if CLOCK in beside else F.lit(0)
    extra = [] if NOW in beside else [now.cast("bigint").alias(NOW)]
    names = (*own, *beside, *(NOW for _ in extra))
    lines = frame.select(*map(quoted, (*own, *beside)), *extra)
    # Plays that share a query know nothing of each other.
    scope = relay.SCOPE if relay.SCOPE in beside else ""
    numbered = lines.toDF(*(f"c{number}" for number in range(len(names))))
    blobs = numbered.mapInArrow(firing.make_lines(names, scope), firing.LINE_DDL)
    stage = firing.Stage(firing_settings(step), riding.place, names[len(own) :])
    results = blobs.groupBy("bucket").transformWithStateInPandas(
        JoinOperator(Carried(partial(firing.run, stage))),
        outputStructType=firing.RESULT_DDL,
        outputMode="Append",
        timeMode="None",
    )
    known = {field.name: field.dataType for field in lines.schema}
    out = _types(step, known) | {name: known[name] for name in stage.riding}
    types = StructType(
        [
            StructField(f"c{number}", as_nullable(kind))
            for number, kind in enumerate(out.values())
        ]
    )
    rows = results.mapInArrow(firing.make_rows(len(out)), types).toDF(*out)
    return rows.select(*map(quoted, (*step.schema.names, *beside)))


def _types(
    step: spec.Windowed | spec.Aligned, known: dict[str, DataType]
) -> dict[str, DataType]:
    """Returns the types of what an operator gives, in its kernel's order."""
    match step:
        case spec.Windowed(gives=spec.firing.Lists(columns=columns, counts=counts)):
            lists: dict[str, DataType] = {
                name: ArrayType(known[name]) for name in columns
            }
            return lists | {counts: ArrayType(IntegerType())}
        case spec.Windowed():
            return {name: known[name] for name in step.source.schema.names}
        case spec.Aligned(parts=parts):
            return {name: known[name] for name in parts}


def rows_alone(lines: DataFrame) -> DataFrame:
    """Returns lines without the marks among them."""
    if KIND not in lines.columns:
        return lines
    return lines.where(F.col(KIND) != int(LineKind.MARK))
