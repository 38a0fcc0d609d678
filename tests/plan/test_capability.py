"""Every node of a spec has a feature, and what an engine lacks is refused by name."""

from decimal import Decimal
from typing import get_args

import pytest

from dovetail.errors import UnsupportedError
from dovetail.expression import Expression
from dovetail.plan.features import Engine, Feature, features_of_join, features_of_play
from dovetail.schema import Schema
from dovetail.spec.inputs import (
    Arrive,
    Bound,
    Clock,
    EmitLateTableRows,
    Finish,
    Input,
    InputKind,
    Order,
    OuterRows,
    Pause,
    Remove,
    Settings,
)
from dovetail.spec.join import (
    BlankRow,
    Columns,
    GivenRow,
    JoinSpec,
    Kind,
    Named,
    Nested,
    Play,
    SetJoinSpec,
    SetKind,
    Side,
)
from dovetail.spec.picks import (
    AsOf,
    AtMost,
    Equality,
    Keep,
    Limit,
    OnExceed,
    OptionalEqual,
    Picks,
    Strategy,
)
from dovetail.spec.spans import parse_span
from dovetail.spec.windows import (
    Between,
    Delta,
    EvictAge,
    EvictCount,
    EvictTuples,
    Forever,
    HopSize,
    HopUnit,
    Inherited,
    Latest,
    Range,
    Rows,
    RowsPreceding,
    Seconds,
    Unstated,
    Window,
)

SCHEMA = Schema.of({"k": "int", "t": "timestamp"})
INPUTS = {
    name: Input(name, kind, SCHEMA)
    for name, kind in [
        ("a", InputKind.STREAM),
        ("b", InputKind.STREAM),
        ("t", InputKind.TABLE),
        ("u", InputKind.TABLE),
    ]
}
K = Expression("l.k")
EQUAL = (Equality(K, Expression("r.k")),)
SECOND = parse_span("1 second")
WINDOWS = [
    Rows(3),
    Rows(0),
    Seconds(SECOND),
    Delta(Expression("k"), Decimal(1)),
    Range(SECOND),
    RowsPreceding(5),
    HopUnit("hour"),
    HopSize(SECOND, SECOND),
    Between(K, K),
    Latest(("k",)),
    Inherited(),
    Forever(),
]


def join(left="a", right="b", window=Forever(), clock=Clock.EVENT, **more):  # noqa: B008
    sides = Side(Named(left), window), Side(Named(right), Forever())
    more = {"kind": Kind.INNER, "hard": EQUAL, "select": Columns(()), **more}
    return JoinSpec(*sides, clock=clock, **more)


def extras(spec):
    """What a join uses beside being an inner join of streams on the event clock."""
    return features_of_join(spec, INPUTS) - features_of_join(join(), INPUTS)


def test_every_window_has_a_feature_of_its_own():
    assert {type(window) for window in WINDOWS} == set(get_args(Window)) - {Unstated}
    found = [features_of_join(join(window=window), INPUTS) for window in WINDOWS]
    assert len(set(found)) == len(WINDOWS)


def test_a_range_says_what_is_special_about_its_ends():
    month = Range(parse_span("1 month"), SECOND.negated())
    assert extras(join(window=month)) == {
        Feature.WINDOW_RANGE,
        Feature.RANGE_NEGATIVE,
        Feature.RANGE_MONTHS,
    }


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_has_a_feature(kind):
    found = features_of_join(join(kind=kind), INPUTS)
    assert f"the kind {kind.value}" in {feature.value for feature in found}


@pytest.mark.parametrize(
    ("changed", "features"),
    [
        (join(hard=()), {Feature.NO_EQUALITY}),
        (join(ports=2), {Feature.TWO_PORTS}),
        (join(right="a"), {Feature.SELF_JOIN}),
        (join("t", "u"), {Feature.CHANGELOG}),
        (join("t", "t"), {Feature.CHANGELOG, Feature.SELF_JOIN}),
        (join(absent_left=BlankRow()), {Feature.BLANK_ROW}),
        (join(absent_right=GivenRow(())), {Feature.GIVEN_ROW}),
    ],
)
def test_the_shape_of_a_join(changed, features):
    assert extras(changed) == features


