"""Our code on its way to Spark: workers, and a Connect server, may not have it."""

from __future__ import annotations

import sys

from pyspark import cloudpickle


def travel_by_value() -> None:
    """Lets our functions and classes travel with all they are made of."""
    package = sys.modules[__name__.partition(".")[0]]
    cloudpickle.register_pickle_by_value(package)  # type: ignore[no-untyped-call]
