"""What comes in as a DataFrame, and which of its rows take part.

An ordinary DataFrame has rows and nothing else: they count as if they had come in the
order of row time, so that nothing is late. Where the order of arrival is known, every
line has its *place* and says what it is: a row, a delete of a key, a bound or the end.

    place   what    time       bound before   (lateness 2 seconds)
      0     row     10:00:05   -              in time
      1     row     10:00:03   10:00:03       in time
      2     row     10:00:02   10:00:03       late
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from functools import reduce

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark.moments import EARLIEST, LATEST, micros, shifted
from dovetail.engines.spark_batch.intervals import is_bad_interval
from dovetail.engines.spark_batch.truth import no, yes
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import quoted
from dovetail.spec.inputs import Input
from dovetail.spec.join import Clock
from dovetail.spec.windows import Between
from dovetail.spec.windows import Window as Lifetime

TIME = reserved("time")
PLACE = reserved("place")
WHAT = reserved("what")
REASON = reserved("reason")
_IS_BAD = reserved("is_bad")


class What(Enum):
    """What a line of arrivals is; STATE is a row that is there from the start."""

    STATE = "state"
    ROW = "row"
    DELETE = "delete"
    BOUND = "bound"
    END = "end"

    def is_it(self) -> Column:
        """Returns whether a line is this."""
        return F.col(WHAT) == self.value


@dataclass(frozen=True, slots=True)
class Arrivals:
    """The rows of one input; where `has_places` is true they have PLACE and WHAT.

    `bound` is how far the input has come at the end, in microseconds since 1970: LATEST
    where it is finished.
    """

    frame: DataFrame
    has_places: bool = False
    bound: int = LATEST

    def placed(self) -> DataFrame:
        """Returns the lines with PLACE and WHAT; without any they are rows in order."""
        if self.has_places:
            return self.frame
        number = F.monotonically_increasing_id()
        return self.frame.withColumns({PLACE: number, WHAT: F.lit(What.ROW.value)})


@dataclass(frozen=True, slots=True)
class Admitted:
    """The rows and deletes of an input that take part, and the rows that are late."""

    lines: DataFrame
    late: DataFrame


def admit(
    source: Input, arrivals: Arrivals, clock: Clock, windows: Iterable[Lifetime]
) -> Admitted:
    """Returns which rows take part; on the clock `batch` no row is late.

    A row whose interval is bad in one of the windows takes no part in any.
    """
    lines = _with_times(source, arrivals).withColumn(_IS_BAD, _is_bad(source, windows))
    reason = F.when(F.col(_IS_BAD), F.lit("bad_interval"))
    if clock is Clock.EVENT and source.is_timed:
        reason = F.coalesce(_reason(source, arrivals), reason)
    lines = lines.withColumn(REASON, reason).drop(_IS_BAD)
    columns = [F.col(quoted(name)) for name in source.schema.names]
    lines = lines.where(~_is_promise())
    late = lines.where(F.col(REASON).isNotNull() & ~What.DELETE.is_it())
    in_time = lines.where(F.col(REASON).isNull())
    return Admitted(in_time.drop(REASON), late.select(*columns, REASON, PLACE))


def _is_bad(source: Input, windows: Iterable[Lifetime]) -> Column:
    """Returns whether a row's interval is bad; one that lacks its row time has none."""
    intervals = {window for window in windows if isinstance(window, Between)}
    bad = [is_bad_interval(window, F.col(TIME)) for window in intervals]
    has_time = F.col(TIME).isNotNull() if source.is_timed else yes()
    is_row = What.STATE.is_it() | What.ROW.is_it()
    return is_row & has_time & reduce(Column.__or__, bad, no())


def _with_times(source: Input, arrivals: Arrivals) -> DataFrame:
    """Returns the lines with TIME in microseconds, and PLACE and WHAT in any case."""
    time = F.lit(None).cast("bigint")
    if source.is_timed:
        time = micros(F.col(quoted(source.time)))
    frame = arrivals.placed().withColumn(TIME, time)
    if not arrivals.has_places or not source.is_timed:
        return frame
    # A delete without a time takes the newest time seen; a promise is no time seen.
    seen = F.when(~_is_promise(), F.col(TIME))
    newest = F.coalesce(F.max(seen).over(_before()), F.lit(EARLIEST))
    given = F.when(What.DELETE.is_it(), F.coalesce(TIME, newest)).otherwise(F.col(TIME))
    return frame.withColumn(TIME, given)


def _reason(source: Input, arrivals: Arrivals) -> Column:
    """Returns why a row takes no part; null where it does."""
    reason = F.when(F.col(TIME).isNull(), F.lit("null_time"))
    if not arrivals.has_places:
        return reason
    # The lateness is taken from the column itself: months go by the calendar.
    time = shifted(F.col(quoted(source.time)), source.lateness.negated())
    newest = F.when(~F.col(_IS_BAD), time)
    bounds = (
        F.when(What.END.is_it(), F.lit(LATEST))
        .when(What.BOUND.is_it(), F.col(TIME))
        .otherwise(newest)
    )
    is_late = F.col(TIME) < F.max(bounds).over(_before())
    return reason.when(is_late & ~What.STATE.is_it(), F.lit("late"))


def _is_promise() -> Column:
    """Returns whether a line is no row: it only tells what can still come."""
    return What.BOUND.is_it() | What.END.is_it()


def _before() -> WindowSpec:
    """Returns the window of all lines that arrived before."""
    return Window.orderBy(PLACE).rowsBetween(Window.unboundedPreceding, -1)
