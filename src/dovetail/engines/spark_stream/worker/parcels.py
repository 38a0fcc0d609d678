"""What travels from pack to operator: a task's report, with rows for one bucket.

One line a task, side and bucket, even where no row of the task is for the bucket: so
every bucket hears in the same batch how far each side has come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple, cast

import pandas as pd
import pyarrow as pa

from dovetail.kernels.arrays.blobs import read_rows
from dovetail.kernels.arrays.rows import BEGINNING, Rows, join_rows, no_rows
from dovetail.kernels.arrival.arrival import Parcel, Report

HEARTBEAT = 2
LINE = pa.schema(
    [
        ("bucket", pa.int32()),
        ("hand", pa.int32()),
        ("position", pa.int64()),
        ("bound", pa.int64()),
        ("newest", pa.int64()),
        ("seen", pa.bool_()),
        ("now", pa.int64()),
        ("blob", pa.binary()),
    ]
)
LINE_DDL = (
    "bucket int, hand int, position bigint, bound bigint, newest bigint, "
    "seen boolean, now bigint, blob binary"
)


class Line(NamedTuple):
    """One line, as the operator reads it."""

    bucket: int
    hand: int
    position: int
    bound: int
    newest: int
    seen: bool
    now: int
    blob: bytes | None


@dataclass(frozen=True, slots=True)
class Delivery:
    """All that one bucket got in a batch."""

    parcels: list[Parcel]
    now: int
    rows: int


def read_delivery(
    frames: Iterable[pd.DataFrame], schemas: tuple[pa.Schema, pa.Schema]
) -> Delivery:
    """Returns the parcels in a bucket's lines; blobs of one report are put together."""
    reports: dict[tuple[int, int], Report] = {}
    blobs: dict[tuple[int, int], list[Rows]] = {}
    now = BEGINNING
    for line in _lines(frames):
        now = max(now, line.now)
        if line.hand == HEARTBEAT:
            continue
        report = Report(line.hand, line.position, line.bound, line.newest, line.seen)
        key = (report.hand, report.position)
        reports[key] = _latest(reports.get(key, report), report)
        if line.blob is not None:
            blobs.setdefault(key, []).append(read_rows(line.blob))
    parcels = [
        Parcel(report, join_rows(blobs.get(key) or [no_rows(schemas[report.hand])]))
        for key, report in reports.items()
    ]
    return Delivery(parcels, now, sum(len(parcel.rows) for parcel in parcels))


def _lines(frames: Iterable[pd.DataFrame]) -> Iterator[Line]:
    """Gives the lines of all frames."""
    for frame in frames:
        yield from (
            Line(*cast("tuple[int, int, int, int, int, bool, int, bytes | None]", line))
            for line in frame.itertuples(index=False, name=None)
        )


def _latest(known: Report, more: Report) -> Report:
    """Returns the further one of two reports that stand at the same position."""
    return Report(
        known.hand,
        known.position,
        max(known.bound, more.bound),
        max(known.newest, more.newest),
        known.seen or more.seen,
    )
