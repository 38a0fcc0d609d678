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

from dovetail.oracle.horizon import Horizon
from dovetail.oracle.life import Life, LivingRow, Moment

MILLISECOND = 1000
Partner = tuple[LivingRow, Life]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Where a stretch begins, and whether that is known for good."""

    start: Moment
    is_decided: bool


def stretches(
    horizon: Horizon, row: LivingRow, partners: Sequence[Partner]
) -> Iterator[Stretch]:
    """Yields the stretches of a row's life without any of its partners.

    One is known once no row comes any more that is there by then. Another may begin
    where what is to come, or a partner that a version may end, is over.
    """
    to_come = horizon.first_to_come(row.hand.other)
    lives = [life for _, life in partners]
    starts = {row.life.birth, *(whole(life.death) for life in lives)}
    for start in sorted(starts):
        is_alone = not any(life.birth <= start < life.death for life in lives)
        if is_alone and row.life.birth <= start < row.life.death:
            yield Stretch(start, to_come.birth > start)
    ends = [horizon.soonest(*partner).death for partner in partners]
    if horizon.can_meet(row):
        ends.append(to_come.death)
    for end in map(whole, ends):
        if end not in starts and end < row.life.death:
            yield Stretch(max(end, row.life.birth), is_decided=False)


def whole(moment: Moment) -> Moment:
    """Returns the first whole millisecond from a moment on."""
    if math.isinf(moment):
        return moment
    return math.ceil(moment / MILLISECOND) * MILLISECOND
