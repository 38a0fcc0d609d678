"""Programs in SPL on files run as the definition says, and so do their scripts."""

import shutil
from collections import Counter
from dataclasses import replace
from threading import Event

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import dovetail as dt
from dovetail.api import jobs, runs
from dovetail.bind.files import Root
from dovetail.bind.files.columns import fitted
from dovetail.bind.files.frames import coming
from dovetail.bind.jobs import SPL, Text, read_job
from dovetail.cli.main import app
from dovetail.dialects.spl import translate
from dovetail.engines.spark.rules import plain_rules
from dovetail.engines.tables import plain_rows
from tests.bind.files.files import GOOD, given, write
from tests.spark.processes import ran
from tests.spl_examples import FOLDER, NAMES, expected, text_of, told

SPARK = pytest.mark.usefixtures("spark")
TEXT = """\
composite Main {
  graph
    stream<int32 k, rstring v> L = FileSource() { param file : "left.csv"; }
    stream<int32 k, uint8 w> R = Beacon() {}
    stream<rstring v, uint8 w> Out = Join(L; R) {
      window L : sliding, count(1), partitioned; R : sliding, count(0);
      param partitionByLHS : L.k; equalityLHS : L.k; equalityRHS : R.k;
    }
    stream<L> First = Filter(L) { param filter : k == 1; }
}
"""
ORDERED = """\
[streams.L]
file = "left"
sequence = "n"

[streams.R]
file = "right"
sequence = "n"

[sinks.Out]
folder = "out"
format = "json"
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with the program above, its job file, and the files of its streams."""
    (tmp_path / "join.spl").write_text(TEXT)
    (tmp_path / "job.toml").write_text(f'checkpoint = "state"\n{ORDERED}')
    for side in ("left", "right"):
        (tmp_path / side).mkdir()
    (tmp_path / "left" / "one.csv").write_text("n,k,v\n1,1,a \n4,2,\n5,1,c\n")
    lines = '{"n":2,"k":1,"w":7}\n{"n":3,"k":2,"w":8}\n{"n":6,"k":1,"w":9}\n'
    (tmp_path / "right" / "one.jsonl").write_text(lines)
    return tmp_path


def call(folder, command="run", *options, job="job.toml"):
    words = [command, str(folder / "join.spl"), str(folder / job), *options]
    return CliRunner().invoke(app, words)


def written(spark, place, schema="v string, w smallint"):
    """The rows of all batches of a folder."""
    found = spark.read.schema(schema).json(f"{place}/*")
    return sorted(map(tuple, found.collect()), key=repr)


def test_what_is_there_is_read_and_a_later_run_goes_on(spark, folder):
    found = call(folder)
    assert found.exit_code == 0, found.stderr
    assert f"Out: {folder / 'out'}" in found.stdout
    assert [line.split() for line in found.stdout.splitlines() if line.strip(" ─")][
        1:
    ] == [["First"], ["k", "v"], ["1", "a"], ["1", "c"]]
    assert "note: line 3: FileSource gives the rows of the input L" in found.stderr
    assert written(spark, folder / "out") == [("a ", 7), ("c", 9)]
    # The newest left row of each key is kept, the rows that were read are not again.
    (folder / "left" / "two.csv").write_text("n,k,v\n7,3,d\n")
    lines = '{"n":8,"k":3,"w":1}\n{"n":9,"k":2,"w":2}\n'
    (folder / "right" / "two.jsonl").write_text(lines)
    found = call(folder)
    assert found.exit_code == 0, found.stderr
    expected = [("", 2), ("a ", 7), ("c", 9), ("d", 1)]
    assert written(spark, folder / "out") == expected


@SPARK
def test_streams_are_files_of_a_folder_by_their_names(folder):
    (folder / "job.toml").write_text('files = "."\nsequence = "k"\n')
    (folder / "L.csv").write_text("1,a\n")
    pq.write_table(pa.table({"K": [1], "w": [7]}), folder / "r.parquet")
    found = call(folder, "run", "--output", str(folder / "all"), "--format", "csv")
    assert found.exit_code == 0, found.stderr
    texts = [path.read_text() for path in (folder / "all/First").rglob("part-*.csv")]
    assert "".join(texts) == "k,v\n1,a\n"


