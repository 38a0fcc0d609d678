"""The right side of a keyed join: of an index as much as the left rows need.

    few left rows    their keys go to the bounds of row groups; those that may hold one
                     are read
    many left rows   all is read, and the join is an ordinary one

Where the index only points to the rows of a file, the positions of its rows go to the
bounds of the file in the same way. How many are few is `spark.dovetail.keyed.leftRows`,
a setting of the Spark session. The rows that are left out could meet no left row, so
the join gives the same either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from operator import and_

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_index.chosen import all_rows, needed_rows
from dovetail.engines.spark_index.layout import Build, Totals, column
from dovetail.engines.spark_index.needs import (
    Needs,
    Term,
    needs_of_keys,
    usable,
)
from dovetail.errors import EngineError

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
    return _read(left, able, build, "the left side has more than {} rows")


def read_by_pointer(
    left: DataFrame, terms: Sequence[Term], index: Build, file: Build
) -> tuple[Read, ...]:
    """Returns what is read of a file by its index, and what of the index before.

    The rows are those of the file that can be equal to a left row, and others: all of
    them where the index does not help, and then nothing is read of that.
    """
    if index.origin.build != file.name:
        why = (
            "the index points to rows that the file had earlier"
            if index.origin.build
            else "the index does not point to every row of it"
        )
        return (_whole(left, file, why),)
    asked = [one for one in terms if one.key in index.origin.keys]
    first = read_by_keys(left, asked, index)
    if first.why_whole:
        return (_whole(left, file, f"the index does not help: {first.why_whole}"),)
    places = _positions(left, asked, first.frame, index.origin.position)
    by = [Term(file.keys[0], column(index.origin.position))]
    many = "the index has more than {} rows for the left ones"
    return _read(places, by, file, many), first


def read_whole(spark: SparkSession, build: Build, why: str) -> Read:
    """Returns all rows of an index."""
    return Read(all_rows(spark, build), build.totals, build.totals, why)


def _positions(
    left: DataFrame, terms: Sequence[Term], rows: DataFrame, position: str
) -> DataFrame:
    """Returns the positions in rows of an index that are equal to a left row."""
    names = [f"left {number}" for number in range(len(terms))]
    pairs = list(zip(terms, names, strict=True))
    keys = left.select(*(term.left.alias(name) for term, name in pairs))
    same = reduce(and_, (column(name) == column(term.key) for term, name in pairs))
    found = rows.join(F.broadcast(keys), same, "left_semi")
    return found.select(column(position)).distinct()


def _read(left: DataFrame, able: Sequence[Term], build: Build, many: str) -> Read:
    """Returns what is needed, or all where that is most of it, or of too many rows."""
    most = _few(left.sparkSession)
    needs = needs_of_keys(left, able, build, most)
    if needs.left_rows > most:
        return _whole(left, build, many.format(most))
    found = _totals(needs)
    if 2 * found.rows > build.totals.rows:
        return _whole(left, build, "the left rows need most of it")
    spark = left.sparkSession
    return Read(needed_rows(spark, build, needs), found, build.totals)


def _totals(needs: Needs) -> Totals:
    """Returns how much is needed."""
    groups = {(one.file, one.number): one.rows for one in needs.stretches}
    files = {file for file, _ in groups}
    return Totals(len(files), len(groups), sum(groups.values()))


def _whole(left: DataFrame, build: Build, why: str) -> Read:
    """Returns all rows beside a left side."""
    return read_whole(left.sparkSession, build, why)


def _few(spark: SparkSession) -> int:
    """Returns how many left rows are few."""
    text = spark.conf.get(LEFT_ROWS, str(USUAL_LEFT_ROWS)) or ""
    if not text.isdecimal():
        raise EngineError(f'{LEFT_ROWS} is "{text}"', "a whole number, 0 or more")
    return int(text)
