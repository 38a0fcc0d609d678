"""What was not written: windows, and of a limit's own row the types of its columns.

Every side gets the window that its rows ask for:

    rows of                         window
    a table with a key              latest: its key
    a data set, a table without     forever
    a stream against those          rows: 0
    a stream against a stream       must be written, but for an `asof`

An `asof` keeps what can still be picked: its right stream is `forever`. Its left one is
`rows: 0` on the arrival clock; on the others it lives from its row time on for as long
as a right row may be nearer: no time looking backward, else the tolerance. That is
known of row times only: an `asof` over other columns is `forever`. On the clock `batch`
`rows: 0` is written as `range` 0, which is the same life, or as `forever` where the
rows have no time to be looked up by.
"""

from __future__ import annotations

from dataclasses import replace
from decimal import Context, Decimal

from dovetail import spec
from dovetail.errors import SchemaError
from dovetail.expression import Expression, Typed, kinds
from dovetail.expression.tree import Literal
from dovetail.schema import MOST_DIGITS, Type, read_value


def with_defaults(
    join: spec.JoinSpec | spec.SetJoinSpec, inputs: spec.Inputs
) -> spec.JoinSpec | spec.SetJoinSpec:
    """Returns the join with its windows written out, as far as they follow.

    Refuses nothing: what must be written and is not stays `Unstated` for the rules.
    """
    match join:
        # A most of 0 is unsaid: a key may be in all of the sets.
        case spec.SetJoinSpec(kind=spec.SetKind.M_OF_N, most=0):
            return replace(join, most=len(join.sets))
        case spec.SetJoinSpec():
            return join
        case spec.JoinSpec():
            return complete(join, inputs)


def complete(join: spec.JoinSpec, inputs: spec.Inputs) -> spec.JoinSpec:
    """Returns a join of two sides with its windows written out."""
    # The rules say what is not there; without it no window follows.
    if not set(spec.source_names(join)) <= set(inputs):
        return join
    inside = join.with_sides(lambda _, side: _with_inner(side, inputs))
    windowed = inside.with_sides(lambda hand, _: _with_window(inside, hand, inputs))
    return replace(windowed, picks=_with_types(inside, inputs))


def _with_types(join: spec.JoinSpec, inputs: spec.Inputs) -> spec.Picks:
    """Returns the picks, in which what fits into its column has the column's type."""
    cast = {
        name: Expression(f"CAST({own.text}\n AS {kind})")
        for name, kind, own in spec.stand_ins(join, inputs)
        if own.type not in {kind, kinds.NULL} and _fits(own, kind)
    }
    given = join.picks.stand_in
    return join.picks.standing_in(
        tuple((name, cast.get(name, text)) for name, text in given)
    )


def _fits(own: Typed, kind: Type) -> bool:
    """Tells whether a value loses nothing in a type, as a literal or whatever it is."""
    if kinds.holds(kind, own.type):
        return True
    if not isinstance(own.tree, Literal) or kind == kinds.BINARY:
        return False
    value = own.tree.value
    try:
        found = read_value(value, kind, "")
    except SchemaError:
        return False
    if not isinstance(value, int | Decimal):
        return True
    # A fraction is meant as it is written, where there is room for its digits.
    room: dict[Type, int] = {kinds.FLOAT: 6, kinds.DOUBLE: 15}
    few = Decimal(value).normalize(Context(prec=MOST_DIGITS)).as_tuple().digits
    return found == value or len(few) <= room.get(kind, 0)


def _with_inner(side: spec.Side, inputs: spec.Inputs) -> spec.Side:
    """Returns one side with the join inside it completed."""
    match side.source:
        case spec.Nested(inner) as source:
            return replace(side, source=replace(source, join=complete(inner, inputs)))
        case _:
            return side


