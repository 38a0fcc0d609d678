"""Plays a join with the kernels: one step an event, so it is known what comes when.

    event 0  ->  parcels  ->  step  ->  rows that come out after event 0
    event 1  ->  parcels  ->  step  ->  ...

The same events in fewer steps give the same rows, but no longer say when: `play_cut`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from dovetail.kernels.leaving import Outlet as Exit
from dovetail.kernels.step import Stepped
from dovetail.run.local.outlets import Line, lines
from dovetail.run.local.sets import play_sets
from dovetail.run.local.stage import InPlace, Memory, Stage
from dovetail.spec.inputs import UNKNOWN_EVENT, Emission, Order, Outlet
from dovetail.spec.join import HANDS, Clock, SetJoinSpec
from dovetail.spec.play import Play

_NEVER = float("inf")


def play(play: Play) -> list[Emission]:
    """Returns every row that comes out, in the order in which they come out."""
    if isinstance(play.join, SetJoinSpec):
        return play_sets(play, play.join)
    stage = Stage.of(play)
    if stage.join.clock is Clock.BATCH:
        return _batch(stage, play.settings.order)
    return list(_stepwise(stage, InPlace(stage)))


@dataclass(frozen=True, slots=True)
class Cut:
    """Positions at which a step ends, and how many rows a parcel has at most."""

    ends: Sequence[int]
    most: int


def play_cut(stage: Stage, memory: Memory, cut: Cut) -> list[Emission]:
    """Returns every row that comes out, where many events may make one step."""
    found = list(_opening(stage, memory))
    edges = sorted({0, *cut.ends, len(stage.events)})
    for first, past in pairwise(edges):
        parcels = stage.between(first, past, most=cut.most)
        clock = stage.events[past - 1].clock
        found += _written(stage, memory.step(parcels, clock))
    return found


def _batch(stage: Stage, order: Order) -> list[Emission]:
    """Returns the rows of a batch: in left order, or where asked by row time."""
    stepped = InPlace(stage).step(stage.everything(), 0)
    found = sorted(lines(stepped.out), key=_batch_place)
    if order is Order.ROW_TIME:
        found.sort(key=lambda line: _or(line.row_time, _NEVER))
    return [stage.writer.emission(line) for line in found]


def _batch_place(line: Line) -> tuple[bool, float, float, float]:
    """Returns the order of left rows, for each that of its right rows, then of time.

    What takes no part comes before all.
    """
    takes_part = line.outlet != Exit.LATE
    right, time = (_or(one, _NEVER) for one in (line.right, line.row_time))
    return takes_part, _or(line.left, _NEVER), right, time


def _or(number: int | None, otherwise: float) -> float:
    """Returns a number, or what stands for none."""
    return otherwise if number is None else number


def _stepwise(stage: Stage, memory: Memory) -> Iterator[Emission]:
    """Gives what each event gives, with the number of the event."""
    yield from _opening(stage, memory)
    sent = 0
    turns = [(hand,) for hand in HANDS] if stage.is_arrival else [HANDS]
    for position, event in enumerate(stage.events):
        after = max(position - stage.openings, UNKNOWN_EVENT)
        if stage.settings.reads_clock:
            passed = _written(stage, memory.step([], event.clock))
            yield from (replace(one, after=after) for one in passed)
        for hands in turns:
            parcels = stage.between(position, position + 1, hands=hands)
            if not parcels:
                continue
            found = _written(stage, memory.step(parcels, event.clock))
            came = sum(one.outlet is Outlet.MATCHED for one in found)
            sent += came
            if came and stage.is_arrival and not stage.settings.changelog:
                found.append(mark(sent))
            yield from (replace(one, after=after) for one in found)


def _opening(stage: Stage, memory: Memory) -> Iterator[Emission]:
    """Gives what comes of the rows that are there from the start.

    On the clock arrival they are state: only late rows come of them.
    """
    yield from stage.writer.lost()
    stepped = memory.step(stage.opening(), 0)
    for line in lines(stepped.out):
        if not stage.is_arrival or line.outlet == Exit.LATE:
            yield stage.writer.emission(line)


def _written(stage: Stage, stepped: Stepped) -> list[Emission]:
    """Returns the rows that a step has let out."""
    return [stage.writer.emission(line) for line in lines(stepped.out)]


def mark(ordinal: int) -> Emission:
    """Returns the window punctuation behind so many rows of the first port."""
    return Emission(Outlet.MARKS, {"port": 0, "ordinal": ordinal})
