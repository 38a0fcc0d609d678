"""Programs in SPL on the command line, as far as no Spark is asked."""

import ast
import signal
from pathlib import Path

import pytest
from typer.testing import CliRunner

from dovetail.api.alone import job_alone
from dovetail.bind.jobs import read_job
from dovetail.cli.main import app
from dovetail.errors import DialectError
from tests.spl_examples import FOLDER, NAMES, expected

TEXT = """\
composite Main {
  graph
    stream<int32 k, rstring v> L = FileSource() { param file : "left.csv"; }
    stream<int32 k, int64 w> R = Beacon() {}
    stream<rstring v, int64 w> Out = Join(L; R) {
      window L : sliding, count(2); R : sliding, count(0);
      param equalityLHS : L.k; equalityRHS : R.k;
    }
}
"""
JOB = '[streams.L]\nfile = "left.csv"\n[streams.R]\nfile = "right.csv"\n'


@pytest.fixture
def call(tmp_path):
    """Calls a command on the program above and a job file beside its data."""
    (tmp_path / "left.csv").write_text("k,v\n1,a\n")
    (tmp_path / "right.csv").write_text("k,w\n1,2\n")

    def call(command, job, *options, text=TEXT):
        (tmp_path / "join.spl").write_text(text)
        words = [command, str(tmp_path / "join.spl")]
        if job:
            (tmp_path / "job.toml").write_text(job)
            words.append(str(tmp_path / "job.toml"))
        return CliRunner().invoke(app, [*words, *options])

    return call


LOOKUP = "\n[lookups.{}]\nfile = 'left.csv'\nkey = 'k'\n"
UNBOUND = 'line 4, column 5: nothing is bound to the stream "R"'


@pytest.mark.parametrize(
    ("job", "options", "says"),
    [
        ("", (), UNBOUND),
        ("", (), 'nothing is bound to the stream "R", a Beacon'),
        ("", (), 'expected a job file with [streams.R] and file = ".."'),
        ("sequence = 'k'", (), 'expected [streams.R] with file = ".." in job.toml'),
        ("sequence = 'n'", (), 'L has no attribute "n"; expected one of k, v'),
        ("", (), "    stream<int32 k, int64 w> R = Beacon()"),
        ('time = "k"\n[streams.R]\nfile = "right.csv"', (), '"time" of job.toml, wh'),
        ("files = 'gone'", (), 'gone" is no folder'),
        (JOB, ("--output", "s3a://b/out"), "expected a folder on this machine"),
        (JOB, ("--files", "."), "--files or --modules with SPL"),
        ("[", (), 'job.toml" is no TOML'),
        ("[stream.L]", (), '"job.toml" has the key "stream"; expected one of'),
        (JOB + 'order = "n"\nfile2 = "x"', (), 'job.toml.streams.R" has the key "fil'),
        ("[streams.L]\n", (), '"job.toml.streams.L" does not say where'),
        ("[streams.L]\nfile = 3", (), '"job.toml.streams.L.file" is 3; expected a te'),
        ("[streams.LL]\nfile = 'left.csv'", (), '"job.toml.streams" names "LL"'),
        ("[streams.LL]\nfile = 'left.csv'", (), 'did you mean "L"?'),
        (JOB + "[sinks.Outt]\nfolder = 'a'", (), '"job.toml.sinks" names "Outt"'),
        (JOB + "[sinks.Outt]\nfolder = 'a'", (), "which does not come out of the text"),
        (JOB + "[sinks.Out]\nfolder = 'a'\nformat = 'xml'", (), "xml"),
        (LOOKUP.format("P"), (), 'lookups.P" of a program in SPL'),
        (JOB + LOOKUP.format("R"), (), 'a second input called "R"'),
        (LOOKUP.format("P") + "table = 'p'", (), 'job.toml.lookups.P" has the key "ta'),
        (JOB.replace("right", "gone"), (), "gone.csv"),
        (JOB.replace("right", "left"), (), 'has no column "w"'),
        (JOB, ("--engine", "local"), "--engine local with a program on streams"),
    ],
)
def test_what_is_wrong_is_told_before_spark_starts(call, job, options, says):
    found = call("run", job, *options)
    assert (found.exit_code, found.stdout) == (2, ""), found.stdout
    assert found.stderr.startswith("dovetail run: ")
    assert says in found.stderr


