"""Our code on its way to Spark: workers, and a Connect server, may not have it."""

from __future__ import annotations

import sys
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark import cloudpickle
from pyspark.sql import SparkSession
from pyspark.sql.datasource import DataSource


def travel_by_value() -> None:
    """Lets our functions and classes travel with all they are made of."""
    package = sys.modules[__name__.partition(".")[0]]
    cloudpickle.register_pickle_by_value(package)  # type: ignore[no-untyped-call]


MOST_OPENED = 4
"""Queries come and go: a worker keeps the code of so many."""


@dataclass(frozen=True, slots=True)
class Carried:
    """A function that travels closed, and is opened where it is first called.

        driver     the function -> its code, compressed
        set-up     is never called: neither the code nor what it imports is loaded
        worker     the code -> the function, kept for all tasks that come there

    Spark makes a broadcast of what has a megabyte or more, which the process that sets
    up a stateful operator does not load.
    """

    function: Callable[..., Any]

    def __call__(self, *given: object) -> Any:  # noqa: ANN401 - as the function
        """Calls the function."""
        return self.function(*given)

    def __reduce__(self) -> tuple[type[Closed], tuple[bytes]]:
        """Travels compressed, code and all."""
        made = cloudpickle.dumps(self.function)  # type: ignore[no-untyped-call]
        return Closed, (zlib.compress(made),)


@dataclass(frozen=True, slots=True)
class Closed:
    """A function that has travelled."""

    data: bytes

    def __call__(self, *given: object) -> Any:  # noqa: ANN401 - as the function
        """Calls the function."""
        # Of a task's own code nothing outlives the task; what `sys` holds does.
        opened = vars(sys).setdefault("dovetail_opened", {})
        if self.data not in opened:
            while len(opened) >= MOST_OPENED:
                del opened[next(iter(opened))]
            opened[self.data] = cloudpickle.loads(zlib.decompress(self.data))
        return opened[self.data](*given)


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
