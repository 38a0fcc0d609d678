"""How many rows of a stream a join keeps, in words; which keep all is refused."""

from __future__ import annotations

from collections.abc import Mapping

from dovetail import spec
from dovetail.errors import SpecError
from dovetail.expression import ALWAYS
from dovetail.spec.defaults import is_by_row_time


def refuse_unbounded(
    join: spec.JoinSpec, sources: Mapping[spec.Hand, spec.Input]
) -> None:
    """Raises a SpecError where the state of a stream would grow for ever."""
    # A table has as many rows as keys, a batch ends: a stream alone can go on for ever.
    endless = [
        hand.value
        for hand in spec.HANDS
        if sources[hand].kind is spec.InputKind.STREAM
        and join.clock is not spec.Clock.BATCH
        and isinstance(join.side(hand).window, spec.Forever)
        and not _forgets(join, sources, hand)
    ]
    if endless:
        raise SpecError(
            f"the {' and '.join(endless)} side keeps every row for ever, without a "
            "bound on state",
            "a window such as range, rows or latest",
            "unbounded=True allows it",
            rule="bounded_state",
        )


def state_bound(
    join: spec.JoinSpec,
    sources: Mapping[spec.Hand, spec.Input],
    hand: spec.Hand,
    arrival: spec.Arrival | None = None,
) -> str:
    """Returns in words how many rows of a side are kept at most.

    Where rows meet by row time, those wait that the bounds have not passed.
    """
    is_timed = all(source.is_timed for source in sources.values())
    if join.clock is spec.Clock.BATCH and arrival is not None:
        return "every row, until all inputs have ended"
    waits = arrival is spec.Arrival.MERGED or (
        join.clock is spec.Clock.EVENT and is_timed
    )
    waiting = "rows that one of the bounds has not passed yet"
    match join.side(hand).window:
        case spec.Rows(0):
            return waiting if waits else "none: each row is met once"
        case spec.Rows(count):
            rows = f"{count} row{'s' * (count != 1)} a partition"
            return f"{rows}, and {waiting}" if waits else rows
        case spec.Latest(key):
            rows = f"one row for each {', '.join(key)}"
            return f"{rows}, and {waiting}" if waits else rows
        case spec.Range(preceding):
            # left   |--preceding-->            a left row lives on for so long
            # right            <--following--|  and is met from so far ahead of it
            other = join.side(hand.other).window
            ahead = other.following if isinstance(other, spec.Range) else spec.NO_TIME
            reach = spec.Span(
                preceding.months + ahead.months,
                preceding.microseconds + ahead.microseconds,
            )
            age = f"up to {reach.in_words()}" if reach != spec.NO_TIME else "not"
            return f"rows {age} older than the {hand.other.value} side's bound"
        case _ if sources[hand].kind is not spec.InputKind.STREAM:
            return "all of it"
        case spec.Forever() if _forgets(join, sources, hand):
            return "for each key the rows that a left row may still pick"
        case window:
            return window.kept(f"not before the {hand.other.value} side's bound")


def _forgets(
    join: spec.JoinSpec, sources: Mapping[spec.Hand, spec.Input], hand: spec.Hand
) -> bool:
    """Tells whether a side loses the rows that an `asof` can no longer pick.

    They are too far away, or a later one is nearer and meets as many left rows.
    """
    named = {source.name: source for source in sources.values()}
    picks = join.picks
    by_time = join.clock is spec.Clock.EVENT and is_by_row_time(join, named)
    if hand is spec.Hand.LEFT or not by_time or picks.counts_candidates:
        return False
    return picks.asof.ends_behind or join.soft == ALWAYS
