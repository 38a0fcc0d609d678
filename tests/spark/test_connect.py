"""Joins through Spark Connect, on a server whose Python cannot import us.

The server is the one of pip's pyspark, started here and stopped here. Its workers, and
the process that runs `foreachBatch`, get our code by value or not at all.
"""

import json
import os
import re
import shlex
import signal
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pyspark
import pytest

from dovetail.bind.jars import CONNECTOR, jars
from dovetail.conformance import oracle
from dovetail.engines.spark_session import BRIEF
from dovetail.expression import Expression
from dovetail.schema import Schema
from dovetail.spec.inputs import Arrive, Clock, Finish, Input, InputKind
from dovetail.spec.join import Columns, JoinSpec, Kind, Named, Play, Side
from dovetail.spec.picks import Equality
from dovetail.spec.spans import parse_span
from dovetail.spec.windows import Range

ROOT = Path(__file__).parents[2]
CLIENT = Path(__file__).with_name("connect_client.py")
SUBMIT = Path(pyspark.__file__).parent / "bin" / "spark-submit"
PAGE = (ROOT / "docs/connect.md").read_text()
PORT = "15002"
PATIENCE = 300
"""Seconds after which a busy machine counts as hung."""
BLOCKS_US = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "dovetail":
            raise ModuleNotFoundError(f"No module named {name!r}: blocked by the test")
