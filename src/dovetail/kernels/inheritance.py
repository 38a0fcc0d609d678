"""Lives that rows of a join hand on to the join around it, where they are inherited.

    row (a 3, v 7)    beside it stand its own end, that of a 3, and its two places
    v 8 comes, 10:20  told: what is made of place 7 lives until 10:20 at most
    bound 10:20       that is sure

A row of a join lives while all rows do that it is made of. So its life may end long
after it has gone to the join around, which is told so as soon as it is known. It is
told of the rows, not of what is made of them: nobody keeps a list of pairs. The join
keeps a row until its end is known (`unmatched/outcome`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays import names
from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Whole
from dovetail.kernels.horizon import Horizon
from dovetail.kernels.lifetimes import lives as life
from dovetail.kernels.lifetimes.births import ends
from dovetail.kernels.pairs import results
from dovetail.kernels.pairs.memo import numbers_of
from dovetail.kernels.state import JoinState
from dovetail.spec.inputs import Outlet


@dataclass(frozen=True, slots=True)
class _Ends:
    """When the rows of a side end: if no other ends them, shown so, and by now."""

    own_death: Whole
    own_end: Whole
    death: Whole
    group: Whole

    @classmethod
    def of(cls, horizon: Horizon, hand: int) -> _Ends:
        """Returns the ends of the rows that take part."""
        side, rows = horizon.settings.sides[hand], horizon.present.rows[hand]
        never, settled = np.full(len(rows), NEVER), np.full(len(rows), life.SETTLED)
        # No row can come that would end these.
        if side.untimed or side.static:
            return cls(never, never, never, settled)
        if side.inherits:
            own, end = rows.hidden(names.OWN_DEATH), rows.hidden(names.OWN_END)
            return cls(own, end, rows.death, rows.hidden(life.GROUP))
        if side.ends_with_later:
            return cls(never, never, horizon.latest_ends(hand), settled + 1)
        return cls(rows.death, ends(side, rows), rows.death, settled)


def told_lives(horizon: Horizon, state: JoinState) -> life.Lives:
    """Returns which rows end sooner than was told, and until when all lives are sure.

    So it is told of a row in each step that its end is found, until that is sure.
    """
    settings = horizon.settings
    if not settings.inherited:
        return life.NO_LIVES
    places, deaths = [], []
    for hand, before in enumerate(state.alive):
        if settings.sides[hand].groups > 1:
            death = _Ends.of(horizon, hand).death[: len(before)]
            # What ends as it was said to end when the step began need not be told.
            is_sooner = death < before.death
            places.append(before.place[is_sooner])
            deaths.append(death[is_sooner])
    if not places:
        return life.NO_LIVES
    place, death = np.concatenate(places), np.concatenate(deaths)
    # The settled group, which stands first, need not be told of.
    left, right = (
        (NEVER, *(watch.holds or (BEGINNING,) * side.holds))
        if side.inherits
        else (NEVER, watch.bound)[: side.groups]
        for side, watch in zip(settings.sides, horizon.present.watches, strict=True)
    )
    return life.Lives(
        np.zeros_like(place),
        place,
        death,
        tuple(min(ours, theirs) for ours in left for theirs in right)[1:],
    )


def handed_on(horizon: Horizon, leaving: pa.RecordBatch) -> pa.RecordBatch:
    """Returns rows that leave, which have their places, with the lives they hand on.

    One without a partner is alive at its own row time only; windows of a size are met
    at their ends.
    """
    settings = horizon.settings
    time: Whole = leaving.column("row_time").fill_null(BEGINNING).to_numpy()
    is_pair = leaving.column("outlet").to_numpy() == results.code(Outlet.MATCHED)
    is_pair &= leaving.column("reason").to_numpy() == results.code(results.Reason.NONE)
    is_pair &= not settings.copies_rows
    death, end, known = (np.full(len(time), NEVER) for _ in range(3))
    group, refs = np.full(len(time), life.SETTLED), {}
    for hand, name in enumerate((life.LEFT, life.RIGHT)):
        rows, found = horizon.present.rows[hand], _Ends.of(horizon, hand)
        there = np.flatnonzero(
            is_pair
            & leaving.column(("left", "right")[hand]).to_numpy(zero_copy_only=False)
        )
        place = leaving.column(name).to_numpy()[there]
        number = numbers_of(rows, place)
        death[there] = np.minimum(death[there], found.own_death[number])
        end[there] = np.minimum(end[there], found.own_end[number])
        known[there] = np.minimum(known[there], found.death[number])
        # One number for both sides' groups: each left one has as many as there are
        # right ones.
        own = found.group[number]
        group[there] += own if hand else own * settings.sides[1].groups
        refs[name] = np.full(len(time), life.NOBODY)
        refs[name][there] = np.where(own == life.SETTLED, life.NOBODY, place)
    lives = {
        life.BUCKET: np.zeros_like(group),
        **refs,
        life.GROUP: group,
        names.OWN_DEATH: np.where(is_pair, death, time + 1),
        names.OWN_END: np.where(is_pair, end, time),
        life.KNOWN_END: np.where(is_pair, known, time + 1),
    }
    told = results.without_places(leaving)
    for name in life.HANDED.names:
        told = told.append_column(name, pa.array(lives[name]))
    return told


def still_held(held: pa.RecordBatch, lives: life.Lives) -> pa.RecordBatch:
    """Returns rows that are held back for order, with the ends that are now told."""
    if not held.num_rows or not len(lives.place):
        return held
    columns = dict(zip(held.schema.names, held.columns, strict=True))
    end = columns[life.KNOWN_END].to_numpy()
    for name in (life.LEFT, life.RIGHT):
        bucket, place = (columns[one].to_numpy() for one in (life.BUCKET, name))
        end = np.minimum(end, lives.ends_of(bucket, place))
    columns[life.KNOWN_END] = pa.array(end)
    return pa.RecordBatch.from_arrays(list(columns.values()), schema=held.schema)
