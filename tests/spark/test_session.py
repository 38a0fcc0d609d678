"""The session of the tests works, down to a Python worker that reads Arrow."""

import os
import subprocess
import sys

import pyarrow as pa
import pyspark
import pytest
from pyspark.sql import SparkSession

from dovetail.bind.tick import ticks
from dovetail.engines.spark_session import program_session


def test_rows_pass_through_an_arrow_worker(spark):
    numbers = spark.range(4).mapInArrow(lambda batches: batches, "id long")
    assert sorted(row.id for row in numbers.collect()) == [0, 1, 2, 3]


def test_what_a_torn_record_of_avro_says_of_its_length_is_bounded(spark):
    assert program_session("") is spark
    java, name = spark.sparkContext._jvm.System, "org.apache.avro.limits.%s.maxLength"  # noqa: SLF001
    assert int(java.getProperty(name % "string")) == 1 << 27
    java.setProperty(name % "bytes", "7")
    program_session("")
    assert java.getProperty(name % "bytes") == "7"


def test_a_source_of_ours_can_be_read_in_two_sessions(spark):
    spark.createDataFrame([], "nothing int")  # whoever makes a table is at work
    for session in (spark, spark.newSession(), spark.newSession()):
        assert ticks(session, 1).isStreaming
    # The session that was at work still is: what a user asks for next is his own.
    assert SparkSession.active().range(1).sparkSession == spark.range(1).sparkSession


def test_workers_import_spark_compiled_and_from_its_folder(spark):
    """An archive of it is compiled anew by each process that is started."""
    here = pyspark.__file__

    def where(batches):
        import pyspark as there  # noqa: PLC0415

        for _ in batches:
            yield pa.record_batch([pa.array([there.__file__])], ["file"])

    found = {
        row.file for row in spark.range(4).mapInArrow(where, "file string").collect()
    }
    assert found == {here}
    assert "SPARK_HOME" not in os.environ


def test_java_keeps_the_memory_that_a_batch_gives_back(spark):
    java = spark.sparkContext._jvm.System  # noqa: SLF001
    assert java.getenv("MALLOC_ARENA_MAX") == "1"
    assert "MALLOC_ARENA_MAX" not in os.environ


@pytest.mark.parametrize("master", ["nosuch", "local[x]"])
def test_what_keeps_spark_from_starting_is_told(master):
    """It is another process that starts: this one has a session."""
    program = "from dovetail.engines.spark_session import local_session as start\n"
    program += f"start(**{{'spark.master': {master!r}}})"
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    told = ran.stderr.partition("EngineError: Spark does not start: ")[2]
    assert told.startswith(("Master must either be", "Could not parse Master URL"))
    assert "expected settings that it takes\nhint: a master is local[4]" in told
