"""A result told by its changes: what is taken back, what comes, what is an update.

Two tables have a result that is a table too. At one place of the arrival some rows of
the result go and some come. In the order of the result, one that goes takes the first
that comes and has its left key, else the first that has its right key; the two are an
update, the old one first:

    goes   order 1 + trade 1             update_before   order 1 + trade 1
    comes  order 1 alone                 update_after    order 1 alone
    comes  order 2 + trade 2             insert          order 2 + trade 2

All rows of one left key are paired at once, then the rest by their right keys. That is
the same unless a row takes by its right key what a later one has by its left key; the
few places of the arrival where that happens are gone through row by row.
"""

from __future__ import annotations

from collections import defaultdict, deque
from dataclasses import dataclass, replace

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.names import hidden
from dovetail.kernels.arrays.rows import NEVER, Mask, Rows, Whole
from dovetail.kernels.arrival.admission import Present
from dovetail.kernels.arrival.time_limits import line_of
from dovetail.kernels.candidates.emission import not_skipped
from dovetail.kernels.pairs.matches import Matches
from dovetail.kernels.pairs.results import (
    ABSENT,
    OUTLETS,
    REASONS,
    WHEN,
    code,
    one_sided,
    table,
)
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.tables import result_rows
from dovetail.kernels.tables.stages import change_of_picks
from dovetail.spec.inputs import Change

KEY = hidden("key")
"""The payload column that numbers the keys of a table."""


@dataclass(frozen=True, slots=True)
class ResultChanges:
    """What goes and what comes during a step, and the rows with their new counts."""

    gone: result_rows.ResultRows
    come: result_rows.ResultRows
    rows: tuple[Rows, Rows]


def result_changes(
    settings: JoinSettings, present: Present, since: int
) -> ResultChanges:
    """Returns what changes about the result; rows from the place `since` on are new."""
    line = line_of(settings, present.rows, since)
    present = replace(present, rows=line.rows)
    # Where pairs decide about each other a left row is looked at as a whole.
    find = change_of_picks if settings.picks.ranks else result_rows.change_of_pairs
    change = find(settings, present, line.since)
    gone = [one.gone() for one in change.standing]
    come = [one.come(line.since) for one in change.standing]
    counted = list(present.rows)
    for hand, side in enumerate(settings.sides):
        if side.remembers:
            single = result_rows.Single(side, hand, counted[hand], line.since)
            off, on, counted[hand] = single.changes(change.met[hand])
            gone.append(off)
            come.append(on)
    out, back = (
        result_rows.join_results(
            [_not_skipped(settings, present, part) for part in parts]
        )
        for parts in (come, gone)
    )
    return ResultChanges(back, out, line.restored((counted[0], counted[1])))


def _not_skipped(
    settings: JoinSettings, present: Present, part: result_rows.ResultRows
) -> result_rows.ResultRows:
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
    leaving = one_sided(hands[0], ours, numbers, outlet, reason)
    return part.take(not_skipped(settings, present.rows, leaving).when)


def changelog(
    changes: ResultChanges, *, caused: bool = False
) -> tuple[pa.RecordBatch, ...]:
    """Returns the table of all changes in order, if any: what each of them is.

    Where somebody asks what has `caused` them, it says at which place they happen.
    """
    if not len(changes.gone.when) and not len(changes.come.when):
        return ()
    gone, come = (
        _in_order(part, changes.rows) for part in (changes.gone, changes.come)
    )
    successor = successors(_keyed(gone, changes.rows), _keyed(come, changes.rows))
    is_update = successor != ABSENT
    going, old = len(successor), np.flatnonzero(is_update)
    new = np.setdiff1d(np.arange(len(come.when)), successor[old], assume_unique=True)
    before = np.where(is_update, code(Change.UPDATE_BEFORE), code(Change.DELETE))
    after = np.full(len(old), code(Change.UPDATE_AFTER))
    fresh = np.full(len(new), code(Change.INSERT))
    kinds, steps, number = (
        np.concatenate((before, after, fresh)),
        np.concatenate((np.arange(going), old, going + new)),
        np.concatenate((np.arange(going), going + successor[old], going + new)),
    )
    parts = result_rows.join_results([gone, come]).take(number)
    # Of one step the old row of an update stands first: so the codes are ordered.
    order = np.lexsort((kinds, steps, parts.when))
    parts = parts.take(order)
    head = [
        pa.array(parts.outlet.astype(np.int8)),
        pa.array(parts.reason.astype(np.int8)),
        pa.nulls(len(order), pa.int64()),
    ]
    more = {
        "counter": pa.array(parts.counter),
        "change": pa.array(kinds[order].astype(np.int8)),
    }
    if caused:
        more[WHEN] = pa.array(parts.when)
    return (table(head, (parts.left, parts.right), changes.rows, more),)


def _in_order(
    results: result_rows.ResultRows, sides: tuple[Rows, Rows]
) -> result_rows.ResultRows:
    """Returns rows of the result in its order, place by place.

    Each left row's pairs come in the order of the right ones, then right rows alone.
    """
    left, right = (
        _at(side.place, index, absent)
        for side, index, absent in zip(
            sides, (results.left, results.right), (NEVER, ABSENT), strict=True
        )
    )
    return results.take(np.lexsort((right, left, results.when)))


