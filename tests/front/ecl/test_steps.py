"""Steps that look at rows beside each other, in the forms that the language has."""

import pytest

from dovetail.session.engines import EngineName
from tests.front.ecl.played import played

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


def test_a_decimal_may_be_unsigned():
    text = "OUTPUT(DATASET([{1.25, 2}], {UNSIGNED DECIMAL5_2 a, UDECIMAL4 b}));"
    [row] = rows(text)
    assert list(map(str, row)) == ["1.25", "2"]
