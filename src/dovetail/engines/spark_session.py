"""Spark sessions of our own, each setting with its reason.

`local_session` is for many tiny queries on one machine: for demos, tests and
`dovetail check`. What is to be fast on many rows takes `FOR_MANY_ROWS` on top. A user's
job brings the user's session.
"""

from __future__ import annotations

import atexit
import os
import re
import shutil
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pyspark
from pyspark.errors import IllegalArgumentException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.bind.failures import said
from dovetail.errors import EngineError
from dovetail.spec import arguments

BRIEF = (
    # What the optimizing compiler and a collector's threads cost is not earned back.
    "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC "
    # To prove Spark's own classes sound takes a sixth of its start. A Java that has no
    # such name passes it over.
    "-XX:+IgnoreUnrecognizedVMOptions "
    "-XX:+UnlockDiagnosticVMOptions -XX:-BytecodeVerificationRemote"
)
"""What a Java is told that lives for minutes."""
MANAGER = "spark.sql.streaming.checkpointFileManagerClass"
BY_NAME = (
    "org.apache.spark.sql.execution.streaming.checkpointing."
    "FileSystemBasedCheckpointFileManager"
)
"""What renames the files of a checkpoint. Spark's own choice asks of each path whether
it is a link: on a local disk that is a process of its own, `readlink`."""
_STATE = "spark.sql.streaming.stateStore"
_SETTINGS: dict[str, bool | float | int | str | None] = {
    # Two cores are the least on which tasks can meet in the wrong order.
    "spark.master": "local[2]",
    # Starting the web page costs a second and a port.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Each state partition costs some 100 ms a batch; two can be mixed up already.
    "spark.sql.shuffle.partitions": "2",
    # The only store that Python's stateful operators accept.
    f"{_STATE}.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # A batch uploads what changed, not a snapshot: a third less time for every batch.
    f"{_STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    # Files are on this disk, where Spark's own choice starts thirty processes a batch.
    MANAGER: BY_NAME,
    # Has checksums, and is what we ask users to run with.
    f"{_STATE}.checkpointFormatVersion": "2",
    # Spark's own lz4 is so slow that a query looks hung.
    "spark.sql.execution.arrow.compression.codec": "none",
    # Over TCP a worker waits 40 ms for its rows: the system there holds back a second
    # short message until the first is answered for, and the answer until there is more.
    "spark.python.unix.domain.socket.enabled": "true",
    # Times in a case are written in UTC.
    "spark.sql.session.timeZone": "UTC",
    # Where in Python each column was made costs three calls of Java a column.
    "spark.python.sql.dataFrameDebugging.enabled": "false",
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": BRIEF,
    # Warnings of a local session hide what the user asked for.
    "spark.log.level": "ERROR",
}

_MEMORY = {
    "MALLOC_ARENA_MAX": "1",
    "MALLOC_MMAP_THRESHOLD_": str(1 << 28),
    "MALLOC_TRIM_THRESHOLD_": str(1 << 29),
}
"""How GNU's libc gives memory to a Java that we start: from one store, which keeps what
is given back, for a batch needs as much again as the one before. By itself it is taken
from the system each time, page by page with a fault for each."""

ARROW = "spark.sql.execution.arrow"
BY_THOUSANDS = {
    f"{ARROW}.maxBytesPerBatch": str(2**31 - 1),
    f"{ARROW}.maxRecordsPerBatch": "1000",
}
"""How rows go to Python. A limit of bytes, as Spark has one, is asked of every row,
which takes longer than to write it. A blob of ours is at most a thousandth of what an
array of them can hold."""

FOR_MANY_ROWS = {
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
    **BY_THOUSANDS,
}
"""What a local session takes that is to be fast on many rows, as benchmarks are."""

# What a program on files needs; all else is as Spark is set up.
_PROGRAM: dict[str, bool | float | int | str | None] = {
    name: _SETTINGS[name]
    for name in (
        "spark.ui.showConsoleProgress",
        "spark.sql.execution.arrow.compression.codec",
        "spark.python.unix.domain.socket.enabled",
        "spark.python.sql.dataFrameDebugging.enabled",
        "spark.log.level",
    )
}

_MOST = {"bytes": 1 << 27, "string": 1 << 27, "collectionItems": 1 << 24}
"""Of what a record of Avro may say that it has. Torn, it says anything: for two billion
letters Java has no room, and ends with all that it does."""
_OF_SPARK = re.compile(r"org\.apache\.spark\.\w*Exception: (.+)")
"""What has kept Spark from starting, in a line of Java's."""
_MANY = 1 << 16
"""Rows of a range that has one for each core there may be."""


