"""spl.time: timestamps, whose parts are those of UTC."""

from __future__ import annotations

from collections.abc import Mapping

from dovetail.dialects.spl import types
from dovetail.dialects.spl.library import call

_MADE = "CAST(x AS DECIMAL(19, 0)) + CAST(y AS DECIMAL(10, 0)) * 0.000000001BD"
_DECIMAL128 = types.Scalar("decimal128")


def _part(name: str) -> call.Function:
    """Returns a part of a timestamp."""
    # floor: a time before 1970 lies in the second that begins before it.
    found = f"{name}(timestamp_seconds(floor(x)))"
    return call.of(types.UINT32, f"CAST({found} AS BIGINT)", call.TIME)


FUNCTIONS: Mapping[str, call.Function] = {
    "createTimestamp": call.of(
        types.TIMESTAMP, _MADE, call.only(types.INT64), call.only(types.UINT32)
    ),
    "getSeconds": call.of(types.INT64, "CAST(floor(x) AS BIGINT)", call.TIME),
    "getNanoseconds": call.of(
        types.UINT32, "CAST((x - floor(x)) * 1000000000BD AS BIGINT)", call.TIME
    ),
    # Timestamps are kept without the machine that has made them.
    "getMachineId": call.of(types.INT32, "IF(x IS NULL, NULL, 0)", call.TIME),
    "diffAsSecs": call.of(types.FLOAT64, "CAST(x - y AS DOUBLE)", call.TIME, call.TIME),
    "diffAsNanos": call.of(
        types.INT64, "CAST((x - y) * 1000000000BD AS BIGINT)", call.TIME, call.TIME
    ),
    "add": call.first_that_takes(
        [
            call.of(
                types.TIMESTAMP,
                "x + CAST(y AS DECIMAL(28, 9))",
                call.TIME,
                call.only(types.FLOAT64),
            ),
            call.of(
                types.TIMESTAMP,
                "x + y * 0.000000001BD",
                call.TIME,
                call.only(types.INT64),
            ),
        ]
    ),
    "toDecimal128": call.of(_DECIMAL128, "x", call.TIME),
    "year": _part("year"),
    "day": _part("day"),
    "hour": _part("hour"),
    "minute": _part("minute"),
    "second": _part("second"),
}
