"""The right side of a keyed join: of an index as much as the left rows need.

    few left rows    their keys go to the bounds of row groups; those that may hold one
                     are read
    many left rows   all is read, and the join is an ordinary one

    left keys     row groups            needed
    BAKER         0: ADAM .. BELL       BAKER .. BAKER of group 0
    COOK          1: BELL .. COOK       COOK .. COOK of groups 1 and 2
                  2: COOK .. DUNN

Spark compares the keys itself, in one small job: the left rows against the bounds of
the row groups. So all types and their order are Spark's, and only what is needed comes
to the driver. The files are named then, so Spark opens no others. Row groups are passed
over by Parquet, whose statistics contradict the condition on the keys.

Where the index only points to the rows of a file, the positions of its rows go to the
bounds of the file in the same way. How many are few is `spark.dovetail.keyed.leftRows`,
a setting of the Spark session. The rows that are left out could meet no left row, so
the join gives the same either way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import groupby
from operator import and_

from pyspark.sql import Column, DataFrame, SparkSession, Window
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import DataType, NumericType

from dovetail.engines.spark.values import is_true, no, yes
from dovetail.engines.spark_index import layout
from dovetail.errors import EngineError
from dovetail.schema import quoted

LEFT_ROWS = "spark.dovetail.keyed.leftRows"
USUAL_LEFT_ROWS = 1000
_TOTAL, _FROM, _TO = "total", "from", "to"
# Java compiles no longer condition, judging it row by row would cost more than another
# scan does, and more files than these Spark lists in a job of its own.
_MOST_TERMS = 32
# No file has more rows: what is above these bits is the number of the file.
_FILE_BITS = 33


@dataclass(frozen=True, slots=True)
class Read:
    """Rows of an index, and how much of it is read for them.

    `why_whole` says why all of it is read; it is empty where less is.
    """

    frame: DataFrame
    parts: layout.Totals
    of: layout.Totals
    why_whole: str = ""

    def told(self) -> str:
        """Returns what is read in words."""
        if self.why_whole:
            return f"all {self.of.files} files are read: {self.why_whole}"
        return (
            f"{self.parts.files} of {self.of.files} files and "
            f"{self.parts.groups} of {self.of.groups} row groups are read"
        )


@dataclass(frozen=True, slots=True)
class Term:
    """An equality: a key of the index, and what of a left row must be equal to it."""

    key: str
    left: Column


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Keys that a row group may hold: some fixed, the last between two values."""

    file: str
    number: int
    rows: int
    fixed: tuple[object, ...]
    low: object
    high: object


@dataclass(frozen=True, slots=True)
class _Needs:
    """What left rows need: so many were looked at, their keys' types, the stretches."""

    left_rows: int
    stretches: tuple[_Stretch, ...]
    types: tuple[DataType, ...]


def read_whole(spark: SparkSession, build: layout.Build, why: str) -> Read:
    """Returns all rows of an index."""
    rows = _placed(build, build.rows_in(spark))
    return Read(rows, build.totals, build.totals, why)


def read_by_keys(left: DataFrame, terms: Sequence[Term], build: layout.Build) -> Read:
    """Returns the rows that can be equal to a left row in all of the terms.

    A small job of Spark looks at the left keys; where they are few, it says what they
    need. Only terms on the first keys help; the others are the join's to judge.
    """
    able = _usable(left, terms, build)
    if not able:
        first = "".join(f', "{name}"' for name in build.keys[:1])
        why = f"no equality on the first key{first}"
        return read_whole(left.sparkSession, build, why)
    return _read(left, able, build, "the left side has more than {} rows")


