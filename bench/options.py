"""Options of batch joins: what KEEP, ATMOST, LIMIT, LEFT ONLY, LOOKUP, SKEW, MOFN cost.

Five million rows are joined with one million by an equal key, by Spark's own join and
by Dovetail with one option after another; each is a ratio of CPU seconds to Spark's
plain join. Keys have two right rows on average, a few have 150. MOFN joins five sets of
a million, beside the same in Spark SQL by hand.

    scripts/bench options --rounds 3
    scripts/bench options --rows 500000 --legs keep,lookup
    scripts/bench options --quick      little data: shows that it works, not how fast
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame

import dovetail as dt
from bench.batch import (
    Leg,
    Result,
    SparkLeg,
    agree,
    asked,
    duck,
    parquet,
    picked,
    ratio,
    session,
    told,
    turns,
)
from bench.data import kept
from dovetail.spec.join import HANDS

ROWS, QUICK = 5_000_000, 20_000
SIDES, SETS = "lr", "abcde"
LEAST, MOST = 3, 4
UNEVEN = 0.9
"""The skew that no side of the data has, so that it is measured and nothing fails."""
CROWDS, CROWD = 20, 150
GOAL = 1.3
LEFT_COLUMNS = {name: f"l.{name}" for name in ("key", "lid", "amount")}
COLUMNS = {**LEFT_COLUMNS, **{name: f"r.{name}" for name in ("rid", "price", "label")}}
PLAIN: Mapping[str, object] = {
    **{hand.value: {"from": name} for hand, name in zip(HANDS, SIDES, strict=True)},
    "type": "inner",
    "hard": [["l.key", "r.key"]],
    "clock": "batch",
    "select": COLUMNS,
}
OPTIONS: Mapping[str, Mapping[str, object]] = {
    "atmost": {"atmost": {"n": 100}},
    "limit": {"limit": {"n": 100, "on_exceed": "skip"}},
    "lookup": {"strategy": "lookup"},
    "keep_soft": {"keep": 3, "soft": "l.amount > r.price"},
    "limit_outer": {"type": "left_outer", "limit": {"n": 100, "on_exceed": "skip"}},
}
PAIRS = "SELECT l.key, lid, rid FROM l JOIN r ON l.key = r.key"
_RANKED = (
    "SELECT l.key, lid, rid, count(*) OVER one AS many,"
    " row_number() OVER (one ORDER BY rid) AS place"
    " FROM l {kind} JOIN r ON {condition} WINDOW one AS (PARTITION BY lid)"
)


def _those(which: str, kind: str = "INNER", condition: str = "true") -> str:
    """Returns DuckDB's query of the pairs that an option lets out."""
    ranked = _RANKED.format(kind=kind, condition=f"l.key = r.key AND {condition}")
    return f"SELECT * FROM ({ranked}) WHERE {which}"  # noqa: S608 - our own query


TRUTHS = {
    **dict.fromkeys(("spark", "inner", "skew"), PAIRS),
    "keep": _those("place <= 3"),
    "keep_soft": _those("place <= 3", condition="amount > price"),
    **dict.fromkeys(("atmost", "limit"), _those("many <= 100")),
    "limit_outer": _those("many <= 100", kind="LEFT"),
    "left_only": "SELECT key, lid FROM l WHERE key NOT IN (SELECT key FROM r)",
    "lookup": _those("place = 1"),
}


@dataclass(frozen=True, slots=True)
class Sources:
    """The files of a run as DataFrames."""

    frames: Mapping[str, DataFrame]

    def spark(self) -> DataFrame:
        """Returns Spark's own plain join."""
        left, right = (self.frames[name].alias(name) for name in SIDES)
        joined = left.join(right, left["key"] == right["key"])
        return joined.select(*COLUMNS.values())

    def public(self, how: str = "inner", keep: int = 0) -> DataFrame:
        """Returns a join that the public functions can say."""
        left, right = (dt.dataset(self.frames[name]) for name in SIDES)
        select = COLUMNS if how == "inner" else LEFT_COLUMNS
        return left.join(right, on="key", how=how, keep=keep, select=select).matched

    def option(self, name: str) -> DataFrame:
        """Returns the join with an option that only a spec can say."""
        return self._joined({**PLAIN, **OPTIONS[name]}, SIDES)

    def skew(self) -> DataFrame:
        """Returns the plain join, which fails where its keys lie unevenly."""
        return self._joined(PLAIN, SIDES, skew=UNEVEN, threshold=0)

    def mofn(self) -> DataFrame:
        """Returns the rows of the keys that three or four of the five sets have."""
        select = {
            "key": "l.key",
            "many": "ROWS_COUNT()",
            "first": "l.id",
            "last": "ROWS_LAST(id)",
            "most": "ROWS_MAX(v)",
        }
        what = {"sets": [*SETS], "type": "mofn", "stepped": ["key"], "select": select}
        return self._joined({**what, "min": LEAST, "max": MOST}, SETS)

    def mofn_by_hand(self) -> DataFrame:
        """Returns the same as a user of Spark writes it: full joins, and a count."""
        first, *others = (_renamed(self.frames[name], name) for name in SETS)
        joined = first
        for other in others:
            joined = joined.join(other, "key", "full")
        ids = [f"{name}_id" for name in SETS]
        many = " + ".join(f"int({name} IS NOT NULL)" for name in ids)
        found = joined.where(f"{many} BETWEEN {LEAST} AND {MOST}")
        return found.selectExpr(
            "key",
            f"{many} AS many",
            f"coalesce({', '.join(ids)}) AS first",
            f"coalesce({', '.join(reversed(ids))}) AS last",
            f"greatest({', '.join(f'{name}_v' for name in SETS)}) AS most",
        )

    def _joined(
        self, join: Mapping[str, object], names: str, **stops: float
    ) -> DataFrame:
        """Returns the rows of a join as data, of the frames it names."""
        return dt.join(join, {name: self.frames[name] for name in names}, **stops)


