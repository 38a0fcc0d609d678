"""Programs in SPL read the files that they name themselves, as streams of Spark."""

from decimal import Decimal

import pytest
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli.main import app
from dovetail.conformance.engines import EngineName
from dovetail.conformance.flows import FlowPlay
from dovetail.conformance.lines import MARK
from dovetail.dialects.spl import translate
from dovetail.errors import EngineError
from dovetail.spec import Arrive, Input, InputKind, givens_of
from tests.spark.processes import ran

SPARK = pytest.mark.usefixtures("spark")
TEXT = """\
composite Main {
  graph
    stream<rstring k, int32 n, list<int32> l> A = FileSource() {
      param file : "a.csv"; format : csv; hasHeaderLine : true;
    }
    stream<A> Later = Delay(A) { param delay : 1.5; }
    stream<int32 total, rstring last> Sums = Aggregate(Later) {
      window Later : tumbling, count(2);
      output Sums : total = Sum(n), last = Last(k);
    }
}
"""
LINES = 'k,n,l\n"a,b",1,[1,2]\nb,2,[]\nc,4,[3]\nd,8,[]\n'
JOINED = """\
composite Main {
  graph
    stream<uint8 k, int64 n> L = FileSource() { param file : "l.csv"; }
    stream<uint8 k, int64 n, timestamp t> R = FileSource() {
      param file : "deep/r.txt"; format : txt;
    }
    stream<int64 n, timestamp t> Out = Join(L; R) {
      window L : sliding, count(1), partitioned; R : sliding, count(0);
      param partitionByLHS : L.k; equalityLHS : L.k; equalityRHS : R.k;
      output Out : n = R.n;
    }
}
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with both programs and their data."""
    (tmp_path / "sums.spl").write_text(TEXT)
    (tmp_path / "a.csv").write_text(LINES)
    (tmp_path / "join.spl").write_text(JOINED)
    (tmp_path / "l.csv").write_text("1,1\n2,4\n")
    (tmp_path / "deep").mkdir()
    lines = "{k=1,n=2,t=(5,500000000,0)}\n{k=2,n=3,t=(6,0,0)}\n{k=2,n=5,t=(7,1,0)}\n"
    (tmp_path / "deep" / "r.txt").write_text(lines)
    return tmp_path


def run(folder, *words):
    return CliRunner().invoke(app, ["run", *(str(folder / one) for one in words)])


def written(folder, name):
    """The lines that a run has printed below a title."""
    found = run(folder, *name)
    assert found.exit_code == 0, found.stderr
    # It does what is said of it.
    assert "FileSource gives the rows" not in found.stderr
    return [line.split() for line in found.stdout.splitlines() if line.strip(" ─")]


@SPARK
def test_a_program_without_a_job_reads_its_file_in_the_order_of_lines(folder):
    rows = written(folder, ["sums.spl"])
    assert rows == [["Sums"], ["total", "last"], ["3", "b"], ["12", "d"]]
    rows = [
        {"k": "a,b", "n": 1, "l": [1, 2]},
        *({"k": k, "n": n, "l": []} for k, n in (("b", 2), ("c", 4), ("d", 8))),
    ]
    program = translate(TEXT, {}).program
    (given,) = givens_of(program)
    inputs = {"A": Input("A", InputKind.STREAM, given.schema)}
    play = FlowPlay(program, inputs, (), tuple(Arrive("A", row) for row in rows))
    lines = [it for it in play.lines(EngineName.ORACLE) if MARK not in it.facts]
    assert [it.row for it in lines] == [
        {"total": 3, "last": "b"},
        {"total": 12, "last": "d"},
    ]


@SPARK
def test_a_job_says_the_order_of_several_files(folder):
    (folder / "job.toml").write_text('sequence = "n"\n')
    rows = written(folder, ["join.spl", "job.toml"])
    assert sorted(rows[2:]) == [["2", "5.500000000"], ["5", "7.000000001"]]


