"""How far a running join is: its rows in, its rows out by outlet, what it keeps.

    for progress in dt.follow(query):
        print(progress)

    batch 1: 6 rows in, 0 matched, 0 unmatched, 0 late, 6 kept
    batch 2: 13 rows in, 4 matched, 0 unmatched, 1 late, 8 kept

The numbers ride along with each batch as Spark's observed metrics, so looking at them
runs nothing twice.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery

from dovetail.run.spark_stream.failures import sentence
from dovetail.run.spark_stream.joining import COUNTERS
from dovetail.spec.arguments import wrong
from dovetail.spec.calls import public

PAUSE = 0.2


@dataclass(frozen=True, slots=True)
class Progress:
    """What a join has done since it was followed: `alive` rows are kept just now.

    `waiting` of them have not yet met anyone: the order of arrival is not sure by now.
    """

    batches: int = 0
    came: int = 0
    matched: int = 0
    unmatched: int = 0
    late: int = 0
    alive: int = 0
    waiting: int = 0

    def after(self, counted: Mapping[str, int]) -> Progress:
        """Returns the progress after one more batch with these counts."""
        sums = {
            name: getattr(self, name) + counted[name]
            for name in ("came", "matched", "unmatched", "late")
        }
        now = {name: counted[name] for name in ("alive", "waiting")}
        return replace(self, batches=self.batches + 1, **sums, **now)

    def __str__(self) -> str:
        """Returns one line for a log or a screen."""
        return (
            f"batch {self.batches}: {self.came} rows in, {self.matched} matched, "
            f"{self.unmatched} unmatched, {self.late} late, {self.alive} kept"
        )


@public
def follow(query: StreamingQuery) -> Iterator[Progress]:
    """Yields the progress after every batch, until the query ends.

    What ended it badly is raised as an EngineError of one sentence. Spark remembers the
    last hundred batches: whoever looks less often misses some.
    """
    # Checked where it is given, not where the first progress is asked for.
    if not hasattr(query, "recentProgress"):
        hint = "write for example dt.follow(joined.write(..))"
        raise wrong("query", query, "a running query, as joined.write returns", hint)
    return _followed(query)


def _followed(query: StreamingQuery) -> Iterator[Progress]:
    """Yields the progress after every batch."""
    progress, last, is_active = Progress(), -1, True
    while is_active:
        # Asked before the batches are read: the last one must not be missed.
        is_active = query.isActive
        for batch in _recent(query, last):
            counted = _counted(batch)
            if batch["batchId"] > last and counted:
                last, progress = batch["batchId"], progress.after(counted)
                yield progress
        time.sleep(PAUSE if is_active else 0)
    _raise_failure(query)


def _recent(query: StreamingQuery, last: int) -> list[StreamingQueryProgress]:
    """Returns the newest batches; none where none is behind the last one seen.

    Spark writes each of them as a text and reads it again, up to a hundred every time.
    """
    newest = query.lastProgress
    return query.recentProgress if newest and newest["batchId"] > last else []


def _counted(batch: StreamingQueryProgress) -> Mapping[str, int]:
    """Returns a batch's counts by name; nothing where it had no rows."""
    row = batch["observedMetrics"].get(COUNTERS)
    known = row.asDict() if row is not None else {}
    names = [field.name for field in fields(Progress)[1:]]
    return {name: known[name] or 0 for name in names if name in known}


def _raise_failure(query: StreamingQuery) -> None:
    """Raises what ended a query, where it did not simply end."""
    try:
        query.awaitTermination()
    except StreamingQueryException as error:
        raise sentence(error) from error
