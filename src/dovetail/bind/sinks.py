"""Where an outlet's rows go: folders that a repeated batch cannot write twice.

    out/batch=0/part-00000...parquet     rows of batch 0
    out/batch=1/part-00000...parquet     no rows: the outlet has fallen silent
    out/batch=7/part-00000...parquet     batches 2 to 6 had none for this outlet
    out/batch=8/_temporary/...           written just now, or when the query died

A batch that was cut off comes again with the same number and the same rows, and
replaces what is there. So the rows are exact whenever the query is up; while it is
down, the newest batch may be there in part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import ArrayType, MapType, StructType

from dovetail.bind.failures import cause, said
from dovetail.errors import EngineError, SpecError
from dovetail.schema import quoted
from dovetail.spec.arguments import AnyPath, public, whole, word
from dovetail.spec.arguments import path as path_of

# Spark writes milliseconds into texts, and leaves out what is null, unless told not to.
_EXACT = {"timestampFormat": "yyyy-MM-dd'T'HH:mm:ss.SSSSSSXXX", "timeZone": "UTC"}
JSON = {**_EXACT, "ignoreNullFields": "false"}
"""How Spark writes rows of JSON with all that is in them."""
_FORMATS: Mapping[str, Mapping[str, str]] = {
    "parquet": {},
    "json": JSON,
    "csv": {**_EXACT, "header": "true"},
}
BATCH = "batch"
"""The column that a folder's own folders are when it is read."""
CHANGE = "change"
"""The column that says what a row does to a result that changes."""
_PART, _SLOT = "part", "slot"
_ONE = "1 AS count"
_TIMES = """array_repeat(row, CAST(IF(count < 0, raise_error(
    'a row is taken back that is not there: ' || to_json(row)), count) AS INT))"""
"""A row as often as it stands in a result, by what has been added up of it."""
_NESTED = (ArrayType, MapType, StructType)


class Sink(Protocol):
    """Takes the rows of one batch; the same batch may come again after a crash."""

    @property
    def place(self) -> str:
        """Returns where the rows go, in words."""

    @property
    def reads_once(self) -> bool:
        """Tells whether a write reads all rows once, in the plan that it is given.

        Such a sink is written to without a look whether there are rows: they are
        counted meanwhile. It need not hear of an empty batch.
        """

    def prepare(self, rows: DataFrame, *, is_new: bool) -> None:
        """Refuses rows that cannot be written; `is_new`: no batch has been yet."""

    def write(self, rows: DataFrame, batch: int, *, is_empty: bool) -> None:
        """Writes a batch so that writing it again changes nothing."""


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder with one folder a batch, which a repeated batch replaces.

    Read it as one table: `spark.read.parquet(path)`; `batch` is a column of it.
    """

    path: str
    format: str = "parquet"

    @property
    def place(self) -> str:
        """Returns the folder."""
        return f'the folder "{self.path}"'

    @property
    def reads_once(self) -> bool:
        """Returns that all rows are written."""
        return True

    def prepare(self, rows: DataFrame, *, is_new: bool) -> None:
        """Refuses columns that the format lacks, and another query's rows."""
        nested = [one.name for one in rows.schema if isinstance(one.dataType, _NESTED)]
        if self.format == "csv" and nested:
            raise SpecError(
                f'csv cannot hold the column "{nested[0]}" of "{self.path}"',
                "plain columns",
                'format="parquet" or "json" holds columns within columns',
            )
        for name in rows.columns:
            if name.lower() == BATCH:
                raise SpecError(
                    f'the rows for "{self.path}" have a column "{name}", whose values '
                    f"the folders {BATCH}=0, {BATCH}=1 would replace",
                    "another name",
                    'rename it, as with select={"lot": "l.batch"} or in the frame '
                    "before the join",
                )
        if is_new:
            _refuse_others(rows.sparkSession, self.path, BATCH)

    def write(self, rows: DataFrame, batch: int, *, is_empty: bool) -> None:
        """Writes the batch into its own folder.

        An empty one is left out, but for the first, which shows the columns.
        """
        target = f"{self.path}/{BATCH}={batch}"
        if is_empty:
            # What a batch that was cut off has left there is replaced by no rows.
            if batch and not path_exists(rows.sparkSession, target):
                return
            rows = rows.limit(0)  # Spark then reads nothing
        # A user's session may ask for "dynamic", which would keep what is there.
        writer = rows.write.option("partitionOverwriteMode", "static")
        writer = writer.options(**_FORMATS[self.format]).format(self.format)
        writer.mode("overwrite").save(target)


def _refuse_others(spark: SparkSession, path: str, column: str) -> None:
    """Refuses a folder in which another query has written."""
    if path_exists(spark, f"{path}/{column}=*"):
        raise SpecError(
            f'the folder "{path}" has rows of another query, '
            "whose batches this one would replace",
            "a folder without batches, or the checkpoint that belongs to it",
        )


