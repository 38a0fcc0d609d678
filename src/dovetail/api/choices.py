"""Windows and picks as a user writes them.

How long a row of a side is alive:

- `dt.range(preceding="10 minutes")`: row times, this much back and forth
- `dt.rows(100)`: the newest 100 rows of a partition
- `dt.latest("ticker")`: the newest version of each key
- `dt.forever()`: always

Which right rows count for a left row, of those that it meets:

- `dt.asof("l.placed", "r.quoted")`: the right row whose time is nearest before
- `keep=3` of `join`: the first three
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal

from dovetail import spec
from dovetail.errors import SpecError
from dovetail.expression import Expression
from dovetail.spec import arguments

EVERY = spec.Unlimited()
"""Every right row that matches."""
_EXAMPLE = 'dt.asof("l.placed", "r.quoted")'


@arguments.public
def range(  # noqa: A001 - dt.range reads as SQL does
    preceding: arguments.Length = "0 seconds", following: arguments.Length = "0 seconds"
) -> spec.Window:
    """Returns the window of row times t - following to t + preceding."""
    window = spec.Range(
        arguments.length("preceding", preceding),
        arguments.length("following", following),
    )
    # Either may be negative by itself, as in "from five to three minutes ago".
    if window.is_backward:
        raise SpecError(
            f"preceding={window.preceding} and following={window.following}",
            "a sum that is not negative",
            "a window ends no earlier than it starts",
        )
    return window


@arguments.public
def rows(count: int) -> spec.Window:
    """Returns the window of the newest `count` rows; 0: met once, never stored."""
    return spec.Rows(arguments.whole("count", count, "dt.rows(100)"))


@arguments.public
def latest(*key: str | Sequence[str]) -> spec.Window:
    """Returns the window of the newest version of each key."""
    example = 'dt.latest("ticker")'
    # A single argument may be a list: dt.latest(names) is dt.latest(*names).
    found = arguments.names("key", key[0] if len(key) == 1 else key, example)
    if not found:
        expected = "at least one column"
        raise arguments.wrong("key", key, expected, f"write for example {example}")
    return spec.Latest(found)


@arguments.public
def forever() -> spec.Window:
    """Returns the window that no row ever leaves."""
    return spec.Forever()


def window_given(window: object) -> spec.Window:
    """Returns the window that a user gives, or refuses another thing."""
    if isinstance(window, spec.Range | spec.Rows | spec.Latest | spec.Forever):
        return window
    span = arguments.told(window) if isinstance(window, str) else '"10 minutes"'
    hint = f"write for example dt.range(preceding={span})"
    expected = "one of dt.range, dt.rows, dt.latest and dt.forever"
    raise arguments.wrong("window", window, expected, hint)


@arguments.public
def asof(
    left: str,
    right: str,
    *,
    direction: str = "backward",
    tolerance: arguments.Length | float | Decimal = "",
    exact: bool = True,
    tie: str = "last",
) -> spec.AsOf:
    """Returns the pick of the one right row whose time is nearest to the left one's.

    `direction`: backward, forward or nearest. `tolerance`: how far away it may be, as
    in "5 seconds", or a number where numbers are compared. `exact`: whether the same
    time counts. `tie`: first or last of rows of one time.
    """
    return spec.AsOf(
        _of_hand(spec.Hand.LEFT, left),
        _of_hand(spec.Hand.RIGHT, right),
        direction=arguments.choice("direction", direction, spec.Direction),
        tolerance=_distance(tolerance),
        exact=arguments.truth("exact", exact),
        tie=arguments.choice("tie", tie, spec.Tie),
    )


def picks_of(keep: int, nearest: spec.AsOf | spec.Unlimited) -> spec.Picks:
    """Returns the picks of a join; a keep of 0 keeps every pair."""
    count = arguments.whole("keep", keep, "keep=3: the first three pairs of a left row")
    if not isinstance(nearest, spec.AsOf | spec.Unlimited):
        raise arguments.wrong(
            "asof", nearest, "a pick of dt.asof", f"write for example asof={_EXAMPLE}"
        )
    return spec.Picks(keep=spec.Keep(count) if count else EVERY, asof=nearest)


def _of_hand(hand: spec.Hand, given: str) -> Expression:
    """Returns what is compared of a side's rows: it names columns of that side."""
    expected = f"an expression over {hand.letter}, the {hand.value} row"
    found = Expression(arguments.text(hand.value, given, expected, _EXAMPLE))
    # A constant names neither side: it could not tell the rows of one apart.
    if {reference.hand for reference in spec.references(found)} != {hand}:
        raise arguments.wrong(
            hand.value, given, expected, f"write for example {_EXAMPLE}"
        )
    return found


def _distance(
    tolerance: arguments.Length | float | Decimal,
) -> spec.Span | Decimal | spec.Unlimited:
    """Returns how far away a right row may be; without a limit where none is said."""
    match tolerance:
        case "":
            return EVERY
        case int() | float() | Decimal():
            expected = "a length of time, or a number between numbers"
            example = 'tolerance="5 seconds"'
            found = arguments.number("tolerance", tolerance, expected, example)
            if found < 0:
                raise arguments.wrong(
                    "tolerance", tolerance, "0 or more", f"write {example}"
                )
            return found
        case _:
            return arguments.length("tolerance", tolerance, least=spec.NO_TIME)
