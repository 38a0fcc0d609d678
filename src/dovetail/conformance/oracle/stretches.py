"""Null rows per millisecond: one for each stretch of a life without a partner.

    row        10:00:00 [#################] 10:01:00
    partners        10:00:05 [###] 10:00:20
    null rows  10:00:00           10:00:20.001

A stretch begins with the row's own life, or in the first millisecond in which the last
partner is no longer there.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dovetail.conformance.oracle.horizon import Horizon
from dovetail.conformance.oracle.life import Life, LivingRow, Moment

MILLISECOND = 1000


@dataclass(frozen=True, slots=True)
class Stretch:
    """Where a stretch begins, and whether that is known for good."""

    start: Moment
    is_decided: bool


def stretches(
    horizon: Horizon, row: LivingRow, lives: Sequence[Life], open_lives: Sequence[Life]
) -> Iterator[Stretch]:
    """Yields the stretches of a row's life without any of its partners' lives.

    One is known once no row comes any more that is there by then, and the picks have
    judged all those that are: of `open_lives` they may still take some away.
    """
    to_come = horizon.first_to_come(row.hand.other)
    starts = {row.life.birth, *(whole(one.death) for one in (*lives, *open_lives))}
    for start in starts:
        is_alone = not any(life.birth <= start < life.death for life in lives)
        if is_alone and start < row.life.death:
            is_judged = all(life.birth > start for life in open_lives)
            yield Stretch(start, to_come.birth > start and is_judged)


def whole(moment: Moment) -> Moment:
    """Returns the first whole millisecond from a moment on."""
    if math.isinf(moment):
        return moment
    return math.ceil(moment / MILLISECOND) * MILLISECOND
