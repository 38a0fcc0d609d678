"""ECL programs on Spark: the rows of the definition, as native plans in order."""

import pytest
from hypothesis import HealthCheck, given, settings

import dovetail as dt
from dovetail.conformance.check import Check, Status
from dovetail.conformance.compare import describe
from dovetail.conformance.engines import EngineName, parse_split
from dovetail.dialects.ecl import translate
from dovetail.engines.spark.rules import RULES
from dovetail.engines.spark_batch.stops import limits_told
from dovetail.engines.spark_program import frames, script
from dovetail.errors import DialectError, LimitError, SchemaError, SpecError
from dovetail.schema import Schema
from tests.dialects.ecl import test_seed as seed
from tests.dialects.ecl.played import played
from tests.dialects.ecl.test_cases import CASES
from tests.dialects.ecl.texts import texts
from tests.spark.share import shared_out, words

# One text has many outputs: starting Spark's plans takes its time.
FEW = settings(
    max_examples=max(5, settings().max_examples // 10),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
WHOLE = parse_split("whole")
PEOPLE = [(1, "Rita "), (2, "Tom"), (3, None), (1, "Bo")]
KINDS = {"people": Schema.of({"id": "int", "name": "string", "extra": "date"})}
NAMED = """
r := RECORD INTEGER id; STRING10 name; END;
people := DATASET('people', r, THOR);
"""


@pytest.mark.parametrize("case", shared_out(CASES, words))
@pytest.mark.usefixtures("spark")
def test_a_case(case):
    (verdict,) = Check(EngineName.BATCH, WHOLE).verdicts([case])
    assert (verdict.status, verdict.reason, describe(verdict.difference)) == (
        Status.OK,
        "",
        [],
    )


@pytest.mark.wide
@pytest.mark.usefixtures("spark")
def test_a_program_by_chance_gives_the_rows_of_the_definition():
    @FEW
    @given(texts(count=5))
    def law(text):
        assert played(text, EngineName.BATCH) == played(text, EngineName.ORACLE)

    law()


@pytest.mark.usefixtures("spark")
def test_the_document_of_the_language_plays_as_a_whole():
    text = seed.OF_TWO + seed.OF_SETS
    engines = (EngineName.BATCH, EngineName.LOCAL, EngineName.ORACLE)
    batch, local, oracle = (seed.played(text, engine) for engine in engines)
    assert batch == local == oracle
    assert batch["Result 8"] == [seed.THREE]


def people(spark):
    """Rows in two partitions, with a null, blanks at an end, and a column too many."""
    return spark.createDataFrame(PEOPLE, "id int, name string").selectExpr(
        "*", "current_date() AS extra"
    )


def rows(frame):
    return [tuple(row) for row in frame.collect()]


def test_frames_go_in_and_frames_come_out(spark):
    found = dt.ecl(
        NAMED + "OUTPUT(people(id < 3), NAMED('few'));", {"people": people(spark)}
    )
    assert found.keys() == {"few"}
    assert found["few"].columns == ["id", "name"]
    assert rows(found["few"]) == [(1, "Rita"), (2, "Tom"), (1, "Bo")]


def test_nothing_is_null(spark):
    found = dt.ecl(NAMED + "OUTPUT(people(name = ''));", {"people": people(spark)})
    assert rows(found["Result 1"]) == [(3, "")]


def test_a_column_that_the_text_declares_must_be_there(spark):
    frame = people(spark).drop("name")
    with pytest.raises(SchemaError, match="name"):
        dt.ecl(NAMED + "OUTPUT(people);", {"people": frame})


def test_a_text_imports_the_texts_of_a_folder(spark, tmp_path):
    (tmp_path / "hr").mkdir()
    (tmp_path / "hr" / "early.ecl").write_text(
        "IMPORT $;\nEXPORT early(INTEGER most) := $.layouts.people(id < most);\n"
    )
    (tmp_path / "hr" / "layouts.ecl").write_text(
        "EXPORT layouts := MODULE\n"
        "  EXPORT person := RECORD INTEGER id; STRING10 name; END;\n"
        "  EXPORT people := DATASET('people', person, THOR);\n"
        "END;\n"
    )
    text = "IMPORT hr;\nOUTPUT(hr.early(3), NAMED('few'));"
    found = dt.ecl(text, {"people": people(spark)}, modules=tmp_path)
    assert rows(found["few"]) == [(1, "Rita"), (2, "Tom"), (1, "Bo")]
    with pytest.raises(DialectError, match=r"hr\.early"):
        dt.ecl(text, {"people": people(spark)})
    (tmp_path / "hr" / "early.ecl").write_text("EXPORT early(INTEGER n) := nobody;")
    with pytest.raises(DialectError, match='nothing is named "nobody"') as error:
        dt.ecl(text, {"people": people(spark)}, modules=tmp_path)
    assert "early.ecl, line 1" in str(error.value)


def test_an_input_must_be_given(spark):
    program = translate(NAMED + "OUTPUT(people);", KINDS)
    with pytest.raises(SpecError, match='no rows are given for the input "people"'):
        frames(spark, program, {})


def test_rows_are_numbered_where_their_file_is_asked_for_places(spark):
    text = """
    r := RECORD INTEGER id; UNSIGNED8 at {virtual(fileposition)}; END;
    people := DATASET('people', r, FLAT);
    OUTPUT(people);
    """
    given_rows = people(spark).repartitionByRange(3, "id").sortWithinPartitions("id")
    found = dt.ecl(text, {"people": given_rows})
    assert rows(found["Result 1"]) == [(1, 0), (1, 1), (2, 2), (3, 3)]
    own = given_rows.selectExpr("id", "IF(id = 2, NULL, id * 10) AS AT")
    found = dt.ecl(text, {"people": own})
    assert rows(found["Result 1"]) == [(1, 10), (1, 10), (2, 2), (3, 30)]


# --- order --------------------------------------------------------------------------

STEPS = """
OUTPUT(d, NAMED('all'));
OUTPUT(d(v % 3 = 0) + d(v > 90), NAMED('parts'));
OUTPUT(CHOOSEN(d, 5, 40), NAMED('some'));
OUTPUT(SORT(d, k), NAMED('sorted'));
OUTPUT(DEDUP(d, k), NAMED('neighbours'));
OUTPUT(DEDUP(d, LEFT.v + 5 > RIGHT.v), NAMED('apart'));
OUTPUT(DEDUP(d, k, ALL), NAMED('firsts'));
OUTPUT(TABLE(GROUP(d, k), {k, n := COUNT(GROUP)}), NAMED('groups'));
OUTPUT(PROJECT(d, TRANSFORM(r, SELF.v := COUNTER * 10; SELF := LEFT)), NAMED('count'));
OUTPUT(JOIN(d, d, LEFT.k = RIGHT.k AND RIGHT.v > 95, LOOKUP), NAMED('lookup'));
pairs := JOIN(d, d, LEFT.k = RIGHT.k AND LEFT.v = RIGHT.v + 4);
OUTPUT(CHOOSEN(pairs, 7), NAMED('pairs'));
last := SORT(d, -v);
OUTPUT(JOIN(d(v < 5), last, LEFT.k = RIGHT.k, KEEP(2), MANY LOOKUP), NAMED('kept'));
"""
RECORD = "r := RECORD INTEGER k; INTEGER v; END;\n"
NUMBERS = [(v // 3 % 4, v) for v in range(100)]


def in_parts(spark, count):
    """The numbers in their order, in so many partitions."""
    return spark.range(0, len(NUMBERS), 1, count).selectExpr(
        "(id div 3) % 4 AS k", "id AS v"
    )


@pytest.mark.parametrize(("parts", "shuffled"), [(1, 1), (3, 5), (16, 3)])
def test_order_does_not_depend_on_partitions(spark, parts, shuffled):
    shown = ", ".join(f"{{{k}, {v}}}" for k, v in NUMBERS)
    expected = played(f"{RECORD}d := DATASET([{shown}], r);{STEPS}", EngineName.ORACLE)
    setting = "spark.sql.shuffle.partitions"
    before = spark.conf.get(setting)
    spark.conf.set(setting, shuffled)
    try:
        text = f"{RECORD}d := DATASET('d', r, THOR);{STEPS}"
        found = dt.ecl(text, {"d": in_parts(spark, parts)})
        assert {name: rows(frame) for name, frame in found.items()} == expected
    finally:
        spark.conf.set(setting, before)


def test_no_python_touches_the_rows(spark):
    text = f"{RECORD}d := DATASET('d', r, THOR);{STEPS}"
    for frame in dt.ecl(text, {"d": in_parts(spark, 2)}).values():
        plan = frame._jdf.queryExecution().toString()  # noqa: SLF001 - only to be read
        assert "Python" not in plan


def test_rows_of_one_key_are_found_without_gathering_all_rows(spark):
    text = f"{RECORD}d := DATASET('d', r, THOR);OUTPUT(DEDUP(SORT(d, k), k));"
    (frame,) = dt.ecl(text, {"d": in_parts(spark, 2)}).values()
    plan = frame._jdf.queryExecution().toString()  # noqa: SLF001 - only to be read
    assert "SinglePartition" not in plan


# --- limits -------------------------------------------------------------------------


def test_a_limit_that_fails_says_what_the_text_says(spark):
    text = NAMED + (
        "OUTPUT(JOIN(people, people, LEFT.id = RIGHT.id, "
        "LIMIT(1, FAIL(77, 'too \"many\" friends'))));"
    )
    (frame,) = dt.ecl(text, {"people": people(spark)}).values()
    with pytest.raises(Exception, match="candidates; expected at most 1") as found:
        frame.collect()
    assert "the key 1 has 2 " in str(found.value)
    assert '77: too "many" friends' in str(found.value)
    with pytest.raises(LimitError, match=r'^77: too "many" friends'), limits_told():
        frame.collect()


# --- the program as PySpark ---------------------------------------------------------


def printed(spark, text, inputs):
    """The outputs of the program that a text is printed as."""
    kinds = {name: Schema.of(dict(frame.dtypes)) for name, frame in inputs.items()}
    room = {}
    exec(script(translate(text, kinds)), room)
    before = {name: spark.conf.get(name) for name in RULES}
    try:
        return room["program"](spark, inputs)
    finally:
        for name, value in before.items():
            spark.conf.set(name, value)


def test_the_printed_program_gives_the_same_rows(spark):
    text = f"{RECORD}d := DATASET('d', r, THOR);{STEPS}"
    inputs = {"d": in_parts(spark, 3)}
    found = printed(spark, text, inputs)
    expected = {name: rows(frame) for name, frame in dt.ecl(text, inputs).items()}
    assert {name: rows(frame) for name, frame in found.items()} == expected


@pytest.mark.wide
@pytest.mark.usefixtures("spark")
def test_a_printed_program_by_chance_gives_the_same_rows(spark):
    @settings(FEW, max_examples=3)
    @given(texts(count=4))
    def law(text):
        found = printed(spark, text, {})
        for name, frame in dt.ecl(text, {}).items():
            assert sorted(rows(found[name])) == sorted(rows(frame))

    law()
