"""Windows on the clock `arrival`: who leaves a side when a row comes to it.

One function per window. A row never drives out rows of the other side.
"""

from __future__ import annotations

from collections.abc import Sequence

from dovetail.errors import UnsupportedError
from dovetail.oracle.life import LivingRow
from dovetail.oracle.sides import OneSide
from dovetail.spec.windows import Forever, Latest, Rows, Window


def stays(window: Window) -> bool:
    """Tells whether rows are kept; those of `rows: 0` meet only what is there."""
    return window != Rows(0)


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
        case Forever():
            return []
        case window:
            raise UnsupportedError.not_yet("oracle", f"the window {window}")


def peers_of(
    side: OneSide, stored: Sequence[LivingRow], newcomer: LivingRow
) -> list[LivingRow]:
    """Returns the stored rows of the newcomer's partition."""
    partition = side.partition_of(newcomer)
    return [row for row in stored if side.partition_of(row) == partition]


def of_key(
    side: OneSide, stored: Sequence[LivingRow], key: tuple[object, ...]
) -> list[LivingRow]:
    """Returns the stored version of a key, which a newer one or a delete drives out."""
    return [row for row in stored if side.key_of(row.values) == key]
