"""A value of a file is the same as a typed one where their values are."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest

from dovetail.conformance.lines import rough_key, same_row, same_value

MOMENT = datetime(1970, 1, 1, 10, 0, 5, tzinfo=UTC)
SAME = [
    (None, None),
    (1, 1),
    (1, Decimal("1.00")),
    (1, 1.0),
    (0.3, 0.1 + 0.2),
    (1.00000000000004, 1.0),
    (Decimal("0.1"), Decimal("0.100")),
    (float("nan"), float("nan")),
    ("NaN", float("nan")),
    ("12.50", Decimal("12.5")),
    ("-Infinity", float("-inf")),
    (True, True),
    ("a", "a"),
    ("YQ==", b"a"),
    ("10:00:05", MOMENT),
    ("1970-01-01T10:00:05", MOMENT),
    ("1970-01-01 10:00:05", MOMENT.replace(tzinfo=None)),
    ("1970-01-01T12:00:05+02:00", MOMENT),
    ("2020-02-01", date(2020, 2, 1)),
    ([1, None], [1.0, None]),
    ({"A": 1, "b": [2]}, {"a": Decimal(1), "B": [2]}),
    ({"1": "x", "-2": None}, {1: "x", -2: None}),
    ({"true": 1}, {True: 1}),
    ({"2020-02-01": 1}, {date(2020, 2, 1): 1}),
    ({"A": 1, "a": 2}, {"A": 1, "a": 2}),
]
OTHER = [
    (None, 0),
    (0, None),
    (False, None),
    (True, 1),
    (1, True),
    ("1", 1),
    (1, "1"),
    (1, 2),
    (0.3, 0.3001),
    (1.0000000001, 1.0),
    (Decimal("0.1"), Decimal("0.10000000000000001")),
    (float("nan"), 1.0),
    ("twelve", Decimal(12)),
    ("a", "A"),
    ("a", "a "),
    ("10:00:05", datetime(1970, 1, 2, 10, 0, 5, tzinfo=UTC)),
    ("noon", MOMENT),
    ([1], [1, 2]),
    ([1], 1),
    ({"a": 1}, {"a": 2}),
    ({"A": 1, "a": 2}, {"A": 2, "a": 1}),
    ({"1": 1}, {2: 1}),
    ({"a": 1}, {"b": 1}),
]


@pytest.mark.parametrize(("expected", "found"), SAME, ids=repr)
def test_same_values(expected, found):
    assert same_value(expected, found)


@pytest.mark.parametrize(("expected", "found"), SAME, ids=repr)
def test_same_values_meet_under_one_rough_key(expected, found):
    written = isinstance(expected, str) and isinstance(found, float | Decimal | bytes)
    assert written or rough_key(expected) == rough_key(found)


@pytest.mark.parametrize(("expected", "found"), OTHER, ids=repr)
def test_other_values(expected, found):
    assert not same_value(expected, found)


def test_a_row_has_the_same_columns_whatever_their_case():
    assert same_row({"Id": 1}, {"ID": 1})
    assert not same_row({"id": 1}, {"id": 1, "n": None})