def legs(sources: Sources, rows: int) -> dict[str, Leg]:
    """Returns all legs; both sides' rows are counted, and those of all sets."""
    frames: dict[str, Callable[[], DataFrame]] = {
        "spark": sources.spark,
        "inner": sources.public,
        "keep": partial(sources.public, keep=3),
        "left_only": partial(sources.public, how="left_only"),
        **{name: partial(sources.option, name) for name in OPTIONS},
        "skew": sources.skew,
    }
    both = rows + rows // 5
    numbers = {"left_only": ("key", "lid")}
    pairs = ("key", "lid", "rid")
    some = Result(
        _some_of_sets(), ("key", "many", "first", "last"), rows // 5 * len(SETS)
    )
    return {
        **{
            name: SparkLeg(frame, Result(TRUTHS[name], numbers.get(name, pairs), both))
            for name, frame in frames.items()
        },
        "mofn": SparkLeg(sources.mofn, some),
        "mofn_by_hand": SparkLeg(sources.mofn_by_hand, some),
    }


def _some_of_sets() -> str:
    """Returns DuckDB's query of MOFN: first the keys, then the rows of each set."""
    each = " UNION ALL ".join(f"FROM {name} SELECT DISTINCT key" for name in SETS)
    has = f"SELECT key, count(*) AS many FROM ({each}) GROUP BY key"  # noqa: S608
    ids = [f"{name}.id" for name in SETS]
    sets = " ".join(f"LEFT JOIN {name} USING (key)" for name in SETS)
    return (
        f"SELECT key, many, coalesce({', '.join(ids)}) AS first,"  # noqa: S608
        f" coalesce({', '.join(reversed(ids))}) AS last"
        f" FROM ({has}) AS has {sets} WHERE many BETWEEN {LEAST} AND {MOST}"
    )


def _renamed(frame: DataFrame, name: str) -> DataFrame:
    """Returns the rows of a set, whose columns but the key have its name in theirs."""
    return frame.selectExpr("key", f"id AS {name}_id", f"v AS {name}_v")


def made(rows: int) -> Path:
    """Returns the folder with both sides and the sets, written where it is not yet."""
    return kept(f"options-{rows}", partial(_write, rows))


def _write(rows: int, folder: Path) -> None:
    """Writes both sides and the sets: shuffled keys, numbers in the order of rows."""
    random, few = np.random.default_rng(5), rows // 5
    crowd = np.repeat(np.arange(CROWDS), CROWD)
    keys = few // 2
    right = np.concatenate([crowd, random.integers(CROWDS, keys, few - len(crowd))])
    texts = np.char.add("label ", random.integers(0, 1000, few).astype(str))
    tables = {
        "l": {
            "key": random.integers(0, keys + keys // 4, rows),
            "lid": np.arange(rows),
            "amount": random.random(rows),
        },
        "r": {
            "key": random.permutation(right),
            "rid": np.arange(few),
            "price": random.random(few),
            "label": texts,
        },
    }
    for name in SETS:
        tables[name] = {
            "key": random.integers(0, few + few // 2, few),
            "id": np.arange(few),
            "v": random.random(few),
        }
    for name, columns in tables.items():
        pq.write_table(pa.table(columns), folder / f"{name}.parquet")


def main() -> None:
    """Measures and prints a table, then one line of JSON."""
    wish = asked("options", ROWS, QUICK)
    base, spark = made(wish.rows), session(wish.rows / ROWS)
    sources = Sources(parquet(spark, base, SIDES + SETS))
    run = picked(legs(sources, wish.rows), wish, always="spark")
    agree(run, duck(base, SIDES + SETS))
    samples = turns(run, wish)
    spark.stop()
    peers = {**dict.fromkeys(TRUTHS, "spark"), "mofn": "mofn_by_hand"}
    line = {
        f"{name}_costs": ratio(samples, peer, name)
        for name, peer in peers.items()
        if name != peer and {name, peer} <= {*samples}
    }
    told(f"Options, {wish.rows:,} left rows", samples, {**line, "goal": GOAL})


if __name__ == "__main__":
    main()
