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

from dataclasses import dataclass, replace
from enum import Enum
from functools import reduce

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.bind.failures import refused_by_spark
from dovetail.engines.spark import values
from dovetail.expression import Expression
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import quoted

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
    where it is finished. Rows without places stand by `order`, or else as they are.
    """

    frame: DataFrame
    has_places: bool = False
    bound: int = values.LATEST
    order: str = ""

    def in_order(self) -> Arrivals:
        """Returns the same rows, standing by their order under the rules in force."""
        if not self.order:
            return self
        found = f"Spark refuses the order of rows, {self.order}"
        with refused_by_spark(found, "SQL over columns that is a whole number"):
            ordered = self.frame.orderBy(F.expr(self.order))
            return replace(self, frame=ordered, order="")

    def placed(self) -> DataFrame:
        """Returns the lines with PLACE and WHAT; without any they are rows in order."""
        if self.has_places:
            return self.frame
        # The numbers have gaps, but they grow as the rows of the frame come.
        number = F.monotonically_increasing_id()
        return self.frame.withColumns({PLACE: number, WHAT: F.lit(What.ROW.value)})

    def timed(self, source: spec.Input) -> DataFrame:
        """Returns the lines with TIME in microseconds, and PLACE and WHAT in any case.

        A delete that names no time happens at the newest time seen before it:

            place 0   row     10:00:05
            place 1   bound   10:00:09     a promise is no time seen
            place 2   delete  -            10:00:05
        """
        time = F.lit(None).cast("bigint")
        if source.is_timed:
            time = values.micros(F.col(quoted(source.time)))
        frame = self.placed().withColumn(TIME, time)
        if not self.has_places or not source.is_timed:
            return frame
        # Nothing parts the lines, so one task goes through all that have places.
        seen = F.max(F.when(~_is_promise(), F.col(TIME))).over(_before())
        newest = F.coalesce(seen, F.lit(values.EARLIEST))
        own = F.when(What.DELETE.is_it(), F.coalesce(TIME, newest))
        return frame.withColumn(TIME, own.otherwise(F.col(TIME)))


@dataclass(frozen=True, slots=True)
class Admitted:
    """The rows and deletes of an input that take part, and the rows that are late."""

    lines: DataFrame
    late: DataFrame


def admit(source: spec.Input, arrivals: Arrivals, clock: spec.Clock) -> Admitted:
    """Returns which rows take part; on the clock `batch` no row is late."""
    # A row that lacks its row time is late for that alone.
    has_time = F.col(TIME).isNotNull() if source.is_timed else values.yes()
    is_row = What.STATE.is_it() | What.ROW.is_it()
    bad = reduce(Column.__or__, map(_is_bad, source.intervals), values.no())
    lines = arrivals.timed(source).withColumn(_IS_BAD, is_row & has_time & bad)
    reason = F.when(F.col(_IS_BAD), F.lit("bad_interval"))
    if clock is spec.Clock.EVENT and source.is_timed:
        untimed = F.when(F.col(TIME).isNull(), F.lit("null_time"))
        if arrivals.has_places:
            # How far a line brings the bound of its input: a bad row does not. The
            # lateness is taken from the column itself: months go by the calendar.
            time = F.col(quoted(source.time))
            moved = values.shifted(time, source.lateness.negated())
            bounds = (
                F.when(What.END.is_it(), F.lit(values.LATEST))
                .when(What.BOUND.is_it(), F.col(TIME))
                .otherwise(F.when(~F.col(_IS_BAD), moved))
            )
            is_late = F.col(TIME) < F.max(bounds).over(_before())
            # What was there from the start had no bound before it.
            untimed = untimed.when(is_late & ~What.STATE.is_it(), F.lit("late"))
        reason = F.coalesce(untimed, reason)
    # Promises are dropped only now: the bounds above are taken from them too.
    lines = lines.withColumn(REASON, reason).drop(_IS_BAD).where(~_is_promise())
    late = lines.where(F.col(REASON).isNotNull() & ~What.DELETE.is_it())
    columns = [F.col(quoted(name)) for name in source.schema.names]
    in_time = lines.where(F.col(REASON).isNull())
    return Admitted(in_time.drop(REASON), late.select(*columns, REASON, PLACE))


def ends_of(interval: tuple[Expression, ...]) -> tuple[Column, Column]:
    """Returns both ends of an interval in microseconds; null where there is none."""
    start, end = (F.expr(text.text) for text in interval)
    return values.micros(start), values.micros(end)


def _is_bad(interval: tuple[Expression, ...]) -> Column:
    """Tells whether a row cannot live in the interval that it names."""
    start, end = ends_of(interval)
    is_missing = start.isNull() | end.isNull()
    # A row without a time of its own starts before nothing.
    is_early = values.is_true(start < F.col(TIME))
    return is_missing | (end < start) | is_early


def _is_promise() -> Column:
    """Returns whether a line is no row: it only tells what can still come."""
    return What.BOUND.is_it() | What.END.is_it()


def _before() -> WindowSpec:
    """Returns the window of all lines that arrived before."""
    return Window.orderBy(PLACE).rowsBetween(Window.unboundedPreceding, -1)
