"""What a query does with each batch: every outlet's rows into the outlet's own sink.

one sink     rows of the outlet are all that the query makes; they are written as they
             come out of the operator
several      lines are kept for as long as the batch is written: who reads them, reads
             the rows of one outlet

What a batch costs before its first row is mostly the jobs that Spark runs for it. So
nobody asks first whether an outlet has rows, where it had some in the batch before: its
rows are counted as they are written. A look costs a job; an outlet that has fallen
silent gets one folder without rows, and is looked at from there on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import compress
from threading import Thread
from typing import Protocol

from pyspark.sql import DataFrame, Observation
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.bind.failures import cause, is_of_worker
from dovetail.bind.sinks import Sink
from dovetail.engines.spark_stream.outlets import AnyOutlet
from dovetail.errors import EngineError

_PATIENCE = 60.0
"""So many seconds may pass from the end of a read to the event that says so."""


class Batches(Protocol):
    """What the batches of a query hold, and how an outlet's rows are read of one."""

    @property
    def every(self) -> tuple[AnyOutlet, ...]:
        """Returns the outlets of which batches have rows."""

    def frame(self, results: DataFrame, outlet: AnyOutlet) -> DataFrame:
        """Returns the rows of one outlet with its own columns."""

    def has_rows(self) -> list[str]:
        """Returns whether there are rows for each outlet, as SQL for a whole batch."""


@dataclass(frozen=True, slots=True)
class RowsOfOne:
    """Batches that are the rows of one outlet."""

    outlet: AnyOutlet

    @property
    def every(self) -> tuple[AnyOutlet, ...]:
        """Returns the outlet."""
        return (self.outlet,)

    def frame(
        self,
        results: DataFrame,
        outlet: AnyOutlet,  # noqa: ARG002 - there is one
    ) -> DataFrame:
        """Returns the rows as they are."""
        return results

    def has_rows(self) -> list[str]:
        """Returns whether there is any row."""
        return ["count(1) > 0"]


@dataclass(slots=True)
class Writing:
    """Writes one batch after the other; `filled` are the outlets of the last one.

    Before a run's first batch it is nothing: that one may have been there before, and
    comes again to replace what is there. No other does.
    """

    batches: Batches
    sinks: Mapping[AnyOutlet, Sink]
    filled: frozenset[AnyOutlet] | None = None

    def write(self, batch: DataFrame, number: int) -> None:
        """Writes a batch."""
        first, *others = self.sinks
        # Written ahead the first outlet's rows come straight out of the operator, and
        # on the way all outlets' rows are counted: so no job looks before.
        is_ahead = self.sinks[first].reads_once and (
            self.filled is None or first in self.filled
        )
        # Read twice without being kept the lines would run the join twice.
        is_kept = bool(others) or not is_ahead
        # Outlets go by their places among all: their names need not be Spark's.
        asked = enumerate(self.batches.has_rows())
        named = [F.expr(f"{has_rows} AS c{place}") for place, has_rows in asked]
        told: Mapping[str, bool | None]
        if is_kept:
            batch.persist()
        try:
            if is_ahead:
                seen = Observation()
                self._written(batch.observe(seen, *named), number, first)
                told = _counted(seen, self.sinks[first], number)
            else:
                # All there is is read, in one job: all state must reach its store,
                # whatever sinks look at.
                (row,) = batch.agg(*named).collect()
                told, others = row.asDict(), [*self.sinks]
            has_rows = (told[f"c{place}"] for place in range(len(told)))
            filled = frozenset(compress(self.batches.every, has_rows))
            for outlet in others:
                self._written(batch, number, outlet, is_empty=outlet not in filled)
            self.filled = filled
        finally:
            if is_kept:
                batch.unpersist()

    def _written(
        self,
        batch: DataFrame,
        number: int,
        outlet: AnyOutlet,
        *,
        is_empty: bool = False,
    ) -> None:
        """Writes the rows of an outlet, or says what has failed."""
        sink = self.sinks[outlet]
        # Nothing of a new batch can be there that no rows would have to replace.
        if is_empty and sink.reads_once and number and self.filled is not None:
            return
        rows = self.batches.frame(batch, outlet)
        try:
            sink.write(rows, number, is_empty=is_empty)
        except Exception as error:
            # What is written ahead runs the join, whose mistakes are no sink's.
            if sink.reads_once and is_of_worker(error):
                raise
            what = f'the outlet "{outlet.value}" is'
            where = f"{sink.place} failed in batch {number}"
            raise not_written(what, where, error) from error


def _counted(seen: Observation, sink: Sink, number: int) -> Mapping[str, bool | None]:
    """Returns what was counted while a sink read its rows.

    Spark tells of a read by an event, and of rows that nobody has read it never does.
    """
    told: list[Mapping[str, bool | None]] = []
    failed: list[Exception] = []

    def wait() -> None:
        try:
            told.append(seen.get)
        except Exception as error:  # noqa: BLE001 - whatever it is, it is raised below
            failed.append(error)

    # Nothing ends a wait for an event, so it is a thread's that may be left behind.
    waiting = Thread(target=wait, daemon=True)
    waiting.start()
    waiting.join(_PATIENCE)
    # As where Spark is stopped meanwhile: that says nothing of the sink.
    if failed:
        raise failed[0]
    # Through Connect the answer comes at once, and is empty where nobody has read.
    if not any(told):
        raise EngineError(
            f"the rows of batch {number} are not read by {sink.place}",
            'a sink that reads all rows once, as its "reads_once" says',
            'a sink that need not read them says "reads_once = False"',
        )
    return told[0]


def not_written(what: str, where: str, error: Exception) -> EngineError:
    """Returns the error for rows that a failed sink has not written."""
    why = cause(error)
    return EngineError(
        f"{what} not written: {where}: {why}",
        # What a cause expects of a value says more; one sentence expects one thing.
        "" if "; expected " in why else "a batch that is written whole",
        "a start on the same checkpoint writes the batch again, with its number",
    )
