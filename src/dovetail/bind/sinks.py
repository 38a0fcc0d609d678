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

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations, product
from pathlib import Path, PurePath
from typing import Any, Protocol

from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import ArrayType, IntegerType, LongType, MapType, StructType

from dovetail.bind.failures import (
    cause,
    on_trial,
    refuse_stopped,
    refused_by_spark,
)
from dovetail.errors import DovetailError, EngineError, SpecError
from dovetail.schema import quoted
from dovetail.spec.arguments import AnyPath, public, whole, word, wrong
from dovetail.spec.arguments import path as path_of

# Spark takes a path for a pattern: these letters of a name must mean themselves.
_GLOB = re.compile(r"([\[\]{}*?\\])")

SAYS_SYSTEM = re.compile("[A-Za-z][A-Za-z0-9+.-]+:/")
"""How a path begins that says its file system, as `hdfs://namenode/out`."""
_ON_DISK = re.compile("^file:/+")
"""How such a path begins where that is the one of this machine."""

# Spark writes milliseconds into texts, and leaves out what is null, unless told not to.
_TIME = "yyyy-MM-dd'T'HH:mm:ss.SSSSSS"
EXACT = {
    "timestampFormat": f"{_TIME}XXX",
    "timestampNTZFormat": _TIME,
    "timeZone": "UTC",
}
JSON = {**EXACT, "ignoreNullFields": "false"}
"""How Spark writes rows of JSON with all that is in them."""
_FORMATS: Mapping[str, Mapping[str, str]] = {
    "parquet": {},
    "json": JSON,
    "csv": {**EXACT, "header": "true"},
}
BATCH = "batch"
"""The column that a folder's own folders are when it is read."""
CHANGE = "change"
"""The column that says what a row does to a result that changes."""
TAKES = f"{CHANGE} IN ('delete', 'update_before')"
"""Which of these rows take one back, in SQL."""
_SLOT = "slot"
_WHOLE = 2
"""So many slots, the first ones, have all rows of a result: by turns."""
_IS_LEFT = """IF(count < 0, raise_error(
    'a row is taken back that is not there: ' || to_json(row)), count) > 0"""
_TIMES = "array_repeat(row, CAST(count AS INT))"
_NESTED = (ArrayType, MapType, StructType)


class Sink(Protocol):
    """Takes the rows of one batch; the same batch may come again after a crash."""

    @property
    def place(self) -> str:
        """Returns where the rows go, in words."""

    @property
    def reads_once(self) -> bool:
        """Tells whether a write reads all rows once, in the plan that it is given.

        Where there were rows before, such a sink is written to without a look whether
        there are any: they are counted meanwhile, and may be none. Of batches that are
        known to be empty it need not hear.
        """

    def prepare(self, rows: DataFrame, *, is_new: bool) -> None:
        """Refuses rows that cannot be written; `is_new`: no batch has been yet."""

    def write(self, rows: DataFrame, batch: int, *, is_empty: bool) -> None:
        """Writes a batch so that writing it again changes nothing."""


@dataclass(frozen=True, slots=True)
class _InFolder:
    """A folder into which all rows are written."""

    path: str

    @property
    def place(self) -> str:
        """Returns the folder."""
        return f'the folder "{self.path}"'

    @property
    def reads_once(self) -> bool:
        """Returns that all rows are written, or added to what is there."""
        return True


