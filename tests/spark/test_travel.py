"""What runs in Spark's workers brings all of our code along, and imports none of it.

What is sent by name would need us installed there: a cached function is (its wrapper
is only a name), and an import inside a function.
"""

import bz2
import io
import pickle
import subprocess
import sys
import zlib
from functools import cache

import pyarrow as pa
import pytest
from pyspark import cloudpickle
from pyspark.sql.types import StructField, TimestampType

import dovetail
from dovetail.bind.files.tuple_sinks import text_sinks
from dovetail.bind.files.tuples import make_tuples
from dovetail.bind.kafka import kafka
from dovetail.bind.lookups.tables import make_lookup
from dovetail.bind.sinks import Calling, current, folder
from dovetail.conformance.spark_stream.replay import Replay
from dovetail.conformance.spark_stream.together import Join, make_shared_operator
from dovetail.dialects.spl import translate
from dovetail.engines.kernel_settings import Manner, kernel_settings
from dovetail.engines.spark_stream.outlets import Reading, Results, Shown
from dovetail.engines.spark_stream.worker.bucket import make_unpack
from dovetail.engines.spark_stream.worker.firing import (
    make_lines,
    make_rows,
    make_spread_lines,
)
from dovetail.engines.spark_stream.worker.operator import JoinOperator, make_operator
from dovetail.engines.spark_stream.worker.pack import make_heartbeat, make_pack
from dovetail.engines.spark_stream.worker.relay import make_late_rows, make_relay
from dovetail.engines.spark_stream.writing import Writing
from dovetail.expression import lower, parse
from dovetail.plan.stream import Feed, plan_stream
from dovetail.spec.inputs import Arrival, Input, InputKind, Outlet
from dovetail.spec.join import HANDS
from tests.expression.forms import FORMS
from tests.expression.grammar import SCOPE, plain_expressions
from tests.spark.stream_plays import SCHEMA, SOFT

NO_COLUMNS = pa.schema([])
MOST_SENT = 500_000
"""So many bytes the operator and all of the kernels may have on their way: they have
360,000, a part of them twice where this process has loaded them again, and Spark makes
a broadcast of 1,048,576."""
WORKER = """
import sys
from importlib.abc import MetaPathFinder

class Missing(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"dovetail", "sqlglot", "lark"}:
            raise ModuleNotFoundError(name)

class Entries(dict):
    getValue, updateValue = dict.get, dict.__setitem__

class Handle:
    def getMapState(self, *names): return Entries()

sys.meta_path.insert(0, Missing())
from pyspark import cloudpickle
operator = cloudpickle.loads(sys.stdin.buffer.read())
operator.init(Handle())
print(sorted(sys.modules.keys() & {"numpy", "pandas", "pyarrow"}))
(counted,) = operator.handleInputRows(0, iter(()), None)
print(counted.counts[0], bool(operator.shelf.directory()))
"""


def operator():
    inputs = {name: Input(name, InputKind.STREAM, SCHEMA, (), "t") for name in "ab"}
    settings = kernel_settings(SOFT[0], inputs, Manner(Arrival.MERGED))
    return make_operator(settings, (NO_COLUMNS, NO_COLUMNS))


def shared():
    """The operator of many plays, as their joins share a query."""
    inputs = {name: Input(name, InputKind.STREAM, SCHEMA, (), "t") for name in "ab"}
    settings = kernel_settings(SOFT[0], inputs, Manner(Arrival.MERGED))
    return make_shared_operator({0: Join(0, settings, (NO_COLUMNS, NO_COLUMNS))})


def sinks():
    """A sink of each kind."""
    text = """(stream<int32 k> A) = Beacon() {}
    () as Out = FileSink(A) { param file : "out.csv"; format : csv; }"""
    (tuples,) = text_sinks(translate(text, {}), "/out", ()).values()
    topic = kafka("names", servers="localhost:9092", columns={"k": "int"})
    return folder("/out"), current("/out"), topic, tuples, Calling(print)


