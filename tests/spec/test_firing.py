"""When windows of the calendar fire: at the first moments of its stretches."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.spec import SECOND
from dovetail.spec.firing import ByCalendar

DAY = 86_400 * SECOND
DAYS = st.integers(-400, 30_000)


def begins(day, months):
    """Whether a stretch begins with a day, counted from 1970."""
    then = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(days=day)
    if not months:
        return then.weekday() == 0
    return then.day == 1 and (then.month - 1) % months == 0


@pytest.mark.parametrize("months", [0, 1, 3, 12])
@given(first=DAYS, length=st.integers(0, 900), within=st.integers(0, DAY - 1))
def test_it_fires_where_a_stretch_begins(months, first, length, within):
    before, until = first * DAY + within, (first + length) * DAY + within
    days = range(first - 1, first + length + 2)
    moments = (day * DAY for day in days if begins(day, months))
    expected = [it for it in moments if before < it <= until]
    assert [*ByCalendar(months).ticks(before, until)] == expected


@pytest.mark.parametrize("months", [0, 1, 3, 12])
def test_no_stretch_is_longer_than_the_longest(months):
    own = ByCalendar(months)
    ticks = [*own.ticks(0, 10_000 * DAY)]
    lengths = [later - one for one, later in pairwise(ticks)]
    assert max(lengths) <= own.longest


def test_no_time_is_behind_the_last_year():
    last = int(datetime(9999, 12, 1, tzinfo=UTC).timestamp()) * SECOND
    assert [*ByCalendar(1).ticks(last, 2**62)] == []
