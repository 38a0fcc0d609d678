"""Programs whose indexes lie on disk give the same rows, and read little of them."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

import dovetail as dt
from dovetail.cli.main import app
from dovetail.conformance.case import read_cases
from dovetail.conformance.check import Check
from dovetail.conformance.engines import EngineName, parse_split
from dovetail.dialects.ecl import translate
from dovetail.engines.spark_index.layout import Sizes
from dovetail.engines.spark_index.shelf import Shelf
from dovetail.engines.spark_program import frames
from dovetail.errors import DialectError, EngineError
from dovetail.schema import Schema

# An index of many files is written in each; a busy machine takes its time.
pytestmark = pytest.mark.timeout(1200)
CASES = Path(__file__).parents[1] / "cases" / "ecl_keyed.json"
ROWS = 20_000
INDEX = """
    i := INDEX(b, {k, w}, {n}, '~keys::By_K');
    a := DATASET([{7, 'x'}, {8255, 'x 1'}, {-1, ''}], {INTEGER k, STRING t});
"""
HALF = "OUTPUT(JOIN(a, i, LEFT.k = RIGHT.k, LEFT OUTER));"


@pytest.fixture
def base(spark):
    """Twenty thousand rows of the data set b, two for each key."""
    text = "pmod(id * 7919, 10000) AS k", "concat('x ', pmod(id, 3)) AS w", "id AS n"
    return spark.range(ROWS).selectExpr(*text)


@pytest.fixture
def shelf(tmp_path):
    return Shelf(str(tmp_path / "indexes"), Sizes(file=1000, group=100))


def outputs(spark, base, text, *shelf):
    """What a program on b and i puts out, output by output."""
    schemas = {"b": Schema.of(dict(base.dtypes))}
    found = frames(spark, translate(INDEX + text, schemas), {"b": base}, *shelf)
    return {name: list(map(tuple, one.collect())) for name, one in found.items()}


def test_a_built_index_is_read_where_left_rows_ask(spark, base, shelf):
    found = outputs(spark, base, f"BUILD(i); {HALF}", shelf)
    assert found == outputs(spark, base, HALF)
    assert len(found["Result 1"]) == 5
    [reading] = shelf.readings
    parts, of = reading.read.parts, reading.read.of
    assert reading.told() == (
        "JOIN in line 4, left outer: of the index keys::by_k "
        f"{parts.files} of {of.files} files and "
        f"{parts.groups} of {of.groups} row groups are read"
    )
    # Spark samples where files begin, so the two rows of a key may lie in two of them.
    assert 2 <= parts.files <= parts.groups <= 4
    assert of.files >= 19
    assert Path(shelf.folder, "keys", "by_k", "manifest").is_dir()


def test_an_index_that_is_there_is_read_by_a_later_program(spark, base, shelf):
    outputs(spark, base, "BUILD(i);", shelf)
    # An index is as it was built: rows that come to its source later are not in it.
    later = base.unionAll(spark.sql("SELECT 7L, 'new', -1L"))
    found = outputs(spark, later, HALF, shelf)
    assert found == outputs(spark, base, HALF)
    assert [2 <= one.read.parts.files <= 4 for one in shelf.readings] == [True]
    built = outputs(spark, later, f"BUILD(i, OVERWRITE); {HALF}", shelf)
    assert built == outputs(spark, later, HALF) != found


def test_all_keys_narrow_what_is_read(spark, base, shelf):
    both = "OUTPUT(JOIN(a, i, LEFT.k = RIGHT.k AND LEFT.t = RIGHT.w));"
    found = outputs(spark, base, f"BUILD(i); {both}", shelf)
    assert found == outputs(spark, base, both)
    payload = "OUTPUT(JOIN(a, i, LEFT.k = RIGHT.k AND RIGHT.n > 9000, LIMIT(1, SKIP)));"
    found = outputs(spark, base, payload, shelf)
    assert found == outputs(spark, base, payload) == {"Result 1": []}


def test_texts_are_found_without_their_trailing_blanks(spark, base, shelf):
    text = """
        texts := INDEX(b, {w}, {k, n}, '~texts');
        left := DATASET([{'x 1  '}], {STRING t});
        names := JOIN(left, texts, LEFT.t = RIGHT.w, KEEP(3));
    """
    blanks = base.selectExpr("k", "concat(w, '  ') AS w", "n")
    found = outputs(spark, blanks, f"{text} BUILD(texts); OUTPUT(names);", shelf)
    assert found == outputs(spark, blanks, f"{text} OUTPUT(names);")
    assert len(found["Result 1"]) == 3
    [reading] = shelf.readings
    assert reading.read.parts.files < reading.read.of.files


def test_the_rows_of_an_index_come_in_its_order(spark, base, shelf):
    text = "OUTPUT(i(k < 3)); OUTPUT(JOIN(i, a, LEFT.k = RIGHT.k, RIGHT ONLY));"
    found = outputs(spark, base, f"BUILD(i); {text}", shelf)
    assert found == outputs(spark, base, text)


def test_a_key_of_fewer_bytes_narrows_too(spark, base, shelf):
    text = """
        few := INDEX(b, {UNSIGNED4 key := k}, {n}, '~few');
        big := DATASET([{7}, {18446744073709551615}, {5000000000}], {UNSIGNED8 id});
        met := JOIN(big, few, LEFT.id = RIGHT.key, LEFT OUTER);
    """
    found = outputs(spark, base, f"{text} BUILD(few); OUTPUT(met);", shelf)
    assert found == outputs(spark, base, f"{text} OUTPUT(met);")
    assert len(found["Result 1"]) == 4
    assert [one.read.parts.groups <= 2 for one in shelf.readings] == [True]


def test_a_join_with_a_filtered_index_reads_little_of_it(spark, base, shelf):
    text = (
        "OUTPUT(JOIN(a, i(WILD(k), KEYED(w = 'x 1')), LEFT.k = RIGHT.k, LEFT OUTER));"
    )
    found = outputs(spark, base, f"BUILD(i); {text}", shelf)
    assert found == outputs(spark, base, text)
    assert len(found["Result 1"]) == 3
    assert [one.read.parts.groups <= 4 for one in shelf.readings] == [True]


FETCH = """
    OUTPUT(b,,'~base',OVERWRITE);
    f := DATASET('~base', {INTEGER k, UNSIGNED8 at {virtual(fileposition)}, INTEGER n});
    by_n := INDEX(f, {n, at}, '~by_n');
    OUTPUT(FETCH(f, by_n(n IN [5, 12430, 12431]), RIGHT.at));
    OUTPUT(FETCH(f, by_n(n IN [7]), RIGHT.at, TRANSFORM({INTEGER k, INTEGER m},
        SELF.k := LEFT.k; SELF.m := RIGHT.n + 1)));
