"""A side's DataFrame on its way to the packer: keys, row time, place, payload.

What a row's key, place and partition are says the plan, in SQL. Spark computes them
beside the columns that the row keeps, so that no worker evaluates an expression. Behind
those stand hidden columns, which never come out: whole numbers that windows, picks and
changelogs look at, each only where the join asks for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.types import DataType

from dovetail import schema, spec
from dovetail.bind.failures import refused_by_spark
from dovetail.engines.kernel_settings import key_of
from dovetail.engines.spark_stream.types import arrow_of, packed
from dovetail.engines.spark_stream.worker import relay
from dovetail.engines.spark_stream.worker.pack import PackSettings
from dovetail.errors import UnsupportedError
from dovetail.expression import ALWAYS, Expression, Scope, parse
from dovetail.kernels.arrays.names import (
    BAD,
    CLOCK,
    END,
    PLACE,
    START,
    TURN,
    LineKind,
    hidden,
    reserved,
)
from dovetail.kernels.arrays.rows import BEGINNING, MISSING, NEVER
from dovetail.kernels.arrival.time_limits import KEYLESS
from dovetail.kernels.lifetimes.lives import HANDED
from dovetail.kernels.lifetimes.measures import fits, names_of
from dovetail.kernels.row_order import BESIDE
from dovetail.kernels.settings import EARLY_TIME, Closing, JoinSettings
from dovetail.kernels.tables.changelog import KEY
from dovetail.plan.keys import hash_of
from dovetail.plan.stream import StreamPlan, StreamSide

CODE, PARTITION, POSITION, NOW, BARRED, MEASURED, SOURCE_PART = (
    reserved("code"),
    reserved("partition"),
    reserved("position"),
    reserved("now"),
    reserved("barred"),
    reserved("measured"),
    reserved("source_part"),
)
BATCH_TIME = "unix_micros(current_timestamp())"
"""The batch's own time, which Spark keeps in its log: a repeated batch has the same."""
_REFUSED = "Spark refuses what is computed of the rows of the {} side"
_EXPECTED = (
    "SQL over columns, of each row by itself",
    "it stands in the window, the key or the order of that side",
)
_FIELDS = {
    "code": CODE,
    "partition": PARTITION,
    "moment": relay.MOMENT,
    "position": POSITION,
    "event": relay.EVENT,
    "scope": relay.SCOPE,
    "now": NOW,
    "barred": BARRED,
    "measured": MEASURED,
    "passed": relay.BLOB,
    "join": relay.JOIN,
    "part": SOURCE_PART,
    "beside": BESIDE,
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
    """The labels of all buckets, so many of them for each scope.

    `lives` are those in front of them, one a scope, where the join asks for them.
    """

    labels: tuple[int, ...]
    per_scope: int
    lives: tuple[int, ...] = ()

    @property
    def by_scope(self) -> tuple[tuple[int, ...], ...]:
        """Returns the buckets of each scope, those in front of them too."""
        starts = enumerate(range(0, len(self.labels), self.per_scope))
        return tuple(
            (*self.labels[at : at + self.per_scope], *self.lives[scope : scope + 1])
            for scope, at in starts
        )


def packings(
    plan: StreamPlan,
    settings: JoinSettings,
    frames: tuple[DataFrame, DataFrame],
    buckets: Buckets,
    *,
    with_events: bool = False,
) -> tuple[Packing, Packing]:
    """Returns both sides ready to be packed.

    With events the frames have the columns EVENT, MOMENT (of bounds), SCOPE and NOW:
    lines may be deletes, bounds and ends, and belong to one of several plays. The rows
    of a join inside always have the first two, and what that join passes on.
    """
    left, right = (
        _packing(_Columns(plan, side, settings, with_events), frame, buckets)
        for side, frame in zip(plan.sides, frames, strict=True)
    )
    return left, right


def partition_code(side: StreamSide) -> str:
    """Returns the SQL of a window's partition, empty where it has none."""
    return _hash_of(side.partition, side.source)


def kind_of(deletes: str, bounds: str) -> str:
    """Returns the SQL of what a row of a user's frame is, by what is true of it."""
    kinds = {LineKind.DELETE: deletes, LineKind.BOUND: bounds}
    cases = (f"WHEN {sql} THEN {int(kind)}" for kind, sql in kinds.items() if sql)
    return f"CASE {' '.join(cases)} ELSE {int(LineKind.ROW)} END"


def _hash_of(texts: Iterable[str], source: spec.Input) -> str:
    """Returns the SQL of a hash of expressions over a row, empty without any."""
    scope = Scope.row(source.schema)
    typed = [parse(Expression(text), scope) for text in texts]
    return hash_of((one.text, one.type) for one in typed)


@dataclass(frozen=True, slots=True)
class _Columns:
    """What a side's frame has for the packer beside the user's columns, as SQL."""

    plan: StreamPlan
    side: StreamSide
    settings: JoinSettings
    with_events: bool

    @property
    def now(self) -> str:
        """Returns the processing time at which a line has come.

        On lines with events the other side tells it of the rows of a join.
        """
        if self.comes_by_turns:
            return f"coalesce({schema.quoted(CLOCK)}, {_number(0)})"
        if self.with_events and self.is_relayed:
            return _number(0)
        return schema.quoted(NOW) if self.with_events else BATCH_TIME

    @property
    def comes_by_turns(self) -> bool:
        """Tells whether the rows are those of a join in order of arrival."""
        inside = self.plan.inside.get(self.side.hand)
        is_arrival = inside is not None and inside.join.clock is spec.Clock.ARRIVAL
        return is_arrival or self.side.feed.by_turns

    @property
    def is_in_order(self) -> bool:
        """Tells whether rows meet in a sequence that is told, whatever their times."""
        plan = self.plan
        is_told = plan.arrival is spec.Arrival.SEQUENCE
        return is_told and plan.join.clock is spec.Clock.ARRIVAL

    @property
    def is_relayed(self) -> bool:
        """Tells whether lines, or some of them, are those that a join hands on."""
        return self.side.hand in self.plan.inside or self.side.feed.by_turns

    @property
    def time(self) -> str:
        """Returns the own row time in microseconds, empty where rows have none."""
        source = self.side.source
        own = f"{self.side.hand.letter}.{schema.quoted(source.time)}"
        return f"unix_micros({own})" if source.is_timed else ""

    def controls(self) -> dict[str, str]:
        """Returns what pack must know of a row, empty where it need not.

        A bound brings a row time of its own.
        """
        is_inside = self.is_relayed
        has_bounds = self.with_events or is_inside
        moment = schema.quoted(relay.MOMENT) if has_bounds else ""
        if self.comes_by_turns:
            moment = f"coalesce({moment}, {schema.quoted(PLACE)})"
        elif self.side.is_timed:
            moment = f"coalesce({moment}, {self.time})" if moment else self.time
        # By the processing time silence is measured, of either side.
        has_clock = self.plan.heeds_silence or self.settings.reads_clock
        has_events = has_bounds or not self.side.feed.streams
        event = schema.quoted(relay.EVENT) if has_events else ""
        if (self.side.feed.deletes or self.side.feed.bounds) and not has_events:
            event = kind_of(self.side.feed.deletes, self.side.feed.bounds)
        # Left rows alone have a condition of their own among the picks.
        barring = self.plan.join.picks.left_condition
        is_barred = self.side.hand is spec.Hand.LEFT and barring != ALWAYS
        # Places of rows cost a hash of each, which few joins ask for.
        number = spec.HANDS.index(self.side.hand)
        is_shown = self.settings.gathers or self.settings.shows_order(number)
        return {
            CODE: self.side.keys.code,
            PARTITION: partition_code(self.side),
            relay.MOMENT: moment,
            POSITION: self._position() if has_bounds or is_shown else "",
            relay.EVENT: event,
            relay.SCOPE: schema.quoted(relay.SCOPE) if self.with_events else "",
            NOW: self.now if has_clock else "",
            BARRED: f"IF({barring.text}, 0, 1)" if is_barred else "",
            MEASURED: self.delta.by.text if self.delta else "",
            relay.BLOB: schema.quoted(relay.BLOB) if is_inside else "",
            relay.JOIN: schema.quoted(relay.JOIN) if is_inside else "",
            SOURCE_PART: self.side.feed.part if not has_events else "",
        }

    @property
    def delta(self) -> spec.Delta | None:
        """Returns the window if it measures its rows."""
        window = self.plan.join.side(self.side.hand).window
        return window if isinstance(window, spec.Delta) else None

    def hidden(self) -> dict[str, str]:
        """Returns what the kernels look at of a row, by their names for it."""
        found = dict(self._intervals())
        found |= {
            hidden(f"{number}"): key
            for number, key in enumerate(self.side.keys.compared)
        }
        number = spec.HANDS.index(self.side.hand)
        if self.settings.sides[number].closing is Closing.ROW_TIME:
            # A null in any of them keeps a row from being a candidate.
            is_left = self.side.hand is spec.Hand.LEFT
            keys = [
                one.left if is_left else one.right for one in self.plan.join.counted
            ]
            nulls = " OR ".join(f"({key.text}) IS NULL" for key in keys)
            found[KEYLESS] = f"CAST(({nulls or 'FALSE'}) AS BIGINT)"
        if self.settings.reads_clock or self.settings.caused:
            found[CLOCK] = self.now
        if self.settings.caused:
            found[PLACE] = self._position()
        if self.comes_by_turns:
            found[TURN] = schema.quoted(TURN)
        if self.settings.sides[number].inherits:
            found |= {name: schema.quoted(name) for name in HANDED.names}
        if self.settings.takes_back:
            found[EARLY_TIME] = _number(MISSING)
        if self.settings.changelog:
            # Without a key each row of a table has its own.
            named = key_of(self.plan.join.side(self.side.hand), self.side.source)
            found[KEY] = _hash_of(named, self.side.source) or self._position()
        return found

    def _intervals(self) -> Mapping[str, str]:
        """Returns the two moments between which rows live, and which name bad ones.

        Bad for any window of an input is bad for all; a row without the time of its
        input takes no part anyway.
        """
        window = self.plan.join.side(self.side.hand).window
        lacks_time = f"{self.time} IS NULL" if self.time else "FALSE"
        found: dict[str, str] = {}
        bad = []
        for interval in self.side.source.intervals:
            start, end = (
                f"unix_micros(CAST({one.text} AS TIMESTAMP))" for one in interval
            )
            bad += [f"({start}) IS NULL", f"({end}) IS NULL", f"({end}) < ({start})"]
            bad += [f"({start}) < ({self.time})"] if self.time else []
            if interval == window.interval:
                for name, moment, stands in (
                    (START, start, BEGINNING),
                    (END, end, NEVER),
                ):
                    known = f"coalesce({moment}, {_number(MISSING)})"
                    found[name] = f"IF({lacks_time}, {_number(stands)}, {known})"
        if bad:
            # Deletes and bounds bring no interval, and none is asked of them.
            is_bad = f"NOT ({lacks_time}) AND ({' OR '.join(bad)})"
            found[BAD] = f"CAST(coalesce({is_bad}, FALSE) AS BIGINT)"
        return found

    def _position(self) -> str:
        """Returns where a row stands; the copy of a table has places of its own."""
        return self.side.place if self.side.feed.streams else schema.quoted(POSITION)


def _number(value: int) -> str:
    """Returns a whole number in SQL, where the least of all has no name of its own."""
    least = value == MISSING
    return f"({value + 1}L - 1L)" if least else f"{value}L"


def _packing(columns: _Columns, frame: DataFrame, buckets: Buckets) -> Packing:
    """Returns one side ready to be packed."""
    side, controls = columns.side, columns.controls()
    letter, source = side.hand.letter, side.source
    types = {field.name: field.dataType for field in frame.schema}
    controls |= {BESIDE: schema.quoted(BESIDE)} if BESIDE in types else {}
    payload = {
        name: packed(f"{letter}.{schema.quoted(name)}", types[name])
        for name in source.schema.names
    }
    # A column that holds a key's code or a row time as it is goes by once.
    held, time = {CODE: side.keys.column}, source.time
    is_moment = time and source.schema[time].type is schema.AtomicType.TIMESTAMP
    if is_moment and not controls[relay.EVENT]:
        held[relay.MOMENT] = time
    held = {name: own for name, own in held.items() if own in payload}
    payload |= columns.hidden()
    if controls[relay.SCOPE]:
        payload[relay.SCOPE] = controls[relay.SCOPE]
    used = {name: held.get(name, name) for name, sql in controls.items() if sql}
    extra = {own: controls[name] for name, own in used.items() if own not in payload}
    selected = {**extra, **payload}.items()
    named = (f"{sql} AS {schema.quoted(name)}" for name, sql in selected)
    # One select of texts: a column that is built by itself costs calls of Java.
    with refused_by_spark(_REFUSED.format(side.hand.value), *_EXPECTED):
        chosen = frame.alias(letter).selectExpr(*named)
    settings = PackSettings(
        hand=spec.HANDS.index(side.hand),
        labels=buckets.labels,
        per_scope=buckets.per_scope,
        lives=buckets.lives,
        lateness=source.lateness,
        timed=side.is_timed,
        payload=tuple(payload),
        width=columns.delta.width if columns.delta else Decimal(0),
        ends_times=not (side.feed.streams and columns.is_in_order),
        **{field: used.get(name, "") for field, name in _FIELDS.items()},
    )
    kinds = {field.name: arrow_of(field.dataType) for field in chosen.schema}
    shown = [(name, kinds[name]) for name in settings.payload]
    if settings.measured:
        # The packer must know of two values how far they are apart.
        if not fits(kind := kinds[settings.measured]):
            raise UnsupportedError.not_yet("stream", f"a delta window by a {kind}")
        shown += [(name, pa.int64()) for name in names_of(kind)]
    return Packing(chosen, settings, pa.schema(shown), types)
