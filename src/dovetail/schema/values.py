"""Plain values: what stands for a column's value outside Spark, and how JSON has it.

    type                      plain value                  in JSON
    boolean, string           bool, str                    the same
    tinyint .. bigint         int that fits                a whole number
    float, double             float                        a number, "NaN", "Infinity"
    decimal(p,s)              Decimal with s places        a number, or a text of digits
    timestamp                 datetime with the zone UTC   ISO text; "10:00:05" is on
    timestamp_ntz             datetime without a zone      1970-01-01
    date, binary              date, bytes                  ISO text, base64
    array, map, struct        list, dict, dict             a list, an object

A value that does not fit its type is refused, never bent: only a decimal with more
places than its type is rounded (half up, as Spark does) and a float loses digits.
"""

from __future__ import annotations

import base64
import json
import math
import re
import struct
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import assert_never

from dovetail.errors import SchemaError
from dovetail.schema.types import (
    ArrayType,
    AtomicType,
    CarriedType,
    DecimalType,
    MapType,
    Schema,
    StructType,
    Type,
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND = timedelta(microseconds=1)
_WIDE = Context(prec=400, rounding=ROUND_HALF_UP)  # for the digits of any double
# A case that is about hours writes no day: it is the first one of all.
_TIME_ALONE = re.compile(r"\d\d?:\d\d(?::\d\d(?:\.\d{1,9})?)?")
_NANOSECONDS = re.compile("[.,][0-9]{6}[0-9]*[1-9]")
"""Digits of a second for which a moment has no room."""
_BITS = {
    AtomicType.TINYINT: 8,
    AtomicType.SMALLINT: 16,
    AtomicType.INT: 32,
    AtomicType.BIGINT: 64,
}
_NOT_NUMBERS = ("NaN", "Infinity", "-Infinity")
_HINTS = {
    AtomicType.TIMESTAMP: 'write "2020-10-10T00:00:01", or "10:00:05" for 1970-01-01',
    AtomicType.TIMESTAMP_NTZ: 'write "2020-10-10T00:00:01", without a zone',
    AtomicType.DATE: 'write "2020-10-10"',
    AtomicType.BINARY: "bytes are written in base64",
}


def to_microseconds(moment: datetime) -> int:
    """Returns the microseconds from 1970 to a moment; without a zone it is in UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return (aware - _EPOCH) // _MICROSECOND


def from_microseconds(count: int) -> datetime:
    """Returns the moment so many microseconds after 1970, in UTC."""
    try:
        return _EPOCH + count * _MICROSECOND
    except OverflowError as error:
        found = f"the moment {count} microseconds after 1970"
        raise SchemaError(found, "one of the years 1 to 9999, as Python has") from error


def read_row(row: object, schema: Schema, where: str = "the row") -> dict[str, object]:
    """Returns a row of plain values, one for each column; absent columns are null."""
    fields = tuple((column.name, column.type) for column in schema.columns)
    return _read_record(row, fields, where)


def read_value(value: object, kind: Type, label: str) -> object:
    """Returns the plain value for a JSON value, or a plain value as it is.

    `label` names the column in the error: `"amount" of event 3`.
    """
    if value is None:
        return None
    try:
        return _read_present(value, kind, label)
    except (ValueError, ArithmeticError) as error:
        raise _refusal(value, kind, label) from error


def read_moment(value: object, label: str) -> int:
    """Returns the microseconds from 1970 to a moment in JSON."""
    try:
        return to_microseconds(_read_timestamp(value))
    except (ValueError, ArithmeticError) as error:
        raise _refusal(value, AtomicType.TIMESTAMP, label) from error


def _refusal(value: object, kind: Type, label: str) -> SchemaError:
    """Returns the error for a value that is not of its type."""
    hint = _HINTS.get(kind, "") if isinstance(kind, AtomicType) else ""
    return SchemaError(f"the column {label} has {cited(value)}", str(kind), hint)


def shown(value: object) -> object:
    """Returns a plain value as JSON has it; `read_value` gives the value back."""
    # the order matters: a truth is an int, and a moment a date, to Python
    match value:
        case float() if not math.isfinite(value):
            return str(value).replace("inf", "Infinity").replace("nan", "NaN")
        case None | bool() | int() | float() | str():
            return value
        case Decimal():
            return format(value, "f")
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case bytes():
            return base64.b64encode(value).decode()
        case Mapping():
            # the names of an object are texts: other keys are written as JSON in them
            keys = ((shown(key), item) for key, item in value.items())
            return {
                key if isinstance(key, str) else json.dumps(key): shown(item)
                for key, item in keys
            }
        case list() | tuple():
            return [shown(item) for item in value]
        case _:
            expected = "a value of a column's type"
            raise SchemaError(f"{value!r} is no plain value", expected)


def shown_row(row: Mapping[str, object]) -> dict[str, object]:
    """Returns a row as JSON has it."""
    return {name: shown(value) for name, value in row.items()}


def cited(value: object) -> str:
    """Returns a value as an error shows it: as JSON, where it is a value of JSON."""
    # also of values that JSON does not have: an error must not fail on what it shows
    return json.dumps(
        value, default=lambda one: float(one) if isinstance(one, Decimal) else str(one)
    )


def blank(kind: Type) -> object:
    """Returns the value of an absent row that is blank: 0, '', false, or empty."""
    match kind:
        case DecimalType():
            return Decimal(0).scaleb(-kind.scale)
        case ArrayType():
            return []
        case MapType():
            return {}
        case StructType():
            return {name: blank(field) for name, field in kind.fields}
        case CarriedType():
            return None  # we know no value of it
        case _:
            return _BLANKS[kind]


def _read_present(value: object, kind: Type, label: str) -> object:
    """Returns the plain value for a value that is not null."""
    match kind:
        case DecimalType():
            return _read_decimal(value, kind)
        case ArrayType():
            if not isinstance(value, list | tuple):
                raise _misfit(value)
            return [read_value(item, kind.element, f"{label}, in it") for item in value]
        case MapType():
            if not isinstance(value, Mapping):
                raise _misfit(value)
            # an object of JSON has texts for names: `shown` wrote the key as JSON in it
            is_written = kind.key in {*_BITS, AtomicType.BOOLEAN}
            keys = [
                json.loads(key) if is_written and isinstance(key, str) else key
                for key in value
            ]
            pairs = zip(keys, value.values(), strict=True)
            return {
                read_value(key, kind.key, label): read_value(item, kind.value, label)
                for key, item in pairs
            }
        case StructType():
            return _read_record(value, kind.fields, label)
        case AtomicType() if kind in _BITS:
            return _read_whole(value, _BITS[kind])
        case AtomicType():
            return _READERS[kind](value)
        case CarriedType():
            raise SchemaError(f"a value of the type {kind}", "null")
        case _:
            assert_never(kind)


def _read_record(
    value: object, fields: Iterable[tuple[str, Type]], where: str
) -> dict[str, object]:
    """Returns the fields of an object in order, found without regard to case."""
    if not isinstance(value, Mapping):
        raise SchemaError(f"{where} is {cited(value)}", "an object")
    # what is left in here at the end is of no column
    given = {str(name).lower(): item for name, item in value.items()}
    if len(given) < len(value):
        raise SchemaError(f"{where} has a column twice: {cited(value)}", "one of each")
    known = tuple(fields)
    record = {
        name: read_value(given.pop(name.lower(), None), kind, f'"{name}" of {where}')
        for name, kind in known
    }
    for name in given:
        raise SchemaError(
            f'{where} has no column "{name}"',
            f"one of {', '.join(name for name, _ in known)}",
        )
    return record


def _misfit(value: object) -> ValueError:
    """Returns the error that `read_value` refuses with the names of column and type."""
    return ValueError(value)


def _read_whole(value: object, bits: int) -> int:
    """Returns a whole number that fits so many bits, the sign among them."""
    # a truth is an int to Python, but not to us
    if isinstance(value, bool) or not isinstance(value, int | float | Decimal):
        raise _misfit(value)
    whole = int(value)
    # 3.0 is 3, but a part is never cut off
    if whole != value or not -(1 << (bits - 1)) <= whole < 1 << (bits - 1):
        raise _misfit(value)
    return whole


def _read_decimal(value: object, kind: DecimalType) -> Decimal:
    """Returns a number with the places of its type, rounded half up."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise _misfit(value)
    exact = Decimal(str(value))  # a double counts as it is written
    if not exact.is_finite():
        raise _misfit(value)
    fitted = exact.quantize(Decimal(1).scaleb(-kind.scale), context=_WIDE)
    # rounding up may have made a digit more; a zero has no digits to be counted
    if fitted and fitted.adjusted() >= kind.precision - kind.scale:
        raise _misfit(value)
    return fitted


def _read_double(value: object) -> float:
    """Returns a number of double precision."""
    if isinstance(value, bool) or not isinstance(value, int | float | str | Decimal):
        raise _misfit(value)
    if isinstance(value, str) and value not in _NOT_NUMBERS:
        raise _misfit(value)
    return float(value)


def _only(kind: type) -> Callable[[object], object]:
    """Returns the reader of values that JSON has itself."""

    def read(value: object) -> object:
        if not isinstance(value, kind):
            raise _misfit(value)
        return value

    return read


def _read_bytes(value: object) -> bytes:
    """Returns bytes, in JSON written in base64."""
    if isinstance(value, bytes):
        return value
    return base64.b64decode(_text(value), validate=True)


def _text(value: object) -> str:
    """Returns a text, or raises for anything else."""
    if not isinstance(value, str):
        raise _misfit(value)
    return value


def _read_date(value: object) -> date:
    """Returns a day; a moment is a day to Python, but not to us."""
    if isinstance(value, date) and not isinstance(value, datetime):
        return value
    return date.fromisoformat(_text(value))


def _read_written(value: object) -> datetime:
    """Returns a moment as it is written, with its zone where it has one."""
    if isinstance(value, datetime):
        return value
    text = _text(value)
    if _TIME_ALONE.fullmatch(text):
        # ISO wants two digits of the hour
        text = "1970-01-01T" + text.rjust(len(text) + (text[1] == ":"), "0")
    if _NANOSECONDS.search(text):
        raise _misfit(value)
    return datetime.fromisoformat(text)


def _read_timestamp(value: object) -> datetime:
    """Returns a moment in UTC; one without a zone is in UTC already."""
    moment = _read_written(value)
    return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)


