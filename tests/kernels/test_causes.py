"""Rows of a join tell who let them out, so that those of all buckets have one order."""

from dataclasses import replace
from random import Random

import numpy as np
import pyarrow as pa
import pytest

from dovetail.kernels.arrays.names import CLOCK, PLACE, TURN
from dovetail.kernels.arrays.rows import flags_of, make_rows
from dovetail.kernels.arrival.arrival import numbered, with_causes
from dovetail.kernels.pairs.results import WHEN
from dovetail.spec.inputs import Arrival
from dovetail.spec.windows import Rows
from tests.kernels.test_working_set import settings_of, side

BUCKETS = 3


def rows_of(lines, *, from_start=False):
    """Rows of (own place, row time, place in their bucket)."""
    own, moment, place = np.array(lines, np.int64).reshape(-1, 3).T.copy()
    hidden = {PLACE: pa.array(own), CLOCK: pa.array(own * 10)}
    marks = np.full(len(own), from_start)
    flags = flags_of(has_key=~marks, from_start=marks)
    return make_rows(own, moment, place, flags, pa.RecordBatch.from_pydict(hidden))


def by(arrival):
    """The settings of a join inside one in this order of arrival."""
    one = side(Rows(2))
    found = settings_of(one, one, event_clock=False)
    return replace(found, arrival=arrival, caused=True)


def leaving_at(places):
    """Rows that leave at places, called by their number."""
    return pa.RecordBatch.from_pydict(
        {"row": pa.array(range(len(places))), WHEN: pa.array(places, pa.int64())}
    )


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
        found = with_causes(by(arrival), fresh, leaving_at(places))
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
    found = with_causes(by(Arrival.SEQUENCE), (there, came), leaving_at([0, 1]))
    assert found.column("row").to_pylist() == [1]
