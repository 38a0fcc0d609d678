"""The nodes of a join: what a kind promises, and numbers that make no sense."""

from decimal import Decimal

import pytest

from dovetail.errors import SpecError
from dovetail.expression import Expression
from dovetail.spec.join import HANDS, GivenRow, Hand, Kind
from dovetail.spec.picks import AtMost, Keep, Limit, OnExceed, OptionalPrefix
from dovetail.spec.reader import read_join
from dovetail.spec.spans import NO_TIME, SECOND, Span
from dovetail.spec.windows import (
    Delta,
    EvictAge,
    EvictCount,
    EvictTuples,
    HopSize,
    Rows,
    RowsPreceding,
    Seconds,
)

COLUMN = Expression("v")
MONTH = Span(1)


@pytest.mark.parametrize("kind", Kind)
def test_a_mirrored_kind_promises_the_same_of_the_other_side(kind):
    assert kind.mirrored.mirrored is kind
    assert kind.mirrored.gives_pairs == kind.gives_pairs
    for hand in HANDS:
        assert kind.mirrored.preserves(hand) == kind.preserves(hand.other)
        assert kind.mirrored.gives_once(hand) == kind.gives_once(hand.other)


def test_kinds_promise_what_they_are_called():
    assert {kind for kind in Kind if kind.gives_pairs} == {
        *(Kind.INNER, Kind.CROSS),
        *(Kind.LEFT_OUTER, Kind.RIGHT_OUTER, Kind.FULL_OUTER),
    }
    assert {kind for kind in Kind if kind.preserves(Hand.LEFT)} == {
        *(Kind.LEFT_OUTER, Kind.FULL_OUTER, Kind.LEFT_ONLY, Kind.FULL_ONLY)
    }
    assert [kind for kind in Kind if kind.gives_once(Hand.RIGHT)] == [Kind.RIGHT_SEMI]


def test_a_side_and_its_absent_row_are_found_by_hand():
    sides = {hand.value: {"from": hand.value} for hand in HANDS}
    given = {"default_right": {"k": Decimal("0.5")}}
    join = read_join({**sides, **given, "type": "inner", "clock": "batch"})
    assert [join.side(hand).source.name for hand in HANDS] == ["left", "right"]
    assert join.absent(Hand.RIGHT) == GivenRow((("k", 0.5),))


@pytest.mark.parametrize(
    ("node", "wrong", "right"),
    [
        (Rows, (-1,), (0,)),
        (Seconds, (Span(0, -1),), (NO_TIME,)),
        (Seconds, (MONTH,), (Span(0, SECOND),)),
        (Delta, (COLUMN, Decimal(-1)), (COLUMN, Decimal(0))),
        (RowsPreceding, (1, 2), (2, 2)),
        (RowsPreceding, (1, -1), (1, 0)),
        (HopSize, (NO_TIME, Span(0, 1)), (Span(0, 1), Span(0, 1))),
        (HopSize, (Span(0, 1), MONTH), (Span(0, 1), Span(0, 2))),
        (EvictAge, (MONTH,), (NO_TIME,)),
        (EvictCount, (-1,), (0,)),
        (EvictTuples, (-1,), (0,)),
        (Keep, (0,), (1,)),
        (AtMost, (0,), (1,)),
        (Limit, (0, OnExceed.SKIP), (1, OnExceed.SKIP)),
        (OptionalPrefix, (COLUMN, COLUMN, 0), (COLUMN, COLUMN, 1)),
    ],
)
def test_a_node_checks_its_own_numbers(node, wrong, right):
    assert node(*right)
    with pytest.raises(SpecError) as caught:
        node(*wrong)
    assert caught.value.expected
