"""Programs on files run on Spark as they do without it; their scripts run alone."""

import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import dovetail as dt
from dovetail.api.programs import explained_by
from dovetail.bind.files.columns import fitted
from dovetail.bind.files.frames import frame, misfits_told
from dovetail.bind.files.names import Root
from dovetail.cli.main import app
from dovetail.engines.spark.rules import plain_rules
from dovetail.engines.tables import plain_rows
from tests.bind.files.files import BAD, GOOD, given, write

PROGRAM = """\
people := DATASET('~hr::people', {INTEGER id, STRING10 name}, CSV);
Pet := RECORD INTEGER owner; STRING name; SET OF STRING tags; END;
pets := DATASET('pets', Pet, THOR);
OUTPUT(JOIN(people, pets, LEFT.id = RIGHT.owner, TRANSFORM(
  {STRING name, STRING pet, DECIMAL5_2 weight, SET OF STRING tags, DATA mark},
  SELF.pet := RIGHT.name, SELF.weight := LEFT.id / 4, SELF.tags := RIGHT.tags,
  SELF.mark := x'00ff', SELF := LEFT), LEFT OUTER, LOOKUP, MANY), NAMED('pets'));
OUTPUT(people(id > 1));
OUTPUT(visits, {owner, at});
"""
LIMITED = """\
pets := DATASET('pets', {INTEGER owner, STRING name});
OUTPUT(JOIN(pets, pets, LEFT.owner = RIGHT.owner, LIMIT(1, FAIL(99, 'too many'))));
"""
SPARK = pytest.mark.usefixtures("spark")
PETS = [{"owner": 1, "name": "Rex "}, {"owner": 1, "name": "Tib", "tags": ["a", "b"]}]


def rows(found):
    return [tuple(row.values()) for row in plain_rows(found.toArrow())]


@pytest.fixture
def data(tmp_path):
    """A folder with a file of each format, one of them in parts."""
    folder = tmp_path / "data"
    (folder / "HR" / "People").mkdir(parents=True)
    for number, text in enumerate(["Id,Name\n1,Rita\n", "Id,Name\n3,\n2,Tom\n"]):
        (folder / "HR" / "People" / f"part-{number}.csv").write_text(text)
    (folder / "pets.json").write_text(json.dumps(PETS))
    visits = pa.table({"Owner": [2, None], "at": ["noon ", "late"]})
    pq.write_table(visits, folder / "visits.parquet")
    return folder


def run(folder, text, *options):
    """Runs the command on a program in the folder beside its files."""
    program = folder.parent / "program.ecl"
    program.write_text(text)
    words = ["run", str(program), "--files", str(folder), *options]
    return CliRunner().invoke(app, words)


@pytest.mark.parametrize("case", GOOD, ids=lambda case: case.name)
def test_spark_reads_a_file_as_it_is_declared(spark, tmp_path, case):
    write(tmp_path, case)
    with plain_rules(spark):
        found = frame(spark, fitted(Root.of(tmp_path), given(case)))
        assert rows(found) == case.rows


@pytest.mark.parametrize("case", BAD, ids=lambda case: case.name)
def test_spark_stops_at_a_value_that_does_not_fit(spark, tmp_path, case):
    write(tmp_path, case)
    with pytest.raises(dt.SchemaError) as error, plain_rules(spark), misfits_told():
        frame(spark, fitted(Root.of(tmp_path), given(case))).toArrow()
    assert case.says in error.value.found
    assert case.name in error.value.found
    assert case.expected in error.value.expected


@SPARK
def test_a_broken_row_of_json_is_told_with_its_file(tmp_path):
    (tmp_path / "a.json").write_text('{"id":1}\n' * 2000 + '{"id":\n')
    with pytest.raises(dt.SchemaError, match=r"a\.json"), misfits_told():
        dt.ecl("OUTPUT(DATASET('a', {INTEGER id}));", tmp_path)["Result 1"].toArrow()


@SPARK
def test_both_engines_print_the_same(data):
    found = run(data, PROGRAM)
    assert found.exit_code == 0, found.stderr
    assert found.stdout == run(data, PROGRAM, "--engine", "local").stdout


@pytest.mark.parametrize("written", ["json", "parquet"])
@SPARK
def test_what_is_written_is_read_again(data, written):
    out = data / "out"
    found = run(data, PROGRAM, "--output", str(out), "--format", written)
    assert found.exit_code == 0, found.stderr
    first = dt.ecl(PROGRAM, data)
    again = dt.ecl(
        "OUTPUT(DATASET('~out::pets', {STRING name, STRING pet, DECIMAL5_2 weight, "
        "SET OF STRING tags, DATA mark}), NAMED('pets'));",
        data,
    )
    assert rows(again["pets"]) == rows(first["pets"])


