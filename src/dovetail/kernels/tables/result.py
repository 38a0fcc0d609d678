"""How the result of two tables changes in a step: which rows of it come, which go."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dovetail.kernels.arrays.rows import Rows
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.arrival.time_limits import line_of
from dovetail.kernels.candidates.emitted import not_skipped
from dovetail.kernels.pairs.results import OUTLETS, REASONS, alone
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.tables.chosen import chosen
from dovetail.kernels.tables.singles import Single
from dovetail.kernels.tables.touched import touched
from dovetail.kernels.tables.turns import Turns, join_turns


@dataclass(frozen=True, slots=True)
class Turned:
    """What goes and what comes during a step, and the rows with their new counts."""

    gone: Turns
    come: Turns
    rows: tuple[Rows, Rows]


def turned(settings: JoinSettings, present: Present, since: int) -> Turned:
    """Returns what changes about the result; rows from the place `since` on are new."""
    line = line_of(settings, present.rows, since)
    present = replace(present, rows=line.rows)
    look = chosen if settings.picks.ranks else touched
    change = look(settings, present, line.since)
    gone = [one.gone() for one in change.standing]
    come = [one.come(line.since) for one in change.standing]
    counted = list(present.rows)
    for hand, side in enumerate(settings.sides):
        if side.remembers:
            single = Single(side, hand, counted[hand], line.since)
            off, on, counted[hand] = single.turned(change.met[hand])
            gone.append(off)
            come.append(on)
    return Turned(
        _shown(settings, present, gone),
        _shown(settings, present, come),
        line.restored((counted[0], counted[1])),
    )


def _shown(settings: JoinSettings, present: Present, parts: list[Turns]) -> Turns:
    """Returns all of the parts without the rows alone that are skipped."""
    return join_turns([_not_skipped(settings, present, part) for part in parts])


def _not_skipped(settings: JoinSettings, present: Present, part: Turns) -> Turns:
    """Returns rows of the result, all of one kind; pairs have been asked."""
    hands = [
        hand for hand, index in enumerate((part.left, part.right)) if (index >= 0).any()
    ]
    if not settings.picks.skip or len(hands) != 1:
        return part
    ours = (part.left, part.right)[hands[0]]
    # Their numbers stand where their moments would, so that they are known again.
    numbers = np.arange(len(ours))
    outlet, reason = OUTLETS[int(part.outlet[0])], REASONS[int(part.reason[0])]
    leaving = alone(hands[0], ours, numbers, outlet, reason)
    return part.take(not_skipped(settings, present.rows, leaving).when)
