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
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from datetime import datetime, timedelta
from typing import Any

from pyspark.errors import StreamingQueryException
from pyspark.sql.streaming.listener import StreamingQueryProgress
from pyspark.sql.streaming.query import StreamingQuery

from dovetail import schema
from dovetail.bind.failures import sentence
from dovetail.bind.lookups.tables import COUNTS
from dovetail.engines.spark_stream.dataflow import COUNTERS
from dovetail.engines.spark_stream.row_time import LATE
from dovetail.spec import arguments

PAUSE = 0.2
_MOST_HOT = 5
_SUMS = ("came", "met", "unmatched", "late", "failed", "evicted", *COUNTS)
_NOW = ("alive", "waiting", "bytes", "partitions")
_HANDS = ("left", "right")
Counted = Mapping[str, Any]
"""What was counted in a batch, by name; None where no bucket was woken."""


@dataclass(frozen=True, slots=True)
class SideProgress:
    """What a join has done with one side since this start, and what it keeps just now.

    `came`, `late` and `failed` rows have come, too late or without a time or with a bad
    interval. `met` have met somebody in their batch, `unmatched` have left without.
    `evicted` are kept no more; `alive` are, in so many `bytes`, of which `waiting` take
    no part yet; so many `partitions` of a window have some, if known. No row before
    `bound` comes any more, which was so long ago (`lag`) when the batch began. `rate`
    is how many rows came a second since the batch before.
    `hot` are the keys of most rows of the batch, and how many. Of a lookup `hits` are
    keys whose rows were kept, `asked` those that its table was asked for, `fetched` the
    rows that came, `misses` keys without a row; each batch and task counts its own.
    """

    came: int = 0
    met: int = 0
    unmatched: int = 0
    late: int = 0
    failed: int = 0
    evicted: int = 0
    alive: int = 0
    waiting: int = 0
    bytes: int = 0
    partitions: int | None = None
    hits: int = 0
    asked: int = 0
    fetched: int = 0
    misses: int = 0
    bound: datetime | None = None
    lag: timedelta | None = None
    rate: float = field(default=0.0, compare=False)
    hot: tuple[tuple[str, int], ...] = ()

    def after(
        self, hand: str, counted: Counted, *, began: datetime, before: datetime | None
    ) -> SideProgress:
        """Returns the progress after one more batch.

        It began at a moment, and the one before it did at another, if there was one.
        """

        def count(name: str) -> Any:  # noqa: ANN401 - a number, or None
            return counted.get(f"{hand}_{name}")

        # A batch counts what is new in it; what is kept it tells as it is now.
        sums = {name: getattr(self, name) + (count(name) or 0) for name in _SUMS}
        now = {name: count(name) for name in _NOW if count(name) is not None}
        bound = self.bound
        if count("bound") is not None:
            bound = schema.from_microseconds(count("bound"))
        # From beginning to beginning: rows come also while a batch is at work.
        seconds = (began - before).total_seconds() if before else 0.0
        # Each bucket tells its own keys of most rows; a key is in one bucket.
        known = (key for keys in counted["hot"] for key in keys[_HANDS.index(hand)])
        hot = sorted(known, key=lambda key: -int(key[0]))[:_MOST_HOT]
        return replace(
            self,
            **sums,
            **now,
            bound=bound,
            lag=None if bound is None else began - bound,
            rate=(count("came") or 0) / seconds if seconds > 0 else 0.0,
            hot=tuple((", ".join(values), rows) for rows, values in hot),
        )

    def in_words(self) -> str:
        """Returns how fast rows come, and how far their time is."""
        told = f"{self.came:,} rows, {self.rate:,.0f}/s"
        if self.bound is None or self.lag is None:
            return told
        bound = f"{self.bound:%Y-%m-%d %H:%M:%S}"
        return f"{told}, up to {bound}, {self.lag.total_seconds():,.0f} s ago"


