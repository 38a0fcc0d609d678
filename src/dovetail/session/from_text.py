"""A text of another language on DataFrames: what comes out are ordinary DataFrames."""

from __future__ import annotations

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from dovetail.front.ecl import translate
from dovetail.run.spark_program import frames
from dovetail.schema import Schema

Frames = Mapping[str, DataFrame]
_NOTHING: Frames = {}


def ecl(text: str, sources: Frames = _NOTHING) -> dict[str, DataFrame]:
    """Returns the rows of every output of a program in ECL; nothing runs yet.

    `sources`: a DataFrame for each file or data set that the text names and does not
    declare itself. Its rows are in the order in which it has them.
    """
    schemas = {name: Schema.of(dict(frame.dtypes)) for name, frame in sources.items()}
    program = translate(text, schemas)
    return frames(_session(sources), program, sources)


def _session(sources: Frames) -> SparkSession:
    """Returns the session of the sources, or the one that is there."""
    for frame in sources.values():
        return frame.sparkSession
    return SparkSession.active()
