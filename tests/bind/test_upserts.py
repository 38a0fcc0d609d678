"""Changes of a result, as records of which the newest of each key counts."""

from itertools import pairwise

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dovetail.bind.upserts import make_newest

SCHEMA = pa.schema([("value", pa.string()), ("key", pa.string()), ("change", "string")])
KEYS = st.sampled_from(["a", "b", None])
ROW = st.tuples(KEYS, st.sampled_from("xyz"))
STEPS = st.one_of(
    st.tuples(st.just("insert"), ROW),
    st.tuples(st.just("delete"), ROW),
    st.tuples(st.just("update"), ROW, ROW),
)


def records(step):
    """What a change of a result becomes: a value, or none, and a key."""
    kind, (key, row), *after = step
    if kind == "update":
        ((then, now),) = after
        return [(None, key, "update_before"), (now, then, "update_after")]
    return [(row if kind == "insert" else None, key, kind)]


def batch(rows):
    columns = [*zip(*rows, strict=True)] or [(), (), ()]
    return pa.record_batch([pa.array(it, "string") for it in columns], schema=SCHEMA)


@given(st.lists(STEPS, max_size=12), st.lists(st.integers(0, 24), max_size=4))
def test_the_newest_of_each_key_is_the_same_and_nothing_goes_for_nothing(steps, cuts):
    rows = [one for step in steps for one in records(step)]
    edges = sorted({0, len(rows), *(min(it, len(rows)) for it in cuts)})
    parts = [batch(rows[start:end]) for start, end in pairwise(edges)]
    found = [
        tuple(row.values())
        for one in make_newest()(iter(parts))
        for row in one.to_pylist()
    ]
    assert {key: value for value, key, _ in found} == {
        key: value for value, key, _ in rows
    }
    kept = [
        row
        for row, after in zip(rows, [*rows, None][1:], strict=True)
        if row[2] != "update_before" or after is None or after[1] != row[1]
    ]
    assert found == kept
