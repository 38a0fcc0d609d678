"""Names of columns of ours, which stand beside those of users in one frame.

They all begin alike, and no column of a user may begin so: whatever else a column is
called, `batch`, `@time` or `__left`, it never meets one of ours.

What a line that comes in can be, where a source brings more than rows.
"""

from __future__ import annotations

from enum import IntEnum

RESERVED = "__dovetail_"
"""How the names of our columns begin, and those of users must not."""

HIDDEN = f"{RESERVED}hidden_"
"""How those of them begin that are for matching and do not come out."""


def reserved(word: str) -> str:
    """Returns the name of a column of ours."""
    return f"{RESERVED}{word}"


def hidden(word: str) -> str:
    """Returns the name of a column of ours that does not come out."""
    return f"{HIDDEN}{word}"


def is_reserved(name: str) -> bool:
    """Tells whether a name is reserved for columns of ours, whatever its case."""
    return name.lower().startswith(RESERVED)


START, END, BAD = hidden("start"), hidden("end"), hidden("bad")
"""The payload columns of intervals; BAD is 1 where the row takes no part for its."""
CLOCK = hidden("clock")
"""The payload column with the processing time at which a row came."""
PLACE, TURN = hidden("place"), hidden("turn")
"""The payload columns of rows in a chain of joins in order of arrival.

By the first they stand among those of their side, or of both; the second decides among
rows of a join of one place.
"""
SET, VERSION = hidden("set"), hidden("version")
"""The payload columns of rows of several sets: which one, and the key of a table's row.

Rows without a version all count, of others the last of each.
"""
REST = reserved("rest")
"""The column with the third row that stands together with others, and those behind."""
OWN_DEATH, OWN_END = hidden("own_death"), hidden("own_end")
"""The payload columns of inherited lives: what they are if no other row ends them."""


class LineKind(IntEnum):
    """A row, a delete, a bound, an end, or a row that was there from the start.

    What is passed on belongs to another join, or in row time is a row that a filter has
    passed over; ends are those of inherited lives. Behind what belongs together among
    the rows of a program stands a mark. What was late in row time goes on to the end as
    what it was when it came, and so does one that has failed; a beat says what time it
    is.
    """

    ROW = 0
    DELETE = 1
    BOUND = 2
    FINISH = 3
    INITIAL = 4
    PASSED = 5
    ENDS = 6
    MARK = 7
    LATE = 8
    BEAT = 9
    FAILED = 10