def test_a_file_of_the_text_that_is_not_there_is_told(call, tmp_path):
    found = call("run", "", text=TEXT.replace("left.csv", "gone.csv"))
    assert found.exit_code == 2
    says = f'a FileSource of the file "gone.csv"; expected a file "{tmp_path}/gone.csv"'
    assert says in found.stderr


def test_two_runs_do_not_share_a_checkpoint(call, tmp_path):
    (tmp_path / "job.toml").write_text('checkpoint = "state"\n' + JOB)
    job = read_job(tmp_path / "job.toml")
    with job_alone(job):
        ran = call("run", 'checkpoint = "state"\n' + JOB)
        assert ran.exit_code == 2
        assert "line 1, column 1" in ran.stderr
        assert "with which another run goes on now; expected one run at a" in ran.stderr
        # It is empty yet, and still held.
        with pytest.raises(DialectError), job_alone(job):
            pass
        assert (tmp_path / "state").is_dir()
    assert not (tmp_path / "state").exists()
    refused = pytest.raises(DialectError, match="another run")
    with job_alone(job), refused, job_alone(job):
        pass


@pytest.mark.usefixtures("call")
def test_a_checkpoint_that_is_no_folder_is_told_where_it_is_used(tmp_path):
    (tmp_path / "state").write_text("")
    (tmp_path / "job.toml").write_text('checkpoint = "state"\n' + JOB)
    with job_alone(read_job(tmp_path / "job.toml")):
        assert (tmp_path / "state").read_text() == ""


def test_a_job_file_that_is_not_there_is_told(tmp_path):
    (tmp_path / "join.spl").write_text(TEXT)
    words = ["run", str(tmp_path / "join.spl"), str(tmp_path / "gone.toml")]
    found = CliRunner().invoke(app, words)
    assert (found.exit_code, "cannot be read" in found.stderr) == (2, True)


def test_a_job_file_is_none_of_a_program_in_ecl(tmp_path):
    (tmp_path / "one.ecl").write_text("OUTPUT(1);")
    (tmp_path / "job.toml").write_text("")
    words = ["run", str(tmp_path / "one.ecl"), str(tmp_path / "job.toml")]
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 2
    assert 'job.toml" of a program in ECL; expected none\nhint: --f' in found.stderr


@pytest.mark.parametrize("command", ["run", "translate", "explain"])
def test_a_broken_text_is_told_with_a_caret(call, command):
    found = call(command, "", text=TEXT.replace("R.k;", "R.j;"))
    assert (found.exit_code, found.stdout) == (2, "")
    assert found.stderr.startswith(f"dovetail {command}: line 7, column ")
    assert "^" in found.stderr


def test_a_program_is_explained_without_spark(call):
    found = call("explain", "")
    assert found.exit_code == 0, found.stderr
    lines = [line.split() for line in found.stdout.splitlines()]
    assert lines[0] == ["join"]
    assert ["output", "Out:", "v,", "w"] in lines


@pytest.mark.parametrize("words", [["a.toml", "b.toml"], ["a.spl", "b.spl", "a.toml"]])
def test_a_job_file_goes_with_one_program(tmp_path, words):
    for word in words:
        (tmp_path / word).write_text("")
    paths = [str(tmp_path / word) for word in words]
    found = CliRunner().invoke(app, ["explain", *paths])
    assert found.exit_code == 2
    assert "expected one of each" in found.stderr


def functions(found):
    return [
        node.name
        for node in ast.parse(found.stdout).body
        if isinstance(node, ast.FunctionDef)
    ]


def test_without_files_a_script_is_a_function_of_its_streams(call):
    found = call("translate", "")
    assert found.exit_code == 0, found.stderr
    assert functions(found) == ["program"]
    assert "rows of dt.stream by the names L and R" in found.stdout


def test_with_files_a_script_reads_them_itself(call, tmp_path):
    found = call("translate", JOB)
    assert found.exit_code == 0, found.stderr
    assert functions(found) == ["inputs", "program", "show"]
    assert str(tmp_path / "left.cs[v]") in found.stdout


SECRETS = """\
checkpoint = "state"
[join]
type = "inner"
clock = "arrival"
hard = [["l.id", "r.id"]]
select = { id = "l.id" }
left = { from = "Left", window = { rows = 1 } }
right = { from = "Right", window = "forever" }

[streams.Left]
kafka = "orders"
servers = "localhost:9092"
columns = { id = "bigint" }
[streams.Left.options]
"kafka.sasl.jaas.config" = "Login required password=hunter2;"
"maxOffsetsPerTrigger" = 10

[datasets.Right]
jdbc = "jdbc:postgresql://host/shop?user=ann&password=hunter2"
table = "people"
columns = { id = "bigint" }
[datasets.Right.options]
password = "hunter2"

[sinks.matched]
kafka = "paid"
servers = "localhost:9092"
key = { id = "bigint" }
"""


