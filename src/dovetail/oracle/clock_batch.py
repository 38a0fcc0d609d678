"""The clock `batch`: all rows are there, and the left ones are gone through in order.

Rows that come by events are rows like any others. Nothing is late; a row without a row
time meets nobody.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from dovetail.oracle.life import LivingRow, Moment
from dovetail.oracle.lifetimes import Version, give_lives
from dovetail.oracle.matching import Pair
from dovetail.oracle.parts import Parts
from dovetail.oracle.picking import Choice
from dovetail.spec.inputs import Arrive, Emission, Event, Order, Remove
from dovetail.spec.join import HANDS, Hand
from dovetail.spec.play import Play

Timed = tuple[Moment, Emission]
Rows = Mapping[Hand, list[LivingRow]]
Met = Mapping[LivingRow, list[Pair]]


def play_batch(parts: Parts, play: Play) -> list[Emission]:
    """Returns the rows of a batch join: in left order, or where asked by row time."""
    timed = list(results(parts, gathered(parts, (*play.opening, *play.events))))
    if play.settings.order is Order.ROW_TIME:
        timed.sort(key=lambda result: result[0])
    return [emission for _, emission in timed]


def gathered(parts: Parts, events: Sequence[Event]) -> Rows:
    """Returns all rows of each side in their order, each with its life."""
    rows: Rows = {hand: [] for hand in HANDS}
    deletes: dict[Hand, list[Version]] = {hand: [] for hand in HANDS}
    for hand, side in parts.sides.items():
        rows[hand].extend(parts.row(hand, values) for values in parts.state(side))
    for event in events:
        match event:
            case Arrive():
                for hand in parts.hands_of(event.input):
                    rows[hand].append(parts.row(hand, event.row))
            case Remove():
                for hand in parts.hands_of(event.input):
                    deletes[hand].append(parts.delete(hand, event.row))
            case _:
                pass
    for hand, side in parts.sides.items():
        give_lives(side, rows[hand], deletes[hand])
    return rows


def results(parts: Parts, rows: Rows) -> Iterator[Timed]:
    """Yields every result with its row time: each left row's, then right rows alone."""
    met: Met = {row: [] for row in rows[Hand.RIGHT]}
    for left in rows[Hand.LEFT]:
        pairs = [Pair(left, right) for right in rows[Hand.RIGHT]]
        living = [pair for pair in pairs if pair.left.life.meets(pair.right.life)]
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
        end = left.life.end
        yield from timed(parts.writer.over_limit(left, end), end)
        return
    if parts.kind.gives_pairs:
        for pair, emissions in parts.pair_rows(choice.matches, row_time):
            yield from timed(emissions, row_time(pair))
    yield from fate(parts, left, choice.matches)


def fate(parts: Parts, row: LivingRow, matches: Sequence[Pair]) -> Iterator[Timed]:
    """Yields what becomes of a row by itself: unmatched, or once of a semi join."""
    if parts.kind.gives_once(row.hand) and matches:
        first = min(map(row_time, matches))
        yield from timed(parts.writer.once(row, first), first)
    if parts.kind.preserves(row.hand) and not matches:
        end = row.life.end
        yield from timed(parts.writer.unmatched(row, end), end)


def timed(emissions: Sequence[Emission], moment: Moment) -> Iterator[Timed]:
    """Yields rows with their row time."""
    for emission in emissions:
        yield moment, emission


def row_time(pair: Pair) -> Moment:
    """Returns the row time of a pair: the later birth."""
    return max(row.life.birth for row in pair.rows)
