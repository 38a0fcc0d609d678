"""What an inner join gives to the join around it: rows by event, and its bound."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from dovetail.conformance.local.handing import Hander
from dovetail.conformance.local.in_batch import batch_lines
from dovetail.conformance.local.outlets import Line, lines
from dovetail.conformance.local.stage import InPlace, Moment, Stage, Told, moments
from dovetail.kernels.arrays.names import is_reserved, reserved
from dovetail.kernels.arrays.rows import BEGINNING
from dovetail.kernels.lifetimes.lives import NO_LIVES, Lives, join_lives
from dovetail.schema import from_microseconds
from dovetail.spec.inputs import Emission, Outlet, Row
from dovetail.spec.join import Clock
from dovetail.spec.play import Play

TIME = reserved("time")
"""The column of a join's row with its row time, beside its own."""


def without_hidden(row: Row) -> Row:
    """Returns a row without the columns that do not come out."""
    return {name: value for name, value in row.items() if not is_reserved(name)}


@dataclass(frozen=True, slots=True)
class Given:
    """What an inner join gives: at the start, then during each event.

    `bounds` are the least row times of what it can still give; `late` are the rows
    that it turns away. `lives` tell of those that its rows inherit.
    """

    rows: tuple[list[Row], ...]
    bounds: list[int]
    late: list[Emission]
    lives: list[Lives]

    @classmethod
    def nothing(cls, count: int) -> Given:
        """Returns what comes of nothing, during so many events."""
        rows: tuple[list[Row], ...] = tuple([] for _ in range(count + 1))
        return cls(rows, [BEGINNING] * len(rows), [], [NO_LIVES] * len(rows))


@dataclass(frozen=True, slots=True)
class Inner:
    """An inner join on its stage; `positions` are those of its events in the whole.

    If its rows' lives count there is somebody who hands them on.
    """

    stage: Stage
    positions: tuple[int, ...]
    handers: tuple[Hander, ...]

    @classmethod
    def of(
        cls, play: Play, told: Told, positions: tuple[int, ...], *, inherits: bool
    ) -> Inner:
        """Returns the inner join, which is told of the joins inside it."""
        stage = Stage.of(play, told)
        return cls(stage, positions, (Hander.of(stage),) if inherits else ())

    @property
    def may_shorten(self) -> bool:
        """Tells whether a row has been given whose life other rows may end."""
        return any(hander.may_shorten for hander in self.handers)

    def given(self, count: int) -> Given:
        """Returns what it gives, during so many events."""
        given = Given.nothing(count)
        if self.stage.join.clock is Clock.BATCH:
            self._take(given, -1, batch_lines(self.stage))
            return given
        memory = InPlace(self.stage)
        start = memory.step(self.stage.opening(), 0)
        given.late.extend(self.stage.writer.lost())
        if self.stage.is_arrival:
            # What comes of the state is no row that arrives.
            late = (line for line in lines(start.out) if line.outlet is Outlet.LATE)
            self._take(given, -1, late)
        else:
            self._step(given, -1, Moment(-1, start))
        for moment in moments(self.stage, memory):
            self._step(given, self.positions[moment.position], moment)
        return given

    def _step(self, given: Given, position: int, moment: Moment) -> None:
        """Takes down what a moment has given, and what can still come.

        The position is one in the whole.
        """
        stepped = moment.stepped
        for hander in self.handers:
            hander.learn(moment)
        self._take(given, position, lines(stepped.out))
        given.bounds[position + 1] = max(given.bounds[position + 1], stepped.until)
        for hander in self.handers:
            told = (given.lives[position + 1], hander.news())
            given.lives[position + 1] = join_lives(told)

    def _take(self, given: Given, position: int, found: Iterable[Line]) -> None:
        """Takes down rows that come out at a position."""
        for line in found:
            emission = self.stage.writer.emission(line)
            if line.outlet is Outlet.LATE:
                given.late.append(replace(emission, after=position))
            else:
                given.rows[position + 1].append({**emission.row, **self._hidden(line)})

    def _hidden(self, line: Line) -> Row:
        """Returns when a row is, and which life it hands on."""
        time = None if line.row_time is None else from_microseconds(line.row_time)
        hidden: dict[str, object] = {TIME: time}
        for hander in self.handers:
            hidden.update(hander.given(line))
        return hidden