def read_by_pointer(
    left: DataFrame, terms: Sequence[Term], index: layout.Build, file: layout.Build
) -> tuple[Read, ...]:
    """Returns what is read of a file by its index, and what of the index before.

    The rows are those of the file that can be equal to a left row, and others: all of
    them where the index does not help, and then nothing is read of that.
    """
    spark, origin = left.sparkSession, index.origin
    if origin.build != file.name:
        why = (
            "the index points to rows that the file had earlier"
            if origin.build
            else "the index does not point to every row of it"
        )
        return (read_whole(spark, file, why),)
    asked = [one for one in terms if one.key in origin.keys]
    first = read_by_keys(left, asked, index)
    if first.why_whole:
        why = f"the index does not help: {first.why_whole}"
        return (read_whole(spark, file, why),)
    # The positions in rows of the index that are equal to a left row, each once.
    names = [f"left {number}" for number in range(len(asked))]
    pairs = list(zip(asked, names, strict=True))
    keys = left.select(*(term.left.alias(name) for term, name in pairs))
    same = (layout.column(name) == layout.column(term.key) for term, name in pairs)
    # The left keys are few by now: they go to the rows of the index, which stay where
    # they are.
    found = first.frame.join(F.broadcast(keys), reduce(and_, same), "left_semi")
    position = layout.column(origin.position)
    by = [Term(file.keys[0], position)]
    many = "the index has more than {} rows for the left ones"
    return _read(found.select(position).distinct(), by, file, many), first


def _read(
    left: DataFrame, able: Sequence[Term], build: layout.Build, many: str
) -> Read:
    """Returns what is needed, or all where that is most of it, or of too many rows."""
    spark = left.sparkSession
    text = spark.conf.get(LEFT_ROWS, str(USUAL_LEFT_ROWS)) or ""
    if not text.isdecimal():
        raise EngineError(f'{LEFT_ROWS} is "{text}"', "a whole number, 0 or more")
    most = int(text)
    needs = _needs_of_keys(left, able, build, most)
    # One more than `most` was looked at, so that too many can be told from just enough.
    if needs.left_rows > most:
        return read_whole(spark, build, many.format(most))
    groups = {(one.file, one.number): one.rows for one in needs.stretches}
    files = {file for file, _ in groups}
    found = layout.Totals(len(files), len(groups), sum(groups.values()))
    # To judge most of the rows one by one costs more than to scan all.
    if 2 * found.rows > build.totals.rows:
        return read_whole(spark, build, "the left rows need most of it")
    return Read(_needed_rows(spark, build, needs), found, build.totals)


def _usable(left: DataFrame, terms: Sequence[Term], build: layout.Build) -> list[Term]:
    """Returns the terms on the first keys, without a gap, whose types have one order.

    A text and a number may be equal, but do not lie in one order.
    """
    # Reversed: of two terms on one key the first is used.
    by_key = {term.key.lower(): term for term in reversed(terms)}
    found: list[Term] = []
    for name in build.keys:
        term = by_key.get(name.lower())
        if term is None:
            break
        given = left.select(term.left).schema[0].dataType
        kind = build.schema[name].dataType
        numbers = isinstance(given, NumericType) and isinstance(kind, NumericType)
        if given != kind and not numbers:
            break
        found.append(term)
    return found


