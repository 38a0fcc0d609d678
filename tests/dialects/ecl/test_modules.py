"""Names of other texts, and names gathered in a MODULE."""

import pytest

from dovetail.conformance.engines import EngineName
from dovetail.dialects.ecl import translate
from tests.dialects.ecl.played import played, refused

ROWS = """
r := RECORD INTEGER k; STRING5 w; END;
b := DATASET([{1, 'x'}, {2, 'y'}], r);
m := MODULE
    SHARED least := 2;
    EXPORT most := least + 5;
    EXPORT STRING5 word := 'x';
    EXPORT few := b(k < least);
    EXPORT out := RECORD INTEGER n; END;
    EXPORT out made(r l) := TRANSFORM SELF.n := l.k * 10; END;
    EXPORT BOOLEAN same(r l, r o) := l.k = o.k;
    EXPORT from_place(INTEGER place) := b(k >= place);
    EXPORT inner := MODULE EXPORT deep := 4; END;
END;
of(INTEGER key) := MODULE EXPORT found := b(k = key); END;
"""


def rows(text):
    """The rows of the first output."""
    return next(iter(played(ROWS + text, EngineName.ORACLE).values()))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("OUTPUT(m.most);", [(7,)]),
        ("OUTPUT(M.Inner.Deep);", [(4,)]),
        ("OUTPUT(m.few);", [(1, "x")]),
        ("OUTPUT(b(w = m.word));", [(1, "x")]),
        ("OUTPUT(m.from_place(2));", [(2, "y")]),
        ("OUTPUT(m.few(k = 2));", []),
        ("OUTPUT(PROJECT(b, m.made(LEFT)));", [(10,), (20,)]),
        ("OUTPUT(DATASET([{5}], m.out));", [(5,)]),
        ("OUTPUT(of(2).found);", [(2, "y")]),
        ("OUTPUT(JOIN(b, b, m.same(LEFT, RIGHT), m.made(LEFT)));", [(10,), (20,)]),
        ("OUTPUT(INDEX(b, {k}, {w}, '~i' + m.word));", [(1, "x"), (2, "y")]),
    ],
)
def test_what_a_module_exports_stands_behind_its_name(text, wanted):
    assert rows(text) == wanted


def test_a_function_of_a_module_is_looked_into_for_equalities():
    text = "OUTPUT(JOIN(b, b, m.same(LEFT, RIGHT)));"
    [output] = translate(ROWS + text, {}).outputs
    assert [str(one.left) for one in output.step.join.hard] == ["l.`k`"]


@pytest.mark.parametrize(
    ("text", "column", "says"),
    [
        ("OUTPUT(m.least);", 8, '"least" of a MODULE that does not export it'),
        ("OUTPUT(m.nobody);", 8, 'no "nobody" in the MODULE; expected one of most'),
        ("n := MODULE(b) EXPORT a := 1; END;", 13, "a MODULE of a data set"),
        (
            "n := MODULE(m) EXPORT most := 1; END;",
            16,
            '"most" has a value in the MODULE',
        ),
        ("i := INTERFACE EXPORT INTEGER a; END; OUTPUT(i.a);", 46, "gives it no value"),
        ("i := INTERFACE EXPORT a; OUTPUT(b); END;", 26, "an action inside a MODULE"),
        ("n := MODULE(m, m) EXPORT a := 1; END;", 6, "a name that two modules have"),
        (
            "f(b x) := FUNCTION n := MODULE(m) END; RETURN n.most; END; OUTPUT(f(b));",
            32,
            "a MODULE that begins with one of another place",
        ),
        ("n := MODULE OUTPUT(b); END;", 13, "an action inside a MODULE"),
        ("n := MODULE EXPORT a := SORT(5, k); END;", 30, "a value where"),
        ("OUTPUT(m);", 8, "a module that is put out"),
        ("IMPORT a.b AS c; OUTPUT(c.rows);", 25, '"a.b.rows" is a text of its own'),
        (
            "IMPORT d FROM a.b; OUTPUT(b(k = d));",
            33,
            "a folder of other texts where",
        ),
        ("IMPORT $; OUTPUT($.rows);", 18, '"rows" is a text of its own'),
        (
            "IMPORT Std; OUTPUT(Std.Str.EncodeBase64((DATA) 'a'));",
            20,
            '"std.str.encodebase64" is outside',
        ),
        ("IMPORT Std; OUTPUT(Std.Str.Reverse());", 20, "0 arguments"),
        ("IMPORT Std; OUTPUT(Std.Str.CountWords('a', ''));", 44, "between words"),
        ("IMPORT Std; OUTPUT(Std.Str.Find('a'));", 20, "1 arguments"),
        ("IMPORT Std; OUTPUT(Std.Date.Today(TRUE));", 20, "an argument of Today"),
        (
            "IMPORT Std; OUTPUT(Std.Date.FromStringToDate('a', '%Y'));",
            51,
            "the form '%Y'; expected",
        ),
    ],
)
def test_other_names_of_modules_are_refused_where_they_stand(text, column, says):
    error = refused(ROWS + text)
    assert says in str(error)
    assert error.place.column == column


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("IMPORT Std; OUTPUT(Std.Str.ToUpperCase('aB'));", [("AB",)]),
        ("IMPORT Std.Str; OUTPUT(STD.STR.ToLowerCase('aB'));", [("ab",)]),
        ("IMPORT Std.Str AS Text, Std; OUTPUT(Text.Reverse('ab'));", [("ba",)]),
        ("IMPORT Str FROM Std; OUTPUT(Str.Reverse('ab'));", [("ba",)]),
    ],
)
def test_the_library_knows_the_case_of_letters(text, wanted):
    assert rows(text) == wanted


def test_an_import_that_nothing_uses_is_remarked():
    text = "IMPORT $, Std; IMPORT a.b AS c; OUTPUT(b);"
    assert translate(ROWS + text, {}).remarks == (
        "IMPORT of $ brings nothing: no folder of modules has it",
        "IMPORT of c brings nothing: no folder of modules has it",
    )
