"""Functions of ours that Spark lacks: a session gets them under their own names.

Whoever has Spark compute an expression that may name one lends it first. Registered
functions stay in the session, and in the sessions that streaming queries make of it.
"""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.bind.travel import travel_by_value
from dovetail.expression.functions.significant import IN_SPARK, of_digits


def register_functions(spark: SparkSession) -> None:
    """Lets a session compute with decimals of which so many digits count."""
    travel_by_value()
    spark.udf.register(IN_SPARK, F.udf(_of_digits, "string", useArrow=True))


def _of_digits(*given: str | int | None) -> str | None:
    """Returns the result, null of a null."""
    return None if None in given else of_digits(*given)  # type: ignore[arg-type]
