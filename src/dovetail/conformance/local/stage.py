"""A play taken apart for the kernels: what its sides send, and who runs their steps.

    between two positions    lines of both sides        as pack writes them
    one step                 of the only bucket         as the operator runs it
    rows that come out       read from blobs again      as unpack reads them

These are the very functions that run inside Spark's workers, and what they refuse is
what streams refuse.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
import pyarrow as pa

from dovetail import spec
from dovetail.conformance.local import outlets
from dovetail.conformance.local.frames import (
    BEFORE,
    LABEL,
    News,
    SideFrame,
    side_frames,
)
from dovetail.conformance.local.refusals import refuse
from dovetail.conformance.local.sets import SetWriter, as_sides
from dovetail.engines.kernel_settings import Manner, kernel_settings
from dovetail.engines.spark_stream.worker import bucket
from dovetail.engines.spark_stream.worker.pack import heartbeat
from dovetail.errors import LimitError
from dovetail.kernels import state, store
from dovetail.kernels.arrays.rows import MISSING
from dovetail.kernels.arrival.arrival import Parcel
from dovetail.kernels.candidates.choice import TooManyError
from dovetail.kernels.lifetimes.lives import HANDED
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.step import Stepped


@dataclass(frozen=True, slots=True)
class Told:
    """What is known beside a play: of the lives that rows of inner joins hand on.

    `ends` are the positions at which its steps end; without any each event is one. For
    so many bounds the lives wait that sides inherit: `holds`.
    """

    news: Mapping[spec.Hand, News]
    ends: tuple[int, ...] = ()
    holds: tuple[int, int] = (0, 0)


NOTHING_TOLD = Told({})


@dataclass(frozen=True, slots=True)
class Stage:
    """A play before anything has come: who sends, who writes."""

    join: spec.JoinSpec
    settings: JoinSettings
    events: tuple[spec.Event, ...]
    openings: int
    frames: tuple[SideFrame, SideFrame]
    writer: outlets.Writer | SetWriter
    ends: tuple[int, ...]
    schema: pa.Schema

    @classmethod
    def of(
        cls, play: spec.Play, told: Told = NOTHING_TOLD, *, inherited: bool = False
    ) -> Stage:
        """Returns the stage of a play, or refuses what the kernels cannot do yet.

        Its rows' lives may be inherited by a join around it.
        """
        if isinstance(play.join, spec.SetJoinSpec):
            return cls._of_sets(play, play.join)
        join = refuse(play)
        play = replace(play, inputs=spec.with_intervals(join, play.inputs))
        # On the event clock a table may change while the join goes on, though it has no
        # times.
        tables = [
            one for one in play.inputs.values() if one.kind is spec.InputKind.TABLE
        ]
        is_moving = join.clock is spec.Clock.EVENT
        manner = Manner(
            spec.Arrival.SEQUENCE,
            ordered=join.clock is spec.Clock.EVENT
            or play.settings.order is spec.Order.ROW_TIME,
            outer_rows=play.settings.outer_rows,
            late_tables=play.settings.late_table_rows,
            live=frozenset(one.name for one in tables if is_moving),
            late_null_rows=play.settings.late_null_rows,
            inherited=inherited,
            holds=told.holds,
        )
        settings = kernel_settings(join, play.inputs, manner)
        left, right = side_frames(play, join, settings, told.news)
        return cls(
            join,
            settings,
            (*play.opening, *play.events),
            len(play.opening),
            (left, right),
            outlets.Writer.of(join, play.inputs),
            told.ends or tuple(range(1, len(play.opening) + len(play.events) + 1)),
            # Streams refuse what asks for more than the head and both rows.
            bucket.result_schema((left.schema, right.schema), [*bucket.MORE, *HANDED]),
        )

    @classmethod
    def _of_sets(cls, play: spec.Play, join: spec.SetJoinSpec) -> Stage:
        """Returns the stage of a join of several sets, whose rows are two sides."""
        flat = as_sides(play, join)
        two, sets = flat.join, (join,)
        assert isinstance(two, spec.JoinSpec)  # noqa: S101 - of two sides by now
        manner = Manner(spec.Arrival.SEQUENCE, sets=sets)
        settings = kernel_settings(two, flat.inputs, manner)
        left, right = side_frames(flat, two, settings, {})
        schemas = left.schema, right.schema
        more = [*bucket.MORE, *HANDED, *bucket.told_beside(settings, schemas)]
        return cls(
            two,
            settings,
            (*flat.opening, *flat.events),
            len(flat.opening),
            (left, right),
            SetWriter.of(join, play.inputs),
            tuple(range(1, len(flat.opening) + len(flat.events) + 1)),
            bucket.result_schema(schemas, more),
        )

    @property
    def schemas(self) -> tuple[pa.Schema, pa.Schema]:
        """Returns the columns of both payloads."""
        left, right = self.frames
        return left.schema, right.schema

    @property
    def is_arrival(self) -> bool:
        """Tells whether rows meet in the order in which they come."""
        return self.join.clock is spec.Clock.ARRIVAL

    @property
    def gives_marks(self) -> bool:
        """Tells whether marks tell how many rows have come out of the first port."""
        return self.is_arrival and not self.settings.changelog

    def opening(self) -> list[bucket.Line]:
        """Returns the lines of what is there from the start."""
        most = max(len(frame.position) for frame in self.frames)
        # What is there from the start stands below position 0, and comes as one task's.
        return self.between(MISSING, 0, most=max(1, most))

    def everything(self) -> list[bucket.Line]:
        """Returns all lines at once."""
        return [line for frame in self.frames for line in frame.everything()]

    def between(
        self,
        first: int,
        past: int,
        *,
        hands: Sequence[spec.Hand] = spec.HANDS,
        most: int = 1,
    ) -> list[bucket.Line]:
        """Returns what comes between two positions, of tasks of so many rows."""
        # One task after the other: a step sees the lines of the left side first.
        frames = [self.frames[spec.HANDS.index(hand)] for hand in hands]
        return [line for frame in frames for line in frame.between(first, past, most)]

    def run(
        self,
        memory: bucket.Memory,
        lines: Sequence[bucket.Line],
        clock: int = 0,
        position: int = BEFORE,
    ) -> Played:
        """Returns what a step makes of lines, or raises what fails the join.

        Where somebody asks for the time a heartbeat tells it.
        """
        is_pause = not lines
        if self.settings.reads_clock:
            # So the bucket learns the time also where no row came.
            lines = [*lines, bucket.Line._make(heartbeat(LABEL, clock))]
        delivery = self.delivery(lines, self.schemas)
        try:
            ran = bucket.run_batch(self.settings, memory, delivery)
        except TooManyError as error:
            most = f"at most {self.settings.picks.most}"
            raise LimitError(str(error), most) from error
        blobs = [blob for blob, *_ in ran.lines() if blob is not None]
        names = tuple(map(bucket.shown_names, self.schemas))
        rows = [
            row
            for blob in blobs
            for row in outlets.output_rows(bucket.unpacked(blob, self.schema), names)
        ]
        return Played(position, ran.stepped, rows, is_pause=is_pause)

    def delivery(
        self, lines: Sequence[bucket.Line], schemas: tuple[pa.Schema, pa.Schema]
    ) -> bucket.Delivery:
        """Returns lines as a bucket gets them, with what they cannot say."""
        delivery = bucket.read_delivery(lines, schemas)
        parcels = []
        for parcel in delivery.parcels:
            report = parcel.report
            # Lines have no room for it; on a stream it comes by a way of its own.
            known = self.frames[report.hand].told.get(report.position)
            if known is None:
                parcels.append(parcel)
            else:
                stopped = replace(report, stopped=known.stopped)
                parcels.append(replace(parcel, report=stopped, lives=known.lives))
        return replace(delivery, parcels=parcels)


@dataclass(frozen=True, slots=True)
class Played:
    """What one step has given: during which event, or while time passed before it."""

    position: int
    stepped: Stepped
    rows: list[outlets.OutputRow]
    is_pause: bool


def steps(stage: Stage, memory: bucket.Memory) -> Iterator[Played]:
    """Gives the steps of a play after its start, one an event, or one each side."""
    # In order of arrival a row of a self-join comes to one side after the other; on the
    # event clock both are there at once.
    turns = [(hand,) for hand in spec.HANDS] if stage.is_arrival else [spec.HANDS]
    for first, past in pairwise((0, *stage.ends)):
        position, clock = past - 1, stage.events[first].clock
        # Time passes before the rows of the event come.
        if stage.settings.reads_clock:
            yield stage.run(memory, (), clock, position)
        for hands in turns:
            lines = stage.between(first, past, hands=hands)
            if lines:
                yield stage.run(memory, lines, clock, position)


class InPlace:
    """The state as the step has left it, never written: `Memory` for one play."""

    def __init__(self, stage: Stage) -> None:
        """Starts with nothing."""
        self.state: state.JoinState = state.new_state(stage.schemas)

    def load(self, _parcels: list[Parcel], _now: int) -> state.JoinState:
        """Returns the state as the last step left it."""
        return self.state

    def save(self, stepped: Stepped) -> store.Saved:
        """Keeps what a step leaves behind."""
        self.state = stepped.state()
        left, right = (
            store.Amount(
                len(self.state.alive[hand]) + len(self.state.waiting[hand]),
                len(self.state.waiting[hand]),
                int(np.count_nonzero(~kept[: stepped.present.old[hand]])),
                0,
            )
            for hand, kept in enumerate(stepped.kept)
        )
        return store.Saved(0, (left, right))


def batch_rows(stage: Stage) -> list[outlets.OutputRow]:
    """Returns what comes out of a batch, in the order of the left rows.

    What takes no part comes before all.
    """
    found = stage.run(InPlace(stage), stage.everything()).rows
    # The step lets them out side by side; here they stand as they came.
    late = [row for row in found if row.outlet is spec.Outlet.LATE]
    others = [row for row in found if row.outlet is not spec.Outlet.LATE]

    def came(row: outlets.OutputRow) -> tuple[int, int]:
        left, right = row.numbers
        hand, number = (1, right) if left is None else (0, left)
        place = int(stage.frames[hand].place[number])
        # What is there from the start stands side by side, in front of all events.
        return (hand if place < 0 else len(stage.frames)), place

    return [*sorted(late, key=came), *others]
