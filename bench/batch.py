"""What benchmarks of batch joins share: a session, legs that agree, ratios.

A leg is a DataFrame made anew each time and then drained: all its rows are computed,
with all their columns, and dropped. Before anything is measured every leg must give as
many rows as DuckDB finds by a query of its own, with the same sum over their numbers.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import Protocol

import duckdb
from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from bench.measure import Sample, figures, in_turns, median_rate, show
from dovetail.engines.spark_session import FOR_MANY_ROWS, local_session

CORES, PARTITIONS = 2, 8
BROADCAST = 10 << 20
Duck = duckdb.DuckDBPyConnection
Samples = Mapping[str, list[Sample]]


@dataclass(frozen=True, slots=True)
class Result:
    """What a join must give: DuckDB's query, and the numbers that the sum goes over.

    `rows` are those that the join reads.
    """

    truth: str
    numbers: tuple[str, ...]
    rows: int

    @property
    def checks(self) -> tuple[str, str]:
        """Returns the count and the sum, in the SQL of Spark and DuckDB alike."""
        terms = (
            f"coalesce({name}, 0) * {31**place}"
            for place, name in enumerate(self.numbers)
        )
        return "count(*)", f"coalesce(sum(({' + '.join(terms)}) % 1000003), 0)"

    def seen_by(self, duck: Duck, query: str) -> tuple[int, ...]:
        """Returns count and sum of a query's rows."""
        shown = ", ".join(self.checks)
        asked_of = f"SELECT {shown} FROM ({query})"  # noqa: S608 - our own query
        return tuple(map(int, duck.execute(asked_of).fetchall()[0]))


class Leg(Protocol):
    """One way to do a join."""

    result: Result

    def drained(self) -> int:
        """Computes all rows and drops them; returns how many rows are read."""

    def found(self) -> tuple[int, ...]:
        """Returns the count and the sum of the rows."""

    def plan(self) -> str:
        """Returns how the engine goes about it."""


@dataclass(frozen=True)
class SparkLeg:
    """A join as a DataFrame, which is made anew each time."""

    frame: Callable[[], DataFrame]
    result: Result

    def drained(self) -> int:
        """Computes all rows and drops them; returns how many rows are read."""
        _drop(self.frame())
        return self.result.rows

    def found(self) -> tuple[int, ...]:
        """Returns the count and the sum of the rows."""
        seen = Observation()
        checks = [F.expr(text).alias(text) for text in self.result.checks]
        _drop(self.frame().observe(seen, *checks))
        return tuple(int(seen.get[text]) for text in self.result.checks)

    def plan(self) -> str:
        """Returns Spark's plan."""
        with redirect_stdout(StringIO()) as told_of:
            self.frame().explain()
        return told_of.getvalue()


@dataclass(frozen=True)
class DuckLeg:
    """A join as a query of DuckDB, which reads the same files."""

    duck: Duck
    query: str
    result: Result

    def drained(self) -> int:
        """Computes all rows and drops them; returns how many rows are read."""
        for batch in self.duck.sql(self.query).to_arrow_reader():
            del batch
        return self.result.rows

    def found(self) -> tuple[int, ...]:
        """Returns the count and the sum of the rows."""
        return self.result.seen_by(self.duck, self.query)

    def plan(self) -> str:
        """Returns DuckDB's plan."""
        return str(self.duck.execute(f"EXPLAIN {self.query}").fetchall()[0][1])


@dataclass(frozen=True, slots=True)
class Wish:
    """What was asked on the command line."""

    rows: int
    rounds: int
    legs: tuple[str, ...]
    shows_plans: bool


def asked(name: str, rows: int, quick: int) -> Wish:
    """Returns what was asked on the command line; so many rows are usual."""
    parser = argparse.ArgumentParser(prog=f"scripts/bench {name}")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--legs", default="", help="only these, with commas between")
    parser.add_argument("--rows", type=int, default=rows, help="rows of the left side")
    parser.add_argument("--quick", action="store_true", help="little data, one round")
    parser.add_argument("--plans", action="store_true", help="prints Spark's plans too")
    given = parser.parse_args()
    legs = tuple(filter(None, given.legs.split(",")))
    if given.quick:
        return Wish(quick, 1, legs, given.plans)
    return Wish(given.rows, given.rounds, legs, given.plans)


def session(share: float) -> SparkSession:
    """Returns a session that all legs share, for that share of the usual rows.

    The size below which Spark broadcasts shrinks with the rows, so that few rows are
    joined by the same plan as many.
    """
    os.environ["PYSPARK_SUBMIT_ARGS"] = "--driver-memory 4g pyspark-shell"
    spark = local_session(**FOR_MANY_ROWS)
    spark.conf.set("spark.sql.shuffle.partitions", PARTITIONS)
    spark.conf.set("spark.sql.autoBroadcastJoinThreshold", int(BROADCAST * share))
    return spark


def parquet(spark: SparkSession, base: Path, names: str) -> dict[str, DataFrame]:
    """Returns the files of a folder as DataFrames by name."""
    return {name: spark.read.parquet(f"{base}/{name}.parquet") for name in names}


def duck(base: Path, names: str) -> Duck:
    """Returns DuckDB on as many cores, with the files of a folder as views."""
    connection = duckdb.connect(config={"threads": CORES})
    for name in names:
        path = base / f"{name}.parquet"
        connection.execute(f"CREATE VIEW {name} AS FROM read_parquet('{path}')")
    return connection


def picked(legs: Mapping[str, Leg], wish: Wish, *, always: str) -> dict[str, Leg]:
    """Returns the legs that were asked for, all where none was; one is always there."""
    unknown = {*wish.legs} - {*legs}
    if unknown:
        sys.exit(f"there is no leg {', '.join(sorted(unknown))}: {', '.join(legs)}")
    wanted = {always, *(wish.legs or legs)}
    run = {name: leg for name, leg in legs.items() if name in wanted}
    for name, leg in run.items() if wish.shows_plans else ():
        print(f"--- {name}\n{leg.plan()}")
    return run


def agree(legs: Mapping[str, Leg], connection: Duck) -> None:
    """Ends the program where a leg differs from DuckDB; each has run twice then."""
    known: dict[Result, tuple[int, ...]] = {}
    for name, leg in legs.items():
        found, result = leg.found(), leg.result
        if result not in known:
            known[result] = result.seen_by(connection, result.truth)
        if found != known[result]:
            sys.exit(
                f"{name} gives {found}, DuckDB {known[result]}: rows and their sum"
            )
        print(f"{name}: {found[0]:,} rows, as in DuckDB", flush=True)
        leg.drained()


def turns(legs: Mapping[str, Leg], wish: Wish) -> dict[str, list[Sample]]:
    """Returns the samples of all legs, which take turns."""
    return in_turns({name: leg.drained for name, leg in legs.items()}, wish.rounds)


def ratio(samples: Samples, quick: str, slow: str) -> float:
    """Returns how many times as many rows a CPU second one leg does as another."""
    return round(median_rate(samples[quick]) / median_rate(samples[slow]), 3)


def told(title: str, samples: Samples, line: Mapping[str, object]) -> None:
    """Prints a table of all legs, then one line of JSON."""
    show(title, samples)
    legs = {name: figures(of_leg) for name, of_leg in samples.items()}
    rounds = max(len(of_leg) for of_leg in samples.values())
    print(json.dumps({**line, "rounds": rounds, "legs": legs}))


def _drop(frame: DataFrame) -> None:
    """Computes all rows of a frame and drops them."""
    frame.write.format("noop").mode("overwrite").save()
