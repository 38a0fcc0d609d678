"""A stream beside a table that changes, as it was at each row's time: beside PyFlink.

Each row of the stream meets the version of its key that is the newest at its row time;
it may be five seconds late. Flink joins with a versioned view, FOR SYSTEM_TIME AS OF
the row's time. The leg `asof` gives the same pairs as an as-of join of two streams; the
floor packs and shuffles what that one does, and joins nothing. All that join must find
as many pairs before anything is measured.

    scripts/bench lookup --rounds 3
    scripts/bench lookup --legs dovetail    without PyFlink, which it else installs
    scripts/bench lookup --quick            little data: shows that it works
"""

from __future__ import annotations

from functools import partial

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

import dovetail as dt
from bench import flink
from bench.changelog import compared
from bench.interval import CHECK, ROCKSDB, SELECT, Leg, Source, floor


def versions(source: Source) -> DataFrame:
    """Returns the pairs of a stream and the versions of a table."""
    right = dt.table(_ahead(source), key="key", time="ts")
    return _stream(source).join(right, on="key", select=SELECT).matched


def nearest(source: Source) -> dt.Joined:
    """Returns two streams, each left row with the last right one at its time."""
    right, last = dt.stream(_ahead(source), time="ts"), dt.asof("l.ts", "r.ts")
    return _stream(source).join(right, on="key", asof=last, select=SELECT)


def _stream(source: Source) -> dt.Rows:
    """Returns the left rows, which may be late."""
    return dt.stream(source.side("l"), time="ts", lateness="5 seconds")


def _ahead(source: Source) -> DataFrame:
    """Returns the right rows, whose times are ahead of the left ones."""
    ahead = F.col("ts") + F.expr(f"INTERVAL {flink.AHEAD} SECONDS")
    return source.side("r").withColumn("ts", ahead)


OTHERS = {
    "asof": Leg(lambda source: nearest(source).matched, ROCKSDB, 0),
    "floor": Leg(partial(floor, join=nearest), ROCKSDB, 0, apart=True),
}

if __name__ == "__main__":
    compared("lookup", versions, CHECK, OTHERS)
