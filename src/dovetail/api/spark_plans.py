"""How Spark would carry out a program: its plan for every output, nothing is run.

Without files the inputs are frames without rows, of which Spark knows nothing: it plans
as for sides that are large.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import redirect_stdout
from dataclasses import replace
from io import StringIO

from pyspark.sql import DataFrame, SparkSession

from dovetail import spec
from dovetail.api.sources import Folder, input_frames
from dovetail.bind.files import Root
from dovetail.engines.spark.rules import plain_rules
from dovetail.engines.spark_index.shelf import AnyShelf, NoShelf
from dovetail.engines.spark_program import frames
from dovetail.plan.spark_plan import readable

# Spark cuts paths of files short.
_LONG = {"spark.sql.maxMetadataStringLength": "10000"}
_NO_SHELF = NoShelf()
Plans = Mapping[str, tuple[str, ...]]


def plans(
    spark: SparkSession,
    program: spec.Program,
    inputs: dict[str, DataFrame],
    shelf: AnyShelf = _NO_SHELF,
) -> Plans:
    """Returns the plan of every output in lines, by its name."""
    found = frames(spark, program, inputs, shelf)
    return {name: readable(explained_by(found[name])) for name in found}


def explained_by(frame: DataFrame) -> str:
    """Returns what Spark prints of a frame's plan."""
    long = plain_rules(frame.sparkSession, **_LONG)
    with long, redirect_stdout(StringIO()) as printed:
        frame.explain("simple")
    return printed.getvalue()


def plans_on_files(spark: SparkSession, program: spec.Program, root: Root) -> Plans:
    """Returns the plans of a program on the files of a folder."""
    source = Folder(root)
    inputs = input_frames(spark, program, source)
    if any(isinstance(one, spec.Written) for one in spec.steps_of(program)):
        # Only on disk are their rows; what is built now is not written for a plan.
        return plans(spark, replace(program, builds=()), inputs, source.shelf)
    return plans(spark, program, inputs)


def plans_on_nothing(spark: SparkSession, program: spec.Program) -> Plans:
    """Returns the plans of a program on inputs that nothing is known of."""
    with plain_rules(spark):
        # Of rows that are known to be none Spark would plan nothing at all.
        empty = spark.sparkContext.emptyRDD()
        inputs = {
            one.name: spark.createDataFrame(empty, one.schema.to_sql())
            for one in spec.givens_of(program)
        }
    return plans(spark, program, inputs)
