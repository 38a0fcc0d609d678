"""How rows lie on disk so that few of them must be read, and how they are written.

    FOLDER/manifest/part-..json          a line for each build that is whole
    FOLDER/build-1-9f3a../rows/part-..   rows in the order of the keys, cut into files
    FOLDER/build-1-9f3a../parts/part-..  a row for each row group: whose keys it holds

    file     number   low    high    rows
    part-0   0        ADAM   BELL    10000
    part-0   1        BELL   COOK    10000
    part-1   0        COOK   DUNN     8000

The manifest is written last, and a build never touches the files of another: what has
no line is not there, so a build that was cut off is never read. Spark reads and writes
it as it does rows, a JSON line for each build, the newest last, so that any file system
of Hadoop serves, also behind Spark Connect.

A build's rows are sorted, cut into files and row groups, then made to count. They are
spread by ranges of the keys, not by their hash: so a join on the first keys alone finds
its rows together too, and the files in their order are the index's order.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from decimal import Decimal
from uuid import uuid4

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame, SparkSession, types
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.bind.failures import on_trial
from dovetail.bind.sinks import pattern_of
from dovetail.engines.spark.rules import plain_rules
from dovetail.errors import EngineError, SchemaError
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import quoted

MANIFEST, ROWS, PARTS = "manifest", "rows", "parts"
FILE, NUMBER, LOW, HIGH, COUNT = "file", "number", "low", "high", "rows"
ROW = reserved("row")
"""The hidden column by which the rows of a build are in their order."""
FORMAT = 2
# Spark's old type of times has no statistics, so no row group could be passed over.
_TIMES = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}
_COLUMNS = (
    "format INT, number BIGINT, place STRING, columns STRING, keys ARRAY<STRING>, "
    "group BIGINT, files BIGINT, groups BIGINT, rows BIGINT, "
    "origin STRUCT<build STRING, keys ARRAY<STRING>, position STRING>"
)


@dataclass(frozen=True, slots=True)
class Sizes:
    """How many rows a file has, about, and a row group and a page of it at most."""

    file: int = 100_000
    group: int = 10_000
    page: int = 1000


@dataclass(frozen=True, slots=True)
class Totals:
    """How much there is of something: files, row groups and rows."""

    files: int
    groups: int
    rows: int


@dataclass(frozen=True, slots=True)
class Origin:
    """Whose rows an index points to: all of one build. Without a build: nobody's.

    `position` is the column with their positions, `keys` are the keys of the index
    that are columns of those rows, unchanged.
    """

    build: str = ""
    keys: tuple[str, ...] = ()
    position: str = ""


@dataclass(frozen=True, slots=True)
class Build:
    """A build that is whole: where it lies, its columns and keys, how much it holds."""

    place: str
    number: int
    schema: types.StructType
    keys: tuple[str, ...]
    group: int
    totals: Totals
    origin: Origin = Origin()

    @property
    def name(self) -> str:
        """Returns a name that no other build has, wherever its folder lies."""
        return self.place.rpartition("/")[2]

    def rows_in(self, spark: SparkSession, files: tuple[str, ...] = ()) -> DataFrame:
        """Returns the rows of some files, or of all, as Spark reads them."""
        folder = pattern_of(f"{self.place}/{ROWS}")
        paths = [f"{folder}/{name}" for name in files] or [folder]
        return spark.read.schema(self.schema).parquet(*paths)

    def parts(self, spark: SparkSession) -> DataFrame:
        """Returns what each row group holds."""
        field, bounds = types.StructField, types.StructType()
        for number, name in enumerate(self.keys):
            bounds.add(key_name(number), self.schema[name].dataType)
        ends = [field(name, bounds) for name in (LOW, HIGH)] if self.keys else []
        first = [field(FILE, types.StringType()), field(NUMBER, types.LongType())]
        columns = types.StructType([*first, *ends, field(COUNT, types.LongType())])
        return spark.read.schema(columns).parquet(pattern_of(f"{self.place}/{PARTS}"))


@dataclass(frozen=True, slots=True)
class NoBuild:
    """Nothing whole lies in a folder."""

    place: str


def key_name(number: int) -> str:
    """Returns the name of a key among the bounds of a row group."""
    return f"key_{number}"


def column(name: str) -> Column:
    """Returns the column of exactly this name."""
    return F.col(quoted(name))


def row_in_file() -> Column:
    """Returns the number of a row in its file, from 0."""
    return F.col("_metadata.row_index")


def file_of_row() -> Column:
    """Returns the name of the file in which a row lies."""
    return F.col("_metadata.file_name")


def carried(value: Column, kind: types.DataType) -> Column:
    """Returns a value as it travels."""
    # As values of Python times are in the machine's zone, and end with the year 9999.
    match kind:
        case types.TimestampType():
            return F.unix_micros(value)
        case types.TimestampNTZType():
            return value.cast("string")
        case types.DateType():
            return F.unix_date(value)
        case _:
            return value


def literal(value: object, kind: types.DataType) -> str:
    """Returns a value that has travelled as a constant of its type in Spark SQL.

    Its characters stand as bytes: how a text is read is a setting of the session.
    """
    match value:
        case None:
            return f"CAST(NULL AS {kind.simpleString()})"
        case bytes() | bytearray():
            return _bytes(value)
        case Decimal():
            # Never in exponents: Spark reads those as doubles.
            text = f"{value:f}"
        case _:
            text = str(value)
    as_text = f"CAST({_bytes(text.encode())} AS STRING)"
    match kind:
        case types.TimestampType():
            return f"timestamp_micros(CAST({as_text} AS BIGINT))"
        case types.DateType():
            return f"date_from_unix_date(CAST({as_text} AS INT))"
        case _:
            return f"CAST({as_text} AS {kind.simpleString()})"


def _bytes(value: bytes | bytearray) -> str:
    """Returns bytes as a constant."""
    return f"X'{value.hex()}'"


_USUAL = Sizes()


def builds(spark: SparkSession, folder: str) -> list[Build]:
    """Returns the builds of a folder that are whole, in the order of their numbers."""
    reader = spark.read.schema(_COLUMNS)
    try:
        with on_trial():
            lines = reader.json(pattern_of(f"{folder}/{MANIFEST}")).collect()
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return []
    for line in lines:
        if line["format"] != FORMAT:
            raise EngineError(
                f'the index "{folder}" has the format {line["format"]}',
                f"{FORMAT}",
                "another version has written it: build it anew",
            )
    # Two that were built at the same time have one number: the place decides.
    lines.sort(key=lambda line: (line["number"], line["place"]))
    return [
        Build(
            f"{folder}/{line['place']}",
            line["number"],
            types.StructType.fromJson(json.loads(line["columns"])),
            tuple(line["keys"]),
            line["group"],
            Totals(line["files"], line["groups"], line["rows"]),
            Origin(
                line["origin"]["build"],
                tuple(line["origin"]["keys"]),
                line["origin"]["position"],
            ),
        )
        for line in lines
    ]


def newest(spark: SparkSession, folder: str) -> Build | NoBuild:
    """Returns the newest whole build of a folder."""
    found = builds(spark, folder)
    return found[-1] if found else NoBuild(folder)


def opened(spark: SparkSession, folder: str) -> Build:
    """Returns the newest whole build of a folder that must have one."""
    match newest(spark, folder):
        case Build() as build:
            return build
        case NoBuild():
            raise EngineError(
                f'"{folder}" has no index that is whole', hint="BUILD writes one"
            )


def add_build(spark: SparkSession, folder: str, build: Build) -> None:
    """Writes the line that makes a build count: one file, so all of it or nothing."""
    totals = build.totals
    row = (
        FORMAT,
        build.number,
        build.place.removeprefix(f"{folder}/"),
        build.schema.json(),
        list(build.keys),
        build.group,
        totals.files,
        totals.groups,
        totals.rows,
        (build.origin.build, [*build.origin.keys], build.origin.position),
    )
    line = spark.createDataFrame([row], _COLUMNS).coalesce(1)
    line.write.mode("append").json(f"{folder}/{MANIFEST}")


@dataclass(frozen=True, slots=True)
class Sorted:
    """Rows to be written by their keys; `order` decides among equal ones.

    The columns of `order` are not written. `origin` says whose positions they have.
    """

    frame: DataFrame
    keys: tuple[str, ...] = ()
    order: tuple[str, ...] = ()
    origin: Origin = Origin()


def write_index(
    rows: Sorted, folder: str, *, sizes: Sizes = _USUAL, replaces: bool = False
) -> Build:
    """Writes rows as the newest build of a folder; one that is there must be named so.

    The build before stays on disk for those who read it just now; older ones go.
    """
    spark = rows.frame.sparkSession
    _check_keys(rows)
    before = builds(spark, folder)
    if before and not replaces:
        raise EngineError(
            f'the index "{folder}" is there already',
            "a name that is free",
            "OVERWRITE builds it anew",
        )
    number = before[-1].number + 1 if before else 1
    schema = rows.frame.drop(*rows.order).schema
    # Two that build at one time have one number, and must not share a folder.
    place = f"{folder}/build-{number}-{uuid4().hex}"
    none = Totals(0, 0, 0)  # until they are written and counted
    build = Build(place, number, schema, rows.keys, sizes.group, none, rows.origin)
    with plain_rules(spark, **_TIMES):
        # Computed once, though they are counted, cut and written.
        frame = rows.frame.persist()
        try:
            _write_rows(replace(rows, frame=frame), build, sizes)
            _write_parts(frame, build)
            # Counted as they lie on disk, not as they were meant to lie.
            parts = build.parts(frame.sparkSession)
            sums = parts.agg(
                F.countDistinct(FILE),
                F.count(F.lit(1)),
                F.coalesce(F.sum(COUNT), F.lit(0)),
            )
            [(files, groups, count)] = sums.collect()
            build = replace(build, totals=Totals(files, groups, count))
        finally:
            frame.unpersist()
    add_build(spark, folder, build)
    for old in before[-2:-1]:
        # Nobody reads its rows any more; the folder and its line stay.
        emptied = spark.createDataFrame([], old.schema)
        emptied.write.mode("overwrite").parquet(f"{old.place}/{ROWS}")
    return build


def _check_keys(rows: Sorted) -> None:
    """Refuses keys that are no columns, or have no order."""
    names = tuple(rows.frame.columns)
    for name in rows.keys:
        if name not in names:
            raise SchemaError.no_column(name, names)
        kind = rows.frame.schema[name].dataType
        # Only single values can be sorted, and have statistics in Parquet.
        if isinstance(
            kind, types.ArrayType | types.MapType | types.StructType | types.VariantType
        ):
            raise SchemaError(
                f'the key "{name}" is of the type {kind.simpleString()}',
                "a type of single values",
            )


def _write_rows(rows: Sorted, build: Build, sizes: Sizes) -> None:
    """Writes the rows, sorted, into files that do not overlap."""
    files = max(1, -(-rows.frame.count() // sizes.file))
    by = [column(name) for name in (*rows.keys, *rows.order)]
    # By ranges, not by hash: a file then has keys that stand together, and few files
    # have a key.
    spread = rows.frame.repartitionByRange(files, *by) if by else rows.frame
    in_order = spread.sortWithinPartitions(*by) if by else spread
    # A session's limit would cut a file into two of one number: rows are placed by it.
    writer = in_order.drop(*rows.order).write.option("maxRecordsPerFile", 0)
    writer = writer.option("parquet.block.row.count.limit", sizes.group)
    # Pages have statistics too: of a row group a reader decodes those that it needs.
    writer = writer.option("parquet.page.row.count.limit", sizes.page)
    writer.parquet(f"{build.place}/{ROWS}")


def _write_parts(frame: DataFrame, build: Build) -> None:
    """Writes what each row group holds, from the rows as they lie on disk."""
    keys = F.struct(
        *(column(name).alias(key_name(at)) for at, name in enumerate(build.keys))
    )
    ends = [F.min(keys).alias(LOW), F.max(keys).alias(HIGH)] if build.keys else []
    # A row group begins every so many rows: the writer is told so.
    number = F.floor(row_in_file() / F.lit(build.group)).cast("bigint")
    found = build.rows_in(frame.sparkSession).groupBy(
        file_of_row().alias(FILE), number.alias(NUMBER)
    )
    counted = found.agg(*ends, F.count(F.lit(1)).alias(COUNT))
    counted.coalesce(1).write.parquet(f"{build.place}/{PARTS}")