def test_a_folder_that_a_stream_would_read_several_times_is_refused(folder):
    place = folder / "one[1]"
    place.mkdir()
    (place / "L").mkdir()
    (place / "L" / "one.csv").write_text("n,k,v\n1,1,a\n")
    text = (folder / "job.toml").read_text()
    (folder / "job.toml").write_text(text.replace('"left"', '"one[1]/L"'))
    found = call(folder)
    assert found.exit_code == 2
    assert "has one of [ ] { } * ? in its path" in found.stderr
    assert "job.toml, line 2" in found.stderr


TWO = """\
checkpoint = "state"
finish = true
text = '''
composite Main {
  graph
    stream<int64 id, timestamp at> A = FileSource() { param file : "a.csv"; }
    stream<int64 id, timestamp at> B = FileSource() { param file : "b.csv"; }
    stream<int64 id> One = Join(A; B) {
      window A : sliding, time(5.0); B : sliding, time(5.0);
      param match : A.id == B.id; output One : id = A.id;
    }
    stream<int64 id> Two = Join(B; A) {
      window A : sliding, time(5.0); B : sliding, time(5.0);
      param match : A.id == B.id; output Two : id = B.id;
    }
}
'''
dialect = "spl"
streams.A = { file = "a.csv", time = "at" }
streams.B = { file = "b.csv", time = "at" }
sinks.One = { folder = "one" }
sinks.Two = { folder = "two" }
"""


def test_a_job_that_broke_between_two_ends_goes_on(spark, tmp_path):
    (tmp_path / "job.toml").write_text(TWO)
    for side, first in (("a", 0), ("b", 5)):
        lines = [f"{one},{1700000000 + one}" for one in range(first, first + 10)]
        (tmp_path / f"{side}.csv").write_text("\n".join(["id,at", *lines, ""]))

    def ended():
        found = CliRunner().invoke(app, ["run", str(tmp_path / "job.toml")])
        return found.exit_code, found.stderr

    def ids(name):
        rows = spark.read.parquet(str(tmp_path / name)).select("id").collect()
        return sorted(row.id for row in rows)

    assert ended()[0] == 0
    # As where it was killed in between: the one has ended, of the other nothing is.
    for name in ("state/Two", "two"):
        shutil.rmtree(tmp_path / name)
    status, told = ended()
    assert status == 0, told
    assert ids("one") == ids("two") == [5, 6, 7, 8, 9]
    status, told = ended()
    assert (status, "is of streams that have ended" in told) == (1, True), told


TIMED = """\
[streams.L]
file = "left.csv"
time = "at"

[streams.R]
file = "right.csv"
time = "k"
"""


@SPARK
def test_rows_in_order_of_their_times_wait_for_no_others_at_the_end(folder):
    (folder / "job.toml").write_text(TIMED)
    (folder / "left.csv").write_text("at,k,v\n1970-01-01T00:00:01Z,2,a\n")
    (folder / "right.csv").write_text("k,w\n2,7\n")
    found = call(folder)
    assert found.exit_code == 0, found.stderr
    assert ["a", "7"] in [line.split() for line in found.stdout.splitlines()]


@SPARK
def test_a_time_alone_is_one_of_1970(folder):
    (folder / "job.toml").write_text(TIMED)
    # What is of today would wait for the other side, which ends in 1970.
    (folder / "left.csv").write_text("at,k,v\n0:00:01,2,a\n")
    (folder / "right.csv").write_text("k,w\n2,7\n")
    found = call(folder)
    assert found.exit_code == 0, found.stderr
    assert ["a", "7"] in [line.split() for line in found.stdout.splitlines()]


@SPARK
def test_a_text_that_is_no_moment_is_told(folder):
    (folder / "job.toml").write_text(TIMED.replace('"at"', '"v"'))
    (folder / "left.csv").write_text("k,v\n2,noon\n")
    (folder / "right.csv").write_text("k,w\n2,7\n")
    found = call(folder)
    assert found.exit_code == 2, found.stdout
    assert 'the input "L": the column "v" has "noon"; expected a m' in found.stderr


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("3,x,a", 'one.csv": the column "k" has "x"; expected int'),
        ("3,,a", 'the column "k" has no value; expected int'),
    ],
)
@SPARK
def test_a_value_that_does_not_fit_is_told_with_its_file(folder, line, says):
    job = ORDERED.replace('"left"', '"left/one.csv"')
    (folder / "job.toml").write_text(job)
    (folder / "left" / "one.csv").write_text(f"n,k,v\n{line}\n")
    found = call(folder)
    assert found.exit_code == 2, found.stdout
    assert says in found.stderr
    # One sentence expects one thing, whatever else failed of it.
    assert found.stderr.count("expected") == 1
    assert "Traceback" not in found.stderr


