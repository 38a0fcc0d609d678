"""The whole numbers that a column of an input may have.

Its type inside Spark has room for more.

UNSIGNED2 n    is a bigint from 0 to 65535
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

from dovetail.errors import SchemaError


@dataclass(frozen=True, slots=True)
class Range:
    """The least and the greatest number of a column; `type` is what the text says."""

    column: str
    least: int
    most: int
    type: str

    @property
    def words(self) -> str:
        """Returns what is expected of a value."""
        return f"{self.type}, from {self.least} to {self.most}"


def refuse_beyond(
    ranges: Iterable[Range], row: Mapping[str, object], where: str
) -> None:
    """Raises a SchemaError for a number out of its range; `where` has the row."""
    for one in ranges:
        value = row[one.column]
        if isinstance(value, int | Decimal) and not one.least <= value <= one.most:
            raise SchemaError(
                f'{where}: the column "{one.column}" has "{value}"', one.words
            )
