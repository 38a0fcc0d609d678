"""What a case expects and what came out, in one form, lines; and when two are the same.

A *line* is a row and the facts about it: those that the case lists on the one hand,
those that the engine knows on the other (its outlet, its event, its change). Two lines
are the same where their rows are, and every fact that both have.

A file has JSON: a number without a type, a time as text. What comes out is typed. So
numbers compare by value, doubles to 12 significant digits, texts beside times are read
as times, and names of fields are compared without regard to case.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Hashable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from decimal import Decimal
from enum import Enum

from dovetail import schema, spec
from dovetail.errors import SchemaError

Facts = Mapping[str, object]
MARK = "mark"


class Order(Enum):
    """What a case says about the order of its rows; the values are those of files."""

    BAG = "bag"
    ORDERED = "ordered"
    BY_TIME = "by_time"


class Sight(Enum):
    """What is known of a row: its place among all, in its event, or in its outlet.

    Streams of a program run apart: of rows of one event those of one stream have an
    order.
    """

    EVENTS = "events"
    STREAMS = "streams"
    OUTLETS = "outlets"


@dataclass(frozen=True, slots=True)
class Line:
    """A row with the facts about it: `out`, `after`, `change`, `mark`."""

    row: spec.Row
    facts: Facts

    def is_same(self, found: Line) -> bool:
        """Tells whether rows are the same, and the facts that both lines have."""
        return self.agrees(found) and same_row(self.row, found.row)

    def agrees(self, found: Line) -> bool:
        """Tells whether the facts that both lines have are the same."""
        shared = self.facts.keys() & found.facts.keys()
        return all(self.facts[name] == found.facts[name] for name in shared)

    def is_mark(self) -> bool:
        """Tells whether the line is a window punctuation and no row."""
        return MARK in self.facts


@dataclass(frozen=True, slots=True)
class Rows:
    """The lines that must come out, in the file's order."""

    lines: tuple[Line, ...]
    order: Order = Order.BAG
    time_column: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """Only the number of rows is known."""

    rows: int


OutletNames = Mapping[str, str]
"""What a text calls outlets of its join; all others have their own names."""
AS_THEY_ARE: OutletNames = {}


def emitted(
    emission: spec.Emission, sight: Sight, names: OutletNames = AS_THEY_ARE
) -> Line:
    """Returns an emission as a line, with the facts that the engine knows."""
    facts: dict[str, object] = {}
    if sight is Sight.EVENTS and emission.after != spec.UNKNOWN_EVENT:
        facts["after"] = emission.after
    if emission.outlet is spec.Outlet.MARKS:
        # Only the first outlet of a join ever gets a mark.
        out = spec.Outlet.MATCHED.value
        return Line({}, {**facts, MARK: "window", "out": names.get(out, out)})
    # A row of which no change is told is a new one.
    change = (
        spec.Change.INSERT if emission.change is spec.Change.NONE else emission.change
    )
    out = emission.outlet.value
    facts |= {"out": names.get(out, out), "change": change.value}
    return Line(emission.row, facts)


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
    written = ((schema.shown(key), value) for key, value in row.items())
    names = {
        key if isinstance(key, str) else json.dumps(key): value
        for key, value in written
    }
    lowered = {name.lower(): value for name, value in names.items()}
    return lowered if len(lowered) == len(names) else names


def same_value(expected: object, found: object) -> bool:
    """Tells whether two values are the same by value, whatever their types."""
    # In Python a truth is a number, 1 or 0; here it is none.
    if isinstance(expected, bool) or isinstance(found, bool) or expected is None:
        return expected is found
    if isinstance(expected, Number) and isinstance(found, Number):
        return _same_number(expected, found)
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        return same_row(expected, found)
    if isinstance(expected, list | tuple) and isinstance(found, list | tuple):
        return len(expected) == len(found) and all(map(same_value, expected, found))
    if isinstance(expected, date) or isinstance(found, date):
        return _moment(expected) == _moment(found)
    if isinstance(expected, str) and isinstance(found, float | Decimal):
        # As a file writes what JSON has no number for: NaN, infinity.
        try:
            return _same_number(type(found)(expected), found)
        except (ValueError, ArithmeticError):
            return False
    return _plain(expected) == _plain(found)


def rough_key(value: object) -> Hashable:
    """Returns a key that two same values share, but for doubles at a rounding edge.

    Values with one key need not be the same: the key only makes candidates few.
    """
    if value is None or isinstance(value, bool):
        return value
    # A text may stand for a number, a number is never read as a text: so both are one.
    with suppress(ValueError):
        if isinstance(value, Number | str):
            return f"{float(value):.9g}"
    if isinstance(value, Mapping):
        fields = folded(value).items()
        return tuple(sorted((name, str(rough_key(part))) for name, part in fields))
    if isinstance(value, list | tuple):
        return tuple(rough_key(part) for part in value)
    return str(_plain(_moment(value)))


def _same_number(expected: Number, found: Number) -> bool:
    """Tells whether two numbers are equal, to 12 digits where one is a double."""
    if not isinstance(expected, float) and not isinstance(found, float):
        return expected == found
    left, right = float(expected), float(found)
    if math.isnan(left) or math.isnan(right):
        return math.isnan(left) and math.isnan(right)
    digits = f".{DIGITS}g"
    # Rounded alike, or close across an edge of rounding.
    close = math.isclose(left, right, rel_tol=10.0**-DIGITS)
    return close or format(left, digits) == format(right, digits)


def _moment(value: object) -> object:
    """Returns a date or the text of a time as a moment in UTC, others as they are."""
    match value:
        case datetime():
            return schema.read_value(value, schema.AtomicType.TIMESTAMP, "a time")
        case date():
            return datetime(value.year, value.month, value.day, tzinfo=UTC)
        case str():
            # Most texts are no times, and stay as they are.
            with suppress(SchemaError):
                return schema.read_value(value, schema.AtomicType.TIMESTAMP, "a time")
    return value


def _plain(value: object) -> object:
    """Returns bytes in base64, as a file must write them; others as they are."""
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value
