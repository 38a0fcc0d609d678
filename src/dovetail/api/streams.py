"""Rows with what a join must know of them: their time, their order, their window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame

from dovetail import spec
from dovetail.api.defaults import (
    Key,
    all_columns,
    chosen,
    clock_of,
    equalities,
    keys_of,
    kind_named,
    suffixes_of,
)
from dovetail.api.joined import Joined
from dovetail.api.picks import EVERY, picks_of
from dovetail.api.terms import refuse_on_streams, refuse_terms
from dovetail.api.wording import words_of_python
from dovetail.bind.schemas import frame_given, refuse_reserved, schema_of
from dovetail.errors import SchemaError, SpecError
from dovetail.expression import Expression
from dovetail.plan.stream import Feed, refuse_unbounded
from dovetail.schema import AtomicType, Schema, quoted
from dovetail.spec import arguments
from dovetail.spec.arguments import columns
from dovetail.spec.calls import missing, public
from dovetail.spec.defaults import complete
from dovetail.spec.rules import check_spec

_INSTANT = spec.Span(0, 1)
_WHOLE = (AtomicType.TINYINT, AtomicType.SMALLINT, AtomicType.INT, AtomicType.BIGINT)


@dataclass(frozen=True, slots=True)
class Rows:
    """One side of a join to be: a DataFrame, its time, how it comes, and its window."""

    frame: DataFrame
    source: spec.Input
    feed: Feed
    kept: spec.Window = spec.Unstated()
    per: tuple[str, ...] = ()

    def __repr__(self) -> str:
        """Returns the rows in one line: their columns, time and window."""
        parts = [f"{self.source.kind.value} ({', '.join(self.source.schema.names)})"]
        facts = {
            "time": self.source.time,
            "key": ", ".join(self.source.key),
            "order": self.feed.order,
            "sequence": self.feed.sequence,
            "window": "" if self.kept == spec.Unstated() else repr(self.kept),
            "per": ", ".join(self.per),
        }
        parts += [f"{name} {fact}" for name, fact in facts.items() if fact]
        return ", ".join(parts).replace("\n", " ")

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Refuses what only a join, or a DataFrame, can be asked for."""
            hint = "the rows are a DataFrame: rows.frame; a join of them: rows.join(..)"
            raise missing("rows", name, dir(type(self)), hint)

    @public
    def window(self, window: spec.Window, *, per: str | Sequence[str] = ()) -> Rows:
        """Returns the same rows, alive as the window says, for each `per` apart."""
        kept, schema = window_given(window), self.source.schema
        if isinstance(kept, spec.Latest):
            columns("key", kept.key, schema, 'dt.latest("id")')
        parts = columns("per", per, schema, 'per="customer"')
        return replace(self, kept=kept, per=parts)

    @public
    def join(
        self,
        other: Rows,
        *,
        on: str | Sequence[Key] = (),
        where: str = "true",
        how: str = "inner",
        keep: int = 0,
        asof: spec.AsOf | spec.Unlimited = EVERY,
        select: Mapping[str, str] | None = None,
        suffixes: tuple[str, str] = ("", ""),
        unmatched: str = "joined",
        unbounded: bool = False,
    ) -> Joined:
        """Returns the join of these rows (`l`) with others (`r`); nothing runs yet.

        `on`: equal columns, or pairs of a left and a right name. `where`: a further
        condition in Spark SQL over `l` and `r`. `keep=3` gives the first three pairs of
        a left row, `asof=dt.asof(..)` the one nearest in time. `unmatched="outlet"`
        lets rows without a partner leave by their own outlet. `unbounded` allows state
        without a bound.
        """
        sides = dict(zip(spec.HANDS, (self, _rows_given(other)), strict=True))
        _refuse_half_a_sequence(sides)
        wish = _Wish.of(sides, kind_named(how), on, where)
        shown = _columns(sides, wish, select, suffixes)
        ports, picks = _ports(unmatched, wish.kind), picks_of(keep, asof)
        join = _join_spec(sides, replace(wish, columns=shown, ports=ports, picks=picks))
        inputs = {_name(hand): _source(hand, side) for hand, side in sides.items()}
        join = complete(join, inputs)
        refuse_terms(join, inputs)
        with words_of_python():
            check_spec(join, inputs, spec.Settings())
        if any(side.feed.streams for side in sides.values()):
            refuse_on_streams(join, inputs)
        if not arguments.truth("unbounded", unbounded):
            refuse_unbounded(join, {hand: inputs[_name(hand)] for hand in spec.HANDS})
        frames = {hand: side.frame for hand, side in sides.items()}
        feeds = {hand: side.feed for hand, side in sides.items()}
        return Joined(join, inputs, frames, feeds)


