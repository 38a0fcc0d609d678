"""The right side of a keyed join: of an index as much as the left rows need.

    few left rows    their keys go to the bounds of row groups; those that may hold one
                     are read
    many left rows   all is read, and the join is an ordinary one

How many are few is `spark.dovetail.keyed.leftRows`, a setting of the Spark session. The
rows that are left out could meet no left row, so the join gives the same either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from dovetail.errors import EngineError
from dovetail.run.spark_index.chosen import all_rows, needed_rows
from dovetail.run.spark_index.layout import Build, Totals
from dovetail.run.spark_index.needs import (
    Needs,
    Term,
    needs_of_keys,
    usable,
)

LEFT_ROWS = "spark.dovetail.keyed.leftRows"
USUAL_LEFT_ROWS = 1000


@dataclass(frozen=True, slots=True)
class Read:
    """Rows of an index, and how much of it is read for them.

    `why_whole` says why all of it is read; it is empty where less is.
    """

    frame: DataFrame
    parts: Totals
    of: Totals
    why_whole: str = ""

    def told(self) -> str:
        """Returns what is read in words."""
        if self.why_whole:
            return f"all {self.of.files} files are read: {self.why_whole}"
        return (
            f"{self.parts.files} of {self.of.files} files and "
            f"{self.parts.groups} of {self.of.groups} row groups are read"
        )


def read_by_keys(left: DataFrame, terms: Sequence[Term], build: Build) -> Read:
    """Returns the rows that can be equal to a left row in all of the terms.

    A small job of Spark looks at the left keys; where they are few, it says what they
    need. Only terms on the first keys help; the others are the join's to judge.
    """
    able = usable(left, terms, build)
    if not able:
        first = "".join(f', "{name}"' for name in build.keys[:1])
        return _whole(left, build, f"no equality on the first key{first}")
    most = _few(left.sparkSession)
    return _read(left, build, needs_of_keys(left, able, build, most), most)


def read_whole(spark: SparkSession, build: Build, why: str) -> Read:
    """Returns all rows of an index."""
    return Read(all_rows(spark, build), build.totals, build.totals, why)


def _read(left: DataFrame, build: Build, needs: Needs, most: int) -> Read:
    """Returns what is needed, or all where that is most of it."""
    if needs.left_rows > most:
        return _whole(left, build, f"the left side has more than {most} rows")
    groups = {(one.file, one.number): one.rows for one in needs.stretches}
    found = Totals(len({file for file, _ in groups}), len(groups), sum(groups.values()))
    if 2 * found.rows > build.totals.rows:
        return _whole(left, build, "the left rows need most of it")
    spark = left.sparkSession
    return Read(needed_rows(spark, build, needs), found, build.totals)


def _whole(left: DataFrame, build: Build, why: str) -> Read:
    """Returns all rows beside a left side."""
    return read_whole(left.sparkSession, build, why)


def _few(spark: SparkSession) -> int:
    """Returns how many left rows are few."""
    text = spark.conf.get(LEFT_ROWS, str(USUAL_LEFT_ROWS)) or ""
    if not text.isdecimal():
        raise EngineError(f'{LEFT_ROWS} is "{text}"', "a whole number, 0 or more")
    return int(text)
