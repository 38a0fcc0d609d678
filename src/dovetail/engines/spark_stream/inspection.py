"""What a query keeps, read from its checkpoint while it runs or rests.

    state 0   join 0   buckets 0 .. 15   left: rows, bytes, times ..   right: ..
    state 1   join 1   inside of it

Read is the last batch that is through, by Spark's state reader and in Spark's tasks:
each looks at a bucket as its operator does, and hands on counts and no rows, but those
of the key that is asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import schema, spec
from dovetail.bind.failures import cause
from dovetail.bind.travel import Carried, travel_by_value
from dovetail.engines.kernel_settings import keyed_settings
from dovetail.engines.spark.rules import plain_rules
from dovetail.engines.spark_stream import checkpoint as checkpoints
from dovetail.engines.spark_stream.fingerprint import read_identity
from dovetail.engines.spark_stream.settings import STORE
from dovetail.engines.spark_stream.worker import inspection as looking
from dovetail.errors import EngineError, SpecError
from dovetail.kernels.arrays.blobs import read_batch
from dovetail.kernels.hot import MOST
from dovetail.kernels.settings import JoinSettings
from dovetail.plan import keys
from dovetail.plan.words import title


@dataclass(frozen=True, slots=True)
class StateOfSide:
    """What is kept of one side, in a bucket or in all.

    `waiting` of the rows do not take part yet. `matched` have met somebody, None where
    the join does not remember it. Row times are from `earliest` to `latest`; no row
    before `bound` comes any more. `hot` are the keys of most rows, and how many.
    """

    rows: int = 0
    waiting: int = 0
    matched: int | None = None
    bytes: int = 0
    chunks: int = 0
    deltas: int = 0
    earliest: datetime | None = None
    latest: datetime | None = None
    bound: datetime | None = None
    hot: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class KeptRow:
    """A row of a key: the side, its columns, from when until when it lives.

    A life is told by row time, in the order of arrival by places in it; None is without
    an end, or none that is known yet.
    """

    side: str
    row: Mapping[str, object]
    since: datetime | int | None
    until: datetime | int | None
    matched: bool | None
    waits: bool


@dataclass(frozen=True, slots=True)
class StateOfJoin:
    """What one join keeps: in all, by bucket, and the rows of the key asked for.

    `held` results wait for their turn in the order of row time.
    """

    title: str
    buckets: Mapping[int, tuple[StateOfSide, StateOfSide]]
    bytes: int
    held: int
    found: tuple[KeptRow, ...] = ()

    @property
    def left(self) -> StateOfSide:
        """Returns the left side of all buckets."""
        return _together([left for left, _ in self.buckets.values()])

    @property
    def right(self) -> StateOfSide:
        """Returns the right side of all buckets."""
        return _together([right for _, right in self.buckets.values()])

    @property
    def skew(self) -> float:
        """Returns how many times as many rows as on average the largest bucket has."""
        rows = [left.rows + right.rows for left, right in self.buckets.values()]
        return max(rows) * len(rows) / sum(rows) if sum(rows) else 1.0


def _together(parts: Sequence[StateOfSide]) -> StateOfSide:
    """Returns a side of all buckets; its bound is that of the one furthest behind."""

    def known(name: str) -> list[Any]:
        return [value for one in parts if (value := getattr(one, name)) is not None]

    added = ("rows", "waiting", "bytes", "chunks", "deltas")
    # A key is in one bucket: those of most rows in all are among those of the buckets.
    hot = sorted((key for one in parts for key in one.hot), key=lambda key: -key[1])
    return StateOfSide(
        **{name: sum(known(name)) for name in added},
        matched=sum(known("matched")) if known("matched") else None,
        earliest=min(known("earliest"), default=None),
        latest=max(known("latest"), default=None),
        bound=min(known("bound"), default=None),
        hot=tuple(hot[:MOST]),
    )


def kept_by_joins(
    spark: SparkSession, path: str, key: Sequence[str | bytes]
) -> tuple[checkpoints.Checkpoint, list[StateOfJoin]]:
    """Returns what each join of a query keeps, the outermost first."""
    with plain_rules(spark, **STORE):
        # With the settings by which a query keeps its state.
        checkpoint = checkpoints.read_checkpoint(spark, path, may_be_copy=True)
        _refuse_without_state(checkpoint)
        travel_by_value()
        joins = [
            _Operator.of(spark, checkpoint, number)
            for number in range(len(checkpoint.kept))
        ]
        _refuse_key(joins, key)
        return checkpoint, [one.looked_at(key) for one in joins]


def _refuse_without_state(checkpoint: checkpoints.Checkpoint) -> None:
    """Refuses a folder of which there is nothing to tell."""
    path = checkpoint.path
    if checkpoint.is_new:
        raise EngineError(
            f'"{path}" is no checkpoint of a query: no batch has begun in it',
            "the folder that joined.write(checkpoint=..) was given",
            "of a text the folder of a query in it, as checkpoint/result",
        )
    if checkpoint.pin and checkpoint.pin.is_native:
        raise EngineError(
            f'the query of the checkpoint "{path}" keeps no state: Spark joins each '
            "batch with all of the table"
        )
    checkpoint.refuse_format()
    if not checkpoint.kept:
        raise EngineError(
            f'the checkpoint "{path}" keeps nothing yet: no batch is through',
            "a query whose first batch has ended",
        )


@dataclass(frozen=True, slots=True)
class _Operator:
    """The state of a join in a checkpoint, and what is known of the join."""

    spark: SparkSession
    path: str
    number: int
    join: spec.JoinSpec
    inputs: tuple[spec.Input, spec.Input]
    settings: JoinSettings

    @classmethod
    def of(
        cls, spark: SparkSession, checkpoint: checkpoints.Checkpoint, number: int
    ) -> _Operator:
        """Returns what a checkpoint says of one of its joins."""
        kept = checkpoint.kept[number]
        join, inputs, manner = read_identity(kept.identity)
        settings = replace(
            keyed_settings(join, inputs, manner), fingerprint=kept.fingerprint
        )
        return cls(spark, checkpoint.path, kept.operator, join, inputs, settings)

    @property
    def types(self) -> tuple[schema.Type, ...]:
        """Returns the types of the join's keys."""
        return keys.key_types(
            self.join, dict(zip(spec.HANDS, self.inputs, strict=True))
        )

    def code(self, key: Sequence[str | bytes]) -> int | None:
        """Returns the code of rows with a key; None where it is none of this join."""
        types = self.types
        if not types or len(types) != len(key):
            return None
        given = ["binary" if isinstance(one, bytes) else "string" for one in key]
        # Spark casts bytes to a text, but to no number: there they are no key.
        if any(
            one == "binary" and kind != schema.AtomicType.BINARY
            for one, kind in zip(given, types, strict=True)
        ):
            return None
        names = [f"k{number}" for number in range(len(key))]
        ddl = ", ".join(map("{} {}".format, names, given))
        # Spark hashes it, by the plan's own SQL: so it did with the rows that are kept.
        values = self.spark.createDataFrame([tuple(key)], ddl)
        # Of no whole number Spark would else make one.
        fits = (
            f"try_cast({name} AS {kind}) IS NOT NULL"
            for name, kind in zip(names, types, strict=True)
            if kind in schema.WHOLE
        )
        values = values.where(" AND ".join(["true", *fits]))
        codes = values.select(F.expr(keys.code_of(names, types).code)).collect()
        return next((int(one) for (one,) in codes if one is not None), None)

    def looked_at(self, key: Sequence[str | bytes]) -> StateOfJoin:
        """Returns what the join keeps, with the rows of a key."""
        code = self.code(key)
        codes = () if code is None else (code,)
        look = Carried(looking.make_look(self.settings, codes))

        def called(lines: Any) -> Any:  # noqa: ANN401 - Spark looks at the signature
            return look(lines)

        try:
            kept = checkpoints.state_of(self.spark, self.path, self.number)
            # The blobs of all buckets, each with its directory as one.
            blobs = kept.select("key.bucket", "user_map_key.*", "user_map_value.data")
            found = blobs.groupBy("bucket").applyInArrow(called, looking.FOUND_DDL)
            # By bucket: tasks end in any order.
            rows = sorted(found.collect())
        except Exception as error:
            raise EngineError(
                f'the state of the checkpoint "{self.path}" cannot be read: '
                f"{cause(error)}",
                "a folder as a query left it",
            ) from error
        told = {row.bucket: json.loads(row.counted) for row in rows}
        return StateOfJoin(
            title(self.join),
            {label: _sides(one["sides"]) for label, one in told.items()},
            bytes=sum(one["bytes"] for one in told.values()),
            held=sum(one["held"] for one in told.values()),
            found=tuple(
                kept
                for hand in spec.HANDS
                for row in rows
                for kept in self._rows(hand.value, row[hand.value])
            ),
        )

    def _rows(self, side: str, blob: bytes) -> Iterator[KeptRow]:
        """Gives the rows of a blob that are shown."""
        for row in read_batch(bytes(blob)).to_pylist():
            since, until, met, waits = (row.pop(name) for name in looking.LIFE)
            if self.join.clock is spec.Clock.EVENT:
                since, until = map(_at, (since, until))
            yield KeptRow(side, row, since, until, met, waits)