def _with_window(
    join: spec.JoinSpec, hand: spec.Hand, inputs: spec.Inputs
) -> spec.Side:
    """Returns one side with its window."""
    side = join.side(hand)
    if isinstance(side.window, spec.Latest):
        # Names have no case: from here on a key is as the columns are spelled.
        names = {name.lower(): name for name in spec.columns_of(side.source, inputs)}
        key = tuple(names.get(name.lower(), name) for name in side.window.key)
        return replace(side, window=spec.Latest(key))
    if side.window != spec.Unstated():
        return side
    match spec.kind_of(side.source, inputs), side.source:
        case spec.InputKind.STREAM, _:
            window = _stream_window(join, hand, inputs)
        # A new row of a key takes the place of the last one.
        case spec.InputKind.TABLE, spec.Named(name) if inputs[name].key:
            window = spec.Latest(inputs[name].key)
        case spec.InputKind.TABLE, spec.Nested(key=(_, *_) as key):
            window = spec.Latest(tuple(key))
        # In a batch rows of a data set look up as those of a stream do.
        case spec.InputKind.DATASET, _ if join.clock is spec.Clock.BATCH and (
            join.picks.looks_nearest and hand is spec.Hand.LEFT
        ):
            window = _asof_window(join, hand, inputs)
        # Nothing says when such a row would end.
        case _:
            window = spec.Forever()
    return replace(side, window=window)


def _stream_window(
    join: spec.JoinSpec, hand: spec.Hand, inputs: spec.Inputs
) -> spec.Window:
    """Returns the window of a stream, by what it meets."""
    other = spec.kind_of(join.side(hand.other).source, inputs)
    is_batch = join.clock is spec.Clock.BATCH
    # What keeps its rows is looked up; in a batch that is said of a table alone.
    meets_table = other is spec.InputKind.TABLE
    looks_up = meets_table if is_batch else other is not spec.InputKind.STREAM
    # The left stream of an `asof` against a table looks it up as any stream does.
    if join.picks.looks_nearest and (not looks_up or hand is spec.Hand.RIGHT):
        return _asof_window(join, hand, inputs)
    if is_batch:
        # Beside a table a row with a time is there at its own time alone.
        is_moment = meets_table and spec.is_timed(join.side(hand).source, inputs)
        return spec.Range() if is_moment else spec.Forever()
    # How long the rows of two streams wait for one another nobody else can know.
    return spec.Rows(0) if looks_up else spec.Unstated()


def _asof_window(
    join: spec.JoinSpec, hand: spec.Hand, inputs: spec.Inputs
) -> spec.Window:
    """Returns the window of a stream in an `asof`: as long as it can be picked."""
    asof = join.picks.asof
    if hand is spec.Hand.LEFT and join.clock is spec.Clock.ARRIVAL:
        return spec.Rows(0)
    # A right row may be the nearest of any left row to come.
    is_right = hand is spec.Hand.RIGHT
    if is_right or isinstance(asof, spec.Unlimited) or not is_by_row_time(join, inputs):
        return spec.Forever()
    match asof.direction, asof.tolerance:
        # What comes later is no nearer: at its own time the row is decided.
        case spec.Direction.BACKWARD, _:
            return spec.Range()
        # One below zero is for the rules, and no range is made of it.
        case _, spec.Span() as tolerance if not tolerance.is_negative:
            return spec.Range(tolerance)
        case _:
            return spec.Forever()


def is_by_row_time(join: spec.JoinSpec, inputs: spec.Inputs) -> bool:
    """Tells whether an `asof` looks at the row times of two inputs."""
    match join.picks.asof.compared, join.left.source, join.right.source:
        case ((left, right),), spec.Named(one), spec.Named(other):
            known = inputs[one].time.lower(), inputs[other].time.lower()
            return all(known) and known == (_column(left), _column(right))
        case _:
            return False


def _column(expression: Expression) -> str:
    """Returns the column that an expression is, in lower case, or nothing."""
    match spec.plain_reference(expression):
        case spec.Reference(column=column):
            return column.lower()
        case _:
            return ""
