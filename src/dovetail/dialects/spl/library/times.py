"""spl.time: timestamps, whose parts are those of UTC."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from dovetail.dialects.spl import types, values
from dovetail.dialects.spl.library import call
from dovetail.dialects.spl.values import Value
from dovetail.errors import Place

_MADE = "CAST(x AS DECIMAL(19, 0)) + CAST(y AS DECIMAL(10, 0)) * 0.000000001BD"
_DECIMAL128 = types.Scalar("decimal128")
_SECONDS = (call.only(types.INT64), call.only(types.UINT32))


def _part(name: str, before: int) -> call.Function:
    """Returns a part of a timestamp, counted from 0 where Spark has one before it."""
    # floor: a time before 1970 lies in the second that begins before it.
    found = f"{name}(timestamp_seconds(floor(x))) - {before}"
    return call.of(types.UINT32, f"CAST({found} AS BIGINT)", call.TIME)


# What Spark calls a part, and how many it is ahead of SPL, which counts some from 0.
_PARTS = {
    "year": ("year", 0),
    "month": ("month", 1),
    "day": ("day", 0),
    "hour": ("hour", 0),
    "minute": ("minute", 0),
    "second": ("second", 0),
    "dayOfYear": ("dayofyear", 1),
    "dayOfWeek": ("dayofweek", 1),
}
# A text in the form of Spark is a moment, or has no value: 2005-10-04 14:18:19.324Z.
_MOMENT = "CAST(unix_micros(CAST({} AS TIMESTAMP)) AS DECIMAL(19, 0)) * 0.000001BD"
_MONTHS = "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC"
_DATE = f"^[0-9]{{2}}-({_MONTHS.replace(' ', '|')})-[0-9]{{4}}$"
_CLOCK = "^[0-9]{2}(:[0-9]{2}){2}([.][0-9]+)?$"
_NAMED = f"""IF(upper(x) RLIKE '{_DATE}' AND y RLIKE '{_CLOCK}',
    concat(split_part(x, '-', 3), '-',
        CAST((locate(upper(split_part(x, '-', 2)), '{_MONTHS}') + 3) DIV 4 AS STRING),
        '-', split_part(x, '-', 1), ' ', y, 'Z'), '')"""


def _formed(arguments: Sequence[Value], place: Place) -> Value:
    """Returns the time of a text in one of the forms that the toolkit has, in UTC."""
    call.checked(arguments, place, call.only(types.TIME_FORMS), call.TEXT)
    form, text = str(arguments[0].constant("the form")), arguments[1]
    parts = re.findall("YYYY|MM|DD|hh|ss|mmm|mm", form)
    # Between the parts any sign may stand; the parts themselves are digits.
    sign = "." if "_" in form else ""
    pattern = f"^{sign.join(f'([0-9]{{{len(one)}}})' for one in parts)}$"
    found = {one: f"${at}" for at, one in enumerate(parts, start=1)}
    fraction = f".{found['mmm']}" if "mmm" in found else ""
    moment = "{YYYY}-{MM}-{DD} {hh}:{mm}:{ss}".format(**found) + f"{fraction}Z"
    said = f"IF(x RLIKE '{pattern}', regexp_replace(x, '{pattern}', '{moment}'), '')"
    template = _MOMENT.format(said)
    return values.of_type(types.TIMESTAMP, template, place, x=text.tree)


FUNCTIONS: Mapping[str, call.Function] = {
    # A machine that is named is left out: no timestamp has one here.
    "createTimestamp": call.first_that_takes(
        [
            call.of(types.TIMESTAMP, _MADE, *_SECONDS),
            call.of(types.TIMESTAMP, _MADE, *_SECONDS, call.only(types.INT32)),
        ]
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
    "fromDecimal128": call.of(types.TIMESTAMP, "x", call.only(_DECIMAL128)),
    **{name: _part(*one) for name, one in _PARTS.items()},
    **{f"gm{name}": _part(*one) for name, one in _PARTS.items()},
    # Of 04-OCT-2005 and 14:18:19.324, in UTC.
    **dict.fromkeys(
        ("timeStringToTimestamp", "timeStringtoTimestamp"),
        call.of(
            types.TIMESTAMP,
            _MOMENT.format(_NAMED),
            *(call.TEXT, call.TEXT, call.only(types.BOOLEAN)),
        ),
    ),
    "toTimestamp": _formed,
}
