"""A side's DataFrame on its way to the packer: keys, row time, position, payload."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import DataType

from dovetail.engines.kernel_settings import input_of, is_static
from dovetail.engines.spark_stream.keys import (
    CODE,
    PARTITION,
    KeyColumns,
    key_columns,
    partition_code,
)
from dovetail.engines.spark_stream.types import arrow_of, packed
from dovetail.engines.spark_stream.worker.pack import PackSettings
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import AtomicType, quoted
from dovetail.spec.inputs import Input, Inputs
from dovetail.spec.join import HANDS, Hand, JoinSpec

MOMENT, POSITION, EVENT, SCOPE, NOW = (
    reserved("moment"),
    reserved("position"),
    reserved("event"),
    reserved("scope"),
    reserved("now"),
)
BATCH_TIME = "unix_micros(current_timestamp())"
"""The batch's own time, which Spark keeps in its log: a repeated batch has the same."""


@dataclass(frozen=True, slots=True)
class Feed:
    """A side's rows as a streaming DataFrame.

    `position` is SQL for the row's place in its source, empty where it has none.
    With `has_events` the frame has the columns EVENT, MOMENT (of bounds) and SCOPE:
    lines may be deletes, bounds and ends, and belong to one of several plays.
    With `tells_now` the rows carry the batch's own time: silence is measured by it.
    """

    frame: DataFrame
    position: str = ""
    has_events: bool = False
    tells_now: bool = False


@dataclass(frozen=True, slots=True)
class Packing:
    """A frame ready to be packed, how to pack it, the payload, its types before.

    `position` is the SQL of a row's place in its side's order, empty where it has none.
    """

    frame: DataFrame
    settings: PackSettings
    schema: pa.Schema
    types: Mapping[str, DataType]
    position: str = ""


@dataclass(frozen=True, slots=True)
class Buckets:
    """The labels of all buckets, so many of them for each scope."""

    labels: tuple[int, ...]
    per_scope: int


def packings(
    join: JoinSpec,
    inputs: Inputs,
    feeds: tuple[Feed, Feed],
    columns: tuple[tuple[str, ...], tuple[str, ...]],
    buckets: Buckets,
) -> tuple[Packing, Packing]:
    """Returns both sides ready to be packed, with the payload columns asked for."""
    keys = key_columns(join, inputs)
    left, right = (
        _packing(
            _Seat(join, hand, input_of(join, hand, inputs), keys[number]),
            feeds[number],
            columns[number],
            buckets,
        )
        for number, hand in enumerate(HANDS)
    )
    return left, right


@dataclass(frozen=True, slots=True)
class _Seat:
    """One side of a join with its input and keys."""

    join: JoinSpec
    hand: Hand
    source: Input
    keys: KeyColumns

    @property
    def timed(self) -> bool:
        """Tells whether the side's rows live in row time."""
        return self.source.is_timed and not is_static(self.join, self.hand, self.source)


def _packing(
    seat: _Seat, feed: Feed, columns: tuple[str, ...], buckets: Buckets
) -> Packing:
    """Returns one side ready to be packed."""
    controls = _controls(seat, feed)
    types = {field.name: field.dataType for field in feed.frame.schema}
    shown = [
        (name, packed(f"{seat.hand.letter}.{quoted(name)}", types[name]))
        for name in columns
    ]
    scope = [(SCOPE, controls[SCOPE])] if feed.has_events else []
    payload = [*shown, *seat.keys.compared, *scope]
    held = _held(seat, feed, columns)
    used = {name: held.get(name, name) for name, sql in controls.items() if sql}
    extra = {
        name: controls[name] for name in used.values() if name not in dict(payload)
    }
    selected = [F.expr(sql).alias(name) for name, sql in (*extra.items(), *payload)]
    frame = feed.frame.alias(seat.hand.letter).select(*selected)
    settings = PackSettings(
        hand=HANDS.index(seat.hand),
        labels=buckets.labels,
        per_scope=buckets.per_scope,
        lateness=seat.source.lateness,
        timed=seat.timed,
        payload=tuple(name for name, _ in payload),
        **{field: used.get(name, "") for field, name in _FIELDS.items()},
    )
    return Packing(frame, settings, _schema(frame, settings), types, feed.position)


_FIELDS = {
    "code": CODE,
    "partition": PARTITION,
    "moment": MOMENT,
    "position": POSITION,
    "event": EVENT,
    "scope": SCOPE,
    "now": NOW,
}


def _controls(seat: _Seat, feed: Feed) -> dict[str, str]:
    """Returns the SQL of what pack must know of a row, empty where it need not."""
    return {
        CODE: seat.keys.code,
        PARTITION: partition_code(seat.join, seat.hand),
        MOMENT: _moment(seat, feed),
        POSITION: feed.position,
        EVENT: quoted(EVENT) if feed.has_events else "",
        SCOPE: quoted(SCOPE) if feed.has_events else "",
        NOW: BATCH_TIME if feed.tells_now else "",
    }


def _held(seat: _Seat, feed: Feed, columns: tuple[str, ...]) -> dict[str, str]:
    """Returns the payload columns that hold a key's code or a row time as they are."""
    held = {CODE: seat.keys.column}
    time = seat.source.time
    if time and not feed.has_events:
        is_instant = seat.source.schema[time].type is AtomicType.TIMESTAMP
        held[MOMENT] = time if is_instant else ""
    return {name: column for name, column in held.items() if column in columns}


def _moment(seat: _Seat, feed: Feed) -> str:
    """Returns the SQL of the row time in microseconds; a bound brings its own."""
    if not seat.timed:
        return quoted(MOMENT) if feed.has_events else ""
    own = f"unix_micros({seat.hand.letter}.{quoted(seat.source.time)})"
    return f"coalesce({quoted(MOMENT)}, {own})" if feed.has_events else own


def _schema(frame: DataFrame, settings: PackSettings) -> pa.Schema:
    """Returns the Arrow schema of the payload as the packer sees it."""
    types = {field.name: arrow_of(field.dataType) for field in frame.schema}
    return pa.schema([(name, types[name]) for name in settings.payload])