def _needs_of_keys(
    left: DataFrame, terms: Sequence[Term], build: layout.Build, most: int
) -> _Needs:
    """Returns what the first left rows need by their keys, one more than `most`."""
    names = [layout.key_name(number) for number in range(len(terms))]
    columns = [term.left.alias(name) for term, name in zip(terms, names, strict=True)]
    # Each once, but with how many they were: one too many tells that there are more.
    total = F.count(F.lit(1)).over(Window.partitionBy(F.lit(1)))
    first = left.select(*columns).limit(most + 1)
    keys = first.withColumn(_TOTAL, total).distinct()
    low, high = F.col(layout.LOW), F.col(layout.HIGH)
    # A null key lies before all others.
    starts = _beyond([(low[name].isNull(), low[name], F.col(name)) for name in names])
    ends = _beyond([(no(), F.col(name), high[name]) for name in names])
    parts = F.broadcast(build.parts(left.sparkSession))
    # A left join: keys that no row group holds are counted too, and have no file.
    met = keys.join(parts, starts & ends, "left")
    *fixed, last = names
    types = [keys.schema[name].dataType for name in names]
    stretches = met.groupBy(layout.FILE, layout.NUMBER, layout.COUNT, *fixed).agg(
        F.min(last).alias(_FROM), F.max(last).alias(_TO), F.first(_TOTAL).alias(_TOTAL)
    )
    kinds = dict(zip(fixed, types, strict=False)) | dict.fromkeys(
        (_FROM, _TO), types[-1]
    )
    told = stretches.withColumns(
        {name: layout.carried(F.col(name), kind) for name, kind in kinds.items()}
    )
    found = told.collect()
    rows = [
        _Stretch(
            row[layout.FILE],
            row[layout.NUMBER],
            row[layout.COUNT],
            tuple(row[name] for name in fixed),
            row[_FROM],
            row[_TO],
        )
        for row in found
        if row[layout.FILE] is not None
    ]
    # Each file's groups together: a file is then read by one scan.
    rows.sort(key=lambda one: (one.file, one.number))
    looked_at = max((row[_TOTAL] for row in found), default=0)
    return _Needs(looked_at, tuple(rows), tuple(types))


def _beyond(pairs: Sequence[tuple[Column, Column, Column]]) -> Column:
    """Returns whether values are below others, the first that differ decide."""
    found = yes()
    for is_free, lower, upper in reversed(pairs):
        below = is_free | is_true(lower < upper)
        found = below | (is_true(lower == upper) & found)
    return found


def _needed_rows(spark: SparkSession, build: layout.Build, needs: _Needs) -> DataFrame:
    """Returns the rows that are needed and others near them; ROW tells their order."""
    if not needs.stretches:
        return _placed(build, build.rows_in(spark)).where(no())
    # Portions that are not too large, and each file in one of them.
    portions: list[list[_Stretch]] = [[]]
    for _, group in groupby(needs.stretches, key=lambda one: one.file):
        of_file = list(group)
        if portions[-1] and len(portions[-1]) + len(of_file) > _MOST_TERMS:
            portions.append([])
        portions[-1] += of_file
    scans = []
    for stretches in portions:
        files = tuple(dict.fromkeys(one.file for one in stretches))
        rows = _placed(build, build.rows_in(spark, files))
        # Row groups side by side often hold one key: its condition stands once.
        same = {(one.fixed, str(one.low), str(one.high)): one for one in stretches}
        # One text, which Spark reads at once: a column for each would take longer.
        inside = (_inside(one, build, needs.types) for one in same.values())
        scans.append(rows.where(F.expr(" OR ".join(inside))))
    return reduce(DataFrame.unionAll, scans)


def _placed(build: layout.Build, rows: DataFrame) -> DataFrame:
    """Returns rows as they are scanned, with what tells their order."""
    names = [layout.column(name) for name in build.schema.names]
    # Spark numbers the files of a build in the order of the keys: part-00017-.. has 17.
    name = layout.file_of_row()
    file = F.substring_index(F.substring_index(name, "-", 2), "-", -1).cast("bigint")
    place = F.shiftleft(file, _FILE_BITS) + layout.row_in_file()
    return rows.select(*names, place.alias(layout.ROW))


def _inside(stretch: _Stretch, build: layout.Build, types: Sequence[DataType]) -> str:
    """Returns whether a row lies in a stretch, as Spark SQL that Parquet can judge."""
    *fixed, last = (quoted(name) for name in build.keys[: len(types)])
    values = zip(fixed, stretch.fixed, types, strict=False)
    terms = [f"{name} = {layout.literal(value, kind)}" for name, value, kind in values]
    low, high = (layout.literal(end, types[-1]) for end in (stretch.low, stretch.high))
    is_one = stretch.low == stretch.high
    terms.append(f"{last} = {low}" if is_one else f"{last} BETWEEN {low} AND {high}")
    return f"({' AND '.join(terms)})"