def _refuse_key(joins: Sequence[_Operator], key: Sequence[str | bytes]) -> None:
    """Refuses a key that is none of any join."""
    if not key or any(one.code(key) is not None for one in joins):
        return
    known = [
        f"{title(one.join)} ({', '.join(map(str, one.types))})"
        for one in joins
        if one.types
    ]
    raise SpecError(
        f'"{", ".join(map(str, key))}" is no key of what is kept',
        f"a value for each equality of {' or of '.join(known)}"
        if known
        else "no key: the join has no equality",
        "leave the key out to see what is kept of all" if known else "",
    )


def _sides(told: Sequence[Mapping[str, Any]]) -> tuple[StateOfSide, StateOfSide]:
    """Returns both sides as a bucket counts them."""
    left, right = (
        StateOfSide(
            **{name: one[name] for name in ("rows", "waiting", "matched", "bytes")},
            **{name: one[name] for name in ("chunks", "deltas")},
            earliest=_at(min(one["times"], default=None)),
            latest=_at(max(one["times"], default=None)),
            bound=_at(one["bound"]),
            hot=tuple((", ".join(values), count) for count, values in one["hot"]),
        )
        for one in told
    )
    return left, right


def _at(moment: int | None) -> datetime | None:
    """Returns a moment of microseconds as a time."""
    return None if moment is None else schema.from_microseconds(moment)
