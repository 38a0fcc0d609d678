"""The batch engine gives the rows of the oracle, in any session."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from dovetail.conformance import oracle
from dovetail.conformance.case import Neutral, Refusal, read_cases
from dovetail.conformance.compare import compare, describe
from dovetail.conformance.lines import Line, Rows, Sight
from dovetail.conformance.oracle import clocks
from dovetail.conformance.spark_batch import play as play_batch
from dovetail.errors import LimitError, UnsupportedError
from dovetail.expression import Expression
from dovetail.plan.batch import plan_play
from dovetail.plan.features import features_of_play
from dovetail.schema import Schema
from dovetail.spec.inputs import Clock, Finish, Input, InputKind
from dovetail.spec.join import Columns, JoinSpec, Kind, Named, Play, Side
from dovetail.spec.rules import checked
from dovetail.spec.windows import Forever
from tests.chance import nests
from tests.chance.plays import plays
from tests.nested_plays import random_nested_play
from tests.spark.batch_plays import batch_plays, stream_plays, table_plays
from tests.spark.share import shared_out

TESTS = Path(__file__).parents[1]
SAMPLES = TESTS.parents[1] / "shared" / "cases"
# One session is shared by all examples, and starting Spark's plans takes its time.
FEW = settings(
    max_examples=5,
    suppress_health_check=[
        HealthCheck.function_scoped_fixture,
        HealthCheck.too_slow,
        HealthCheck.data_too_large,
    ],
)
NOON = datetime(2020, 7, 1, 12, tzinfo=UTC)


def differs(spark, play):
    try:
        emissions = oracle.play(play)
    except LimitError:
        # Which of several rows over the limit is named, nobody promises.
        with pytest.raises(LimitError):
            play_batch(spark, play)
        return ()
    expected = tuple(Line(one.row, {"out": one.outlet.value}) for one in emissions)
    return compare(Rows(expected), play_batch(spark, play), Sight.OUTLETS)


def whole_plays():
    """Plays of the whole spec on the clock `batch`."""
    return plays(accepted, Clock.BATCH)


def event_plays():
    """Plays of the whole spec on the event clock, whose streams all end."""
    return plays(accepted, Clock.EVENT)


@pytest.mark.parametrize(
    "chance", [batch_plays, stream_plays, table_plays, whole_plays, event_plays]
)
def test_a_batch_gives_the_rows_of_the_oracle(odd_session, chance):
    @FEW
    @given(chance())
    def law(play):
        difference = differs(odd_session, play)
        assert not difference, "\n".join(describe(difference))

    law()


def nested_play(seed, clock):
    """A join of a join by chance, whose streams all end."""
    play = random_nested_play(seed, clock)
    ended = {one.input for one in play.events if isinstance(one, Finish)}
    last = play.events[-1].clock if play.events else 0
    ends = (Finish(name, last) for name in play.inputs if name not in ended)
    return checked(replace(play, events=(*play.events, *ends)))


@pytest.mark.parametrize(
    ("clock", "seed"),
    [
        pytest.param(clock, seed, marks=[pytest.mark.long] if seed >= few else [])
        for clock, few in ((Clock.BATCH, 2), (Clock.EVENT, 4))
        for seed in range(60)
    ],
)
def test_a_join_of_a_join_gives_the_rows_of_the_oracle(spark, clock, seed):
    difference = differs(spark, nested_play(seed, clock))
    assert not difference, "\n".join(describe(difference))


@pytest.mark.parametrize(
    ("clock", "seed"),
    [
        pytest.param(clock, seed, marks=[pytest.mark.long] if seed >= 2 else [])
        for clock in (Clock.BATCH, Clock.EVENT)
        for seed in range(60)
    ],
)
def test_a_join_of_a_join_of_the_whole_spec(spark, clock, seed):
    difference = differs(spark, nests.nested_play(seed, accepted, clock))
    assert not difference, "\n".join(describe(difference))


def in_the_slice(folder):
    """Returns the cases of rows that the engine says it can run."""
    files = sorted(folder.glob("*.json"))
    cases = [case for case in read_cases(files) if isinstance(case.join, Neutral)]
    return [case for case in cases if isinstance(case.expect, Rows) and can_run(case)]


def accepted(play):
    """Raises what the definition or the engine cannot do."""
    if isinstance(play.join, JoinSpec):
        clocks.playable(play)
    plan_play(play)


def can_run(case):
    try:
        plan_play(case.join.play())
    except UnsupportedError:
        return False
    return True


@pytest.mark.parametrize(
    "case",
    shared_out(
        [*in_the_slice(TESTS / "cases"), *in_the_slice(SAMPLES)],
        lambda case: features_of_play(case.join.play()),
    ),
)
def test_a_case(spark, case):
    found = play_batch(spark, case.join.play())
    difference = compare(case.expect, found, Sight.OUTLETS)
    assert not difference, "\n".join(describe(difference))


def exceeded(folder):
    """The cases that fail for their limit."""
    cases = read_cases(sorted(folder.glob("*.json")))
    return [
        case
        for case in cases
        if isinstance(case.join, Neutral)
        and isinstance(case.expect, Refusal)
        and case.expect.kind is LimitError
    ]


def test_limits_fail_with_the_words_of_the_definition(spark):
    told = {}
    for case in exceeded(TESTS / "cases"):
        if not can_run(case):
            continue
        try:
            told[case.name] = play_batch(spark, case.join.play())
        except LimitError as error:
            told[case.name] = case.expect.is_met_by(error) or str(error)
    assert {name: found for name, found in told.items() if found is not True} == {}
    assert "picks_event/limit_fails" in told


def test_what_cannot_be_computed_is_null_in_any_session(odd_session):
    columns = ("l.n div 0", "cast(l.s as int)", "array(1)[5]", "hour(l.t)")
    schema = Schema.of({"n": "int", "s": "string", "t": "timestamp"})
    row = {"n": 1, "s": "x", "t": NOON}
    source = Input("a", InputKind.DATASET, schema, rows=(row,))
    select = Columns(tuple((text, Expression(text)) for text in columns))
    side = Side(Named("a"), Forever())
    join = JoinSpec(side, side, Kind.INNER, Clock.BATCH, select=select)
    (found,) = play_batch(odd_session, Play(join, {"a": source}))
    assert list(found.row.values()) == [None, None, None, 12]