Sides = Mapping[spec.Hand, Rows]


@dataclass(frozen=True, slots=True)
class _Wish:
    """What a user asks of a join."""

    keys: Sequence[Key]
    where: str
    kind: spec.Kind
    columns: spec.Columns = spec.Columns(())
    ports: int = 1
    picks: spec.Picks = spec.Picks()

    @classmethod
    def of(cls, sides: Sides, kind: spec.Kind, on: object, where: str) -> _Wish:
        """Returns the condition that is asked for, or refuses what makes no sense."""
        schemas = {hand: side.source.schema for hand, side in sides.items()}
        keys = keys_of(on, schemas)
        arguments.text(
            "where", where, "a condition as a text", 'where="l.amount < r.amount"'
        )
        for name, value, is_said in (
            ("on", on, keys),
            ("where", where, where != "true"),
        ):
            if is_said and kind is spec.Kind.CROSS:
                hint = f'how="inner" takes {name}; a cross join has every pair'
                raise arguments.wrong(
                    name, value, f'no {name} beside how="cross"', hint
                )
        for reference in spec.references(Expression(where)):
            schema = schemas[reference.hand]
            if reference.column not in schema:
                raise arguments.no_column("where", where, reference.column, schema)
        return cls(keys, where, kind)


@public
def stream(
    frame: DataFrame,
    *,
    time: str = "",
    lateness: arguments.Length = "0 seconds",
    idle: arguments.Length = "",
    order: str = "",
    sequence: str = "",
) -> Rows:
    """Returns the rows of a stream, ready for `window` and `join`.

    `time`: the column of the row time. `lateness`: how far a row may come behind the
    newest and still count. `idle`: after how long a silence the stream no longer holds
    the other back. `order`: a number that tells rows of equal time apart; `sequence`:
    one that orders the rows of both sides.
    """
    late = arguments.length("lateness", lateness, least=spec.NO_TIME)
    wait = (
        spec.NO_TIME if idle == "" else arguments.length("idle", idle, least=_INSTANT)
    )
    source = _input(frame, spec.InputKind.STREAM, time=time, lateness=late)
    for name, given, span in (("lateness", lateness, late), ("idle", idle, wait)):
        if span != spec.NO_TIME and not source.is_timed:
            hint = f'name the column of the row time: time="..", or leave {name} out'
            raise arguments.wrong(name, given, "a time beside it", hint)
    if not wait.is_exact:
        hint = 'a month has no length of its own: write for example idle="30 days"'
        raise arguments.wrong("idle", idle, "a length that is always the same", hint)
    place = _place("order", order, source.schema)
    common = _place("sequence", sequence, source.schema)
    if place and common:
        hint = "sequence alone orders the rows of both sides"
        raise arguments.wrong("order", order, "no order beside sequence", hint)
    feed = Feed(place, common, wait, streams=frame.isStreaming)
    return Rows(frame, source, feed)


@public
def table(
    frame: DataFrame, *, key: str | Sequence[str], time: str = "", order: str = ""
) -> Rows:
    """Returns a table's rows: each is the newest version of its key, until the next."""
    schema = schema_of(frame_given("frame", frame))
    keys = columns("key", key, schema, 'key="id"')
    if not keys:
        raise arguments.wrong(
            "key", key, "at least one column", 'write for example key="id"'
        )
    source = _input(frame, spec.InputKind.TABLE, time=time, key=keys)
    feed = Feed(_place("order", order, schema), streams=frame.isStreaming)
    return Rows(frame, source, feed, kept=spec.Latest(keys))


@public
def dataset(frame: DataFrame, *, time: str = "") -> Rows:
    """Returns rows that are all there from the start."""
    source = _input(frame, spec.InputKind.DATASET, time=time)
    return Rows(frame, source, Feed(streams=frame.isStreaming))


def _input(
    frame: DataFrame,
    kind: spec.InputKind,
    *,
    time: str,
    key: tuple[str, ...] = (),
    lateness: spec.Span = spec.NO_TIME,
) -> spec.Input:
    """Returns what is known of a DataFrame as an input."""
    schema = schema_of(frame_given("frame", frame))
    if kind is spec.InputKind.STREAM and not frame.isStreaming:
        kind = spec.InputKind.DATASET
    return spec.Input("", kind, schema, key, _time(time, schema), lateness)


