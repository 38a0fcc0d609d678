"""Plays a program on rows of a case: every output as plain rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import SparkSession

from dovetail import spec
from dovetail.conformance.spark_batch import frame_of
from dovetail.engines.spark.rules import plain_rules
from dovetail.engines.spark_batch.stops import limits_told
from dovetail.engines.spark_program.runner import frames
from dovetail.engines.tables import plain_rows

# Rows of a case are few: more tasks, plans made anew while they run, and code compiled
# for each plan cost more time than they save.
_SMALL = {
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def play(
    spark: SparkSession, program: spec.Program, rows: Mapping[str, Sequence[spec.Row]]
) -> list[tuple[str, spec.Row]]:
    """Returns every row that comes out, with the name of its output, in order."""
    schemas = {one.name: one.schema for one in spec.givens_of(program)}
    with plain_rules(spark, **_SMALL), limits_told():
        inputs = {name: frame_of(spark, rows[name], schemas[name]) for name in schemas}
        outputs = frames(spark, program, inputs)
        return [
            (name, row)
            for name, frame in outputs.items()
            for row in plain_rows(frame.toArrow())
        ]
