"""One Spark session for every test of this folder, as our own commands start it."""

import io
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from random import Random
from types import FunctionType, ModuleType

import pytest
from pyspark import cloudpickle
from pyspark.sql.streaming import DataStreamWriter

import dovetail as dt
from dovetail.bind.jars import AVRO, CONNECTOR, jars
from dovetail.bind.sinks import Calling
from dovetail.engines.spark_session import local_session
from dovetail.errors import EngineError
from tests.spark.processes import BROKER, start_broker

HERE = Path(__file__).parent
LONGEST = {
    *("test_bench.py", "test_connect.py", "test_exactly_once.py"),
    *("test_stream_cases.py", "test_api.py", "test_batch.py", "test_cluster.py"),
    *("test_kafka.py", "test_lenses.py", "test_lookups.py", "test_programs.py"),
    *("test_spl_flows.py", "test_sql.py"),
}
TOPICS = ("test_avro.py", "test_avro_rows.py", "test_kafka.py")
"""Tests that ask for what reads Kafka."""
BASES, DRIVER = ("test_jdbc.py",), "org.postgresql:postgresql:42.7.8"
"""Tests that ask for a driver of a data base, and which one."""
ODD = {
    "spark.sql.session.timeZone": "America/New_York",
    "spark.sql.ansi.enabled": "true",
    "spark.sql.caseSensitive": "true",
}


def pytest_collection_modifyitems(items):
    for item in items:
        if HERE in item.path.parents:
            item.add_marker(pytest.mark.spark)
    # Files go to two sessions whole: one that takes minutes must not begin last.
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture(scope="session")
def spark(request, tmp_path_factory):
    # Tables of one run must not meet those of another.
    settings = {"spark.sql.warehouse.dir": str(tmp_path_factory.mktemp("warehouse"))}
    # A session takes jars where it starts; they are fetched where a test asks for them.
    names = {item.path.name for item in request.session.items}
    wanted = [(*CONNECTOR, *AVRO)] * bool(names & {*TOPICS})
    wanted += [(DRIVER,)] * bool(names & {*BASES})
    found: list[str] = []
    for some in wanted:
        # Where they cannot be had, only the tests of them fail, and say why.
        with suppress(EngineError):
            found += jars(some)
    if found:
        settings["spark.jars"] = ",".join(found)
    session = local_session(**settings)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(DataStreamWriter, "foreachBatch", as_behind_connect)
        yield session
    session.stop()


@pytest.fixture(scope="module")
def broker(tmp_path_factory):
    """A broker of this module: its folder and its address."""
    jars(CONNECTOR)  # raises why where they cannot be had
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    folder = tmp_path_factory.mktemp("broker")
    start_broker(folder, port)
    yield folder, f"127.0.0.1:{port}"
    subprocess.run([BROKER, "stop", folder], check=True)


STARTS = DataStreamWriter.foreachBatch
AT_A_SERVER = {"dovetail", "numpy", "pandas", "pyarrow", "pyspark", "tests"}
"""What may be loaded by name; what is of the tests stands for a user's own."""


class Travelling(cloudpickle.Pickler):
    """Sends what a server of Spark Connect gets, but for sinks of the tests."""

    def reducer_override(self, one):
        name = getattr(one, "__module__", None)
        if isinstance(one, ModuleType):
            name = one.__name__
        # Of what is loaded there by name the server has only what Spark needs.
        if name in sys.modules and isinstance(one, ModuleType | FunctionType | type):
            assert name.partition(".")[0] in sys.stdlib_module_names | AT_A_SERVER, one
        return super().reducer_override(one)

    def persistent_id(self, one):
        is_ours = isinstance(one, Calling) or type(one).__module__.startswith("tests.")
        return "a sink" if is_ours else None


def as_behind_connect(writer, write):
    """Starts what writes batches, if it could go to a server of Spark Connect too."""
    # A method knows its module by its class; a function of a page has none.
    if str(write.__module__).startswith("dovetail.engines"):
        Travelling(io.BytesIO()).dump(write)
    return STARTS(writer, write)


@pytest.fixture
def odd_session(spark):
    """A session whose own rules are none of ours."""
    before = {name: spark.conf.get(name) for name in ODD}
    for name, value in ODD.items():
        spark.conf.set(name, value)
    yield spark
    found = {name: spark.conf.get(name) for name in ODD}
    for name, value in before.items():
        spark.conf.set(name, value)
    assert found == ODD


@pytest.fixture
def jumbled(spark, tmp_path):
    """Two streams in files, whose rows come some minutes before or behind others."""
    sources, chance = {}, Random(3)
    for side in "ab":
        rows = [(place, place * 7 + chance.randrange(60)) for place in range(60)]
        for number in range(6):
            some = spark.createDataFrame(rows[number * 10 :][:10], "id int, after int")
            frame = some.selectExpr("id", "timestamp_seconds(1600000000 + after) AS at")
            frame.coalesce(2).write.mode("append").parquet(str(tmp_path / side))
        reader = spark.readStream.schema("id int, at timestamp")
        files = reader.option("maxFilesPerTrigger", 3).parquet(str(tmp_path / side))
        sources[side] = dt.stream(files, time="at", lateness="10 minutes")
    return sources
