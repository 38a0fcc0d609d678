"""Rows that come in one batch, in pieces where too many of them meet at once.

A step has all of its pairs in memory. So where it finds more of them than it may it
gives up, and the rows come in pieces, each of which is a step of its own:

    came      4,000 left and 4,000 right rows of one key: 16,000,000 pairs
    pieces    the first 500 rows | the next 500 | ..    each meets those before it

A piece that still finds too many is cut again.

By the law that no cut into batches changes a row this is another cut. It must only be
one of the order of arrival, and a piece says how far a side has come no sooner than all
rows are there that were judged before it was said.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from dovetail.kernels.arrays import names
from dovetail.kernels.arrays.rows import BEGINNING, NEVER, Whole
from dovetail.kernels.arrival.arrival import WHOLE, Parcel
from dovetail.kernels.settings import JoinSettings, waits_for
from dovetail.spec.inputs import Arrival

Parcels = list[Parcel]
_START = -1
"""Where all rows stand that are there from the start."""


def may_be_cut(settings: JoinSettings, parcels: Parcels) -> bool:
    """Tells whether rows may come in pieces, of which nobody could tell.

    Where rows go by turns, or are told of others, more is said with them than pieces
    could say; nor can they where it counts how far time had come at each of them. Those
    that wait for a bound meet with the last piece, however many there are.
    """
    asks_time = settings.asks_bounds or settings.reads_time
    is_told = settings.is_told or settings.inherits or settings.inherited
    is_step = settings.caused or settings.by_turns or settings.finds_lives
    return not (
        (settings.gathers or settings.changelog or is_told or is_step)
        or (settings.arrival is Arrival.SEQUENCE and asks_time)
        or any(waits_for(settings))
        or any(parcel.rows.open_time.any() for parcel in parcels)
        or any(names.TURN in parcel.rows.payload.schema.names for parcel in parcels)
    )


def pieces_of(settings: JoinSettings, parcels: Parcels, count: int) -> list[Parcels]:
    """Returns parcels in about so many pieces, none where their rows cannot be cut."""
    parcels = sorted(parcels, key=lambda one: (one.report.hand, one.report.position))
    stands = _stands(settings, parcels)
    every = np.sort(np.concatenate(stands))
    free = every[every > _START]
    if not len(free):
        return []
    many = min(len(free), max(2, count))
    edges = np.unique([_START, *free[np.arange(1, many) * len(free) // many - 1]])
    # The last piece has what is behind the last edge, so something must be.
    edges = edges[(every[0] <= edges) & (edges < every[-1])]
    if not len(edges):
        return []
    in_order = settings.arrival is Arrival.SEQUENCE
    return [
        _piece(parcels, stands, (first, last), in_order=in_order)
        for first, last in pairwise([_START - 1, *edges.tolist(), NEVER])
    ]


def _stands(settings: JoinSettings, parcels: Parcels) -> list[Whole]:
    """Returns where the rows of parcels stand in the order in which they are numbered.

    Those from the start stand before all others, and together.
    """
    counts = [len(parcel.rows) for parcel in parcels]
    place = np.concatenate([parcel.rows.place for parcel in parcels])
    hand = np.repeat([parcel.report.hand for parcel in parcels], counts)
    moment = np.concatenate([parcel.rows.moment for parcel in parcels])
    last_key_first = {
        Arrival.SEQUENCE: (hand, place),
        Arrival.MERGED: (place, hand, moment),
        Arrival.AS_READ: (place, hand),
    }
    stand = np.empty(len(place), np.int64)
    stand[np.lexsort(last_key_first[settings.arrival])] = np.arange(len(place))
    static = np.array([side.static for side in settings.sides])
    is_start = np.concatenate([parcel.rows.from_start for parcel in parcels])
    stand = np.where(is_start | static[hand], _START, stand)
    return np.split(stand, np.cumsum(counts)[:-1])


def _piece(
    parcels: Parcels, stands: list[Whole], span: tuple[int, int], *, in_order: bool
) -> Parcels:
    """Returns what comes behind the first place of a span, up to the last one.

    Rows without an order are judged by what was known before all of them, so what is
    said comes with the last; others by what was said with the parcels before.
    """
    first, last = span
    found: Parcels = []
    is_open = [False, False]
    for parcel, stand in zip(parcels, stands, strict=True):
        hand, waits = parcel.report.hand, bool((stand > last).any())
        is_open[hand] |= waits or (not in_order and last != NEVER)
        chosen = (stand > first) & (stand <= last)
        report = parcel.report
        if is_open[hand]:  # it says no more than that the side is there
            report = replace(
                report, bound=BEGINNING, newest=BEGINNING, stopped=NEVER, part=WHOLE
            )
        found.append(replace(parcel, report=report, rows=parcel.rows.take(chosen)))
    return found
