"""A checkpoint knows its join by what it means, not by how our classes are called."""

from contextlib import suppress
from dataclasses import dataclass, replace

import pytest

from dovetail.conformance.case import Neutral, read_joins
from dovetail.engines.kernel_settings import Manner, keyed_settings, stream_manner
from dovetail.engines.spark_stream.checkpoint import Checkpoint, Kept
from dovetail.engines.spark_stream.fingerprint import (
    Identity,
    SideFacts,
    differences,
    plain,
    read_identity,
)
from dovetail.errors import DovetailError, EngineError
from dovetail.expression import Expression
from dovetail.kernels.settings import FORMAT
from dovetail.plan.stream import plan_play
from dovetail.schema import Schema
from dovetail.spec.inputs import Arrival, Clock, Input, InputKind
from dovetail.spec.join import Columns, JoinSpec, Kind, Named, Side
from dovetail.spec.picks import Equality, Keep, Limit, OnExceed, Picks
from dovetail.spec.spans import Span
from dovetail.spec.windows import Range, RowsPreceding
from tests.house.source import TOP

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
        f'{{"buckets":16,"counted":false,"format":12,"inputs":[{INPUT},{INPUT}],'
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
        'preceding of the left window is "9 seconds" and was "60 seconds"',
        'the kind of the join is "left_outer" and was "inner"',
    ]
    assert differences(IDENTITY.text, replace(IDENTITY, buckets=8).text) == [
        "the number of buckets is 8 and was 16"
    ]
    columns = Schema.of({"k": "bigint", "since": "date"})
    sides = IDENTITY.inputs[0], replace(IDENTITY.inputs[1], schema=columns)
    kept = FACTS, replace(FACTS, payload=(("k", "int64"), ("since", "date32")))
    assert differences(
        IDENTITY.text, replace(IDENTITY, inputs=sides, sides=kept).text
    ) == [
        'column 2 of the right side is "since" and was "t"',
        'the type of column 2 of the right side is "date" and was "timestamp"',
    ]


def test_a_select_may_become_wider_and_nothing_else():
    narrow, wide = shown(k="l.k"), shown(k="l.k", t="r.t")
    assert narrow.fingerprint == wide.fingerprint
    assert differences(narrow.text, wide.text) == []
    assert differences(wide.text, narrow.text) == [
        'the output column "t" is not said and was "r.t"'
    ]
    assert differences(narrow.text, shown(k="r.k").text) == [
        'the output column "k" is "r.k" and was "l.k"'
    ]
    # Whose pairs are counted keeps the counts.
    counted = shown(k="l.k", n="counter")
    assert narrow.fingerprint != counted.fingerprint
    assert differences(narrow.text, counted.text) == ["counted is true and was false"]


CASES = [
    case
    for case in read_joins(sorted((TOP / "tests/cases").glob("*.json")))
    if isinstance(case.join, Neutral)
]


def identified():
    """Joins of all cases that streams do, with what a checkpoint says of them."""
    for case in CASES:
        with suppress(DovetailError):
            for plan in plan_play(case.join.play()).joins:
                manner = stream_manner(plan, ordered=len(case.name) % 2 == 0)
                left, right = (side.source for side in plan.sides)
                yield Identity(plan.join, (left, right), (FACTS, FACTS), manner, 4)


def test_from_its_text_a_join_can_be_carried_out():
    found = 0
    for known in identified():
        join, inputs, manner = read_identity(known.text)
        assert (
            replace(known, join=join, inputs=inputs, manner=manner).text == known.text
        )
        with suppress(DovetailError):
            ours = keyed_settings(known.join, known.inputs, known.manner)
            # One that fails goes on as one that skips, its columns in any order.
            if not isinstance(ours.picks.limit, Limit):
                assert keyed_settings(join, inputs, manner) == ours
                found += 1
    assert found > 500


def other(join, **changes):
    return replace(IDENTITY, join=replace(join, **changes))


def test_of_joins_that_show_more_and_less_each_is_found():
    """Of two joins that are alike but for their columns, in whatever order."""
    narrow, wide = shown(k="l.k"), shown(k="l.k", t="r.t")
    kept = tuple(Kept(FORMAT, one.text) for one in (narrow, wide))
    for known in (kept, kept[::-1]):
        checkpoint = Checkpoint("folder", 3, kept=known)
        for now in (
            (narrow, wide),
            (wide, narrow),
            (shown(k="l.k", t="r.t", j="r.k"), narrow),
        ):
            checkpoint.refuse_other(*(one.text for one in now))
        with pytest.raises(EngineError, match="of another join"):
            checkpoint.refuse_other(narrow.text, narrow.text)


def test_of_joins_in_a_row_only_the_changed_one_is_told():
    inner, outer = IDENTITY, other(JOIN, kind=Kind.LEFT_OUTER)
    kept = tuple(Kept(FORMAT, one.text) for one in (outer, inner))
    known = Checkpoint("folder", 3, kept=kept)
    for same in ((outer, inner), (inner, outer)):
        known.refuse_other(*(one.text for one in same))
    with pytest.raises(EngineError) as refusal:
        known.refuse_other(outer.text, replace(inner, buckets=8).text)
    told = str(refusal.value)
    said = "of inner, on l.k = r.k: the number of buckets is 8 and was 16; expected"
    assert f"another join: {said}" in told
    with pytest.raises(EngineError, match="joins in a row is 1 and was 2; expected"):
        known.refuse_other(outer.text)
