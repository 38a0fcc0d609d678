"""A result told by its changes: what is taken back, what is given, what is an update.

Two tables have a result that is a table too. One change of a table takes rows of the
result away and brings others; two of one key leave as an update, the old one first.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.names import hidden
from dovetail.kernels.arrays.rows import NEVER, Rows, Whole
from dovetail.kernels.pairs.results import ABSENT, code, table
from dovetail.kernels.tables.result import Turned
from dovetail.kernels.tables.turns import Turns, join_turns
from dovetail.kernels.tables.updates import Results, successors
from dovetail.spec.inputs import Change

KEY = hidden("key")
"""The payload column that numbers the keys of a table."""


def changelog(turned: Turned) -> tuple[pa.RecordBatch, ...]:
    """Returns the table of all changes in order, if any: what each of them is."""
    if not len(turned.gone.when) and not len(turned.come.when):
        return ()
    gone, come = (_in_order(part, turned.rows) for part in (turned.gone, turned.come))
    successor = successors(_results(gone, turned.rows), _results(come, turned.rows))
    changes, steps, number = _listed(successor, len(come.when))
    parts = join_turns([gone, come]).take(number)
    order = np.lexsort((changes, steps, parts.when))
    parts = parts.take(order)
    head = [
        pa.array(parts.outlet.astype(np.int8)),
        pa.array(parts.reason.astype(np.int8)),
        pa.nulls(len(order), pa.int64()),
    ]
    more = {
        "counter": pa.array(parts.counter),
        "change": pa.array(changes[order].astype(np.int8)),
    }
    return (table(head, (parts.left, parts.right), turned.rows, more),)


def _listed(successor: Whole, coming: int) -> tuple[Whole, Whole, Whole]:
    """Returns all changes: what each is, its step, its row.

    Rows are numbered from the first that goes to the last that comes. A step is that
    of the row that goes; what only comes stands behind all steps of its place.
    """
    is_update = successor != ABSENT
    going, old = len(successor), np.flatnonzero(is_update)
    new = np.setdiff1d(np.arange(coming), successor[old], assume_unique=True)
    changes = np.where(is_update, code(Change.UPDATE_BEFORE), code(Change.DELETE))
    after = np.full(len(old), code(Change.UPDATE_AFTER))
    fresh = np.full(len(new), code(Change.INSERT))
    return (
        np.concatenate((changes, after, fresh)),
        np.concatenate((np.arange(going), old, going + new)),
        np.concatenate((np.arange(going), going + successor[old], going + new)),
    )


def _in_order(turns: Turns, sides: tuple[Rows, Rows]) -> Turns:
    """Returns rows of the result in its order, place by place.

    Each left row's pairs come in the order of the right ones, then right rows alone.
    """
    left, right = (
        _at(side.place, index, absent)
        for side, index, absent in zip(
            sides, (turns.left, turns.right), (NEVER, ABSENT), strict=True
        )
    )
    return turns.take(np.lexsort((right, left, turns.when)))


def _results(turns: Turns, sides: tuple[Rows, Rows]) -> Results:
    """Returns when rows come or go, with the keys of what they are of."""
    left, right = (
        _at(_keys(side), index, ABSENT)
        for side, index in zip(sides, (turns.left, turns.right), strict=True)
    )
    return Results(turns.when, (left, right))


def _keys(rows: Rows) -> Whole:
    """Returns the numbers of the rows' keys."""
    keys: Whole = rows.payload.column(KEY).to_numpy(zero_copy_only=False)
    return keys


def _at(values: Whole, index: Whole, absent: int) -> Whole:
    """Returns the values at row numbers, another one where the row is absent."""
    there = index != ABSENT
    result = np.full(len(index), absent)
    result[there] = values[index[there]]
    return result
