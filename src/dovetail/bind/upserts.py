"""Changes of a result as records of a topic, which has the newest row of each key.

    update_before  key 1   row a         left out: the next record has its key
    update_after   key 1   row b         key 1, row b
    update_before  key 1   row b         key 1, nothing: the row moves to another key
    update_after   key 2   row c         key 2, row c
    delete         key 2   row c         key 2, nothing

The two rows of an update follow each other in one task, whatever it hands out at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame

from dovetail.bind.sinks import CHANGE
from dovetail.bind.travel import Function, over_batches

_REPLACED = "update_before"


def without_replaced(records: DataFrame) -> DataFrame:
    """Returns records, of which a column says the change, without those replaced."""
    return over_batches(records, partial(make_newest), records.schema).drop(CHANGE)


def make_newest() -> Function:
    """Returns the function for `mapInArrow` that leaves out what is replaced at once.

    A record without a value whose key the next one has would say nothing.
    """

    def newest(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        held: list[pa.RecordBatch] = []
        for batch in batches:
            whole = pa.concat_batches([*held, batch])
            if not whole.num_rows:
                continue
            # What comes next tells whether the last one is replaced.
            last = whole.num_rows - 1
            keys = whole.column("key")
            keeps = pc.not_equal(whole.column(CHANGE).slice(0, last), _REPLACED)
            moves = pc.not_equal(keys.slice(0, last), keys.slice(1))
            keyless = pc.xor(pc.is_null(keys.slice(0, last)), pc.is_null(keys.slice(1)))
            kept = pc.or_(keeps, pc.coalesce(moves, keyless))
            yield whole.slice(0, last).filter(kept)
            held = [whole.slice(last)]
        yield from held

    return newest
