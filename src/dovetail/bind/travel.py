"""Our code on its way to Spark: workers, and a Connect server, may not have it."""

from __future__ import annotations

import sys

from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource


def travel_by_value() -> None:
    """Lets our functions and classes travel with all they are made of."""
    package = sys.modules[__name__.partition(".")[0]]
    cloudpickle.register_pickle_by_value(package)  # type: ignore[no-untyped-call]


def register(spark: SparkSession, source: type[DataSource]) -> None:
    """Lets a session read a data source of ours, whatever other sessions read.

    Spark asks the session at work, not this one, whether the name is taken.
    """
    travel_by_value()
    before = SparkSession.getActiveSession()
    _set_to_work(spark)
    spark.dataSource.register(source)
    if before is not None:
        _set_to_work(before)


def _set_to_work(spark: SparkSession) -> None:
    """Makes a session the one at work: whoever makes a table is."""
    spark.createDataFrame([], "nothing int")
