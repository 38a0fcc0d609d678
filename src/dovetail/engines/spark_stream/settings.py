"""What a query says to its session as it starts: where state lies, how rows travel.

All of it is put back once the query runs, which keeps the settings of its start.
"""

from __future__ import annotations

from pyspark.sql import SparkSession

from dovetail.bind.sinks import is_on_disk
from dovetail.engines.spark_session import BY_NAME, BY_THOUSANDS, MANAGER
from dovetail.errors import EngineError

STATE = "spark.sql.streaming.stateStore"
PARTITIONS = "spark.sql.shuffle.partitions"
PROVIDER = f"{STATE}.providerClass"
ROCKS_DB = "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
STORE = {
    PROVIDER: ROCKS_DB,
    # A batch writes what it has changed, and not all of the state.
    f"{STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    # Python is on the same machine: to pack what goes there costs more than it saves.
    "spark.sql.execution.arrow.compression.codec": "none",
    # Spark's own choice, INT96, ends in 2262 and is read as nanoseconds elsewhere.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}


def settings_of_query(spark: SparkSession, checkpoint: str) -> dict[str, str]:
    """Returns what is set while a query starts; where a session has its own, that."""
    own = dict(STORE)
    if not any(spark.conf.get(name, None) for name in BY_THOUSANDS):
        own |= BY_THOUSANDS
    if not spark.conf.get(MANAGER, None) and is_on_disk(spark, checkpoint):
        own[MANAGER] = BY_NAME
    return own


def refuse_other_store(spark: SparkSession) -> None:
    """Refuses a session whose store a stateful operator in Python cannot use."""
    found = spark.conf.get(PROVIDER)
    if found != ROCKS_DB:
        raise EngineError(
            f"the session keeps state in {found}, which Spark does not let Python's "
            "stateful operators use",
            "before the outlet is asked for: "
            f'spark.conf.set("{PROVIDER}", "{ROCKS_DB}")',
            "joined.write(...) needs no setting: it makes it for its own query",
        )
