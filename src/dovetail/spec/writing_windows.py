"""From windows, evictions and numbers to JSON."""

from __future__ import annotations

from decimal import Decimal
from typing import assert_never

from dovetail.spec.spans import SECOND, Span
from dovetail.spec.windows import (
    Between,
    Delta,
    EvictAge,
    EvictCount,
    Eviction,
    EvictTuples,
    Forever,
    HopSize,
    HopUnit,
    Inherited,
    KeepPartitions,
    Latest,
    Range,
    Rows,
    RowsPreceding,
    Seconds,
    Unstated,
    Window,
)

Json = dict[str, object]


def write_window(window: Window) -> Json:
    """Returns the key `window` with its JSON, nothing where none was written."""
    match window:
        case Unstated():
            return {}
        case Forever():
            return {"window": "forever"}
        case Inherited():
            return {"window": "inherited"}
        case Latest(key):
            return {"window": {"latest": list(key)}}
        case Rows() | Seconds() | Delta():
            return {"window": _write_counted(window)}
        case _:
            return {"window": _write_timed(window)}


def write_eviction(eviction: Eviction) -> Json:
    """Returns the key `partition_evict` with its JSON, nothing where none leave."""
    match eviction:
        case EvictAge(age):
            return {"partition_evict": {"age": write_seconds(age)}}
        case EvictCount(partitions):
            return {"partition_evict": {"count": partitions}}
        case EvictTuples(rows):
            return {"partition_evict": {"tuples": rows}}
        case KeepPartitions():
            return {}
        case _:
            assert_never(eviction)


def write_number(exact: Decimal) -> int | float | str:
    """Returns a number as JSON has it, as a text where a double would blur it."""
    if exact == exact.to_integral_value():
        return int(exact)
    rounded = float(exact)
    return rounded if Decimal(str(rounded)) == exact else str(exact)


def write_seconds(length: Span) -> int | float | str:
    """Returns an exact length of time as a number of seconds."""
    return write_number(Decimal(length.microseconds) / SECOND)


def _write_counted(window: Rows | Seconds | Delta) -> Json:
    """Returns the JSON of a window of the arrival clock."""
    match window:
        case Rows(count):
            return {"rows": count}
        case Seconds(length):
            return {"seconds": write_seconds(length)}
        case Delta(by, width):
            return {"delta": {"by": by.text, "width": write_number(width)}}
        case _:
            assert_never(window)


def _write_timed(
    window: Range | RowsPreceding | HopUnit | HopSize | Between,
) -> Json:
    """Returns the JSON of a window of row time."""
    match window:
        case Range(preceding, following):
            return {"range": {"preceding": str(preceding), "following": str(following)}}
        case RowsPreceding(first, last):
            return {"rows_preceding": {"from": first, "to": last} if last else first}
        case HopUnit(unit):
            return {"hop": unit}
        case HopSize(size, every):
            return {"hop": {"size": str(size), "every": str(every)}}
        case Between(start, end):
            return {"between": [start.text, end.text]}
        case _:
            assert_never(window)
