"""A case gets one verdict: ok, FAIL with what differs, or skip with the reason."""

import json
from pathlib import Path

import pytest

from dovetail.conformance import check as checking
from dovetail.conformance import engines
from dovetail.conformance.case import Case, Neutral, Refusal, Script, read_cases
from dovetail.conformance.check import Check, Status
from dovetail.conformance.engines import Each, EngineName, NamedPlay, Whole, outcomes
from dovetail.conformance.lines import Count, Line, Rows, Sight
from dovetail.errors import EngineError, LimitError, SpecError, UnsupportedError
from dovetail.spec.inputs import Emission, Outlet

FILE = Path("cases.json")
ROW = Emission(Outlet.MATCHED, {"n": 1})
DATASET = {"kind": "dataset", "schema": {"k": "int"}, "rows": [{"k": 1}, {"k": 2}]}
JOIN = {
    "left": {"from": "a"},
    "right": {"from": "a"},
    "type": "inner",
    "hard": [["l.k", "r.k"]],
    "select": {"k": "l.k"},
    "clock": "batch",
}


def case(tmp_path, expect, **join):
    file = tmp_path / "case.json"
    written = {"name": "a/case", "join": JOIN | join, "inputs": {"a": DATASET}}
    file.write_text(json.dumps(written | {"expect": expect}))
    (found,) = read_cases([file])
    return found


def verdict(one_case, engine=EngineName.ORACLE):
    (found,) = Check(engine, Whole()).verdicts([one_case])
    return found


@pytest.fixture
def engine_that_gives(monkeypatch, tmp_path):
    """Judges what an engine gives, whatever it is, beside what a case expects."""

    def judge(outcome, expect):
        made = case(tmp_path, [])
        made = Case(made.name, "", FILE, made.join, expect)
        monkeypatch.setattr(
            checking, "outcomes", lambda *_: iter([(made.name, outcome)])
        )
        return verdict(made)

    return judge


def test_the_right_rows_are_ok(tmp_path):
    found = verdict(case(tmp_path, [{"row": {"k": 1}}, {"row": {"K": 2.0}}]))
    assert (found.status, found.reason) == (Status.OK, "")


def test_other_rows_fail_with_what_differs(tmp_path):
    found = verdict(case(tmp_path, [{"row": {"k": 1}}, {"row": {"k": 3}}]))
    assert found.status is Status.FAIL
    assert found.difference


def test_a_number_of_rows(tmp_path):
    assert verdict(case(tmp_path, {"count": 2})).status is Status.OK
    assert verdict(case(tmp_path, {"count": 3})).status is Status.FAIL


def test_a_spec_that_must_be_refused(tmp_path):
    refused = {"hard": [], "select": {"k": "l.nope"}}
    error = {"error": {"kind": "SpecError", "says": "nope"}}
    assert verdict(case(tmp_path, error, **refused)).status is Status.OK


def test_a_spec_that_is_refused_but_must_not_be(tmp_path):
    found = verdict(case(tmp_path, [], select={"k": "l.nope"}))
    assert found.status is Status.FAIL
    assert found.reason.startswith("SpecError: ")
    assert "l.nope" in found.reason


def test_a_text_in_a_language_without_a_front_end_is_skipped():
    given = object()
    text = Case("a/text", "", FILE, Script("ksql", "…", given), Count(0))
    found = verdict(text)
    assert (found.status, found.reason) == (
        Status.SKIP,
        "the dialect ksql is not yet supported",
    )


NOT_YET = UnsupportedError.not_yet("abacus", "keep")


@pytest.mark.parametrize(
    ("outcome", "expect", "status"),
    [
        (NOT_YET, Rows(()), Status.SKIP),
        (NOT_YET, Refusal(SpecError, ""), Status.SKIP),
        (NOT_YET, Refusal(UnsupportedError, "keep"), Status.OK),
        (NOT_YET, Refusal(UnsupportedError, "limit"), Status.FAIL),
        (LimitError("too many"), Refusal(EngineError, ""), Status.OK),
        (LimitError("too many"), Refusal(LimitError, "many"), Status.OK),
        (EngineError("too many"), Refusal(LimitError, ""), Status.FAIL),
        (LimitError("too many"), Refusal(LimitError, "few"), Status.FAIL),
        (LimitError("too many"), Rows(()), Status.FAIL),
        ([ROW], Refusal(LimitError, ""), Status.FAIL),
        ([ROW], Rows((Line({"n": 1}, {}),)), Status.OK),
    ],
)
def test_what_is_expected_decides(engine_that_gives, outcome, expect, status):
    assert engine_that_gives(outcome, expect).status is status


