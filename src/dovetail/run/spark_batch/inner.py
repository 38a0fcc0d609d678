"""The rows of a join as the input of the join around it.

They come in the order of the left rows, and carry their row time in a hidden column.
"""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.run.spark.moments import timestamp
from dovetail.run.spark_batch.arrivals import Arrivals
from dovetail.run.spark_batch.line import ORDINALS, ROW_TIME
from dovetail.run.spark_batch.mentioned import mentions
from dovetail.run.spark_batch.results import ORDER
from dovetail.schema import Schema
from dovetail.spec.inputs import Input, InputKind
from dovetail.spec.join import HANDS, Hand, JoinSpec
from dovetail.spec.picks import Picks
from dovetail.spec.windows import Latest

MOMENT = "__moment"


def as_input(
    name: str, rows: DataFrame, around: JoinSpec, *, is_timed: bool
) -> tuple[Input, Arrivals]:
    """Returns the rows of a join as an input of that name, in their order.

    Sorting costs, so it is done only where the join around them asks for an order.
    """
    schema = Schema.of(dict(rows.drop(*ORDER).dtypes))
    frame = in_left_order(rows) if _asks_order(around) else rows
    frame = frame.withColumn(MOMENT, timestamp(F.col(ROW_TIME))).drop(*ORDER)
    time = MOMENT if is_timed else ""
    return Input(name, InputKind.DATASET, schema, time=time), Arrivals(frame)


def in_left_order(rows: DataFrame) -> DataFrame:
    """Returns rows in the order of left rows, for each that of its right rows."""
    left, right = (F.col(ORDINALS[hand]) for hand in HANDS)
    return rows.sort(left.asc_nulls_last(), right.asc_nulls_first(), ROW_TIME)


def _asks_order(join: JoinSpec) -> bool:
    """Tells whether the order of its rows makes a difference to a join."""
    has_versions = any(isinstance(join.side(hand).window, Latest) for hand in Hand)
    return join.picks != Picks() or has_versions or mentions(join, "counter")
