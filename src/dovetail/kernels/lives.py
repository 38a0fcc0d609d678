"""Lives of rows that rows of other keys end: found in one place, told to many.

    rows by their keys ----------------------> buckets of the join
    of each a few numbers -> this step -told-> the same buckets

Here come all rows of both sides, without what is shown of them. They are let in as the
buckets let them in, who hear the same reports, and so get their places in one order;
windows, evictions and time end them as they would in a join of one bucket. What is
found is told; nobody meets. Kept is only who is alive.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa

from dovetail.kernels import step
from dovetail.kernels.arrays import names
from dovetail.kernels.arrays.rows import NEVER, Rows, Whole
from dovetail.kernels.arrival.arrival import Parcel
from dovetail.kernels.arrival.time_limits import KEYLESS
from dovetail.kernels.demand import nobody_due
from dovetail.kernels.lifetimes import lives, measures
from dovetail.kernels.pairs.matches import NO_MATCHES
from dovetail.kernels.pairs.memo import rows_of_pairs
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.state import JoinState
from dovetail.kernels.unmatched.outcome import stays

_SEEN = (names.BAD, names.CLOCK, KEYLESS, *measures.NAMES, names.TURN)
"""The hidden columns by which lives are found, and the order of rows of a join."""


def seen_schema(payload: pa.Schema) -> pa.Schema:
    """Returns the columns that come here of rows with a payload."""
    seen = [payload.field(name) for name in _SEEN if name in payload.names]
    return pa.schema([(lives.LABEL, pa.int64()), (lives.CODE, pa.int64()), *seen])


def as_seen(rows: Rows, labels: Whole) -> Rows:
    """Returns rows as they come here, each with the label of its own bucket.

    Here rows of a partition end each other: so that is their key.
    """
    schema = seen_schema(rows.payload.schema)
    own = [pa.array(labels), pa.array(rows.code)]
    own += [rows.payload.column(name) for name in schema.names[len(own) :]]
    payload = pa.RecordBatch.from_arrays(own, schema=schema)
    return replace(rows, code=rows.partition, payload=payload)


Tidings = dict[tuple[int, int], lives.Told]
"""What is told, by the bucket that hears it and the hand of the rows."""


def lives_step(
    settings: JoinSettings,
    state: JoinState,
    alive: tuple[int, int],
    parcels: list[Parcel],
    now: int,
) -> tuple[step.Stepped, Tidings]:
    """Returns the state, and what is told of the lives that have begun or ended.

    So many rows of both sides were `alive`, of which the state has those that may end.
    """
    _, present = step.let_in(settings, state, parcels, now)
    sides = list(present.rows)
    tidings: Tidings = {}
    for hand, old in enumerate(present.old):
        if newest := settings.newest_of_all(hand):
            sides[hand] = _counted(sides[hand], old, newest - alive[hand])
        # Of newcomers their places are told too, of others only the end.
        is_new = np.arange(len(sides[hand])) >= old
        changed = sides[hand].take(is_new | (sides[hand].death < NEVER))
        labels = changed.hidden(lives.LABEL)
        for label in np.unique(labels).tolist():
            tidings[label, hand] = lives.Told.of(changed.take(labels == label))
    present = replace(present, rows=(sides[0], sides[1]))
    left, right = (stays(settings, present, hand) for hand in (0, 1))
    due, pairs = nobody_due(present.rows), rows_of_pairs(present.rows, NO_MATCHES)
    return step.Stepped(present, (left, right), state.held, (), due, pairs), tidings


def _counted(rows: Rows, old: int, room: int) -> Rows:
    """Returns rows in the order in which they came, those ended that are too many.

    The first `old` ones are the oldest; there is room for so many before they end.
    """
    order = np.argsort(rows.place[old:])
    rows = rows.take(np.concatenate((np.arange(old), old + order)))
    came = rows.place[old:]
    # The oldest end first, whoever comes: each newcomer behind the room ends the next.
    ends = came[max(0, room) :]
    death = np.full(len(rows), NEVER)
    death[: len(ends)] = ends
    return rows.with_arrays(death=death)
