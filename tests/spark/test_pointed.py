"""JOIN(few, file, .., KEYED(index)) reads of a file what its index points to."""

from shutil import copytree

import pytest

from dovetail.api.sources import IndexedCatalog, NamedSource
from dovetail.conformance.case import CaseData
from dovetail.conformance.engines import EngineName
from dovetail.conformance.programs import ecl_play
from dovetail.dialects.ecl import translate
from dovetail.engines.spark_index.layout import Sizes
from dovetail.engines.spark_index.reads import LEFT_ROWS
from dovetail.engines.spark_index.shelf import Shelf, readings_told
from dovetail.engines.spark_program import frames

SIZES = Sizes(file=40, group=10)
ROWS = 400
B = [
    # Three rows for most keys, and some without one: null is 0 in ECL.
    (None if n % 100 == 50 else 1 + n * 37 % 130, f"x {n % 7}{' ' * (n % 3)}", n)
    for n in range(ROWS)
]
# Keys that are there, one of them twice, one that is not, and one that is null.
A = [(5, "x 1"), (77, "x 2 "), (5, "x 9"), (-3, ""), (None, None)]
MET = sum((key or 0) in {5, 77, 0} for key, _, _ in B)
COLUMNS = {"a": "k BIGINT, t STRING", "b": "k BIGINT, w STRING, n BIGINT"}
TAKEN = "a := DATASET('a', {INTEGER k, STRING t}, THOR);"
WRITTEN = """
    b := DATASET('b', {INTEGER k, STRING w, INTEGER n}, THOR);
    OUTPUT(b,,'~base',OVERWRITE);
"""
FILE = """
    f := DATASET('~base', {INTEGER k, STRING w, INTEGER n,
                           UNSIGNED8 at {virtual(fileposition)}});
    by_k := INDEX(f, {K, w}, {UNSIGNED8 place := f.at}, '~by_k');
    some := INDEX(f(n > 9), {k, at}, '~some');
"""
BUILT = "BUILD(by_k); BUILD(some);"
JOINS = {
    "outer": "LEFT.k = RIGHT.k, LEFT OUTER, KEYED(by_k)",
    "both": "LEFT.k = RIGHT.k AND LEFT.t = RIGHT.w, KEYED(by_k)",
    "first": "LEFT.k = RIGHT.k, KEYED(by_k), KEEP(1)",
    "limited": "LEFT.k = RIGHT.k, LEFT OUTER, KEYED(by_k), LIMIT(3, SKIP)",
}
SOME = (
    "OUTPUT(JOIN(a, f(n > 200), LEFT.k = RIGHT.k, LEFT ONLY, KEYED(by_k)),"
    " NAMED('only'));"
)
TEXT = "".join(
    f"OUTPUT(JOIN(a, f, {rest}), NAMED('{name}'));" for name, rest in JOINS.items()
)


@pytest.fixture(scope="module")
def given(spark):
    rows = {"a": A, "b": B}
    return {name: spark.createDataFrame(rows[name], COLUMNS[name]) for name in rows}


@pytest.fixture(scope="module")
def shelf(spark, given, tmp_path_factory):
    """The file with its indexes, as a program before has left them."""
    found = Shelf(str(tmp_path_factory.mktemp("pointed") / "kept"), SIZES)
    made(spark, TAKEN + WRITTEN + FILE + BUILT, given, found)
    return found


def made(spark, text, given, shelf):
    """What a program puts out where indexes are kept."""
    shelf.readings.clear()
    catalog = IndexedCatalog(NamedSource(given), spark, shelf)
    return frames(spark, translate(text, catalog), given, shelf)


def oracles(text):
    """What the oracle says that a program puts out."""
    inputs = {
        "a": {"rows": [dict(zip("kt", row, strict=True)) for row in A]},
        "b": {"rows": [dict(zip("kwn", row, strict=True)) for row in B]},
    }
    found = {}
    played = ecl_play(text, CaseData(inputs, {}, (), has_events=False))
    for line in played.lines(EngineName.ORACLE):
        found.setdefault(line.facts["out"], []).append(tuple(line.row.values()))
    return found


def test_the_rows_are_the_oracles_and_few_files_are_read(spark, given, shelf):
    # The file lies there, so no rows of b are given.
    later = {"a": given["a"]}
    found = made(spark, TAKEN + FILE + TEXT + SOME, later, shelf)
    rows = {name: list(map(tuple, one.collect())) for name, one in found.items()}
    assert rows == oracles(TAKEN + WRITTEN + FILE + TEXT + SOME)
    assert all(rows[name] for name in (*JOINS, "only"))
    reads = [(one.kind, one.file, one.read) for one in shelf.readings]
    assert [one[:2] for one in reads] == [("index", "by_k"), ("file", "base")] * 5
    for kind, _, read in reads:
        assert not read.why_whole
        assert read.of.files >= 9
        assert 1 <= read.parts.files <= read.parts.groups
        assert read.parts.groups <= (MET if kind == "file" else 6)
    index, file = (reads[number][2] for number in range(2))
    title = "JOIN in line 6, left outer"
    assert readings_told(shelf)[:2] == (
        f"{title}: of the index by_k {index.told()}",
        f"{title}: of the file base {file.told()}",
    )
    assert file.told().endswith(f"of {file.of.groups} row groups are read")


ODD = """
    other := INDEX(f, {k, at}, '~other');
    plain := JOIN(a, b, LEFT.k = RIGHT.k, KEYED(by_k));
    unbuilt := JOIN(a, f, LEFT.k = RIGHT.k, KEYED(other));
    part := JOIN(a, f, LEFT.k = RIGHT.k, KEYED(some));
    second := JOIN(a, f, LEFT.t = RIGHT.w, KEYED(by_k), LIMIT(ROWS));
    all_rows := JOIN(b, f, LEFT.n = RIGHT.k, KEYED(by_k));
    OUTPUT(plain); OUTPUT(unbuilt); OUTPUT(part); OUTPUT(all_rows);
    OUTPUT(second, NAMED('second'));
""".replace("ROWS", str(ROWS))


WHY = [
    "plain := JOIN in line 11, inner: all of the data set is read: it is no file",
    "unbuilt := JOIN in line 12, inner: all of the data set is read: the index other",
    "files are read: the index does not point to every row of it",
    "files are read: the index does not help: the left side has more than 50 rows",
    'files are read: the index does not help: no equality on the first key, "K"',
]


def test_where_an_index_does_not_help_the_remark_says_why(spark, given, shelf):
    text = TAKEN + WRITTEN.replace("OUTPUT(b,,'~base',OVERWRITE);", "") + FILE + ODD
    spark.conf.set(LEFT_ROWS, "50")
    try:
        found = made(spark, text, given, shelf)
    finally:
        spark.conf.unset(LEFT_ROWS)
    told = " ".join(readings_told(shelf))
    for says in WHY:
        assert says in told
    # A key behind the first is looked for among all rows, and found.
    assert len(found["second"].collect()) > 10


def test_positions_of_a_file_that_was_written_anew_are_not_used(
    spark, given, shelf, tmp_path
):
    moved = Shelf(str(copytree(shelf.folder, tmp_path / "moved")), SIZES)
    join = "OUTPUT(JOIN(a, f, LEFT.k = RIGHT.k, KEYED(by_k), KEEP(1)));"
    made(spark, TAKEN + FILE + join, {"a": given["a"]}, moved)
    assert [one.read.why_whole for one in moved.readings] == ["", ""]
    made(spark, TAKEN + WRITTEN + FILE + join, given, moved)
    assert "points to rows that the file had earlier" in " ".join(readings_told(moved))
