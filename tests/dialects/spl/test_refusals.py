"""What breaks a rule of SPL is shown where it stands."""

import pytest

from dovetail.dialects.spl import translate
from dovetail.errors import DialectError
from dovetail.schema import Schema

INPUTS = {
    "L": Schema.of({"k": "int", "v": "string"}),
    "R": Schema.of({"k": "int", "w": "bigint"}),
}
TEXT = """stream<int32 k, rstring v, int64 w> Out = Join(L; R) {
  window L : sliding, count(5); R : sliding, count(5);
  param match : L.k == R.k;
  output Out : k = L.k;
}"""


def refused(text):
    with pytest.raises(DialectError) as found:
        translate(text, INPUTS)
    return found.value


@pytest.mark.parametrize(
    ("old", "new", "line", "pointed"),
    [
        ("L.k == R.k", "k == R.k", 3, "k"),
        ("L.k == R.k", "L.k == R.w", 3, "R.w"),
        ("R : sliding, count(5)", "R : tumbling, count(5)", 2, "tumbling"),
        ("R : sliding, count(5)", "R : sliding, count(5), count(3)", 2, "count(3)"),
        ("R : sliding, count(5)", "R : sliding, delta(w, 5)", 2, "5"),
        ("k = L.k", "k = L.v", 4, "L.v"),
        ("k = L.k", "k = L.k + nothing", 4, "nothing"),
        ("match :", "mach :", 3, "mach : L.k == R.k;"),
        ("int64 w>", "int64 z>", 1, "stream<int32 k, rstring v, int64 z> Out"),
        ("count(5);\n", "count(5)\n", 3, "param"),
    ],
)
def test_a_mistake_is_pointed_at(old, new, line, pointed):
    error = refused(TEXT.replace(old, new))
    assert error.place.line == line
    shown, caret = error.place.caret().split("\n")
    assert shown[caret.index("^") :][: caret.count("^")] == pointed


def test_signs_that_could_go_on_are_told_as_they_are_written():
    error = refused(TEXT.replace("k = L.k", "k L.k"))
    assert error.expected == '"="'


def test_what_stands_outside_is_bound_by_name():
    error = refused("stream<int32 k> A = JavaOp(L) {}")
    assert error.hint == (
        'bind its result by name: leave the operator out, and give an input "A"'
    )


def test_an_input_that_lacks_an_attribute_is_refused():
    error = refused("stream<int32 k, int32 z> L = Beacon() {} " + TEXT)
    assert error.found == 'the input "L" has no column "z"'
