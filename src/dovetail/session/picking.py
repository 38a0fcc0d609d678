"""Picks as a user writes them: which right rows count for a left row.

- `dt.asof("l.placed", "r.quoted")`: the right row whose time is nearest before
- `keep=3` of `join`: the first three
"""

from __future__ import annotations

from enum import Enum
from typing import TypeVar

from dovetail.errors import SpecError
from dovetail.expression import Expression
from dovetail.spec.picks import AsOf, Direction, Keep, Picks, Tie, Unlimited
from dovetail.spec.spans import parse_span

Choice = TypeVar("Choice", bound=Enum)
EVERY = Unlimited()
"""Every right row that matches."""


def asof(  # noqa: PLR0913 - what may be said of nearness, all but the times by name
    left: str,
    right: str,
    *,
    direction: str = "backward",
    tolerance: str = "",
    exact: bool = True,
    tie: str = "last",
) -> AsOf:
    """Returns the pick of the one right row whose time is nearest to the left one's.

    `direction`: backward, forward or nearest. `tolerance`: how far away it may be, as
    in "5 seconds". `exact`: whether the same time counts. `tie`: first or last of rows
    of one time.
    """
    return AsOf(
        Expression(left),
        Expression(right),
        _chosen(Direction, "direction", direction),
        parse_span(tolerance) if tolerance else EVERY,
        exact,
        _chosen(Tie, "tie", tie),
    )


def picks_of(keep: int, nearest: AsOf | Unlimited) -> Picks:
    """Returns the picks of a join; a keep of 0 keeps every pair."""
    return Picks(keep=Keep(keep) if keep else EVERY, asof=nearest)


def _chosen(kind: type[Choice], name: str, value: str) -> Choice:
    """Returns the choice of a name, or refuses one that is none."""
    known = {one.value: one for one in kind}
    if value not in known:
        raise SpecError(f'{name}="{value}"', " or ".join(f'"{one}"' for one in known))
    return known[value]
