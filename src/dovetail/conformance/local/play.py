"""Plays a join with the kernels: one step an event, so it is known what comes when.

    event 0  ->  lines  ->  step  ->  rows that come out after event 0
    event 1  ->  lines  ->  step  ->  ...

The same events in fewer steps give the same rows, but no longer say when: `play_cut`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from dovetail import spec
from dovetail.conformance.local import nested
from dovetail.conformance.local.outlets import late_row
from dovetail.conformance.local.stage import (
    InPlace,
    Played,
    Stage,
    batch_rows,
    steps,
)
from dovetail.engines.spark_stream.worker.bucket import Memory
from dovetail.kernels.pairs.results import Reason


def play(play: spec.Play) -> list[spec.Emission]:
    """Returns every row that comes out, in the order in which they come out."""
    if nested.has_inner(play.join):
        flat = nested.Flat.of(play)
        stage = Stage.of(flat.play, flat.told)
        return flat.whole(_play_stage(stage), len(play.opening))
    return _play_stage(Stage.of(play))


def _play_stage(stage: Stage) -> list[spec.Emission]:
    """Returns the rows of a join of inputs alone."""
    if stage.join.clock is spec.Clock.BATCH:
        return batch(stage)
    memory = InPlace(stage)
    every, sent = [*_opening(stage, memory)], 0
    for played in steps(stage, memory):
        after = max(played.position - stage.openings, spec.UNKNOWN_EVENT)
        found = _written(stage, played)
        came = sum(one.outlet is spec.Outlet.MATCHED for one in found)
        # What time lets out no row has caused, so that no mark stands behind it.
        if stage.gives_marks and came and not played.is_pause:
            sent += came
            found.append(mark(sent))
        every += [replace(one, after=after) for one in found]
    return every


@dataclass(frozen=True, slots=True)
class Cut:
    """Positions at which a step ends, and how many rows a task has at most."""

    ends: Sequence[int]
    most: int


def play_cut(stage: Stage, memory: Memory, cut: Cut) -> list[spec.Emission]:
    """Returns every row that comes out, where many events may make one step."""
    found = list(_opening(stage, memory))
    # Both ends are edges, whatever the cut names.
    edges = sorted({0, *cut.ends, len(stage.events)})
    for first, past in pairwise(edges):
        lines = stage.between(first, past, most=cut.most)
        found += _written(stage, stage.run(memory, lines, stage.events[past - 1].clock))
    return found


def batch(stage: Stage) -> list[spec.Emission]:
    """Returns the rows of a batch: in left order, or where asked by row time."""
    return [stage.writer.emission(row) for row in batch_rows(stage)]


def _opening(stage: Stage, memory: Memory) -> Iterator[spec.Emission]:
    """Gives what comes of the rows that are there from the start.

    On the clock arrival they are state: only late rows come of them, side by side.
    """
    # Without state no step is run: nothing could come of it.
    lines = stage.opening()
    found = stage.run(memory, lines).rows if lines else []
    emissions = [(row, stage.writer.emission(row)) for row in found]
    if not stage.is_arrival:
        for frame in stage.frames:
            yield from (late_row(row, Reason.NULL_TIME) for row in frame.lost)
        yield from (emission for _, emission in emissions)
        return
    # Side by side: nobody knows in which order state of two inputs came.
    for number in (0, 1):
        lost = stage.frames[number].lost
        yield from (late_row(row, Reason.NULL_TIME) for row in lost)
        for row, emission in emissions:
            is_of_side = number == (row.sides[0] is None)
            if row.outlet is spec.Outlet.LATE and is_of_side:
                yield emission


def _written(stage: Stage, played: Played) -> list[spec.Emission]:
    """Returns the rows that a step has let out."""
    return [stage.writer.emission(row) for row in played.rows]


def mark(ordinal: int) -> spec.Emission:
    """Returns the window punctuation behind so many rows of the first port."""
    return spec.Emission(spec.Outlet.MARKS, {"port": 0, "ordinal": ordinal})
