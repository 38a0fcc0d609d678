"""Plays a join with the kernels: one step an event, so it is known what comes when.

    event 0  ->  parcels  ->  step  ->  rows that come out after event 0
    event 1  ->  parcels  ->  step  ->  ...

The same events in fewer steps give the same rows, but no longer say when: `play_cut`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from dovetail import spec
from dovetail.conformance.local.nested import Flat, has_inner
from dovetail.conformance.local.outlets import lines
from dovetail.conformance.local.sets import play_sets
from dovetail.conformance.local.stage import (
    InPlace,
    Memory,
    Stage,
    batch_lines,
    by_row_time,
    moments,
)
from dovetail.kernels.step import Stepped


def play(play: spec.Play) -> list[spec.Emission]:
    """Returns every row that comes out, in the order in which they come out."""
    if isinstance(play.join, spec.SetJoinSpec):
        return play_sets(play, play.join)
    if has_inner(play.join):
        flat = Flat.of(play)
        stage = Stage.of(flat.play, flat.told)
        return flat.whole(_play_stage(stage, play.settings.order), len(play.opening))
    return _play_stage(Stage.of(play), play.settings.order)


def _play_stage(stage: Stage, order: spec.Order) -> list[spec.Emission]:
    """Returns the rows of a join of inputs alone."""
    if stage.join.clock is spec.Clock.BATCH:
        return batch(stage, order)
    return list(_stepwise(stage, InPlace(stage)))


@dataclass(frozen=True, slots=True)
class Cut:
    """Positions at which a step ends, and how many rows a parcel has at most."""

    ends: Sequence[int]
    most: int


def play_cut(stage: Stage, memory: Memory, cut: Cut) -> list[spec.Emission]:
    """Returns every row that comes out, where many events may make one step."""
    found = list(_opening(stage, memory))
    edges = sorted({0, *cut.ends, len(stage.events)})
    for first, past in pairwise(edges):
        parcels = stage.between(first, past, most=cut.most)
        clock = stage.events[past - 1].clock
        found += _written(stage, memory.step(parcels, clock))
    return found


def batch(stage: Stage, order: spec.Order) -> list[spec.Emission]:
    """Returns the rows of a batch: in left order, or where asked by row time."""
    found = batch_lines(stage)
    if order is spec.Order.ROW_TIME:
        found.sort(key=by_row_time)
    return [stage.writer.emission(line) for line in found]


def _stepwise(stage: Stage, memory: Memory) -> Iterator[spec.Emission]:
    """Gives what each event gives, with the number of the event."""
    yield from _opening(stage, memory)
    sent = 0
    for moment in moments(stage, memory):
        after = max(moment.position - stage.openings, spec.UNKNOWN_EVENT)
        found = _written(stage, moment.stepped)
        came = sum(one.outlet is spec.Outlet.MATCHED for one in found)
        if stage.gives_marks and came and not moment.is_pause:
            sent += came
            found.append(mark(sent))
        yield from (replace(one, after=after) for one in found)


def _opening(stage: Stage, memory: Memory) -> Iterator[spec.Emission]:
    """Gives what comes of the rows that are there from the start.

    On the clock arrival they are state: only late rows come of them, side by
    side: first what is there outside time.
    """
    parcels = stage.opening()
    found = list(lines(memory.step(parcels, 0).out)) if parcels else []
    if not stage.is_arrival:
        yield from stage.writer.lost()
        yield from map(stage.writer.emission, found)
        return
    late = [line for line in found if line.outlet is spec.Outlet.LATE]
    for number in sorted((0, 1), key=stage.is_in_time):
        yield from stage.writer.lost_of(number)
        of_side = (one for one in late if number == (one.left is None))
        yield from map(stage.writer.emission, of_side)


def _written(stage: Stage, stepped: Stepped) -> list[spec.Emission]:
    """Returns the rows that a step has let out."""
    return [stage.writer.emission(line) for line in lines(stepped.out)]


def mark(ordinal: int) -> spec.Emission:
    """Returns the window punctuation behind so many rows of the first port."""
    return spec.Emission(spec.Outlet.MARKS, {"port": 0, "ordinal": ordinal})