def test_a_failure_says_what_was_expected(engine_that_gives):
    found = engine_that_gives([ROW], Refusal(LimitError, "many"))
    assert found.reason == 'expected LimitError that says "many", found 1 rows'
    found = engine_that_gives(SpecError("odd"), Refusal(LimitError, ""))
    assert found.reason == "expected LimitError, found SpecError: odd"


# --- engines ------------------------------------------------------------------------


def test_an_engine_that_breaks_fails_its_case_only(tmp_path, monkeypatch):
    plays = [NamedPlay(name, case(tmp_path, []).join.play()) for name in "ab"]
    given = iter([ZeroDivisionError("by zero\nat line 3"), [ROW]])

    def play(_):
        outcome = next(given)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    monkeypatch.setattr("dovetail.conformance.oracle.play", play)
    broken, rows = dict(outcomes(EngineName.ORACLE, plays, Whole())).values()
    assert str(broken) == "the engine broke: ZeroDivisionError: by zero"
    assert isinstance(broken.__cause__, ZeroDivisionError)
    assert rows == [ROW]


def test_a_text_that_breaks_fails_its_case_only(tmp_path, monkeypatch):
    stream = {"kind": "stream", "schema": {"t": "timestamp"}, "time": "t", "rows": []}
    told = {"dialect": "sqlstream", "text": "SELECT STREAM t FROM s", "expect": []}
    written = [{"name": f"a/{one}", "inputs": {"s": stream}, **told} for one in "xy"]
    file = tmp_path / "cases.json"
    file.write_text(json.dumps(written))
    given = iter([ZeroDivisionError("by zero")])

    def lines(*_, **__):
        for error in given:
            raise error
        return []

    monkeypatch.setattr(checking.texts.RowTimeText, "lines", lines)
    broken, other = Check(EngineName.ORACLE, Whole()).verdicts(read_cases([file]))
    assert (broken.status, broken.reason) == (
        Status.FAIL,
        "ZeroDivisionError: by zero",
    )
    assert other.status is Status.OK


def test_a_stream_that_breaks_fails_what_it_has_not_given(tmp_path, monkeypatch):
    plays = [NamedPlay(name, case(tmp_path, []).join.play()) for name in "abc"]

    def broken(*_):
        yield "b", [ROW]
        raise ZeroDivisionError

    monkeypatch.setattr(engines, "_stream", broken)
    found = dict(outcomes(EngineName.STREAM, plays, Whole()))
    assert found["b"] == [ROW]
    assert "ZeroDivisionError" in str(found["a"])
    assert list(found) == ["b", "a", "c"]


def test_a_stream_that_forgets_a_case_fails_it(tmp_path, monkeypatch):
    plays = [NamedPlay("a", case(tmp_path, []).join.play())]
    monkeypatch.setattr(engines, "_stream", lambda *_: iter(()))
    ((_, error),) = outcomes(EngineName.STREAM, plays, Whole())
    assert str(error) == "the engine has lost the case"


def test_local_plays_the_same_rows(tmp_path):
    assert verdict(case(tmp_path, {"count": 2}), EngineName.LOCAL).status is Status.OK


def test_only_an_engine_that_plays_event_by_event_knows_events():
    known = {
        name: [name.sight(split) is Sight.EVENTS for split in (Each(), Whole())]
        for name in EngineName
    }
    assert known == {
        EngineName.ORACLE: [True, True],
        EngineName.LOCAL: [True, True],
        EngineName.BATCH: [False, False],
        EngineName.STREAM: [True, False],
    }


def test_a_case_that_is_neutral_has_a_play(tmp_path):
    assert isinstance(case(tmp_path, []).join, Neutral)
