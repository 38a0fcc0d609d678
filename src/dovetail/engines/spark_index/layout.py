"""How rows lie on disk so that few of them must be read.

    FOLDER/manifest/part-..json          a line for each build that is whole
    FOLDER/build-1-9f3a../rows/part-..   rows in the order of the keys, cut into files
    FOLDER/build-1-9f3a../parts/part-..  a row for each row group: whose keys it holds

    file     number   low    high    rows
    part-0   0        ADAM   BELL    10000
    part-0   1        BELL   COOK    10000
    part-1   0        COOK   DUNN     8000

The manifest is written last, and a build never touches the files of another: what has
no line is not there, so a build that was cut off is never read.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import (
    DataType,
    DateType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from dovetail.kernels.arrays.names import reserved
from dovetail.schema import quoted

MANIFEST, ROWS, PARTS = "manifest", "rows", "parts"
FILE, NUMBER, LOW, HIGH, COUNT = "file", "number", "low", "high", "rows"
ROW = reserved("row")
"""The hidden column by which the rows of a build are in their order."""


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
    schema: StructType
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
        folder = f"{self.place}/{ROWS}"
        paths = [f"{folder}/{name}" for name in files] or [folder]
        return spark.read.schema(self.schema).parquet(*paths)

    def parts(self, spark: SparkSession) -> DataFrame:
        """Returns what each row group holds."""
        return spark.read.schema(self._parts_schema()).parquet(f"{self.place}/{PARTS}")

    def _parts_schema(self) -> StructType:
        """Returns the columns of `parts`."""
        bounds = StructType(
            [
                StructField(key_name(number), self.schema[name].dataType)
                for number, name in enumerate(self.keys)
            ]
        )
        ends = [StructField(name, bounds) for name in (LOW, HIGH)] if self.keys else []
        first = [StructField(FILE, StringType()), StructField(NUMBER, LongType())]
        return StructType([*first, *ends, StructField(COUNT, LongType())])


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


def carried(value: Column, kind: DataType) -> Column:
    """Returns a value as it travels."""
    match kind:
        case TimestampType():
            return F.unix_micros(value)
        case TimestampNTZType():
            return value.cast("string")
        case DateType():
            return F.unix_date(value)
        case _:
            return value


def literal(value: object, kind: DataType) -> str:
    """Returns a value that has travelled as a constant of its type in Spark SQL.

    Its characters stand as bytes: how a text is read is a setting of the session.
    """
    match value:
        case None:
            return f"CAST(NULL AS {kind.simpleString()})"
        case bytes() | bytearray():
            return _bytes(value)
        case Decimal():
            text = f"{value:f}"
        case _:
            text = str(value)
    as_text = f"CAST({_bytes(text.encode())} AS STRING)"
    match kind:
        case TimestampType():
            return f"timestamp_micros(CAST({as_text} AS BIGINT))"
        case DateType():
            return f"date_from_unix_date(CAST({as_text} AS INT))"
        case _:
            return f"CAST({as_text} AS {kind.simpleString()})"


def _bytes(value: bytes | bytearray) -> str:
    """Returns bytes as a constant."""
    return f"X'{value.hex()}'"