@dataclass(frozen=True, slots=True)
class Folder(_InFolder):
    """A folder with one folder a batch, which a repeated batch replaces.

    Read it as one table: `spark.read.parquet(path)`; `batch` is a column of it.
    """

    format: str = "parquet"

    def prepare(self, rows: DataFrame, *, is_new: bool) -> None:
        """Refuses columns that the format lacks, and another query's rows."""
        kinds = ((one.name, one.dataType) for one in rows.schema)
        self.refuse_columns({it: isinstance(one, _NESTED) for it, one in kinds})
        if is_new:
            _refuse_others(rows.sparkSession, self.path, BATCH)

    def refuse_columns(self, columns: Mapping[str, bool]) -> None:
        """Refuses columns for which the format, or the folder, has no place.

        Of each it is said whether it has others within.
        """
        nested = [name for name, has_others in columns.items() if has_others]
        if self.format == "csv" and nested:
            raise SpecError(
                f'csv cannot hold the column "{nested[0]}" of "{self.path}"',
                "plain columns",
                'format="parquet" or "json" holds columns within columns',
            )
        for name in columns:
            if name.lower() == BATCH:
                raise SpecError(
                    f'the rows for "{self.path}" have a column "{name}", whose values '
                    f"the folders {BATCH}=0, {BATCH}=1 would replace",
                    "another name",
                    'rename it, as with select={"lot": "l.batch"} or in the frame '
                    "before the join",
                )

    def write(self, rows: DataFrame, batch: int, *, is_empty: bool) -> None:
        """Writes the batch into its own folder.

        One that is said to be empty is left out, but for the first, which shows the
        columns. Of one that is written unseen there may be files without rows.
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
    if path_exists(spark, path, f"/{column}=*"):
        raise SpecError(
            f'the folder "{path}" has rows of another query, '
            "whose batches this one would replace",
            "a folder without batches, or the checkpoint that belongs to it",
        )


@dataclass(frozen=True, slots=True)
class Current(_InFolder):
    """A folder with the rows of a result as it stands, which changes go into.

        slot=0    all rows as batch 15 has left them
        slot=1    all rows as batch 31 has left them: the newer slot of the two counts
        slot=2    the changes of batch 32, which come on top
        slot=3    the changes of batch 17: older than all rows, so in them

    A batch writes its changes into the first slot that nobody needs, and where there
    would be too many, all rows into that one of the first two which does not count. It
    goes by what those before it have left: so one that was cut off writes the same
    again. `Current.read` gives the rows.
    """

    every: int = 16

    def prepare(self, rows: DataFrame, *, is_new: bool) -> None:
        """Refuses rows that only come, and another query's or other columns' folder."""
        spark = rows.sparkSession
        self.refuse_lasting(rows.columns)
        with refused_by_spark(
            f"the rows for {self.place} cannot be told apart",
            "columns whose values can be compared: no variants",
        ):
            _ = _summed(_as_changes(rows)).schema
        if is_new:
            _refuse_others(spark, self.path, _SLOT)
        elif path_exists(spark, self.path, f"/{_SLOT}=*"):
            wanted = rows.drop(CHANGE).dtypes
            lying = spark.read.parquet(pattern_of(self.path))
            found = lying.select("row.*").dtypes
            if found != wanted:
                raise SpecError(
                    f"{self.place} has the columns {dict(found)}, and the rows "
                    f"{dict(wanted)}",
                    "the columns of its start: rows that are taken back lie there so",
                    "a new folder and a new checkpoint",
                )

    def refuse_lasting(self, columns: Iterable[str]) -> None:
        """Refuses rows of which none is ever taken back."""
        if CHANGE not in columns:
            raise SpecError(
                f'the rows for {self.place} have no column "{CHANGE}"',
                "rows that may be taken back, as of a join of two tables that change",
                f'dt.folder("{self.path}") keeps rows that stay',
            )

    def write(self, rows: DataFrame, batch: int, *, is_empty: bool) -> None:
        """Writes what a batch changes, or all rows; the first shows the columns."""
        if is_empty and batch:
            return
        spark, lines = rows.sparkSession, _as_changes(rows)
        there, slot = _Slots(), 0
        if path_exists(spark, self.path, f"/{_SLOT}=*"):
            # Told the columns, Spark looks into no file for them.
            known = StructType([*lines.schema])
            known = known.add(BATCH, LongType()).add(_SLOT, IntegerType())
            before = spark.read.schema(known).parquet(pattern_of(self.path))
            before = before.where(F.col(BATCH) < batch)
            there = _slots(before)
            slot = _WHOLE + len(there.changes)
            if there.whole < 0 or len(there.changes) + 1 >= self.every:
                lines = lines.unionByName(there.lines(before))
                slot = int(there.whole == 0)
        if slot < _WHOLE:
            lines = _summed(lines)
        # A line without a row says of which batch they are. It is in a file of its own,
        # so that who looks for it reads no other.
        mark = spark.range(1).select(F.lit(None).cast(lines.schema["row"].dataType))
        lines = lines.union(mark.select("*", F.lit(0).cast("bigint")))
        named = {BATCH: F.lit(batch).cast("bigint"), _SLOT: F.lit(slot)}
        writer = lines.withColumns(named).write.partitionBy(_SLOT)
        # So a folder is put into its place in one step, when all of it is written.
        writer = writer.option("partitionOverwriteMode", "dynamic").mode("overwrite")
        writer.parquet(self.path)

    def read(self, spark: SparkSession) -> DataFrame:
        """Returns the rows as the newest batch has left them."""
        if not hasattr(spark, "readStream"):
            hint = "write for example sink.read(spark)"
            raise wrong("spark", spark, "a session of Spark", hint)
        refuse_stopped(spark)
        if not path_exists(spark, self.path, f"/{_SLOT}=*"):
            raise EngineError(
                f"{self.place} has no result",
                "one into which a query with dt.current has written",
                "dt.folder keeps batches: spark.read.parquet(path) reads them",
            )
        lying = spark.read.parquet(pattern_of(self.path))
        known = _summed(_slots(lying).lines(lying))
        return known.selectExpr(f"explode({_TIMES}) AS row").select("row.*")


@dataclass(frozen=True, slots=True)
class _Slots:
    """The slot that has all rows, and those of the changes since."""

    whole: int = -1
    changes: tuple[int, ...] = ()

    def lines(self, lying: DataFrame) -> DataFrame:
        """Returns the rows of all of them, and how often each is there or goes."""
        mine = lying.where(F.col(_SLOT).isin(self.whole, *self.changes))
        return mine.where("count <> 0").select("row", "count")


def _slots(lying: DataFrame) -> _Slots:
    """Returns what counts of what lies in a folder."""
    marks = lying.where("count = 0").select(_SLOT, BATCH).collect()
    newest = {int(slot): int(batch) for slot, batch in marks}
    known = [slot for slot in newest if slot < _WHOLE]
    whole = max(known, key=newest.__getitem__, default=-1)
    full = newest.get(whole, -1)
    since = (it for it in newest if it >= _WHOLE and newest[it] > full)
    return _Slots(whole, tuple(since))


def _as_changes(rows: DataFrame) -> DataFrame:
    """Returns rows as structs, with what they add to the result."""
    own = [F.col(quoted(one)) for one in rows.columns if one != CHANGE]
    known = rows.select(F.struct(*own).alias("row"), quoted(CHANGE))
    return known.selectExpr("row", f"CAST(IF({TAKES}, -1, 1) AS BIGINT) AS count")


def _summed(lines: DataFrame) -> DataFrame:
    """Returns the rows that are left, and how often each is there."""
    summed = lines.groupBy("row").agg(F.sum("count").alias("count"))
    return summed.where(_IS_LEFT)


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
def current(path: AnyPath, every: int = 16) -> Current:
    """Returns the sink that keeps a result that changes as it stands.

    It is for joins of tables that change, and for rows that may be taken back: the
    inserts, updates and deletes of a batch are written beside the rows, and `every` so
    many batches all rows anew. `Current.read` gives the rows.
    """
    place = path_of("path", path, 'dt.current("out/result")')
    count = whole("every", every, "every=16", least=1)
    return Current(place.rstrip("/") or "/", count)


def how_often(sink: Sink) -> str:
    """Returns how often a row is there after a crash."""
    if isinstance(sink, Folder | Current):
        return "each row once"
    return "each row at least once: a batch that was cut off is written again"


def prepare(sink: Sink, rows: DataFrame, *, is_new: bool) -> None:
    """Lets a sink refuse rows; one that breaks, as a user's own may, is named."""
    try:
        sink.prepare(rows, is_new=is_new)
    except DovetailError:
        raise
    except Exception as error:
        raise EngineError(
            f"no rows are written: prepare of {type(sink).__name__}, which writes into "
            f"{sink.place}, failed: {cause(error)}",
            "a sink that takes the rows, or refuses them with a DovetailError",
        ) from error


