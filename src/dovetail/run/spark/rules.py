"""The rules that expressions follow: Spark without ANSI mode, in UTC, for everyone.

A session has its own. Spark reads them when a DataFrame is made, so they are set around
that and put back: what cannot be computed is null, and an hour is an hour in UTC.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.sql import SparkSession

Values = Mapping[str, str | None]
RULES = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "false",
}


@contextmanager
def plain_rules(spark: SparkSession, **more: str) -> Iterator[None]:
    """Sets the rules for what is made inside, and puts the session's own back."""
    wanted: Values = {**RULES, **more}
    before: Values = {name: spark.conf.get(name) for name in wanted}
    try:
        _set(spark, wanted)
        yield
    finally:
        _set(spark, before)


def _set(spark: SparkSession, values: Values) -> None:
    """Sets what is not set so already; each is a round trip."""
    for name, value in values.items():
        if value is not None and spark.conf.get(name) != value:
            spark.conf.set(name, value)
