"""Newest rows of all keys over many buckets: moved, left off and gone on with."""

import pyarrow.dataset as ds
import pytest

import dovetail as dt
from dovetail.engines.spark_stream.checkpoint import read_checkpoint
from tests.chaos import events
from tests.spark.rows import bag
from tests.spark.test_api import give, recorded, run, sinks

__all__ = ["recorded"]


def newest(spark, folder):
    """Newest five of all left rows, newest two of each number of the right side."""
    left, right = (
        dt.stream(
            spark.readStream.schema(events.ddl(hand))
            .option("maxFilesPerTrigger", 1)
            .parquet(str(folder / hand)),
            time="at",
            lateness="5 seconds",
            sequence="sequence",
        )
        for hand in "lr"
    )
    return left.window(dt.rows(5)).join(
        right.window(dt.rows(2), per="r_n"),
        on=["k"],
        how="left",
        suffixes=("_l", "_r"),
        unmatched="outlet",
    )


def differs(spark, folder, name):
    """Whether an outlet has other rows than the definition gives."""
    wanted = events.expected(newest(spark, folder), "lr", 4, seed=2)
    rows = {outlet.value: rows for outlet, rows in wanted.items()}[name]
    found = ds.dataset(folder / name, format="parquet").to_table().to_pylist()
    assert found
    return bag(found) != bag(rows)


@pytest.mark.parametrize("moves", [[2, None, 4, 1], [1, None, None, None]])
def test_newest_rows_of_all_keys_go_on_where_they_stopped(spark, recorded, moves):
    kept = {2: 8, 1: 1}[moves[0]]
    for numbers, asked in zip([(), (2,), (3,), (4,)], moves, strict=True):
        give(recorded, numbers)
        how = {} if asked is None else {"partitions": asked}
        run(newest(spark, recorded), recorded, **how)
        checkpoint = read_checkpoint(spark, str(recorded / "checkpoint"))
        assert checkpoint.buckets == kept
    assert not differs(spark, recorded, "matched")
    assert not differs(spark, recorded, "left_unmatched")


def test_one_bucket_does_not_become_many(spark, recorded):
    run(newest(spark, recorded), recorded, partitions=1)
    with pytest.raises(dt.EngineError, match="has 1 buckets of keys; expected part"):
        newest(spark, recorded).write(
            checkpoint=str(recorded / "checkpoint"), partitions=2, **sinks(recorded)
        )
