"""One Spark session for every test of this folder, tuned for many tiny queries."""

import os
import sys
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

HERE = Path(__file__).parent
STATE = "spark.sql.streaming.stateStore"

SETTINGS = {
    # Two cores are the least on which tasks can meet in the wrong order.
    "spark.master": "local[2]",
    # Starting the web page costs a second and a port.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    # Each state partition costs some 100 ms a batch; two can be mixed up already.
    "spark.sql.shuffle.partitions": "2",
    # The only store that Python's stateful operators accept.
    f"{STATE}.providerClass": (
        "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider"
    ),
    # A batch uploads what changed, not a snapshot: a third less time for every batch.
    f"{STATE}.rocksdb.changelogCheckpointing.enabled": "true",
    # Has checksums, and is what we ask users to run with.
    f"{STATE}.checkpointFormatVersion": "2",
    # Spark's own lz4 is so slow that a query looks hung.
    "spark.sql.execution.arrow.compression.codec": "none",
    # Times in expected rows are written without a zone.
    "spark.sql.session.timeZone": "UTC",
    # Warnings of a local session (address, native library) hide the failure above them.
    "spark.log.level": "ERROR",
    # Few cores and a small heap: the parallel collector starts quicker than G1.
    "spark.driver.memory": "2g",
    "spark.driver.extraJavaOptions": "-XX:+UseParallelGC",
}


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.spark)


@pytest.fixture(scope="session")
def spark(tmp_path_factory):
    # Workers must be this Python: the first python3 of PATH has no pyarrow.
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    # Tables of one run must not meet those of another.
    warehouse = tmp_path_factory.mktemp("warehouse")
    builder = SparkSession.builder.appName("dovetail tests").config(map=SETTINGS)
    session = builder.config("spark.sql.warehouse.dir", str(warehouse)).getOrCreate()
    yield session
    session.stop()