def _read_local(value: object) -> datetime:
    """Returns a moment that has no zone."""
    moment = _read_written(value)
    if moment.tzinfo:
        raise _misfit(value)
    return moment


_READERS: Mapping[AtomicType, Callable[[object], object]] = {
    AtomicType.NULL: _only(type(None)),  # which is read before: nothing else is void
    AtomicType.BOOLEAN: _only(bool),
    # Python has doubles only: four bytes hold what a single does
    AtomicType.FLOAT: lambda value: struct.unpack(
        "<f", struct.pack("<f", _read_double(value))
    )[0],
    AtomicType.DOUBLE: _read_double,
    AtomicType.STRING: _text,
    AtomicType.BINARY: _read_bytes,
    AtomicType.DATE: _read_date,
    AtomicType.TIMESTAMP: _read_timestamp,
    AtomicType.TIMESTAMP_NTZ: _read_local,
}
_BLANKS: Mapping[AtomicType, object] = {
    AtomicType.NULL: None,
    AtomicType.BOOLEAN: False,
    **dict.fromkeys(_BITS, 0),
    AtomicType.FLOAT: 0.0,
    AtomicType.DOUBLE: 0.0,
    AtomicType.STRING: "",
    AtomicType.BINARY: b"",
    AtomicType.DATE: _EPOCH.date(),
    AtomicType.TIMESTAMP: _EPOCH,
    AtomicType.TIMESTAMP_NTZ: _EPOCH.replace(tzinfo=None),
}
