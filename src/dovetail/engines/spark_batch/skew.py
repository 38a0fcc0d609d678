"""The option SKEW: Spark stops before it joins rows that lie too unevenly.

For a join Spark brings the rows of a key together: a hash of the key says in which of n
parts. How many rows each part will have is counted beforehand, in a query of its own
over the keys, whose one value is asked for in a filter of the side:

    skew = (n * largest / all - 1) / (n - 1)

    parts of 100, 0, 0, 0 rows    1.0, all in one
    parts of 40, 20, 20, 20       0.2
    parts of 25, 25, 25, 25       0.0

Joins without the option have no such filter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_batch.by_key import keys
from dovetail.engines.spark_batch.matching import Meeting, side_column
from dovetail.engines.spark_batch.mentioned import moved
from dovetail.engines.spark_batch.truth import yes
from dovetail.errors import LimitError
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import quoted
from dovetail.spec.join import Hand
from dovetail.spec.stops import Skew

_PARTS = (
    # Where it is set, it says how many parts there are before Spark joins small ones.
    "spark.sql.adaptive.coalescePartitions.initialPartitionNum",
    "spark.sql.shuffle.partitions",
)
_USUAL_PARTS = 200
_ROWS, _BYTES, _PART, _ALL = (
    reserved(name) for name in ("rows", "bytes", "part", "all")
)
_VALUE_BYTES = 8
_FACTS = re.compile(
    r"(the (?:left|right) rows lie unevenly by .*?, a skew of [\d.]+)"
    r"; expected (at most [\d.]+)",
    re.DOTALL,
)
_HINT = (
    "TABLE(rows, {key, COUNT(GROUP)}, key) shows the keys that have most rows; LOOKUP "
    "or SMART moves no left rows where the right side is small, and a higher limit in "
    "SKEW lets the job run"
)


def watched(meeting: Meeting, skew: Skew) -> Meeting:
    """Returns the meeting, whose job stops where rows of a side lie too unevenly."""
    count = _parts(meeting.sides[Hand.LEFT].frame.sparkSession)
    if skew.is_any or not meeting.join.hard or count == 1:
        return meeting
    sides = {
        hand: replace(side, frame=_watched(meeting, hand, _Evenness(skew, count)))
        for hand, side in meeting.sides.items()
    }
    return replace(meeting, sides=sides)


def skew_told(said: str) -> Iterator[LimitError]:
    """Gives the error of a job that Spark has stopped for its skew, if it has."""
    for facts in [_FACTS.search(said)]:
        if facts:
            yield LimitError(facts[1], facts[2], _HINT)


def _parts(spark: SparkSession) -> int:
    """Returns among how many parts Spark spreads the rows of a join."""
    known = [spark.conf.get(name, None) or "" for name in _PARTS]
    # Some platforms choose the number themselves and say so in a word.
    return next((int(one) for one in known if one.isdigit()), _USUAL_PARTS)


def _watched(meeting: Meeting, hand: Hand, evenness: _Evenness) -> DataFrame:
    """Returns the rows of a hand behind the question whether they lie evenly enough."""
    frame = meeting.sides[hand].frame
    parts = frame.alias(hand.letter).select(
        F.pmod(F.hash(*keys(meeting, hand)), F.lit(evenness.parts)).alias(_PART),
        _size(meeting, hand).alias(_BYTES),
    )
    named = ", ".join(
        (one.left if hand is Hand.LEFT else one.right).text for one in meeting.join.hard
    )
    said = f"the {hand.value} rows lie unevenly by {named}: "
    # Raised by the rows, not by the query: then it is an error of Spark's like others.
    facts = evenness.of(parts, said).scalar()
    stop = F.raise_error(facts).cast("boolean")
    return frame.where(F.when(facts.isNotNull(), stop).otherwise(yes()))


def _size(meeting: Meeting, hand: Hand) -> Column:
    """Returns the bytes of a row: those of its texts, 8 for each other value."""
    names = meeting.sides[hand].seat.source.schema.names
    used = moved(meeting.join, hand, tuple(names))
    kinds = dict(meeting.sides[hand].frame.select(*map(quoted, used)).dtypes)
    long = [
        F.coalesce(F.octet_length(side_column(hand, name)), F.lit(0))
        for name, kind in kinds.items()
        if kind in {"string", "binary"}
    ]
    others = F.lit(_VALUE_BYTES * (len(kinds) - len(long))).cast("bigint")
    return reduce(Column.__add__, long, others)


@dataclass(frozen=True, slots=True)
class _Evenness:
    """What of the rows of a side is asked: a limit among so many parts."""

    skew: Skew
    parts: int

    def of(self, rows: DataFrame, said: str) -> DataFrame:
        """Returns one row: what is too uneven, as a sentence, or null."""
        counts = rows.groupBy(_PART).agg(
            F.count(F.lit(1)).alias(_ROWS), F.sum(_BYTES).alias(_BYTES)
        )
        worst = counts.agg(
            F.max(_ROWS).alias(_ROWS),
            F.sum(_ROWS).alias(_ALL),
            F.max_by(_PART, _ROWS).alias(_PART),
            F.max_by(_BYTES, _ROWS).alias(_BYTES),
        )
        found = (self.parts * F.col(_ROWS) / F.col(_ALL) - 1) / (self.parts - 1)
        is_large = F.col(_BYTES) > self.skew.threshold
        is_over = is_large & (found > self._limit())
        return worst.select(F.when(is_over, self._facts(said, found)))

    def _limit(self) -> float:
        """Returns the limit; as on the platform one of 0 means a part's fair share."""
        return self.skew.limit or 1 / self.parts

    def _facts(self, said: str, found: Column) -> Column:
        """Returns what was measured, as a sentence."""
        return F.concat(
            F.lit(said),
            F.col(_ROWS).cast("string"),
            F.lit(" of "),
            F.col(_ALL).cast("string"),
            F.lit(" are in part "),
            F.col(_PART).cast("string"),
            F.lit(f" of {self.parts}, a skew of "),
            F.round(found, 4).cast("string"),
            F.lit(f"; expected at most {self._limit():.4g}"),
        )
