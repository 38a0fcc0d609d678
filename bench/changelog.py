"""A join of two tables that change, told by its changes: Dovetail beside PyFlink.

Each row of a side replaces the newest one of its key, and what the join gives anew
comes out: insert, update before and after. Flink keeps the newest of the same rows by
ROW_NUMBER, one by one. Two cores, two state partitions; what both have at the end is
counted first, and must be as many pairs.

    scripts/bench changelog --rounds 3
    scripts/bench changelog --legs dovetail    without PyFlink, which it else installs
    scripts/bench changelog --quick            little data: shows that it works
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from types import MappingProxyType

from pyspark.sql import DataFrame

import dovetail as dt
from bench.data import Stretch
from bench.interval import (
    QUICK,
    ROCKSDB,
    SELECT,
    Leg,
    Source,
    asked,
    beside_flink,
    chosen,
    drained,
    ratios,
    session,
)
from bench.measure import Sample, figures, in_turns, show

# What is there at the end: what came, less what went.
_LEFT_OVER = "CASE change WHEN 'insert' THEN 1 WHEN 'delete' THEN -1 ELSE 0 END"
CHECKS = (f"sum({_LEFT_OVER}) AS pairs", "count(*) AS sum")


def tables(source: Source) -> DataFrame:
    """Returns the changes of the join of both sides as tables."""
    left, right = (
        dt.table(source.side(letter), key="key", order="seq") for letter in "lr"
    )
    return left.join(right, on="key", select=SELECT).matched


def compared(
    name: str,
    frame: Callable[[Source], DataFrame],
    checks: tuple[str, ...],
    others: Mapping[str, Leg] = MappingProxyType({}),
) -> None:
    """Measures a join and the same one in PyFlink; prints a table, then one line.

    Of the other legs all but those that are apart must give as many pairs.
    """
    told = asked(name)
    stretch = QUICK if told.quick else Stretch()
    each = min(told.files_per_trigger, stretch.files // 2)
    spark = session()
    legs = chosen(told.legs, {"dovetail": Leg(frame, ROCKSDB, 0), **others})

    def rows(leg: Leg, files: int, checks: tuple[str, ...] = ()) -> dict[str, int]:
        """Runs a leg on so many files; returns the rows read, and what checks say."""
        some = replace(leg, files=files)
        return drained(some, some.source(spark, stretch, each), checks)

    few = stretch.files // 2
    found = {
        name: rows(leg, few, checks) for name, leg in legs.items() if not leg.apart
    }
    pairs = found["dovetail"]["pairs"]
    if {one["pairs"] for one in found.values()} != {pairs}:
        sys.exit(f"the legs do not agree: {found}")

    def whole(leg: Leg) -> int:
        """Runs a leg on all files; returns the rows read."""
        return rows(leg, stretch.files)["rows"]

    work: dict[str, Callable[[], int | Sample]] = {
        name: partial(whole, leg) for name, leg in legs.items()
    }
    if not told.legs or "flink" in told.legs:
        work["flink"] = beside_flink(name, stretch, few, pairs)
    samples = in_turns(work, 1 if told.quick else told.rounds)
    count = 2 * each * stretch.rows
    show(f"{name}, {count:,} rows a trigger", samples)
    spark.stop()
    line = {**ratios(samples), "rows_per_trigger": count, "checked": found["dovetail"]}
    told_of = {leg: figures(of_leg) for leg, of_leg in samples.items()}
    print(json.dumps({**line, "rounds": told.rounds, "legs": told_of}))


if __name__ == "__main__":
    compared("changelog", tables, CHECKS)
