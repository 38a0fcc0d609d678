"""INDEX without a data set: rows that a BUILD has written, here, before, or given."""

import pytest

from dovetail.conformance.case import CaseData
from dovetail.conformance.engines import EngineName
from dovetail.conformance.oracle import play, play_program
from dovetail.conformance.programs import ecl_play
from dovetail.dialects.ecl import translate
from dovetail.dialects.ecl.catalog import Listed
from dovetail.dialects.ecl.context import UnknownNameError
from dovetail.errors import UnsupportedError
from dovetail.schema import Schema
from dovetail.spec.program import Indexed, Written, steps_of
from tests.dialects.ecl.played import played, refused

ROWS = "b := DATASET([{2, 'p'}, {1, 'q'}, {3, 'r'}], {INTEGER k, STRING w});\n"
ENGINES = pytest.mark.parametrize("engine", [EngineName.ORACLE, EngineName.LOCAL])
BY_KEY = [(1, "q"), (2, "p"), (3, "r")]


def rows(text, engine=EngineName.ORACLE):
    """The rows of the first output."""
    return next(iter(played(ROWS + text, engine).values()))


@ENGINES
@pytest.mark.parametrize(
    "build",
    [
        "BUILD(INDEX(b, {k}, {w}, '~A::i'));",
        "BUILD(b, {k}, {w}, '~a::i', OVERWRITE);",
        "BUILD(b, {k => w}, 'A::I');",
        "name := 'a::' + 'i'; BUILD(b, {b.k}, {b.w}, name);",
        "r := RECORD b.k; END; p := RECORD b.w; END; BUILD(b, r, p, '~a::i');",
    ],
)
@pytest.mark.parametrize(
    "index", ["{INTEGER k}, {STRING w}", "{INTEGER K}, {STRING5 W}"]
)
def test_an_index_without_a_data_set_has_what_was_built(engine, build, index):
    read = f"i := INDEX({index}, '~a::i'); OUTPUT(i); "
    join = "OUTPUT(JOIN(b(k < 3), i, LEFT.k = RIGHT.k, TRANSFORM(RIGHT)), NAMED('j'));"
    found = played(ROWS + build + read + join, engine)
    assert found["Result 1"] == BY_KEY
    assert sorted(found["j"]) == BY_KEY[:2]


def test_all_fields_are_keys_where_their_record_is_left_out():
    text = "BUILD(b,,'~i'); OUTPUT(INDEX({INTEGER k, STRING w}, '~i'));"
    assert rows(text) == BY_KEY


@ENGINES
def test_an_input_of_its_name_gives_the_rows_of_an_index(engine):
    given = [{"k": 2, "w": "p "}, {"k": 1}]
    inputs = {"a::i": {"rows": given}}
    text = "OUTPUT(INDEX({INTEGER k}, {STRING w}, '~A::i')(KEYED(k > 0)));"
    found = ecl_play(text, CaseData(inputs, {}, (), has_events=False)).lines(engine)
    assert [tuple(line.row.values()) for line in found] == [(1, ""), (2, "p")]


def test_an_index_by_records_has_their_fields():
    text = "r := RECORD b.k; END; p := RECORD b.w; END; OUTPUT(INDEX(b, r, p, '~i'));"
    assert rows(text) == BY_KEY


def test_an_index_of_an_index_has_its_rows_and_a_name_of_its_own():
    text = "i := INDEX(b, {k}, {w}, '~i'); o := INDEX(i, '~o'); BUILD(o); OUTPUT(o);"
    assert rows(text) == BY_KEY
    [built] = translate(ROWS + text, {}).builds
    assert (built.index.file, built.index.keys) == ("o", ("k",))


def test_an_index_that_may_be_missing_has_no_rows_then():
    assert rows("OUTPUT(INDEX({INTEGER k}, '~nowhere', OPT));") == []


class Kept(Listed):
    """Inputs beside an index that an earlier program has written."""

    def has_index(self, file):
        return file == "a::i"


def test_an_index_of_an_earlier_program_is_read_where_indexes_are_kept():
    text = "OUTPUT(INDEX({INTEGER k}, {STRING w}, '~A::i'));"
    program = translate(text, Kept({}))
    [output] = program.outputs
    assert isinstance(output.step, Indexed)
    assert (output.step.file, output.step.keys) == ("a::i", ("k",))
    schema = Schema.of({"k": "bigint", "w": "string"})
    assert Written("a::i", schema) in steps_of(program)
    with pytest.raises(
        UnsupportedError, match='the index "a::i" is not there'
    ) as error:
        play_program(program, {}, play)
    assert 'an input named "a::i"' in error.value.hint


