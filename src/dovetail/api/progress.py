"""How far a running join is: its rows in, its rows out by outlet, what it keeps.

    for progress in dt.follow(query):
        print(progress)

    batch 0: 6 rows in, 0 matched, 0 unmatched, 0 late, 6 kept
    batch 1: 13 rows in, 4 matched, 0 unmatched, 1 late, 8 kept

The numbers ride along with each batch as Spark's observed metrics, so looking at them
runs nothing twice.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace

from pyspark.errors import StreamingQueryException
from pyspark.sql import Row
from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery

from dovetail.engines.spark_stream.dataflow import COUNTERS
from dovetail.engines.spark_stream.failures import sentence
from dovetail.spec import arguments

PAUSE = 0.2
_COUNTED = ("came", "matched", "unmatched", "late")


@dataclass(frozen=True, slots=True)
class Progress:
    """What a join has done since this start: `alive` rows are kept just now.

    `batch` is the number of the newest batch, which its folders bear too. `waiting` of
    the rows have not yet met anyone: the order of arrival is not sure by now.
    """

    batch: int = -1
    came: int = 0
    matched: int = 0
    unmatched: int = 0
    late: int = 0
    alive: int = 0
    waiting: int = 0

    def after(self, batch: int, counted: Mapping[str, int | None]) -> Progress:
        """Returns the progress after one more batch with these counts.

        A batch in which no bucket was woken has counted nothing: all is as it was.
        """
        sums = {name: getattr(self, name) + (counted[name] or 0) for name in _COUNTED}
        told = {name: counted[name] for name in ("alive", "waiting")}
        now = {name: count for name, count in told.items() if count is not None}
        return replace(self, batch=batch, **sums, **now)

    def prometheus(self, query: str) -> str:
        """Returns the numbers as Prometheus reads them, under the name of a query.

        Rows that came and went are counted since this start, as its counters are.
        """
        # Prometheus puts a backslash where JSON does.
        label = json.dumps(query, ensure_ascii=False)
        lines = []
        for field in fields(self):
            is_count = field.name in _COUNTED
            name = f"dovetail_{field.name}{'_total' if is_count else ''}"
            lines.append(f"# TYPE {name} {'counter' if is_count else 'gauge'}")
            lines.append(f"{name}{{query={label}}} {getattr(self, field.name)}")
        return "\n".join(lines) + "\n"

    def __str__(self) -> str:
        """Returns one line for a log or a screen."""
        return (
            f"batch {self.batch}: {self.came} rows in, {self.matched} matched, "
            f"{self.unmatched} unmatched, {self.late} late, {self.alive} kept"
        )


@arguments.public
def follow(query: StreamingQuery) -> Iterator[Progress]:
    """Yields the progress after every batch, until the query ends.

    What ended it badly is raised as an EngineError of one sentence. Spark remembers the
    last hundred batches: whoever looks less often misses some.
    """
    # Checked where it is given, not where the first progress is asked for.
    if not hasattr(query, "recentProgress"):
        hint = "write for example dt.follow(joined.write(..))"
        raise arguments.wrong(
            "query", query, "a running query, as joined.write returns", hint
        )
    return _followed(query)


def _followed(query: StreamingQuery) -> Iterator[Progress]:
    """Yields the progress after every batch, and raises what ended the query badly."""
    progress, is_active = Progress(), True
    while is_active:
        # Asked before the batches are read: the last one must not be missed.
        is_active = query.isActive
        newest = query.lastProgress
        # Spark writes each batch as a text and reads it again, up to a hundred of them
        # every time: not where none is behind the last one seen.
        is_behind = newest and newest["batchId"] > progress.batch
        for batch in query.recentProgress if is_behind else ():
            counted, number = _counted(batch), batch["batchId"]
            if number > progress.batch and counted:
                progress = progress.after(number, counted)
                yield progress
        time.sleep(PAUSE if is_active else 0)
    try:
        query.awaitTermination()
    except StreamingQueryException as error:
        raise sentence(error) from error


def _counted(batch: StreamingQueryProgress) -> Mapping[str, int | None]:
    """Returns a batch's counts by name, None where no bucket was woken.

    There are none where the batch did not run. Of a query that is not written by us
    the joins in it are counted together.
    """
    metrics = batch["observedMetrics"]
    told = [name for name in metrics if name.startswith(f"{COUNTERS}.")]
    rows = [
        _row(metrics[name]) for name in ([COUNTERS] if COUNTERS in metrics else told)
    ]
    sums: dict[str, int | None] = {}
    for field in fields(Progress)[1:] if rows else ():
        known = [count for row in rows if (count := row[field.name]) is not None]
        sums[field.name] = sum(known) if known else None
    return sums


def _row(observed: Row) -> Mapping[str, int | None]:
    """Returns observed metrics by name; Connect tells values and schema apart."""
    known = observed.asDict()
    if "schema" not in known:
        return known
    names = (field["name"] for field in known["schema"]["fields"])
    return dict(zip(names, known["values"], strict=True))
