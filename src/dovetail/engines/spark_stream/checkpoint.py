"""What a checkpoint says of itself before a query starts on it.

    offsets/7    batch 7 has begun, and what it reads, of the heartbeat last
    commits/6    batch 6 is through: batch 7 comes again
    begun        batch 0 has begun, so offsets has it; and where this folder was then
    state        every bucket's directory: the fingerprint of the join that wrote it,
                 and the buckets among which keys are spread

A restart takes the same buckets and partitions, whatever the session asks for now;
into other partitions Spark moves the buckets first. Another join, a folder of which
something is missing and a stream that has ended are refused before anything runs.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import count

from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.bind.failures import cause
from dovetail.bind.sinks import files_in, path_exists, pattern_of, place_of
from dovetail.bind.tick import ENDED, TICK
from dovetail.engines.spark_stream.fingerprint import differences, read_identity
from dovetail.engines.spark_stream.tables import Pin, read_pin
from dovetail.engines.spark_stream.worker.operator import DIRECTORY, VARIABLE, Head
from dovetail.errors import EngineError
from dovetail.kernels.settings import FORMAT
from dovetail.plan.words import title

BEGUN = "begun"
"""The file that a query leaves when its first batch begins."""
_NOTHING_YET = "STDS_COMMITTED_BATCH_UNAVAILABLE"
_NO_OFFSET = "-"
_OF_FILES = '"logOffset"'
_MOST_TOLD = 5
"""Of so many differences to the join of a checkpoint all are told."""
_ANEW = "put back what was deleted, or start anew: new folders for state and for rows"


@dataclass(frozen=True, slots=True)
class Kept:
    """What the last batch left behind: format, what its join is, how many buckets.

    Spark has the state of each join in a row under a number, that of its `operator`.
    """

    format: int
    identity: str = "{}"
    buckets: int = 0
    fingerprint: str = ""
    operator: int = 0


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A folder of a query: its newest batch, whether that is through and the last.

    `batch` is -1 before the first one. Spark lets no source be added later, so a query
    has a heartbeat from its first start on or never. The state lies in so many
    `partitions`, keys over so many `buckets`; `kept` is that of each join, nothing
    before the first batch is through. Of a join with a table the `pin` says who joins.
    `moved_from`: where it was begun, if it is elsewhere now and what lies in it says
    where.
    """

    path: str
    batch: int = -1
    is_through: bool = True
    has_heartbeat: bool = False
    is_last: bool = False
    partitions: int = 0
    buckets: int = 0
    kept: tuple[Kept, ...] = ()
    pin: Pin | None = None
    moved_from: str = ""

    @property
    def is_new(self) -> bool:
        """Tells whether no batch has begun."""
        return self.batch < 0

    @property
    def is_ending(self) -> bool:
        """Tells whether the last batch has begun and must come again."""
        return self.is_last and not self.is_through

    def refuse_without_heartbeat(self) -> None:
        """Refuses to go on as what only a heartbeat makes possible."""
        if not self.is_new and not self.has_heartbeat:
            raise EngineError(
                f'the query of the checkpoint "{self.path}" has no heartbeat',
                "idle=... or finish=... from its first start on",
                "start with a new checkpoint folder; finish=False says: not yet",
            )

    def refuse_moved(self) -> None:
        """Refuses to go on elsewhere: files that were read would be new ones there."""
        if self.moved_from:
            raise EngineError(
                f'the checkpoint "{self.path}" was begun at "{self.moved_from}"',
                "that place, which its state and the names of the files read have in "
                "them",
                "put the folder back, or start anew: new folders for state and for "
                "rows",
            )

    def refuse_ended(self) -> None:
        """Refuses to go on with streams that were said to have ended."""
        if not self.is_last:
            return
        if self.is_through:
            raise EngineError(
                f'the checkpoint "{self.path}" is of streams that have ended: '
                "their last rows have come out",
                "a new checkpoint folder",
                "a row that comes now would be late whatever its time",
            )
        raise EngineError(
            f'the query of the checkpoint "{self.path}" was stopped while it finished',
            "finish=True, which lets the last rows come out",
        )

    def spread(self, spark: SparkSession, partitions: int) -> Checkpoint:
        """Returns the folder with the state in so many partitions; 0: as it is."""
        if self.is_new or partitions in {0, self.partitions}:
            return self
        # What moves state belongs to a session of the JVM, which a client of Connect
        # has not.
        here = "" if hasattr(spark, "_streamingCheckpointManager") else "Spark Connect"
        if here or not self.is_through:
            raise EngineError(
                f'the checkpoint "{self.path}" is in {self.partitions} partitions, '
                f"which {here or 'a batch that was cut off'} does not let move",
                f"partitions={self.partitions}, got {partitions}",
                "leave partitions out; Spark Classic moves state that is at rest",
            )
        # A bucket is never cut: a partition beyond them would have no keys.
        if partitions > self.buckets:
            raise EngineError(
                f'the checkpoint "{self.path}" has {self.buckets} buckets of keys',
                f"partitions={self.buckets} at most, got {partitions}",
                "a new checkpoint folder gets as many buckets as it needs",
            )
        moving = spark._streamingCheckpointManager  # noqa: SLF001 - its only way in
        try:
            moving.repartition(self.path, partitions)
        except Exception as error:
            raise EngineError(
                f'Spark does not move the state of the checkpoint "{self.path}" into '
                f"{partitions} partitions: {cause(error)}"
            ) from error
        return read_checkpoint(spark, self.path)

    def refuse_format(self) -> None:
        """Refuses state that another version has written."""
        for one in self.kept:
            if one.format != FORMAT:
                raise EngineError(
                    f'the checkpoint "{self.path}" has state of the format '
                    f"{one.format}",
                    f"the format {FORMAT}",
                    "another version of dovetail wrote it: start with a new folder",
                )

    def refuse_other(self, *identities: str) -> None:
        """Refuses to start joins, the outermost first, on the state of others.

        Where a join stands elsewhere in the row, the ones that have not changed tell.
        """
        self.refuse_format()
        # Where no batch is through nothing is kept yet that could be of another join.
        changed = self._changed(identities) if self.kept else []
        if changed:
            raise EngineError(
                f'the checkpoint "{self.path}" has the state of another join: '
                f"{'; '.join(changed[:_MOST_TOLD])}",
                "the windows, keys, condition, order and columns of its start; select "
                "may have more of them",
                "put the join back as it was, or start with a new folder",
            )

    def _changed(self, identities: tuple[str, ...]) -> list[str]:
        """Returns in words what has changed of the joins, the outermost first."""
        if len(self.kept) != len(identities):
            count = f"{len(identities)} and was {len(self.kept)}"
            return [f"the number of joins in a row is {count}"]
        kept, now = [*self.kept], [*identities]
        # Those that are the same are found wherever they stand in the row; the widest
        # first, as a narrower one would take what only it can be.
        for one in sorted(kept, key=lambda known: len(known.identity), reverse=True):
            same = [text for text in now if not differences(one.identity, text)]
            if same:
                kept.remove(one)
                now.remove(same[0])
        return [
            f"of {title(read_identity(one.identity)[0])}: {said}"
            if len(self.kept) > 1
            else said
            for one, text in zip(kept, now, strict=True)
            for said in differences(one.identity, text)
        ]


