"""A checkpoint knows its join by what it means, not by how our classes are called."""

from dataclasses import dataclass, replace

import pytest

from dovetail.engines.kernel_settings import Manner
from dovetail.engines.spark_stream.fingerprint import (
    Identity,
    SideFacts,
    differences,
    plain,
)
from dovetail.expression import Expression
from dovetail.schema import Schema
from dovetail.spec.inputs import Arrival, Input, InputKind
from dovetail.spec.join import Clock, Columns, JoinSpec, Kind, Named, Side
from dovetail.spec.picks import Equality, Keep, Limit, OnExceed, Picks
from dovetail.spec.spans import Span
from dovetail.spec.windows import Range, RowsPreceding

COLUMNS = Schema.of({"k": "bigint", "t": "timestamp"})
MINUTE = Range(Span(0, 60_000_000))


def input_of(name, **changes):
    return replace(Input(name, InputKind.STREAM, COLUMNS, time="t"), **changes)


def join_of(window=MINUTE, **changes):
    key = Equality(Expression("l.k"), Expression("r.k"))
    left, right = Side(Named("a"), window), Side(Named("b"), MINUTE)
    join = JoinSpec(left, right, Kind.INNER, Clock.EVENT, hard=(key,))
    return replace(join, **changes)


JOIN, BOTH = join_of(), (input_of("a"), input_of("b"))
FACTS = SideFacts("", "", (("k", "int64"), ("t", "timestamp[us]")))
PLACED = replace(FACTS, position="l.n")
MANNER = Manner(Arrival.MERGED)
IDENTITY = Identity(JOIN, BOTH, (FACTS, FACTS), MANNER, 16)
INPUT = (
    '{"kind":"stream","name":"","schema":[["k","bigint"],["t","timestamp"]],"time":"t"}'
)
SIDE = '{"partition":"","payload":[["k","int64"],["t","timestamp[us]"]],"position":""}'
WINDOW = '"window":{"range":{"following":"0 seconds","preceding":"60 seconds"}}'


def test_what_is_hashed_is_canonical_json():
    assert IDENTITY.text == (
        f'{{"buckets":16,"counted":false,"format":5,"inputs":[{INPUT},{INPUT}],'
        '"join":{"clock":"event","hard":[["l.k","r.k"]],'
        f'"left":{{"from":"left",{WINDOW}}},"right":{{"from":"right",{WINDOW}}},'
        '"type":"inner"},"manner":{"arrival":"merged"},'
        f'"self_join":false,"sides":[{SIDE},{SIDE}]}}'
    )


@dataclass(frozen=True, slots=True)
class Way(Manner):
    """What `Manner` may be one day: another name, and one thing more."""

    more: int = 0


def test_another_name_of_a_class_and_a_new_field_keep_it():
    later = replace(IDENTITY, manner=Way(Arrival.MERGED))
    assert later.fingerprint == IDENTITY.fingerprint
    changed = replace(IDENTITY, manner=Way(Arrival.MERGED, more=1))
    assert changed.fingerprint != IDENTITY.fingerprint


def test_the_names_of_inputs_say_nothing():
    renamed = replace(IDENTITY, inputs=(input_of("orders"), input_of("trades")))
    assert renamed.fingerprint == IDENTITY.fingerprint


OTHERS = {
    "length": {"join": join_of(Range(Span(0, 60_000_001)))},
    "following": {"join": join_of(replace(MINUTE, following=Span(0, 1)))},
    "window": {"join": join_of(RowsPreceding(1))},
    "kind": {"join": join_of(kind=Kind.LEFT_OUTER)},
    "condition": {"join": join_of(soft=Expression("l.k > 0"))},
    "pick": {"join": join_of(picks=Picks(keep=Keep(1)))},
    "lateness": {"inputs": (input_of("a", lateness=Span(0, 1)), BOTH[1])},
    "column": {"inputs": (input_of("a", schema=Schema.of({"k": "int"})), BOTH[1])},
    "self": {"inputs": (BOTH[0], BOTH[0])},
    "position": {"sides": (PLACED, FACTS)},
    "arrival": {"manner": Manner(Arrival.AS_READ)},
    "idle": {"manner": Manner(Arrival.MERGED, idle=(1, 0))},
    "buckets": {"buckets": 8},
}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS.keys())
def test_another_join_has_another(change):
    assert replace(IDENTITY, **change).fingerprint != IDENTITY.fingerprint


@pytest.mark.parametrize(
    ("value", "told"),
    [
        ({"a": None, "b": True}, {"a": None, "b": True}),
        (frozenset({"y", "x"}), ["x", "y"]),
        (Span(1), "1 months"),
        (Keep(3), {"count": 3}),
        (Expression("l.k"), {"text": "l.k"}),
        (b"?", "b'?'"),
    ],
)
def test_values_are_plain(value, told):
    assert plain(value) == told


def test_a_join_that_has_failed_goes_on_as_one_that_skips():
    fails, skips = (
        replace(IDENTITY, join=join_of(picks=Picks(limit=Limit(2, how))))
        for how in (OnExceed.FAIL, OnExceed.SKIP)
    )
    other = replace(IDENTITY, join=join_of(picks=Picks(limit=Limit(3, OnExceed.SKIP))))
    assert fails.fingerprint == skips.fingerprint != other.fingerprint


def shown(**columns):
    """The identity of a join with these output columns."""
    select = Columns(tuple((name, Expression(it)) for name, it in columns.items()))
    return replace(IDENTITY, join=join_of(select=select))


def test_what_has_changed_is_told_in_words():
    other = replace(
        IDENTITY, join=join_of(Range(Span(0, 9_000_000)), kind=Kind.LEFT_OUTER)
    )
    assert differences(IDENTITY.text, other.text) == [
        'join.left.window.range.preceding is "9 seconds" and was "60 seconds"',
        'join.type is "left_outer" and was "inner"',
    ]
    assert differences(IDENTITY.text, replace(IDENTITY, buckets=8).text) == [
        "buckets is 8 and was 16"
    ]


def test_a_select_may_become_wider_and_nothing_else():
    narrow, wide = shown(k="l.k"), shown(k="l.k", t="r.t")
    assert narrow.fingerprint == wide.fingerprint
    assert differences(narrow.text, wide.text) == []
    assert differences(wide.text, narrow.text) == [
        'join.select.t is not said and was "r.t"'
    ]
    assert differences(narrow.text, shown(k="r.k").text) == [
        'join.select.k is "r.k" and was "l.k"'
    ]
    # Whose pairs are counted keeps the counts.
    counted = shown(k="l.k", n="counter")
    assert narrow.fingerprint != counted.fingerprint
    assert differences(narrow.text, counted.text) == ["counted is true and was false"]
