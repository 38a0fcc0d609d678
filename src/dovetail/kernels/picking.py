"""Which of a left row's candidates count: one stage between pairs and emission.

    candidates -> too many? -> condition -> number -> skipped? -> first so many -> out
                                    |
                                    has met, whether it comes out or not

A left row's pairs are numbered and kept in the order of its right rows: that in which
they came, or on the event clock that of time. Windows are not known here.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.kernels.admission import Present
from dovetail.kernels.counting import fail, within_limit
from dovetail.kernels.formulas import of_pairs, of_rows
from dovetail.kernels.leaving import ABSENT, Leaving, Outlet, Reason, Turn, alone
from dovetail.kernels.matching import NO_MATCHES, Matches, join_matches
from dovetail.kernels.pairing import matches
from dovetail.kernels.picks import Excess, Formula
from dovetail.kernels.rows import BEGINNING, NEVER, Mask, Whole
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.sorting import sorted_by
from dovetail.kernels.windows import ends

_NOBODY = np.empty(0, np.int64)


@dataclass(frozen=True, slots=True)
class Picked:
    """What a step's candidates come to.

    `met` have met, `given` come out; `over` are left rows with too many candidates.
    """

    met: Matches
    given: Leaving
    over: Whole


def pick(settings: JoinSettings, present: Present, found: Matches) -> Picked:
    """Returns what becomes of the candidates of a step."""
    within, beyond = _counted(settings, present, found)
    met = matches(settings, present.rows, within)
    given = _given(settings, present, met)
    if not len(beyond):
        return Picked(met, given, _NOBODY)
    return Picked(join_matches([met, beyond]), given, np.unique(beyond.left))


def meeting_times(present: Present, found: Matches) -> Whole:
    """Returns when each pair meets: the later of the two births."""
    left, right = present.rows
    return np.maximum(left.birth[found.left], right.birth[found.right])


def not_skipped(settings: JoinSettings, present: Present, part: Leaving) -> Leaving:
    """Returns those of the rows that leave alone which `skip_when` does not take."""
    for skip in settings.picks.skip if len(part.when) else ():
        hand = int(part.left[0] == ABSENT)
        formula = skip.over if part.outlet is Outlet.OVER_LIMIT else skip.alone[hand]
        chosen = part.right if hand else part.left
        bare = {"row_time": _times(settings, part.when)}
        skipped = of_rows(formula, hand, present.rows[hand], chosen, bare)
        return part.take(~_is_true(skipped))
    return part


def over_limit(
    settings: JoinSettings, present: Present, picked: Picked
) -> list[Leaving]:
    """Returns the rows that stand for left rows with too many candidates."""
    if settings.picks.excess is not Excess.TRANSFORM:
        return []
    when = ends(settings.sides[0].window, present.rows[0])[picked.over]
    return [alone(0, picked.over, when, Outlet.OVER_LIMIT)]


def _counted(
    settings: JoinSettings, present: Present, found: Matches
) -> tuple[Matches, Matches]:
    """Returns the candidates that stay, and those of left rows over their limit."""
    picks = settings.picks
    if not picks.counts or not len(found):
        return found, NO_MATCHES
    stay, over = within_limit(picks, present.rows, found)
    if picks.excess is Excess.UNMATCHED:
        return found.take(stay), NO_MATCHES
    if picks.excess is Excess.FAIL and over.any():
        fail(present.rows[0], found, over)
    return found.take(stay), found.take(over)


def _given(settings: JoinSettings, present: Present, met: Matches) -> Leaving:
    """Returns the pairs that come out, numbered where that is looked at."""
    if not settings.gives_pairs:
        return _leaving(present, NO_MATCHES, NO_MATCHES.left)
    picks = settings.picks
    if not picks.ranks:
        part = _leaving(present, met, np.zeros(len(met), np.int64))
        return part.take(_comes(settings, present, part)) if picks.skip else part
    met = _by_left_row(present, met)
    starts = _starts(met)
    part = _leaving(present, met, _ranks(np.ones(len(met), bool), starts))
    comes = _comes(settings, present, part)
    return part.take(comes & (_ranks(comes, starts) <= picks.keep))


def _leaving(present: Present, met: Matches, counter: Whole) -> Leaving:
    """Returns pairs as they leave."""
    when = meeting_times(present, met)
    due = np.zeros_like(when)
    rows = (met.left, met.right)
    return Leaving(Outlet.MATCHED, Reason.NONE, Turn.PAIR, *rows, when, due, counter)


def _comes(settings: JoinSettings, present: Present, part: Leaving) -> Mask:
    """Tells which pairs `skip_when` lets out."""
    for skip in settings.picks.skip:
        return ~_skipped(settings, skip.pair, present, part)
    return np.ones(len(part.when), bool)


def _by_left_row(present: Present, met: Matches) -> Matches:
    """Returns the pairs by left row, each one's by the order of its right rows."""
    place = present.rows[1].place[met.right]
    if _are_in_order(met.left, place):
        return met
    return met.take(sorted_by(met.left, place))


def _are_in_order(left: Whole, place: Whole) -> bool:
    """Tells whether each left row's pairs stand together, in order."""
    same = left[1:] == left[:-1]
    if not bool((~same | (place[1:] > place[:-1])).all()):
        return False
    firsts = left[np.concatenate(([True], ~same))[: len(left)]]
    return not len(firsts) or int(np.bincount(firsts).max()) == 1


def _starts(met: Matches) -> Whole:
    """Returns for each pair, by left row, where its left row's begin."""
    is_first = np.concatenate(([True], met.left[1:] != met.left[:-1]))[: len(met)]
    begins: Whole = np.flatnonzero(is_first)[np.cumsum(is_first) - 1]
    return begins


def _ranks(counted: Mask, starts: Whole) -> Whole:
    """Returns how many pairs of the left row count, from its first up to each."""
    until = np.concatenate(([0], np.cumsum(counted)))
    ranks: Whole = until[1:] - until[starts]
    return ranks


def _skipped(
    settings: JoinSettings, formula: Formula, present: Present, part: Leaving
) -> Mask:
    """Tells of which pairs `skip_when` is true."""
    found = Matches(part.left, part.right)
    bare = {"row_time": _times(settings, part.when), "counter": pa.array(part.counter)}
    return _is_true(of_pairs(formula, present.rows, found, bare))


def _times(settings: JoinSettings, when: Whole) -> pa.Array:
    """Returns moments as timestamps, null where there are none."""
    unknown = (when == NEVER) | (when <= BEGINNING) | (not settings.event_clock)
    return pa.array(when, mask=unknown).cast(pa.timestamp("us", tz="UTC"))


def _is_true(truth: pa.Array) -> Mask:
    """Tells of which rows something is true, neither false nor null."""
    known: Mask = pc.fill_null(truth, fill_value=False).to_numpy(zero_copy_only=False)
    return known