@dataclass(frozen=True, slots=True, repr=False)
class Progress:
    """What a join has done since this start, by side, and what it keeps just now.

    `batch` is the number of the newest batch, which its folders bear too. `matched` are
    pairs, and rows given once because they have a partner. The largest bucket has
    `skew` times as many rows as on average.
    """

    batch: int = -1
    matched: int = 0
    left: SideProgress = SideProgress()
    right: SideProgress = SideProgress()
    skew: float = 1.0
    began: datetime | None = field(default=None, compare=False)

    def in_words(self) -> str:
        """Returns a line about both sides, their rates and bounds, and results."""
        sides = {"left": self.left, "right": self.right}
        told = [f"{hand} {side.in_words()}" for hand, side in sides.items()]
        failed = [f"{self.failed:,} failed"] if self.failed else []
        counts = [
            f"{self.matched:,} matched",
            f"{self.unmatched:,} unmatched",
            f"{self.late:,} late",
            *failed,
            f"{self.alive:,} kept",
        ]
        return f"batch {self.batch}: {'; '.join(told)}; {', '.join(counts)}"

    @property
    def came(self) -> int:
        """Returns how many rows came."""
        return self.left.came + self.right.came

    @property
    def unmatched(self) -> int:
        """Returns how many rows came out without a partner."""
        return self.left.unmatched + self.right.unmatched

    @property
    def late(self) -> int:
        """Returns how many rows came too late."""
        return self.left.late + self.right.late

    @property
    def failed(self) -> int:
        """Returns how many rows had no time, or a bad interval."""
        return self.left.failed + self.right.failed

    @property
    def alive(self) -> int:
        """Returns how many rows are kept."""
        return self.left.alive + self.right.alive

    @property
    def waiting(self) -> int:
        """Returns how many of them take no part yet: a bound has not passed them."""
        return self.left.waiting + self.right.waiting

    def after(self, batch: int, counted: Counted, began: datetime) -> Progress:
        """Returns the progress after one more batch with these counts.

        A batch in which no bucket was woken has counted nothing: all is as it was.
        """
        left, right = (
            side.after(hand, counted, began=began, before=self.began)
            for hand, side in zip(_HANDS, (self.left, self.right), strict=True)
        )
        # Where nothing is kept no bucket is the larger one: as it was is said.
        skew, rows = self.skew, left.alive + right.alive
        if counted.get("buckets") and rows:
            skew = counted["largest"] * counted["buckets"] / rows
        matched = self.matched + (counted.get("matched") or 0)
        return Progress(batch, matched, left, right, skew, began)

    def prometheus(self, query: str) -> str:
        """Returns the numbers as Prometheus reads them, under the name of a query.

        Rows that came and went are counted since this start, as its counters are.
        """
        sides = {"left": self.left, "right": self.right}
        lines = _metric("batch", "gauge", {(("query", query),): self.batch})
        lines += _metric(
            "matched_total", "counter", {(("query", query),): self.matched}
        )
        lines += _metric("bucket_skew", "gauge", {(("query", query),): self.skew})
        for one in fields(SideProgress):
            values = {
                (("query", query), ("side", hand), *more): value
                for hand, side in sides.items()
                for more, value in _values(getattr(side, one.name))
            }
            is_sum = one.name in _SUMS
            name = f"{_NAMES.get(one.name, one.name)}{'_total' if is_sum else ''}"
            lines += _metric(name, "counter" if is_sum else "gauge", values)
        return "\n".join(lines) + "\n"

    def __repr__(self) -> str:
        """Returns the line with the name of its class."""
        return f"Progress({self})"

    def __str__(self) -> str:
        """Returns one line for a log or a screen."""
        failed = f"{self.failed} failed, " if self.failed else ""
        return (
            f"batch {self.batch}: {self.came} rows in, {self.matched} matched, "
            f"{self.unmatched} unmatched, {self.late} late, {failed}{self.alive} kept"
        )


Labels = tuple[tuple[str, str], ...]
_NAMES = {
    "bound": "bound_seconds",
    "lag": "lag_seconds",
    "rate": "rows_per_second",
    "hot": "hot_key_rows",
}
"""What Prometheus calls fields, with their units."""
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})
"""All that it escapes in a label; another backslash, as of a tab, it refuses."""


def _values(value: Any) -> Iterator[tuple[Labels, float]]:  # noqa: ANN401
    """Gives a field's numbers, each with the labels that tell it from the others."""
    match value:
        case None:
            return
        case datetime():
            yield (), schema.to_microseconds(value) / 1_000_000
        case timedelta():
            yield (), value.total_seconds()
        case tuple():
            yield from (((("key", key),), rows) for key, rows in value)
        case _:
            yield (), value


