"""Windows as a user writes them: how long a row of a side is alive.

- `dt.range(preceding="10 minutes")`: row times, this much back and forth
- `dt.rows(100)`: the newest 100 rows of a partition
- `dt.latest("ticker")`: the newest version of each key
- `dt.forever()`: always
"""

from __future__ import annotations

from dovetail.spec import windows
from dovetail.spec.spans import parse_span


def range(  # noqa: A001 - dt.range reads as SQL does
    preceding: str = "0 seconds", following: str = "0 seconds"
) -> windows.Range:
    """Returns the window of row times t - following to t + preceding."""
    return windows.Range(parse_span(preceding), parse_span(following))


def rows(count: int) -> windows.Rows:
    """Returns the window of the newest `count` rows; 0: met once, never stored."""
    return windows.Rows(count)


def latest(*key: str) -> windows.Latest:
    """Returns the window of the newest version of each key."""
    return windows.Latest(key)


def forever() -> windows.Forever:
    """Returns the window that no row ever leaves."""
    return windows.Forever()
