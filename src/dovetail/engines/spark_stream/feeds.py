"""A side's DataFrame on its way to the packer: keys, row time, place, payload.

What a row's key, place and partition are says the plan, in SQL. Spark computes them
beside the columns that the row keeps, so that no worker evaluates an expression.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import DataType

from dovetail.engines.spark_stream.types import arrow_of, packed
from dovetail.engines.spark_stream.worker.pack import PackSettings
from dovetail.kernels.arrays.names import hidden, reserved
from dovetail.plan.stream import StreamPlan, StreamSide
from dovetail.schema import AtomicType, quoted
from dovetail.spec.join import HANDS

CODE, PARTITION, MOMENT, POSITION, EVENT, SCOPE, NOW = (
    reserved("code"),
    reserved("partition"),
    reserved("moment"),
    reserved("position"),
    reserved("event"),
    reserved("scope"),
    reserved("now"),
)
BATCH_TIME = "unix_micros(current_timestamp())"
"""The batch's own time, which Spark keeps in its log: a repeated batch has the same."""
_FIELDS = {
    "code": CODE,
    "partition": PARTITION,
    "moment": MOMENT,
    "position": POSITION,
    "event": EVENT,
    "scope": SCOPE,
    "now": NOW,
}


@dataclass(frozen=True, slots=True)
class Packing:
    """A frame ready to be packed, how to pack it, the payload, its types before."""

    frame: DataFrame
    settings: PackSettings
    schema: pa.Schema
    types: Mapping[str, DataType]


@dataclass(frozen=True, slots=True)
class Buckets:
    """The labels of all buckets, so many of them for each scope."""

    labels: tuple[int, ...]
    per_scope: int


def packings(
    plan: StreamPlan,
    frames: tuple[DataFrame, DataFrame],
    buckets: Buckets,
    *,
    with_events: bool = False,
) -> tuple[Packing, Packing]:
    """Returns both sides ready to be packed.

    With events the frames have the columns EVENT, MOMENT (of bounds) and SCOPE: lines
    may be deletes, bounds and ends, and belong to one of several plays.
    """
    # By the batch's own time silence is measured, of either side.
    now = BATCH_TIME if plan.heeds_silence else ""
    left, right = (
        _packing(side, frame, buckets, _controls(side, now, with_events=with_events))
        for side, frame in zip(plan.sides, frames, strict=True)
    )
    return left, right


def _controls(side: StreamSide, now: str, *, with_events: bool) -> dict[str, str]:
    """Returns the SQL of what pack must know of a row, empty where it need not.

    A bound brings a row time of its own.
    """
    moment = quoted(MOMENT) if with_events else ""
    if side.is_timed:
        own = f"unix_micros({side.hand.letter}.{quoted(side.source.time)})"
        moment = f"coalesce({moment}, {own})" if with_events else own
    return {
        CODE: side.keys.code,
        PARTITION: partition_code(side),
        MOMENT: moment,
        POSITION: side.place,
        EVENT: quoted(EVENT) if with_events else "",
        SCOPE: quoted(SCOPE) if with_events else "",
        NOW: now,
    }


def partition_code(side: StreamSide) -> str:
    """Returns the SQL of a window's partition, empty where it has none."""
    # Spark's hash passes over nulls, so each value is hashed with whether it is null.
    parts = [f"({part}) IS NULL, {part}" for part in side.partition]
    return f"xxhash64({', '.join(parts)})" if parts else ""


def _packing(
    side: StreamSide, frame: DataFrame, buckets: Buckets, controls: Mapping[str, str]
) -> Packing:
    """Returns one side ready to be packed."""
    letter, schema = side.hand.letter, side.source.schema
    types = {field.name: field.dataType for field in frame.schema}
    payload = {
        name: packed(f"{letter}.{quoted(name)}", types[name]) for name in schema.names
    }
    # A column that holds a key's code or a row time as it is goes by once.
    held, time = {CODE: side.keys.column}, side.source.time
    if time and not controls[EVENT] and schema[time].type is AtomicType.TIMESTAMP:
        held[MOMENT] = time
    held = {name: own for name, own in held.items() if own in payload}
    payload |= {
        hidden(f"{number}"): key for number, key in enumerate(side.keys.compared)
    }
    if controls[SCOPE]:
        payload[SCOPE] = controls[SCOPE]
    used = {name: held.get(name, name) for name, sql in controls.items() if sql}
    extra = {own: controls[name] for name, own in used.items() if own not in payload}
    selected = [F.expr(sql).alias(name) for name, sql in {**extra, **payload}.items()]
    chosen = frame.alias(letter).select(*selected)
    settings = PackSettings(
        hand=HANDS.index(side.hand),
        labels=buckets.labels,
        per_scope=buckets.per_scope,
        lateness=side.source.lateness,
        timed=side.is_timed,
        payload=tuple(payload),
        **{field: used.get(name, "") for field, name in _FIELDS.items()},
    )
    kinds = {field.name: arrow_of(field.dataType) for field in chosen.schema}
    shown = pa.schema([(name, kinds[name]) for name in settings.payload])
    return Packing(chosen, settings, shown, types)
