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
    for hand, side in parts.sides.items():
        deletes: list[Version] = []
        for values in parts.state(side):
            rows[hand].append(parts.row(hand, values))
        for event in events:
            match event:
                case Arrive() if event.input == side.input.name:
                    rows[hand].append(parts.row(hand, event.row))
                case Remove() if event.input == side.input.name:
                    deletes.append(parts.delete(hand, event.row))
                case _:
                    pass
        give_lives(side, rows[hand], deletes)
    return rows


def results(parts: Parts, rows: Rows) -> Iterator[Timed]:
    """Yields every result with its row time: each left row's, then right rows alone."""
    met = meetings(parts, rows)
    for left in rows[Hand.LEFT]:
        if parts.kind.gives_pairs:
            for pair in met[left]:
                left.partners += 1
                yield row_time(pair), parts.writer.pair(pair, row_time(pair))
        yield from fate(parts, left, met[left])
    for right in rows[Hand.RIGHT]:
        yield from fate(parts, right, met[right])


def meetings(parts: Parts, rows: Rows) -> Met:
    """Returns each row's pairs, in the order of the rows of the other side."""
    met: Met = {row: [] for hand in HANDS for row in rows[hand]}
    for left in rows[Hand.LEFT]:
        for right in rows[Hand.RIGHT]:
            pair = Pair(left, right)
            if left.life.meets(right.life) and parts.condition.holds(pair):
                met[left].append(pair)
                met[right].append(pair)
    return met


def fate(parts: Parts, row: LivingRow, pairs: Sequence[Pair]) -> Iterator[Timed]:
    """Yields what becomes of a row by itself: unmatched, or once of a semi join."""
    if parts.kind.gives_once(row.hand) and pairs:
        first = min(map(row_time, pairs))
        yield first, parts.writer.once(row, first)
    if parts.kind.preserves(row.hand) and not pairs:
        yield row.life.end, parts.writer.unmatched(row, row.life.end)


def row_time(pair: Pair) -> Moment:
    """Returns the row time of a pair: the later birth."""
    return max(row.life.birth for row in pair.rows)