def write_once(sink: Sink, rows: DataFrame, outlet: str) -> None:
    """Writes all rows that there are, or says of which outlet they are not written."""
    prepare(sink, rows, is_new=True)
    try:
        sink.write(rows, 0, is_empty=False)
    except Exception as error:
        told = f'the outlet "{outlet}" is not written: {sink.place} failed: '
        raise EngineError(f"{told}{cause(error)}") from error


def refuse_shared(
    sinks: Iterable[Sink], checkpoint: str, sources: Iterable[str] = ()
) -> None:
    """Refuses folders of which one would replace, or be read as, a part of another.

    A checkpoint is one of them, empty where there is none; from `sources` rows come.
    """
    # By paths alone: two functions or topics do no harm to each other.
    paths = [sink.path for sink in sinks if isinstance(sink, Folder | Current)]
    for path, other in combinations(paths, 2):
        if (outer := _outer(path, other)) is not None:
            inner = other if outer == path else path
            found = f'two outlets write into the folder "{outer}"'
            if _whole(inner) != _whole(outer):
                found += f', one of them into "{inner}"'
            raise SpecError(
                found,
                "a folder for each outlet",
                f'write for example dt.folder("{outer}/matched")',
            )
    for path, source in product(paths, sources):
        if _whole(path).is_relative_to(_whole(source)):
            raise SpecError(
                f'an outlet writes into "{path}", and rows come from "{source}"',
                "a folder beside it: what goes out would come in again",
            )
    for path in paths if checkpoint else ():
        if _outer(path, checkpoint) is not None:
            raise SpecError(
                f'the checkpoint "{checkpoint}" and the folder "{path}" of an outlet '
                "are one, or one lies in the other",
                "folders beside each other: each is read whole",
                'write for example dt.folder("out/matched"), checkpoint="out/state"',
            )