def writing_of(sink):
    """What writes a batch: on a Connect server it runs where we are not installed."""
    inputs = {name: Input(name, InputKind.STREAM, SCHEMA, (), "t") for name in "ab"}
    plan = plan_stream(SOFT[0], inputs, dict.fromkeys(HANDS, Feed()))
    text = Shown("t", StructField("l0", TimestampType()), "l0")
    reading = Reading(NO_COLUMNS, dict.fromkeys(HANDS, (text,)), ())
    results = Results(plan, (reading,), {Outlet.MATCHED: {HANDS[0]: frozenset("t")}})
    return Writing(results, {Outlet.MATCHED: sink}).write


@cache
def programs():
    """The programs of every function: many carry what computes them for each row."""
    texts = [text for name in FORMS for text in plain_expressions(name)]
    return [lower(parse(text, SCOPE)) for text in texts]


def test_functions_that_programs_carry_travel_with_all_of_their_code():
    cloudpickle.register_pickle_by_value(dovetail)
    for program in programs():
        data = cloudpickle.dumps(program)
        reading = Suspicious(data)
        assert reading.load() == program
        assert [name for name in reading.asked if name.startswith("dovetail")] == []
        assert len(zlib.compress(data)) < 1 << 17, program


class Suspicious(pickle.Unpickler):
    """Notes what is asked for by name."""

    def __init__(self, data):
        super().__init__(io.BytesIO(data))
        self.asked = set()

    def find_class(self, module, name):
        self.asked.add(f"{module}.{name}")
        return super().find_class(module, name)

    def persistent_load(self, name):
        """What stands in our code by this name: it is sent along, and tested alone."""
        module, _, one = name.rpartition(".")
        return getattr(sys.modules[module], one)


def packed(sent):
    """What travels closed, as it is inside: our code, which the rest asks for."""
    _, (code, data) = sent.run.__reduce__()
    return [bz2.decompress(code), zlib.decompress(data)]


def name_of(sent):
    """A function's name, or that of the sink which it writes."""
    writing = getattr(sent, "__self__", None)
    sink = writing.sinks[Outlet.MATCHED] if isinstance(writing, Writing) else sent
    return getattr(sink, "__name__", type(sink).__name__)


@pytest.mark.parametrize(
    "sent",
    [
        operator(),
        shared(),
        *map(writing_of, sinks()),
        make_pack,
        make_heartbeat,
        make_unpack,
        make_relay,
        make_late_rows,
        make_lines,
        make_rows,
        make_spread_lines,
        make_tuples,
        make_lookup,
        Replay,
    ],
    ids=name_of,
)
def test_nothing_of_ours_is_sent_by_name(sent):
    cloudpickle.register_pickle_by_value(dovetail)
    inside = packed(sent) if isinstance(sent, JoinOperator) else []
    for data in (cloudpickle.dumps(sent), *inside):
        reading = Suspicious(data)
        reading.load()
        assert [name for name in reading.asked if name.startswith("dovetail")] == []


def test_the_operator_is_no_broadcast():
    """Spark makes one of what has a megabyte, and its stateful workers load none."""
    cloudpickle.register_pickle_by_value(dovetail)
    sent = cloudpickle.dumps(operator())
    assert len(sent) < MOST_SENT


def test_a_worker_that_has_none_of_it_runs_a_step():
    """The nodes of the spec bring no reader of SQL along, nor anything else of ours.

    To set up a query loads nothing that takes long.
    """
    cloudpickle.register_pickle_by_value(dovetail)
    ran = subprocess.run(
        [sys.executable, "-c", WORKER],
        input=cloudpickle.dumps(operator()),
        capture_output=True,
        check=False,
    )
    assert ran.stderr.decode() == ""
    assert ran.stdout.decode().split() == ["[]", "0", "True"]
