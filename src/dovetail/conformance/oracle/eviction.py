"""Windows on the clock `arrival`: who leaves a side when a row comes to it.

One function per window. A row never drives out rows of the other side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import datetime
from decimal import MAX_PREC, Decimal, localcontext
from typing import Any

from dovetail.conformance.oracle.life import LivingRow
from dovetail.conformance.oracle.sides import OneSide
from dovetail.errors import UnsupportedError
from dovetail.schema import to_microseconds
from dovetail.spec.spans import SECOND
from dovetail.spec.windows import Delta, Forever, Latest, Range, Rows, Seconds


def stays(side: OneSide, row: LivingRow) -> bool:
    """Tells whether a row is kept; one of `rows: 0` meets only what is there.

    Nor does `range` keep a row that a null keeps from ever being a candidate.
    """
    if isinstance(side.window, Range):
        return all(part(row.values) is not None for part in side.counted)
    return side.window != Rows(0)


def leaving(
    side: OneSide, stored: Sequence[LivingRow], newcomer: LivingRow
) -> list[LivingRow]:
    """Returns the rows of a side that a newcomer drives out, oldest first."""
    match side.window:
        case Rows(count=count):
            peers = peers_of(side, stored, newcomer)
            return peers[: max(0, len(peers) + 1 - count)]
        case Latest():
            return of_key(side, stored, side.key_of(newcomer.values))
        case Delta(width=width):
            peers = peers_of(side, stored, newcomer)
            return [row for row in peers if rise(side, row, newcomer) > width]
        case Forever() | Seconds() | Range():
            return []
        case window:
            raise UnsupportedError.not_yet("oracle", f"the window {window}")


def peers_of(
    side: OneSide, stored: Sequence[LivingRow], newcomer: LivingRow
) -> list[LivingRow]:
    """Returns the stored rows of the newcomer's partition."""
    partition = side.partition_of(newcomer)
    return [row for row in stored if side.partition_of(row) == partition]


def rise(side: OneSide, row: LivingRow, newcomer: LivingRow) -> Decimal | float:
    """Returns how far the newcomer is above a row, in seconds where that is time.

    A null or NaN is far from nothing.
    """
    old, new = (measure(side.delta_by(one.values)) for one in (row, newcomer))
    if old is None or new is None:
        return -math.inf
    with localcontext(prec=MAX_PREC):
        rise = new - old
    return -math.inf if math.isnan(rise) else rise


def measure(value: Any) -> Any:  # noqa: ANN401 - a number of whatever type
    """Returns a value as a number."""
    if isinstance(value, datetime):
        return Decimal(to_microseconds(value)) / SECOND
    return value


def of_key(
    side: OneSide, stored: Sequence[LivingRow], key: tuple[object, ...]
) -> list[LivingRow]:
    """Returns the stored version of a key, which a newer one or a delete drives out."""
    return [row for row in stored if side.key_of(row.values) == key]
