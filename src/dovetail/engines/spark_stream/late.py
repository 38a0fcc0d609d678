"""Where the rows of a text's streams go, and how those are told that were late.

Of a stream in row time a query writes two outlets: the rows that come out, and, where
somebody has a sink for them, those that take no part. All streams of a text tell these
alike, so that one sink takes them: stream, reason, the row's time, and the row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from urllib.parse import quote

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.bind.sinks import Folder, Sink, prepare
from dovetail.engines.spark.values import as_json
from dovetail.engines.spark_stream.outlets import AnyOutlet
from dovetail.plan.stream import StreamPlan
from dovetail.schema import quoted

# A single node: what comes out is read on a Connect server, and modules go along whole.
from dovetail.spec.inputs import Outlet

_MESSAGES = {
    "late": "the row came behind the bound of its input, and takes no part",
    "null_time": "the row has no row time, and takes no part",
    "failed": "a value cannot be cast, and is null",
}


@dataclass(frozen=True, slots=True)
class Sinks:
    """Where the rows of streams go, by the names of streams, and late ones of each."""

    rows: Mapping[str, Sink]
    late: Callable[[str], Sink] | None = None

    def of(self, name: str) -> dict[AnyOutlet, Sink]:
        """Returns where the rows of a stream go, and late ones if they have a sink."""
        into: dict[AnyOutlet, Sink] = {Outlet.MATCHED: self.rows[name]}
        if self.late is not None:
            into[Outlet.LATE] = self.late(name)
        return into


def late_sink(sink: Sink, name: str) -> Sink:
    """Returns where late rows of a stream go: of a folder into a part of its own."""
    if not isinstance(sink, Folder):
        return sink
    # Read as one table it has the column `stream`, as `batch` in each of them.
    return replace(sink, path=f"{sink.path}/stream={quote(name, safe='')}")


def error_sink(sink: Sink, pump: str) -> Sink:
    """Returns where late rows go as an error stream of Kinesis Analytics tells them."""
    return _Told(sink, partial(_errors, pump))


def late_of_join(name: str, plan: StreamPlan, late: DataFrame) -> DataFrame:
    """Returns late rows of a join as those of steps in row time are told."""
    times, rows = [], []
    for side in plan.sides:
        own = f"{side.hand.value}.{quoted(side.source.time)}"
        # The time of a join's rows is none of their columns.
        has_time = side.source.is_timed and side.hand not in plan.inside
        times.append(F.expr(own if has_time else "NULL"))
        rows.append(
            F.when(F.col(side.hand.value).isNotNull(), as_json(side.hand.value))
        )
    return late.select(
        F.lit(name).alias("stream"),
        "reason",
        F.coalesce(*times).cast("timestamp").alias("row_time"),
        F.coalesce(*rows).alias("row"),
    )


@dataclass(frozen=True, slots=True)
class _Told:
    """A sink of rows that are told in another way than they come out."""

    sink: Sink
    rows: Callable[[DataFrame], DataFrame]

    @property
    def place(self) -> str:
        """Returns where the rows go, in words."""
        return self.sink.place

    @property
    def reads_once(self) -> bool:
        """Tells whether a write reads all rows once."""
        return self.sink.reads_once

    def prepare(self, rows: DataFrame, *, is_new: bool) -> None:
        """Refuses rows that cannot be written."""
        prepare(self.sink, self.rows(rows), is_new=is_new)

    def write(self, rows: DataFrame, batch: int, *, is_empty: bool) -> None:
        """Writes a batch."""
        self.sink.write(self.rows(rows), batch, is_empty=is_empty)


def _errors(pump: str, late: DataFrame) -> DataFrame:
    """Returns late rows as the error stream of Kinesis Analytics tells them."""
    message = F.create_map(*(F.lit(it) for one in _MESSAGES.items() for it in one))
    return late.select(
        F.current_timestamp().alias("ERROR_TIME"),
        F.lit("ERROR").alias("ERROR_LEVEL"),
        F.upper("reason").alias("ERROR_NAME"),
        message[F.col("reason")].alias("MESSAGE"),
        F.col("row_time").alias("DATA_ROWTIME"),
        F.hex(F.encode("row", "utf-8")).alias("DATA_ROW"),
        F.lit(pump).alias("PUMP_NAME"),
    )