def test_a_script_has_no_secret(tmp_path):
    (tmp_path / "job.toml").write_text(SECRETS)
    found = CliRunner().invoke(app, ["translate", str(tmp_path / "job.toml")])
    assert found.exit_code == 0, found.stderr
    assert functions(found) == ["inputs", "program", "show"]
    assert "hunter2" not in found.stdout
    assert found.stdout.startswith("import os\n")
    for name in ("KAFKA_SASL_JAAS_CONFIG", "URL", "PASSWORD"):
        assert f"os.environ['{name}']" in found.stdout
    assert "'maxOffsetsPerTrigger': '10'" in found.stdout


@pytest.mark.parametrize("name", NAMES)
def test_every_stream_of_an_example_has_rows(name):
    assert all(expected(name).values())


def test_examples_are_as_many_as_pages_say():
    assert NAMES == ["document", "market", "orders", "plant"]
    assert all(Path(FOLDER / f"{name}.toml").is_file() for name in NAMES)


@pytest.mark.parametrize(
    ("sink", "told"),
    [
        ("late", ("'late': dt.folder(", "'result': show")),
        ("error_stream", ("'error_stream': dt.folder(",)),
        ("lated", ('did you mean "late"?',)),
    ],
)
def test_late_rows_of_groups_in_sql_have_a_sink(tmp_path, sink, told):
    (tmp_path / "left.csv").write_text("at\n")
    (tmp_path / "job.toml").write_text(
        'text = "SELECT STREAM COUNT(*) AS n FROM L GROUP BY FLOOR(ROWTIME TO HOUR)"\n'
        'dialect = "sqlstream"\n[streams.L]\nfile = "left.csv"\ntime = "at"\n'
        f'columns = {{ at = "timestamp" }}\n[sinks.{sink}]\nfolder = "out"\n'
    )
    found = CliRunner().invoke(app, ["translate", str(tmp_path / "job.toml")])
    for one in told:
        assert one in found.stdout + found.stderr


def test_ctrl_c_while_spark_starts_is_told_in_a_sentence(call, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("dovetail.engines.spark_session.program_session", interrupted)
    found = call("run", f'{JOB}[sinks.Out]\nfolder = "out"\n')
    assert found.exit_code == 128 + signal.SIGINT
    assert "stopped at once: nothing has begun" in found.stderr
    assert "Traceback" not in found.stderr


def test_a_table_alone_is_planned_before_spark_starts(tmp_path):
    text = "INSERT INTO dear SELECT TABLE city, amount FROM rents WHERE amount > 1"
    (tmp_path / "rents.json").write_text('{"_key": "1", "city": "Ulm", "amount": 2}\n')
    (tmp_path / "job.toml").write_text(
        f"text = '{text}'\ndialect = 'lenses'\n"
        "[tables.rents]\nfile = 'rents.json'\nkey = '_key'\nstreams = true\n"
        "columns = { _key = 'string', city = 'string', amount = 'int' }\n"
    )
    found = CliRunner().invoke(app, ["translate", str(tmp_path / "job.toml")])
    assert found.exit_code == 0, (found.stderr, found.exception)
    assert "dear" in found.stdout


def test_a_table_made_of_another_is_planned_before_spark_starts(tmp_path):
    text = (
        "SELECT STREAM L.k, c.n FROM L JOIN (SELECT k, COUNT(*) AS n FROM P GROUP BY k)"
        " AS c ON c.k = L.k"
    )
    (tmp_path / "left.csv").write_text("at,k\n")
    (tmp_path / "people.csv").write_text("k\n")
    (tmp_path / "job.toml").write_text(
        f'text = "{text}"\ndialect = "sqlstream"\n[streams.L]\nfile = "left.csv"\n'
        'time = "at"\ncolumns = { at = "timestamp", k = "string" }\n'
        '[datasets.P]\nfile = "people.csv"\ncolumns = { k = "string" }\n'
        '[sinks.result]\nfolder = "out"\n'
    )
    found = CliRunner().invoke(app, ["translate", str(tmp_path / "job.toml")])
    assert (found.exit_code, found.stderr) == (0, "")
