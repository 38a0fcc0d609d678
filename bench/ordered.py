"""An interval join in row-time order, beside Dovetail's unordered one and others.

The sides, the join and the settings are those of `interval`. What is `ordered` comes
out in ascending row time, within batches and across them: one task has all rows, and
each waits until none before it can come. The others promise no order, so that their
pairs come as they are found; at the end of the data some of the ordered ones still
wait.

    scripts/bench ordered --rounds 3
    scripts/bench ordered --legs ordered,hdfs,flink    installs PyFlink first
    scripts/bench ordered --quick     little data: shows that it works, not how fast
"""

from __future__ import annotations

from pyspark.sql import DataFrame

from bench.interval import ROCKSDB, Leg, Source, compared, joined, legs


def in_order(source: Source) -> DataFrame:
    """Returns the rows of the join in the order of their row times."""
    return joined(source).emit(order="row_time").matched


def ordered_legs(files: int) -> dict[str, Leg]:
    """Returns the join in order, beside the legs without one."""
    others = legs(files, files // 2)
    return {
        "dovetail": others["dovetail"],
        "ordered": Leg(in_order, ROCKSDB, files, apart=True),
        "rocksdb": others["rocksdb"],
        "hdfs": others["hdfs"],
    }


if __name__ == "__main__":
    compared("ordered", "Interval join in order", ordered_legs)