NO_CHECKPOINT = Checkpoint("")
"""Where nothing is kept yet."""


def read_checkpoint(
    spark: SparkSession, path: str, *, may_be_copy: bool = False
) -> Checkpoint:
    """Returns what a folder says of its query, or refuses what no query left so.

    Who only looks at it may look at a copy of it.
    """
    known = read_log(spark, path)
    if known.is_new:
        return known
    if not may_be_copy:
        known.refuse_moved()
    pin = read_pin(spark, path)
    if pin and pin.is_native:
        return replace(known, kept=(Kept(pin.format, pin.identity),), pin=pin)
    kept = kept_in(spark, path)
    # What finds lives in front of a join, and windows, have state too and are no joins.
    joins = tuple(one for one in kept if one.identity)
    buckets = max((one.buckets for one in kept), default=0)
    return replace(known, kept=joins, buckets=buckets, pin=pin)


def read_log(spark: SparkSession, path: str) -> Checkpoint:
    """Returns how far the query of a folder has come, whatever it keeps."""
    # One look where nothing is yet: Spark takes 50 ms to say of a path that it is not.
    if not path_exists(spark, path, "/*"):
        return Checkpoint(path)
    batches = (
        [file.rpartition("/")[2] for file in files_in(spark, f"{path}/{log}")]
        for log in ("offsets", "commits")
    )
    # A batch's file is its number; a crash may leave others, half written.
    begun, through = (
        max((int(name) for name in names if name.isdigit()), default=-1)
        for names in batches
    )
    # Without this folder, which Spark makes first of all, rows would be read once more.
    has_others = begun < 0 and path_exists(spark, path, "/{commits,metadata,sources}")
    if has_others and not path_exists(spark, f"{path}/offsets"):
        raise _incomplete(path, "its folder offsets is missing")
    # Else rows would be read once more, and state taken up by another query's batch.
    if begun < 0 and through < 0 and path_exists(spark, path, f"/{{state,{BEGUN}}}"):
        raise _incomplete(path, "its folder offsets is empty, and a batch has begun")
    # Spark begins no batch before the one in front of it is through.
    if begun - through not in {0, 1}:
        raise _incomplete(
            path, f"the newest batch in offsets is {begun}, in commits {through}"
        )
    if begun < 0:
        return Checkpoint(path)
    place = _elsewhere(spark, path)
    partitions, beat, has_files = _begun(spark, path, begun)
    # State says where its schema is, and a file elsewhere is one that was not read yet.
    is_bound = place and (has_files or path_exists(spark, f"{path}/state"))
    return Checkpoint(
        path,
        begun,
        is_through=begun == through,
        has_heartbeat=TICK in beat,
        is_last=bool(beat.get(ENDED)),
        partitions=partitions,
        moved_from=place if is_bound else "",
    )


