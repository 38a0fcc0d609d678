"""Joins of DataFrames are one native plan, which does no more than it must."""

from dataclasses import replace
from datetime import UTC

import pytest
from pyspark.errors import PySparkException

from dovetail.engines.spark_batch.arrivals import REASON, Arrivals
from dovetail.engines.spark_batch.join import join_batch
from dovetail.engines.spark_batch.stops import limits_told
from dovetail.errors import LimitError, UnsupportedError
from dovetail.expression import Expression
from dovetail.plan.batch import plan_batch
from dovetail.schema import Schema
from dovetail.spec.inputs import Clock, Input, InputKind, Outlet, Settings
from dovetail.spec.inputs import Order as OutputOrder
from dovetail.spec.join import Columns, JoinSpec, Kind, Named, Nested, Side
from dovetail.spec.picks import (
    AsOf,
    AtMost,
    Direction,
    Equality,
    Keep,
    Limit,
    OnExceed,
    Picks,
    Strategy,
)
from dovetail.spec.spans import parse_span
from dovetail.spec.windows import Forever, Range

SCHEMA = Schema.of({"k": "int", "t": "timestamp"})
HOURS = Range(parse_span("2 hours"))
SELECT = Columns((("k", Expression("l.k")), ("hour", Expression("hour(row_time)"))))


def hourly(spark, count):
    """Rows of the keys 0 and 1, one an hour."""
    numbers = spark.range(count).selectExpr(
        "cast(id % 2 as int) as k", "timestamp_seconds(id * 3600) as t", "id as extra"
    )
    return Arrivals(numbers)


def user_join(**changes):
    sides = (Side(Named(name), HOURS) for name in "ab")
    equal = (Equality(Expression("l.k"), Expression("r.k")),)
    fields = {"kind": Kind.LEFT_OUTER, "hard": equal, "select": SELECT, **changes}
    return JoinSpec(*sides, clock=Clock.EVENT, **fields)


INPUTS = {name: Input(name, InputKind.STREAM, SCHEMA, (), "t") for name in "ab"}


def plan_of(frame):
    return frame._jdf.queryExecution().toString()  # noqa: SLF001 - only to be read


def frames(spark):
    return {"a": hourly(spark, 8), "b": hourly(spark, 3)}


def test_frames_are_joined_in_the_order_that_is_asked_for(odd_session):
    by_time = Settings(order=OutputOrder.ROW_TIME)
    found = join_batch(plan_batch(user_join(), INPUTS, by_time), frames(odd_session))
    rows = [tuple(row) for row in found.outlets[Outlet.MATCHED].collect()]
    assert [hour for _, hour in rows] == sorted(hour for _, hour in rows)
    assert sorted(rows) == [
        *[(0, 0), (0, 2), (0, 2), (0, 2), (0, 4), (0, 8)],
        *[(1, 1), (1, 3), (1, 7), (1, 9)],
    ]  # fmt: skip
    assert found.late["a"].count() == 0


def test_a_row_without_a_time_is_late(spark):
    nameless = frames(spark)
    empty = nameless["a"].frame.selectExpr("k", "cast(null as timestamp) as t")
    nameless["a"] = Arrivals(empty)
    found = join_batch(plan_batch(user_join(), INPUTS), nameless)
    assert {row[REASON] for row in found.late["a"].collect()} == {"null_time"}
    assert found.outlets[Outlet.MATCHED].count() == 0


@pytest.mark.parametrize("kind", [kind for kind in Kind if kind is not Kind.CROSS])
def test_no_range_becomes_a_cross_join(spark, kind):
    for hard in user_join().hard, ():
        found = join_batch(
            plan_batch(user_join(kind=kind, hard=hard), INPUTS), frames(spark)
        )
        plan = plan_of(found.outlets[Outlet.MATCHED])
        assert "NestedLoop" not in plan
        assert "Cartesian" not in plan


def test_no_python_touches_the_rows(spark):
    found = join_batch(plan_batch(user_join(), INPUTS), frames(spark))
    assert "Python" not in plan_of(found.outlets[Outlet.MATCHED])


def test_a_plain_join_pays_for_nothing_else(spark):
    sets = {name: Input(name, InputKind.DATASET, SCHEMA) for name in "ab"}
    side = Side(Named("a"), Forever()), Side(Named("b"), Forever())
    equal = (Equality(Expression("l.k"), Expression("r.k")),)
    select = Columns((("k", Expression("l.k")), ("t", Expression("r.t"))))
    join = JoinSpec(*side, Kind.LEFT_OUTER, Clock.BATCH, equal, select=select)
    found = join_batch(plan_batch(join, sets), frames(spark)).outlets[Outlet.MATCHED]
    physical = plan_of(found).split("== Physical Plan ==")[1]
    assert "__" not in physical


def test_what_the_engine_lacks_is_refused_before_anything_runs(spark):
    inside = replace(user_join(), clock=Clock.BATCH)
    mixed = replace(user_join(), left=Side(Nested(inside, "inside"), Forever()))
    with pytest.raises(UnsupportedError, match="inside one on another clock is"):
        join_batch(plan_batch(mixed, INPUTS), frames(spark))


