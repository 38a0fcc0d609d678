"""Windows that were not written: every side gets the one that its rows ask for.

    rows of                         window
    a table with a key              latest: its key
    a data set, a table without     forever
    a stream against those          rows: 0
    a stream against a stream       must be written, but for an `asof`

An `asof` keeps what can still be picked: its right stream is `forever`. Its left one is
`rows: 0` on the arrival clock; on the event clock it lives from its row time on for as
long as a right row may be nearer: no time looking backward, else the tolerance. That is
known of row times only: an `asof` over other columns is `forever`. On the clock `batch`
`rows: 0` is written as `range` 0, which is the same life, or as `forever` where the
rows have no time to be looked up by.
"""

from __future__ import annotations

from dataclasses import replace

from dovetail.expression import Expression
from dovetail.spec.inputs import InputKind, Inputs
from dovetail.spec.join import (
    Clock,
    Hand,
    JoinSpec,
    Named,
    Nested,
    SetJoinSpec,
    SetKind,
    Side,
)
from dovetail.spec.picks import AsOf, Direction, Unlimited
from dovetail.spec.references import Reference, plain_reference
from dovetail.spec.sources import columns_of, is_timed, kind_of, source_names
from dovetail.spec.spans import Span
from dovetail.spec.windows import Forever, Latest, Range, Rows, Unstated, Window


def with_defaults(
    join: JoinSpec | SetJoinSpec, inputs: Inputs
) -> JoinSpec | SetJoinSpec:
    """Returns the join with its windows written out, as far as they follow.

    Refuses nothing: what must be written and is not stays `Unstated` for the rules.
    """
    match join:
        case SetJoinSpec(kind=SetKind.M_OF_N, most=0):
            return replace(join, most=len(join.sets))
        case SetJoinSpec():
            return join
        case JoinSpec():
            return complete(join, inputs)


def complete(join: JoinSpec, inputs: Inputs) -> JoinSpec:
    """Returns a join of two sides with its windows written out."""
    if not set(source_names(join)) <= set(inputs):
        return join
    inside = replace(
        join,
        left=_with_inner(join.left, inputs),
        right=_with_inner(join.right, inputs),
    )
    return replace(
        inside,
        left=_with_window(inside, Hand.LEFT, inputs),
        right=_with_window(inside, Hand.RIGHT, inputs),
    )


def _with_inner(side: Side, inputs: Inputs) -> Side:
    """Returns one side with the join inside it completed."""
    match side.source:
        case Nested(inner, name):
            return replace(side, source=Nested(complete(inner, inputs), name))
        case _:
            return side


def _with_window(join: JoinSpec, hand: Hand, inputs: Inputs) -> Side:
    """Returns one side with its window."""
    side = join.side(hand)
    if side.window == Unstated():
        return replace(side, window=_usual_window(join, hand, inputs))
    return replace(side, window=_spelled(side, inputs))


def _spelled(side: Side, inputs: Inputs) -> Window:
    """Returns the window with its key as the columns are spelled."""
    if not isinstance(side.window, Latest):
        return side.window
    names = {name.lower(): name for name in columns_of(side.source, inputs)}
    return Latest(tuple(names.get(name.lower(), name) for name in side.window.key))


def _usual_window(join: JoinSpec, hand: Hand, inputs: Inputs) -> Window:
    """Returns the window that the rows of a side ask for."""
    source = join.side(hand).source
    match kind_of(source, inputs), source:
        case InputKind.STREAM, _:
            return _stream_window(join, hand, inputs)
        case InputKind.TABLE, Named(name) if inputs[name].key:
            return Latest(inputs[name].key)
        case _:
            return Forever()


def _stream_window(join: JoinSpec, hand: Hand, inputs: Inputs) -> Window:
    """Returns the window of a stream, by what it meets."""
    other = join.side(hand.other).source
    meets_stream = kind_of(other, inputs) is InputKind.STREAM
    if isinstance(join.picks.asof, AsOf) and (meets_stream or hand is Hand.RIGHT):
        return _asof_window(join, hand, inputs)
    if join.clock is Clock.BATCH:
        return _batch_window(join, hand, inputs)
    return Unstated() if meets_stream else Rows(0)


def _asof_window(join: JoinSpec, hand: Hand, inputs: Inputs) -> Window:
    """Returns the window of a stream in an `asof`: as long as it can be picked."""
    asof = join.picks.asof
    if hand is Hand.LEFT and join.clock is Clock.ARRIVAL:
        return Rows(0)
    is_open = hand is Hand.RIGHT or join.clock is Clock.BATCH
    if is_open or isinstance(asof, Unlimited) or not is_by_row_time(join, inputs):
        return Forever()
    match asof.direction, asof.tolerance:
        case Direction.BACKWARD, _:
            return Range()
        case _, Span() as tolerance:
            return Range(tolerance)
        case _:
            return Forever()


def is_by_row_time(join: JoinSpec, inputs: Inputs) -> bool:
    """Tells whether an `asof` looks at the row times of two inputs."""
    match join.picks.asof, join.left.source, join.right.source:
        case AsOf(left=left, right=right), Named(one), Named(other):
            times = (_column(left), _column(right))
            return times == (inputs[one].time.lower(), inputs[other].time.lower())
        case _:
            return False


def _column(expression: Expression) -> str:
    """Returns the column that an expression is, in lower case, or nothing."""
    match plain_reference(expression):
        case Reference(column=column):
            return column.lower()
        case _:
            return ""


def _batch_window(join: JoinSpec, hand: Hand, inputs: Inputs) -> Window:
    """Returns the window of a stream all of whose rows are there."""
    other = join.side(hand.other)
    is_versioned = (
        kind_of(other.source, inputs) is InputKind.TABLE
        and is_timed(other.source, inputs)
        and is_timed(join.side(hand).source, inputs)
    )
    return Range() if is_versioned else Forever()