"""


def test_a_fetch_of_few_rows_reads_few_files(spark, base, shelf):
    found = outputs(spark, base, f"{FETCH} BUILD(by_n);", shelf)
    assert found == outputs(spark, base, FETCH)
    assert [row[2] for row in found["Result 1"]] == [5, 12_430, 12_431]
    fetches = [one for one in shelf.readings if one.title.startswith("FETCH")]
    assert [one.file for one in fetches] == ["base", "base"]
    # Where a file begins Spark says by a sample, so neighbours may lie in two.
    some, one = (each.read.parts for each in fetches)
    assert 2 <= some.files <= some.groups <= 3
    assert (one.files, one.groups) == (1, 1)
    assert fetches[0].read.of.files >= 19


def test_building_anew_must_be_said(spark, base, shelf):
    outputs(spark, base, "BUILD(i);", shelf)
    with pytest.raises(EngineError, match="is there already") as error:
        outputs(spark, base, "BUILD(i);", shelf)
    assert error.value.hint == "OVERWRITE builds it anew"


def test_an_index_of_other_keys_is_not_the_one(spark, base, shelf):
    outputs(spark, base, "BUILD(i);", shelf)
    other = "o := INDEX(b, {w}, {k}, '~keys::by_k'); OUTPUT(o);"
    with pytest.raises(
        EngineError, match="is there with the keys k, key of w"
    ) as error:
        outputs(spark, base, other, shelf)
    assert "BUILD with OVERWRITE" in error.value.hint


FILES = """
    pets := DATASET('pets', {INTEGER owner, STRING10 pet}, CSV);
    by_owner := INDEX(pets, {owner}, {pet}, '~keys::by_owner');
    a := DATASET([{2}], {INTEGER id});
    found := JOIN(a, by_owner, LEFT.id = RIGHT.owner);
