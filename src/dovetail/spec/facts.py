"""What follows of a join and its inputs: the rows of its sides, and what it gives.

The rows of a side are an input's, or those of another join: whether they keep coming,
have a row time, which columns they have. Of the join itself: its outlets, its columns,
its rows as an input of the join around it, and the row that stands for an absent one.

A join inside another whose rows are all there from the start is a data set of its own.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import assert_never

from dovetail.errors import DovetailError
from dovetail.expression import Expression, Scope, Typed, kinds, parse
from dovetail.schema import Column, Schema, Type, blank, quoted, read_value
from dovetail.spec.inputs import (
    Clock,
    Event,
    Input,
    InputKind,
    Inputs,
    Outlet,
    Pause,
    Row,
)
from dovetail.spec.join import (
    HANDS,
    Absent,
    AllColumns,
    BlankRow,
    Columns,
    GivenRow,
    Hand,
    JoinSpec,
    Kind,
    Named,
    Nested,
    NullRow,
    Play,
    SetJoinSpec,
    Side,
)
from dovetail.spec.windows import Forever, Latest, Range, Window

Source = Named | Nested
ROW_TIME = "row_time"
UNMATCHED = {Hand.LEFT: Outlet.LEFT_UNMATCHED, Hand.RIGHT: Outlet.RIGHT_UNMATCHED}
"""The outlet of a side's own, where a join has one for each side that it preserves."""


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


def with_intervals(join: JoinSpec, inputs: Inputs) -> Inputs:
    """Returns inputs that know the intervals by which their rows live on any side.

    What they know already stays: it is of a join around this one. A batch inside a join
    that moves is a data set of its own, of which the join around it knows nothing.
    """
    known = dict(inputs)
    for name, window in _windows(join):
        every = known[name].intervals
        if window.interval and window.interval not in every:
            known[name] = replace(known[name], intervals=(*every, window.interval))
    return known


def _windows(join: JoinSpec) -> Iterator[tuple[str, Window]]:
    """Yields the inputs of a join and those inside it, each with its side's window."""
    for side in map(join.side, HANDS):
        match side.source:
            case Named(name):
                yield name, side.window
            case Nested(JoinSpec(clock=join.clock) as inner):
                yield from _windows(inner)


def known_input(source: Source, inputs: Inputs) -> Input:
    """Returns the input of a side; the rows of a join are one without columns."""
    match source:
        case Named(name):
            return inputs[name]
        # Who asks for the kind alone needs no types, which take all below to be read.
        case Nested(_, name):
            return Input(name, kind_of(source, inputs), Schema.of({}))
        case _:
            assert_never(source)


def schema_of_sets(join: SetJoinSpec, inputs: Inputs) -> Schema:
    """Returns the columns of all sets of a join, those of one name in one type."""
    # All sets are seen through one row, so a name is one column, whosesoever it is.
    found: dict[str, list[Column]] = {}
    for name in join.sets:
        for column in inputs[name].schema.columns:
            found.setdefault(column.name.lower(), []).append(column)
    columns = []
    for some in found.values():
        # Digits may be lost, but no text is read as a number. What is one in no type
        # has that of the first: a rule refuses it.
        widest = kinds.widest_without_texts([one.type for one in some])
        kind = some[0].type if widest is None else kinds.columnar(widest)
        columns.append(Column(some[0].name, kind))
    return Schema(tuple(columns))


def casts_of_set(source: Input, shown: Schema) -> Mapping[str, Expression]:
    """Returns how columns of a set are made that have another type in all sets."""
    return {
        column.name: Expression(
            f"CAST({quoted(column.name)} AS {shown[column.name].type})"
        )
        for column in source.schema.columns
        if shown[column.name].type != column.type
    }


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
            kinds = kinds_of(inner, inputs)
            # What moves wins: one stream in it makes the result one.
            order = (InputKind.STREAM, InputKind.TABLE, InputKind.DATASET)
            return next(kind for kind in order if kind in kinds)
        case _:
            assert_never(source)


def kinds_of(join: JoinSpec, inputs: Inputs) -> frozenset[InputKind]:
    """Returns how the rows of both sides come."""
    return frozenset(kind_of(join.side(hand).source, inputs) for hand in HANDS)