def test_two_tables_in_a_batch_give_no_changelog():
    found = features_of_join(join("t", "u", clock=Clock.BATCH), INPUTS)
    assert Feature.CHANGELOG not in found


@pytest.mark.parametrize(
    ("picks", "features"),
    [
        (Picks(keep=Keep(1)), {Feature.KEEP}),
        (Picks(at_most=AtMost(1)), {Feature.AT_MOST}),
        (
            Picks(at_most=AtMost(1, optional=(OptionalEqual(*EQUAL),))),
            {Feature.AT_MOST_OPTIONAL},
        ),
        (Picks(limit=Limit(1, OnExceed.FAIL)), {Feature.LIMIT_FAIL}),
        (Picks(asof=AsOf(K, K)), {Feature.ASOF_BACKWARD}),
        (
            Picks(strategy=Strategy.LOOKUP),
            {Feature.LOOKUP, Feature.ORDERED_STRATEGY},
        ),
        (Picks(strategy=Strategy.KEYED), {Feature.ORDERED_STRATEGY}),
        (Picks(left_condition=K, skip_when=K), {
            Feature.LEFT_CONDITION,
            Feature.SKIP_WHEN,
        }),
    ],
)  # fmt: skip
def test_every_pick_has_a_feature(picks, features):
    assert extras(join(picks=picks)) == features


@pytest.mark.parametrize(
    ("eviction", "feature"),
    [
        (EvictAge(SECOND), Feature.EVICT_AGE),
        (EvictCount(1), Feature.EVICT_COUNT),
        (EvictTuples(1), Feature.EVICT_TUPLES),
    ],
)
def test_a_partition_that_is_evicted(eviction, feature):
    side = Side(Named("a"), Forever(), (K,), eviction)
    spec = JoinSpec(side, side, Kind.INNER, Clock.ARRIVAL)
    assert {feature, Feature.PARTITION_BY} <= features_of_join(spec, INPUTS)


def test_the_join_inside_a_join_counts_too():
    inner = Side(Nested(join(window=Range(SECOND)), "ab"), Inherited())
    outer = JoinSpec(inner, Side(Named("t")), Kind.INNER, Clock.EVENT)
    found = features_of_join(outer, INPUTS)
    assert {Feature.NESTED, Feature.WINDOW_RANGE, Feature.WINDOW_INHERITED} <= found


def test_a_join_of_sets_is_one_feature():
    sets = SetJoinSpec(("a", "b"), SetKind.INNER, ("k",), (), Columns(()))
    assert features_of_join(sets, INPUTS) == {Feature.SETS}


def test_a_play_adds_its_switches_and_what_happens():
    switches = Settings(OuterRows.EAGER, EmitLateTableRows(), Order.ROW_TIME)
    events = (
        Arrive("a", {}),
        Arrive("b", {}),
        Remove("t", {}),
        Bound("a", 1),
        Pause(1),
        Finish("a"),
    )
    play = Play(join(), INPUTS, events, settings=switches)
    assert features_of_play(play) - features_of_join(join(), INPUTS) == {
        Feature.EAGER,
        Feature.LATE_TABLE_ROWS,
        Feature.ROW_TIME_ORDER,
        Feature.DELETES,
        Feature.BOUNDS,
        Feature.PAUSES,
        Feature.OPEN_INPUT,
    }


def test_a_stream_that_ends_is_not_open():
    play = Play(join(), INPUTS, (Arrive("a", {}), Finish("a"), Finish("b")))
    assert features_of_play(play) == features_of_join(join(), INPUTS)


def test_an_engine_names_all_that_it_lacks():
    engine = Engine("abacus", frozenset({Feature.KEEP}))
    used = frozenset({Feature.KEEP, Feature.LOOKUP, Feature.WINDOW_DELTA})
    with pytest.raises(UnsupportedError) as refusal:
        engine.refuse_unsupported(used)
    assert str(refusal.value) == (
        "the window delta (and the strategy lookup) "
        "is not yet supported by the engine abacus"
    )


def test_an_engine_that_has_it_all_refuses_nothing():
    Engine("abacus", frozenset(Feature)).refuse_unsupported(frozenset(Feature))
