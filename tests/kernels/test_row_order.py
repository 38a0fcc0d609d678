"""Rows in row time: an input that is silent for long holds the others back no more."""

import pyarrow as pa
import pytest

from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.keeping.lines import KIND
from dovetail.kernels.row_order import (
    CAME,
    INPUT,
    MOMENT,
    NUMBER,
    RowOrder,
    begun,
    in_order,
)
from dovetail.spec.spans import NO_TIME

SCHEMA = pa.schema(
    [
        ("at", pa.int64()),
        (KIND, pa.int32()),
        (MOMENT, pa.int64()),
        (INPUT, pa.string()),
        (NUMBER, pa.int64()),
        (CAME, pa.string()),
    ]
)


def row(name, at):
    return {"at": at, KIND: LineKind.ROW, INPUT: name, CAME: f"{name}{at}"}


def beat(now):
    return {KIND: LineKind.BEAT, MOMENT: now, INPUT: "a"}


def passed(name, at):
    return {KIND: LineKind.PASSED, MOMENT: at, INPUT: name}


def played(order, *batches):
    """The rows that go on in each batch, and what the late ones were, at the end."""
    waiting, gone, late = begun(order, SCHEMA), [], []
    for lines in batches:
        batch = pa.RecordBatch.from_pylist(list(lines), schema=SCHEMA)
        waiting, out = in_order(order, waiting, batch)
        found = out.to_pylist()
        gone.append([one["at"] for one in found if one[KIND] == LineKind.ROW])
        late += [one[CAME] for one in found if one[KIND] == LineKind.LATE]
    return gone, late


def order_of(names="ab", **idle):
    return RowOrder("at", dict.fromkeys(names, NO_TIME), idle=idle)


@pytest.mark.parametrize(
    ("batches", "gone"),
    [
        # Silent since the first beat: at 5 for longer than 4 no more.
        (([row("a", 1)], [beat(100)], [beat(104)], [beat(105)]), [[], [], [], [1]]),
        # A row of the silent one counts from the first beat behind it.
        (
            (
                [row("a", 3), beat(100)],
                [row("b", 2)],
                [beat(105)],
                [beat(109)],
                [beat(110)],
            ),
            [[], [2], [], [], [3]],
        ),
        # One that a filter passes over has not been silent.
        (([row("a", 1)], [beat(100)], [passed("b", 0), beat(105)]), [[], [], []]),
        # What came in the batch of the beat is as old as that.
        (([row("a", 1), row("b", 0)], [beat(100)], [beat(104)]), [[0], [], []]),
    ],
)
def test_a_silent_input_is_as_far_as_the_others(batches, gone):
    assert played(order_of(b=4), *batches)[0] == gone


def test_without_idle_an_input_is_waited_for_for_ever():
    assert played(order_of(), [row("a", 1)], [beat(0)], [beat(10**9)])[0] == [
        [],
        [],
        [],
    ]


def test_where_all_are_silent_nothing_waits():
    order = order_of(a=4, b=4)
    gone, _ = played(order, [row("a", 5), row("b", 3)], [beat(0)], [beat(5)])
    assert gone == [[3], [], [5]]


def test_a_row_behind_the_lifted_bound_is_late():
    batches = [row("a", 5)], [beat(0)], [beat(5)], [row("b", 4), row("b", 5)]
    assert played(order_of(b=4), *batches) == ([[], [], [5], [5]], ["b4"])


def test_the_least_of_those_that_are_not_silent_counts():
    order = order_of("abc", c=4)
    first = [row("a", 5), row("b", 3)]
    assert played(order, first, [beat(0)], [beat(5)])[0] == [[], [], [3]]


def test_what_was_late_before_goes_by():
    line = {KIND: LineKind.LATE, MOMENT: 7, INPUT: "step 1", CAME: "x7"}
    batches = [row("a", 9)], [line, row("a", 8)]
    assert played(order_of("a"), *batches) == ([[9], []], ["x7", "a8"])
