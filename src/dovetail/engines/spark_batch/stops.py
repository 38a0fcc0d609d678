"""When Spark stops a job of ours: rows too uneven to be joined, or too many for a row.

Spark carries the facts in a message of its own; whoever runs the job finds them there,
and raises our own error.

**SKEW.** For a join Spark brings the rows of a key together: a hash of the key says in
which of n parts. How many rows each part will have is counted beforehand, in a query of
its own over the keys, whose one value is asked for in a filter of the side:

    skew = (n * largest / all - 1) / (n - 1)

    parts of 100, 0, 0, 0 rows    1.0, all in one
    parts of 40, 20, 20, 20       0.2
    parts of 25, 25, 25, 25       0.0

Joins without the option have no such filter.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.engines.spark import values
from dovetail.engines.spark_batch import candidates
from dovetail.errors import LimitError
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import quoted

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
_SKEW_FACTS = re.compile(
    r"(the (?:left|right) rows lie unevenly by .*?, a skew of [\d.]+)"
    r"; expected (at most [\d.]+)",
    re.DOTALL,
)
_LIMIT_FACTS = re.compile(
    r"((?:the left row of the key .*|a left row) has \d+ candidates); "
    r"expected (at most \d+)"
    r"(?:; the program says \u201c(?P<said>.*?)\u201d)?",
    re.DOTALL,
)
_HINT = (
    "TABLE(rows, {key, COUNT(GROUP)}, key) shows the keys that have most rows; LOOKUP "
    "or SMART moves no left rows where the right side is small, and a higher limit in "
    "SKEW lets the job run"
)


@contextmanager
def limits_told() -> Iterator[None]:
    """Raises a LimitError for a job that Spark has stopped for its limit, or skew."""
    try:
        yield
    except Exception as error:
        # Of what is broadcast Spark's own error comes in one of its transport.
        said = str(error)
        skew, limit = _SKEW_FACTS.search(said), _LIMIT_FACTS.search(said)
        if skew is not None:
            raise LimitError(skew[1], skew[2], _HINT) from error
        if limit is None:
            raise
        if not limit["said"]:
            raise LimitError(limit[1], limit[2]) from error
        # A program has its own words for it; ours explain them.
        hint = f"{limit[1]}; expected {limit[2]}"
        raise LimitError(limit["said"], hint=hint) from error


def stopped(meeting: candidates.Meeting, most: int, is_over: Column) -> Column:
    """Returns true; where a left row has too many candidates Spark stops.

    A stream fails at the first one too many, so no more are told.
    """
    shown = [F.coalesce(key.cast("string"), F.lit("None")) for key in meeting.key]
    own = f"; the program says \u201c{meeting.failure}\u201d" if meeting.failure else ""
    facts = F.concat(
        F.lit(spec.row_of_key([""] if shown else [])),
        F.concat_ws(", ", *shown),
        F.lit(f" has {most + 1} candidates; expected at most {most}{own}"),
    )
    stop = F.raise_error(facts).cast("boolean")
    return F.when(is_over, stop).otherwise(values.yes())


def watched(meeting: candidates.Meeting, skew: spec.Skew) -> candidates.Meeting:
    """Returns the meeting, whose job stops where rows of a side lie too unevenly."""
    spark = meeting.sides[spec.Hand.LEFT].frame.sparkSession
    known = [spark.conf.get(name, None) or "" for name in _PARTS]
    # Some platforms choose the number themselves and say so in a word.
    count = next((int(one) for one in known if one.isdigit()), _USUAL_PARTS)
    if skew.is_any or not meeting.join.hard or count == 1:
        return meeting
    evenness = _Evenness(skew, count)
    sides = {
        hand: replace(side, frame=evenness.watched(meeting, hand))
        for hand, side in meeting.sides.items()
    }
    return replace(meeting, sides=sides)


@dataclass(frozen=True, slots=True)
class _Evenness:
    """What of the rows of a side is asked: a limit among so many parts."""

    skew: spec.Skew
    parts: int

    def watched(self, meeting: candidates.Meeting, hand: spec.Hand) -> DataFrame:
        """Returns the rows of a hand behind the question if they lie evenly enough."""
        frame = meeting.sides[hand].frame
        part = F.pmod(F.hash(*meeting.keys(hand)), F.lit(self.parts))
        names = meeting.sides[hand].seat.source.schema.names
        used = candidates.moved(meeting.join, hand, tuple(names))
        kinds = dict(frame.select(*map(quoted, used)).dtypes)
        texts = [name for name, kind in kinds.items() if kind in {"string", "binary"}]
        others = F.lit(_VALUE_BYTES * (len(kinds) - len(texts))).cast("bigint")
        # The bytes of a row are those of its texts, and 8 for each other value.
        lengths = (F.octet_length(candidates.side_column(hand, name)) for name in texts)
        known = (F.coalesce(length, F.lit(0)) for length in lengths)
        size = reduce(Column.__add__, known, others)
        rows = frame.alias(hand.letter).select(part.alias(_PART), size.alias(_BYTES))
        named = ", ".join(
            (one.left if hand is spec.Hand.LEFT else one.right).text
            for one in meeting.join.hard
        )
        said = f"the {hand.value} rows lie unevenly by {named}: "
        # Raised by the rows, not by the query: then it is Spark's error like others.
        facts = self._sentence(rows, said).scalar()
        stop = F.raise_error(facts).cast("boolean")
        return frame.where(F.when(facts.isNotNull(), stop).otherwise(values.yes()))

    def _sentence(self, rows: DataFrame, said: str) -> DataFrame:
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
        # As on the platform a limit of 0 means a part's fair share.
        limit = self.skew.limit or 1 / self.parts
        is_large = F.col(_BYTES) > self.skew.threshold
        sentence = F.concat(
            F.lit(said),
            F.col(_ROWS).cast("string"),
            F.lit(" of "),
            F.col(_ALL).cast("string"),
            F.lit(" are in part "),
            F.col(_PART).cast("string"),
            F.lit(f" of {self.parts}, a skew of "),
            F.round(found, 4).cast("string"),
            F.lit(f"; expected at most {limit:.4g}"),
        )
        return worst.select(F.when(is_large & (found > limit), sentence))