def refuse_in_sources(
    sinks: Iterable[Sink], checkpoint: str, frames: Iterable[DataFrame]
) -> None:
    """Refuses folders that would replace, or be read as, others, or what comes in."""
    sources = {folder for one in frames for folder in folders_of(one)}
    refuse_shared(sinks, checkpoint, sources)
    refuse_within(checkpoint, sources)


def folders_of(frame: DataFrame) -> Iterator[str]:
    """Yields the folders and files from which Spark reads the rows of a DataFrame.

    A client of Connect has no plan that could be asked: it knows of none.
    """
    plan = getattr(frame, "_jdf", None)
    if plan is None:
        return
    leaves = plan.queryExecution().analyzed().collectLeaves()
    for number in range(leaves.size()):
        leaf = leaves.apply(number)
        match leaf.getClass().getSimpleName():
            case "StreamingRelation":
                path = leaf.dataSource().options().get("path")
                yield from [str(path.get())] * bool(path.isDefined())
            case "LogicalRelation":
                relation = leaf.relation()
                # A data base is a relation as well, but in no folder.
                if relation.getClass().getSimpleName() == "HadoopFsRelation":
                    paths = relation.location().rootPaths()
                    yield from (str(paths.apply(it)) for it in range(paths.size()))
            case _:
                pass


