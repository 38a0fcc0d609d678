"""However deep a text is, it is read or told; what breaks its reader fails one case."""

import pytest

from dovetail.conformance import check as checking
from dovetail.conformance.case import CaseData, Refusal
from dovetail.conformance.check import Check, Status
from dovetail.conformance.engines import EngineName, parse_split
from dovetail.conformance.flows import lenses_play
from dovetail.dialects.lenses.neighbours import DEEPEST
from dovetail.errors import DialectError, DovetailError
from tests.dialects.lenses.test_cases import CASES
from tests.mistakes import attempted

SIDE = {
    "kind": "stream",
    "time": "_time",
    "schema": {"_key": "int", "_time": "timestamp", "x": "int"},
}
DATA = CaseData({"a": SIDE, "b": SIDE}, {}, (), has_events=True)
NESTED = {
    "parentheses": ("(", "a.x", ")"),
    "calls": ("abs(", "a.x", ")"),
    "choices": ("CASE WHEN a.x = 1 THEN ", "a.x", " END"),
    "places": ("array(1)[", "0", "]"),
}


def read(term, given=DATA):
    """Reads a join on a term, or raises what is wrong with it."""
    return lenses_play(f"SELECT STREAM a.x FROM a JOIN b ON {term} WITHIN 5s", given)


def nested(form, depth):
    """A condition whose parts hold each other so many times."""
    front, core, end = NESTED[form]
    return f"{front * depth}{core}{end * depth} = b.x"


@pytest.mark.parametrize("form", ["parentheses", "calls", "choices"])
def test_what_is_deep_enough_is_read(form):
    assert read(nested(form, DEEPEST))


@pytest.mark.parametrize("form", NESTED)
@pytest.mark.parametrize("depth", [DEEPEST + 1, 60, 1000])
def test_what_is_too_deep_is_told_where_it_is(form, depth):
    with pytest.raises(DialectError, match=f"at most {DEEPEST}") as told:
        read(nested(form, depth))
    assert told.value.place.column > len("SELECT STREAM a.x FROM a JOIN b ON ")


@pytest.mark.parametrize("depth", [150, 400, 1500])
@pytest.mark.parametrize("sign", ["NOT ", "- "])
def test_signs_in_front_of_each_other_are_read_or_told(sign, depth):
    found = attempted(read, f"a.x = b.x AND {sign * depth}a.x = 1", DATA)
    told = found.found if isinstance(found, DovetailError) else "too many parts"
    assert "too many parts" in told


def test_a_mistake_in_a_reader_fails_one_case_whatever_it_expects(monkeypatch):
    broken, whole, *_ = (one for one in CASES if isinstance(one.expect, Refusal))
    read_before = checking.play_of

    def play_of(join):
        if join is broken.join:
            raise ZeroDivisionError("by zero")
        return read_before(join)

    monkeypatch.setattr(checking, "play_of", play_of)
    every = Check(EngineName.LOCAL, parse_split("whole")).verdicts([broken, whole])
    assert [(one.status, one.reason) for one in every] == [
        (Status.FAIL, "ZeroDivisionError: by zero"),
        (Status.OK, ""),
    ]
