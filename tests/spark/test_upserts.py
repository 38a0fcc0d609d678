"""Changes of a result as records of a topic: what is last under a key is its row."""

from itertools import count
from random import Random

import pyarrow as pa
import pytest
from pyspark.sql import types

from dovetail.bind.upserts import without_replaced

BUCKETS = 3
COLUMNS = [
    types.StructField("value", types.BinaryType()),
    types.StructField("key", types.BinaryType()),
    types.StructField("change", types.StringType()),
]
ARROW = pa.schema([("value", "binary"), ("key", "binary"), ("change", "string")])


def history(chance, own):
    """A batch of a result whose rows have keys of their own, of which some are free.

    Returns what is there before and after it, by key, and the records of each bucket:
    a row stays in its bucket, whatever its key is meanwhile.
    """
    keys = [f"{own}/{it}".encode() for it in "abcd"]
    texts = count()

    def rows():
        taken = chance.sample(keys, chance.randint(0, 4))
        numbers = chance.sample(range(6), len(taken))
        return dict(zip(numbers, taken, strict=True))

    first, last = rows(), rows()
    before = {number: (key, next(texts)) for number, key in first.items()}
    there, records = dict(before), [[] for _ in range(BUCKETS)]

    def change(number, key):
        old, new = there.pop(number, None), key and (key, next(texts))
        if old and key and chance.random() < 0.2:
            new = (key, old[1])  # it may be the same row once more
        words = ("update_before", "update_after") if old and new else ("delete",) * 2
        for row, word in ((old, words[0]), (new, words[1] if old else "insert")):
            if row:
                told = (str(row[1]).encode(), row[0], word)
                records[number % BUCKETS].append(told)
        if new:
            there[number] = new

    # Meanwhile keys may be anybody's, also of several.
    for _ in range(chance.randint(0, 4)):
        change(chance.randrange(6), chance.choice([*keys, None]))
    for number in chance.sample(range(6), 6):
        key = last.get(number)
        if (there[number][0] if number in there else None) != key:
            change(number, key)

    def values(state):
        return {key: str(text).encode() for key, text in state.values()}

    return values(before), values(there), records


def frame(spark, parts):
    """The records of each bucket, which is a task of its own."""

    def rows(batches):
        for batch in batches:
            for number in batch.column("id").to_pylist():
                columns = [*zip(*parts[number], strict=True)] or [(), (), ()]
                arrays = map(pa.array, columns, ARROW.types)
                yield pa.RecordBatch.from_arrays([*arrays], schema=ARROW)

    numbers = spark.range(0, len(parts), 1, len(parts))
    return numbers.mapInArrow(rows, types.StructType(COLUMNS))


@pytest.mark.parametrize("seed", [0, 1])
def test_what_is_last_under_a_key_is_right_whatever_the_buckets(spark, seed):
    """Rows that change keys with each other leave tombstones under theirs."""
    chance = Random(seed)
    every = [history(chance, own) for own in range(400)]
    parts = [[one for *_, it in every for one in it[at]] for at in range(BUCKETS)]
    there = {key: value for before, _, _ in every for key, value in before.items()}
    after = {key: value for _, after, _ in every for key, value in after.items()}
    told = [
        (row.key, row.value) for row in without_replaced(frame(spark, parts)).collect()
    ]
    there.update(told)
    assert {key: value for key, value in there.items() if value is not None} == after
    # Nothing goes out twice under a key: a record is its row, or there is none.
    assert len({key for key, _ in told}) == len(told)
