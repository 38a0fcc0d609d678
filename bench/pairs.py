"""One key in one batch: millions of pairs, and how much memory they take.

So many rows a side have the same key and meet all of each other, as where a key stands
for "unknown". Beside Dovetail runs Spark's own join on RocksDB, which makes one pair
after the other. Checksums of all pairs must agree.

    scripts/bench pairs
    scripts/bench pairs --rows 8000      rows a side: 64 million pairs
    scripts/bench pairs --quick          few rows: shows that it works
"""

from __future__ import annotations

import argparse
import json
import sys

from bench.data import Stretch
from bench.interval import (
    CHECK,
    ROCKSDB,
    SPARK_ROCKSDB,
    Leg,
    dovetail,
    drained,
    native,
    session,
)
from bench.measure import largest_worker, measured

# Spark's first: a worker that had much memory keeps it.
LEGS = {"rocksdb": Leg(native, SPARK_ROCKSDB, 1), "dovetail": Leg(dovetail, ROCKSDB, 1)}


def main() -> None:
    """Runs both joins for each size; prints a line of JSON for each, then the ratio."""
    parser = argparse.ArgumentParser(prog="scripts/bench pairs")
    parser.add_argument("--rows", type=int, default=4000, help="a side")
    parser.add_argument("--quick", action="store_true", help="few rows")
    given = parser.parse_args()
    rows = 500 if given.quick else given.rows
    spark = session()
    told: dict[str, dict] = {}
    found: dict[str, dict] = {}
    # A short run first: Java and the workers grow warm.
    for few in (100, rows):
        stretch = Stretch(1, few, keys=1, seconds=1)
        for name, leg in LEGS.items():

            def run(name: str = name, leg: Leg = leg, of: Stretch = stretch) -> int:
                found[name] = drained(leg, leg.source(spark, of, 1), CHECK)
                return found[name]["pairs"]

            sample = measured(run, largest_worker)
            rate = {"pairs_per_cpu_s": round(sample.rate), "s": round(sample.wall, 1)}
            rate["worker_mb"] = sample.peak >> 20
            told[name] = {"leg": name, "pairs": sample.rows, **rate}
    spark.stop()
    if found["dovetail"] != found["rocksdb"]:
        sys.exit(f"the legs do not agree: {json.dumps(found)}")
    for line in told.values():
        print(json.dumps(line))
    theirs, ours = (told[name]["pairs_per_cpu_s"] for name in LEGS)
    print(json.dumps({"vs_rocksdb": round(ours / theirs, 3), "legs": told}))


if __name__ == "__main__":
    main()
