"""A play taken apart for the kernels, where its state can lie, and the play at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Protocol

import pyarrow as pa

from dovetail import spec
from dovetail.conformance.local.outlets import Line, Writer, lines
from dovetail.conformance.local.parcels import NO_NEWS, News, Sender
from dovetail.conformance.local.rows import NUMBER, Cargo, cargo
from dovetail.engines.kernel_settings import Manner, kernel_settings
from dovetail.kernels.arrays.rows import BEGINNING
from dovetail.kernels.arrival.arrival import Parcel
from dovetail.kernels.candidates.choice import TooManyError
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.state import JoinState, new_state
from dovetail.kernels.step import Stepped, step
from dovetail.kernels.store import Shelf, Store
from dovetail.plan.local import refuse


@dataclass(frozen=True, slots=True)
class Told:
    """What is known beside a play: of the lives that rows of inner joins hand on.

    `ends` are the positions at which its steps end; without any each event is one.
    """

    news: Mapping[spec.Hand, News]
    ends: tuple[int, ...] = ()


NOTHING_TOLD = Told({})


class Memory(Protocol):
    """Where the state lies between two steps."""

    def step(self, parcels: list[Parcel], now: int) -> Stepped:
        """Takes what has come, and keeps what the next step needs to know."""


@dataclass(frozen=True, slots=True)
class Stage:
    """A play before anything has come: who sends, who writes."""

    join: spec.JoinSpec
    settings: JoinSettings
    events: tuple[spec.Event, ...]
    openings: int
    cargoes: tuple[Cargo, Cargo]
    senders: tuple[Sender, Sender]
    writer: Writer
    ends: tuple[int, ...]

    @classmethod
    def of(cls, play: spec.Play, told: Told = NOTHING_TOLD) -> Stage:
        """Returns the stage of a play, or refuses what the kernels cannot do yet."""
        join = refuse(play)
        manner = Manner(
            spec.Arrival.SEQUENCE,
            ordered=join.clock is spec.Clock.EVENT,
            outer_rows=play.settings.outer_rows,
            late_tables=play.settings.late_table_rows,
            live=_live(play, join),
        )
        settings = kernel_settings(join, play.inputs, manner)
        cargoes = cargo(play, join, settings)
        left, right = (
            Sender.of(play, join, hand, one, told.news.get(hand, NO_NEWS))
            for hand, one in zip(spec.HANDS, cargoes, strict=True)
        )
        return cls(
            join,
            settings,
            (*play.opening, *play.events),
            len(play.opening),
            cargoes,
            (left, right),
            Writer.of(join, play.inputs, cargoes),
            told.ends or tuple(range(1, len(play.opening) + len(play.events) + 1)),
        )

    @property
    def is_arrival(self) -> bool:
        """Tells whether rows meet in the order in which they come."""
        return self.join.clock is spec.Clock.ARRIVAL

    @property
    def gives_marks(self) -> bool:
        """Tells whether marks tell how many rows have come out of the first port."""
        return self.is_arrival and not self.settings.changelog

    def is_in_time(self, number: int) -> bool:
        """Tells of a side, by its number, whether its rows are not simply there."""
        side = self.settings.sides[number]
        return not (side.static and side.window == spec.Forever())

    def opening(self) -> list[Parcel]:
        """Returns what is there from the start, of those sides that have something."""
        told = [sender.opening() for sender in self.senders]
        return [one for one in told if len(one.rows) or one.report.bound > BEGINNING]

    def everything(self) -> list[Parcel]:
        """Returns all rows at once."""
        return [sender.everything() for sender in self.senders]

    def between(
        self,
        first: int,
        past: int,
        *,
        hands: Sequence[spec.Hand] = spec.HANDS,
        most: int = 1,
    ) -> list[Parcel]:
        """Returns what comes between two positions, so many rows a parcel."""
        senders = [self.senders[spec.HANDS.index(hand)] for hand in hands]
        return [
            parcel for sender in senders for parcel in sender.between(first, past, most)
        ]


def _live(play: spec.Play, join: spec.JoinSpec) -> frozenset[str]:
    """Returns the tables that may change while a join on the event clock goes on."""
    tables = [one for one in play.inputs.values() if one.kind is spec.InputKind.TABLE]
    is_moving = join.clock is spec.Clock.EVENT
    return frozenset(one.name for one in tables if is_moving)


@dataclass(frozen=True, slots=True)
class Moment:
    """What one step has given: during which event, or while time passed before it."""

    position: int
    stepped: Stepped
    is_pause: bool = False


def moments(stage: Stage, memory: Memory) -> Iterator[Moment]:
    """Gives the steps of a play after its start, one an event, or one each side."""
    turns = [(hand,) for hand in spec.HANDS] if stage.is_arrival else [spec.HANDS]
    for first, past in pairwise((0, *stage.ends)):
        position, clock = past - 1, stage.events[first].clock
        if stage.settings.reads_clock:
            yield Moment(position, memory.step([], clock), is_pause=True)
        for hands in turns:
            parcels = stage.between(first, past, hands=hands)
            if parcels:
                yield Moment(position, memory.step(parcels, clock))


class InPlace:
    """The state as the step has left it."""

    def __init__(self, stage: Stage) -> None:
        """Starts with nothing."""
        self._stage = stage
        self.state: JoinState = new_state(_schemas(stage))

    def step(self, parcels: list[Parcel], now: int) -> Stepped:
        """Takes what has come, and keeps what the next step needs to know."""
        stepped = _stepped(self._stage, self.state, parcels, now)
        self.state = stepped.state()
        return stepped


class OnShelf:
    """The state as bytes on a shelf; `written` and `state` are what tests look at."""

    def __init__(self, stage: Stage, shelf: Shelf) -> None:
        """Starts with what lies on the shelf."""
        self._stage = stage
        self._shelf = shelf
        self.written = 0

    def step(self, parcels: list[Parcel], now: int) -> Stepped:
        """Takes what has come, and keeps what the next step needs to know."""
        store = Store(self._stage.settings, _schemas(self._stage), self._shelf)
        stepped = _stepped(self._stage, store.load(), parcels, now)
        self.written += store.save(stepped)
        return stepped


def _stepped(
    stage: Stage, state: JoinState, parcels: list[Parcel], now: int
) -> Stepped:
    """Returns what a step leaves behind, or raises what fails the join."""
    try:
        return step(stage.settings, state, parcels, now)
    except TooManyError as error:
        left = stage.cargoes[0].values[error.row.column(NUMBER)[0].as_py()]
        raise stage.writer.exceeded(left, error.count) from error


def _schemas(stage: Stage) -> tuple[pa.Schema, pa.Schema]:
    """Returns the columns of both payloads."""
    left, right = (one.rows.payload.schema for one in stage.cargoes)
    return left, right


_NEVER = float("inf")


def batch_lines(stage: Stage) -> list[Line]:
    """Returns what comes out of a batch, in the order of the left rows.

    What takes no part comes before all.
    """
    stepped = InPlace(stage).step(stage.everything(), 0)
    found = list(lines(stepped.out))
    late = [line for line in found if line.outlet is spec.Outlet.LATE]
    others = [line for line in found if line.outlet is not spec.Outlet.LATE]
    return [
        *sorted(late, key=partial(_came, stage.cargoes)),
        *sorted(others, key=_place),
    ]


def by_row_time(line: Line) -> float:
    """Returns what the order by row time looks at."""
    return _or(line.row_time, _NEVER)


def _came(cargoes: tuple[Cargo, Cargo], line: Line) -> tuple[int, int]:
    """Returns the order in which rows came: data sets side by side, then by event."""
    hand, number = (1, line.right) if line.left is None else (0, line.left)
    place = int(cargoes[hand].rows.place[number])
    return (hand if place < 0 else len(cargoes)), place


def _place(line: Line) -> tuple[float, float, float]:
    """Returns the order of left rows, for each that of its right rows, then of time."""
    left, right = (_or(one, _NEVER) for one in (line.left, line.right))
    return left, right, _or(line.row_time, _NEVER)


def _or(number: int | None, otherwise: float) -> float:
    """Returns a number, or what stands for none."""
    return otherwise if number is None else number