def kept_in(spark: SparkSession, path: str) -> tuple[Kept, ...]:
    """Returns what a checkpoint keeps of each operator, if a batch is through."""
    operators: list[Kept] = []
    # Spark numbers operators from 0 on, and says nowhere how many there are.
    for operator in count():
        if operator and not path_exists(spark, f"{path}/state/{operator}/_metadata/v2"):
            break
        try:
            kept = state_of(spark, path, operator)
            heads = kept.where(F.col("user_map_key.number") == DIRECTORY)
            found = heads.select("user_map_value.data").limit(1).collect()
        except Exception as error:
            # What Java raises by itself, as of a file that is gone, has no condition.
            is_known = isinstance(error, PySparkException)
            if is_known and _NOTHING_YET in str(error):
                break
            raise EngineError(
                f'the checkpoint "{path}" has no state of a join',
                "a folder of this query alone",
                f"{cause(error)}; {_ANEW}",
            ) from error
        if found:
            known = kept_by(Head.read(bytes(found[0].data)).directory)
            operators.append(replace(known, operator=operator))
    return tuple(operators)


def state_of(spark: SparkSession, path: str, operator: int) -> DataFrame:
    """Returns the state of an operator that the last batch of a query has left."""
    states = spark.read.format("statestore").option("path", path)
    states = states.option("operatorId", operator).option("stateVarName", VARIABLE)
    return states.load()


def kept_by(directory: bytes) -> Kept:
    """Returns what a bucket's directory says of all; of another format that alone."""
    known = json.loads(directory)
    if known["format"] != FORMAT:
        return Kept(known["format"])
    return Kept(FORMAT, known["identity"], known["buckets"], known["fingerprint"])


def _elsewhere(spark: SparkSession, path: str) -> str:
    """Returns where a query was begun, if its folder is elsewhere now.

    Refuses a folder of which the query's own name, its file `metadata`, is not whole.
    """
    try:
        rows = spark.read.text(f"{pattern_of(path)}/{{metadata,{BEGUN}}}").collect()
        lines = {row.value for row in rows}
        own = {line for line in lines if line.startswith("{")}
        _ = json.loads("".join(own))["id"]
    except (PySparkException, json.JSONDecodeError, KeyError) as error:
        found = "its file metadata is missing or not whole"
        raise _incomplete(path, found) from error
    return min(lines - {*own, place_of(spark, path)}, default="")


def _begun(
    spark: SparkSession, path: str, batch: int
) -> tuple[int, Mapping[str, int], bool]:
    """Returns a batch's partitions, how far it reads the heartbeat, if it has files.

    Nothing where it has no heartbeat. Refuses a folder of which the batch, or the lists
    of files read, is not there as a whole.
    """
    # The log's version, the batch's settings, then a line for each source: the
    # heartbeat has been added behind all others.
    try:
        log = spark.read.text(pattern_of(f"{path}/offsets/{batch}"))
        _, *told = [row.value for row in log.collect()]
        partitions = int(json.loads(told[0])["conf"]["spark.sql.shuffle.partitions"])
        last = {} if told[-1] == _NO_OFFSET else json.loads(told[-1])
    except Exception as error:
        found = f"its file offsets/{batch} is not whole"
        raise _incomplete(path, found) from error
    # Of its offset alone a source of files does not know which files it has read.
    has_files = any(_OF_FILES in one for one in told[1:])
    if has_files and not path_exists(spark, path, "/sources/*"):
        raise _incomplete(path, "its folder sources is missing")
    is_beat = isinstance(last, dict) and isinstance(last.get(TICK), int)
    return partitions, last if is_beat else {}, has_files


def _incomplete(path: str, found: str) -> EngineError:
    """Returns the error for a folder that Spark cannot have left so."""
    return EngineError(
        f'the checkpoint "{path}" is incomplete: {found}',
        "a folder as a query left it",
        _ANEW,
    )
