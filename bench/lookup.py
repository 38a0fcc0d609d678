"""A stream beside a table that changes, as it was at each row's time: beside PyFlink.

Each row of the stream meets the version of its key that is the newest at its row time;
it may be five seconds late. Flink joins with a versioned view, FOR SYSTEM_TIME AS OF
the row's time. Both must find as many pairs before anything is measured.

    scripts/bench lookup --rounds 3
    scripts/bench lookup --legs dovetail    without PyFlink, which it else installs
    scripts/bench lookup --quick            little data: shows that it works
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

import dovetail as dt
from bench import flink
from bench.changelog import SELECT, compared
from bench.interval import CHECK, Source


def versions(source: Source) -> DataFrame:
    """Returns the pairs of a stream and the versions of a table."""
    left = dt.stream(source.side("l"), time="ts", lateness="5 seconds")
    ahead = F.col("ts") + F.expr(f"INTERVAL {flink.AHEAD} SECONDS")
    rows = source.side("r").withColumn("ts", ahead)
    right = dt.table(rows, key="key", time="ts")
    return left.join(right, on="key", select=SELECT).matched


if __name__ == "__main__":
    compared("lookup", versions, CHECK)
