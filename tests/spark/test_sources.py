"""Each source that a job file names gives its rows on Spark, or says what it lacks."""

import ast
from threading import Event

import pytest

import dovetail as dt
from dovetail.api import jobs, runs
from dovetail.api.alone import job_alone
from dovetail.bind.jobs import read_job
from dovetail.errors import EngineError
from tests.spark.processes import SETTINGS, Process

JOB = """\
{more}
[join]
type = "inner"
clock = "event"
hard = [["l.id", "r.id"]]
select = {{ id = "l.id" }}
[join.left]
from = "Left"
window = {{ range = {{ preceding = "1 minute" }} }}
[join.right]
from = "Right"
window = {{ range = {{ preceding = "1 minute" }} }}

[streams.Left]
{left}
time = "at"

[{kind}.Right]
{right}
time = "at"

[sinks.matched]
folder = "out"
"""
COLUMNS = 'columns = { id = "bigint", at = "timestamp" }'
ROWS = [(3, 4), (1, 0), (2, 2), (9, 3)]


@pytest.fixture
def folder(tmp_path):
    """A folder with a file whose rows do not stand in the order of their times."""
    lines = [f"{one},2026-03-02T12:00:{second:02}Z" for one, second in ROWS]
    (tmp_path / "rows.csv").write_text("\n".join(["id,at", *lines, "8,", ""]))
    return tmp_path


def write(folder, left, right, kind="streams", more=""):
    path = folder / "job.toml"
    text = JOB.format(left=left, right=right, kind=kind, more=more)
    path.write_text(f"{text}\n{SETTINGS}")
    return path


def opened(path):
    return jobs.prepared(read_job(path))


def ids(spark, folder):
    found = spark.read.parquet(str(folder / "out")).select("id").collect()
    return sorted(row.id for row in found)


def replayed(pace):
    return f'replay = "rows.csv"\npace = {pace}\n{COLUMNS}'


def test_a_job_of_replays_ends_with_their_last_rows(spark, folder):
    sides = [replayed(2), replayed('"fast"')]
    job = opened(write(folder, *sides))
    assert (job.goes_on, job.takes_time, job.finish) == (False, True, True)
    with runs.outcome_of(spark, job) as outcome:
        outcome.run(lambda *_: None, Event())
    assert ids(spark, folder) == [1, 2, 3, 9]


@pytest.mark.wide
@pytest.mark.timeout(1200)
def test_a_replay_is_killed_and_goes_on_where_its_clock_stood(spark, folder):
    side = replayed(0.5)
    more = 'checkpoint = "state"\nfinish = {}'
    write(folder, side, side, more=more.format("true"))
    with Process(folder) as running:
        running.wait_until(lambda: len([*folder.glob("out/batch=*")]) > 1)
        running.die()
    write(folder, side, side, more=more.format("true"))
    with runs.outcome_of(spark, opened(folder / "job.toml")) as outcome:
        outcome.run(lambda *_: None, Event())
    assert ids(spark, folder) == [1, 2, 3, 9]


@pytest.mark.parametrize("kind", ["TIMESTAMP", "TIMESTAMP_NTZ"])
def test_each_row_of_a_replay_comes_once_in_the_order_of_time(spark, kind):
    text = ", ".join(
        f"({it}, '2026-03-02 12:00:{at:02}')" for it, at in [*ROWS, (7, 4)]
    )
    rows = spark.sql(
        f"SELECT col1 AS id, CAST(col2 AS {kind}) AS at FROM VALUES {text}"
    )
    rows = rows.union(spark.sql(f"SELECT 8, CAST(NULL AS {kind})"))
    came = []

    def look(batch, _):
        came.append([row.id for row in batch.collect()])

    played = dt.replay(rows, time="at", pace=4)
    assert played.columns == ["id", "at"]
    query = played.writeStream.foreachBatch(look)
    query.trigger(availableNow=True).start().awaitTermination()
    # The first of them and what has no time come at once.
    assert sorted(came[0]) == [1, 8]
    assert sorted(one for batch in came for one in batch) == [1, 2, 3, 7, 8, 9]
    times = dict([*ROWS, (7, 4), (8, 0)])
    order = [one for batch in came for one in sorted(times[it] for it in batch)]
    assert order == sorted(order)


def test_of_an_empty_table_a_replay_has_no_rows(spark):
    rows = spark.createDataFrame([], "id int, at timestamp")
    came = []
    query = dt.replay(rows, time="at").writeStream
    query = query.foreachBatch(lambda batch, _: came.extend(batch.collect()))
    query.trigger(availableNow=True).start().awaitTermination()
    assert came == []


def test_a_data_base_is_a_table(spark, folder):
    # Spark ships this one, which else has a log in the folder where it runs.
    system = spark.sparkContext._jvm.System  # noqa: SLF001 - nobody else sets it
    system.setProperty("derby.stream.error.file", "/dev/null")
    url = f"jdbc:derby:memory:{folder.name}"
    rows = spark.read.schema("id BIGINT, at TIMESTAMP").option("header", "true")
    into = rows.csv(str(folder / "rows.csv")).where("at IS NOT NULL").write
    into.format("jdbc").options(url=f"{url};create=true", dbtable="moments").save()
    left = f'file = "rows.csv"\n{COLUMNS}'
    right = f'jdbc = "{url}"\ntable = "moments"\n{COLUMNS}'
    job = opened(write(folder, left, right, kind="datasets"))
    with runs.outcome_of(spark, job) as outcome:
        outcome.run(lambda *_: None, Event())
    assert ids(spark, folder) == [1, 2, 3, 9]


