"""The kernels alone, without Spark: rows per CPU second of one join after another.

A stream of both sides comes in batches, and everything a step does is measured: rows
in, state kept between steps, whole result rows out. Where DuckDB and Polars can say the
same join they answer it in the same run, from tables in memory to a table in memory.

    scripts/bench kernel --rounds 3
    scripts/bench kernel --legs few,few_duckdb,few_polars
    scripts/bench kernel --quick       little data: shows that it works, not how fast
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields
from functools import partial
from itertools import pairwise

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa

from bench.measure import Sample, figures, in_turns, median_rate, show
from dovetail.conformance.local.hidden_columns import hidden_columns
from dovetail.conformance.local.refusals import LOCAL
from dovetail.engines.kernel_settings import Manner, kernel_settings
from dovetail.kernels.arrays.rows import BEGINNING, Rows, flags_of, make_rows
from dovetail.kernels.arrival.arrival import Parcel, Report
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.state import JoinState, new_state
from dovetail.kernels.step import step
from dovetail.plan.features import features_of_join
from dovetail.spec.defaults import with_defaults
from dovetail.spec.inputs import Arrival
from dovetail.spec.join import HANDS, JoinSpec
from dovetail.spec.reader import read_inputs, read_join
from dovetail.spec.windows import Window

SECOND = 1_000_000
START = 1_700_000_000 * SECOND
SPAN = 12_300
BATCHES = 10
_INPUT = {
    "kind": "stream",
    "schema": {"key": "bigint", "ts": "timestamp", "v": "double", "seq": "bigint"},
    "time": "ts",
}
INPUTS = read_inputs({"L": _INPUT, "R": _INPUT})


@dataclass(frozen=True, slots=True)
class Data:
    """How keys are drawn: so many, evenly or by Zipf's law; and how many rows."""

    keys: int
    skewed: bool = False

    def sides(self, rows: int) -> tuple[pa.Table, pa.Table]:
        """Returns both sides by row time."""
        return self._side(rows, 1), self._side(rows, 2)

    def _side(self, rows: int, seed: int) -> pa.Table:
        """Returns one side."""
        random = np.random.default_rng(seed)
        moments = np.sort(random.integers(0, SPAN * SECOND, rows)) + START
        weights = 1 / np.arange(1, self.keys + 1) if self.skewed else None
        chances = None if weights is None else weights / weights.sum()
        return pa.table(
            {
                "key": pa.array(random.choice(self.keys, rows, p=chances)),
                "ts": pa.array(moments, pa.timestamp("us", "UTC")),
                "v": pa.array(random.random(rows)),
                "seq": pa.array(np.arange(rows)),
            }
        )


EVEN, FEW, ZIPF = Data(100_000), Data(1000), Data(100_000, skewed=True)


def near(seconds: int) -> dict[str, object]:
    """Returns the sides of a join of rows so many seconds apart at most."""
    window = {"range": {"preceding": f"{seconds} seconds"}}
    return sides(window, window)


def sides(left: object, right: object, **parts: object) -> dict[str, object]:
    """Returns two sides with their windows."""
    return {
        "left": {"from": "L", "window": left, **parts},
        "right": {"from": "R", "window": right, **parts},
        "clock": "event",
    }


_PER_KEY = {"partition_by": ["key"]}
_NEWEST, _EACH = {"rows": 10_000}, {"rows": 3}


def _delta(width: int) -> dict[str, object]:
    """Returns the sides of a join of rows of a key so far apart at most."""
    window = {"delta": {"by": "seq", "width": width}}
    return {**sides(window, window, **_PER_KEY), "clock": "arrival"}


_BACKWARD = {"left": "l.ts", "right": "r.ts", "tolerance": "600 seconds"}


@dataclass(frozen=True, slots=True)
class Join:
    """One join to be measured: its spec, its data, and its peers' seconds apart.

    Windows are `per_key`, or one for all rows of a side.
    """

    spec: dict[str, object]
    data: Data = EVEN
    peers: int = 0
    per_key: bool = True