def _metric(name: str, kind: str, values: Mapping[Labels, float]) -> list[str]:
    """Returns the lines of a metric, each value under its labels."""
    lines = [f"# TYPE dovetail_{name} {kind}"] if values else []
    for labels, value in values.items():
        told = ",".join(
            f'{label}="{text.translate(_ESCAPES)}"' for label, text in labels
        )
        lines.append(f"dovetail_{name}{{{told}}} {value}")
    return lines


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
    follower, is_active = Follower(query), True
    while is_active:
        # Asked before the batches are read: the last one must not be missed.
        is_active = query.isActive
        for seen in follower.fresh():
            if seen.counted:
                yield seen.progress
        time.sleep(PAUSE if is_active else 0)
    follower.refuse_failed()


@dataclass(frozen=True, slots=True)
class Seen:
    """A batch that a query has run, and how far it is since this start.

    Where nothing is `counted`, as of a query without a join, only Spark tells of it.
    """

    batch: StreamingQueryProgress
    progress: Progress
    counted: bool

    def in_words(self) -> str:
        """Returns a line about the batch."""
        if self.counted:
            return self.progress.in_words()
        rows, rate = self.batch["numInputRows"], self.batch["inputRowsPerSecond"]
        return f"batch {self.batch['batchId']}: {rows:,} rows, {rate:,.0f}/s"


class Follower:
    """Looks at a query from time to time, and tells what is new."""

    def __init__(self, query: StreamingQuery) -> None:
        """Keeps the query; nothing is seen yet."""
        self.query = query
        self.progress = Progress()
        self._newest = -1

    def fresh(self) -> Iterator[Seen]:
        """Yields the batches since the last look, in their order."""
        newest = self.query.lastProgress
        # Spark writes each batch as a text and reads it again, up to a hundred of them
        # every time: not where none is behind the last one seen.
        is_behind = newest and newest["batchId"] > self._newest
        for batch in self.query.recentProgress if is_behind else ():
            counted, number = _counted(batch), batch["batchId"]
            if number <= self._newest:
                continue
            if counted:
                self._newest = number
                began = datetime.fromisoformat(batch["timestamp"])
                self.progress = self.progress.after(number, counted, began)
                yield Seen(batch, self.progress, counted=True)
            elif batch["numInputRows"]:
                self._newest = number
                yield Seen(batch, self.progress, counted=False)

    def refuse_failed(self) -> None:
        """Raises what has ended the query badly."""
        try:
            self.query.awaitTermination()
        except StreamingQueryException as error:
            raise sentence(error) from error


def _counted(batch: StreamingQueryProgress) -> Counted:
    """Returns a batch's counts by name, None where no bucket was woken.

    There are none where the batch did not run. Of a query that is not written by us
    the joins in it are counted together.
    """
    metrics = batch["observedMetrics"]
    numbered = [name for name in metrics if name.startswith(f"{COUNTERS}.")]
    if COUNTERS in metrics:
        # Steps beside the join that is written count what has been late for them.
        numbered = [COUNTERS, *(it for it in numbered if it.startswith(LATE))]
    rows: list[Counted] = []
    for name in numbered:
        observed = metrics[name].asDict()
        if "schema" in observed:
            # Spark Connect tells values and their schema apart.
            names = (field["name"] for field in observed["schema"]["fields"])
            observed = dict(zip(names, observed["values"], strict=True))
        rows.append(observed)
    if not rows:
        return {}
    hot = [json.loads(text) for row in rows for text in row.get("hot") or ()]
    # Of several joins one number is made, as if they were one.
    counted: dict[str, Any] = {"hot": hot}
    for name in {name for row in rows for name in row} - {"hot"}:
        known = [count for row in rows if (count := row.get(name)) is not None]
        join = _JOINED.get(name, sum)
        counted[name] = join(known) if known else None
    return counted


_JOINED: Mapping[str, Callable[..., int]] = {
    "left_bound": min,
    "right_bound": min,
    "largest": max,
}
"""How the counts of several joins become one, where they are no sums."""
