"""Steps that look at rows beside each other, in the forms that the language has."""

import pytest

from dovetail.conformance.engines import EngineName
from dovetail.dialects.ecl import translate
from tests.dialects.ecl.played import played

ROWS = """
r := RECORD INTEGER k; STRING3 w; INTEGER n; END;
b := DATASET([{1, 'x', 3}, {1, 'y', 1}, {2, 'x', 2}, {1, 'x', 3}], r);
"""


def rows(text, engine=EngineName.ORACLE):
    """The rows of the first output, in their order."""
    return next(iter(played(ROWS + text, engine).values()))


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("DEDUP(b, k)", [3, 2, 3]),
        ("DEDUP(b, k, KEEP(2))", [3, 1, 2, 3]),
        ("DEDUP(b, k, KEEP 2, ALL)", [3, 1, 2]),
        ("DEDUP(b, k, HASH)", [3, 2]),
        ("DEDUP(b, RECORD, ALL)", [3, 1, 2]),
        ("DEDUP(b, WHOLE RECORD, ALL)", [3, 1, 2]),
        ("DEDUP(b, RECORD, EXCEPT k, ALL)", [3, 1, 2]),
        ("DEDUP(b, EXCEPT w, EXCEPT n, ALL)", [3, 2]),
        ("DEDUP(b, LEFT.k = RIGHT.k AND LEFT.n > RIGHT.n)", [3, 2, 3]),
        ("SORT(b, RECORD)", [3, 3, 1, 2]),
        ("SORT(b, RECORD, EXCEPT w)", [1, 3, 3, 2]),
        ("SORT(b, -n, RECORD, LOCAL)", [3, 3, 2, 1]),
    ],
)
def test_record_is_every_field_but_the_excepted(text, numbers):
    assert [row[2] for row in rows(f"OUTPUT({text});")] == numbers


def test_a_record_may_have_options_behind_a_comma():
    assert rows("s := RECORD, MAXLENGTH(9) STRING w; END; OUTPUT(b[1..1], s);") == [
        ("x",)
    ]


def test_workflow_services_of_a_definition_change_nothing():
    text = "f := b(n = 2) : PERSIST('~f'), ONCE; OUTPUT(f);"
    assert rows(text) == [(2, "x", 2)]


def test_a_type_may_have_a_name():
    text = """
        place := UNSIGNED1; word := STRING2; places := SET OF place;
        d := RECORD place at; word w; places all; END;
        place next(place at) := at + 1;
        OUTPUT(DATASET([{next(255), 'abc', [1, 256]}], d));
    """
    assert rows(text) == [(0, "ab", [1, 0])]


def test_a_decimal_may_be_unsigned():
    text = "OUTPUT(DATASET([{1.25, 2}], {UNSIGNED DECIMAL5_2 a, UDECIMAL4 b}));"
    [row] = rows(text)
    assert list(map(str, row)) == ["1.25", "2"]


@pytest.mark.parametrize("engine", [EngineName.ORACLE, EngineName.LOCAL])
def test_rollup_makes_a_row_of_a_group(engine):
    text = """
        o := RECORD INTEGER k; INTEGER rows; INTEGER total; STRING3 w; END;
        o t(r l, DATASET(r) all) := TRANSFORM
            SELF.rows := COUNT(all); SELF.total := SUM(all, n); SELF := l; END;
        OUTPUT(ROLLUP(GROUP(SORT(b, k), k), GROUP, t(LEFT, ROWS(LEFT))));
    """
    assert rows(text, engine) == [(1, 3, 7, "x"), (2, 1, 2, "x")]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("PROJECT(b, {k, w})", "k, w"),
        ("PROJECT(b, {m := n * 2})", "m"),
        ("PROJECT(b, {r AND NOT [w, b.n]})", "k"),
        ("PROJECT(b, {RECORDOF(b) - [k]})", "w, n"),
        (
            "PROJECT(b, TRANSFORM({r OR {INTEGER z}}, SELF := LEFT; SELF := []))",
            "k, w, n, z",
        ),
        ("TABLE(b, {r - {INTEGER k, INTEGER n}})", "w"),
        ("PROJECT(b, {r AND {INTEGER n, INTEGER q}})", "n"),
        ("PROJECT(b, {(r + {INTEGER z}) AND NOT [z]})", "k, w, n"),
    ],
)
def test_records_are_put_together(text, fields):
    [output] = translate(f"{ROWS} OUTPUT({text});", {}).outputs
    assert ", ".join(output.step.schema.names) == fields


