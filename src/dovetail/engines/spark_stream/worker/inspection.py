"""What a bucket keeps, for who looks at a checkpoint: its counts, and rows of a key.

    blobs  -->  Store.whole  -->  counts as JSON | rows of the key as blobs

The state is read as a batch reads it, and nothing is written. All blobs of a bucket
come to one task, as those of its operator do.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from typing import Any

import numpy as np
import pyarrow as pa

from dovetail.engines.spark_stream.worker.bucket import shown_names
from dovetail.engines.spark_stream.worker.operator import DIRECTORY, Head
from dovetail.kernels.arrays.blobs import write_batch
from dovetail.kernels.arrays.rows import (
    BEGINNING,
    MISSING,
    NEVER,
    Mask,
    Rows,
    join_rows,
)
from dovetail.kernels.hot import hot_keys
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.store import Store

FOUND_DDL = "bucket int, counted string, left binary, right binary"
_FOUND = pa.schema(
    [
        ("bucket", pa.int32()),
        ("counted", pa.string()),
        ("left", pa.binary()),
        ("right", pa.binary()),
    ]
)
LIFE = ("since", "until", "met", "waits")
"""What stands behind the columns of a row that is shown."""
_NO_COLUMNS = pa.schema([])


@dataclass(frozen=True, slots=True)
class FoundShelf:
    """The blobs of a bucket as they were found, which nobody changes."""

    blobs: dict[int, bytes]

    def directory(self) -> bytes:
        """Returns the directory."""
        return self.blobs[DIRECTORY]

    def keep_directory(self, data: bytes) -> None:
        """Keeps nothing: who looks does not write."""
        raise NotImplementedError

    def get(self, number: int) -> bytes:
        """Returns a blob."""
        return self.blobs[number]

    def put(self, number: int, data: bytes) -> None:
        """Keeps nothing: who looks does not write."""
        raise NotImplementedError

    def drop(self, number: int) -> None:
        """Forgets nothing: who looks does not write."""
        raise NotImplementedError


def make_look(
    settings: JoinSettings, codes: tuple[int, ...] = ()
) -> Callable[[pa.Table], pa.Table]:
    """Returns the function for `applyInArrow` that looks at all blobs of a bucket.

    The rows of the codes are shown.
    """

    def look(lines: pa.Table) -> pa.Table:
        blobs: dict[int, bytes] = {}
        names = (lines.column(name).to_pylist() for name in ("number", "piece"))
        every = zip(*names, lines.column("data"), strict=True)
        in_order = sorted(every, key=itemgetter(0, 1))
        for number, own in groupby(in_order, itemgetter(0)):
            blobs[number] = b"".join(data.as_py() for *_, data in own)
        head = Head.read(blobs[DIRECTORY])
        blobs |= {**head.small, DIRECTORY: head.directory}
        counted, shown = looked_at(settings, blobs, codes)
        row = (lines.column("bucket")[0].as_py(), json.dumps(counted), *shown)
        columns = [
            pa.array([value], kind)
            for value, kind in zip(row, _FOUND.types, strict=True)
        ]
        return pa.Table.from_arrays(columns, schema=_FOUND)

    return look


def looked_at(
    settings: JoinSettings, blobs: dict[int, bytes], codes: tuple[int, ...]
) -> tuple[dict[str, Any], list[bytes]]:
    """Returns what is counted of a bucket, and the rows of some codes of each side."""
    # Columns are asked of new rows alone, and none come here.
    store = Store(settings, (_NO_COLUMNS, _NO_COLUMNS), FoundShelf(blobs))
    state = store.whole()
    sides, shown = [], []
    for hand in (0, 1):
        alive, waiting = state.alive[hand], state.waiting[hand]
        rows = join_rows([alive, waiting])
        waits = np.arange(len(rows)) >= len(alive)
        kinds = (store.sides[hand], store.waiting[hand])
        bound = state.watches[hand].bound
        met = _met(settings, hand, rows)
        timed = rows.moment[rows.moment != MISSING]
        sides.append(
            {
                "rows": len(rows),
                "waiting": len(waiting),
                "bytes": sum(kind.bytes for kind in kinds),
                "chunks": sum(len(kind.chunks) for kind in kinds),
                "deltas": sum(len(kind.deltas) for kind in kinds),
                "matched": None if met is None else int(np.count_nonzero(met)),
                "times": [int(timed.min()), int(timed.max())] if len(timed) else [],
                # Either end of all time says that no bound is known, or that all is.
                "bound": bound if BEGINNING < bound < NEVER else None,
                "hot": hot_keys(settings, [rows]),
            }
        )
        chosen = rows.has_key & np.isin(rows.code, codes)
        shown.append(_shown(settings, hand, rows.take(chosen), waits[chosen]))
    size = sum(map(len, blobs.values()))
    return {"sides": sides, "held": state.held.num_rows, "bytes": size}, shown


def _met(settings: JoinSettings, hand: int, rows: Rows) -> Mask | None:
    """Tells which rows have met somebody; nothing where the join does not remember."""
    if settings.changelog:
        return rows.partners > 0
    return rows.met < NEVER if settings.sides[hand].remembers else None


def _shown(settings: JoinSettings, hand: int, rows: Rows, waits: Mask) -> bytes:
    """Returns rows with the columns that a user knows, and behind them their lives."""
    payload = rows.payload.select(shown_names(rows.payload.schema))
    met = _met(settings, hand, rows)
    ends = (
        pa.array(one, mask=(one <= BEGINNING) | (one >= NEVER))
        for one in (rows.birth, rows.death)
    )
    has_met = pa.nulls(len(rows), pa.bool_()) if met is None else pa.array(met)
    columns = [*payload.columns, *ends, has_met, pa.array(waits)]
    names = [*payload.schema.names, *LIFE]
    return write_batch(pa.RecordBatch.from_arrays(columns, names=names))
