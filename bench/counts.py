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

from bench.data import SCHEMA, Stretch
from bench.interval import (
    BUCKETS,
    PARTITIONS,
    QUICK,
    ROCKSDB,
    Leg,
    Source,
    drained,
    session,
)
from bench.measure import figures, in_turns, median_rate, show
from dovetail.engines.spark_stream.dataflow import Layout, lay
from dovetail.engines.spark_stream.feeds import Buckets
from dovetail.engines.spark_stream.labels import balanced_labels
from dovetail.plan.stream import Feed, StreamPlan, plan_stream
from dovetail.spec.defaults import with_defaults
from dovetail.spec.inputs import Outlet
from dovetail.spec.join import HANDS
from dovetail.spec.reader import read_inputs, read_join

_INPUT = {"kind": "stream", "schema": SCHEMA, "time": "ts", "lateness": "5 seconds"}
INPUTS = read_inputs({"L": _INPUT, "R": _INPUT})


def planned(count: int, per: list[str]) -> StreamPlan:
    """Returns the plan of a join of the newest rows, each of so many of a partition."""
    window = {"window": {"rows": count}, "partition_by": per}
    join = {
        "left": {"from": "L", **window},
        "right": {"from": "R", **window},
        "type": "inner",
        "hard": [["l.key", "r.key"]],
        "select": {"key": "l.key", "ts": "l.ts", "lseq": "l.seq", "rseq": "r.seq"},
        "clock": "arrival",
    }
    feeds = dict.fromkeys(HANDS, Feed(order="seq"))
    return plan_stream(with_defaults(read_join(join), INPUTS), INPUTS, feeds)


def joined(plan: StreamPlan, source: Source) -> DataFrame:
    """Returns the join as Dovetail lays it."""
    count = BUCKETS if plan.spread.is_wide else 1
    front = 1 if plan.spread.told else 0
    labels = balanced_labels(count + front, PARTITIONS)
    spread = Buckets(labels[:count], count, labels[count:])
    layout = Layout(lambda _: spread, lambda _: False)
    lines, results = lay(plan, (source.side("l"), source.side("r")), layout)
    return results.frame(lines, Outlet.MATCHED)


def legs(stretch: Stretch) -> dict[str, Leg]:
    """Returns all legs."""
    plan = planned(stretch.keys, [])
    plans = {
        "per_key": planned(1, ["key"]),
        "over_all": plan,
        "one_bucket": replace(plan, spread=plan.spread.over(1)),
    }
    return {
        name: Leg(partial(joined, one), ROCKSDB, stretch.files)
        for name, one in plans.items()
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
    found = {name: drained(leg, warm, check=True) for name, leg in run.items()}
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
