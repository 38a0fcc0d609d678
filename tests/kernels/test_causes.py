"""Rows of a join tell who let them out, so that those of all buckets have one order."""

from dataclasses import replace
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from dovetail.kernels.arrays.names import CLOCK, PLACE, TURN
from dovetail.kernels.arrays.rows import flags_of, make_rows
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.arrival.arrival import Arrived, Watch, numbered
from dovetail.kernels.arrival.causes import with_causes
from dovetail.kernels.pairs.results import LAST, WHEN, WHOSE, Reason
from dovetail.kernels.settings import Closing
from dovetail.kernels.step import late_null_rows
from dovetail.spec.inputs import Arrival
from dovetail.spec.spans import SECOND, Span
from dovetail.spec.windows import Rows, Seconds
from tests.kernels.test_working_set import settings_of, side

BUCKETS = 3
NOW = 77


def rows_of(lines, *, from_start=False):
    """Rows of (own place, row time, place in their bucket)."""
    own, moment, place = np.array(lines, np.int64).reshape(-1, 3).T.copy()
    hidden = {PLACE: pa.array(own), CLOCK: pa.array(own * 10)}
    marks = np.full(len(own), from_start)
    flags = flags_of(has_key=~marks, from_start=marks)
    return make_rows(own, moment, place, flags, pa.RecordBatch.from_pydict(hidden))


def by(arrival, window=Rows(2)):  # noqa: B008 - it never changes
    """The settings of a join inside one in this order of arrival."""
    is_timed = isinstance(window, Seconds)
    closing = Closing.CLOCK if is_timed else Closing.NONE
    one = replace(side(window), closing=closing)
    found = settings_of(one, one, event_clock=False)
    return replace(found, arrival=arrival, caused=True)


def leaving_at(places, lasts=None):
    """Rows that leave at places, called by their number; time lets some out."""
    lasts = lasts or [None] * len(places)
    return pa.RecordBatch.from_pydict(
        {
            "row": pa.array(range(len(places)), pa.int64()),
            WHEN: pa.array(places, pa.int64()),
            LAST: pa.array(lasts, pa.int64()),
            WHOSE: pa.array(places, pa.int64()),
        }
    )


def present(sides, old=(0, 0)):
    """The rows that take part in a step, the first of each side since before it."""
    nobody = tuple(rows.take(slice(0, 0)) for rows in sides)
    still = tuple(np.zeros(0, bool) for _ in sides)
    return Present(sides, old, nobody, (Watch(), Watch()), 99, still, now=NOW)


def drawn(chance):
    """The causes of a bucket, by hand, and at which of them each of its rows leaves."""
    causes = [(chance.randrange(9), chance.randrange(3)) for _ in range(8)]
    hands = [[], []]
    for place, (own, moment) in enumerate(causes):
        hands[chance.randrange(2)].append((own, moment, place))
    return hands, sorted(chance.choices(range(8), k=12))


def number_of(arrival, own, moment):
    """The number by which the order of arrival goes."""
    return {Arrival.SEQUENCE: own, Arrival.MERGED: moment, Arrival.AS_READ: 0}[arrival]


@pytest.mark.parametrize("arrival", list(Arrival))
def test_rows_of_all_buckets_stand_as_their_causes_do(arrival):
    chance, told, wanted = Random(arrival.value), [], []
    for bucket in range(BUCKETS):
        hands, places = drawn(chance)
        fresh = tuple(map(rows_of, hands))
        (found,) = with_causes(by(arrival), present(fresh), [leaving_at(places)])
        told += [(one[TURN], bucket, one["row"]) for one in found.to_pylist()]
        stands = {
            place: (number_of(arrival, own, moment), hand, own)
            for hand, lines in enumerate(hands)
            for own, moment, place in lines
        }
        for row, place in enumerate(places):
            wanted.append((*stands[place], row, bucket))
        assert found.column(CLOCK).to_pylist() == [10 * stands[p][2] for p in places]
    keys = {(one[-1], one[-2]): one[:-1] for one in wanted}
    in_turn = [keys[bucket, row] for _, bucket, row in sorted(told)]
    assert in_turn == sorted(in_turn)


def test_the_next_join_numbers_rows_by_their_turns():
    turns = [b"\2", b"\0", b"\1"]
    rows = rows_of([(7, 5, 7)] * 3)
    payload = rows.payload.append_column(TURN, pa.array(turns, pa.binary()))
    own, other = replace(rows, payload=payload), rows_of([(7, 5, 7)])
    for arrival in Arrival:
        left, right = numbered((own, other), by(arrival), 0)
        assert left.place.tolist() == [2, 0, 1]
        assert right.place.tolist() == [3]


def test_what_was_there_from_the_start_lets_nothing_out():
    there, came = rows_of([(0, 0, 0)], from_start=True), rows_of([(1, 0, 1)])
    sides = present((there, came))
    settings = by(Arrival.SEQUENCE)
    (found,) = with_causes(settings, sides, [leaving_at([0, 1])])
    assert found.column("row").to_pylist() == [1]
    assert with_causes(settings, sides, [leaving_at([0])]) == ()


@pytest.mark.parametrize("arrival", list(Arrival))
def test_what_time_lets_out_stands_by_its_last_moments_in_front_of_all(arrival):
    settings, told = by(arrival, Seconds(Span(0, 5 * SECOND))), []
    # Of each bucket rows 0 and 1 are there since before, 2 has come; by their places.
    for bucket, owns in enumerate([(4, 7, 9), (5, 8, 10)]):
        left = rows_of([(owns[0], owns[0], 0), (owns[2], owns[2], 2)])
        right = rows_of([(owns[1], owns[1], 1)])
        leaving = leaving_at([0, 1, 2], [6, 6 + bucket, None])
        sides = present((left, right), old=(1, 1))
        (found,) = with_causes(settings, sides, [leaving])
        own = found.to_pylist()
        told += [(one[PLACE], one[TURN], bucket, one["row"]) for one in own]
        assert found.column(CLOCK).to_pylist() == [NOW, NOW, 10 * owns[2]]
    # Of one moment those that came first: as read, the left side goes first.
    wanted = [(0, 0), (1, 0), (0, 1), (1, 1), (0, 2), (1, 2)]
    assert [one[-2:] for one in sorted(told)] == wanted


@pytest.mark.parametrize("arrival", list(Arrival))
def test_the_null_rows_of_late_rows_stand_where_those_came(arrival):
    """Among the rows that are let out by others of the batch, in whatever bucket."""
    settings = by(arrival)
    one = replace(settings.sides[0], late_null_rows=True)
    settings = replace(settings, sides=(one, one))
    left, right = rows_of([(3, 3, 0), (7, 7, 0)]), rows_of([(5, 5, 0)])
    watch = Watch()
    arrived = tuple(
        Arrived(rows.take(slice(0, 0)), ((Reason.LATE, rows),), watch)
        for rows in (left, right)
    )
    (late,) = late_null_rows(settings, arrived)
    fresh = rows_of([(4, 4, 0)]), rows_of([(6, 6, 1)])
    (others,) = with_causes(settings, present(fresh), [leaving_at([0, 1])])
    turns = [*late.column(TURN).to_pylist(), *others.column(TURN).to_pylist()]
    stands = [
        (number_of(arrival, own, own), hand, own)
        for own, hand in zip([3, 7, 5, 4, 6], [0, 0, 1, 0, 1], strict=True)
    ]
    in_turn = [one for _, one in sorted(zip(turns, stands, strict=True))]
    assert in_turn == sorted(stands)
    assert late.column(CLOCK).to_pylist() == [30, 70, 50]
