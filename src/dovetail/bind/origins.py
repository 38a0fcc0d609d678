"""Where the rows of an input come from, as a job file says it.

    file = "trades"                      a file, or a folder that may get more of them
    format = "delta", path = ".."        whatever format the session knows
    jdbc = "jdbc:postgresql://..", ..    a table of a data base
    rate = 100                           so many rows a second, to try things out
    replay = "trades", pace = 10         a file, at the pace of its times or faster

Each is told as what Spark is told: so a script can print what a run does.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Protocol

from pyspark import __version__ as SPARK  # noqa: N812 - a constant here
from pyspark.sql import DataFrame, SparkSession

from dovetail import schema, spec
from dovetail.bind.failures import cause
from dovetail.bind.files import columns, frames
from dovetail.bind.files.names import DataFile
from dovetail.bind.files.texts import ValuePlace
from dovetail.bind.replay import Pace
from dovetail.errors import EngineError, SchemaError, SpecError


class Origin(Protocol):
    """Where rows come from."""

    @property
    def is_endless(self) -> bool:
        """Tells whether rows keep coming for as long as somebody reads them."""

    @property
    def riders(self) -> Mapping[str, str]:
        """Returns what goes along with rows beside their columns, as SQL."""
        return {}

    def columns(self, declared: schema.Schema) -> schema.Schema:
        """Returns the columns: those declared, else its own, as far as it knows them.

        No Spark is asked.
        """

    def scans(self, given: spec.Given, *, streams: bool) -> tuple[frames.Scan, ...]:
        """Returns how Spark reads the rows, part after part; a stream is one part."""


def rows_of(
    spark: SparkSession, origin: Origin, given: spec.Given, *, streams: bool
) -> DataFrame:
    """Returns the rows of an origin as they are declared."""
    parts = []
    for one in origin.scans(given, streams=streams):
        try:
            parts.append(one.frame(spark, streams=streams))
        except Exception as error:
            # Of what is not on its classpath Spark tells a page of Java.
            if _LACKS.search(str(error)):
                raise _lacking(one, str(error)) from error
            hint = ""
            if "Schema must be specified" in str(error):
                hint = (
                    '"spark.sql.streaming.schemaInference" = true in [spark] lets it '
                    "look"
                )
            told, what = dict(one.options), f'"{one.path or one.format}"'
            if one.format == JDBC:
                # Without what only its owner may read.
                where = re.sub("//[^/@]*@", "//", re.split("[?;]", told["url"])[0])
                what = f"{told['dbtable']} of {where}"
                hint = 'options = { user = "..", password = ".." } says who asks'
            raise EngineError(
                f"Spark does not read {what}: {cause(error)}",
                "rows that are there, with the columns that are declared",
                hint,
            ) from error
    return reduce(DataFrame.union, parts)


_LACKS = re.compile(
    r"DATA_SOURCE_NOT_(FOUND|ENABLED)|No suitable driver|No FileSystem for scheme"
    r"|(ClassNotFoundException|NoClassDefFoundError): "
)
_PACKAGES = {
    "avro": "org.apache.spark:spark-avro_2.13",
    "delta": "io.delta:delta-spark_2.13",
    "iceberg": "org.apache.iceberg:iceberg-spark-runtime_2.13",
    "kafka": "org.apache.spark:spark-sql-kafka-0-10_2.13",
    "jdbc:db2": "com.ibm.db2:jcc",
    "jdbc:h2": "com.h2database:h2",
    "jdbc:mariadb": "org.mariadb.jdbc:mariadb-java-client",
    "jdbc:mysql": "com.mysql:mysql-connector-j",
    "jdbc:oracle": "com.oracle.database.jdbc:ojdbc11",
    "jdbc:postgresql": "org.postgresql:postgresql",
    "jdbc:sqlite": "org.xerial:sqlite-jdbc",
    "jdbc:sqlserver": "com.microsoft.sqlserver:mssql-jdbc",
    "s3a": "org.apache.hadoop:hadoop-aws",
    "abfss": "org.apache.hadoop:hadoop-azure",
    "gs": "com.google.cloud.bigdataoss:gcs-connector",
}
"""What brings a format, a driver of a data base or a file system that Spark lacks."""
_DRIVERS = {
    "jdbc:db2": "com.ibm.db2.jcc.DB2Driver",
    "jdbc:h2": "org.h2.Driver",
    "jdbc:mariadb": "org.mariadb.jdbc.Driver",
    "jdbc:mysql": "com.mysql.cj.jdbc.Driver",
    "jdbc:oracle": "oracle.jdbc.OracleDriver",
    "jdbc:postgresql": "org.postgresql.Driver",
    "jdbc:sqlite": "org.sqlite.JDBC",
    "jdbc:sqlserver": "com.microsoft.sqlserver.jdbc.SQLServerDriver",
}
"""The classes of drivers in these packages."""


def _lacking(scan: frames.Scan, told: str) -> EngineError:
    """Returns the refusal of rows for which something is not on Spark's classpath."""
    # jdbc:postgresql://.. is told by its second word: each data base has a driver.
    url = dict(scan.options).get("url", "")
    known = ":".join(url.split(":")[:2]) if scan.format == JDBC else scan.format
    if "FileSystem" in told:
        known = scan.path.partition(":")[0]
    package = _PACKAGES.get(known, "")
    where = '"spark.jars.packages" in [spark] of a job, or in the settings of a session'
    return EngineError(
        f'this Spark has nothing that reads "{known}"',
        f"the package {package or 'that brings it'}, as it is for Spark {SPARK}",
        f'{where}, takes "{package or "group:name"}:version"',
    )


