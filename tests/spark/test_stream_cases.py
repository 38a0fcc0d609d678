"""Cases and random plays as real streams: in any cut, the rows of the definition.

Plays share queries, so a split is played once for all cases and each case looks at its
own outcome.
"""

from functools import cache

import pytest

from dovetail.conformance import oracle
from dovetail.conformance.case import Refusal
from dovetail.conformance.compare import compare, describe
from dovetail.conformance.engines import Each, batch_ends, parse_split
from dovetail.conformance.lines import Line, Order, Rows, Sight
from dovetail.conformance.spark_stream.cases import play_all, shape_of
from dovetail.conformance.spark_stream.script import StreamPlay
from dovetail.errors import DovetailError, UnsupportedError
from dovetail.plan.features import features_of_play
from dovetail.plan.stream import STREAM, plan_play
from dovetail.spec.inputs import Outlet
from tests.conformance.oracle.test_cases import SAMPLES, TESTS, neutral_cases
from tests.spark.share import is_always_played, with_every_feature
from tests.spark.stream_plays import JOINS, SOFT, random_play

CASES = {
    case.name: case
    for case in (*neutral_cases(TESTS / "cases"), *neutral_cases(SAMPLES))
}
FEW = [
    *[
        name
        for name in CASES
        if name.startswith(("event_range/seed", "arrival_rows/seed", "event_versions/"))
    ][:8],
    *(
        "nested/inherited_of_versions",
        "nested/inherited_end_learnt_after_its_row_has_left",
    ),
    *("nested/batch_inside_arrival", "state/bad_interval_inside", "sets/inner"),
    "arrival_seconds/no_mark_for_expiry",
    "nested/what_time_lets_out_leaves_before_a_row_that_is_late_by_then",
]
"""Played event by event: a batch each."""
HOUR = 3600


def stream_play(name, play, split):
    ends = batch_ends(split, len(play.events), name)
    expect = CASES[name].expect if name in CASES else None
    in_order = isinstance(expect, Rows) and expect.order is not Order.BAG
    return StreamPlay(name, play, ends, isinstance(split, Each), in_order)


def used_features():
    """What each case uses of a stream, by its name: nothing where it is refused."""
    used = {}
    for name, case in CASES.items():
        try:
            play = case.join.play()
            shape_of(stream_play(name, play, parse_split("whole")))
            used[name] = features_of_play(play)
        except DovetailError:
            used[name] = frozenset()
    return used


USED = used_features()
SOME, MORE = (
    with_every_feature(USED, [name for name in USED if is_always_played(name, share)])
    for share in (1000, 24)
)
"""What is played each time."""
SPLITS = [
    pytest.param("random:1", tuple(SOME), marks=pytest.mark.narrow),
    pytest.param("random:1", tuple(MORE), marks=pytest.mark.wide),
    pytest.param("each", tuple(FEW), marks=pytest.mark.long),
    pytest.param("random:2", tuple(CASES), marks=pytest.mark.long),
    pytest.param("whole", tuple(CASES), marks=pytest.mark.long),
    pytest.param("random:7", tuple(CASES), marks=pytest.mark.long),
]


def test_all_that_a_stream_can_do_is_played_each_time():
    assert STREAM.supported <= set().union(*(USED[name] for name in SOME))


@cache
def outcomes(spark, split, names):
    """What the stream makes of cases, and the split's sight."""
    cut = parse_split(split)
    plays = []
    for name in names:
        try:
            plays.append(stream_play(name, CASES[name].join.play(), cut))
        except DovetailError:
            continue
    return dict(play_all(lambda: spark, plays))


def faults(case, outcome, sight):
    """How an outcome differs from what a case expects.

    What may be refused is said before anything runs: tests/plan/test_refused.py.
    """
    if isinstance(outcome, UnsupportedError):
        return [] if is_refused(case) else [f"is refused: {outcome}"]
    if isinstance(case.expect, Refusal):
        is_met = isinstance(outcome, DovetailError) and case.expect.is_met_by(outcome)
        return [] if is_met else ["is not refused as it should be"]
    if isinstance(outcome, DovetailError):
        return [str(outcome)]
    return describe(compare(case.expect, outcome, sight))


def is_refused(case):
    """Whether the plan refuses a case."""
    try:
        plan_play(case.join.play())
    except UnsupportedError:
        return True
    return False


@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize(("split", "names"), SPLITS)
def test_cases(spark, split, names):
    found = outcomes(spark, split, names)
    sight = Sight.EVENTS if split == "each" else Sight.OUTLETS
    told = {
        name: faults(CASES[name], outcome, sight) for name, outcome in found.items()
    }
    assert {name: fault for name, fault in told.items() if fault} == {}
    played = [one for one in found.values() if not isinstance(one, UnsupportedError)]
    assert played


def test_nothing_starts_where_all_is_refused():
    def start():
        raise AssertionError

    name = "lacking/late_stretches"
    refused = stream_play(name, CASES[name].join.play(), parse_split("whole"))
    [(_, outcome)] = play_all(start, [refused])
    assert isinstance(outcome, UnsupportedError)


def expected(play):
    lines = (Line(one.row, {"out": one.outlet.value}) for one in without_marks(play))
    return Rows(tuple(lines))


def without_marks(play):
    return [one for one in oracle.play(play) if one.outlet is not Outlet.MARKS]


def differences(spark, plays, split):
    """Where a stream's rows are not those of the definition, by the play's name."""
    cut = parse_split(split)
    wanted = [stream_play(name, play, cut) for name, play in plays.items()]
    told = {}
    for name, outcome in play_all(lambda: spark, wanted):
        assert not isinstance(outcome, DovetailError), (name, str(outcome))
        rows = [one for one in outcome if one.outlet is not Outlet.MARKS]
        told[name] = describe(compare(expected(plays[name]), rows, Sight.OUTLETS))
    assert told.keys() == plays.keys()
    return {name: fault for name, fault in told.items() if fault}


def plays_of(joins, count):
    return {
        f"{number}/{seed}": random_play(spec, f"{number}/{seed}")
        for number, spec in enumerate(joins)
        for seed in range(count)
    }


@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize(
    "count",
    [
        pytest.param(1, marks=pytest.mark.narrow),
        pytest.param(2, marks=pytest.mark.wide),
    ],
)
def test_random_plays_give_the_rows_of_the_oracle(spark, count):
    assert differences(spark, plays_of([*JOINS, *SOFT], count), "random:1") == {}


@pytest.mark.long
@pytest.mark.timeout(HOUR)
@pytest.mark.parametrize("split", ["whole", "random:3", "each"])
def test_many_random_plays_give_the_rows_of_the_oracle(spark, split):
    assert differences(spark, plays_of([*JOINS, *SOFT], 40), split) == {}
