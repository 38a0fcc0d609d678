"""The builds of a folder: which are whole, and how a new one is written.

The manifest tells of them, the newest last. Spark reads and writes it as it does rows,
a JSON line for each build, so that any file system of Hadoop serves, also behind Spark
Connect.

A build's rows are sorted, cut into files and row groups, then made to count. They are
spread by ranges of the keys, not by their hash: so a join on the first keys alone finds
its rows together too, and the files in their order are the index's order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import uuid4

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import ArrayType, MapType, StructType, VariantType

from dovetail.engines.spark.rules import plain_rules
from dovetail.engines.spark_index import layout
from dovetail.engines.spark_index.layout import Build, NoBuild, Origin, Sizes, Totals
from dovetail.errors import EngineError, SchemaError

FORMAT = 2
_USUAL = Sizes()
_NO_TOTALS = Totals(0, 0, 0)
# Spark's old type of times has no statistics, so no row group could be passed over.
_TIMES = {"spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS"}
_COLUMNS = (
    "format INT, number BIGINT, place STRING, columns STRING, keys ARRAY<STRING>, "
    "group BIGINT, files BIGINT, groups BIGINT, rows BIGINT, "
    "origin STRUCT<build STRING, keys ARRAY<STRING>, position STRING>"
)


def builds(spark: SparkSession, folder: str) -> list[Build]:
    """Returns the builds of a folder that are whole, in the order of their numbers."""
    reader = spark.read.schema(_COLUMNS)
    try:
        lines = reader.json(f"{folder}/{layout.MANIFEST}").collect()
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
            StructType.fromJson(json.loads(line["columns"])),
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
    line.write.mode("append").json(f"{folder}/{layout.MANIFEST}")


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
    place = f"{folder}/build-{number}-{uuid4().hex}"
    build = Build(
        place, number, schema, rows.keys, sizes.group, _NO_TOTALS, rows.origin
    )
    with plain_rules(spark, **_TIMES), _held(rows.frame) as frame:
        _write_rows(replace(rows, frame=frame), build, sizes)
        _write_parts(frame, build)
        build = replace(build, totals=_totals(frame, build))
    add_build(spark, folder, build)
    for old in before[-2:-1]:
        _empty(rows.frame, old)
    return build


def _check_keys(rows: Sorted) -> None:
    """Refuses keys that are no columns, or have no order."""
    names = tuple(rows.frame.columns)
    for name in rows.keys:
        if name not in names:
            raise SchemaError.no_column(name, names)
        kind = rows.frame.schema[name].dataType
        # Only single values can be sorted, and have statistics in Parquet.
        if isinstance(kind, ArrayType | MapType | StructType | VariantType):
            raise SchemaError(
                f'the key "{name}" is of the type {kind.simpleString()}',
                "a type of single values",
            )


@contextmanager
def _held(frame: DataFrame) -> Iterator[DataFrame]:
    """Gives rows that are computed once, though they are counted, cut and written."""
    held = frame.persist()
    try:
        yield held
    finally:
        held.unpersist()


def _write_rows(rows: Sorted, build: Build, sizes: Sizes) -> None:
    """Writes the rows, sorted, into files that do not overlap."""
    files = max(1, -(-rows.frame.count() // sizes.file))
    by = [layout.column(name) for name in (*rows.keys, *rows.order)]
    spread = rows.frame.repartitionByRange(files, *by) if by else rows.frame
    in_order = spread.sortWithinPartitions(*by) if by else spread
    writer = in_order.drop(*rows.order).write.option("maxRecordsPerFile", 0)
    writer = writer.option("parquet.block.row.count.limit", sizes.group)
    # Pages have statistics too: of a row group a reader decodes those that it needs.
    writer = writer.option("parquet.page.row.count.limit", sizes.page)
    writer.parquet(f"{build.place}/{layout.ROWS}")


def _write_parts(frame: DataFrame, build: Build) -> None:
    """Writes what each row group holds, from the rows as they lie on disk."""
    keys = F.struct(
        *(
            layout.column(name).alias(layout.key_name(at))
            for at, name in enumerate(build.keys)
        )
    )
    ends = (
        [F.min(keys).alias(layout.LOW), F.max(keys).alias(layout.HIGH)]
        if build.keys
        else []
    )
    number = F.floor(layout.row_in_file() / F.lit(build.group)).cast("bigint")
    found = build.rows_in(frame.sparkSession).groupBy(
        layout.file_of_row().alias(layout.FILE), number.alias(layout.NUMBER)
    )
    counted = found.agg(*ends, F.count(F.lit(1)).alias(layout.COUNT))
    counted.coalesce(1).write.parquet(f"{build.place}/{layout.PARTS}")


def _totals(frame: DataFrame, build: Build) -> Totals:
    """Returns how much a build holds."""
    parts = build.parts(frame.sparkSession)
    counted = parts.agg(
        F.countDistinct(layout.FILE),
        F.count(F.lit(1)),
        F.coalesce(F.sum(layout.COUNT), F.lit(0)),
    )
    [(files, groups, rows)] = counted.collect()
    return Totals(files, groups, rows)


def _empty(frame: DataFrame, old: Build) -> None:
    """Takes the rows of a build away that nobody reads any more."""
    none = frame.sparkSession.createDataFrame([], old.schema)
    none.write.mode("overwrite").parquet(f"{old.place}/{layout.ROWS}")
