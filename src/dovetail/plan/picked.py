"""Picks in words: which of a row's pairs come out, a sentence for each pick.

limit     a left row with more than 100 candidates is left out
asof      the right row whose r.at is nearest before l.at, at most 5 seconds away
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal

from dovetail import spec
from dovetail.expression import ALWAYS, NEVER

Line = tuple[str, str]
_EXCEEDED = {
    spec.OnExceed.SKIP: "is left out",
    spec.OnExceed.FAIL: "fails the join",
    spec.OnExceed.TRANSFORM: "gives one row of its own instead",
}
_WHERE = {
    spec.Direction.BACKWARD: "nearest before {}",
    spec.Direction.FORWARD: "nearest after {}",
    spec.Direction.NEAREST: "nearest to {} on either side",
}
_TIES = {
    spec.Tie.LAST: "of several of that time the last",
    spec.Tie.FIRST: "of several of that time the first",
}


def picked(picks: spec.Picks) -> Iterator[Line]:
    """Gives every pick of a join as a heading and a sentence."""
    for pick in (picks.limit, picks.at_most, picks.asof, picks.keep):
        match pick:
            case spec.Limit(count, on_exceed):
                yield "limit", f"{_crowded(count)} {_EXCEEDED[on_exceed]}"
            case spec.AtMost(count):
                yield "atmost", f"{_crowded(count)} has no match at all"
            case spec.AsOf():
                yield "asof", _nearest(pick)
            case spec.Keep(count):
                pairs = "pair" if count == 1 else f"{count} pairs"
                yield "keep", f"the first {pairs} of each left row"
            case _:
                pass
    yield from _conditions(picks)


def _crowded(count: int) -> str:
    """Returns which rows are more than enough for a limit."""
    candidates = "candidate" if count == 1 else "candidates"
    return f"a left row with more than {count} {candidates}"


def _conditions(picks: spec.Picks) -> Iterator[Line]:
    """Gives the conditions beside the match, and the strategy that changes rows."""
    if picks.strategy is spec.Strategy.LOOKUP:
        yield "lookup", "of each left row's matches the first comes out"
    if picks.left_condition != ALWAYS:
        yield "left if", f"a left row has a match only where {picks.left_condition}"
    if picks.skip_when != NEVER:
        yield "skip", f"no row comes out where {picks.skip_when}"


def _nearest(asof: spec.AsOf) -> str:
    """Returns which right row is taken."""
    where = _WHERE[asof.direction].format(asof.left)
    equal = "" if asof.exact else ", never at the same time"
    match asof.tolerance:
        case spec.Span() as span:
            far = f", at most {span.in_words()} away"
        case Decimal() as distance:
            far = f", at most {distance} away"
        case _:
            far = ""
    return f"the right row whose {asof.right} is {where}{far}{equal}; {_TIES[asof.tie]}"