@dataclass(frozen=True, slots=True)
class InFiles(Origin):
    """A file, or a folder of files: new ones are new rows of a stream."""

    file: DataFile

    @property
    def is_endless(self) -> bool:
        """Tells that what is there is all."""
        return False

    def columns(self, declared: schema.Schema) -> schema.Schema:
        """Returns the columns that are declared, or those of the file."""
        return declared if declared.columns else columns.own_schema(self.file, _ANY)

    def scans(self, given: spec.Given, *, streams: bool) -> tuple[frames.Scan, ...]:
        """Returns how the file is read."""
        fitted = columns.fitted_file(self.file, given)
        if streams:
            return (frames.coming(fitted),)
        return tuple(frames.readings(fitted))


_ANY = spec.AnyLayout()


@dataclass(frozen=True, slots=True)
class Replayed(InFiles):
    """A file whose rows come at the pace of their times, or so much faster."""

    pace: Pace

    def scans(self, given: spec.Given, *, streams: bool) -> tuple[frames.Scan, ...]:
        """Returns how the file is read, all of it: `replay` makes a stream of it."""
        del streams
        return InFiles.scans(self, given, streams=False)


@dataclass(frozen=True, slots=True)
class Stored(Origin):
    """Rows in a format that the session knows, such as Delta, Iceberg or JDBC."""

    format: str
    options: Mapping[str, str]
    path: str = ""

    @property
    def is_endless(self) -> bool:
        """Tells that a table gets more rows for as long as somebody reads it."""
        return True

    def columns(self, declared: schema.Schema) -> schema.Schema:
        """Returns the columns that are declared: only Spark could look for others."""
        if declared.columns:
            return declared
        raise SpecError(
            f"a table in {self.format} without columns",
            'columns = { id = "bigint", at = "timestamp" }',
            "what a job reads is checked before Spark starts",
        )

    def scans(self, given: spec.Given, *, streams: bool) -> tuple[frames.Scan, ...]:
        """Returns how the table is read: its columns by name, as they are declared."""
        if streams and self.format == JDBC:
            raise SchemaError(
                "a table of a data base as a stream",
                "[tables] or [datasets]",
                "a data base does not tell what is new in it",
            )
        casts = (_sure(one, given.input) for one in given.schema.columns)
        options = {**self.options}
        if self.format == JDBC:
            # Of a time without a zone Java would make one of the zone where it runs.
            options.setdefault("preferTimestampNTZ", "true")
            # By itself Java finds no driver that a session has got as a jar.
            kind = ":".join(self.options.get("url", "").split(":")[:2])
            if kind in _DRIVERS and "driver" not in {it.lower() for it in options}:
                options["driver"] = _DRIVERS[kind]
        return (
            frames.Scan(
                *(self.format, tuple(options.items()), "", self.path),
                *((), tuple(casts)),
            ),
        )


def _sure(column: schema.Column, given: str) -> str:
    """Returns a column of any type as the declared one, in SQL, or a stop of the query.

    Spark by itself makes null of a text that is no number, and leaves out digits.
    """
    name, kind = schema.quoted(column.name), column.type
    place = ValuePlace(f'the input "{given}"', column.name)
    stop = place.refusal(f"CAST({name} AS STRING)", kind)
    made = f"try_cast({name} AS {kind})"
    is_cut = kind in schema.WHOLE or kind is schema.AtomicType.DATE
    if is_cut or isinstance(kind, schema.DecimalType):
        made = f"IF({made} = {name}, {made}, NULL)"
    return f"coalesce({made}, IF({name} IS NULL, NULL, {stop})) AS {name}"


JDBC = "jdbc"
_RATE = schema.Schema.of({"timestamp": "timestamp", "value": "bigint"})


@dataclass(frozen=True, slots=True)
class Rate(Origin):
    """So many rows a second, each with its moment and a number: to try things out."""

    rows: int

    @property
    def is_endless(self) -> bool:
        """Tells that there is no last row."""
        return True

    def columns(self, declared: schema.Schema) -> schema.Schema:
        """Returns the two columns that there are."""
        for one in declared.columns:
            if one not in _RATE.columns:
                raise SpecError(
                    f'the column "{one.name}" {one.type} of a rate',
                    "timestamp timestamp, value bigint",
                )
        return declared if declared.columns else _RATE

    def scans(self, given: spec.Given, *, streams: bool) -> tuple[frames.Scan, ...]:
        """Returns how the rows are made."""
        if not streams:
            raise SchemaError("a rate as a table", "[streams]: its rows keep coming")
        options = (("rowsPerSecond", str(self.rows)),)
        names = tuple(map(schema.quoted, given.schema.names))
        return (frames.Scan("rate", options, "", "", (), names),)
