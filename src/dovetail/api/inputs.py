"""What a user says of an input: its kind, time, key and order, and how its rows come.

Without a row, and without Spark: so a job is checked before anything starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from dovetail import spec
from dovetail.errors import SchemaError, SpecError, UnsupportedError
from dovetail.expression import Expression, Scope, parse
from dovetail.plan.stream import Feed
from dovetail.schema import MOMENTS, WHOLE, AtomicType, Schema
from dovetail.spec import arguments
from dovetail.spec.rules.texts import changing_values

_HIDDEN = "_metadata"
"""Spark's own column of rows from files: no schema shows it, or its types."""


def input_given(
    kind: spec.InputKind,
    schema: Schema,
    *,
    streams: bool,
    key: tuple[str, ...] = (),
    **words: str,
) -> tuple[spec.Input, Feed]:
    """Returns what is said of the rows of an input, of whichever kind."""
    match kind:
        case spec.InputKind.STREAM:
            return stream_given(schema, streams=streams, **words)
        case spec.InputKind.TABLE:
            return table_given(schema, streams=streams, key=key, **words)
        case spec.InputKind.DATASET:
            return dataset_given(schema, streams=streams, **words)


def stream_given(
    schema: Schema,
    *,
    streams: bool,
    time: str = "",
    lateness: arguments.Length = "0 seconds",
    idle: arguments.Length = "",
    bounds: str = "",
    order: str = "",
    sequence: str = "",
) -> tuple[spec.Input, Feed]:
    """Returns what is said of rows with some columns, or refuses it."""
    late = arguments.length("lateness", lateness, least=spec.NO_TIME)
    wait = spec.NO_TIME
    if not arguments.is_unsaid(idle):
        wait = arguments.length("idle", idle, least=spec.INSTANT, is_exact=True)
    # A frame that does not stream has all its rows from the start.
    kind = spec.InputKind.STREAM if streams else spec.InputKind.DATASET
    source = _input(schema, kind, time=time, lateness=late)
    for name, given, span in (("lateness", lateness, late), ("idle", idle, wait)):
        if span != spec.NO_TIME and not source.is_timed:
            hint = f'name the column of the row time: time="..", or leave {name} out'
            raise arguments.wrong(name, given, "a time beside it", hint)
    place = _place("order", order, source.schema)
    common = _place("sequence", sequence, source.schema)
    if place and common:
        hint = "sequence alone orders the rows of both sides"
        raise arguments.wrong("order", order, "no order beside sequence", hint)
    told = _bounds_given(bounds, source)
    return source, Feed(place, common, bounds=told, idle=wait, streams=streams)


def _bounds_given(bounds: str, source: spec.Input) -> str:
    """Returns what is true of rows that are bounds, if any are: a condition in SQL."""
    expected = "a condition in Spark SQL over the stream's columns"
    example = """bounds="kind = 'heartbeat'\""""
    if not arguments.said("bounds", bounds, expected, example):
        return ""
    if not source.is_timed or source.kind is not spec.InputKind.STREAM:
        hint = "a bound is a row time: name its column, and leave bounds out of a batch"
        raise arguments.wrong("bounds", bounds, "a stream with a time", hint)
    try:
        kind = parse(Expression(bounds), Scope.row(source.schema)).type
    except (SpecError, SchemaError) as error:
        found = f"bounds={arguments.told(bounds)}: {error.found}"
        raise SpecError(found, error.expected, error.hint) from error
    if kind is not AtomicType.BOOLEAN:
        raise arguments.wrong("bounds", bounds, f"a condition, found {kind}", example)
    return bounds


def table_given(
    schema: Schema,
    *,
    streams: bool,
    key: str | Sequence[str],
    time: str = "",
    order: str = "",
    refresh: arguments.Length = "",
) -> tuple[spec.Input, Feed]:
    """Returns what is said of a table with some columns, or refuses it."""
    keys = arguments.columns("key", key, schema, 'key="id"')
    if not keys:
        raise arguments.wrong(
            "key", key, "at least one column", 'write for example key="id"'
        )
    source = _input(schema, spec.InputKind.TABLE, time=time, key=keys)
    place = _place("order", order, schema)
    again = _refresh_given(refresh, streams=streams)
    return source, Feed(place, streams=streams, refresh=again)


def dataset_given(
    schema: Schema, *, streams: bool, time: str = "", refresh: arguments.Length = ""
) -> tuple[spec.Input, Feed]:
    """Returns what is said of a data set with some columns, or refuses it."""
    source = _input(schema, spec.InputKind.DATASET, time=time)
    again = _refresh_given(refresh, streams=streams)
    return source, Feed(streams=streams, refresh=again)


def with_riders(feed: Feed, riders: Mapping[str, str]) -> Feed:
    """Returns how rows come, beside which their place, part and end go along."""
    if not riders:
        return feed
    # What a user says of the order comes before what the source tells of it.
    order = feed.order or ("" if feed.sequence else riders["order"])
    return replace(feed, order=order, part=riders["part"])


def with_deletes(feed: Feed, riders: Mapping[str, str]) -> Feed:
    """Returns how rows of a table come, of which some take their keys out."""
    return replace(with_riders(feed, riders), deletes=riders.get("deletes", ""))


def _refresh_given(refresh: arguments.Length, *, streams: bool) -> spec.Span:
    """Returns how old a copy becomes before a start makes another one, if ever."""
    if arguments.is_unsaid(refresh):
        return spec.NO_TIME
    if streams:
        hint = "leave refresh out: a streaming DataFrame is read as it goes on"
        raise arguments.wrong("refresh", refresh, "an ordinary DataFrame", hint)
    return arguments.length("refresh", refresh, least=spec.INSTANT)


def _input(
    schema: Schema,
    kind: spec.InputKind,
    *,
    time: str,
    key: tuple[str, ...] = (),
    lateness: spec.Span = spec.NO_TIME,
) -> spec.Input:
    """Returns what is known of rows as an input; its time is of timestamps."""
    expected = "the name of a column with timestamps"
    name = arguments.said("time", time, expected, 'time="placed_at"')
    if name and name not in schema:
        raise arguments.no_column("time", time, name, schema)
    if name and schema[name].type not in MOMENTS:
        raise SchemaError(
            f'time="{name}" is a column of the type {schema[name].type}',
            "a column with timestamps",
            "cast it in the frame, as with timestamp_millis(..) of a number",
        )
    return spec.Input("", kind, schema, key, name, lateness)


def _place(name: str, given: str, schema: Schema) -> str:
    """Returns what rows are ordered by, if anything: SQL that gives a whole number."""
    expected = "a column, or SQL over columns, that is a whole number"
    if not arguments.said(name, given, expected, f'{name}="offset"'):
        return ""
    column = spec.plain_column(Expression(given))
    if column and column not in schema:
        raise arguments.no_column(name, given, column, schema)
    for told in changing_values(name, Expression(given), schema.names):
        raise SpecError(told.fact({}), told.expected, told.hint)
    if _HIDDEN in given:
        return given
    try:
        kind = parse(Expression(given), Scope.row(schema)).type
    except UnsupportedError:
        return given  # what a function of Spark's own gives only Spark can tell
    except (SpecError, SchemaError) as error:
        found = f"{name}={arguments.told(given)}: {error.found}"
        raise SpecError(found, error.expected, error.hint) from error
    if kind not in WHOLE:
        hint = f'make it one, as in {name}="CAST({given} AS BIGINT)"'
        what = "a column of the type" if column else "of the type"
        found = f"{name}={arguments.told(given)} is {what} {kind}"
        raise SchemaError(found, expected, hint)
    return given
