"""What a checkpoint says of itself before a query starts on it.

Every bucket's directory has the fingerprint of the join that wrote it and the buckets
among which keys are spread. A restart takes the same buckets, however many partitions
the session asks for now, and another join is refused before anything runs.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from dovetail.errors import EngineError
from dovetail.kernels.settings import FORMAT, JoinSettings

_NOTHING_YET = "STDS_COMMITTED_BATCH_UNAVAILABLE"


@dataclass(frozen=True, slots=True)
class Kept:
    """What the last batch left behind: format, fingerprint, layout of the buckets."""

    format: int
    fingerprint: str
    layout: tuple[int, int]


NOTHING = Kept(FORMAT, "", (0, 0))
"""What a checkpoint keeps before its first batch is through."""


def kept_in(spark: SparkSession, checkpoint: str) -> Kept:
    """Returns what a checkpoint keeps."""
    states = spark.read.format("statestore").option("path", checkpoint)
    try:
        found = states.option("stateVarName", "directory").load().limit(1).collect()
    except PySparkException as error:
        if error.getCondition() == _NOTHING_YET:
            return NOTHING
        raise EngineError(
            f'the checkpoint "{checkpoint}" has no state of a join',
            "a folder of this query alone",
            str(error).splitlines()[0],
        ) from error
    if not found:
        return NOTHING
    known = json.loads(bytes(found[0]["value"]["data"]))
    partitions, buckets = known["layout"]
    return Kept(known["format"], known["fingerprint"], (partitions, buckets))


def refuse_other(kept: Kept, settings: JoinSettings, checkpoint: str) -> None:
    """Refuses to start a join on the state of another one."""
    if kept.format != FORMAT:
        raise EngineError(
            f'the checkpoint "{checkpoint}" has state of the format {kept.format}',
            f"the format {FORMAT}",
            "another version of dovetail wrote it: start with a new folder",
        )
    if kept != NOTHING and kept.fingerprint != settings.fingerprint:
        raise EngineError(
            f'the checkpoint "{checkpoint}" has the state of another join',
            "the windows, keys, condition, order, columns and select of its start",
            "put the join back as it was, or start with a new folder",
        )
