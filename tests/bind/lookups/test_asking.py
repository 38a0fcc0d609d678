"""What a worker keeps of a table, for how long, and what it does about a miss."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dovetail.bind.lookups.tables import (
    COUNTS,
    FOUND,
    Asking,
    Cache,
    Function,
    How,
    LookupTable,
    with_found,
)
from dovetail.errors import EngineError
from dovetail.kernels.arrays.names import reserved

COLUMNS = pa.schema([("id", pa.int64()), ("name", pa.string())])


class Clock:
    """A clock that goes on when it is told, or slept for; who sleeps lets rows come."""

    def __init__(self):
        self.now = 1000.0
        self.meanwhile = lambda: None

    def __call__(self):
        return self.now

    def sleep(self, seconds):
        assert seconds >= 0
        self.now += seconds
        self.meanwhile()


class Shelf(LookupTable):
    """Names by number, which change; it knows what it was asked for."""

    title = "the shelf"

    def __init__(self, clock, names):
        self.clock, self.names, self.asked, self.broken = clock, names, [], False

    def cache(self, size):
        return Cache(size, self.clock)

    def fetch(self, keys):
        self.asked.append([key["id"] for key in keys])
        if self.broken:
            raise OSError("nobody answers")
        return [
            {"id": key["id"], "name": name}
            for key in keys
            for name in self.names.get(key["id"], ())
        ]


def asking(names, **how):
    """A worker's asking of a shelf, on a clock of its own."""
    clock = Clock()
    told = {"size": 10, "ttl": 60.0, "refresh": 60.0, "retry": 0.0, **how}
    table = Shelf(clock, names)
    found = Asking(table, How("a", ("id",), COLUMNS, **told), clock, clock.sleep)
    return found, table, clock


def names_of(found, *keys):
    """The names by key, and the counts, of some keys."""
    rows, counts = found.rows_of([(key,) for key in keys])
    return {key: [name for _, name in some] for (key,), some in rows.items()}, counts


def test_a_key_is_asked_for_once_while_its_rows_are_young():
    found, table, clock = asking({1: ["Ada", "Ann"]})
    rows, counts = names_of(found, 1, 2)
    assert rows == {1: ["Ada", "Ann"], 2: []}
    assert counts == {"hits": 0, "asked": 2, "fetched": 2, "misses": 1}
    table.names = {1: ["Eve"], 2: ["Ben"]}
    clock.now += 59.9
    rows, counts = names_of(found, 1, 2)
    assert rows == {1: ["Ada", "Ann"], 2: []}
    assert counts == {"hits": 2, "asked": 0, "fetched": 0, "misses": 1}
    clock.now += 0.1
    assert names_of(found, 1, 2)[0] == {1: ["Eve"], 2: ["Ben"]}
    assert table.asked == [[1, 2], [1, 2]]


@given(
    st.lists(
        st.tuples(st.integers(0, 3), st.floats(0, 50), st.booleans()), max_size=30
    ),
    st.integers(0, 4),
)
def test_a_row_is_no_older_than_ttl_whatever_is_kept(steps, size):
    found, table, clock = asking({}, size=size, ttl=20.0, refresh=20.0)
    history = {key: [(clock.now, [])] for key in range(4)}
    for number, (key, later, changes) in enumerate(steps):
        clock.now += later
        if changes:
            table.names[key] = [str(number)]
            history[key].append((clock.now, [str(number)]))
        seen = names_of(found, key)[0][key]
        # All that stood in the table at some moment of the last 20 seconds.
        ends = [moment for moment, _ in history[key][1:]] + [clock.now + 1]
        stood = [
            one
            for (_, one), end in zip(history[key], ends, strict=True)
            if end > clock.now - 20
        ]
        assert seen in stood


def test_of_more_keys_than_it_keeps_those_asked_for_last_stay():
    found, table, _ = asking({key: [str(key)] for key in range(5)}, size=2)
    assert len(names_of(found, 0, 1, 2, 3)[0]) == 4
    names_of(found, 2)
    names_of(found, 4)
    assert names_of(found, 2, 4)[1]["hits"] == 2
    assert names_of(found, 3)[1]["asked"] == 1
    assert table.asked == [[0, 1, 2, 3], [4], [3]]


