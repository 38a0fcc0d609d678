"""Values of whole data sets inside expressions: each row sees what holds for all."""

import pytest

from dovetail.conformance.engines import EngineName
from dovetail.dialects.ecl import translate
from tests.dialects.ecl.played import played, refused

ROWS = """
b := DATASET([{1, 3}, {1, 1}, {2, 2}, {3, 6}], {INTEGER k, INTEGER n});
c := DATASET([{1}, {3}], {INTEGER i});
most := MAX(b, n);
o := RECORD INTEGER a; INTEGER d; END;
o made(RECORDOF(b) l, INTEGER place) := TRANSFORM
    SELF.a := l.n * COUNT(c); SELF.d := place; END;
"""


@pytest.mark.parametrize("engine", [EngineName.ORACLE, EngineName.LOCAL])
@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("OUTPUT(COUNT(b) + 1);", [(5,)]),
        ("COUNT(b) - COUNT(c);", [(2,)]),
        ("OUTPUT(b(n = most));", [(3, 6)]),
        ("OUTPUT(b(n > AVE(b, n) - 1, n < most));", [(1, 3)]),
        ("OUTPUT(b(k IN SET(c, i)));", [(1, 3), (1, 1), (3, 6)]),
        ("OUTPUT(b(k NOT IN SET(c, i)));", [(2, 2)]),
        ("OUTPUT(b(EXISTS(c(i = 2))));", []),
        ("OUTPUT(b(n = b[1].n));", [(1, 3)]),
        (
            "OUTPUT(PROJECT(b, made(LEFT, COUNTER)));",
            [(6, 1), (2, 2), (4, 3), (12, 4)],
        ),
        (
            "OUTPUT(TABLE(b, {k, REAL part := SUM(GROUP, n) / SUM(b, n)}, k));",
            [(1, 4 / 12), (2, 2 / 12), (3, 6 / 12)],
        ),
        ("OUTPUT(b(n = most), {m := n - most});", [(0,)]),
        (
            "OUTPUT(PROJECT(GROUP(b, k)(n < most), made(LEFT, COUNTER)));",
            [(6, 1), (2, 2), (4, 1)],
        ),
        ("OUTPUT(b(EXISTS(c(i = b.k))));", [(1, 3), (1, 1), (3, 6)]),
        ("OUTPUT(b(COUNT(c(i = k)) > 0));", [(1, 3), (1, 1), (3, 6)]),
        ("OUTPUT(b(SUM(c, i + k) > 6));", [(2, 2), (3, 6)]),
    ],
)
def test_each_row_sees_a_value_of_all_rows(engine, text, wanted):
    assert next(iter(played(ROWS + text, engine).values())) == wanted


def test_no_hidden_column_comes_out():
    [output] = translate(f"{ROWS} OUTPUT(b(n = most));", {}).outputs
    assert output.step.schema.names == ("k", "n")


@pytest.mark.parametrize(
    ("text", "column", "hint"),
    [
        ("OUTPUT(SORT(b, COUNT(c(i = b.k))));", 28, "else JOIN with them"),
        ("OUTPUT(CHOOSEN(b, COUNT(c(i = k))));", 31, ""),
        ("OUTPUT(b(EXISTS(JOIN(c, c, LEFT.i = b.k))));", 28, ""),
        ("OUTPUT(b(EXISTS(DEDUP(c, i = b.k))));", 30, "else JOIN with them"),
        ("OUTPUT(SORT(b, n - most));", 20, "the option ALL"),
        ("OUTPUT(CHOOSEN(b, COUNT(c)));", 19, "the option ALL"),
    ],
)
def test_elsewhere_it_is_refused_where_it_stands(text, column, hint):
    error = refused(ROWS + text)
    assert hint in error.hint
    assert error.place.column == column
