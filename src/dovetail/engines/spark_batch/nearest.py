"""The pick `asof` in Spark: how far a right row's time is, and which is the best.

Times are whole microseconds, numbers are exact where they are whole or decimal. A null
and a number without an end are near to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import (
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    ShortType,
    TimestampNTZType,
    TimestampType,
)

from dovetail.engines.spark.moments import micros, shifted
from dovetail.engines.spark_batch.truth import yes
from dovetail.spec.join import Hand
from dovetail.spec.picks import AsOf, Direction, Tie
from dovetail.spec.spans import Span

_TIMES = (TimestampType, TimestampNTZType, DateType)
_WHOLE = (ByteType, ShortType, IntegerType, LongType)
_WIDE = "decimal(20,0)"  # holds the distance of any two whole numbers


@dataclass(frozen=True, slots=True)
class Nearest:
    """The pick and both times, as numbers that can be subtracted."""

    pick: AsOf
    left: Column
    right: Column

    @classmethod
    def of(cls, pick: AsOf, frames: Mapping[Hand, DataFrame]) -> Nearest:
        """Returns the pick between the rows of two sides."""
        left = measure(pick.left.text, frames[Hand.LEFT])
        return cls(pick, left, measure(pick.right.text, frames[Hand.RIGHT]))

    def reaches(self) -> Column:
        """Returns whether the right time lies in the direction, and near enough."""
        known = self.left.isNotNull() & self.right.isNotNull()
        return known & self._is_on_its_side() & self._is_near()

    def order(self, places: list[Column]) -> list[Column]:
        """Returns by what the best row comes first; the tie is decided by places."""
        is_last = self.pick.tie is Tie.LAST
        tie = [place.desc() if is_last else place.asc() for place in places]
        return [F.abs(self.right - self.left), self.right, *tie]

    def _is_on_its_side(self) -> Column:
        """Returns whether the right time lies in the direction."""
        match self.pick.direction, self.pick.exact:
            case Direction.BACKWARD, True:
                return self.right <= self.left
            case Direction.BACKWARD, False:
                return self.right < self.left
            case Direction.FORWARD, True:
                return self.right >= self.left
            case Direction.FORWARD, False:
                return self.right > self.left
            case _, True:
                return yes()
            case _:
                return self.right != self.left

    def _is_near(self) -> Column:
        """Returns whether a time is within the tolerance; months by the calendar."""
        match self.pick.tolerance:
            case Decimal() as number:
                return F.abs(self.right - self.left) <= F.lit(number)
            case Span() as span:
                time = F.expr(self.pick.left.text)
                least, most = shifted(time, span.negated()), shifted(time, span)
                return self.right.between(least, most)
            case _:
                return yes()


def measure(text: str, frame: DataFrame) -> Column:
    """Returns a time or a number that can be subtracted; null where it has no end."""
    value = F.expr(text)
    return _measured(value, frame.select(value.alias("value")).schema["value"].dataType)


def _measured(value: Column, kind: DataType) -> Column:
    """Returns a value of that type as a number."""
    match kind:
        case _ if isinstance(kind, _TIMES):
            return micros(value)
        case _ if isinstance(kind, _WHOLE):
            return value.cast(_WIDE)
        case DoubleType() | FloatType():
            number = value.cast("double")
            return F.when(F.abs(number) < F.lit(float("inf")), number)
        case DecimalType():
            return value
        case _:
            return F.lit(None).cast("bigint")