def test_older_rows_are_fetched_again_and_used_where_the_table_does_not_answer():
    found, table, clock = asking({1: ["Ada"]}, ttl=60.0, refresh=10.0)
    names_of(found, 1)
    table.names = {1: ["Eve"]}
    clock.now += 10
    table.broken = True
    assert names_of(found, 1)[0] == {1: ["Ada"]}
    table.broken = False
    assert names_of(found, 1)[0] == {1: ["Eve"]}
    table.broken = True
    clock.now += 60
    with pytest.raises(EngineError) as raised:
        names_of(found, 1)
    assert raised.value.found == (
        "the shelf cannot be asked for 1 keys: OSError: nobody answers"
    )


def test_a_miss_is_asked_for_again_until_it_comes_or_time_is_up():
    found, table, clock = asking({1: ["Ada"]}, retry=5.0)

    def comes():
        if clock.now >= 1003:
            table.names[2] = ["Ben"]

    clock.meanwhile = comes
    assert names_of(found, 1, 2)[0] == {1: ["Ada"], 2: ["Ben"]}
    assert 1003 <= clock.now < 1005
    assert table.asked[0] == [1, 2]
    assert {tuple(one) for one in table.asked[1:]} == {(2,)}
    began = clock.now
    assert names_of(found, 3)[0] == {3: []}
    assert clock.now == began + 5
    count = len(table.asked)
    assert names_of(found, 3)[1] == {"hits": 1, "asked": 0, "fetched": 0, "misses": 1}
    assert len(table.asked) == count


def test_what_stands_for_a_miss_may_be_replaced():
    found, table, _ = asking({1: ["Ada"]})
    table.missed = lambda keys: [{**key, "name": "nobody"} for key in keys]
    assert names_of(found, 1, 2)[0] == {1: ["Ada"], 2: ["nobody"]}


def test_rows_of_other_keys_are_left_out():
    table = Function(lambda _: [{"id": 1, "name": "Ada"}, {"id": 7, "name": "Eve"}])
    found = Asking(table, How("a", ("id",), COLUMNS, 10, 60.0, 60.0, 0.0))
    assert names_of(found, 1, 2)[0] == {1: ["Ada"], 2: []}


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        (
            [{"id": 1}],
            "a row that a function finds has no \"name\": {'id': 1}",
        ),
        ([{"id": "one", "name": "Ada"}], "what a function finds does not fit"),
        ([3], "what a function finds does not fit its columns"),
        (pa.table({"id": [1]}), "what a function finds does not fit"),
    ],
)
def test_rows_that_do_not_fit_are_told(rows, told):
    asked = Asking(
        Function(lambda _: rows), How("a", ("id",), COLUMNS, 10, 60.0, 60.0, 0.0)
    )
    with pytest.raises(EngineError) as raised:
        names_of(asked, 1)
    assert told in raised.value.found


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "a": st.none() | st.integers(0, 3),
            "b": st.none() | st.sampled_from(["x", "y", "é"]),
        }
    ),
    max_size=12,
)


@given(ROWS, ROWS, st.integers(0, 3), st.booleans())
def test_each_row_gets_all_rows_of_its_key_in_their_order(left, right, size, twice):
    kinds = pa.schema([("a", pa.int64()), ("b", pa.string())])
    columns = pa.schema([*kinds, ("n", pa.int64())])
    there = [{**row, "n": number} for number, row in enumerate(right)]
    table = pa.Table.from_pylist(there, schema=columns)
    found = Asking(
        Function(lambda _: table), How("a", ("a", "b"), columns, size, 60.0, 60.0, 0.0)
    )
    keys = [reserved("a"), reserved("b")]
    rows = [
        {"l": at, keys[0]: one["a"], keys[1]: one["b"]} for at, one in enumerate(left)
    ]
    given_rows = pa.Table.from_pylist(
        rows,
        schema=pa.schema([("l", pa.int64()), *zip(keys, kinds.types, strict=True)]),
    )
    for _ in range(1 + twice):
        with_rows = with_found(found, given_rows, keys).to_pylist()
        assert [(one["l"], one[FOUND]) for one in with_rows] == [
            (
                at,
                [
                    other
                    for other in there
                    if None not in one.values()
                    and (other["a"], other["b"]) == (one["a"], one["b"])
                ],
            )
            for at, one in enumerate(left)
        ]
        told = {name: sum(one[reserved(name)] for one in with_rows) for name in COUNTS}
        sought = {(one["a"], one["b"]) for one in left if None not in one.values()}
        assert told["hits"] + told["asked"] == len(sought)
        there_are = {(one["a"], one["b"]) for one in right}
        assert told["misses"] == len(sought - there_are)
