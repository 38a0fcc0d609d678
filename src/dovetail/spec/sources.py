"""What the rows of a side are, wherever they come from: an input or another join."""

from __future__ import annotations

from typing import assert_never

from dovetail.schema import Column, Schema
from dovetail.spec.inputs import Input, InputKind, Inputs
from dovetail.spec.join import (
    HANDS,
    AllColumns,
    Clock,
    Columns,
    Hand,
    JoinSpec,
    Named,
    Nested,
    SetJoinSpec,
    Side,
)
from dovetail.spec.windows import (
    Between,
    Forever,
    HopSize,
    HopUnit,
    Latest,
    Range,
)

Source = Named | Nested


def source_names(join: JoinSpec | SetJoinSpec) -> tuple[str, ...]:
    """Returns the inputs of a join, those of the joins inside it among them."""
    if isinstance(join, SetJoinSpec):
        return join.sets
    names: list[str] = []
    for hand in HANDS:
        match join.side(hand).source:
            case Named(name):
                names.append(name)
            case Nested(inner):
                names.extend(source_names(inner))
    return tuple(dict.fromkeys(names))


def known_input(source: Source, inputs: Inputs) -> Input:
    """Returns the input of a side; the rows of a join are one without columns."""
    match source:
        case Named(name):
            return inputs[name]
        case Nested(_, name):
            return Input(name, kind_of(source, inputs), Schema.of({}))
        case _:
            assert_never(source)


def schema_of_sets(join: SetJoinSpec, inputs: Inputs) -> Schema:
    """Returns the columns of all sets of a join, of one name the first."""
    found: dict[str, Column] = {}
    for name in join.sets:
        for column in inputs[name].schema.columns:
            found.setdefault(column.name.lower(), column)
    return Schema(tuple(found.values()))


def kind_of(source: Source, inputs: Inputs) -> InputKind:
    """Returns whether rows keep coming, keep changing, or are all there.

    A join gives a stream where one of its inputs is one, a changelog where one is a
    table; on the clock `batch` its rows are all there.
    """
    match source:
        case Named(name):
            return inputs[name].kind
        case Nested(JoinSpec(clock=Clock.BATCH)):
            return InputKind.DATASET
        case Nested(inner):
            kinds = {kind_of(inner.side(hand).source, inputs) for hand in HANDS}
            order = (InputKind.STREAM, InputKind.TABLE, InputKind.DATASET)
            return next(kind for kind in order if kind in kinds)
        case _:
            assert_never(source)


def is_timed(source: Source, inputs: Inputs) -> bool:
    """Tells whether the rows carry a row time; on the arrival clock results do not."""
    match source:
        case Named(name):
            return inputs[name].is_timed
        case Nested(JoinSpec(clock=Clock.ARRIVAL)):
            return False
        case Nested(JoinSpec(clock=Clock.BATCH) as inner):
            return any(_lives_in_row_time(inner.side(hand), inputs) for hand in HANDS)
        case Nested(inner):
            return any(is_timed(inner.side(hand).source, inputs) for hand in HANDS)
        case _:
            assert_never(source)


def _lives_in_row_time(side: Side, inputs: Inputs) -> bool:
    """Tells whether the rows of a side of a batch have a beginning in row time.

    What is there for ever has none, so that pairs of such rows have no row time.
    """
    if isinstance(side.window, Between):
        return True
    return side.window != Forever() and is_timed(side.source, inputs)


def is_state(join: JoinSpec, hand: Hand) -> bool:
    """Tells whether a side is the newest version of each key, as it is at the end.

    So it is on the clock `batch`; but rows that live in row time meet each version as
    long as it lives.
    """
    is_batch = join.clock is Clock.BATCH
    is_newest = is_batch and isinstance(join.side(hand).window, Latest)
    in_row_time = Range | Between | HopUnit | HopSize
    return is_newest and not isinstance(join.side(hand.other).window, in_row_time)


def columns_of(source: Source, inputs: Inputs) -> tuple[str, ...]:
    """Returns the names of the columns; none where no schema says them yet."""
    match source:
        case Named(name):
            return inputs[name].schema.names
        case Nested(inner):
            return output_names(inner, inputs)
        case _:
            assert_never(source)


def output_names(join: JoinSpec, inputs: Inputs) -> tuple[str, ...]:
    """Returns the names of a join's output columns; none where a schema is missing.

    All columns are those of the left, then those of the right with a new name; a semi
    join has the columns of its own side.
    """
    match join.select:
        case Columns(columns):
            return tuple(name for name, _ in columns)
        case AllColumns():
            return _all_names(join, inputs)
        case _:
            assert_never(join.select)


def _all_names(join: JoinSpec, inputs: Inputs) -> tuple[str, ...]:
    """Returns the columns of both sides, or of the one side that a semi join gives."""
    sides = {hand: columns_of(join.side(hand).source, inputs) for hand in HANDS}
    own = [hand for hand in HANDS if join.kind.gives_once(hand)]
    if own:
        return sides[own[0]]
    if not all(sides.values()):
        return ()
    names: dict[str, str] = {}
    for side in sides.values():
        for name in side:
            names.setdefault(name.lower(), name)
    return tuple(names.values())
