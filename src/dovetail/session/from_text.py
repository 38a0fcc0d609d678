"""A text of another language on DataFrames: what comes out are ordinary DataFrames."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from dovetail.front.ecl import translate
from dovetail.run.spark_program import frames
from dovetail.session.outputs import Outputs
from dovetail.session.sources import Named, Source, Sources, input_frames, source_of

_NOTHING: Sources = {}


def ecl(text: str, sources: Sources = _NOTHING) -> Outputs:
    """Returns the rows of every output of a program in ECL; nothing runs yet.

    `sources`: a folder with the files that the text names, or a DataFrame or the path
    of a file for each of its names. Rows count in the order in which they are there.
    What comes back is a dict; a notebook shows the first rows of each output.
    """
    source = source_of(sources)
    program = translate(text, source.catalog)
    spark = _session(source)
    return Outputs(frames(spark, program, input_frames(spark, program, source)))


def _session(source: Source) -> SparkSession:
    """Returns the session of the sources, or the one that is there."""
    if isinstance(source, Named):
        for rows in source.given.values():
            if isinstance(rows, DataFrame):
                return rows.sparkSession
    return SparkSession.getActiveSession() or SparkSession.builder.getOrCreate()