def _time(time: str, schema: Schema) -> str:
    """Returns the column of the row time, if one is named: it is a timestamp."""
    if time == "":
        return ""
    expected = "the name of a column with timestamps"
    name = arguments.text("time", time, expected, 'time="placed_at"')
    if name not in schema:
        raise arguments.no_column("time", time, name, schema)
    kind = schema[name].type
    if kind not in {AtomicType.TIMESTAMP, AtomicType.TIMESTAMP_NTZ}:
        raise SchemaError(
            f'time="{name}" is a column of the type {kind}',
            "a column with timestamps",
            "cast it in the frame, as with timestamp_millis(..) of a number",
        )
    return name


def _place(name: str, given: str, schema: Schema) -> str:
    """Returns what rows are ordered by, if anything: SQL that gives a whole number."""
    if given == "":
        return ""
    expected = "a column, or SQL over columns, that is a whole number"
    arguments.text(name, given, expected, f'{name}="offset"')
    column = spec.plain_column(Expression(given))
    if not column:
        return given
    if column not in schema:
        raise arguments.no_column(name, given, column, schema)
    if schema[column].type not in _WHOLE:
        hint = f'make it one, as in {name}="CAST({column} AS BIGINT)"'
        found = f'{name}="{given}" is a column of the type {schema[column].type}'
        raise SchemaError(found, expected, hint)
    return given


def window_given(window: object) -> spec.Window:
    """Returns the window that a user gives, or refuses another thing."""
    if isinstance(window, spec.Range | spec.Rows | spec.Latest | spec.Forever):
        return window
    span = arguments.told(window) if isinstance(window, str) else '"10 minutes"'
    hint = f"write for example dt.range(preceding={span})"
    expected = "one of dt.range, dt.rows, dt.latest and dt.forever"
    raise arguments.wrong("window", window, expected, hint)


def _rows_given(other: object) -> Rows:
    """Returns the other side that a user gives, or refuses another thing."""
    if isinstance(other, Rows):
        return other
    hint = 'write for example orders.join(dt.stream(frame, time="paid_at"), on="id")'
    expected = "rows of dt.stream, dt.table or dt.dataset"
    raise arguments.wrong("other", other, expected, hint)


def _columns(
    sides: Sides,
    wish: _Wish,
    select: Mapping[str, str] | None,
    suffixes: tuple[str, str],
) -> spec.Columns:
    """Returns the output columns: those that are asked for, or all."""
    endings = suffixes_of(suffixes)
    if select is None:
        schemas = {hand: side.source.schema for hand, side in sides.items()}
        return all_columns(schemas, wish.kind, wish.keys, endings)
    if any(endings):
        hint = "names in select are as they stand there"
        raise arguments.wrong("suffixes", suffixes, "none beside select", hint)
    shown = chosen(select)
    refuse_reserved("select has", select)
    return shown


def _refuse_half_a_sequence(sides: Sides) -> None:
    """Refuses a sequence on one side only: it orders the rows of both."""
    for hand, side in sides.items():
        if side.feed.sequence and not sides[hand.other].feed.sequence:
            raise SpecError(
                f"the {hand.value} side has a sequence and the other side has none",
                "sequence=... on both sides",
                "order=... is for a number that only one side has",
            )


def _name(hand: spec.Hand) -> str:
    """Returns the name of the input on a hand."""
    return hand.value


def _source(hand: spec.Hand, side: Rows) -> spec.Input:
    """Returns a side's input under its hand's name."""
    return replace(side.source, name=_name(hand))


def _join_spec(sides: Sides, wish: _Wish) -> spec.JoinSpec:
    """Returns the join of two sides that a user asks for."""
    left, right = (
        spec.Side(
            spec.Named(_name(hand)),
            sides[hand].kept,
            tuple(Expression(quoted(name)) for name in sides[hand].per),
        )
        for hand in spec.HANDS
    )
    clock = clock_of(
        (left.window, right.window),
        timed=all(side.source.is_timed for side in sides.values()),
        streaming=any(side.feed.streams for side in sides.values()),
    )
    return spec.JoinSpec(
        left,
        right,
        wish.kind,
        clock,
        hard=equalities(wish.keys),
        soft=Expression(wish.where),
        select=wish.columns,
        ports=wish.ports,
        picks=wish.picks,
    )


def _ports(unmatched: str, kind: spec.Kind) -> int:
    """Returns how many outlets matched and unmatched rows leave by."""
    preserved = sum(kind.preserves(hand) for hand in spec.HANDS)
    if arguments.word("unmatched", unmatched, ("joined", "outlet")) == "joined":
        return 1
    if not preserved:
        raise SpecError(
            f"a join of the kind {kind.value} has no unmatched rows",
            'unmatched="joined"',
            'how="left", "right" or "full" preserves unmatched rows',
        )
    return 1 + preserved
