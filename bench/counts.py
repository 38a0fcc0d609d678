"""Windows of counts on streams: per key, over all rows of a side, and in one bucket.

Both sides have equal keys, and keep about as many rows: the newest of each key, or as
many of all keys. Over all rows an operator in front tells the buckets when rows end;
`one_bucket` does it all by itself, on one core. All legs run on one warm session.

    scripts/bench counts --rounds 3
    scripts/bench counts --quick       little data: shows that it works, not how fast
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import replace
from functools import partial

from pyspark.sql import DataFrame

import dovetail as dt
from bench.data import Stretch
from bench.interval import (
    CHECK,
    QUICK,
    ROCKSDB,
    SELECT,
    Leg,
    Source,
    drained,
    session,
)
from bench.measure import figures, in_turns, median_rate, show

CORES = "spark.sql.shuffle.partitions"


def joined(source: Source, count: int, *per: str) -> DataFrame:
    """Returns the pairs of the newest rows, each of so many of a partition."""
    left, right = (
        dt.stream(source.side(letter), order="seq").window(dt.rows(count), per=per)
        for letter in "lr"
    )
    return left.join(right, on="key", select=SELECT).matched


def legs(stretch: Stretch) -> dict[str, Leg]:
    """Returns all legs."""
    of_all, two = partial(joined, count=stretch.keys), {**ROCKSDB, CORES: "2"}
    return {
        "per_key": Leg(lambda it: joined(it, 1, "key"), two, stretch.files),
        "over_all": Leg(of_all, two, stretch.files),
        "one_bucket": Leg(of_all, {**ROCKSDB, CORES: "1"}, stretch.files),
    }


def asked() -> argparse.Namespace:
    """Returns what was asked on the command line."""
    parser = argparse.ArgumentParser(prog="scripts/bench counts")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="little data, one round")
    parser.add_argument("--files-per-trigger", type=int, default=5)
    return parser.parse_args()


def main() -> None:
    """Measures and prints a table, then one line of JSON."""
    told = asked()
    stretch = QUICK if told.quick else Stretch()
    each = min(told.files_per_trigger, stretch.files // 2)
    run, spark = legs(stretch), session()
    warm = Source(spark, stretch, each, stretch.files // 2)
    found = {name: drained(leg, warm, CHECK) for name, leg in run.items()}
    if found["over_all"] != found["one_bucket"]:
        sys.exit(f"the legs do not agree: {json.dumps(found)}")
    source = replace(warm, files=stretch.files)
    work = {name: partial(_rows, leg, source) for name, leg in run.items()}
    samples = in_turns(work, 1 if told.quick else told.rounds)
    spark.stop()
    show(f"Newest rows, {2 * each * stretch.rows:,} rows a trigger", samples)
    own = median_rate(samples["over_all"])
    line = {
        f"vs_{name}": round(own / median_rate(samples[name]), 3)
        for name in ("per_key", "one_bucket")
    }
    of_legs = {name: figures(of_leg) for name, of_leg in samples.items()}
    checked = {"pairs_checked": found["over_all"]["pairs"], "legs": of_legs}
    print(json.dumps({**line, **checked}))


def _rows(leg: Leg, source: Source) -> int:
    """Runs a leg to its end; returns the rows read."""
    return drained(leg, source)["rows"]


if __name__ == "__main__":
    main()