# --- picks --------------------------------------------------------------------------

SETS = {name: Input(name, InputKind.DATASET, SCHEMA) for name in "ab"}
HOURS_OF_BOTH = Columns((("lt", Expression("l.t")), ("rt", Expression("r.t"))))
ASOF = AsOf(Expression("l.t"), Expression("r.t"))


def picked(spark, kind=Kind.INNER, *, hard=True, soft="true", **picks):
    """The matched rows of two data sets of users, with picks."""
    sides = (Side(Named(name), Forever()) for name in "ab")
    equal = (Equality(Expression("l.k"), Expression("r.k")),) if hard else ()
    join = JoinSpec(*sides, kind, Clock.BATCH, equal, select=HOURS_OF_BOTH)
    chosen = replace(join, soft=Expression(soft), picks=Picks(**picks))
    return join_batch(plan_batch(chosen, SETS), frames(spark)).outlets[Outlet.MATCHED]


def hours(frame):
    """The hours of both rows, as they come."""
    return [
        tuple(time and time.astimezone(UTC).hour for time in row)
        for row in frame.collect()
    ]


@pytest.mark.parametrize(
    "picks",
    [
        {"keep": Keep(1)},
        {"at_most": AtMost(2)},
        {"limit": Limit(2, OnExceed.SKIP)},
        {"asof": ASOF},
        {"strategy": Strategy.LOOKUP},
    ],
    ids=str,
)
def test_a_pick_is_one_native_plan(spark, picks):
    plan = plan_of(picked(spark, Kind.LEFT_OUTER, **picks))
    for word in ("Python", "NestedLoop", "Cartesian"):
        assert word not in plan


def test_a_pick_moves_no_row_that_the_join_has_moved(spark):
    threshold = "spark.sql.autoBroadcastJoinThreshold"
    before = spark.conf.get(threshold)
    spark.conf.set(threshold, "-1")
    try:
        limit = Limit(2, OnExceed.SKIP)
        plan = plan_of(picked(spark, Kind.LEFT_OUTER, limit=limit))
    finally:
        spark.conf.set(threshold, before)
    physical = plan.split("== Physical Plan ==")[1]
    assert physical.count("Exchange hashpartitioning") == len(SETS)


def test_a_term_over_one_side_makes_no_asof_compare_all_rows(spark):
    soft = "hour(l.t) > 2 and hour(r.t) <> 2"
    found = picked(spark, hard=False, soft=soft, asof=ASOF)
    assert "NestedLoop" not in plan_of(found)
    assert dict(hours(found)) == dict.fromkeys(range(3, 8), 1)


@pytest.mark.parametrize("direction", Direction)
def test_an_asof_without_an_equality_compares_no_row_with_all_others(spark, direction):
    asof = replace(ASOF, direction=direction)
    found = picked(spark, hard=False, asof=asof)
    assert "NestedLoop" not in plan_of(found)
    assert "Cartesian" not in plan_of(found)
    nearest = {left: min(left, 2) for left in range(8)}
    if direction is Direction.FORWARD:
        nearest = {left: left for left in range(3)}
    assert dict(hours(found)) == nearest


@pytest.mark.parametrize(
    "picks",
    [
        {"keep": Keep(1)},
        {"at_most": AtMost(2), "keep": Keep(1)},
        {"limit": Limit(2, OnExceed.SKIP)},
        {"strategy": Strategy.LOOKUP},
    ],
    ids=str,
)
def test_what_keys_decide_is_decided_before_the_join(spark, picks):
    physical = plan_of(picked(spark, **picks)).split("== Physical Plan ==")[1]
    for judged in ("__dovetail_match", "__dovetail_number", "__dovetail_over"):
        assert judged not in physical


def test_left_rows_stay_in_order_where_the_strategy_says_so(spark):
    found = hours(picked(spark.newSession(), strategy=Strategy.MANY_LOOKUP))
    assert found == [
        (left, right)
        for left in range(8)
        for right in range(3)
        if (left - right) % 2 == 0
    ]


def test_a_lookup_leaves_the_left_rows_where_they_are(spark):
    found = picked(spark, Kind.LEFT_OUTER, strategy=Strategy.LOOKUP)
    physical = plan_of(found).split("== Physical Plan ==")[1]
    assert "BroadcastHashJoin" in physical
    assert "rangepartitioning" not in physical
    assert hours(found) == [(left, left % 2) for left in range(8)]


def test_a_hash_join_is_one(spark):
    assert "ShuffledHashJoin" in plan_of(picked(spark, strategy=Strategy.HASH))


def test_a_limit_that_fails_names_the_key_and_the_count(spark):
    frame = picked(spark, limit=Limit(1, OnExceed.FAIL))
    facts = "key 0 has 2 candidates; expected at most 1"
    with pytest.raises(LimitError, match=facts), limits_told():
        frame.collect()


def test_other_failures_are_told_as_they_are(spark):
    with pytest.raises(PySparkException, match="no limit"), limits_told():
        spark.sql("select raise_error('no limit')").collect()
