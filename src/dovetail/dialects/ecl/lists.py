"""Lists of rows inside a row, as Spark SQL."""

from __future__ import annotations

from dovetail.dialects.ecl.folds import struct_of
from dovetail.dialects.ecl.values import Made
from dovetail.expression import NEVER


def numbers_to(most: str) -> str:
    """Returns the numbers from 1 to another, none where that is smaller."""
    none = "CAST(array() AS ARRAY<BIGINT>)"
    return f"IF({most} < 1L, {none}, sequence(1L, {most}))"


def made_of(items: str, made: Made, names: tuple[str, str]) -> str:
    """Returns what a transform makes of items, without those that it skips.

    `names` are those of an item and of its place from 0.
    """
    row, each = struct_of(*made.columns), f"({', '.join(names)})"
    if made.skip == NEVER.text:
        return f"transform({items}, {each} -> {row})"
    pair = struct_of(("kept", f"NOT coalesce({made.skip}, false)"), ("value", row))
    pairs = f"transform({items}, {each} -> {pair})"
    return f"transform(filter({pairs}, one -> one.kept), one -> one.value)"