def waits_for_tables(join: JoinSpec, inputs: Inputs) -> bool:
    """Tells whether a row of a stream, here or in a join inside, could wait for one.

    It has found no row of a table, and comes out without one. In a batch all are there.
    """
    if join.clock is Clock.BATCH:
        return False
    sources = {hand: join.side(hand).source for hand in HANDS}
    kinds = {hand: kind_of(source, inputs) for hand, source in sources.items()}
    return any(
        (join.kind.preserves(hand) and kinds[hand] is InputKind.STREAM)
        and kinds[hand.other] is InputKind.TABLE
        for hand in HANDS
    ) or any(
        waits_for_tables(source.join, inputs)
        for source in sources.values()
        if isinstance(source, Nested)
    )


def is_timed(source: Source, inputs: Inputs) -> bool:
    """Tells whether the rows carry a row time; on the arrival clock results do not."""
    match source:
        case Named(name):
            return inputs[name].is_timed
        case Nested(JoinSpec(clock=Clock.ARRIVAL)):
            return False
        # A pair has a row time where one of its rows begins at one: what is there for
        # ever has no beginning. The ends of an interval are columns: no time is needed.
        case Nested(JoinSpec(clock=Clock.BATCH) as inner):
            sides = [inner.side(hand) for hand in HANDS]
            return any(
                bool(side.window.interval)
                or (side.window != Forever() and is_timed(side.source, inputs))
                for side in sides
            )
        case Nested(inner):
            return any(is_timed(inner.side(hand).source, inputs) for hand in HANDS)
        case _:
            assert_never(source)


def is_state(join: JoinSpec, hand: Hand, *, timed: bool) -> bool:
    """Tells whether a side is the newest version of each key, as it is at the end.

    So it is on the clock `batch`; but rows that live in row time meet each version as
    long as it lives. At one moment alone they meet what is not `timed` as it is.
    """
    # On other clocks each version is met while it lives: that is what streams are for.
    is_batch = join.clock is Clock.BATCH
    is_newest = is_batch and isinstance(join.side(hand).window, Latest)
    other = join.side(hand.other).window
    lives_on = timed or other != Range()
    return is_newest and not (lives_on and (other.is_of_row_time or other.interval))


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
            names = {hand: columns_of(join.side(hand).source, inputs) for hand in HANDS}
            seen = [hand for hand in HANDS if not join.kind.gives_once(hand.other)]
            # Of a side whose columns nobody knows the result has who knows which.
            is_known = all(names[hand] for hand in seen)
            found = _all_columns(join.kind, names)
            return tuple(name for _, name in found) if is_known else ()
        case _:
            assert_never(join.select)


def _all_columns(
    kind: Kind, names: Mapping[Hand, Iterable[str]]
) -> Iterator[tuple[Hand, str]]:
    """Gives all columns of the left, then those of the right with a new name.

    A semi join sees its own side only.
    """
    seen: set[str] = set()
    for hand in HANDS:
        for name in () if kind.gives_once(hand.other) else names[hand]:
            # Names of columns have no case, as in Spark.
            if name.lower() not in seen:
                seen.add(name.lower())
                yield hand, name


def own_outlets(join: JoinSpec) -> dict[Hand, Outlet]:
    """Returns the outlets of rows without a partner, of sides that have their own."""
    # One port: rows without a partner come out among the pairs.
    if join.ports == 1:
        return {}
    return {hand: UNMATCHED[hand] for hand in HANDS if join.kind.preserves(hand)}


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
            kind = kind_of(source, inputs)
            return Input(name, kind, schema, key=source.key, time=time)
        case _:
            assert_never(source)


def side_inputs(join: JoinSpec, inputs: Inputs) -> dict[Hand, Input]:
    """Returns both sides as inputs, whether they are inputs or rows of a join."""
    return {
        hand: input_of(join.side(hand).source, inputs, hand.value) for hand in HANDS
    }


def side_schemas(join: JoinSpec, inputs: Inputs) -> dict[Hand, Schema]:
    """Returns the columns of both sides."""
    return {hand: side.schema for hand, side in side_inputs(join, inputs).items()}


def output_schema(join: JoinSpec, inputs: Inputs) -> Schema:
    """Returns the columns of a join's matched rows, with their types."""
    schemas = side_schemas(join, inputs)
    scope = Scope.pair(*schemas.values())
    columns = selected_columns(join, schemas)
    return Schema(
        tuple(Column(name, parse(text, scope).type) for name, text in columns)
    )


