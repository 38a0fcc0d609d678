"""BUILD: which indexes a program writes, under which names and by which keys."""

import pytest

from dovetail.dialects.ecl import translate
from dovetail.errors import DialectError
from dovetail.spec.program import Indexed, Joined

ROWS = """
    b := DATASET([{2, 'p'}, {1, 'q'}], {INTEGER k, STRING w});
    name := '~A::b_' + 'k';
    i := INDEX(b, {k}, {w}, name);
"""


def program(text):
    return translate(ROWS + text, {})


@pytest.mark.parametrize(
    ("text", "replaces"),
    [
        ("BUILD(i);", False),
        ("BUILDINDEX(i, OVERWRITE);", True),
        ("SEQUENTIAL(BUILD(i, SORTED, OVERWRITE));", True),
    ],
)
def test_a_build_has_the_name_of_its_index_and_its_keys(text, replaces):
    [built] = program(text).builds
    assert built.index.file == "a::b_k"
    assert built.index.keys == ("k",)
    assert built.replaces is replaces


def test_what_is_not_built_is_not_written():
    assert program("OUTPUT(i);").builds == ()


def test_a_join_has_the_rows_of_the_index_that_is_built():
    found = program("BUILD(i); OUTPUT(JOIN(b, i, LEFT.k = RIGHT.k));")
    [output], [built] = found.outputs, found.builds
    assert isinstance(output.step, Joined)
    assert isinstance(output.step.right, Indexed)
    assert output.step.right == built.index


def test_an_index_without_a_name_is_built_nowhere():
    with pytest.raises(DialectError, match="an INDEX without a name"):
        translate("b := DATASET([{2}], {INTEGER k}); BUILD(INDEX(b, {k}));", {})


FILE = "f := DATASET('~f', {INTEGER k, UNSIGNED8 at {virtual(fileposition)}}); "


def test_a_file_whose_rows_have_positions_is_kept_by_them():
    found = program(f"OUTPUT(b,,'~f',OVERWRITE); {FILE} OUTPUT(f); OUTPUT(f(k = 1));")
    [built] = found.builds
    assert (built.index.file, built.index.keys) == ("f", ("at",))
    assert built.replaces
    assert found.outputs[0].step == built.index


def test_a_file_that_is_read_in_two_ways_is_kept_for_the_first():
    other = "g := DATASET('~f', {STRING w, UNSIGNED8 at {virtual(fileposition)}}); "
    found = program(f"OUTPUT(b,,'~f'); {FILE} {other} OUTPUT(f); OUTPUT(g);")
    [built] = found.builds
    assert not built.replaces
    assert [found.outputs[at].step == built.index for at in (0, 1)] == [True, False]


def test_a_file_without_positions_is_kept_nowhere():
    text = "OUTPUT(b,,'~f'); OUTPUT(DATASET('~f', {INTEGER k}));"
    assert program(text).builds == ()
