"""Picks as a user writes them: which right rows count for a left row.

- `dt.asof("l.placed", "r.quoted")`: the right row whose time is nearest before
- `keep=3` of `join`: the first three
"""

from __future__ import annotations

from decimal import Decimal

from dovetail import spec
from dovetail.expression import Expression
from dovetail.spec import arguments
from dovetail.spec.calls import public

EVERY = spec.Unlimited()
"""Every right row that matches."""
_EXAMPLE = 'dt.asof("l.placed", "r.quoted")'


@public
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
    named = {reference.hand for reference in spec.references(found)}
    if named != {hand}:
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
