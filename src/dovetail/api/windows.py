"""Windows as a user writes them: how long a row of a side is alive.

- `dt.range(preceding="10 minutes")`: row times, this much back and forth
- `dt.rows(100)`: the newest 100 rows of a partition
- `dt.latest("ticker")`: the newest version of each key
- `dt.forever()`: always
"""

from __future__ import annotations

from collections.abc import Sequence

from dovetail.errors import SpecError
from dovetail.spec import arguments, windows
from dovetail.spec.calls import public


@public
def range(  # noqa: A001 - dt.range reads as SQL does
    preceding: arguments.Length = "0 seconds", following: arguments.Length = "0 seconds"
) -> windows.Range:
    """Returns the window of row times t - following to t + preceding."""
    window = windows.Range(
        arguments.length("preceding", preceding),
        arguments.length("following", following),
    )
    if window.is_backward:
        raise SpecError(
            f"preceding={window.preceding} and following={window.following}",
            "a sum that is not negative",
            "a window ends no earlier than it starts",
        )
    return window


@public
def rows(count: int) -> windows.Rows:
    """Returns the window of the newest `count` rows; 0: met once, never stored."""
    return windows.Rows(arguments.whole("count", count, "dt.rows(100)"))


@public
def latest(*key: str | Sequence[str]) -> windows.Latest:
    """Returns the window of the newest version of each key."""
    example = 'dt.latest("ticker")'
    given = key[0] if len(key) == 1 else key
    found = arguments.names("key", given, example)
    if not found:
        expected = "at least one column"
        raise arguments.wrong("key", key, expected, f"write for example {example}")
    return windows.Latest(found)


@public
def forever() -> windows.Forever:
    """Returns the window that no row ever leaves."""
    return windows.Forever()