"""


@pytest.mark.usefixtures("spark")
def test_the_command_keeps_indexes_beside_its_files(tmp_path):
    data, program = tmp_path / "data", tmp_path / "program.ecl"
    data.mkdir()
    (data / "pets.csv").write_text("owner,pet\n2,Rex\n1,Tib\n2,Ace\n")
    program.write_text(f"{FILES} BUILD(by_owner); OUTPUT(found);")
    run = ["run", str(program), "--files", str(data)]
    first = CliRunner().invoke(app, run)
    assert (first.exit_code, "Rex" in first.stdout) == (0, True), first.stderr
    said = "of the index keys::by_owner all 1 files are read"
    assert said in first.stderr
    assert (data / "keys" / "by_owner" / "manifest").is_dir()
    second = CliRunner().invoke(app, run)
    assert second.exit_code != 0
    assert "is there already" in second.stderr
    (data / "pets.csv").write_text("owner,pet\n2,New\n")
    later = dt.ecl(f"{FILES} OUTPUT(found);", data)
    assert [row["pet"] for row in later["Result 1"].collect()] == ["Rex", "Ace"]
    assert said in " ".join(later.remarks)


READ = """
    by_owner := INDEX({INTEGER Owner}, {STRING10 pet}, '~keys::by_owner');
    OUTPUT(JOIN(DATASET([{2}], {INTEGER id}), by_owner, LEFT.id = RIGHT.owner));
"""


@pytest.mark.usefixtures("spark")
def test_an_index_without_a_data_set_is_what_was_built(base, tmp_path):
    # A folder whose name would find others, were it a pattern of names.
    data, program = tmp_path / "data[1]{b}*", tmp_path / "program.ecl"
    data.mkdir()
    (data / "pets.csv").write_text("owner,pet\n2,Rex\n1,Tib\n2,Ace\n")
    program.write_text(READ)
    build = """
        pets := DATASET('pets', {INTEGER owner, STRING10 pet}, CSV);
        BUILD(pets, {owner}, {pet}, '~Keys::by_owner');
    """
    same = [tuple(row) for row in dt.ecl(build + READ, data)["Result 1"].collect()]
    assert same == [(2, 2, "Rex"), (2, 2, "Ace")]
    (data / "pets.csv").unlink()
    found = CliRunner().invoke(app, ["run", str(program), "--files", str(data)])
    assert (found.exit_code, "Ace" in found.stdout) == (0, True), found.stderr
    planned = CliRunner().invoke(app, ["explain", str(program), "--files", str(data)])
    assert (planned.exit_code, "plan of Result 1" in planned.stdout) == (0, True)
    later = dt.ecl(READ, {"b": base}, indexes=str(data))
    assert [tuple(row) for row in later["Result 1"].collect()] == same
    with pytest.raises(DialectError, match='index "keys::by_owner"'):
        dt.ecl(READ, {"b": base})


def test_dataframes_may_have_a_folder_for_indexes(base, tmp_path):
    sources, text = {"b": base}, f"{INDEX} BUILD(i); {HALF}"
    plain = dt.ecl(text, sources)["Result 1"].collect()
    found = dt.ecl(text, sources, indexes=str(tmp_path / "kept"))
    assert found["Result 1"].collect() == plain
    assert (tmp_path / "kept" / "keys" / "by_k").is_dir()


@pytest.mark.usefixtures("spark")
@pytest.mark.parametrize("case", read_cases([CASES]), ids=lambda case: case.name)
def test_cases_with_indexes_on_disk(shelf, monkeypatch, case):
    plain = frames

    def kept(spark, program, inputs):
        return plain(spark, program, inputs, shelf)

    monkeypatch.setattr("dovetail.conformance.spark_program.frames", kept)
    (verdict,) = Check(EngineName.BATCH, parse_split("whole")).verdicts([case])
    assert (verdict.status.value, verdict.reason) == ("ok", "")