def refuse_within(checkpoint: str, sources: Iterable[str]) -> None:
    """Refuses a checkpoint in a folder from which rows come."""
    for source in sources:
        if _whole(checkpoint).is_relative_to(_whole(source)):
            raise SpecError(
                f'the checkpoint "{checkpoint}" lies in "{source}", from which rows '
                "come",
                "a folder beside it: all that is there is read",
            )


def _outer(one: str, other: str) -> str | None:
    """Returns which of two folders is the other one, or has it somewhere inside."""
    for outer, inner in ((one, other), (other, one)):
        if _whole(inner).is_relative_to(_whole(outer)):
            return outer
    return None


def _whole(path: str) -> PurePath:
    """Returns a path as all others of its place are written."""
    local = local_path(path)
    return PurePath(path) if local is None else local.resolve()


def local_path(said: str) -> Path | None:
    """Returns a path of this machine, or none where it says another file system."""
    path = _ON_DISK.sub("/", said)
    return None if not said or SAYS_SYSTEM.match(path) else Path(path)


def pattern_of(path: str) -> str:
    """Returns what Spark takes for this path: to it each path is a pattern of paths."""
    return _GLOB.sub(r"\\\1", path)


def path_exists(spark: SparkSession, path: str, within: str = "") -> bool:
    """Tells whether a file or folder is called so, or any that lies `within` it.

    In a name within, as in `/batch=*`, a star stands for any letters.
    """
    return _seen(_is_there, spark, f"{pattern_of(path)}{within}")


def place_of(spark: SparkSession, path: str) -> str:
    """Returns a path whole, as Spark has it; that of a client as the client has it."""
    java = getattr(spark, "_jvm", None)
    if java is None:  # Spark Connect
        return path
    place = _path_of(java, path)
    return str(_file_system(spark, place).makeQualified(place).toString())


def write_line(spark: SparkSession, line: str, path: str) -> None:
    """Writes a file of one line; of a client's session a folder that has it."""
    java = getattr(spark, "_jvm", None)
    if java is None:  # Spark Connect
        lines = spark.range(1).select(F.lit(line).alias("value")).coalesce(1)
        lines.write.mode("overwrite").text(path)
        return
    place = _path_of(java, path)
    # One who has begun before, and died, may have left it there.
    file = _file_system(spark, place).create(place, True)  # noqa: FBT003 - Java's own
    file.write(line.encode())
    file.close()


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
    place = _path_of(java, path)
    return bool(_file_system(spark, place).globStatus(place))


def _is_local(spark: SparkSession, path: str) -> bool:
    """Asks Spark's file system; of a client's path only its own words say it."""
    java = getattr(spark, "_jvm", None)
    if java is None:
        return path.startswith("file:")
    files = _file_system(spark, _path_of(java, path))
    return bool(files.getUri().getScheme() == "file")


def _path_of(java: Any, path: str) -> Any:  # noqa: ANN401 - Java's
    """Returns a path as an object of Java."""
    # By its parts each package of the name would be a call of Java.
    return getattr(java, "org.apache.hadoop.fs.Path")(path)


def _file_system(spark: SparkSession, place: Any) -> Any:  # noqa: ANN401 - Java's
    """Returns the file system of a path, an object of Java."""
    settings = spark._jsparkSession.sessionState().newHadoopConf()  # noqa: SLF001
    return place.getFileSystem(settings)


def files_in(spark: SparkSession, folder: str) -> list[str]:
    """Returns the paths of a folder's files; none where there is no folder."""
    found = _listed(spark, pattern_of(folder))
    return [] if found is None else found.inputFiles()


def _listed(spark: SparkSession, path: str) -> DataFrame | None:
    """Returns what a pattern of paths finds, as lines that nobody has read yet."""
    try:
        with on_trial():
            # Else Spark asks what folders called as `batch=0` have in common.
            found = spark.read.option("recursiveFileLookup", "true").text(path)
            _ = found.columns  # Connect looks at a path when it is asked for columns
    except AnalysisException as error:
        if error.getCondition() != "PATH_NOT_FOUND":
            raise
        return None
    return found
