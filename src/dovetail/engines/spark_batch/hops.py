"""Windows that hop, in Spark: the end of a unit of the calendar, or of every window.

    size 10, every 5     00:07 falls into [00:00, 00:10) and [00:05, 00:15)

In windows of a size a row has a line of its own for each, so that rows meet where the
ends are equal: an equality, which Spark joins by.
"""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark.moments import LATEST, shifted
from dovetail.spec.spans import parse_span
from dovetail.spec.windows import HopSize, HopUnitName


def unit_end(unit: HopUnitName, time: Column) -> Column:
    """Returns the moment at which the unit ends in which a time stands, in UTC."""
    return shifted(F.date_trunc(unit, time.cast("timestamp")), parse_span(f"1 {unit}"))


def window_ends(window: HopSize, moment: Column) -> Column:
    """Returns the ends of all windows that a moment falls into; of none it is never."""
    size, every = window.size.microseconds, window.every.microseconds
    last = moment - F.pmod(moment, F.lit(every)) + size
    ends = F.sequence(last, moment + 1, F.lit(-every))
    nowhere = F.array(F.lit(LATEST))
    none = F.array().cast("array<bigint>")
    return F.when(moment.isNull(), nowhere).when(last > moment, ends).otherwise(none)
