"""The rows of an index that few left rows need: some files, in them some row groups.

The files are named, so Spark opens no others. Row groups are passed over by Parquet,
whose statistics contradict the condition on the keys.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from itertools import groupby

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import DataType

from dovetail.engines.spark_index.layout import (
    ROW,
    Build,
    column,
    file_of_row,
    row_in_file,
)
from dovetail.engines.spark_index.needs import Needs, Stretch
from dovetail.engines.spark_index.values import literal
from dovetail.schema import quoted

# Java compiles no longer condition, judging it row by row would cost more than another
# scan does, and more files than these Spark lists in a job of its own.
_MOST_TERMS = 32
# No file has more rows: what is above these bits is the number of the file.
_FILE_BITS = 33


def all_rows(spark: SparkSession, build: Build) -> DataFrame:
    """Returns all rows of a build; ROW tells their order."""
    return _placed(build, build.rows_in(spark))


def needed_rows(spark: SparkSession, build: Build, needs: Needs) -> DataFrame:
    """Returns the rows that are needed and others near them; ROW tells their order."""
    if not needs.stretches:
        return all_rows(spark, build).where(F.lit(False))  # noqa: FBT003 - a value
    scans = [
        _scan(spark, build, stretches, needs.types)
        for stretches in _portions(needs.stretches)
    ]
    return reduce(DataFrame.unionAll, scans)


def _scan(
    spark: SparkSession,
    build: Build,
    stretches: Sequence[Stretch],
    types: Sequence[DataType],
) -> DataFrame:
    """Returns the rows of some files that lie in one of the stretches."""
    files = tuple(dict.fromkeys(one.file for one in stretches))
    rows = _placed(build, build.rows_in(spark, files))
    return rows.where(_condition(stretches, build, types)) if types else rows


def _placed(build: Build, rows: DataFrame) -> DataFrame:
    """Returns rows as they are scanned, with what tells their order."""
    names = [column(name) for name in build.schema.names]
    place = F.shiftleft(_file_number(file_of_row()), _FILE_BITS) + row_in_file()
    return rows.select(*names, place.alias(ROW))


def _file_number(name: Column) -> Column:
    """Returns the number that Spark gives to a file: part-00017-.. has 17."""
    return F.substring_index(F.substring_index(name, "-", 2), "-", -1).cast("bigint")


def _portions(stretches: Sequence[Stretch]) -> Iterator[list[Stretch]]:
    """Yields stretches in portions that are not too large, each file in one of them."""
    portion: list[Stretch] = []
    for _, group in groupby(stretches, key=lambda one: one.file):
        of_file = list(group)
        if portion and len(portion) + len(of_file) > _MOST_TERMS:
            yield portion
            portion = []
        portion += of_file
    if portion:
        yield portion


def _condition(
    stretches: Sequence[Stretch], build: Build, types: Sequence[DataType]
) -> Column:
    """Returns which rows lie in one of the stretches, as Parquet can judge it."""
    same = {(one.fixed, str(one.low), str(one.high)): one for one in stretches}
    # One text, which Spark reads at once: a column for each value would take longer.
    return F.expr(" OR ".join(_inside(one, build, types) for one in same.values()))


def _inside(stretch: Stretch, build: Build, types: Sequence[DataType]) -> str:
    """Returns whether a row lies in a stretch, as Spark SQL."""
    *fixed, last = (quoted(name) for name in build.keys[: len(types)])
    values = zip(fixed, stretch.fixed, types, strict=False)
    terms = [f"{name} = {literal(value, kind)}" for name, value, kind in values]
    low, high = (literal(end, types[-1]) for end in (stretch.low, stretch.high))
    is_one = stretch.low == stretch.high
    terms.append(f"{last} = {low}" if is_one else f"{last} BETWEEN {low} AND {high}")
    return f"({' AND '.join(terms)})"
