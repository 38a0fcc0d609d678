"""Yes, no, and neither: the truth of a term as Spark's columns have it."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it


def yes() -> Column:
    """Returns that it is so."""
    return F.lit(True)  # noqa: FBT003 - a value, not a switch


def no() -> Column:
    """Returns that it is not so."""
    return F.lit(False)  # noqa: FBT003 - a value, not a switch


def is_true(term: Column) -> Column:
    """Returns whether a term is true, neither false nor null."""
    return F.coalesce(term, no())