@arguments.public
def local_session(**more: str) -> SparkSession:
    """Returns a Spark of this process for small things: tests, trying out, a demo.

    One that runs already is returned as it is. What more Spark is to be told counts
    where it is started.
    """
    for name, one in more.items():
        arguments.text(name, one, "a setting of Spark, as a text", f'{name}=".."')
    builder = SparkSession.builder.appName("dovetail")
    return _started(builder.config(map={**_SETTINGS, **more}), _home())


def program_session(master: str, more: Mapping[str, str] = {}) -> SparkSession:
    """Returns the session for a program; without a master all cores, or as set up.

    What `more` a job says comes before what we say.
    """
    builder = SparkSession.builder.appName("dovetail run")
    builder = builder.config(map={**_PROGRAM, **more})
    spark = _started(builder.master(master) if master else builder)
    if java := getattr(spark, "_jvm", None):
        for what, most in _MOST.items():
            name = f"org.apache.avro.limits.{what}.maxLength"
            java.System.setProperty(name, java.System.getProperty(name) or f"{most}")
    return spark


def cores(spark: SparkSession) -> int:
    """Returns how many tasks of a session run at once."""
    if not type(spark).__module__.startswith("pyspark.sql.connect"):
        return spark.sparkContext.defaultParallelism
    # Connect does not say; but Spark cuts a range into as many parts.
    parts = spark.range(_MANY).select(F.spark_partition_id().alias("part"))
    (last,) = parts.agg(F.max("part")).collect()
    return int(last[0]) + 1


def _started(
    builder: SparkSession.Builder, home: Mapping[str, str] = {}
) -> SparkSession:
    """Returns the session that a builder gives, or says why it does not start."""
    # Workers must be this Python: the first python3 of PATH may have no pyarrow.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    with tempfile.TemporaryFile() as log:
        try:
            with _sent_to(log.fileno()), _environment({**_MEMORY, **home}):
                spark = builder.getOrCreate()
                _ = spark.conf  # Spark looks at some settings when it is first asked
                return spark
        except IllegalArgumentException as error:
            # Java is there, or nobody would say so.
            told = f"Spark refuses a setting: {said(error)}"
            raise EngineError(told, "a value that it takes") from error
        except Exception as error:
            log.seek(0)
            lines = log.read().decode(errors="replace").strip().splitlines()
            # What Spark itself says of a mistake is no want of Java.
            if known := next(filter(None, map(_OF_SPARK.search, lines)), None):
                told = f"Spark does not start: {known[1]}"
                hint = "a master is local[4] for example, or the URL of a cluster"
                raise EngineError(told, "settings that it takes", hint) from error
            raise EngineError(
                f"Spark does not start: {lines[-1] if lines else error}",
                "Java 17 or newer, in JAVA_HOME or on PATH",
                "scripts/setup looks for one and says what to install",
            ) from error


def _home() -> Mapping[str, str]:
    """Lets workers import PySpark as this process does, compiled and from its folder.

    Spark puts an archive of it first on their path, `python/lib/pyspark.zip`, from
    which every new worker compiles what it imports, and each start of a query has one:
    0.75 s where the folder takes 0.2. So Spark's home is a folder of links that has all
    but the archive. A home that is set is left alone: its workers may have no PySpark.
    """
    home = Path(pyspark.__file__).parent
    if "SPARK_HOME" in os.environ or not (home / "jars").is_dir():
        return {}
    links = Path(tempfile.mkdtemp(prefix="dovetail-spark-"))
    atexit.register(shutil.rmtree, links, ignore_errors=True)
    for one in home.iterdir():
        if one.name != "python":
            (links / one.name).symlink_to(one)
    return {"SPARK_HOME": str(links)}


@contextmanager
def _environment(names: Mapping[str, str]) -> Iterator[None]:
    """Says something to the processes that are started, where nobody has said it."""
    new = {name: value for name, value in names.items() if name not in os.environ}
    os.environ.update(new)
    try:
        yield
    finally:
        for name in new:
            del os.environ[name]


@contextmanager
def _sent_to(log: int) -> Iterator[None]:
    """Sends what new processes write to a log: Java and its workers talk a lot."""
    kept = {stream: os.dup(stream) for stream in (1, 2)}
    try:
        for stream in kept:
            os.dup2(log, stream)
        yield
    finally:
        for stream, own in kept.items():
            os.dup2(own, stream)
            os.close(own)
