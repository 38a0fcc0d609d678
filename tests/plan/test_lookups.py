"""What a join asks of a table by key, and which joins cannot."""

from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal

import pytest

from dovetail import spec
from dovetail.bind.lookups.tables import LookupTable
from dovetail.errors import SchemaError, SpecError, UnsupportedError
from dovetail.expression import Expression
from dovetail.plan.lookups import Compared, Lookup, NoLookup, asked, without_time
from dovetail.plan.stream import Feed, plan_stream
from dovetail.plan.words import explained
from dovetail.schema import Schema
from dovetail.spec.defaults import complete

ORDERS = {"id": "int", "shop": "string", "amount": "double", "at": "timestamp"}
PEOPLE = {
    "id": "bigint",
    "shop": "string",
    "name": "string",
    "level": "int",
    "price": "decimal(6,2)",
    "since": "timestamp",
    "weight": "double",
}
LEFT, RIGHT = spec.HANDS
LASTS = spec.Span(0, 60_000_000)
LOOKUP = Lookup(
    LookupTable(), ("id", "shop"), 100, LASTS, LASTS, spec.NO_TIME, "number"
)
LATEST = spec.Latest(("id",))
KEYS = (("l.id", "r.id"), ("l.shop", "r.shop"))


def inputs_of(**facts):
    """The stream and the table, with more facts of the stream."""
    left = spec.Input("left", spec.InputKind.STREAM, Schema.of(ORDERS), **facts)
    right = spec.Input("right", spec.InputKind.DATASET, Schema.of(PEOPLE))
    return {"left": left, "right": right}


def join_of(keys=KEYS, soft="true", inputs=None, **parts):
    """A join of the stream with the table."""
    join = spec.JoinSpec(
        spec.Side(spec.Named("left")),
        spec.Side(spec.Named("right")),
        spec.Kind.INNER,
        spec.Clock.ARRIVAL,
        hard=tuple(
            spec.Equality(Expression(one), Expression(other)) for one, other in keys
        ),
        soft=Expression(soft),
        select=spec.Columns((("name", Expression("r.name")),)),
    )
    return complete(replace(join, **parts), inputs or inputs_of())


def asked_of(join):
    """What the join asks."""
    inputs = inputs_of()
    sources = {LEFT: inputs["left"], RIGHT: inputs["right"]}
    return asked(join, RIGHT, sources=sources, lookup=LOOKUP)


def test_the_columns_that_are_looked_at_are_asked_for_with_those_of_the_key():
    assert asked_of(join_of()).columns == ("id", "shop", "name")
    assert asked_of(join_of(soft="r.LEVEL > l.amount")).columns == (
        *("id", "shop", "name", "level"),
    )
    every = asked_of(join_of(select=spec.AllColumns()))
    assert every.columns == tuple(PEOPLE)
    assert asked_of(join_of(keys=KEYS[::-1])).keys == (
        Expression("l.id"),
        Expression("l.shop"),
    )


@pytest.mark.parametrize(
    ("soft", "expected"),
    [
        ("r.level > 3", [Compared("level", ">", (3,))]),
        ("3 >= r.level", [Compared("level", "<=", (3,))]),
        ("r.name <> 'a'", [Compared("name", "<>", ("a",))]),
        ("r.level IN (1, 2)", [Compared("level", "in", (1, 2))]),
        ("r.name IS NULL", [Compared("name", "is null")]),
        ("r.name IS NOT NULL", [Compared("name", "is not null")]),
        ("r.price = 1.555", []),  # of another type than the column
        (
            "r.price = CAST(1.5 AS DECIMAL(6,2))",
            [Compared("price", "=", (Decimal("1.50"),))],
        ),
        (
            "r.since < TIMESTAMP '2026-01-01 00:00:00'",
            [Compared("since", "<", (datetime(2026, 1, 1, tzinfo=UTC),))],
        ),
        ("r.id = 1 AND r.level > 3", [Compared("level", ">", (3,))]),
        ("r.weight > CAST(1 AS DOUBLE)", []),
        ("r.level > l.amount", []),
        ("r.level = 1 OR r.level = 2", []),
        ("l.shop = 'a'", []),
        ("r.name LIKE 'a%'", []),
        ("r.level = NULL", []),
        ("3 IN (r.level)", []),
        ("only_spark_knows(r.level)", []),
    ],
)
def test_what_is_said_of_a_column_of_the_table_goes_along(soft, expected):
    found = asked_of(join_of(soft=soft)).conditions
    if soft.startswith("r.id = 1 AND"):
        # A whole number is read in the type of the column beside it.
        found = tuple(one for one in found if one.column != "id")
    assert [*found] == expected


