"""Every SPL case that is written down, on the engines that need no Spark."""

import json

import pytest

from dovetail.conformance.case import Script, read_cases
from dovetail.conformance.check import Check, Status
from dovetail.conformance.compare import describe
from dovetail.conformance.engines import EngineName, parse_split
from dovetail.spec import code
from tests.conformance.oracle.test_cases import SAMPLES, TESTS

FILES = sorted([*TESTS.glob("cases/spl*.json"), *SAMPLES.glob("spl_sample*.json")])
CASES = [case for case in read_cases(FILES) if isinstance(case.join, Script)]


@pytest.mark.parametrize("engine", [EngineName.ORACLE, EngineName.LOCAL])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_cases(case, engine):
    (verdict,) = Check(engine, parse_split("whole")).verdicts([case])
    assert (verdict.status, verdict.reason, describe(verdict.difference)) == (
        Status.OK,
        "",
        [],
    )


def test_an_outlet_that_the_text_does_not_name_has_no_rows():
    (case,) = (one for one in CASES if one.name == "spl_steps/plain")
    wrong = Script("spl", case.join.text.replace("J =", "K ="), case.join.given)
    changed = type(case)(case.name, "", case.file, wrong, case.expect)
    (verdict,) = Check(EngineName.ORACLE, parse_split("whole")).verdicts([changed])
    assert verdict.status is Status.FAIL
    assert "out: expected 'J', found 'K'" in " ".join(describe(verdict.difference))


def test_batches_say_that_they_do_not_play_several_operators():
    (case,) = (one for one in CASES if one.name == "spl_steps/filter")
    (verdict,) = Check(EngineName.BATCH, parse_split("whole")).verdicts([case])
    assert verdict.status is Status.SKIP
    assert "a text that is more than one join is not yet supported" in verdict.reason


TURNS = """
stream<int32 k> A = Beacon() {}
stream<A> Z = Custom(A as I) {
  logic onTuple I: { mutable int32 i = 0; while (i < I.k) i++; submit(I, Z); }
}
"""


@pytest.mark.parametrize("engine", [EngineName.ORACLE, EngineName.LOCAL])
@pytest.mark.parametrize(("last", "is_let"), [(3, True), (4, False)])
def test_each_tuple_has_as_many_turns_as_are_let(
    engine, last, is_let, monkeypatch, tmp_path
):
    # A case of a million turns would take seconds.
    monkeypatch.setattr(code, "MOST_TURNS", 3)
    rows = [{"k": 3}, {"k": last}]
    found = [{"out": "Z", "row": row} for row in rows]
    told = "the loops of one tuple take more than 3 turns"
    text = {
        "name": "turns",
        "dialect": "spl",
        "text": TURNS,
        "inputs": {"A": {"kind": "stream"}},
        "events": [{"in": "A", "row": row} for row in rows],
        "expect": found if is_let else {"error": {"kind": "EngineError", "says": told}},
    }
    path = tmp_path / "turns.json"
    path.write_text(json.dumps(text))
    (verdict,) = Check(engine, parse_split("whole")).verdicts(read_cases([path]))
    assert (verdict.status, verdict.reason) == (Status.OK, "")
