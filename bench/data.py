"""Data for benchmarks, made once and kept in the folder .cache/bench.

Both sides have uniform keys and row times that grow from file to file, so that one
trigger of a stream reads one stretch of time of both sides.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyarrow import csv

CACHE = Path(__file__).parents[1] / ".cache" / "bench"
SCHEMA = {"key": "bigint", "ts": "timestamp", "v": "double", "seq": "bigint"}
_START = 1_700_000_000
_SECOND = 1_000_000
_TEXTS = 5_000


@dataclass(frozen=True, slots=True)
class Stretch:
    """How much there is of each side: files, rows a file, keys, seconds in all.

    A part of the rows, `hot`, has one and the same key. Rows have so many `more`
    columns that nobody reads, of numbers and of texts by turns.
    """

    files: int = 20
    rows: int = 100_000
    keys: int = 100_000
    seconds: int = 2000
    hot: float = 0.0
    more: int = 0

    @property
    def name(self) -> str:
        """Returns the name of the folder."""
        hot = f"-{self.hot}hot" if self.hot else ""
        more = f"-{self.more}more" if self.more else ""
        return f"{self.files}x{self.rows}-{self.keys}k-{self.seconds}s{hot}{more}"

    @property
    def schema(self) -> dict[str, str]:
        """Returns the columns of both sides, with their types."""
        kinds = ("double", "string")
        return SCHEMA | {f"more{it}": kinds[it % 2] for it in range(self.more)}


def made(stretch: Stretch) -> Path:
    """Returns the folder with the folders `l` and `r`, written where it is not yet."""
    return kept(stretch.name, partial(_write_both, stretch))


def as_csv(stretch: Stretch, files: int) -> Path:
    """Returns the folder with the first files of both sides in one CSV file each."""
    return kept(f"{stretch.name}-{files}csv", partial(_write_csv, stretch, files))


def _write_csv(stretch: Stretch, files: int, folder: Path) -> None:
    """Writes both sides as lines, with the milliseconds of their times."""
    for side in "lr":
        paths = [made(stretch) / side / f"{n:04d}.parquet" for n in range(files)]
        table = pa.concat_tables(map(pq.read_table, paths))
        times = pc.cast(
            pc.cast(table["ts"], pa.timestamp("ms", "UTC"), safe=False), "int64"
        )
        table = table.set_column(1, "ms", times)
        csv.write_csv(
            table, folder / f"{side}.csv", csv.WriteOptions(include_header=False)
        )


def kept(name: str, write: Callable[[Path], None]) -> Path:
    """Returns a folder of that name, which is written where it is not there yet."""
    base = CACHE / name
    if base.exists():
        return base
    unfinished = base.with_suffix(f".{os.getpid()}")
    unfinished.mkdir(parents=True)
    write(unfinished)
    try:
        unfinished.rename(base)
    except OSError:  # another process was quicker
        shutil.rmtree(unfinished)
    return base


def _write_both(stretch: Stretch, folder: Path) -> None:
    """Writes both sides."""
    for seed, side in enumerate("lr", start=1):
        _write(folder / side, stretch, np.random.default_rng(seed))


def _write(folder: Path, stretch: Stretch, random: np.random.Generator) -> None:
    """Writes one side."""
    folder.mkdir(parents=True)
    total = stretch.files * stretch.rows
    # Whole milliseconds: Flink's row time has no finer ones.
    moments = np.sort(random.integers(0, stretch.seconds * 1000, total)) * 1000
    keys = random.integers(0, stretch.keys, total)
    if stretch.hot:
        keys[random.random(total) < stretch.hot] = 0
    table = pa.table(
        {
            "key": pa.array(keys),
            "ts": pa.array(moments + _START * _SECOND, pa.timestamp("us", "UTC")),
            "v": pa.array(random.random(total)),
            "seq": pa.array(np.arange(total)),
        }
    )
    texts = pa.array([f"one of {_TEXTS} texts: {number}" for number in range(_TEXTS)])
    for name in [it for it in stretch.schema if it not in SCHEMA]:
        is_text = stretch.schema[name] == "string"
        which = random.integers(0, _TEXTS, total)
        table = table.append_column(
            name, texts.take(pa.array(which)) if is_text else pa.array(which * 0.5)
        )
    for number in range(stretch.files):
        path = folder / f"{number:04d}.parquet"
        pq.write_table(table.slice(number * stretch.rows, stretch.rows), path)
        # A stream reads files in the order of their times of change.
        os.utime(path, (_START + number, _START + number))