def stand_ins(join: JoinSpec, inputs: Inputs) -> Iterator[tuple[str, Type, Typed]]:
    """Gives the columns of the row that a limit lets out, with the type that each has.

    What is known before it runs alone: the type of the column, and what stands in it.
    """
    for name, text in join.picks.stand_in:
        with suppress(DovetailError):
            schemas = side_schemas(join, inputs)
            scope = Scope.pair(*schemas.values())
            shown = dict(selected_columns(join, schemas))
            # Another law says that there is no column of a name.
            for column, value in shown.items():
                if column.lower() == name.lower():
                    yield name, parse(value, scope).type, parse(text, scope)


def known_types(
    expression: Expression, join: JoinSpec, inputs: Inputs
) -> Iterator[Type]:
    """Yields the type of an expression over both rows, if it is known before it runs.

    What the room of expressions does not know is left to the engine.
    """
    # A function that only an engine has is no mistake.
    with suppress(DovetailError):
        scope = Scope.pair(*side_schemas(join, inputs).values())
        yield parse(expression, scope).type


def selected_columns(
    join: JoinSpec, schemas: Mapping[Hand, Schema]
) -> tuple[tuple[str, Expression], ...]:
    """Returns the output columns of a join with their expressions."""
    match join.select:
        case Columns(columns=columns):
            return columns
        case AllColumns():
            names = {hand: schema.names for hand, schema in schemas.items()}
            return tuple(
                (name, Expression(f"{hand.letter}.{quoted(name)}"))
                for hand, name in _all_columns(join.kind, names)
            )
        case _:
            assert_never(join.select)


def absent_row(absent: Absent, schema: Schema) -> Row:
    """Returns the value of every column where the side is not there."""
    match absent:
        case NullRow():
            return dict.fromkeys(schema.names)
        case BlankRow():
            return {column.name: blank(column.type) for column in schema.columns}
        case GivenRow(values, rest):
            # Values are as JSON has them: only here their types are known.
            given = {schema[name]: value for name, value in values}
            return dict(absent_row(rest, schema)) | {
                column.name: read_value(value, column.type, f'"{column.name}"')
                for column, value in given.items()
            }
        case _ as unknown:
            assert_never(unknown)


def is_batch_inside(around: JoinSpec, side: Side, inputs: Inputs) -> bool:
    """Tells whether a side is a batch inside a join on a clock that moves.

    Rows with a row time that a window looks at are not meant.
    """
    source = side.source
    if not isinstance(source, Nested) or source.join.clock is not Clock.BATCH:
        return False
    # Rows without a place in time are there from the start: they can be joined before.
    is_outside_time = side.window == Forever() or not is_timed(source, inputs)
    return around.clock is not Clock.BATCH and is_outside_time


def data_set_of(source: Nested, inputs: Inputs, name: str) -> Input:
    """Returns the rows of a batch inside a join as an input, which has none yet."""
    return replace(input_of(source, inputs, name), time="")


def without_static(play: Play, join: JoinSpec) -> Play:
    """Returns a play in which only time passes where a batch inside gets its rows."""
    heard = source_names(join)

    def as_heard(event: Event) -> Event:
        # What happens to other inputs still moves the clock, and keeps its number.
        is_heard = isinstance(event, Pause) or event.input in heard
        return event if is_heard else Pause(event.clock)

    opening, events = (
        tuple(map(as_heard, some)) for some in (play.opening, play.events)
    )
    return replace(play, join=join, opening=opening, events=events)


def with_time_passing(play: Play) -> tuple[Play, tuple[int, ...]]:
    """Returns a play in which time passes before what comes with it.

    So it does for all joins of it, before any row comes to one. With it comes for each
    event, those of the opening first, which one of the play it is of.
    """
    clock, found = 0, list[tuple[int, Event]]()
    for number, event in enumerate((*play.opening, *play.events)):
        if event.clock > clock and not isinstance(event, Pause):
            found.append((number, Pause(event.clock)))
        clock = event.clock
        found.append((number, event))
    opening, events = (
        tuple(one for number, one in found if (number < len(play.opening)) is is_first)
        for is_first in (True, False)
    )
    passing = replace(play, opening=opening, events=events)
    return passing, tuple(number for number, _ in found)
