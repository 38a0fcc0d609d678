"""One bucket's state alone, without Spark: what a small batch costs on much state.

Rows a side are kept first, of as many keys; then small batches come, each through
load, step and save as the operator runs them, with copies on the disk and a dictionary
for Spark's state store. CPU milliseconds a batch, the bytes that it writes, and the
rows that it reads. Of `waiting` all rows wait for the bound of versions, and as many
take part in a batch as come.

    scripts/bench store
    scripts/bench store --sizes 15000,250000 --batch 2000
    scripts/bench store --quick        little data: shows that it works, not how fast
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa

from dovetail.engines.kernel_settings import Manner, kernel_settings
from dovetail.engines.spark_stream.worker.copies import CopiedShelf, Copies
from dovetail.kernels.arrays.rows import flags_of, make_rows
from dovetail.kernels.arrival.arrival import Parcel, Report
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.step import step
from dovetail.kernels.store import Store
from dovetail.spec.defaults import with_defaults
from dovetail.spec.inputs import Arrival
from dovetail.spec.reader import read_inputs, read_join

SECOND, START = 1_000_000, 1_700_000_000_000_000
FILLS, WARM = 8, 3
_COLUMNS = {"key": "bigint", "ts": "timestamp", "v": "double", "seq": "bigint"}
_INPUT = {"kind": "stream", "schema": _COLUMNS, "time": "ts"}
INPUTS = read_inputs({"L": _INPUT, "R": _INPUT})
RANGE, VERSIONS = {"range": {"preceding": "1000000 seconds"}}, {"latest": ["key"]}
JOINS: dict[str, dict[str, object]] = {
    "inner": {"type": "inner"},
    "left_outer": {"type": "left_outer"},
    "keep": {"type": "inner", "keep": 3},
    "asof": {"type": "left_outer", "asof": {"left": "l.ts", "right": "r.ts"}},
    "waiting": {"type": "left_outer", "right": {"from": "R", "window": VERSIONS}},
}


@dataclass(slots=True)
class Shelf:
    """What stands for Spark's state store."""

    head: bytes = b""
    blobs: dict[int, bytes] = field(default_factory=dict)

    def directory(self) -> bytes:
        """Returns the directory, empty where there is none yet."""
        return self.head

    def keep_directory(self, data: bytes) -> None:
        """Keeps the directory."""
        self.head = data

    def get(self, number: int) -> bytes:
        """Returns a blob."""
        return self.blobs[number]

    def put(self, number: int, data: bytes) -> None:
        """Keeps a blob."""
        self.blobs[number] = data

    def drop(self, number: int) -> None:
        """Forgets a blob."""
        del self.blobs[number]


@dataclass(frozen=True, slots=True)
class Cost:
    """What a batch costs in the middle, and at most."""

    size: int
    kind: str
    milliseconds: float
    worst: float
    written: int
    read_rows: int


def settings_of(kind: str) -> JoinSettings:
    """Returns what the kernels know of a join in which no row leaves its window."""
    told = {
        "left": {"from": "L", "window": RANGE},
        "right": {"from": "R", "window": RANGE},
        "hard": [["l.key", "r.key"]],
        "clock": "event",
        **JOINS[kind],
    }
    join = with_defaults(read_join(told), INPUTS)
    return kernel_settings(join, INPUTS, Manner(Arrival.MERGED))


@dataclass(frozen=True, slots=True)
class Bucket:
    """A bucket: its join, its keys, how late rows may be, and where its state lies."""

    settings: JoinSettings
    keys: int
    lateness: int
    shelf: CopiedShelf
    random: np.random.Generator

    def ran(self, second: int, past: int, rows: int) -> tuple[float, int, int]:
        """Runs a batch; returns CPU seconds, bytes written, rows read."""
        parcels = [self._parcel(hand, second, past, rows) for hand in (0, 1)]
        schema = parcels[0].rows.payload.schema
        started = time.process_time()
        store = Store(self.settings, (schema, schema), self.shelf)
        state = store.load(parcels, 0)
        saved = store.save(step(self.settings, state, parcels, 0))
        used = time.process_time() - started
        return used, saved.written, sum(map(len, (*state.alive, *state.waiting)))

    def _parcel(self, hand: int, second: int, past: int, rows: int) -> Parcel:
        """Returns a batch of one side."""
        moment = self.random.integers(second * SECOND, past * SECOND, rows)
        moment = np.sort(moment) + START
        code = self.random.integers(0, self.keys, rows)
        columns = {
            "key": pa.array(code),
            "ts": pa.array(moment, pa.timestamp("us", "UTC")),
            "v": pa.array(self.random.random(rows)),
            "seq": pa.array(np.arange(rows)),
        }
        newest = int(moment[-1])
        report = Report(hand, 0, newest - self.lateness, newest, seen=True)
        flags = flags_of(has_key=np.ones(rows, bool))
        payload = pa.RecordBatch.from_pydict(columns)
        return Parcel(report, make_rows(code, moment, np.arange(rows), flags, payload))


def cost(size: int, kind: str, asked: argparse.Namespace) -> Cost:
    """Returns what small batches cost on a state of so many rows a side."""
    with tempfile.TemporaryDirectory(prefix="dovetail-bench-") as folder:
        shelf = CopiedShelf(Shelf(), Copies(Path(folder)))
        # Rows come as evenly before the small batches as in these: one a second.
        each = size // FILLS // asked.batch
        lateness = FILLS * each * SECOND * (kind == "waiting")
        random = np.random.default_rng(1)
        bucket = Bucket(settings_of(kind), size, lateness, shelf, random)
        for number in range(FILLS):
            bucket.ran(number * each, (number + 1) * each, each * asked.batch)
        found = [
            bucket.ran(second, second + 1, asked.batch)
            for second in range(FILLS * each, FILLS * each + asked.batches)
        ]
    used, written, read = zip(*found[WARM:], strict=True)
    return Cost(
        size,
        kind,
        round(1000 * statistics.median(used), 2),
        round(1000 * max(used), 2),
        round(statistics.mean(written)),
        round(statistics.median(read)),
    )


def main() -> None:
    """Measures and prints a line for each size, then one line of JSON."""
    parser = argparse.ArgumentParser(prog="scripts/bench store")
    parser.add_argument("--sizes", default="15000,60000,250000")
    parser.add_argument("--kinds", default=",".join(JOINS))
    parser.add_argument("--batch", type=int, default=125)
    parser.add_argument("--batches", type=int, default=67)
    parser.add_argument("--quick", action="store_true", help="little data")
    asked = parser.parse_args()
    if asked.quick:
        asked.sizes, asked.batches = "2000,4000", 10
    sizes, known = list(map(int, asked.sizes.split(","))), {}
    for kind in asked.kinds.split(","):
        for size in sizes:
            known[kind, size] = cost(size, kind, asked)
            print(json.dumps(asdict(known[kind, size])), flush=True)
    growth = {
        f"{kind}_growth": round(
            known[kind, max(sizes)].milliseconds / known[kind, min(sizes)].milliseconds,
            2,
        )
        for kind in asked.kinds.split(",")
    }
    print(json.dumps({**growth, "costs": list(map(asdict, known.values()))}))


if __name__ == "__main__":
    main()