@SPARK
def test_texts_are_the_same_after_csv(data):
    texts = ['say "hi", you', "two\nlines", " blank before", "", "nothing"]
    values = ", ".join(f"{{{number}, {text!r}}}" for number, text in enumerate(texts))
    program = f"d := DATASET([{values}], {{INTEGER n, STRING t}});\nOUTPUT(d);"
    program = program.replace('"say', "'say").replace("\\n", "\\n")
    out = data / "out"
    found = run(data, program, "--output", str(out), "--format", "csv")
    assert found.exit_code == 0, found.stderr
    again = dt.ecl("OUTPUT(DATASET('~out::Result 1', {INTEGER n, STRING t}));", data)
    assert sorted(rows(again["Result 1"])) == [*enumerate(texts)]


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        (LIMITED, 1, "dovetail run: 99: too many\nhint: the left row of the key 1"),
        (
            "OUTPUT(DATASET('pets', {INTEGER name}));",
            2,
            '"name" has "Rex"; expected big',
        ),
        ("OUTPUT(nobody);", 2, "line 1, column 8: nothing"),
    ],
)
@SPARK
def test_what_fails_is_a_sentence(data, text, code, says):
    found = run(data, text)
    assert (found.exit_code, found.stdout.count("Traceback")) == (code, 0)
    assert says in found.stderr
    assert "Traceback" not in found.stderr


def test_sources_may_be_frames_and_paths(spark, data):
    people = spark.createDataFrame(
        [("2", "Tom  "), (" 7 ", None)], "ID STRING, name STRING"
    )
    found = dt.ecl(
        "OUTPUT(JOIN(DATASET('~hr::people', {INTEGER id, STRING name}), pets,"
        " LEFT.id = RIGHT.owner, TRANSFORM({STRING name, STRING at},"
        " SELF.at := RIGHT.at, SELF := LEFT), LEFT OUTER, LOOKUP));",
        {"HR::People": people, "pets": data / "visits.parquet"},
    )
    assert rows(found["Result 1"]) == [("Tom", "noon"), ("", "")]


def test_a_value_of_a_frame_that_does_not_fit_stops_the_job(spark):
    people = spark.createDataFrame([("x",)], "id STRING")
    found = dt.ecl("OUTPUT(DATASET('people', {INTEGER id}));", {"people": people})
    with pytest.raises(dt.SchemaError) as error, misfits_told():
        found["Result 1"].toArrow()
    assert error.value.found == 'the input "people": the column "id" has "x"'


def test_a_frame_has_the_sizes_that_the_text_declares(spark):
    text = "OUTPUT(DATASET('people', {STRING3 name, UNSIGNED2 n}));"
    people = spark.createDataFrame([("Rebecca", 65535)], "name STRING, n BIGINT")
    assert rows(dt.ecl(text, {"people": people})["Result 1"]) == [("Reb", 65535)]
    beyond = spark.createDataFrame([("Rebecca", -1)], "name STRING, n BIGINT")
    found = dt.ecl(text, {"people": beyond})
    with pytest.raises(dt.SchemaError) as error, misfits_told():
        found["Result 1"].toArrow()
    assert error.value.found == 'the input "people": the column "n" has "-1"'
    assert error.value.expected == "UNSIGNED2, from 0 to 65535"


@SPARK
def test_both_engines_cut_the_texts_of_a_file(data):
    text = "OUTPUT(DATASET('~hr::people', {UNSIGNED1 id, STRING2 name}));"
    found = run(data, text)
    assert "Ri" in found.stdout
    assert "Rita" not in found.stdout
    assert found.stdout == run(data, text, "--engine", "local").stdout


@SPARK
def test_a_notebook_shows_the_first_rows_and_what_went_wrong(data):
    found = dt.ecl(
        LIMITED + "OUTPUT(DATASET([{1, '<b>'}], {INTEGER n, STRING t}), NAMED('ok'));",
        data,
    )
    assert list(found) == ["Result 1", "ok"]
    shown = found._repr_html_()
    assert "<pre>99: too many\nhint: the left row of the key 1" in shown
    assert "<th>n</th><th>t</th></tr>\n<tr><td>1</td><td>&lt;b&gt;</td></tr>" in shown


INDEXED = """\
pets := DATASET('pets', {INTEGER owner, STRING name});
by_owner := INDEX(pets, {owner}, {name}, '~keys::by_owner');
"""


