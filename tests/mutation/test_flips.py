"""The mutation run itself: what it flips, and that what it finds can be believed.

The whole run is `python -m tests.mutation.run`; here it goes through one small class.
"""

import pytest

from tests.mutation.flips import flips
from tests.mutation.run import equivalents, gone, stems, survivors
from tests.mutation.world import TOP, Judge

MODULE, SMALL = "parts", "Bounds."
# The cases that are about it: every other one would have to be played too.
ABOUT = ("late", "calendar")


@pytest.fixture(scope="module")
def judge():
    return Judge(*(TOP / f"tests/cases/{name}.json" for name in ABOUT))


def words(source):
    return {flip.words.removeprefix("module: ") for flip in flips(source)}


@pytest.mark.parametrize(
    ("source", "flipped"),
    [
        ("x = a < b", {"a < b -> a <= b", "a < b -> a >= b"}),
        ("x = not a", {"not a -> a"}),
        ("x = a and b", {"a and b -> a or b", "a and b -> b", "a and b -> a"}),
        ("f(1)", {"f(1) -> pass", "1 -> 2", "1 -> 0"}),
        ("a.b = 'c'", {"a.b = 'c' -> pass"}),
        ("a = b + c", {"b + c -> b - c"}),
        ("x = min(a)", {"min -> max"}),
        ("x = [i for i in a if i]", {"for i in a if i -> for i in a"}),
        ("x = hand.other", {"hand.other -> hand"}),
        ("if a:\n  b = c", {"if a -> if True", "if a -> if False"}),
        ("'words'", set()),
        ("import min", set()),
        ("def f(a: min) -> max: raise E('1')", set()),
    ],
)
def test_what_is_flipped(source, flipped):
    assert words(source) == flipped


def test_every_flip_of_a_class_fails_a_case(judge):
    assert [flip.words for flip in survivors(judge, MODULE, SMALL)] == []


def test_the_true_oracle_fails_none(judge):
    source = (TOP / "src/dovetail/conformance/oracle" / f"{MODULE}.py").read_text()
    assert judge.convicts(MODULE, compile(source, f"<{MODULE}>", "exec")) == ""


@pytest.mark.parametrize(
    ("file", "module"), [("spl_flows", "flow"), ("sqlstream_bounds", "row_time")]
)
def test_the_true_oracle_plays_texts_right(file, module):
    texts = Judge(TOP / f"tests/cases/{file}.json")
    assert len(texts.cases) > 9
    source = (TOP / "src/dovetail/conformance/oracle" / f"{module}.py").read_text()
    assert texts.convicts(module, compile(source, f"<{module}>", "exec")) == ""


def test_what_is_known_to_change_nothing_is_there_to_be_flipped_and_has_a_reason():
    assert set(equivalents()) <= set(stems())
    assert {stem: gone(stem) for stem in stems() if gone(stem)} == {}
    assert all(" " in why for known in equivalents().values() for why in known.values())
