"""Rows in row time: who holds the others back, and what tasks say to one another."""

from itertools import count

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.keeping.lines import KIND
from dovetail.kernels.row_order import (
    CAME,
    INPUT,
    MOMENT,
    NUMBER,
    PART,
    RowOrder,
    begun,
    between_tasks,
    in_order,
)
from dovetail.spec.spans import NO_TIME, Span

TIMES = st.integers(0, 12)

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


def bound(name, at):
    return {KIND: LineKind.BOUND, MOMENT: at, INPUT: name}


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


def part(number, at):
    return row(f"a{PART}{number}", at)


@pytest.mark.parametrize(
    ("batches", "gone", "late"),
    [
        # Each at its own pace: the one that is behind says how far the topic is.
        (
            ([part(0, 50), part(1, 10)], [part(1, 20), part(1, 60), part(0, 70)]),
            [[10], [20, 50, 60]],
            [],
        ),
        # Late is a row behind those of its own part.
        (([part(0, 50), part(1, 10)], [part(1, 9), part(0, 49)]), [[10], []], [9, 49]),
        # A part counts from its first row on: the topic never goes back for it.
        (([part(0, 50)], [part(1, 10), part(1, 50)]), [[50], [50]], [10]),
        # One that is silent is left out, of all that are silent none is waited for.
        (
            ([part(0, 50), part(1, 10), beat(0)], [part(0, 60), beat(5)]),
            [[10], [50, 60]],
            [],
        ),
        (([part(0, 50), part(1, 10)], [beat(0)], [beat(5)]), [[10], [], [50]], []),
        # The end of a topic is that of all its parts.
        (
            ([part(0, 50), part(1, 10), {KIND: LineKind.FINISH, INPUT: "a"}],),
            [[10, 50]],
            [],
        ),
    ],
)
def test_an_input_is_as_far_as_its_slowest_part(batches, gone, late):
    found, told_late = played(order_of("a", a=4), *batches)
    assert found == gone
    assert [int(one[3:]) for one in told_late] == late


LATENESS = {"a": Span(0, 3), "b": NO_TIME}
lines_of_tasks = st.lists(
    st.lists(
        st.one_of(
            st.builds(row, st.sampled_from(["a", f"b{PART}0", f"b{PART}1"]), TIMES),
            st.builds(passed, st.just("a"), TIMES),
            st.builds(bound, st.sampled_from(["a", "c"]), TIMES),
        ),
        max_size=6,
    ),
    min_size=1,
    max_size=3,
)


@given(st.lists(lines_of_tasks, max_size=4), st.booleans())
def test_rows_that_are_spread_are_late_and_go_on_as_those_of_one_task(plays, numbered):
    order = RowOrder("at", {**LATENESS, "c": NO_TIME}, frozenset({"c"}))
    one = begun(order, SCHEMA)
    many = [begun(order, SCHEMA) for _ in range(3)]
    for number, tasks in enumerate(plays):
        # Each task has rows behind those of the one before, which it does not see.
        numbers = count(number * 100)
        batches = [
            pa.RecordBatch.from_pylist(
                [
                    line | {NUMBER: next(numbers) if numbered else None}
                    for line in lines
                ],
                schema=SCHEMA,
            )
            for lines in tasks
            if lines
        ]
        if not batches:
            continue
        one, expected = in_order(order, one, pa.concat_batches(batches))
        found = []
        parts = [between_tasks(order, batch) for batch in batches]
        for bucket in range(3):
            own = [
                rows.filter(pa.array([it % 3 == bucket for it in at(rows)], pa.bool_()))
                for rows, _, _ in parts
            ]
            own += [late for _, late, _ in parts if not bucket]
            own += [for_all for *_, for_all in parts]
            lines = pa.concat_batches(own)
            lines = lines.take(pc.sort_indices(lines, [(NUMBER, "ascending")]))
            many[bucket], out = in_order(order, many[bucket], lines)
            assert many[bucket].bounds == one.bounds
            found += told(out)
        assert sorted(found) == sorted(told(expected))


def at(rows):
    return rows.column("at").to_pylist()


def told(out):
    """What comes out of a step but for how far it is: kind, and what it was."""
    kinds, came = out.column(KIND).to_pylist(), out.column(CAME).to_pylist()
    every = zip(kinds, came, strict=True)
    return [one for one in every if one[0] != LineKind.BOUND]
