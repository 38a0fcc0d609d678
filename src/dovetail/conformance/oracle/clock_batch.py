"""The clock `batch`: all rows are there, and the left ones are gone through in order.

Rows that come by events are rows like any others. Nothing is late; a row without a row
time meets nobody. What names a bad interval goes to `late` here too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import product

from dovetail.conformance.oracle.door import turned_away
from dovetail.conformance.oracle.emission import late_row
from dovetail.conformance.oracle.lateness import BAD_INTERVAL
from dovetail.conformance.oracle.life import PAST, Came, LivingRow, Moment
from dovetail.conformance.oracle.lifetimes import give_lives
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.parts import Parts
from dovetail.conformance.oracle.picking import Choice
from dovetail.conformance.oracle.versions import Version
from dovetail.spec.inputs import Arrive, Emission, Event, Order, Outlet, Remove
from dovetail.spec.join import HANDS, Hand
from dovetail.spec.play import Play

Timed = tuple[Moment, Emission]
Rows = Mapping[Hand, list[LivingRow]]
Met = Mapping[LivingRow, list[Pair]]


def play_batch(parts: Parts, play: Play) -> list[Emission]:
    """Returns the rows of a batch join: in left order, or where asked by row time."""
    events = [*parts.state(), *play.opening, *play.events]
    late = turned_away(parts, events)
    kept = [event for event in events if event not in late]
    refused = [late_row(event.row, BAD_INTERVAL) for event in late]
    timed = list(given(parts, kept))
    if play.settings.order is Order.ROW_TIME:
        timed.sort(key=lambda result: result[0])
    return [*refused, *(emission for _, emission in timed)]


def given(parts: Parts, events: Sequence[Event]) -> Iterator[Timed]:
    """Yields what a join gives with its row times, what it turns away first."""
    rows: Rows = {hand: [] for hand in HANDS}
    for hand, inner in parts.inner.items():
        for moment, emission in given(inner, events):
            came = Came(emission.row, None if math.isinf(moment) else int(moment))
            if emission.outlet is Outlet.LATE:
                yield moment, emission
            elif parts.verdict_of_result(hand, came) == BAD_INTERVAL:
                yield PAST, late_row(came.values, BAD_INTERVAL)
            else:
                rows[hand].append(parts.row(hand, came))
    gather(parts, rows, events)
    yield from results(parts, rows)


def gather(parts: Parts, rows: Rows, events: Sequence[Event]) -> None:
    """Adds the rows of inputs to each side in their order; gives all their lives."""
    deletes: dict[Hand, list[Version]] = {hand: [] for hand in HANDS}
    for event in events:
        match event:
            case Arrive():
                for hand in parts.hands_of(event.input):
                    rows[hand].append(parts.row(hand, parts.came(event)))
            case Remove():
                for hand in parts.hands_of(event.input):
                    deletes[hand].append(parts.delete(hand, event.row))
            case _:
                pass
    for hand, side in parts.sides.items():
        give_lives(side, rows[hand], deletes[hand])


def results(parts: Parts, rows: Rows) -> Iterator[Timed]:
    """Yields every result with its row time: each left row's, then right rows alone."""
    met: Met = {row: [] for row in rows[Hand.RIGHT]}
    for left in rows[Hand.LEFT]:
        pairs = [Pair(left, right) for right in rows[Hand.RIGHT]]
        living = [pair for pair in pairs if meetings(pair)]
        choice = parts.picker.choose(living)
        yield from of_left(parts, left, choice)
        for pair in choice.matches:
            met[pair.right].append(pair)
    for right in rows[Hand.RIGHT]:
        yield from fate(parts, right, met[right])


def of_left(parts: Parts, left: LivingRow, choice: Choice) -> Iterator[Timed]:
    """Yields what comes of a left row and its matches: the first pairs, or its fate."""
    if choice.is_over_limit:
        parts.refuse_excess(left, len(choice.matches))
        end = left.lives[-1].end
        yield from timed(parts.writer.over_limit(left, end), end)
        return
    if parts.kind.gives_pairs:
        yield from parts.pair_rows(choice.matches, meetings)
    yield from fate(parts, left, choice.matches)


def fate(parts: Parts, row: LivingRow, matches: Sequence[Pair]) -> Iterator[Timed]:
    """Yields what becomes of a row by itself: unmatched, or once of a semi join."""
    if parts.kind.gives_once(row.hand) and matches:
        first = min(moment for pair in matches for moment in meetings(pair))
        yield from timed(parts.writer.once(row, first), first)
    if parts.kind.preserves(row.hand):
        others = [one for pair in matches for one in pair.rows if one is not row]
        shared = [life for other in others for life in other.lives]
        for life in row.lives:
            if not any(map(life.meets, shared)):
                yield from timed(parts.writer.unmatched(row, life.end), life.end)


def timed(emissions: Sequence[Emission], moment: Moment) -> Iterator[Timed]:
    """Yields rows with their row time."""
    for emission in emissions:
        yield moment, emission


def meetings(pair: Pair) -> list[Moment]:
    """Returns the row times at which a pair meets: the later birth of each two lives.

    That is once, but in windows of a size once for each window that both fall into.
    """
    lives = product(pair.left.lives, pair.right.lives)
    return [max(one.birth, other.birth) for one, other in lives if one.meets(other)]
