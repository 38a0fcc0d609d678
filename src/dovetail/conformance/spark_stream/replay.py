"""Recorded events, played again as a stream in the very cuts that were recorded.

    cut | sequence | scope | input  | event  | moment | now | row_orders | row_trades
    0   |        0 |     0 | orders | ROW    |        |   0 | {id: 1}    |
    0   |        1 |     0 | trades | ROW    |        |  17 |            | {id: 7}
    1   |        2 |     0 | orders | FINISH |        |  20 |            |

All inputs are one sequence in one source, so every side of a join sees the same cut. A
batch is one cut, and the same cut again after a restart.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import (
    DataSource,
    DataSourceStreamReader,
    InputPartition,
)
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxRows,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from dovetail.bind.travel import register
from dovetail.kernels.arrays.names import LineKind, reserved
from dovetail.schema import quoted

NAME = "dovetail_replay"
CUT, INPUT, ROW = "cut", "input", "row_"
_BARE = (LineKind.BOUND, LineKind.FINISH)
_HEAD = pa.schema(
    [
        (CUT, pa.int32()),
        ("sequence", pa.int64()),
        ("scope", pa.int32()),
        (INPUT, pa.string()),
        ("event", pa.int32()),
        ("moment", pa.int64()),
        ("now", pa.int64()),
    ]
)
SEQUENCE = reserved("sequence")
RIDING = tuple(map(reserved, _HEAD.names))
"""The line's own columns, beside those of an input."""


@dataclass(frozen=True, slots=True)
class Line:
    """One event: its cut, its place in the sequence, its play, and what it is.

    `moment` is a bound's, in microseconds, and `clock` the processing time.
    """

    cut: int
    sequence: int
    scope: int
    input: str
    event: LineKind
    moment: int | None = None
    clock: int = 0

    @property
    def has_row(self) -> bool:
        """Tells whether the line brings a row."""
        return self.event not in _BARE


def record(
    path: str | Path, lines: Sequence[Line], rows: Mapping[str, pa.Table]
) -> None:
    """Writes events that `replay` plays; `rows` are each input's, in their order."""
    # Column by column; without a line there are as many, all empty.
    head = list(zip(*map(astuple, lines), strict=True)) or [()] * len(_HEAD)
    arrays = [
        pa.array(values, kind) for values, kind in zip(head, _HEAD.types, strict=True)
    ]
    for name, table in rows.items():
        # An input's rows stand on the lines that bring them, null on all others.
        numbers = iter(range(table.num_rows))
        index = [
            next(numbers) if it.has_row and it.input == name else None for it in lines
        ]
        structs = table.to_struct_array().combine_chunks()
        if isinstance(structs, pa.ChunkedArray):
            structs = pa.concat_arrays(structs.chunks)
        arrays.append(structs.take(pa.array(index, pa.int64())))
    names = [*_HEAD.names, *(ROW + name for name in rows)]
    pq.write_table(pa.Table.from_arrays(arrays, names=names), path)


def replay(spark: SparkSession, path: str | Path) -> DataFrame:
    """Returns recorded events as a stream that gives one cut a batch."""
    register(spark, Replay)
    return spark.readStream.format(NAME).option("path", str(path)).load()


def lines_of(replayed: DataFrame, name: str) -> DataFrame:
    """Returns the lines of one input: its columns, and the line's own, by our names."""
    own = [f"{column} AS {reserved(column)}" for column in _HEAD.names]
    mine = replayed.where(replayed[INPUT] == name)
    return mine.selectExpr(f"{quoted(ROW + name)}.*", *own)


class Replay(DataSource):
    """The data source of recorded events; `path` is the file."""

    @classmethod
    def name(cls) -> str:
        """Returns the name of the format."""
        return NAME

    def schema(self) -> StructType:
        """Returns the columns of the file."""
        found = pq.read_schema(self.options["path"])
        return from_arrow_schema(found, prefer_timestamp_ntz=True)

    def streamReader(self, schema: StructType) -> ReplayReader:  # noqa: N802 - Spark's
        """Returns the reader of the file."""
        return ReplayReader(self.options["path"], schema)


@dataclass
class Cuts(InputPartition):
    """The cuts from the first up to the last, which is left out."""

    first: int
    past: int


class ReplayReader(DataSourceStreamReader, SupportsTriggerAvailableNow):
    """Reads cut after cut; an offset says how many have been read."""

    def __init__(self, path: str, schema: StructType) -> None:
        """Keeps what is read, and the Arrow columns that Spark wants."""
        self.path = path
        self.columns = to_arrow_schema(schema, timezone="UTC")

    def initialOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """Returns the offset before the first cut."""
        return {CUT: 0}

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802 - Spark's name
        """Returns a limit, so that a batch is one cut."""
        return ReadMaxRows(1)

    def latestOffset(  # noqa: N802 - Spark's name
        self, start: Mapping[str, int], limit: ReadLimit
    ) -> dict[str, int]:
        """Returns the offset behind the next cut, or behind all where all is asked."""
        past = self._cuts()
        if isinstance(limit, ReadAllAvailable):
            return {CUT: past}
        return {CUT: min(past, start[CUT] + 1)}

    def reportLatestOffset(self) -> dict[str, int]:  # noqa: N802 - Spark's name
        """Returns the offset behind the last cut."""
        return {CUT: self._cuts()}

    def prepareForTriggerAvailableNow(self) -> None:  # noqa: N802 - Spark's name
        """Needs nothing: a recording does not grow."""

    def partitions(
        self, start: Mapping[str, int], end: Mapping[str, int]
    ) -> list[InputPartition]:
        """Returns one partition: rows of one keep their order."""
        wanted = Cuts(start[CUT], end[CUT])
        return [wanted] if wanted.first < wanted.past else []

    def read(self, partition: Any) -> Iterator[pa.RecordBatch]:  # noqa: ANN401 - ours
        """Gives the lines of the cuts in their order."""
        wanted = [(CUT, ">=", partition.first), (CUT, "<", partition.past)]
        found = pq.read_table(self.path, filters=wanted)
        yield from found.cast(self.columns).to_batches()

    def _cuts(self) -> int:
        """Returns how many cuts the file has, as its statistics say."""
        told = pq.read_metadata(self.path)
        groups = [told.row_group(n).column(0) for n in range(told.num_row_groups)]
        return max(
            (one.statistics.max + 1 for one in groups if one.num_values), default=0
        )
