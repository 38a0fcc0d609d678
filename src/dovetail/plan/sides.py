"""What a join says of its sides before anyone runs it: who stays, who can be met.

A side is static where its rows are all there from the start. A window of rows is parted
by expressions over its own rows. Candidates of a row are found by equalities: those
that `atmost` counts; all others are conditions, tested after candidates are counted.

What only both sides together make impossible for the kernels has its name here too:
every engine that runs them lacks the same.
"""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.expression import Expression
from dovetail.plan.features import Combination
from dovetail.schema import quoted
from dovetail.spec.inputs import Arrive, Input, InputKind, Inputs, Remove
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec, Side
from dovetail.spec.picks import AtMost, Equality, OptionalEqual, OptionalPrefix
from dovetail.spec.play import Play
from dovetail.spec.sources import known_input
from dovetail.spec.windows import (
    Delta,
    Forever,
    Latest,
    Rows,
    RowsPreceding,
    Seconds,
)


def is_static(join: JoinSpec, hand: Hand, source: Input) -> bool:
    """Tells whether a side's rows are all there from the start, whatever comes."""
    if join.clock is Clock.ARRIVAL:
        return source.kind is InputKind.DATASET
    stays = source.kind is InputKind.DATASET and join.side(hand).window == Forever()
    return stays or (source.kind is not InputKind.STREAM and not source.is_timed)


def partition_of(side: Side) -> tuple[str, ...]:
    """Returns the expressions over the own row that part a window, as texts.

    A window of rows without any is one for all rows, whatever their keys.
    """
    match side.window:
        case Latest(key):
            return tuple(quoted(name) for name in key)
        case Rows(0):
            return ()
        case Rows() | RowsPreceding() | Delta():
            return tuple(part.text for part in side.partition_by) or ("0",)
        case Seconds() | Forever():
            return tuple(part.text for part in side.partition_by)
        case _:
            return ()


def counted(join: JoinSpec) -> tuple[Equality, ...]:
    """Returns the equalities that make a candidate; without a limit it is all."""
    match join.picks.at_most:
        case AtMost(counted=(), optional=()):
            return join.hard
        case _:
            return join.counted


def candidate_equalities(join: JoinSpec) -> tuple[Equality, ...]:
    """Returns the equalities of all candidates: the first optional element is one.

    Those that share nothing are no candidates, so that they need not be looked at.
    """
    match optional_parts(join):
        case (OptionalEqual(equality), *_):
            return (*counted(join), equality)
        case (OptionalPrefix(left, right), *_):
            first = (
                Expression(f"rpad(substring(cast(({one}) as string), 1, 1), 1, ' ')")
                for one in (left, right)
            )
            return (*counted(join), Equality(*first))
        case _:
            return counted(join)


def further_condition(join: JoinSpec) -> Expression:
    """Returns what candidates must also fulfil: `soft` and equalities not counted."""
    rest = [one for one in join.hard if one not in counted(join)]
    terms = [str(join.soft), *(f"({one.left}) = ({one.right})" for one in rest)]
    return Expression(" AND ".join(f"({term})" for term in terms))


def optional_parts(join: JoinSpec) -> tuple[OptionalPrefix | OptionalEqual, ...]:
    """Returns the optional equalities of `atmost`."""
    at_most = join.picks.at_most
    return at_most.optional if isinstance(at_most, AtMost) else ()


def changing(play: Play) -> frozenset[str]:
    """Returns the inputs of which rows come or go after the start."""
    return frozenset(
        event.input
        for event in (*play.opening, *play.events)
        if isinstance(event, Arrive | Remove)
    )


def untimed_changes(
    join: JoinSpec, inputs: Inputs, moving: frozenset[str]
) -> Iterator[Combination]:
    """Gives a table without a time that changes where others have one."""
    sources = [known_input(join.side(hand).source, inputs) for hand in HANDS]
    untimed = {source.name for source in sources if not source.is_timed}
    if join.clock is Clock.EVENT and untimed & moving:
        yield Combination.CHANGES_WITHOUT_TIME


def has_stream(join: JoinSpec, inputs: Inputs) -> bool:
    """Tells whether rows of a side keep coming."""
    kinds = {known_input(join.side(hand).source, inputs).kind for hand in HANDS}
    return InputKind.STREAM in kinds
