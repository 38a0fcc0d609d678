"""The rules that expressions follow: Spark without ANSI mode, in UTC, for everyone.

What cannot be computed is null, and an hour is an hour in UTC. A session has rules of
its own, so these are set around the making of a DataFrame, when Spark reads them.
Spark Connect reads them when rows, or only a schema, are first asked for: there a view
alone keeps the rules under which it was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession

Values = Mapping[str, str | None]
RULES = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.caseSensitive": "false",
    # Else Spark puts a variable, or nothing, where a text or a name has "${..}".
    "spark.sql.variable.substitute": "false",
}


@contextmanager
def plain_rules(spark: SparkSession, **more: str) -> Iterator[None]:
    """Sets the rules for what is made inside, and puts the session's own back."""
    wanted = {**RULES, **more}
    # Connect raises where a name has neither a value nor a default. Each name costs a
    # call of Java, so what is not changed is not put back either.
    before: Values = {name: spark.conf.get(name, None) for name in wanted}
    before = {name: own for name, own in before.items() if own != wanted[name]}
    try:
        for name in before:
            spark.conf.set(name, wanted[name])
        yield
    finally:
        for name, own in before.items():
            if own is None:
                spark.conf.unset(name)
            else:
                spark.conf.set(name, own)


def pinned(frame: DataFrame) -> DataFrame:
    """Returns the frame with the rules in force now, whatever they are later."""
    if not type(frame).__module__.startswith("pyspark.sql.connect"):
        return frame
    name = f"dovetail_{uuid4().hex}"
    frame.createOrReplaceTempView(name)
    return frame.sparkSession.table(name)
