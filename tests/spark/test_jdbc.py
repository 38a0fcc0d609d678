"""Tables of a real PostgreSQL, read by its driver for Java, and what is told."""

import re
import socket
import subprocess
import tempfile
from datetime import UTC, date, datetime
from decimal import Decimal
from pathlib import Path
from threading import Event

import psycopg
import pytest

from dovetail.api import jobs, runs
from dovetail.bind.files.frames import misfits_told
from dovetail.bind.jobs import read_job
from dovetail.errors import EngineError, SchemaError
from tests.spark.processes import SETTINGS

SCRIPT = Path(__file__).parents[2] / "scripts/postgres"
JOB = """\
[join]
type = "inner"
clock = "batch"
hard = [["l.id", "r.id"]]
left = {{ from = "Left" }}
right = {{ from = "Right" }}
select = {{ {select} }}

[datasets.Left]
file = "left.csv"
columns = {{ id = "bigint" }}

[datasets.Right]
jdbc = "{url}"
table = "{table}"
columns = {{ id = "bigint", {columns} }}
options = {{ user = "{user}", password = "{password}" }}

[sinks.matched]
folder = "out"
"""
NOON = datetime.fromisoformat("2026-03-02T12:00:00.123456")
TYPES = {
    "price": ("numeric(9,2)", "decimal(9,2)", "12.50", Decimal("12.50")),
    "amount": ("numeric", "decimal(20,3)", "1.125", Decimal("1.125")),
    "local": ("timestamp", "timestamp_ntz", "'2026-03-02 12:00:00.123456'", NOON),
    "at": (
        *("timestamptz", "timestamp", "'2026-03-02 14:00:00.123456+02'"),
        NOON.replace(tzinfo=UTC),
    ),
    "day": ("date", "date", "'2026-03-02'", date(2026, 3, 2)),
    "name": ("text", "string", "'\u00fc ''; --'", "\u00fc '; --"),
    "yes": ("boolean", "boolean", "true", True),
    "raw": ("bytea", "binary", "'\\x00ff'", b"\0\xff"),
    "small": ("smallint", "int", "-7", -7),
    "ratio": ("double precision", "double", "'NaN'", None),
    "list": ("int[]", "array<int>", "'{1,NULL}'", [1, None]),
}


@pytest.fixture(scope="module")
def base():
    """A connection to a real server of this module, and its address for Java."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    # Below /tmp: as root the server is another user, who must be let in.
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        subprocess.run([SCRIPT, "start", folder, str(port)], check=True)
        try:
            place = f"postgresql://postgres@127.0.0.1:{port}/postgres"
            with psycopg.connect(place, autocommit=True) as line:
                line.execute("CREATE ROLE ann LOGIN PASSWORD 'right'")
                rules = line.execute("SHOW hba_file").fetchone()[0]
                kept = Path(rules).read_text()
                only = "host all ann 127.0.0.1/32 scram-sha-256\n"
                Path(rules).write_text(only + kept)
                line.execute("SELECT pg_reload_conf()")
                yield line, f"jdbc:postgresql://127.0.0.1:{port}/postgres"
        finally:
            subprocess.run([SCRIPT, "stop", folder], check=True)


@pytest.fixture
def opened(base, tmp_path):
    """Opens a job that reads a table of the server by some columns."""
    line, url = base
    (tmp_path / "left.csv").write_text("id\n1\n2\n")

    def opened(columns, table="things", user="postgres", password="any", url=url):
        text = JOB.format(
            select=", ".join(f'{it} = "r.{it}"' for it in ("id", *columns)),
            columns=", ".join(f'{it} = "{kind}"' for it, kind in columns.items()),
            url=url,
            table=table,
            user=user,
            password=password,
        )
        (tmp_path / "job.toml").write_text(f"{text}\n{SETTINGS}")
        return jobs.prepared(read_job(tmp_path / "job.toml"))

    line.execute("DROP TABLE IF EXISTS things")
    own = ", ".join(f"{name} {it[0]}" for name, it in TYPES.items())
    line.execute(f"CREATE TABLE things (id bigint, {own})")
    values = ", ".join(it[2] for it in TYPES.values())
    line.execute(f"INSERT INTO things VALUES (1, {values})")
    line.execute("INSERT INTO things (id) VALUES (2)")
    return opened


def test_each_type_of_postgresql_is_read_as_it_is(spark, opened, tmp_path):
    columns = {name: it[1] for name, it in TYPES.items()}
    with runs.outcome_of(spark, opened(columns)) as outcome:
        outcome.run(lambda *_: None, Event())
    found = spark.read.parquet(str(tmp_path / "out")).toArrow().to_pylist()
    first, second = sorted(found, key=lambda it: it["id"])
    assert str(first.pop("ratio")) == "nan"
    for name, (*_, value) in TYPES.items():
        assert second[name] is None, name
        assert name == "ratio" or first[name] == value, name


@pytest.mark.parametrize(
    ("column", "kind", "shown"),
    [
        ("amount", "decimal(9,2)", "1.125"),
        ("amount", "int", "1.125"),
        ("name", "int", "\u00fc"),
        ("ratio", "bigint", "NaN"),
        ("at", "date", "2026-03-02 12:00:00.123456"),
    ],
)
def test_a_value_that_does_not_fit_is_told(spark, opened, column, kind, shown):
    with (
        runs.outcome_of(spark, opened({column: kind})) as outcome,
        pytest.raises(SchemaError) as caught,
        misfits_told(),
    ):
        outcome.run(lambda *_: None, Event())
    told = f'the input "Right": the column "{column}" has "{shown}'
    assert caught.value.found.startswith(told)
    assert caught.value.expected == kind


@pytest.mark.parametrize(
    ("words", "why", "line"),
    [
        ({"table": "nothing"}, 'relation "nothing" does not exist', 15),
        ({"user": "ann", "password": "wrong"}, "password authentication failed", 17),
        ({"url": "jdbc:postgresql://127.0.0.1:1/shop"}, "refused", 14),
    ],
    ids=("table", "password", "server"),
)
def test_a_data_base_that_gives_nothing_is_told_in_its_line(
    spark, opened, words, why, line
):
    job = opened({"name": "string"}, **words)
    with pytest.raises(EngineError, match=why) as caught, runs.outcome_of(spark, job):
        pass
    told = "Spark does not read [a-z]* of jdbc:postgresql://127.0.0.1:"
    assert re.match(told, caught.value.found)
    place = caught.value.place
    assert (place.file, place.line) == ("job.toml", line)
    assert "wrong" not in str(caught.value)


def test_the_right_password_lets_in(spark, base, opened, tmp_path):
    base[0].execute("GRANT SELECT ON things TO ann")
    job = opened({"small": "int"}, user="ann", password="right")
    with runs.outcome_of(spark, job) as outcome:
        outcome.run(lambda *_: None, Event())
    assert spark.read.parquet(str(tmp_path / "out")).count() == 2