def test_a_rate_goes_on_until_it_is_stopped(spark, folder):
    side = "rate = 20"
    path = write(folder, side, side, more='checkpoint = "state"')
    text = path.read_text().replace('.id"', '.value"').replace('"at"', '"timestamp"')
    path.write_text(text)
    stop = Event()

    def told(_, seen):
        if seen.progress.matched > 20:
            stop.set()

    job = opened(path)
    assert job.goes_on
    with runs.outcome_of(spark, job) as outcome:
        outcome.run(told, stop)
    found = ids(spark, folder)
    # A number a row, and of none more than one.
    assert found == [*range(len(found))]
    assert len(found) > 20


LACKS = [
    ('format = "delta"\npath = "t"', "delta", "io.delta:delta-spark_2.13"),
    ('format = "iceberg"\npath = "a.b"', "iceberg", "org.apache.iceberg:iceberg-s"),
    ('format = "dleta"\npath = "t"', "dleta", "that brings it"),
    ('jdbc = "jdbc:mysql://host/base"\ntable = "t"', "jdbc:mysql", "com.mysql:mysql"),
    ('jdbc = "jdbc:odd:base"\ntable = "t"', "jdbc:odd", "that brings it"),
    ('format = "csv"\npath = "s3a://b/in"', "s3a", "org.apache.hadoop:hadoop-aws"),
    ('format = "csv"\npath = "nosuch://b/in"', "nosuch", "that brings it"),
]


@pytest.mark.parametrize(("right", "what", "package"), LACKS, ids=lambda it: it[-9:])
def test_what_spark_lacks_is_told_with_its_package(spark, folder, right, what, package):
    left = f'file = "rows.csv"\n{COLUMNS}'
    job = opened(write(folder, left, f"{right}\n{COLUMNS}", kind="datasets"))
    with pytest.raises(EngineError) as caught, runs.outcome_of(spark, job):
        pass
    assert caught.value.found == f'this Spark has nothing that reads "{what}"'
    assert f"the package {package}" in caught.value.expected
    assert '"spark.jars.packages" in [spark]' in caught.value.hint


@pytest.mark.parametrize(
    ("path", "why"),
    [("hdfs://127.0.0.1:1/in", "ConnectException: "), ("gone", "Path does not exist")],
    ids=["host", "path"],
)
def test_what_spark_does_not_read_is_told(spark, folder, path, why):
    right = f'format = "csv"\npath = "{path}"\n{COLUMNS}'
    left = f'file = "rows.csv"\n{COLUMNS}'
    job = opened(write(folder, left, right, kind="datasets"))
    refused = pytest.raises(EngineError, match=f'Spark does not read ".*{path}": {why}')
    with refused as caught, runs.outcome_of(spark, job):
        pass
    assert "An error occurred while" not in caught.value.found


def test_paths_may_be_addresses_of_files(spark, folder):
    (folder / "data").mkdir()
    (folder / "rows.csv").rename(folder / "data/rows.csv")
    left = f'file = "file://{folder}/data/rows.csv"\n{COLUMNS}'
    right = f'format = "csv"\npath = "file:{folder}/data"\n{COLUMNS}'
    right += "\noptions = { header = true }"
    kept = f'trigger = "available"\ncheckpoint = "file:{folder}/state"'
    path = write(folder, left, right, more=kept)
    path.write_text(path.read_text().replace('"out"', f'"file://{folder}/out"'))
    refused = pytest.raises(EngineError, match="Schema must be specified")
    with refused as caught, runs.outcome_of(spark, opened(path)):
        pass
    assert '"spark.sql.streaming.schemaInference" = true in' in caught.value.hint
    spark.conf.set("spark.sql.streaming.schemaInference", "true")
    try:
        for _ in range(2):
            job = opened(path)
            with job_alone(job.job), runs.outcome_of(spark, job) as outcome:
                outcome.run(lambda *_: None, Event())
    finally:
        spark.conf.unset("spark.sql.streaming.schemaInference")
    assert ids(spark, folder)
    found = {it.name for it in folder.iterdir()}
    assert found == {"data", "state", "out", path.name}


def test_a_script_of_a_replay_plays_it(folder):
    path = write(folder, replayed(3), replayed(3))
    text = path.read_text()
    start, end = text.index("[join]"), text.index("[streams.Left]")
    said = (
        "SELECT STREAM l.id FROM Left OVER (RANGE INTERVAL '1' MINUTE PRECEDING) AS l "
        "JOIN Right OVER (RANGE INTERVAL '1' MINUTE PRECEDING) AS r ON l.id = r.id"
    )
    path.write_text(f'text = "{said}"\n{text[:start]}{text[end:]}')
    script = jobs.script_of(opened(path))
    ast.parse(script)
    assert script.count("rows = dt.replay(rows, time='at', pace=3)") == 2
    assert "spark.read.format('csv')" in script
