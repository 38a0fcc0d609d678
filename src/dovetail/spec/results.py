"""What a join gives: its outlets, its columns, its rows as an input of another join."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import assert_never

from dovetail.errors import DovetailError
from dovetail.expression import Expression, Scope, parse
from dovetail.schema import Column, Schema, Type, quoted
from dovetail.spec.inputs import Input, Inputs, Outlet
from dovetail.spec.join import (
    HANDS,
    AllColumns,
    Columns,
    Hand,
    JoinSpec,
    Kind,
    Named,
    Nested,
)
from dovetail.spec.sources import Source, is_timed, kind_of

ROW_TIME = "row_time"
_UNMATCHED = {Hand.LEFT: Outlet.LEFT_UNMATCHED, Hand.RIGHT: Outlet.RIGHT_UNMATCHED}


def own_outlets(join: JoinSpec) -> dict[Hand, Outlet]:
    """Returns the outlets of rows without a partner, of sides that have their own."""
    if join.ports == 1:
        return {}
    return {hand: _UNMATCHED[hand] for hand in HANDS if join.kind.preserves(hand)}


def outlets_of(join: JoinSpec) -> tuple[Outlet, ...]:
    """Returns the outlets whose rows are the result, that of matched rows first."""
    return (Outlet.MATCHED, *own_outlets(join).values())


def input_of(source: Source, inputs: Inputs, name: str) -> Input:
    """Returns an input, or the results of a join as an input of that name.

    Their row time is told with each of them, and is none of their columns.
    """
    match source:
        case Named(known):
            return inputs[known]
        case Nested(inner):
            time = ROW_TIME if is_timed(source, inputs) else ""
            schema = output_schema(inner, inputs)
            return Input(name, kind_of(source, inputs), schema, time=time)
        case _:
            assert_never(source)


def output_schema(join: JoinSpec, inputs: Inputs) -> Schema:
    """Returns the columns of a join's matched rows, with their types."""
    schemas = [input_of(join.side(hand).source, inputs, "").schema for hand in HANDS]
    scope = Scope.pair(*schemas)
    columns = selected_columns(join, dict(zip(HANDS, schemas, strict=True)))
    return Schema(
        tuple(Column(name, parse(text, scope).type) for name, text in columns)
    )


def known_types(
    expression: Expression, join: JoinSpec, inputs: Inputs
) -> Iterator[Type]:
    """Yields the type of an expression over both rows, if it is known before it runs.

    What the room of expressions does not know is left to the engine.
    """
    with suppress(DovetailError):
        schemas = [
            input_of(join.side(hand).source, inputs, hand.value).schema
            for hand in HANDS
        ]
        yield parse(expression, Scope.pair(*schemas)).type


def selected_columns(
    join: JoinSpec, schemas: Mapping[Hand, Schema]
) -> tuple[tuple[str, Expression], ...]:
    """Returns the output columns of a join with their expressions."""
    match join.select:
        case Columns(columns=columns):
            return columns
        case AllColumns():
            return _all_columns(join.kind, schemas)
        case _:
            assert_never(join.select)


def _all_columns(
    kind: Kind, schemas: Mapping[Hand, Schema]
) -> tuple[tuple[str, Expression], ...]:
    """Returns all columns of the left, then those of the right with a new name.

    A semi join sees its own side only.
    """
    found: dict[str, tuple[str, Expression]] = {}
    for hand in HANDS:
        if kind.gives_once(hand.other):
            continue
        for name in schemas[hand].names:
            column = Expression(f"{hand.letter}.{quoted(name)}")
            found.setdefault(name.lower(), (name, column))
    return tuple(found.values())
