"""The table of laws as a whole, and the door through which every join goes."""

from pathlib import Path

import pytest

from dovetail.conformance.case import Refusal, read_cases
from dovetail.errors import SpecError
from dovetail.expression import Expression
from dovetail.spec.defaults import with_defaults
from dovetail.spec.inputs import Settings
from dovetail.spec.join import Columns, JoinSpec, Play
from dovetail.spec.reader import read_inputs, read_join
from dovetail.spec.rules import RULES, check_spec, checked
from tests.spec.rules import (
    test_columns,
    test_inputs,
    test_output,
    test_picks,
    test_sets,
    test_settings,
    test_texts,
    test_windows,
)
from tests.spec.rules.laws import BATCH, INPUTS, changed

TESTS = Path(__file__).parents[2]
THEMES = (
    *(test_columns, test_inputs, test_output, test_picks, test_sets, test_texts),
    test_windows,
)


def test_every_law_is_tried():
    cases = [case for theme in THEMES for case in theme.LAWS]
    cases += [*test_inputs.SOURCES, *test_settings.SWITCHES, ("late_wait",)]
    cases += [("delete_latest",)]
    assert {rule.name for rule in RULES} == {case[0] for case in cases}


def test_every_law_is_broken_by_a_case():
    cases = read_cases([TESTS / "cases"])
    said = {case.expect.says for case in cases if isinstance(case.expect, Refusal)}
    unsaid = [rule for rule in RULES if f"{rule.name}: " not in " ".join(said)]
    assert [rule.name for rule in unsaid] == []


def test_every_law_has_a_name_of_its_own_and_a_sentence():
    assert len({rule.name for rule in RULES}) == len(RULES)
    assert all(" " in rule.law for rule in RULES)


def test_a_law_without_a_hint_hints_at_itself():
    inputs = read_inputs(INPUTS)
    with pytest.raises(SpecError) as caught:
        check_spec(read_join(changed(BATCH, left__from="nobody")), inputs, Settings())
    assert caught.value.hint == "every side is from an input that is there"


def test_a_checked_play_has_its_windows():
    join = read_join(changed(BATCH, right__from="table"))
    play = checked(Play(join, read_inputs(INPUTS)))
    assert play.join == with_defaults(join, play.inputs) != join


def test_names_that_only_a_front_end_can_repeat_are_refused():
    join = read_join(BATCH)
    twice = Columns((("id", Expression("l.id")), ("id", Expression("r.id"))))
    repeated = JoinSpec(join.left, join.right, join.kind, join.clock, select=twice)
    with pytest.raises(SpecError) as caught:
        checked(Play(repeated, read_inputs(INPUTS)))
    assert caught.value.rule == "output_names"