@SPARK
def test_an_index_is_written_into_the_folder_and_read_by_later_programs(data):
    people = "people := DATASET([{1}, {5}], {INTEGER id});\n"
    joined = "OUTPUT(JOIN(people, by_owner, LEFT.id = RIGHT.owner), NAMED('found'));"
    built = run(data, f"{INDEXED}BUILD(by_owner);\nOUTPUT(pets(FALSE), NAMED('none'));")
    assert built.exit_code == 0, built.stderr
    assert (data / "keys" / "by_owner").is_dir()
    (data / "pets.json").write_text(json.dumps([{"owner": 5, "name": "New"}]))
    found = run(data, f"{people}{INDEXED}{joined}")
    assert found.exit_code == 0, found.stderr
    assert ("Tib" in found.stdout, "New" in found.stdout) == (True, False)


LOOKED_UP = """\
people := DATASET('~hr::people', {INTEGER id, STRING10 name}, CSV);
pets := DATASET('pets', {INTEGER owner, STRING name});
OUTPUT(JOIN(people, pets, LEFT.id = RIGHT.owner, MANY LOOKUP), NAMED('many'));
"""


def test_a_right_side_that_does_not_fit_is_refused_before_the_job(spark, data):
    spark.conf.set("spark.dovetail.broadcastLimit", "20")
    try:
        found = run(data, LOOKED_UP)
        assert (found.exit_code, found.stdout) == (1, "")
        assert "the right side of JOIN in line 3, inner has" in found.stderr
        assert "expected at most 20 bytes, as spark.dovetail.broadcastLimit" in (
            found.stderr
        )
        assert "hint: SMART in place of LOOKUP" in found.stderr
        assert run(data, LOOKED_UP.replace("MANY LOOKUP", "SMART")).exit_code == 0
        pets = spark.read.parquet(str(data / "visits.parquet"))
        frames = {
            "hr::people": pets.toDF("id", "name"),
            "pets": pets.toDF("owner", "name"),
        }
        with pytest.raises(dt.EngineError, match="too much to be broadcast"):
            dt.ecl(LOOKED_UP, frames)
        # What Spark only guesses is no reason to refuse.
        frames["pets"] = frames["pets"].where("owner > 0")
        assert rows(dt.ecl(LOOKED_UP, frames)["many"]) == [(2, "noon", 2)]
    finally:
        spark.conf.unset("spark.dovetail.broadcastLimit")


@SPARK
@pytest.mark.parametrize("options", [["--plan"], ["--files"]])
def test_explain_tells_sparks_plan_with_files_and_without(data, options):
    program = data.parent / "program.ecl"
    program.write_text(LOOKED_UP)
    given = ["--files", str(data)] if options == ["--files"] else options
    found = CliRunner().invoke(app, ["explain", str(program), *given])
    assert found.exit_code == 0, found.stderr
    assert "Spark's plan of many\n" in found.stdout
    joined = (
        "join by id = owner, inner; the right side is broadcast (BroadcastHashJoin)"
    )
    assert joined in found.stdout
    scanned = "read json pets.json" if options == ["--files"] else "rows that are given"
    assert scanned in found.stdout


@SPARK
@pytest.mark.parametrize(
    ("option", "name"),
    [
        ("HASH", "ShuffledHashJoin"),
        ("NOSORT", "SortMergeJoin"),
        ("SKEW(0.1)", "SortMergeJoin"),
        ("PARTITION RIGHT", "SortMergeJoin"),
        ("LOOKUP", "BroadcastHashJoin"),
    ],
)
def test_an_option_becomes_the_join_that_it_says(data, option, name):
    text = LOOKED_UP.replace("MANY LOOKUP", option)
    assert name in explained_by(dt.ecl(text, data)["many"])


@SPARK
def test_the_script_of_a_program_gives_the_rows_of_its_run(data):
    text = data.parent / "program.ecl"
    text.write_text(PROGRAM)
    words = ["translate", str(text), "--files", str(data)]
    (data.parent / "sales.py").write_text(CliRunner().invoke(app, words).stdout)
    alone = (
        "import json, sales\n"
        "from pyspark.sql import SparkSession\n"
        "spark = SparkSession.builder.master('local[1]')"
        ".config('spark.ui.enabled', False).getOrCreate()\n"
        "found = sales.program(spark, sales.files(spark))\n"
        "print(json.dumps({name: [repr(tuple(row)) for row in rows.collect()]"
        " for name, rows in found.items()}))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", alone],
        cwd=data.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    expected = {
        name: [repr(tuple(row)) for row in found.collect()]
        for name, found in dt.ecl(PROGRAM, data).items()
    }
    assert json.loads(done.stdout.splitlines()[-1]) == expected
