"""Operators of a program that keep rows and are no joins, as stages of a query.

    rows -> lines as blobs -> one bucket for all -> blobs -> rows
                           -> buckets of keys    ->

Where all rows of a stream are in one order one task has them all. Windows in row time
whose rows have keys are spread over buckets where nobody asks for one order of all.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import partial
from typing import cast

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import (
    BooleanType,
    DataType,
    StructField,
    StructType,
)

from dovetail import spec
from dovetail.bind.travel import Carried, over_batches
from dovetail.engines.code_settings import code_settings
from dovetail.engines.kernel_settings import firing_settings, in_row_time
from dovetail.engines.spark_stream.labels import balanced_labels
from dovetail.engines.spark_stream.types import as_nullable
from dovetail.engines.spark_stream.worker import firing, relay
from dovetail.engines.spark_stream.worker.operator import JoinOperator
from dovetail.kernels.arrays.names import CLOCK, LineKind
from dovetail.kernels.code import Coding
from dovetail.kernels.keeping.lines import KIND, NOW
from dovetail.kernels.keeping.windows import Windows
from dovetail.kernels.row_order import CAME, NUMBER, RIDING, RowOrder
from dovetail.plan.keys import hash_of
from dovetail.schema import Schema, quoted


@dataclass(frozen=True, slots=True)
class Riding:
    """Columns of ours beside those of rows; by those of `place` lines are in order.

    `passes_on`: a row that is left out goes by all the same, as one that was passed.
    Of so many inputs rows run together, `ends`: they end as one, with the last.
    """

    columns: tuple[str, ...] = ()
    place: tuple[str, ...] = ()
    passes_on: bool = False
    ends: int = 1


def fired(
    frame: DataFrame, step: spec.Keeping | spec.Coded, riding: Riding
) -> DataFrame:
    """Returns rows as an operator gives them."""
    own, beside = step.source.schema.names, riding.columns
    # Rows of a join say when their cause has come, and bounds of its own say nothing.
    now = F.col(CLOCK) if CLOCK in beside else F.lit(0)
    extra = [] if NOW in beside else [now.cast("bigint").alias(NOW)]
    lines = frame.select(*map(quoted, (*own, *beside)), *extra)
    names = tuple(lines.columns[len(own) :])
    # Plays that share a query know nothing of each other.
    scope = relay.SCOPE if relay.SCOPE in beside else ""
    settings = (
        code_settings(step) if isinstance(step, spec.Coded) else firing_settings(step)
    )
    stage = firing.Stage(settings, riding.place, names, ends=riding.ends)
    known = {field.name: field.dataType for field in lines.schema}
    rows = _staged(lines, stage, _types(step, known), scope=scope)
    return rows.select(*map(quoted, (*step.schema.names, *beside)))


def fired_in_time(
    frame: DataFrame,
    order: RowOrder,
    step: spec.Windowed | spec.Coded | None,
    *,
    name: str,
    buckets: int = 1,
) -> DataFrame:
    """Returns lines in the order of row time, or as an operator gives them then.

    They are from then on those of an input of the name. Each of several `buckets` has
    the rows of its own keys.
    """
    known = {field.name: field.dataType for field in frame.schema}
    settings: Windows | Coding | None = None
    if isinstance(step, spec.Coded):
        settings = code_settings(step)
    elif step is not None:
        settings = in_row_time(firing_settings(step))
    riding = (*RIDING, CAME) if CAME in known else RIDING
    stage = firing.Stage(settings, (NUMBER,), riding, order, name, buckets=buckets)
    own = {one: kind for one, kind in known.items() if one not in riding}
    out = own if step is None else _types(step, known)
    lines = frame.select(*map(quoted, (*own, *riding)))
    if step is not None and buckets > 1:
        kinds = step.source.schema
        keys = hash_of((quoted(it), kinds[it].type) for it in step.apart)
        number = F.expr(f"pmod({keys}, {buckets})")
        lines = lines.withColumn(firing.BUCKET, number)
    rows = _staged(lines, stage, out)
    shown = own if step is None else step.schema.names
    return rows.select(*map(quoted, (*shown, *riding)))


def _staged(
    lines: DataFrame, stage: firing.Stage, out: dict[str, DataType], *, scope: str = ""
) -> DataFrame:
    """Returns the lines that a stage gives, which have such columns and those of ours.

    Of the column `scope` each number is a play of its own.
    """
    names = tuple(lines.columns)
    known = {field.name: field.dataType for field in lines.schema}
    # By places: PySpark itself reads a name with a dot as two.
    numbered = lines.toDF(*(f"c{number}" for number in range(len(names))))
    write = partial(firing.make_lines, names, scope)
    if stage.order is not None and stage.buckets > 1:
        labels = balanced_labels(stage.buckets, stage.buckets)
        write = partial(firing.make_spread_lines, names, stage.order, labels)
    blobs = over_batches(numbered, write, firing.LINE_DDL)
    # Rows of Spark: frames of pandas cost a bucket more than what it does with them.
    results = blobs.groupBy("bucket").transformWithState(
        JoinOperator(Carried(partial(firing.run, stage))),
        outputStructType=firing.RESULT_DDL,
        outputMode="Append",
        timeMode="None",
    )
    out = out | {name: known[name] for name in stage.riding}
    types = StructType(
        [
            StructField(f"c{number}", as_nullable(kind))
            for number, kind in enumerate(out.values())
        ]
    )
    read = partial(firing.make_rows, tuple(out))
    return over_batches(results, read, types).toDF(*out)


def _types(
    step: spec.Keeping | spec.Coded, known: dict[str, DataType]
) -> dict[str, DataType]:
    """Returns the types of what an operator gives."""
    match step:
        case spec.Windowed(gives=spec.firing.Groups(last=last), schema=schema):
            # What a row has as it came has the type that it has there.
            own = {name: known[name] for name in last}
            made = [name for name in schema.names if name not in own]
            return own | _declared(schema, made)
        case spec.Windowed():
            return {name: known[name] for name in step.source.schema.names}
        case spec.Recognized(source=source, column=column):
            own = {name: known[name] for name in source.schema.names}
            return own | {column: BooleanType()}
        case spec.Coded(schema=schema):
            return _declared(schema, schema.names)
        case spec.Aligned(parts=parts):
            return {name: known[name] for name in parts}


def _declared(schema: Schema, names: Iterable[str]) -> dict[str, DataType]:
    """Returns the types of some columns of a schema."""
    whole = cast("StructType", StructType.fromDDL(schema.to_sql()))
    return {name: whole[name].dataType for name in names}


def rows_alone(lines: DataFrame) -> DataFrame:
    """Returns lines without the marks among them."""
    if KIND not in lines.columns:
        return lines
    return lines.where(F.col(KIND) != int(LineKind.MARK))
