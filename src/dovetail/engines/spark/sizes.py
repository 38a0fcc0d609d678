"""How large what is broadcast may be, and sizes as people write and read them.

spark.conf.set("spark.dovetail.broadcastLimit", "4g")
"""

from __future__ import annotations

import re

from pyspark.sql import SparkSession

from dovetail.errors import SpecError

LIMIT = "spark.dovetail.broadcastLimit"
DRIVER, _USUAL = "spark.driver.memory", "1g"
MOST = 8 << 30  # Spark broadcasts no table of more than 8 GiB
_SIZE = re.compile(r"(\d+)\s*([kmgt]?)i?b?$", re.IGNORECASE)
_UNITS = {"": 0, "k": 10, "m": 20, "g": 30, "t": 40}


def broadcast_limit(spark: SparkSession) -> int:
    """Returns how many bytes a side may have that goes to every task."""
    own = spark.conf.get(LIMIT, "")
    driver = spark.conf.get(DRIVER, _USUAL) or _USUAL
    # Of memory Spark means megabytes where it says no more than a number.
    there = bytes_of(f"{driver}m" if driver.isdigit() else driver)
    return bytes_of(own) if own else min(MOST, there)


def told_limit(limit: int) -> str:
    """Returns what is expected of a side that is broadcast."""
    return f"at most {shown_size(limit)}, as {LIMIT} or {DRIVER} says"


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