@SPARK
def test_a_number_out_of_its_range_is_told(folder):
    (folder / "right" / "one.jsonl").write_text('{"n":2,"k":1,"w":256}\n')
    found = call(folder)
    assert found.exit_code == 2, found.stdout
    assert '"w" has "256"; expected uint8, from 0 to 255' in found.stderr


@SPARK
def test_a_program_with_its_job_is_explained_as_spark_runs_it(folder):
    found = call(folder, "explain")
    assert found.exit_code == 0, found.stderr
    assert "query  of First" in found.stdout
    assert "query  of Out" in found.stdout


@pytest.mark.wide
def test_a_script_gives_the_rows_of_its_run(spark, folder):
    done = ran(folder, call(folder, "translate").stdout)
    assert done.returncode == 0, done.stderr
    assert written(spark, folder / "out") == [("a ", 7), ("c", 9)]
    assert "|1  |a |" in done.stdout.replace("|a  |", "|a |")


AS_DATA = """\
{more}
[join]
type = "left_outer"
clock = "{clock}"
hard = [["l.k", "r.k"]]
select = {{ v = "l.v", w = "r.w" }}
left = {{ from = "L", window = {window} }}
right = {{ from = "R", window = {window} }}

[{part}.L]
file = "left"
columns = {{ n = "int", k = "int", v = "string" }}

[{part}.R]
file = "right"
columns = {{ n = "int", k = "int", w = "smallint" }}

[sinks.matched]
folder = "out"
format = "json"
"""


STREAMS = {"part": "streams", "clock": "arrival", "window": "{ rows = 3 }"}
BATCH = {"part": "datasets", "clock": "batch", "window": '"forever"'}
QUIET = '[spark]\n"spark.ui.enabled" = "false"'


@pytest.mark.parametrize(
    "how",
    [{**STREAMS, "more": f'sequence = "n"\n{QUIET}'}, {**BATCH, "more": QUIET}],
    ids=["streams", "batch"],
)
@pytest.mark.wide
def test_a_script_of_a_join_as_data_gives_the_rows_of_its_run(spark, folder, how):
    path = folder / "data.toml"
    path.write_text(AS_DATA.format(**how))
    runner = CliRunner()
    found = runner.invoke(app, ["run", str(path)])
    assert found.exit_code == 0, found.stderr
    expected = written(spark, folder / "out")
    assert len(expected) > 2
    (folder / "out").rename(folder / "before")
    done = ran(folder, runner.invoke(app, ["translate", str(path)]).stdout)
    assert done.returncode == 0, done.stderr
    assert written(spark, folder / "out") == expected


@pytest.mark.parametrize("name", NAMES)
def test_an_example_gives_the_rows_of_the_definition(spark, tmp_path, name):
    text, job = text_of(name)
    # Beside its own files: what is bound comes before what the text says.
    outputs = [one.name for one in translate(text, {}).program.outputs]
    into = {one: dt.folder(tmp_path / one) for one in outputs}
    job = replace(job, sinks={**into, **job.sinks})
    whole = jobs.prepared(replace(job, program=Text(text, SPL)))
    with runs.outcome_of(spark, whole) as outcome:
        outcome.run(lambda *_: None, Event())
        found = {
            it: Counter(map(told, outcome.first(it, 1000)[1])) for it in whole.outputs
        }
    assert found == expected(name)


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_a_stream_reads_a_file_as_a_batch_does(spark, tmp_path, case):
    write(tmp_path, case)
    if not (found := fitted(Root.of(tmp_path), given(case))).owns:
        return  # of an empty file nobody knows how it would be read
    with plain_rules(spark):
        rows = []
        query = coming(found).frame(spark, streams=True).writeStream
        query = query.foreachBatch(lambda batch, _: rows.append(batch.toArrow()))
        query.trigger(availableNow=True).start().awaitTermination()
        got = [tuple(row.values()) for table in rows for row in plain_rows(table)]
    assert sorted(got, key=repr) == sorted(case.rows, key=repr)


def test_job_files_of_examples_read_what_stands_beside_them():
    for name in NAMES:
        job = read_job(FOLDER / f"{name}.toml")
        assert all(one.origin.file.place.is_file() for one in job.inputs.values())