def test_a_condition_of_fields_is_no_record():
    text = "k := r; OUTPUT(b(k = 1 AND n = 1)); OUTPUT(TABLE(b, {s := k + n})[1..1]);"
    found = played(ROWS + text, EngineName.ORACLE)
    assert list(found.values()) == [[(1, "y", 1)], [(4,)]]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("INTFORMAT(12, 5, 1)", "00012"),
        ("INTFORMAT(12, 5, 0)", "   12"),
        ("INTFORMAT(-12, 5, 1)", "-0012"),
        ("INTFORMAT(123456, 5, 1)", "*****"),
        ("WHICH(1 = 2, 1 = 1, 2 = 2)", 2),
        ("WHICH(1 = 2, 1 = 3)", 0),
    ],
)
def test_functions_of_single_values(text, value):
    assert rows(f"OUTPUT({text});") == [(value,)]


def test_a_row_may_stand_for_rows():
    assert rows("OUTPUT(DATASET(ROW({5, 'z'}, r)));") == [(5, "z", 0)]


def test_a_part_of_a_child_data_set_is_one():
    text = """
        c := RECORD INTEGER k; DATASET(r) of; END;
        d := DATASET([{1, [{1, 'x', 3}, {2, 'y', 4}]}], c);
        o := PROJECT(d, TRANSFORM(c, SELF.of := LEFT.of(n > 3); SELF := LEFT));
        OUTPUT(o);
    """
    [(key, of)] = rows(text)
    assert (key, [tuple(one.values()) for one in of]) == (1, [(2, "y", 4)])


@pytest.mark.parametrize("engine", [EngineName.ORACLE, EngineName.LOCAL])
def test_what_is_counted_of_a_group_may_have_a_condition(engine):
    text = """
        OUTPUT(TABLE(b, {k, c := COUNT(GROUP, n > 1), e := EXISTS(GROUP, n = 1),
            s := SUM(GROUP, n, w = 'x'), m := MAX(GROUP, n, n < 3),
            l := MIN(GROUP, n, n > 2), a := AVE(GROUP, n, n > 1)}, k));
    """
    assert rows(text, engine) == [
        (1, 2, True, 6, 1, 3, 3.0),
        (2, 1, False, 2, 2, 0, 2.0),
    ]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("COUNT(b, n > 1)", 3),
        ("EXISTS(b, n > 3)", False),
        ("SUM(b, n, k = 1)", 7),
        ("COUNT([5, 7])", 2),
        ("EXISTS([5, 7])", True),
        ("MAX([5, 7])", 7),
        ("MIN(['b', 'a'])", "a"),
        ("SUM([5, 7])", 12),
    ],
)
def test_aggregates_of_rows_with_a_condition_and_of_sets(text, value):
    assert rows(f"OUTPUT({text});") == [(value,)]


def test_fields_of_records_may_stand_in_records():
    text = "s := RECORD r.w; TYPEOF(r.n) m; END; OUTPUT(DATASET([{'abcd', 5}], s));"
    assert rows(text) == [("abc", 5)]


def test_an_assert_is_remarked():
    found = translate(f"{ROWS} OUTPUT(ASSERT(b, n < 9, 'large'));", {})
    assert found.remarks == ("ASSERT in line 4 is not looked at",)
