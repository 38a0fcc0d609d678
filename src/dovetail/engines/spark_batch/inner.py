"""The rows of a join as the input of the join around it.

On the event clock they come in the order of row time, else in that of the left rows.
They carry their row time in a hidden column, and their life where it is inherited.
"""

from __future__ import annotations

from dataclasses import replace
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.bind.schemas import schema_of
from dovetail.engines.spark.moments import timestamp
from dovetail.engines.spark_batch.arrivals import Arrivals
from dovetail.engines.spark_batch.line import ORDINALS, ROW_TIME
from dovetail.engines.spark_batch.lives import LASTING
from dovetail.engines.spark_batch.mentioned import mentions
from dovetail.engines.spark_batch.results import ORDER
from dovetail.kernels.arrays.names import reserved
from dovetail.spec.inputs import Input
from dovetail.spec.join import HANDS, Clock, JoinSpec
from dovetail.spec.picks import Picks
from dovetail.spec.windows import Latest, RowsPreceding

MOMENT = reserved("moment")


def as_input(
    source: Input, rows: DataFrame, *, is_timed: bool
) -> tuple[Input, Arrivals]:
    """Returns the rows of a join as an input."""
    schema = schema_of(rows.drop(*ORDER, *LASTING))
    frame = rows.withColumn(MOMENT, timestamp(F.col(ROW_TIME))).drop(*ORDER)
    time = MOMENT if is_timed else ""
    return replace(source, schema=schema, time=time), Arrivals(frame)


def in_order(rows: DataFrame, clock: Clock) -> DataFrame:
    """Returns rows in the order in which they come on a clock."""
    return _in_time_order(rows) if clock is Clock.EVENT else in_left_order(rows)


def _in_time_order(rows: DataFrame) -> DataFrame:
    """Returns rows by row time: pairs first, then in the order of arrival."""
    places = [F.col(ORDINALS[hand]) for hand in HANDS]
    is_single = reduce(Column.__or__, (one.isNull() for one in places))
    return rows.sort(ROW_TIME, is_single, F.greatest(*places), F.least(*places))


def in_left_order(rows: DataFrame) -> DataFrame:
    """Returns rows in the order of left rows, for each that of its right rows."""
    left, right = (F.col(ORDINALS[hand]) for hand in HANDS)
    return rows.sort(left.asc_nulls_last(), right.asc_nulls_first(), ROW_TIME)


def looks_at_order(join: JoinSpec) -> bool:
    """Tells whether the order of its inputs makes a difference to a join's rows."""
    by_others = Latest | RowsPreceding
    ends = any(isinstance(join.side(hand).window, by_others) for hand in HANDS)
    return join.picks != Picks() or ends or mentions(join, "counter")
