"""Picks as a user writes them: which right rows count for a left row.

- `dt.asof("l.placed", "r.quoted")`: the right row whose time is nearest before
- `keep=3` of `join`: the first three
"""

from __future__ import annotations

from decimal import Decimal

from dovetail.expression import Expression
from dovetail.spec.arguments import Length, choice, length, number, text, truth, wrong
from dovetail.spec.arguments import whole as whole_number
from dovetail.spec.calls import public
from dovetail.spec.join import Hand
from dovetail.spec.picks import AsOf, Direction, Keep, Picks, Tie, Unlimited
from dovetail.spec.references import references
from dovetail.spec.spans import NO_TIME, Span

EVERY = Unlimited()
"""Every right row that matches."""
_EXAMPLE = 'dt.asof("l.placed", "r.quoted")'


@public
def asof(
    left: str,
    right: str,
    *,
    direction: str = "backward",
    tolerance: Length | float | Decimal = "",
    exact: bool = True,
    tie: str = "last",
) -> AsOf:
    """Returns the pick of the one right row whose time is nearest to the left one's.

    `direction`: backward, forward or nearest. `tolerance`: how far away it may be, as
    in "5 seconds", or a number where numbers are compared. `exact`: whether the same
    time counts. `tie`: first or last of rows of one time.
    """
    return AsOf(
        _of_hand(Hand.LEFT, left),
        _of_hand(Hand.RIGHT, right),
        direction=choice("direction", direction, Direction),
        tolerance=_distance(tolerance),
        exact=truth("exact", exact),
        tie=choice("tie", tie, Tie),
    )


def picks_of(keep: int, nearest: AsOf | Unlimited) -> Picks:
    """Returns the picks of a join; a keep of 0 keeps every pair."""
    count = whole_number("keep", keep, "keep=3: the first three pairs of a left row")
    if not isinstance(nearest, AsOf | Unlimited):
        raise wrong(
            "asof", nearest, "a pick of dt.asof", f"write for example asof={_EXAMPLE}"
        )
    return Picks(keep=Keep(count) if count else EVERY, asof=nearest)


def _of_hand(hand: Hand, given: str) -> Expression:
    """Returns what is compared of a side's rows: it names columns of that side."""
    expected = f"an expression over {hand.letter}, the {hand.value} row"
    found = Expression(text(hand.value, given, expected, _EXAMPLE))
    named = {reference.hand for reference in references(found)}
    if named != {hand}:
        raise wrong(hand.value, given, expected, f"write for example {_EXAMPLE}")
    return found


def _distance(tolerance: Length | float | Decimal) -> Span | Decimal | Unlimited:
    """Returns how far away a right row may be; without a limit where none is said."""
    match tolerance:
        case "":
            return EVERY
        case int() | float() | Decimal():
            expected = "a length of time, or a number between numbers"
            example = 'tolerance="5 seconds"'
            found = number("tolerance", tolerance, expected, example)
            if found < 0:
                raise wrong("tolerance", tolerance, "0 or more", f"write {example}")
            return found
        case _:
            return length("tolerance", tolerance, least=NO_TIME)