@pytest.mark.parametrize(
    ("keys", "kind", "told"),
    [
        (KEYS[:1], SpecError, 'asked by "shop", and no equality of the join gives it'),
        ((("l.id", "r.id + 1"), KEYS[1]), SpecError, 'asked by "id", and no equality'),
        ((("l.amount", "r.id"), KEYS[1]), SchemaError, 'the key "id" of a lookup is'),
        (
            (KEYS[0], ("l.id", "r.shop")),
            SchemaError,
            "equal to a value of the type int",
        ),
    ],
)
def test_a_key_must_be_given_in_its_own_type(keys, kind, told):
    with pytest.raises(kind) as raised:
        asked_of(join_of(keys=keys))
    assert told in raised.value.found


def planned(join, **facts):
    """The plan of the join as streams take it."""
    feeds = {LEFT: Feed(order="id"), RIGHT: Feed(streams=False, lookup=LOOKUP)}
    return plan_stream(join, inputs_of(**facts), feeds)


def test_a_plan_says_who_is_asked_and_what_is_kept():
    plan = planned(join_of())
    assert plan.runner.is_native
    assert plan.tables == ()
    told = explained(plan, lambda _: "")
    assert "each row meets what the table has when it is asked" in told
    assert "engine  stream: each batch asks for the keys that it brings" in told
    words = replace(LOOKUP, refresh=spec.Span(0, 1_000_000), retry=LASTS).in_words()
    assert words == (
        "a table is asked by id, shop; a worker keeps the rows of up to 100 keys, and "
        "their misses, for 1 minute; after 1 second they are fetched again; a miss is "
        "asked for again for 1 minute"
    )
    assert NoLookup().in_words() == ""


@pytest.mark.parametrize(
    ("parts", "facts", "told"),
    [
        ({"kind": spec.Kind.FULL_OUTER}, {}, "rows of the table, the right side"),
        ({"picks": spec.Picks(keep=spec.Keep(1))}, {}, "pairs are picked"),
        ({"left": spec.Side(spec.Named("left"), spec.Rows(3))}, {}, "have a window"),
        ({"right": spec.Side(spec.Named("right"), LATEST)}, {}, "has a window"),
        ({}, {"time": "at"}, "time is named"),
    ],
)
def test_a_join_that_waits_or_chooses_is_refused_by_name(parts, facts, told):
    join = join_of(**parts, inputs=inputs_of(**facts))
    with pytest.raises(UnsupportedError) as raised:
        planned(join, **facts)
    assert raised.value.found.startswith("a lookup where ")
    assert told in raised.value.found


def test_a_text_beside_a_lookup_leaves_the_time_of_its_one_stream_out():
    join = replace(join_of(), clock=spec.Clock.EVENT)
    lookups = {"left": NoLookup(), "right": LOOKUP}
    plain = without_time(join, lookups, {"left"})
    assert plain == replace(join, clock=spec.Clock.ARRIVAL)
    assert without_time(join, lookups, {"left", "right"}) == join
    assert without_time(join, dict.fromkeys(lookups, NoLookup()), {"left"}) == join
    shown = spec.Columns((("at", Expression("row_time")),))
    by_time = replace(join, select=shown)
    assert without_time(by_time, lookups, {"left"}) == by_time
    nested = replace(join, left=spec.Side(spec.Nested(join, "left")))
    found = without_time(
        replace(nested, right=spec.Side(spec.Named("other"))),
        {**lookups, "other": LOOKUP},
        {"left"},
    )
    assert found.left.source.join.clock is spec.Clock.ARRIVAL
