"""A case and a user's join get their plan by one function: it refuses both alike.

A case says more than a user can: its switches and its events have no words in Python.
So both say the same here: the usual switches, and rows of every input keep coming.
"""

from dataclasses import replace

from dovetail.api.joined import Joined
from dovetail.api.sets import Together
from dovetail.api.streams import Rows, rows_of
from dovetail.conformance.explain import EngineName, answers
from dovetail.conformance.spark_stream.cases import shape_of
from dovetail.conformance.spark_stream.script import StreamPlay
from dovetail.errors import DovetailError, UnsupportedError
from dovetail.expression import Expression
from dovetail.plan.features import Combination, Feature, features_of_settings
from dovetail.plan.nested import with_data_sets
from dovetail.plan.stream import Feed, feeds_of_play
from dovetail.spec.inputs import (
    Arrive,
    EmitLateTableRows,
    Order,
    OuterRows,
    Settings,
)
from dovetail.spec.join import JoinSpec, SetJoinSpec
from tests.conformance.oracle.test_cases import SAMPLES, TESTS, neutral_cases
from tests.plan.refused import LACKING


def plays():
    """The plays of all cases that have one, as the streams of a user."""
    for case in (*neutral_cases(TESTS / "cases"), *neutral_cases(SAMPLES)):
        try:
            play = case.join.play()
        except DovetailError:
            continue
        coming = tuple(Arrive(name, {}) for name in play.inputs)
        usual = replace(play, settings=Settings(), opening=(), events=coming)
        yield case.name, usual


PLAYS = dict(plays())


def missing(ask):
    """What is refused by name, or the sentence of another refusal."""
    try:
        ask()
    except UnsupportedError as error:
        return error.missing
    except DovetailError as error:
        return str(error)
    return ()


def by_user(play):
    """What is refused of a join that a user holds.

    A join of ordinary DataFrames inside it has been made: its rows are a data set.
    """
    if isinstance(play.join, JoinSpec):
        join, inputs, _ = with_data_sets(play.join, play.inputs)
        play = replace(play, join=join, inputs=inputs)
    feeds = feeds_of_play(play.join, "place")
    if isinstance(play.join, SetJoinSpec):
        sets = {
            name: Rows(None, play.inputs[name], Feed(sequence="place"))
            for name in play.join.sets
        }
        return missing(Together(play.join, play.inputs, sets).in_words)
    joined = Joined(play.join, play.inputs, {}, feeds, rows_of)
    return missing(joined.in_words)


def by_case(play):
    """What is refused of a case before anything runs."""
    return missing(lambda: shape_of(StreamPlay("one", play, ())))


def in_explain(play):
    """What is said to be lacking, or wrong, when a case is explained."""
    try:
        (answer,) = (one for one in answers(play) if one.engine is EngineName.STREAM)
    except DovetailError as error:
        return str(error)
    return "" if answer.runs else answer.reason


def test_a_user_a_case_and_explain_refuse_alike():
    differ = {}
    for name, play in PLAYS.items():
        user, case = by_user(play), by_case(play)
        said = case if isinstance(case, str) else ", ".join(case)
        if user != case or in_explain(play) != said:
            differ[name] = user, case, in_explain(play)
    assert differ == {}


def test_both_refuse_all_that_a_stream_lacks():
    """But for the switches, which a user cannot turn."""
    switches = {
        feature.value
        for one in (
            *(Settings(outer_rows=rows) for rows in OuterRows),
            Settings(late_table_rows=EmitLateTableRows()),
            Settings(order=Order.ROW_TIME),
        )
        for feature in features_of_settings(one)
    } | {one.value for one in Combination if one.name.startswith("LATE_")}
    switches.add(Combination.JUDGED_STRETCHES.value)
    switches.add(Combination.SWITCH_INSIDE.value)
    found = {name for play in PLAYS.values() for name in by_user(play)}
    known = {one.value for one in (*Feature, *Combination)}
    assert found & known == LACKING["stream"] - switches


def test_neither_passes_what_the_other_refuses():
    play = PLAYS["arrival_rows/newest_two_meet"]
    soft = Expression("soundex(l.k) = 'a'")
    changed = replace(play, join=replace(play.join, soft=soft))
    assert by_user(changed) == by_case(changed)
    assert "soundex" in in_explain(changed)
