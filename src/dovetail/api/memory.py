"""A right side of LOOKUP or ALL goes to every task whole, and must not be too large.

Judged before anything runs, by what is known: the bytes of the declared columns in the
files, or what Spark's own statistics say of a DataFrame, where nothing between them and
the join makes rows fewer. What turns out too large while it runs Spark itself refuses.

    spark.conf.set("spark.dovetail.broadcastLimit", "4g")
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from pyspark.sql import SparkSession

from dovetail import spec
from dovetail.errors import EngineError, SpecError
from dovetail.plan.words import BROADCAST

LIMIT = "spark.dovetail.broadcastLimit"
_DRIVER, _USUAL = "spark.driver.memory", "1g"
MOST = 8 << 30  # Spark broadcasts no table of more than 8 GiB
_SIZE = re.compile(r"(\d+)\s*([kmgt]?)i?b?$", re.IGNORECASE)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


def refuse_too_large(
    spark: SparkSession, program: spec.Program, sizes: Mapping[str, int]
) -> None:
    """Raises for a right side that does not fit; `sizes` are those of inputs known."""
    limit = _limit(spark)
    for step in spec.steps_of(program):
        if (
            not isinstance(step, spec.Joined)
            or step.join.picks.strategy not in BROADCAST
        ):
            continue
        size = sizes.get(_whole_input(step.right), 0)
        if size > limit:
            raise EngineError(
                f"the right side of {step.told.title} has {shown_size(size)}, too much "
                "to be broadcast",
                f"at most {shown_size(limit)}, as {LIMIT} or {_DRIVER} says",
                "SMART in place of LOOKUP lets Spark shuffle a large side; an equality "
                "does the same for ALL",
            )


def _limit(spark: SparkSession) -> int:
    """Returns the most bytes that may be broadcast: as set, or what the driver has."""
    own = spark.conf.get(LIMIT, "")
    if own:
        return bytes_of(own)
    driver = spark.conf.get(_DRIVER, _USUAL) or _USUAL
    # Of memory Spark means megabytes where it says no more than a number.
    return min(MOST, bytes_of(f"{driver}m" if driver.isdigit() else driver))


def bytes_of(text: str) -> int:
    """Returns the bytes that a text such as 4g says."""
    found = _SIZE.match(text.strip())
    if found is None:
        raise SpecError(f'the size "{text}"', "a number of bytes, as 512m or 4g")
    return int(found[1]) << _UNITS[found[2].lower()]


def shown_size(count: int) -> str:
    """Returns bytes as people read them."""
    for unit, shift in (("GB", 30), ("MB", 20), ("kB", 10)):
        if count >= 1 << shift:
            return f"{count / (1 << shift):.1f} {unit}"
    return f"{count} bytes"


def _whole_input(step: spec.Step) -> str:
    """Returns the input all of whose rows a step has, if it has those of one."""
    match step:
        case spec.Given(name):
            return name
        case (
            spec.Ordered(source)
            | spec.Grouped(source)
            | spec.Numbered(source)
            | spec.Indexed(source)
        ):
            return _whole_input(source)
        # Sizes that a text declares: the same columns of the same rows.
        case spec.Projected(spec.Given() as source, schema) if schema == source.schema:
            return source.name
        case _:
            return ""