sys.meta_path.insert(0, Blocked())
"""
NOON = datetime(2020, 7, 1, 12, tzinfo=UTC)
START = {"k": pa.int32(), "at": pa.timestamp("us", "UTC")}
ORDERS = pa.schema({**START, "id": pa.int64(), "word": pa.string()})
TRADES = pa.schema({**START, "price": pa.decimal128(9, 2)})


def order(number, key, second, word):
    at = NOON + timedelta(seconds=second)
    return {"k": key, "id": number, "word": word, "at": at}


def trade(key, second, price):
    at = NOON + timedelta(seconds=second)
    return {"k": key, "price": price and Decimal(price), "at": at}


LEFT = [
    [order(1, 1, 0, "a"), order(2, 2, 1, None)],
    [order(3, 1, 9, "ä"), order(4, None, 12, "d")],
    [order(5, 3, 20, "e"), order(6, 9, 60, "last")],
]
RIGHT = [
    [trade(1, 2, "5.50"), trade(2, 2, None)],
    [trade(1, 11, "0.50"), trade(3, 22, "7.00")],
    [trade(9, 60, "1.00")],
]


def shown(language):
    """What the page shows in a language, once."""
    (text,) = re.findall(rf"^```{language}\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE)
    return text


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@pytest.fixture
def server(tmp_path):
    """The address of a server that cannot import us."""
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(BLOCKS_US)
    port, log = free_port(), (tmp_path / "server.log").open("wb")
    confs = {
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": BRIEF,
        "spark.sql.shuffle.partitions": 2,
        "spark.sql.session.timeZone": "America/New_York",
        "spark.sql.warehouse.dir": tmp_path / "warehouse",
        "spark.jars": ",".join(jars(CONNECTOR)),
    }
    told = [
        part for name, value in confs.items() for part in ("--conf", f"{name}={value}")
    ]
    site = f"{tmp_path / 'site'}"
    environment = {**os.environ, "PYTHONPATH": site, "PYSPARK_PYTHON": sys.executable}
    _, *words, program = shlex.split(shown("sh").replace(PORT, str(port)))
    process = subprocess.Popen(
        [SUBMIT, "--master", "local[2]", *told, *words, program],
        cwd=tmp_path, env=environment, stdout=log, stderr=log, start_new_session=True,
    )  # fmt: skip
    try:
        _wait_for(process, port, tmp_path / "server.log")
        yield f"sc://127.0.0.1:{port}"
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(PATIENCE)
        log.close()


def _wait_for(process, port, log):
    """Waits until the server listens."""
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until and process.poll() is None:
        with socket.socket() as probe:
            if not probe.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.3)
    pytest.fail(f"the server does not start:\n{log.read_text()[-3000:]}")


def write(folder, cuts, schema):
    folder.mkdir()
    for number, rows in enumerate(cuts):
        table = pa.Table.from_pylist(rows, schema)
        file = folder / f"{number}.parquet"
        pq.write_table(table, file)
        os.utime(file, (number, number))  # files are read in the order of their age


def rows_of_the_oracle(*, ends):
    """The rows that must come out of all that is written."""
    types = {"k": "int", "id": "bigint", "word": "string", "at": "timestamp"}
    schemas = {
        "orders": Schema.of(types),
        "trades": Schema.of({"k": "int", "price": "decimal(9,2)", "at": "timestamp"}),
    }
    inputs = {
        name: Input(name, InputKind.STREAM, schema, (), "at")
        for name, schema in schemas.items()
    }
    events = [
        Arrive(name, row)
        for left, right in zip(LEFT, RIGHT, strict=True)
        for name, rows in (("orders", left), ("trades", right))
        for row in rows
    ]
    window = Range(parse_span("10 seconds"))
    columns = {"id": "l.id", "price": "r.price", "word": "upper(l.word)"}
    join = JoinSpec(
        Side(Named("orders"), window),
        Side(Named("trades"), window),
        Kind.LEFT_OUTER,
        Clock.EVENT,
        (Equality(Expression("l.k"), Expression("r.k")),),
        Expression("r.price > l.id"),
        Columns(tuple((name, Expression(text)) for name, text in columns.items())),
    )
    finished = [Finish(name) for name in inputs] if ends else []
    found = oracle.play(Play(join, inputs, (*events, *finished)))
    return sorted(
        [
            [
                row["id"],
                None if row["price"] is None else str(row["price"]),
                row["word"],
            ]
            for row in (one.row for one in found)
        ],
        key=repr,
    )


@pytest.mark.wide
@pytest.mark.timeout(3 * PATIENCE)
def test_joins_run_on_a_server_without_our_package(server, broker, tmp_path):
    write(tmp_path / "orders", LEFT, ORDERS)
    write(tmp_path / "trades", RIGHT, TRADES)
    client = subprocess.run(
        [sys.executable, CLIENT, server, tmp_path, broker[1]],
        cwd=ROOT, capture_output=True, text=True, timeout=2 * PATIENCE, check=False,
    )  # fmt: skip
    assert client.returncode == 0, client.stderr[-6000:]
    found = json.loads(client.stdout.splitlines()[-1])
    assert found["batch"] == rows_of_the_oracle(ends=True)
    assert found["stream"] == rows_of_the_oracle(ends=False)
    assert found["batch"] != found["stream"]
    assert found["finished"] == found["batch"]
    matched, unmatched = (
        sorted(key for key, price, _ in found["stream"] if (price is None) is is_null)
        for is_null in (False, True)
    )
    counts = [["a", 7], ["b", None], ["c", 1]]
    late = found["texts"].pop("late")
    assert found["texts"] == {
        "counts": counts,
        "plain": counts,
        "hours": [["2020-07-01 14:00:00", 7], ["2020-07-01 15:00:00", None]],
    }
    assert [(stream, reason, json.loads(row)["k"]) for stream, reason, row in late] == [
        ("counts", "failed", "b"),
        ("hours", "failed", "b"),
        ("hours", "late", "c"),
    ]
    assert found["parted"] == [matched, unmatched, []]
    assert found["several_ways"] == [[[1, 1], [1, 3], [3, 3]], [[2, 2], [5, 5], [6, 6]]]
    last = {1: "0.50", 2: None, 3: "7.00", 9: "1.00"}
    assert found["changing"] == [
        [row["id"], last[row["k"]]] for rows in LEFT for row in rows if row["k"]
    ]
    assert found["topics"] == [
        '{"id":1,"price":5.50}',
        '{"id":2,"price":null}',
        '{"id":3,"price":0.50}',
        '{"id":3,"price":5.50}',
        '{"id":5,"price":7.00}',
        '{"id":6,"price":1.00}',
    ]
    told, last = found["told"]
    assert told.startswith("batch 2: 11 rows in, ")
    assert last.startswith("batch 3: 0 rows in, ")
    assert last.endswith(" 0 kept")
    assert found["refused_order"].startswith("Spark refuses the order of rows, nofun(k")
    assert found["refused"] == (
        'the outlet "matched" is not written: the function "broken" failed in batch 0: '
        "ValueError: no; expected a batch that is written whole\n"
        "hint: a start on the same checkpoint writes the batch again, with its number"
    )
    named = sorted(
        [row["id"], f"n{row['k']}" if row["k"] is not None and row["k"] < 3 else ""]
        for rows in LEFT
        for row in rows
    )
    assert found["looked_up"] == [named, True]
    assert found["program"] == {
        "first": [[3, 3], [3, 7], [3, 11]],
        "parts": [[0, 0], [1, 9], [2, 18], [3, 27], [0, 36], [1, 7], [3, 0]],
        "counts": [[key, 10] for key in range(4)],
        "pairs": [[3, 0], [3, 0], [1, 7], [1, 7]],
    }
    the_page_runs(server, tmp_path / "page")
    read = found["kept"].pop("read")
    assert found["kept"] == {
        "keyed": [[2, 0], [2, 1], [4, 0]],
        "fetched": [[2, 5], [2, 12]],
        "failing": True,
        "skewed": True,
    }
    for told in ("JOIN in line 11, left outer: of the index by_k", "FETCH in line 14"):
        assert any(told in one for one in read), read


def the_page_runs(server, folder):
    """The client of the page prints what the page says, on the server of the page."""
    folder.mkdir()
    program = shown("py").replace(f"sc://localhost:{PORT}", server)
    client = subprocess.run(
        [sys.executable, "-c", program, folder],
        cwd=ROOT, capture_output=True, text=True, timeout=2 * PATIENCE, check=False,
    )  # fmt: skip
    assert client.returncode == 0, client.stderr[-6000:]
    assert client.stdout == shown("text")
