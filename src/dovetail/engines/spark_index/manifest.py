"""The manifest of a folder: which builds are whole, the newest last.

Spark reads and writes it as it does rows, a JSON line for each build, so that any file
system of Hadoop serves, also behind Spark Connect.
"""

from __future__ import annotations

import json

from pyspark.errors import AnalysisException
from pyspark.sql import Row, SparkSession
from pyspark.sql.types import StructType

from dovetail.engines.spark_index.layout import (
    MANIFEST,
    Build,
    NoBuild,
    Origin,
    Totals,
)
from dovetail.errors import EngineError

FORMAT = 2
_COLUMNS = (
    "format INT, number BIGINT, place STRING, columns STRING, keys ARRAY<STRING>, "
    "group BIGINT, files BIGINT, groups BIGINT, rows BIGINT, "
    "origin STRUCT<build STRING, keys ARRAY<STRING>, position STRING>"
)


def builds(spark: SparkSession, folder: str) -> list[Build]:
    """Returns the builds of a folder that are whole, in the order of their numbers."""
    reader = spark.read.schema(_COLUMNS)
    try:
        lines = reader.json(f"{folder}/{MANIFEST}").collect()
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
            _origin(line["origin"]),
        )
        for line in lines
    ]


def _origin(found: Row) -> Origin:
    """Returns whose rows an index points to."""
    return Origin(found["build"], tuple(found["keys"]), found["position"])


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