@dataclass(frozen=True, slots=True)
class Current:
    """A folder with the rows of a result as it stands, which changes go into.

        part=3/slot=0    all rows of part 3 as batch 7 has left them
        part=3/slot=1    the same as batch 9 has left them: the newest batch counts

    Rows lie in parts by their hash. A batch adds up what is taken back and what comes,
    in whatever order it came, and writes each part that it changes into the slot that
    is not the newest of those before it: so a batch that was cut off finds what was
    there, and writes the same again. `Current.read` gives the rows.
    """

    path: str
    parts: int = 16

    @property
    def place(self) -> str:
        """Returns the folder."""
        return f'the folder "{self.path}"'

    @property
    def reads_once(self) -> bool:
        """Returns that rows are read twice: once for the parts that they change."""
        return False

    def prepare(self, rows: DataFrame, *, is_new: bool) -> None:
        """Refuses rows that only come, and another query's or other columns' folder."""
        spark = rows.sparkSession
        if CHANGE not in rows.columns:
            raise SpecError(
                f'the rows for {self.place} have no column "{CHANGE}"',
                "rows that may be taken back, as of a join of two tables that change",
                f'dt.folder("{self.path}") keeps rows that stay',
            )
        try:
            _ = _as_changes(rows, self.parts).groupBy("row").count().schema
        except AnalysisException as error:
            raise SpecError(
                f"the rows for {self.place} cannot be told apart: {said(error)}",
                "columns whose values can be compared: no maps",
            ) from error
        if is_new:
            _refuse_others(spark, self.path, _PART)
        elif path_exists(spark, f"{self.path}/{_PART}=*"):
            wanted = rows.drop(CHANGE).dtypes
            found = spark.read.parquet(self.path).select("row.*").dtypes
            if found != wanted:
                raise SpecError(
                    f"{self.place} has the columns {dict(found)}, and the rows "
                    f"{dict(wanted)}",
                    "the columns of its start: rows that are taken back lie there so",
                    "a new folder and a new checkpoint",
                )

    def write(self, rows: DataFrame, batch: int, *, is_empty: bool) -> None:
        """Writes the parts that a batch changes; the first shows the columns."""
        if is_empty and batch:
            return
        spark, changes = rows.sparkSession, _as_changes(rows, self.parts)
        touched = {row[_PART] for row in changes.select(_PART).distinct().collect()}
        parts = sorted(touched or {0})
        # A part without rows has a line all the same, which says that it has none.
        nothing = F.lit(None).cast(changes.schema["row"].dataType).alias("row")
        lines = spark.createDataFrame([(part,) for part in parts], f"{_PART} int")
        every = changes.unionByName(lines.select(nothing, F.expr(_ONE), _PART))
        slots: dict[int, int] = {}
        if path_exists(spark, f"{self.path}/{_PART}=*"):
            before = spark.read.parquet(self.path).where(F.col(_PART).isin(parts))
            before = before.where(F.col(BATCH) < batch)
            newest = before.groupBy(_PART).agg(F.max_by(_SLOT, BATCH).alias(_SLOT))
            slots = {row[_PART]: row[_SLOT] for row in newest.collect()}
            there = before.join(F.broadcast(newest), [_PART, _SLOT])
            there = there.where("row IS NOT NULL")
            every = every.unionByName(there.selectExpr("row", _ONE, _PART))
        others = [part for part in parts if slots.get(part) == 0]
        summed = every.repartition(_PART).groupBy(_PART, "row").agg({"count": "sum"})
        lying = summed.withColumnRenamed("sum(count)", "count").selectExpr(
            f"explode({_TIMES}) AS row", _PART, f"CAST({batch} AS BIGINT) AS {BATCH}"
        )
        slot = F.col(_PART).isin(others).cast("int")
        writer = lying.withColumn(_SLOT, slot).write.partitionBy(_PART, _SLOT)
        writer = writer.option("partitionOverwriteMode", "dynamic").mode("overwrite")
        writer.parquet(self.path)

    def read(self, spark: SparkSession) -> DataFrame:
        """Returns the rows as the newest batch has left them."""
        lying = spark.read.parquet(self.path)
        newest = lying.groupBy(_PART).agg(F.max(BATCH).alias(BATCH))
        known = lying.join(F.broadcast(newest), [_PART, BATCH])
        return known.where("row IS NOT NULL").select("row.*")


def _as_changes(rows: DataFrame, parts: int) -> DataFrame:
    """Returns rows as structs with what they add to the result, and their parts."""
    own = [F.col(quoted(one)) for one in rows.columns if one != CHANGE]
    known = rows.select(F.struct(*own).alias("row"), quoted(CHANGE))
    return known.selectExpr(
        "row",
        f"IF({quoted(CHANGE)} IN ('delete', 'update_before'), -1, 1) AS count",
        f"CAST(pmod(xxhash64(row), {parts}) AS INT) AS {_PART}",
    )


