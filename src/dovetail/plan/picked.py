"""Picks in words: which of a row's pairs come out, a sentence for each pick.

limit     a left row with more than 100 candidates is left out
asof      the right row whose r.at is nearest before l.at, at most 5 seconds away
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from dovetail.expression import ALWAYS, NEVER
from dovetail.spec.picks import (
    AsOf,
    AtMost,
    Direction,
    Keep,
    Limit,
    OnExceed,
    Picks,
    Strategy,
    Tie,
)
from dovetail.spec.spans import Span

Line = tuple[str, str]
_EXCEEDED = {
    OnExceed.SKIP: "is left out",
    OnExceed.FAIL: "fails the join",
    OnExceed.TRANSFORM: "gives one row of its own instead",
}
_WHERE = {
    Direction.BACKWARD: "nearest before {}",
    Direction.FORWARD: "nearest after {}",
    Direction.NEAREST: "nearest to {} on either side",
}
_TIES = {
    Tie.LAST: "of several of that time the last",
    Tie.FIRST: "of several of that time the first",
}


def picked(picks: Picks) -> Iterator[Line]:
    """Gives every pick of a join as a heading and a sentence."""
    for pick in (picks.limit, picks.at_most, picks.asof, picks.keep):
        match pick:
            case Limit(count, on_exceed):
                yield "limit", f"{_crowded(count)} {_EXCEEDED[on_exceed]}"
            case AtMost(count):
                yield "atmost", f"{_crowded(count)} has no match at all"
            case AsOf():
                yield "asof", _nearest(pick)
            case Keep(count):
                pairs = "pair" if count == 1 else f"{count} pairs"
                yield "keep", f"the first {pairs} of each left row"
            case _:
                pass
    yield from _conditions(picks)


def _crowded(count: int) -> str:
    """Returns which rows are more than enough for a limit."""
    candidates = "candidate" if count == 1 else "candidates"
    return f"a left row with more than {count} {candidates}"


def _conditions(picks: Picks) -> Iterator[Line]:
    """Gives the conditions beside the match, and the strategy that changes rows."""
    if picks.strategy is Strategy.LOOKUP:
        yield "lookup", "of each left row's matches the first comes out"
    if picks.left_condition != ALWAYS:
        yield "left if", f"a left row has a match only where {picks.left_condition}"
    if picks.skip_when != NEVER:
        yield "skip", f"no row comes out where {picks.skip_when}"


def _nearest(asof: AsOf) -> str:
    """Returns which right row is taken."""
    where = _WHERE[asof.direction].format(asof.left)
    equal = "" if asof.exact else ", never at the same time"
    match asof.tolerance:
        case Span() as span:
            far = f", at most {span.in_words()} away"
        case Decimal() as distance:
            far = f", at most {distance} away"
        case _:
            far = ""
    return f"the right row whose {asof.right} is {where}{far}{equal}; {_TIES[asof.tie]}"
