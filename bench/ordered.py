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

from functools import partial

from bench.interval import ROCKSDB, Leg, compared, dovetail, legs, planned
from dovetail.engines.spark_stream.feeds import Buckets
from dovetail.engines.spark_stream.labels import balanced_labels
from dovetail.spec.inputs import Order, Settings

ONE = Buckets(balanced_labels(1, 1), 1)
"""What has one order is in one bucket."""


def ordered_legs(files: int) -> dict[str, Leg]:
    """Returns the join in order, beside the legs without one."""
    plan = planned("inner", "60 seconds", Settings(order=Order.ROW_TIME))
    frame = partial(dovetail, plan=plan, spread=ONE)
    others = legs(files, files // 2)
    return {
        "dovetail": others["dovetail"],
        "ordered": Leg(frame, ROCKSDB, files, apart=True),
        "rocksdb": others["rocksdb"],
        "hdfs": others["hdfs"],
    }


if __name__ == "__main__":
    compared("ordered", "Interval join in order", ordered_legs)