JOINS = {
    "interval": Join(near(600), EVEN, 600),
    "few": Join(near(5), FEW, 5),
    "zipf": Join(near(2), ZIPF, 2),
    "count": Join({**sides(_NEWEST, _NEWEST), "clock": "arrival"}, per_key=False),
    "count_per_key": Join({**sides(_EACH, _EACH, **_PER_KEY), "clock": "arrival"}),
    "delta": Join(_delta(50_000)),
    "delta_wide": Join(_delta(500_000)),
    "keep": Join({**near(600), "keep": 3}),
    "asof": Join({**sides("forever", "forever"), "asof": _BACKWARD}),
    "nearest": Join(
        {**sides("forever", "forever"), "asof": {**_BACKWARD, "direction": "nearest"}},
        FEW,
    ),
}


def spec_of(join: Join) -> JoinSpec:
    """Returns a join's spec, whole."""
    spec = read_join({"type": "inner", "hard": [["l.key", "r.key"]], **join.spec})
    return with_defaults(spec, INPUTS)


def settings_of(spec: JoinSpec) -> JoinSettings:
    """Returns what the kernels know of a join."""
    LOCAL.refuse_unsupported(features_of_join(spec, INPUTS))
    return kernel_settings(spec, INPUTS, Manner(Arrival.SEQUENCE))


def parcels(
    tables: tuple[pa.Table, pa.Table], count: int, join: Join
) -> list[list[Parcel]]:
    """Returns both sides cut into so many batches of packed rows.

    A window of rows that is not one for each key is one for all.
    """
    spec, cuts = spec_of(join), np.linspace(0, tables[0].num_rows, count + 1)
    return [
        [
            _parcel(hand, first, whole.slice(first, past - first), join)
            for hand, whole in enumerate(
                _with_hidden(table, spec.side(one).window)
                for table, one in zip(tables, HANDS, strict=True)
            )
        ]
        for first, past in pairwise(cuts.astype(int).tolist())
    ]


def _with_hidden(table: pa.Table, window: Window) -> pa.RecordBatch:
    """Returns a side with the columns that its window looks at."""
    (batch,) = table.combine_chunks().to_batches()
    for name, numbers in hidden_columns(window, INPUTS["L"], batch):
        batch = batch.append_column(name, pa.array(numbers))
    return batch


def _parcel(hand: int, first: int, payload: pa.RecordBatch, join: Join) -> Parcel:
    """Returns rows of one side as a bucket gets them."""
    moment = payload.column("ts").cast(pa.int64()).to_numpy()
    place = 2 * np.arange(first, first + len(moment)) + hand
    flags = flags_of(has_key=np.ones(len(moment), bool))
    code = payload.column("key").to_numpy()
    newest = int(moment[-1]) if len(moment) else BEGINNING
    report = Report(hand, int(place[0]), newest, newest, seen=True)
    rows = make_rows(code, moment, place, flags, payload)
    partition = code if join.per_key else np.zeros_like(code)
    return Parcel(report, rows.with_arrays(partition=partition))


@dataclass(frozen=True, slots=True)
class Found:
    """How many rows a leg gives, and what it has kept between two batches at most.

    That is so many rows that are alive or wait, in so many bytes; peers keep nothing.
    """

    rows: int
    alive: int = 0
    size: int = 0

    @property
    def facts(self) -> dict[str, str]:
        """Returns what the table shows of it."""
        if not self.alive:
            return {"rows out": f"{self.rows:,}"}
        return {
            "rows out": f"{self.rows:,}",
            "alive": f"{self.alive:,}",
            "bytes a row": f"{self.size / self.alive:.0f}",
        }


def by_kernels(settings: JoinSettings, batches: list[list[Parcel]]) -> Found:
    """Returns what comes out of a stream of batches, and what is kept meanwhile."""
    schemas = [parcel.rows.payload.schema for parcel in batches[0]]
    state, found, most = new_state((schemas[0], schemas[1])), 0, (0, 0)
    for number, batch in enumerate(batches):
        stepped = step(settings, state, batch, number)
        state = stepped.state()
        found += sum(out.num_rows for out in stepped.out)
        most = max(most, kept(state))
    return Found(found, *most)


def kept(state: JoinState) -> tuple[int, int]:
    """Returns how many rows a state has, and in how many bytes."""
    sides = [*state.alive, *state.waiting]
    size = state.held.nbytes + sum(map(size_of, sides))
    return sum(map(len, sides)), size


def size_of(rows: Rows) -> int:
    """Returns the bytes of all values; an array of two names counts once."""
    parts = [getattr(rows, field.name) for field in fields(rows)]
    return sum({id(part): int(part.nbytes) for part in parts}.values())


