"""The clock `batch`: all rows are there, and the left ones are gone through in order.

Rows that come by events are rows like any others. Nothing is late; a row without a row
time meets nobody. What names a bad interval goes to `late` here too.

A batch join inside a join on a clock that moves is played first, and stands from then
on as a data set of its rows.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product

from dovetail import spec
from dovetail.conformance.oracle import sides
from dovetail.conformance.oracle.emission import late_row
from dovetail.conformance.oracle.lives import Version, give_lives
from dovetail.conformance.oracle.parts import BAD_INTERVAL, Parts

Timed = tuple[sides.Moment, spec.Emission]
Rows = Mapping[spec.Hand, list[sides.LivingRow]]


def play_batch(parts: Parts, play: spec.Play) -> list[spec.Emission]:
    """Returns the rows of a batch join: in left order, or where asked by row time."""
    late: list[spec.Emission] = []
    events: list[spec.Event] = []
    for event in (*parts.state(), *play.opening, *play.events):
        match event:
            case spec.Arrive() if parts.rejection(event, is_state=True) == BAD_INTERVAL:
                late.append(late_row(event.row, BAD_INTERVAL))
            case _:
                events.append(event)
    found = list(timed_rows(parts, events))
    if play.settings.order is spec.Order.ROW_TIME:
        # Stable, so that rows of one time stay in left order.
        found.sort(key=lambda result: result[0])
    return [*late, *(emission for _, emission in found)]


def timed_rows(parts: Parts, events: Sequence[spec.Event]) -> Iterator[Timed]:
    """Yields what a join gives with its row times, what it turns away first."""
    rows: Rows = {hand: [] for hand in spec.HANDS}
    for hand, inner in parts.inner.items():
        # What a join inside gives are the rows of this side: they come before all of
        # inputs.
        for moment, emission in timed_rows(inner, events):
            new = sides.NewRow(
                emission.row, None if math.isinf(moment) else int(moment)
            )
            if emission.outlet is spec.Outlet.LATE:
                yield moment, emission
            elif parts.rejection_of_result(hand, new) == BAD_INTERVAL:
                yield sides.PAST, late_row(new.values, BAD_INTERVAL)
            else:
                rows[hand].append(parts.row(hand, new))
    gather(parts, rows, events)
    yield from results(parts, rows)


def gather(parts: Parts, rows: Rows, events: Sequence[spec.Event]) -> None:
    """Adds the rows of inputs to each side in their order; gives all their lives."""
    deletes: dict[spec.Hand, list[Version]] = {hand: [] for hand in spec.HANDS}
    for event in events:
        match event:
            case spec.Arrive():
                for hand in parts.hands_of(event.input):
                    rows[hand].append(parts.row(hand, parts.new_row(event)))
            case spec.Remove():
                for hand in parts.hands_of(event.input):
                    deletes[hand].append(parts.delete(hand, event.row))
            case _:
                pass
    for hand, side in parts.sides.items():
        give_lives(side, rows[hand], deletes[hand])


def results(parts: Parts, rows: Rows) -> Iterator[Timed]:
    """Yields every result with its row time: of each left row, then of each right one.

    Of a left row the pairs that it keeps, then what it gives by itself.
    """
    # Right rows are asked last: any left row may be the one that matches them.
    met: dict[sides.LivingRow, list[sides.Pair]] = {
        row: [] for row in rows[spec.Hand.RIGHT]
    }
    for left in rows[spec.Hand.LEFT]:
        pairs = [sides.Pair(left, right) for right in rows[spec.Hand.RIGHT]]
        choice = parts.picker.choose([pair for pair in pairs if meetings(pair)])
        for pair in choice.matches:
            met[pair.right].append(pair)
        if choice.is_over_limit:
            parts.refuse_excess(left, len(choice.matches))
            end = left.lives[-1].end
            yield from timed(parts.writer.over_limit(left, end), end)
            continue
        if parts.kind.gives_pairs:
            yield from parts.pair_rows(choice.matches, meetings)
        yield from of_row(parts, left, choice.matches)
    for right in rows[spec.Hand.RIGHT]:
        yield from of_row(parts, right, met[right])


def of_row(
    parts: Parts, row: sides.LivingRow, matches: Sequence[sides.Pair]
) -> Iterator[Timed]:
    """Yields what a row gives by itself: unmatched, or once of a semi join."""
    if parts.kind.gives_once(row.hand) and matches:
        first = min(moment for pair in matches for moment in meetings(pair))
        yield from timed(parts.writer.once(row, first), first)
    if parts.kind.preserves(row.hand):
        others = [one for pair in matches for one in pair.rows if one is not row]
        shared = [life for other in others for life in other.lives]
        # In windows of a size a row may meet others in one window, and none in another.
        for life in row.lives:
            if not any(map(life.meets, shared)):
                yield from timed(parts.writer.unmatched(row, life.end), life.end)


def timed(emissions: Sequence[spec.Emission], moment: sides.Moment) -> Iterator[Timed]:
    """Yields rows with their row time."""
    for emission in emissions:
        yield moment, emission


def meetings(pair: sides.Pair) -> list[sides.Moment]:
    """Returns the row times at which a pair meets: the later birth of each two lives.

    That is once, but in windows of a size once for each window that both fall into.
    """
    lives = product(pair.left.lives, pair.right.lives)
    return [max(one.birth, other.birth) for one, other in lives if one.meets(other)]


def with_static_played(
    play: spec.Play, join: spec.JoinSpec
) -> tuple[spec.Play, spec.JoinSpec, list[spec.Emission]]:
    """Returns a play and its join with batches inside as data sets; their late rows."""
    late: list[spec.Emission] = []
    for hand in spec.HANDS:
        join, play = _with_side_played(play, join, hand, late)
    return spec.without_static(play, join), join, late


def _with_side_played(
    play: spec.Play, around: spec.JoinSpec, hand: spec.Hand, late: list[spec.Emission]
) -> tuple[spec.JoinSpec, spec.Play]:
    """Returns a join and its play, where the side is a join with that one played."""
    side = around.side(hand)
    match side.source:
        case spec.Nested() as inner if spec.is_batch_inside(around, side, play.inputs):
            name = inner.name
            # No input of the user's is to be hidden by the name of the join.
            while name in play.inputs:
                name = f"the {name}"
            found = play_batch(Parts.of(play, inner.join), play)
            late += [one for one in found if one.outlet is spec.Outlet.LATE]
            rows = tuple(one.row for one in found if one.outlet is spec.Outlet.MATCHED)
            data_set = replace(spec.data_set_of(inner, play.inputs, name), rows=rows)
            side = replace(side, source=spec.Named(name))
            play = replace(play, inputs={**play.inputs, name: data_set})
        case spec.Nested(inside, name):
            for one in spec.HANDS:
                inside, play = _with_side_played(play, inside, one, late)
            side = replace(side, source=spec.Nested(inside, name))
        case _:
            pass
    if hand is spec.Hand.LEFT:
        return replace(around, left=side), play
    return replace(around, right=side), play