def test_a_file_that_an_earlier_program_has_kept_is_read_by_its_positions():
    record = "{INTEGER k, UNSIGNED8 at {virtual(fileposition)}}"
    text = f"f := DATASET('~A::i', {record}); OUTPUT(f);"
    [output] = translate(text, Kept({})).outputs
    schema = Schema.of({"k": "bigint", "at": "decimal(20,0)"})
    assert output.step == Indexed(Written("a::i", schema), ("at",), "a::i")
    with pytest.raises(UnknownNameError, match='the file "~a::i"'):
        translate("OUTPUT(DATASET('~a::i', {INTEGER k}));", Kept({}))


def test_a_join_knows_the_index_beside_its_right_side():
    text = "i := INDEX(b, {k}, {w}, '~i'); OUTPUT(JOIN(b, b, LEFT.k = RIGHT.k, {}));"
    pointers = [
        translate(ROWS + text.replace("{})", f"{option})"), {}).outputs[0].step.pointer
        for option in ("KEYED(i)", "KEYED(i(k > 1))", "LOOKUP")
    ]
    assert [isinstance(one, Indexed) for one in pointers] == [True, False, False]
    assert (pointers[0].file, pointers[0].keys) == ("i", ("k",))


@pytest.mark.parametrize(
    ("text", "column", "says", "hint"),
    [
        (
            "OUTPUT(INDEX({INTEGER k}, '~i'));",
            8,
            'nothing gives the rows of the index "i"',
            "BUILD(data set, {keys}, {payload}, '~i') before it is read",
        ),
        (
            "BUILD(b, {k}, '~i'); OUTPUT(INDEX({INTEGER k, STRING w}, '~i'));",
            29,
            "built with {k bigint}, {}, here it has {k bigint, w string}, {}",
            "",
        ),
        ("OUTPUT(INDEX({INTEGER k}, OPT));", 8, "and without a name", ""),
        ("OUTPUT(INDEX(b, '~i'));", 8, "an INDEX without its fields", ""),
        ("OUTPUT(INDEX(b, {k}, {w}, {w}, '~i'));", 27, "a third record", ""),
        ("OUTPUT(INDEX(b, {k}, 5));", 22, "a name that is no text", ""),
        ("OUTPUT(INDEX(b, {k}, '~i', FAST));", 28, '"FAST" of an INDEX', ""),
        ("BUILD(b);", 7, "BUILD of no INDEX", ""),
        (
            "BUILD(b, {k}, '~i'); BUILD(INDEX({INTEGER k}, '~i'));",
            28,
            "BUILD of an INDEX without a data set",
            "writes them",
        ),
        (
            "BUILD(b, {k}, '~i'); BUILD(b, {w}, '~i', OVERWRITE);",
            22,
            'a second BUILD of "i"',
            "",
        ),
        ("BUILD(b, {k}, '~i', DEDUP);", 21, '"DEDUP" of BUILD', "INDEX(DEDUP("),
        (
            "BUILD(INDEX(b, {k}, '~i'), '~o');",
            28,
            '"this" of BUILD',
            "stands in its INDEX",
        ),
    ],
)
def test_what_is_no_index_is_refused_where_it_stands(text, column, says, hint):
    error = refused(ROWS + text)
    assert says in error.found
    assert hint in error.hint
    assert (error.place.line, error.place.column) == (2, column)


def test_options_of_build_that_change_nothing_are_remarked():
    text = "BUILD(b, {k}, '~i', OVERWRITE, SORTED, EXPIRE(3), SET('x', 'y'));"
    assert translate(ROWS + text, {}).remarks == (
        "EXPIRE of BUILD has no effect",
        "SET of BUILD has no effect",
    )


@pytest.mark.parametrize(
    ("filter_", "says"),
    [
        ("KEYED(w = MAX(b, w))", '"w" is no key of the INDEX; expected one of k'),
        ("KEYED(MAX(b, k) = k, OPT), KEYED(w = 'p')", '"w" is no key'),
    ],
)
def test_a_value_of_all_rows_does_not_make_a_payload_a_key(filter_, says):
    text = f"i := INDEX(b, {{k}}, {{w}}, '~i'); OUTPUT(i({filter_}));"
    assert says in str(refused(ROWS + text))


@ENGINES
def test_a_filter_before_a_join_may_ask_for_the_value_of_all_rows(engine):
    text = """
        i := INDEX(b, {k}, {w}, '~i');
        last := i(KEYED(k = MAX(b, k)));
        OUTPUT(JOIN(b, last, LEFT.k <= RIGHT.k, TRANSFORM(LEFT), ALL));
    """
    assert rows(text, engine) == [(2, "p"), (1, "q"), (3, "r")]