def by_duckdb(tables: tuple[pa.Table, pa.Table], seconds: int) -> Found:
    """Returns how many rows DuckDB gives; it uses all cores."""
    connection = duckdb.connect()
    for name, table in zip("lr", tables, strict=True):
        connection.register(f"{name}_rows", table)
        connection.execute(f"CREATE TABLE {name} AS FROM {name}_rows")
    query = f"""
        SELECT l.*, r.* FROM l JOIN r ON l.key = r.key
        AND r.ts BETWEEN l.ts - INTERVAL {seconds} SECOND
        AND l.ts + INTERVAL {seconds} SECOND"""  # noqa: S608 - a number of ours
    return Found(connection.sql(query).to_arrow_table().num_rows)


def by_polars(tables: tuple[pa.Table, pa.Table], seconds: int) -> Found:
    """Returns how many rows Polars gives as a stream; it uses all cores."""
    left, right = (pl.from_arrow(table).lazy() for table in tables)
    apart = pl.duration(seconds=seconds)
    joined = left.join(right, on="key").filter(
        pl.col("ts_right").is_between(pl.col("ts") - apart, pl.col("ts") + apart)
    )
    return Found(joined.collect(engine="streaming").height)


Work = Callable[[], Found]


def leg_of(name: str) -> str:
    """Returns the kernels' leg that a leg is compared with."""
    return name if name in JOINS else name.partition("_")[0]


def works(name: str, rows: int) -> dict[str, Work]:
    """Returns the legs of one join: the kernels, and its peers where it has any."""
    join = JOINS[name]
    tables = join.data.sides(rows)
    batches = parcels(tables, BATCHES, join)
    settings = settings_of(spec_of(join))
    legs: dict[str, Work] = {name: partial(by_kernels, settings, batches)}
    if join.peers:
        legs[f"{name}_duckdb"] = partial(by_duckdb, tables, join.peers)
        legs[f"{name}_polars"] = partial(by_polars, tables, join.peers)
    return legs


def counted(legs: dict[str, Work]) -> dict[str, Found]:
    """Warms the legs up and returns what each gives."""
    found = {name: work() for name, work in legs.items()}
    for name, one in found.items():
        own = found.get(leg_of(name), one)
        if one.rows != own.rows:
            sys.exit(f"{name} gives {one.rows} rows, the kernels give {own.rows}")
    return found


def ratios(samples: dict[str, list[Sample]]) -> dict[str, float]:
    """Returns how the kernels compare with their peers, in rows per CPU second."""
    rates = {name: median_rate(of_leg) for name, of_leg in samples.items()}
    return {
        f"{leg_of(name)}_vs_{name.removeprefix(leg_of(name))[1:]}": round(
            rates[leg_of(name)] / rate, 2
        )
        for name, rate in rates.items()
        if name not in JOINS and leg_of(name) in rates
    }


def asked() -> argparse.Namespace:
    """Returns what was asked on the command line."""
    parser = argparse.ArgumentParser(prog="scripts/bench kernel")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="little data, one round")
    parser.add_argument("--legs", default="", help="only these, with commas between")
    return parser.parse_args()


def main() -> None:
    """Measures and prints a table, then one line of JSON."""
    told = asked()
    rows = 2000 if told.quick else 1_000_000
    wanted = set(told.legs.split(",")) if told.legs else set()
    names = [name for name in JOINS if not wanted or name in map(leg_of, wanted)]
    legs = {
        leg: work
        for name in names
        for leg, work in works(name, rows).items()
        if not wanted or leg in wanted
    }
    found = counted(legs)
    runs = {name: partial(_measured, work, 2 * rows) for name, work in legs.items()}
    samples = in_turns(runs, 1 if told.quick else told.rounds)
    facts = {name: one.facts for name, one in found.items()}
    show(f"Kernels, 2 x {rows:,} rows in {BATCHES} batches", samples, facts)
    told_of = {
        name: {**asdict(found[name]), **figures(of_leg)}
        for name, of_leg in samples.items()
    }
    rows_out = {name: one.rows for name, one in found.items()}
    print(json.dumps({**ratios(samples), "rows_out": rows_out, "legs": told_of}))


def _measured(work: Work, rows: int) -> int:
    """Does the work and returns how many rows were read for it."""
    work()
    return rows


if __name__ == "__main__":
    main()
