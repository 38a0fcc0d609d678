"""What a line that comes in can be, where a source brings more than rows."""

from __future__ import annotations

from enum import IntEnum


class LineKind(IntEnum):
    """A row, a delete, a bound, an end, or a row that was there from the start."""

    ROW = 0
    DELETE = 1
    BOUND = 2
    FINISH = 3
    INITIAL = 4
