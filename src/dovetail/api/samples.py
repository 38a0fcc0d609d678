"""Rows of a user's join as a small play, so that it can be drawn.

Sample rows arrive one by one: those of a side in the order in which they are given,
and between the sides whichever comes first by sequence, by row time, or, without
both, the left side whole before the right. Then every input ends.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from dovetail import spec
from dovetail.errors import SchemaError, SpecError
from dovetail.expression import BARE, Expression, Scope, compiled
from dovetail.schema import read_row, to_microseconds
from dovetail.spec import arguments
from dovetail.spec.rules import checked

MOST_COLLECTED = 30
Sample = Sequence[Mapping[str, object]]
Placed = tuple[float, spec.Arrive]


def sample_play(
    join: spec.JoinSpec,
    inputs: spec.Inputs,
    rows: Mapping[spec.Hand, Sequence[spec.Row]],
    sequences: Mapping[spec.Hand, str],
    settings: spec.Settings,
) -> spec.Play:
    """Returns the play of a join whose sides have these rows, then end."""
    sources = {hand: inputs[hand.value] for hand in spec.HANDS}
    # One by one come the rows of streams, and the versions of a table in row time.
    stream, table = spec.InputKind.STREAM, spec.InputKind.TABLE
    in_time = join.clock is spec.Clock.EVENT
    arriving = [
        hand
        for hand, source in sources.items()
        if source.kind is stream
        or (source.kind is table and source.is_timed and in_time)
    ]
    staying = {
        hand.value: replace(source, rows=() if hand in arriving else tuple(rows[hand]))
        for hand, source in sources.items()
    }
    # Merged by place, the left row first of two at one place; a side's own order stays.
    events = heapq.merge(
        *(_placed(sources[hand], rows[hand], sequences[hand]) for hand in arriving),
        key=lambda placed: placed[0],
    )
    # All inputs end, so that no row is left open that the sample decides.
    ends = [spec.Finish(hand.value) for hand in arriving]
    played: list[spec.Event] = [event for _, event in events]
    played += ends
    return checked(spec.Play(join, staying, tuple(played), settings=settings))


def typed_rows(rows: Sample, source: spec.Input) -> list[spec.Row]:
    """Returns the rows that a user gives, with values of the columns' types."""
    if not isinstance(rows, list | tuple) or not all(
        isinstance(row, Mapping) for row in rows
    ):
        hint = f'write for example picture({source.name}=[{{"id": 1}}])'
        raise arguments.wrong(source.name, rows, "a list of rows, each a dict", hint)
    try:
        return [
            read_row(row, source.schema, f"row {number} of {source.name}")
            for number, row in enumerate(rows)
        ]
    except SchemaError as error:
        hint = error.hint or f"the columns are {', '.join(source.schema.names)}"
        raise SchemaError(error.found, error.expected, hint) from error


def refuse_many(rows: Sequence[spec.Row], hand: spec.Hand) -> None:
    """Refuses to draw a part of a side as if it were the whole."""
    if len(rows) > MOST_COLLECTED:
        raise SpecError(
            f"the {hand.value} side has more than {MOST_COLLECTED} rows",
            f"at most {MOST_COLLECTED} rows a side",
            f"joined.picture({hand.value}=[...]) draws the rows that you choose",
        )


def hand_named(name: str) -> spec.Hand:
    """Returns the side of a name."""
    if name not in {hand.value for hand in spec.HANDS}:
        hint = "picture(left=[..], right=[..]) draws these rows"
        raise SpecError(f'the join has no side "{name}"', "left or right", hint)
    return spec.Hand(name)


def _placed(
    source: spec.Input, rows: Iterable[spec.Row], sequence: str
) -> list[Placed]:
    """Returns the arrivals of a side, each with its place among those of both.

    The place is what the sequence says that both sides carry, else the row time.
    """
    scope = Scope.row(source.schema)
    scalar = compiled(Expression(sequence), scope) if sequence else None
    placed: list[Placed] = []
    for row in rows:
        match scalar({BARE: row}) if scalar else row.get(source.time):
            case datetime() as moment:
                place: float = to_microseconds(moment)
            case int() | float() as place:
                pass
            case _:
                # What has no place waits for nobody.
                place = -math.inf
        placed.append((place, spec.Arrive(source.name, row)))
    return placed
