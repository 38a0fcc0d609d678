"""What an inner join gives to the join around it: rows by event, and its bound."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from dovetail.errors import UnsupportedError
from dovetail.kernels.leaving import Outlet as Exit
from dovetail.kernels.rows import BEGINNING, NEVER, Whole
from dovetail.kernels.step import Stepped
from dovetail.kernels.windows import Hop, Version, births, deaths, is_intrinsic
from dovetail.plan.local import LOCAL
from dovetail.run.local.in_batch import batch_lines
from dovetail.run.local.outlets import Line, lines
from dovetail.run.local.stage import InPlace, Stage, moments
from dovetail.schema import from_microseconds
from dovetail.spec.inputs import Emission, Row
from dovetail.spec.join import Clock
from dovetail.spec.play import Play

TIME, START, END = "@time", "@start", "@end"
"""The columns of a join's row beside its own: its row time, its life from and to."""


def without_hidden(row: Row) -> Row:
    """Returns a row without the columns that do not come out."""
    return {name: value for name, value in row.items() if not name.startswith("@")}


@dataclass(frozen=True, slots=True)
class Given:
    """What an inner join gives: at the start, then during each event.

    `bounds` are the least row times of what it can still give; `late` are the rows
    that it turns away.
    """

    rows: tuple[list[Row], ...]
    bounds: list[int]
    late: list[Emission]


@dataclass(frozen=True, slots=True)
class Inner:
    """An inner join on its stage; `positions` are those of its events in the whole."""

    stage: Stage
    positions: tuple[int, ...]
    ends: tuple[Whole, ...]

    @classmethod
    def of(cls, play: Play, positions: tuple[int, ...], *, inherits: bool) -> Inner:
        """Returns the inner join; with the ends of its rows' lives if these count."""
        stage = Stage.of(play)
        ends = tuple(_ends(stage, hand) for hand in (0, 1)) if inherits else ()
        return cls(stage, positions, ends)

    def given(self, count: int) -> Given:
        """Returns what it gives, during so many events."""
        given = Given(
            tuple([] for _ in range(count + 1)), [BEGINNING] * (count + 1), []
        )
        if self.stage.join.clock is Clock.BATCH:
            self._take(given, -1, batch_lines(self.stage))
            return given
        memory = InPlace(self.stage)
        start = memory.step(self.stage.opening(), 0)
        given.late.extend(self.stage.writer.lost())
        if self.stage.is_arrival:
            # What comes of the state is no row that arrives.
            late = (line for line in lines(start.out) if line.outlet == Exit.LATE)
            self._take(given, -1, late)
        else:
            self._step(given, -1, start)
        for moment in moments(self.stage, memory):
            self._step(given, self.positions[moment.position], moment.stepped)
        return given

    def _step(self, given: Given, position: int, stepped: Stepped) -> None:
        """Takes down what a step has given, and what can still come."""
        self._take(given, position, lines(stepped.out))
        given.bounds[position + 1] = max(given.bounds[position + 1], stepped.until)

    def _take(self, given: Given, position: int, found: Iterable[Line]) -> None:
        """Takes down rows that come out at a position."""
        for line in found:
            emission = self.stage.writer.emission(line)
            if line.outlet == Exit.LATE:
                row = without_hidden(emission.row)
                given.late.append(replace(emission, row=row, after=position))
            else:
                given.rows[position + 1].append({**emission.row, **self._life(line)})

    def _life(self, line: Line) -> Row:
        """Returns when a row is, and from when until when it is alive."""
        if line.row_time is None:
            return {TIME: None, START: None, END: None}
        time = from_microseconds(line.row_time)
        if not self.ends:
            return {TIME: time}
        end = self._end(line, line.row_time)
        return {TIME: time, START: time, END: from_microseconds(end)}

    def _end(self, line: Line, alone: int) -> int:
        """Returns until when both rows live; one without a partner has its own time."""
        if line.outlet != Exit.MATCHED:
            return alone
        numbers = zip(self.ends, (line.left, line.right), strict=True)
        end = min(int(ends[row]) for ends, row in numbers if row is not None)
        if end == NEVER:
            raise UnsupportedError.not_yet(LOCAL.name, "an inherited life without end")
        return end


def _ends(stage: Stage, hand: int) -> Whole:
    """Returns the last moments of one side's lives, where no row ends another."""
    side, rows = stage.settings.sides[hand], stage.cargoes[hand].rows
    is_alone = is_intrinsic(side.window) and not isinstance(side.window, Hop)
    if side.untimed:
        return np.full(len(rows), NEVER)
    if not is_alone and not (isinstance(side.window, Version) and side.static):
        what = "an inherited life that other rows may end"
        raise UnsupportedError.not_yet(LOCAL.name, what)
    born = rows.with_arrays(birth=births(side.window, rows))
    death = deaths(side.window, born)
    ends: Whole = death - (death < NEVER)
    return ends