def test_a_flow_reads_files_beside_streams_that_are_bound(spark, folder):
    (folder / "more").mkdir()
    frame = spark.createDataFrame([(1, 1), (2, 6)], "k smallint, n bigint")
    frame.write.mode("overwrite").parquet(str(folder / "more"))
    left = spark.readStream.schema(frame.schema).parquet(str(folder / "more"))
    bound = {"L": dt.stream(left, sequence="n")}
    flow = dt.spl(JOINED, bound, data=folder, sequence="n")
    queries = flow.write(
        {"Out": dt.folder(str(folder / "out"))},
        checkpoint=str(folder / "state"),
        trigger={"availableNow": True},
    )
    for query in queries:
        query.awaitTermination()
    found = spark.read.parquet(str(folder / "out")).select("n", "t").collect()
    assert [tuple(row) for row in found] == [(2, Decimal("5.5"))]


@SPARK
def test_without_an_order_two_files_are_refused(folder):
    found = run(folder, "join.spl")
    assert (found.exit_code, "Traceback" in found.stderr) == (2, False)
    assert "order_of_arrival: the left side has no order" in found.stderr


@SPARK
def test_a_line_that_does_not_fit_is_told_with_its_number(folder):
    (folder / "a.csv").write_text(LINES + "e,x,[]\n")
    found = run(folder, "sums.spl")
    assert (found.exit_code, "Traceback" in found.stderr) == (2, False)
    assert 'a.csv" has "x" in line 6; expected int32' in found.stderr


@SPARK
def test_what_a_line_lacks_is_that_of_the_default_tuple(folder):
    text = 'defaultTuple : {k = "?", n = 5 + 1, l = [9]}; parsing : permissive;'
    (folder / "sums.spl").write_text(TEXT.replace("format : csv;", text))
    (folder / "a.csv").write_text("k,n,l\na\nlost,x,[]\n,4,[3]\n")
    rows = written(folder, ["sums.spl"])
    assert rows[2:] == [["10", "?"]]


@pytest.mark.wide
@SPARK
def test_a_script_reads_what_its_run_reads(folder):
    (folder / "job.toml").write_text('sequence = "n"\n[sinks.Out]\nfolder = "out"\n')
    words = ["translate", str(folder / "join.spl"), str(folder / "job.toml")]
    done = ran(folder, CliRunner().invoke(app, words).stdout)
    assert done.returncode == 0, done.stderr
    import pyarrow.parquet as pq  # noqa: PLC0415 - read beside Spark

    assert pq.read_table(folder / "out").num_rows == 2


@SPARK
def test_a_sequence_without_files_is_refused():
    with pytest.raises(dt.SpecError, match="sequence"):
        dt.spl(TEXT, {"A": None}, sequence="n")


OWN = """\
stream<int32 k, int32 most> Limits = Beacon() {
  logic state : mutable int32 most = 5;
  param iterations : 3; period : 0.5;
  output Limits : k = (int32) IterationCount(), most = most++;
}
stream<rstring s, int32 k> A = FileSource() { param file : "a.csv"; }
stream<rstring s, int32 n> Numbered = Functor(A) {
  logic state : mutable int32 n = 0;
  output Numbered : n = n++;
}
stream<rstring s, int32 most> J = Join(A as L; Limits as R) {
  window L : sliding, count(0); R : sliding, count(1), partitioned;
  param equalityLHS : L.k; equalityRHS : R.k; partitionByRHS : R.k;
}
() as S = FileSink(Numbered) { param file : "numbered.txt"; format : txt; }
() as T = FileSink(J) { param file : "joined.csv"; }
"""


@SPARK
def test_a_program_counts_and_writes_itself(tmp_path):
    (tmp_path / "a.csv").write_text('"x,y",1\nz,2\n')
    flow = dt.spl(OWN, {}, data=tmp_path)
    how = {"checkpoint": tmp_path / "state", "trigger": {"availableNow": True}}

    def written():
        numbered = (tmp_path / "numbered.txt").read_text()
        joined = (tmp_path / "joined.csv").read_text()
        return numbered, sorted(joined.splitlines())

    for query in flow.write(**how):
        query.awaitTermination()
    once = '{s="x,y",n=0}\n{s="z",n=1}\n', ['"x,y",6', '"z",7']
    assert written() == once
    # All that the text itself reads has an end: there is nothing to go on with.
    with pytest.raises(EngineError, match="have ended"):
        flow.write(**how)
    assert written() == once
