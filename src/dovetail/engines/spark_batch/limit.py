"""The pick `limit` that fails: Spark stops the job, and we say so with our own error.

Spark carries the facts in a message of its own; whoever runs the job finds them there.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_batch.matching import Meeting
from dovetail.engines.spark_batch.skew import skew_told
from dovetail.engines.spark_batch.truth import yes
from dovetail.errors import LimitError
from dovetail.spec.join import Clock
from dovetail.spec.picks import Limit
from dovetail.spec.stops import row_of_key

_FACTS = re.compile(
    r"((?:the left row of the key .*|a left row) has \d+ candidates); "
    r"expected (at most \d+)"
    r"(?:; the program says \u201c(?P<said>.*?)\u201d)?",
    re.DOTALL,
)


def stopped(meeting: Meeting, limit: Limit, is_over: Column, count: Column) -> Column:
    """Returns true; where a left row has too many candidates Spark stops.

    On the event clock that is at the first one too many, so no more are told.
    """
    if meeting.join.clock is Clock.EVENT:
        count = F.lit(limit.count + 1)
    shown = [F.coalesce(key.cast("string"), F.lit("None")) for key in meeting.key()]
    facts = F.concat(
        F.lit(row_of_key([""] if shown else [])),
        F.concat_ws(", ", *shown),
        F.lit(" has "),
        count.cast("string"),
        F.lit(f" candidates; expected at most {limit.count}{_says(meeting.failure)}"),
    )
    stop = F.raise_error(facts).cast("boolean")
    return F.when(is_over, stop).otherwise(yes())


@contextmanager
def limits_told() -> Iterator[None]:
    """Raises a LimitError for a job that Spark has stopped for its limit, or skew."""
    try:
        yield
    except Exception as error:
        # Of what is broadcast Spark's own error comes in one of its transport.
        for told in skew_told(str(error)):
            raise told from error
        facts = _FACTS.search(str(error))
        if facts is None:
            raise
        raise _told(facts) from error


def _says(failure: str) -> str:
    """Returns what a program says of its limit, behind the facts."""
    return f"; the program says \u201c{failure}\u201d" if failure else ""


def _told(facts: re.Match[str]) -> LimitError:
    """Returns the error in the program's words, where it has some."""
    if facts["said"]:
        return LimitError(facts["said"], hint=f"{facts[1]}; expected {facts[2]}")
    return LimitError(facts[1], facts[2])
