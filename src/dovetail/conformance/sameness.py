"""When two values of a case are the same: one from its file, one that came out.

A file has JSON: a number without a type, a time as text. What comes out is typed. So
numbers compare by value, doubles to 12 significant digits, texts beside times are read
as times, and names of fields are compared without regard to case.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Hashable, Mapping, Sequence
from datetime import UTC, date, datetime
from decimal import Decimal

from dovetail.errors import SchemaError
from dovetail.schema import AtomicType, read_value, shown

Number = int | float | Decimal
DIGITS = 12


def same_row(expected: Mapping[str, object], found: Mapping[str, object]) -> bool:
    """Tells whether two rows have the same columns with the same values."""
    left, right = folded(expected), folded(found)
    return left.keys() == right.keys() and all(
        same_value(value, right[name]) for name, value in left.items()
    )


def folded(row: Mapping[str, object]) -> dict[str, object]:
    """Returns the row, or the map, with its names in lower case.

    Keys of a map are as a file writes them; where case alone parts two, they stay.
    """
    names = {_name(key): value for key, value in row.items()}
    lowered = {name.lower(): value for name, value in names.items()}
    return lowered if len(lowered) == len(names) else names


def _name(key: object) -> str:
    """Returns a name, or the key of a map, as a file writes it."""
    written = shown(key)
    return written if isinstance(written, str) else json.dumps(written)


def same_value(expected: object, found: object) -> bool:
    """Tells whether two values are the same by value, whatever their types."""
    if isinstance(expected, bool) or isinstance(found, bool) or expected is None:
        return expected is found
    if isinstance(expected, Number) and isinstance(found, Number):
        return _same_number(expected, found)
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        return same_row(expected, found)
    if isinstance(expected, list | tuple) and isinstance(found, list | tuple):
        return _same_list(expected, found)
    if isinstance(expected, date) or isinstance(found, date):
        return _moment(expected) == _moment(found)
    if isinstance(expected, str) and isinstance(found, float | Decimal):
        return _same_written(expected, found)
    return _plain(expected) == _plain(found)


def rough_key(value: object) -> Hashable:
    """Returns a key that two same values share, but for doubles at a rounding edge.

    Values with one key need not be the same: the key only makes candidates few.
    """
    if value is None or isinstance(value, bool):
        return value
    number = _read_number(value)
    if number is not None:
        return f"{number:.9g}"
    if isinstance(value, Mapping):
        fields = folded(value).items()
        return tuple(sorted((name, str(rough_key(part))) for name, part in fields))
    if isinstance(value, list | tuple):
        return tuple(rough_key(part) for part in value)
    return str(_plain(_moment(value)))


def _read_number(value: object) -> float | None:
    """Returns a number, or the number of a text, None of anything else."""
    try:
        return float(value) if isinstance(value, Number | str) else None
    except ValueError:
        return None


def _same_number(expected: Number, found: Number) -> bool:
    """Tells whether two numbers are equal, to 12 digits where one is a double."""
    if not isinstance(expected, float) and not isinstance(found, float):
        return expected == found
    left, right = float(expected), float(found)
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    digits = f".{DIGITS}g"
    close = math.isclose(left, right, rel_tol=10.0**-DIGITS)
    return close or format(left, digits) == format(right, digits)


def _same_written(expected: str, found: float | Decimal) -> bool:
    """Tells whether a text is how a file writes what JSON has no number for."""
    try:
        return _same_number(type(found)(expected), found)
    except (ValueError, ArithmeticError):
        return False


def _same_list(expected: Sequence[object], found: Sequence[object]) -> bool:
    """Tells whether two lists have the same values at the same places."""
    return len(expected) == len(found) and all(
        same_value(*pair) for pair in zip(expected, found, strict=True)
    )


def _moment(value: object) -> object:
    """Returns a date or the text of a time as a moment in UTC, others as they are."""
    match value:
        case datetime():
            return read_value(value, AtomicType.TIMESTAMP, "a time")
        case date():
            return datetime(value.year, value.month, value.day, tzinfo=UTC)
        case str():
            return _read_moment(value)
        case _:
            return value


def _read_moment(text: str) -> object:
    """Returns the moment that a text names, or the text where it names none."""
    try:
        return read_value(text, AtomicType.TIMESTAMP, "a time")
    except SchemaError:
        return text


def _plain(value: object) -> object:
    """Returns bytes in base64, as a file must write them; others as they are."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value