def _keyed(results: result_rows.ResultRows, sides: tuple[Rows, Rows]) -> KeyedRows:
    """Returns when rows come or go, with the keys of what they are of."""
    left, right = (
        _at(side.hidden(KEY), index, ABSENT)
        for side, index in zip(sides, (results.left, results.right), strict=True)
    )
    return KeyedRows(results.when, (left, right))


def _at(values: Whole, index: Whole, absent: int) -> Whole:
    """Returns the values at row numbers, another one where the row is absent."""
    there = index != ABSENT
    result = np.full(len(index), absent)
    result[there] = values[index[there]]
    return result


@dataclass(frozen=True, slots=True)
class KeyedRows:
    """Rows of the result in its order: when they come or go, and their two keys."""

    when: Whole
    keys: tuple[Whole, Whole]

    def __len__(self) -> int:
        """Returns how many there are."""
        return len(self.when)


@dataclass(frozen=True, slots=True)
class _Groups:
    """Of one hand, numbers of (place, key) of all that go and come; or ABSENT."""

    gone: Whole
    come: Whole

    def where(self, gone: Mask, come: Mask) -> _Groups:
        """Returns the groups of the chosen rows alone."""
        return _Groups(
            np.where(gone, self.gone, ABSENT), np.where(come, self.come, ABSENT)
        )


def successors(gone: KeyedRows, come: KeyedRows) -> Whole:
    """Returns for each row that goes the number of the one in its place, or ABSENT."""
    result = np.full(len(gone), ABSENT)
    if not len(gone) or not len(come):
        return result
    lefts, rights = (_groups(gone, come, hand) for hand in (0, 1))
    by_left = _by_rank(lefts)
    free = np.ones(len(gone), bool), np.ones(len(come), bool)
    free[0][by_left.left] = False
    free[1][by_left.right] = False
    by_right = _by_rank(rights.where(*free))
    for pairs in (by_left, by_right):
        result[pairs.left] = pairs.right
    # Rows that would take what a later one has already been given by its left key.
    size = int(max(rights.gone.max(), rights.come.max())) + 1
    # Of each right key: the first row that found nobody, the last served by its left.
    earliest, latest = np.full(size, NEVER), np.full(size, ABSENT)
    without = np.flatnonzero(free[0] & (rights.gone != ABSENT))
    np.minimum.at(earliest, rights.gone[without], without)
    group = rights.come[by_left.right]
    np.maximum.at(latest, group[group != ABSENT], by_left.left[group != ABSENT])
    disputed = np.unique(gone.when[earliest[earliest < latest]])
    if len(disputed):
        rows = np.flatnonzero(np.isin(gone.when, disputed))
        others = np.flatnonzero(np.isin(come.when, disputed))
        result[rows] = _in_turn((lefts, rights), rows, others)
    return result


def _groups(gone: KeyedRows, come: KeyedRows, hand: int) -> _Groups:
    """Returns numbers for what rows that go and rows that come must share."""
    when = np.concatenate((gone.when, come.when))
    key = np.concatenate((gone.keys[hand], come.keys[hand]))
    # Place and key as one number: only rows of one place can replace each other.
    _, place = np.unique(when, return_inverse=True)
    known, dense = np.unique(key, return_inverse=True)
    _, group = np.unique(place * len(known) + dense, return_inverse=True)
    group = np.where(key == ABSENT, ABSENT, group)
    return _Groups(group[: len(gone)], group[len(gone) :])


def _by_rank(groups: _Groups) -> Matches:
    """Returns the first of each group that goes with the first that comes, and so on.

    Hands stand for what goes and what comes.
    """
    chosen = [np.flatnonzero(one != ABSENT) for one in (groups.gone, groups.come)]
    old, new = groups.gone[chosen[0]], groups.come[chosen[1]]
    # The first of a group that goes and the first that comes have one number.
    width = max(len(old), len(new)) + 1
    _, ours, theirs = np.intersect1d(
        old * width + _ranks(old),
        new * width + _ranks(new),
        assume_unique=True,
        return_indices=True,
    )
    return Matches(chosen[0][ours], chosen[1][theirs])


def _ranks(groups: Whole) -> Whole:
    """Returns for each row how many of its group stand before it."""
    order = np.argsort(groups, kind="stable")
    ordered = groups[order]
    ranks = np.empty(len(groups), np.int64)
    ranks[order] = np.arange(len(groups)) - np.searchsorted(ordered, ordered)
    return ranks


def _in_turn(hands: tuple[_Groups, _Groups], gone: Whole, come: Whole) -> Whole:
    """Returns the successors of some rows that go, found one after the other."""
    waiting: defaultdict[tuple[int, int], deque[int]] = defaultdict(deque)
    for number in come.tolist():
        for hand, groups in enumerate(hands):
            waiting[hand, int(groups.come[number])].append(number)
    taken = {ABSENT}
    found = []
    for number in gone.tolist():
        keys = [(hand, int(groups.gone[number])) for hand, groups in enumerate(hands)]
        lines = [waiting[key] for key in keys if key[1] != ABSENT]
        # Who has been taken from one line still stands in the other, up to its head.
        for line in lines:
            while line and line[0] in taken:
                line.popleft()
        found.append(next((line[0] for line in lines if line), ABSENT))
        taken.add(found[-1])
    return np.array(found, np.int64)
