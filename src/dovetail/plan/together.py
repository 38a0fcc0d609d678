"""What only several features of a join together make impossible for the kernels.

Every engine that runs the kernels lacks the same here, and names it the same way.
"""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.plan.features import Combination
from dovetail.spec.inputs import Arrive, Input, InputKind, Remove
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec
from dovetail.spec.play import Play
from dovetail.spec.sources import known_input


def missing_together(play: Play, join: JoinSpec) -> Iterator[Combination]:
    """Gives what a stream cannot do of a join, though the kernels know all its parts.

    Only where rows come one by one in one order is a table without a time met as it is.
    """
    kinds = {_source(play, join, hand).kind for hand in HANDS}
    if InputKind.STREAM not in kinds and join.clock is Clock.ARRIVAL:
        yield Combination.NO_STREAM
    yield from untimed_changes(play, join)
    yield from missing_in_kernels(play, join)


def missing_in_kernels(play: Play, join: JoinSpec) -> Iterator[Combination]:
    """Gives what the kernels cannot do of a join, though they know all its parts."""
    kinds = {_source(play, join, hand).kind for hand in HANDS}
    if InputKind.STREAM not in kinds and join.clock is Clock.EVENT:
        yield Combination.NO_STREAM


def changing(play: Play) -> frozenset[str]:
    """Returns the inputs of which rows come or go after the start."""
    return frozenset(
        event.input
        for event in (*play.opening, *play.events)
        if isinstance(event, Arrive | Remove)
    )


def untimed_changes(play: Play, join: JoinSpec) -> Iterator[Combination]:
    """Gives a table without a time that changes where others have one."""
    sources = [_source(play, join, hand) for hand in HANDS]
    untimed = {source.name for source in sources if not source.is_timed}
    if join.clock is Clock.EVENT and untimed & changing(play):
        yield Combination.CHANGES_WITHOUT_TIME


def _source(play: Play, join: JoinSpec, hand: Hand) -> Input:
    """Returns the input of one side."""
    return known_input(join.side(hand).source, play.inputs)
