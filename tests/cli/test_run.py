"""`dovetail run` carries out a program on files, and prints or writes its outputs."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from dovetail.cli.main import app

PROGRAM = """\
people := DATASET('~hr::people', {INTEGER id, STRING10 name}, CSV);
Pet := RECORD INTEGER owner; STRING name; END;
pets := DATASET('pets', Pet, THOR);
OUTPUT(JOIN(people, pets, LEFT.id = RIGHT.owner,
  TRANSFORM({STRING name, STRING pet}, SELF.pet := RIGHT.name, SELF := LEFT),
  LEFT OUTER), NAMED('pets'));
OUTPUT(COUNT(people));
"""
LIMITED = """\
pets := DATASET('pets', {INTEGER owner, STRING name});
OUTPUT(JOIN(pets, pets, LEFT.owner = RIGHT.owner, LIMIT(1, FAIL(99, 'too many'))));
"""


@pytest.fixture
def folder(tmp_path):
    """A folder with the files of the programs above."""
    (tmp_path / "data" / "HR").mkdir(parents=True)
    (tmp_path / "data" / "HR" / "People.csv").write_text("ID,Name\n1,Rita\n2,Tom\n")
    pets = {"owner": [1, 1], "name": ["Rex", "Tib"]}
    pq.write_table(pa.table(pets), tmp_path / "data" / "pets.parquet")
    return tmp_path


@pytest.fixture
def run(folder):
    """Runs the command on a program with the local engine; options may follow."""

    def run(text, *options, name="program.ecl"):
        (folder / name).write_text(text)
        words = ["run", str(folder / name), "--files", str(folder / "data")]
        return CliRunner().invoke(app, [*words, "--engine", "local", *options])

    return run


def test_every_output_is_a_table(run):
    found = run(PROGRAM)
    assert (found.exit_code, found.stderr) == (0, "")
    assert [line.split() for line in found.stdout.splitlines() if line.strip(" ─")] == [
        ["pets"],
        ["name", "pet"],
        ["Rita", "Rex"],
        ["Rita", "Tib"],
        ["Tom"],
        ["Result", "2"],
        ["Result_2"],
        ["2"],
    ]


def test_a_table_says_that_it_is_not_all(run):
    found = run(PROGRAM, "--show", "1").stdout
    assert "the first 1 rows; --show N prints more" in found
    assert "Tib" not in found


READERS = {
    "json": lambda file: [json.loads(line) for line in file.read_text().splitlines()],
    "csv": lambda file: file.read_text().splitlines(),
    "parquet": lambda file: pq.read_table(file).to_pylist(),
}
ROWS = [
    {"name": "Rita", "pet": "Rex"},
    {"name": "Rita", "pet": "Tib"},
    {"name": "Tom", "pet": ""},
]


@pytest.mark.parametrize(
    ("written", "rows"),
    [
        ("json", ROWS),
        ("parquet", ROWS),
        ("csv", ["name,pet", "Rita,Rex", "Rita,Tib", "Tom,"]),
    ],
)
def test_outputs_are_written_under_their_names(run, folder, written, rows):
    out = folder / "out"
    found = run(PROGRAM, "--output", str(out), "--format", written)
    assert found.exit_code == 0
    assert READERS[written](out / f"pets.{written}") == rows
    assert [line.partition(":")[0] for line in found.stdout.splitlines()] == [
        "pets",
        "Result 2",
    ]


def test_outputs_can_be_written_where_one_is(run, folder, monkeypatch):
    monkeypatch.chdir(folder)
    assert run(PROGRAM, "--output", ".", "--format", "json").exit_code == 0
    assert READERS["json"](folder / "pets.json") == ROWS


def test_what_is_written_is_the_input_of_the_next_program(run, folder):
    out = folder / "data" / "next"
    run(PROGRAM, "--output", str(out), "--format", "csv")
    found = run("OUTPUT(DATASET('~next::pets', {STRING pet, STRING name}));")
    assert found.exit_code == 0
    assert "Tib" in found.stdout


def test_what_is_there_stays(run, folder):
    for code in (0, 2):
        found = run(PROGRAM, "--output", str(folder / "out"))
        assert found.exit_code == code
    assert "is there already" in found.stderr


def test_a_limit_that_fails_is_a_failed_run_with_the_users_words(run):
    found = run(LIMITED)
    assert found.exit_code == 1
    assert found.stderr == (
        "dovetail run: 99: too many\n"
        "hint: the left row of the key 1 has 2 candidates; at most 1\n"
    )


@pytest.mark.parametrize(
    ("text", "options", "says"),
    [
        ("OUTPUT(nobody);", [], 'line 1, column 8: nothing is named "nobody"'),
        ("OUTPUT(nobody);", [], "OUTPUT(nobody);\n       ^^^^^^"),
        ("OUTPUT(DATASET('hr::peple', {INTEGER id}));", [], 'mean "hr::people"?'),
        ("OUTPUT(DATASET('pets', {INTEGER own}));", [], 'has no column "own"'),
        ("OUTPUT(DATASET('pets', {INTEGER name}));", [], '"name" has "Rex"'),
        ("OUTPUT(DATASET('pets', {STRING name}, CSV));", [], "is written in parquet"),
        ("OUTPUT(DATASET('pets', {STRING name}, XML));", [], '"XML" of a file'),
        (PROGRAM, ["--master", "local[2]"], "--master with --engine local"),
        (PROGRAM, ["--format", "csv"], "--format without --output"),
        (PROGRAM, ["--show", "3", "--output", "."], "--show with --output"),
        (PROGRAM, ["--files", "nowhere"], '"nowhere" is no folder'),
        ("OUTPUT(DATASET([{[1]}], {SET OF INTEGER s}), NAMED('s'));", ["csv"], "json"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence(run, folder, text, options, says):
    if options == ["csv"]:
        options = ["--format", "csv", "--output", str(folder / "out")]
    found = run(text, *options)
    assert found.exit_code == 2
    assert found.stdout == ""
    assert found.stderr.startswith("dovetail run: ")
    assert says in found.stderr
    assert "Traceback" not in found.stderr


@pytest.mark.parametrize("text", ["", " \n\n", "// OUTPUT(1);", "/* nothing */"])
def test_a_text_without_a_statement_is_told(run, text):
    found = run(text)
    assert (found.exit_code, found.stdout) == (2, "")
    assert "the text has no statement; expected an action, as OUTPUT" in found.stderr


def test_a_text_of_definitions_alone_says_that_nothing_comes_out(run):
    found = run("a := 1;\nb := a + 1;\n")
    assert (found.exit_code, found.stdout) == (0, "")
    assert "nothing comes out: the text has no action" in found.stderr
    assert "nothing comes out" not in run("a := 1;\nOUTPUT(a);").stderr


def test_only_programs_are_run(run):
    found = run("[]", name="case.json")
    assert found.exit_code == 2
    assert (
        "ends in .ecl, .spl, .sql or .toml\nhint: dovetail check plays cases"
        in found.stderr
    )
    gone = CliRunner().invoke(app, ["run", "gone.ecl"])
    assert (gone.exit_code, "cannot be read" in gone.stderr) == (2, True)


def test_one_file_may_be_declared_in_two_ways(run):
    found = run(
        "OUTPUT(DATASET('pets', {STRING name}));"
        "OUTPUT(DATASET('PETS', {STRING owner, STRING NAME}));"
        "OUTPUT(DATASET('gone', {STRING name}, OPT), NAMED('none'));"
    )
    assert found.exit_code == 0, found.stderr
    words = found.stdout.split()
    assert (words.count("Rex"), words.count("1"), words.count("none")) == (2, 3, 1)


STORED = """\
pets := DATASET('pets', {INTEGER owner, STRING name});
OUTPUT(pets(name = 'Tib'),, '~out::tib', OVERWRITE);
OUTPUT(DATASET('~out::tib', {STRING name}), NAMED('again'));
"""


def test_an_output_into_a_file_is_written_where_outputs_are(run, folder):
    found = run(STORED, "--output", str(folder / "there"), "--format", "json")
    assert found.exit_code == 0, found.stderr
    stored = (folder / "there" / "out" / "tib.json").read_text()
    assert stored == '{"owner":1,"name":"Tib"}\n'
    assert (folder / "there" / "again.json").read_text() == '{"name":"Tib"}\n'


def test_decimals_are_numbers_of_json(run, folder):
    record = "{DECIMAL5_2 a, SET OF DECIMAL9_8 s}"
    text = f"OUTPUT(DATASET([{{1.50D, [0.00000001D]}}], {record}));"
    found = run(text, "--output", str(folder / "there"), "--format", "json")
    assert found.exit_code == 0, found.stderr
    stored = (folder / "there" / "Result 1.json").read_text()
    assert stored == '{"a":1.50,"s":[0.00000001]}\n'


def test_an_output_into_a_file_that_is_not_written_is_said(run):
    found = run(STORED)
    assert found.exit_code == 0, found.stderr
    note = 'note: the file "out::tib" is not written: --output says where\n'
    assert found.stderr == note


def test_an_output_and_a_file_of_one_name_are_refused(run, folder):
    text = STORED.replace("NAMED('again')", "NAMED('out::tib')")
    found = run(text, "--output", str(folder / "there"))
    assert found.exit_code == 2
    assert 'an output and a file are named "out::tib"' in found.stderr


SHOP = "EXPORT Shop := MODULE EXPORT pets := DATASET('pets', {INTEGER owner}); END;"


@pytest.mark.parametrize("options", [(), ("--modules", "{folder}")])
def test_a_program_imports_the_texts_beside_it_or_those_of_a_folder(
    run, folder, options
):
    (folder / "Shop.ecl").write_text(SHOP)
    words = [one.format(folder=folder) for one in options]
    found = run("IMPORT $; OUTPUT($.Shop.pets);", *words)
    assert found.exit_code == 0
    assert "owner" in found.stdout


def test_what_another_text_lacks_is_told_with_its_name(run, folder):
    (folder / "Shop.ecl").write_text("EXPORT Shop := nobody;")
    found = run("IMPORT $; OUTPUT($.Shop);")
    assert found.exit_code == 2
    assert 'Shop.ecl, line 1, column 16: nothing is named "nobody"' in found.stderr


def test_a_job_file_has_its_files_itself(tmp_path):
    words = ["run", str(tmp_path / "job.toml"), "--files", str(tmp_path)]
    found = CliRunner().invoke(app, words)
    assert found.exit_code == 2
    says = "--files or --modules with a job file; expected neither\nhint: file = "
    assert says in found.stderr
