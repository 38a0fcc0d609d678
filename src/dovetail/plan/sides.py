"""What a join says of its sides before anyone runs it: who stays, who can be met.

A side is static where its rows are all there from the start. A window of rows is parted
by expressions over its own rows. Candidates of a row are found by equalities: those
that `atmost` counts; all others are conditions, tested after candidates are counted.
"""

from __future__ import annotations

from dovetail import schema, spec
from dovetail.expression import Expression


def input_of(join: spec.JoinSpec, hand: spec.Hand, inputs: spec.Inputs) -> spec.Input:
    """Returns the input of one side."""
    source = join.side(hand).source
    assert isinstance(source, spec.Named)  # noqa: S101 - nested joins have been refused
    return inputs[source.name]


def is_static(join: spec.JoinSpec, hand: spec.Hand, source: spec.Input) -> bool:
    """Tells whether a side's rows are all there from the start, whatever comes."""
    # On the clock of arrival only a stream or a table comes row by row.
    if join.clock is spec.Clock.ARRIVAL:
        return source.kind is spec.InputKind.DATASET
    stays = (
        source.kind is spec.InputKind.DATASET
        and join.side(hand).window == spec.Forever()
    )
    return stays or (source.kind is not spec.InputKind.STREAM and not source.is_timed)


def partition_of(side: spec.Side) -> tuple[str, ...]:
    """Returns the expressions over the own row that part a window, as texts.

    A window of rows without any is one for all rows, whatever their keys.
    """
    match side.window:
        case spec.Latest(key):
            return tuple(schema.quoted(name) for name in key)
        case spec.Seconds() | spec.Forever():
            return tuple(part.text for part in side.partition_by)
        case window if window.is_ended_by_rows:
            # Rows of all keys end each other: one constant for all of them.
            return tuple(part.text for part in side.partition_by) or ("0",)
        case _:
            return ()


def ends_by_key(join: spec.JoinSpec, hand: spec.Hand) -> bool:
    """Tells whether no row of a side ends the life of a row of another key.

    Whoever has another key is then in another partition of the window.
    """
    side = join.side(hand)
    is_kept = side.partition_evict == spec.KeepPartitions()
    if is_kept and not side.window.is_ended_by_rows:
        return True
    # A partition is parted by columns that the key has, so it lies within one key.
    keys = {
        one.column.lower()
        for equal in candidate_equalities(join)
        for text in (equal.left, equal.right)
        for one in spec.references(text)
        if one.hand is hand
    }
    own = {*map(spec.plain_column, side.partition_by)}
    if isinstance(side.window, spec.Latest):
        own = {*side.window.key}
    return keys <= {name.lower() for name in own}


def counted(join: spec.JoinSpec) -> tuple[spec.Equality, ...]:
    """Returns the equalities that make a candidate; without a limit it is all."""
    # An `atmost` that counts by nothing limits nothing.
    return join.counted if join.counted or join.picks.optional else join.hard


def candidate_equalities(join: spec.JoinSpec) -> tuple[spec.Equality, ...]:
    """Returns the equalities of all candidates: the first optional element is one.

    Those that share nothing are no candidates, so that they need not be looked at.
    """
    match join.picks.optional:
        case (spec.OptionalEqual(equality), *_):
            return (*counted(join), equality)
        case (spec.OptionalPrefix(left, right), *_):
            # The first letter, a blank where there is none: such texts share it too.
            first = (
                Expression(f"rpad(substring(cast(({one}) as string), 1, 1), 1, ' ')")
                for one in (left, right)
            )
            return (*counted(join), spec.Equality(*first))
        case _:
            return counted(join)


def further_condition(join: spec.JoinSpec) -> Expression:
    """Returns what candidates must also fulfil: `soft` and equalities not counted."""
    # In brackets: a condition of a user's may have an OR.
    rest = [one for one in join.hard if one not in counted(join)]
    terms = [str(join.soft), *(f"({one.left}) = ({one.right})" for one in rest)]
    # A comment at the end of a term ends with its line.
    return Expression(
        " AND ".join(f"({term}\n)" if "--" in term else f"({term})" for term in terms)
    )