@dataclass(frozen=True, slots=True)
class Calling:
    """A function of the user's: (rows, batch number)."""

    function: Callable[[DataFrame, int], None]

    @property
    def place(self) -> str:
        """Returns the function by its name."""
        return f'the function "{getattr(self.function, "__name__", self.function)}"'

    @property
    def reads_once(self) -> bool:
        """Returns that a function reads as it likes, and hears of each batch."""
        return False

    def prepare(self, rows: DataFrame, *, is_new: bool) -> None:
        """Refuses nothing: what the function can take is its own affair."""

    def write(
        self,
        rows: DataFrame,
        batch: int,
        *,
        is_empty: bool,  # noqa: ARG002 - a function hears of every batch
    ) -> None:
        """Calls the function."""
        self.function(rows, batch)


@public
def folder(
    path: AnyPath,
    format: str = "parquet",  # noqa: A002 - Spark's word
) -> Folder:
    """Returns the sink that keeps a batch's rows in a folder of their own."""
    place = path_of("path", path, 'dt.folder("out/matched")')
    return Folder(place.rstrip("/") or "/", word("format", format, _FORMATS))


@public
def current(path: AnyPath, parts: int = 16) -> Current:
    """Returns the sink that keeps a result that changes as it stands.

    It is for joins of tables that change, and for rows that may be taken back: inserts,
    updates and deletes go into the folder, in so many `parts`, of which a batch writes
    anew those that it changes. `Current.read` gives the rows.
    """
    place = path_of("path", path, 'dt.current("out/result")')
    count = whole("parts", parts, "parts=16", least=1)
    return Current(place.rstrip("/") or "/", count)


def how_often(sink: Sink) -> str:
    """Returns how often a row is there after a crash."""
    if isinstance(sink, Folder | Current):
        return "each row once"
    return "each row at least once: a batch that was cut off is written again"


def refuse_shared(sinks: Iterable[Sink]) -> None:
    """Refuses two outlets that would replace each other's batches in one folder."""
    # By paths alone: two functions or topics do no harm to each other.
    seen: set[str] = set()
    for sink in sinks:
        if isinstance(sink, Folder | Current):
            if sink.path in seen:
                raise SpecError(
                    f'two outlets write into the folder "{sink.path}"',
                    "a folder for each outlet",
                    f'write for example dt.folder("{sink.path}/matched")',
                )
            seen.add(sink.path)


def path_exists(spark: SparkSession, path: str) -> bool:
    """Tells whether any file or folder is called so; `*` stands for any letters."""
    return _seen(_is_there, spark, path)


def is_on_disk(spark: SparkSession, path: str) -> bool:
    """Tells whether a path is surely one of a local file system."""
    return _seen(_is_local, spark, path)


def _seen(
    look: Callable[[SparkSession, str], bool], spark: SparkSession, path: str
) -> bool:
    """Returns what a look at a path tells; Spark may not reach it."""
    try:
        return look(spark, path)
    except Exception as error:
        raise EngineError(
            f'Spark cannot look at "{path}": {cause(error)}',
            "a path on a file system that Spark reaches",
            "as hdfs://namenode/out, s3a://bucket/out with its jar, or /data/out",
        ) from error


def _is_there(spark: SparkSession, path: str) -> bool:
    """Asks Spark's file system, or, where a client cannot, reads what is there."""
    java = getattr(spark, "_jvm", None)
    if java is None:  # Spark Connect
        return _listed(spark, path) is not None
    # Reading says that nothing is there by an error, which takes 60 ms to hand over.
    place = java.org.apache.hadoop.fs.Path(path)
    return bool(_file_system(spark, place).globStatus(place))


def _is_local(spark: SparkSession, path: str) -> bool:
    """Asks Spark's file system; of a client's path only its own words say it."""
    java = getattr(spark, "_jvm", None)
    if java is None:
        return path.startswith("file:")
    files = _file_system(spark, java.org.apache.hadoop.fs.Path(path))
    return bool(files.getUri().getScheme() == "file")


def _file_system(spark: SparkSession, place: Any) -> Any:  # noqa: ANN401 - Java's
    """Returns the file system of a path, an object of Java."""
    settings = spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
    return place.getFileSystem(settings)


def files_in(spark: SparkSession, folder: str) -> list[str]:
    """Returns the paths of a folder's files; none where there is no folder."""
    found = _listed(spark, folder)
    return [] if found is None else found.inputFiles()


def _listed(spark: SparkSession, path: str) -> DataFrame | None:
    """Returns what is at a path, as lines that nobody has read yet."""
    try:
        # Else Spark asks what folders called as `batch=0` have in common.
        found = spark.read.option("recursiveFileLookup", "true").text(path)
        _ = found.columns  # Connect looks at a path when it is asked for columns
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return None
    return found
