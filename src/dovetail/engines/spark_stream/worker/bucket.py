"""What a bucket does in a batch: lines of pack in, one step, lines of results out.

    lines of pack     one a task, side and bucket: a report, and its rows as a blob
    delivery          the parcels that a step takes, and the batch's own time
    step              on the state that a memory keeps
    lines of results  blobs of the rows that come out, beside the first what is counted
    rows              read from the blobs again, as plain typed columns

A task sends a line even where no row of it is for the bucket: so every bucket hears in
the same batch how far each side has come. Nothing here knows Spark: its operator and
`mapInArrow` call these functions, and so does whoever plays a join without it.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import NamedTuple, Protocol

import numpy as np
import pyarrow as pa

from dovetail.kernels.arrays.blobs import read_batch, read_rows, write_batch
from dovetail.kernels.arrays.names import HIDDEN, REST, TURN
from dovetail.kernels.arrays.rows import (
    BEGINNING,
    MISSING,
    NEVER,
    Rows,
    no_rows,
)
from dovetail.kernels.arrival.arrival import WHOLE, Parcel, Report
from dovetail.kernels.arrival.causes import CAUSES
from dovetail.kernels.gather import gather
from dovetail.kernels.hot import hot_keys
from dovetail.kernels.lifetimes import lives as life
from dovetail.kernels.lives import lives_step
from dovetail.kernels.pairs.matches import TooManyPairsError
from dovetail.kernels.pairs.results import (
    UNMATCHED,
    Reason,
    code,
    has_numbers,
    with_values,
)
from dovetail.kernels.pieces import may_be_cut, pieces_of
from dovetail.kernels.settings import JoinSettings
from dovetail.kernels.state import JoinState
from dovetail.kernels.step import Stepped, step
from dovetail.kernels.store import Amount, Saved, Store
from dovetail.spec.inputs import Outlet

HEARTBEAT, TOLD, PASSED, LIVES, ENDS = 2, 3, 5, 6, 8
"""What stands for the hand of a line that brings no rows of a side.

It only tells the time; or, with the hand on top, how far the join has come whose rows
are a side; or it passes on what a join has let out that is no row of a side, by the
number of that join in place of a position; or, with the hand on top, when lives begin
and end that are found elsewhere; or when those end that rows of a join hand on.
"""
IN_FRONT = -1
"""In place of a join's number: what steps in front of the join let go by."""
LINE = pa.schema(
    [
        ("bucket", pa.int32()),
        ("hand", pa.int32()),
        ("position", pa.int64()),
        ("bound", pa.int64()),
        ("newest", pa.int64()),
        ("seen", pa.bool_()),
        ("now", pa.int64()),
        ("stopped", pa.int64()),
        ("part", pa.int64()),
        ("blob", pa.binary()),
    ]
)
LINE_DDL = (
    "bucket int, hand int, position bigint, bound bigint, newest bigint, "
    "seen boolean, now bigint, stopped bigint, part bigint, blob binary"
)
RESULT_DDL = (
    "blob binary, join int, bucket int, until bigint, lives binary, "
    "counts array<bigint>, hot string"
)
RESULT_NAMES = tuple(part.split()[0] for part in RESULT_DDL.split(", "))
RELAYED = RESULT_NAMES[:5]
"""Whose rows a blob has, where it is from, below which row time no more come, and when
lives end that rows hand on.

The last two stand on the first line of a bucket; elsewhere they are MISSING, and null.
"""
BLOB, JOIN = RESULT_NAMES[:2]
COUNTS, HOT = RESULT_NAMES[5:]
OF_SIDE = ("came", "met", "unmatched", "late", "failed", *Amount._fields)
"""What is counted of each side."""
BOUNDS = ("left_bound", "right_bound")
LARGEST = "largest"
COUNTED = (
    *(f"{hand}_{name}" for hand in ("left", "right") for name in OF_SIDE),
    *("matched", "written", "buckets"),
    *BOUNDS,
    LARGEST,
)
"""All that a bucket counts: sums, but for bounds and the rows of the largest bucket."""
_OF_PIECES = {
    f"{hand}_{name}"
    for hand in ("left", "right")
    for name in (*OF_SIDE[: -len(Amount._fields)], "evicted")
} | {"matched", "written"}
"""What each piece of a delivery counts of its own; all else is as the last one says."""
BLOB_BYTES = 128 << 10
"""So much one line holds: Spark hands a thousand lines over at once, and holds them
outside its heap, twice while they grow."""

# So many blobs go back to Spark as one, and so many rows of one that has more.
_TOGETHER, AT_ONCE = 16, 1 << 16


class Line(NamedTuple):
    """One line of pack, in the order of `LINE`."""

    bucket: int
    hand: int
    position: int
    bound: int
    newest: int
    seen: bool
    now: int
    stopped: int
    part: int
    blob: bytes | None

    def report(self) -> Report:
        """Returns what the line says of a side."""
        times = self.bound, self.newest, self.seen, self.stopped
        return Report(self.hand, self.position, *times, self.part)


@dataclass(frozen=True, slots=True)
class Passed:
    """A blob of results of another join, by its number."""

    join: int
    blob: bytes


@dataclass(frozen=True, slots=True)
class Delivery:
    """All that one bucket got in a batch; what is `passed` on is not its own."""

    parcels: list[Parcel]
    now: int
    bucket: int = 0
    passed: tuple[Passed, ...] = ()


def read_delivery(
    lines: Iterable[Line], schemas: tuple[pa.Schema, pa.Schema]
) -> Delivery:
    """Returns the parcels in a bucket's lines; blobs of one report are put together.

    All buckets of a join inside tell how far they have come, or none: the least counts,
    for what comes after this batch.
    """
    passed: list[Passed] = []
    told: dict[int, int] = {}
    lives: dict[int, life.Told] = {}
    ends: dict[int, list[life.Lives]] = {}
    reports: dict[tuple[int, int, int], Report] = {}
    blobs: dict[tuple[int, int, int], list[bytes]] = {}
    now, bucket = BEGINNING, 0
    for line in lines:
        now, bucket = max(now, line.now), line.bucket
        # The highest of the others first: the hand of a side stands on top of each.
        if line.hand == PASSED:
            passed.append(Passed(line.position, line.blob or b""))
        elif line.hand >= ENDS:
            some = life.Lives.read(read_batch(line.blob or b""))
            ends.setdefault(line.hand - ENDS, []).append(some)
        elif line.hand >= LIVES:
            lives[line.hand - LIVES] = life.Told.read(read_batch(line.blob or b""))
        elif line.hand >= TOLD:
            # Each task tells the least of the buckets that it has read.
            hand = line.hand - TOLD
            told[hand] = min(told.get(hand, NEVER), line.bound)
        if line.hand >= HEARTBEAT:
            continue
        report = line.report()
        key = (report.hand, report.position, report.part)
        reports[key] = _further(reports.get(key, report), report)
        if line.blob is not None:
            blobs.setdefault(key, []).append(line.blob)
    rows = {key: read_rows(some) for key, some in blobs.items()}
    parcels = [
        Parcel(report, rows.get(key) or no_rows(schemas[report.hand]))
        for key, report in reports.items()
    ]
    # Behind all rows of the batch: some of them are older than what it now says.
    for hand in told.keys() | lives.keys() | ends.keys():
        report = Report(hand, NEVER, told.get(hand, BEGINNING), BEGINNING, seen=False)
        known = lives.get(hand, life.NOTHING_TOLD)
        inherited = life.lives_of_all(ends.get(hand, ()))
        parcels.append(Parcel(report, no_rows(schemas[hand]), inherited, known))
    return Delivery(parcels, now, bucket, tuple(passed))


def _further(known: Report, more: Report) -> Report:
    """Returns the further one of two reports that stand at the same position."""
    return Report(
        known.hand,
        known.position,
        max(known.bound, more.bound),
        max(known.newest, more.newest),
        known.seen or more.seen,
        min(known.stopped, more.stopped),
        known.part,
    )


class Memory(Protocol):
    """Where a bucket's state lies between two batches: `kernels.store.Store` is one."""

    def load(self, parcels: list[Parcel], now: int) -> JoinState:
        """Returns the state as the last batch left it, as far as a step asks for it."""

    def save(self, stepped: Stepped) -> Saved:
        """Keeps what a step leaves behind."""


MOST_PAIRS = 1 << 20
"""So many new pairs one step finds at most where its rows may come in pieces."""


@dataclass(frozen=True, slots=True)
class Ran:
    """What came of a delivery: results as blobs, what is counted, its last step.

    Pieces of a delivery are steps, each with counts of its own.
    """

    settings: JoinSettings
    delivery: Delivery
    stepped: Stepped
    blobs: tuple[bytes, ...]
    counted: tuple[list[int | None], ...]

    def lines(self) -> list[tuple[bytes | int | None, ...]]:
        """Returns the lines of results; what is counted stands beside the first blob.

        So there is one line where nothing comes out. Own results are those of join 0.
        """
        blobs = [(blob, 0) for blob in self.blobs or [None]]
        blobs += [(one.blob, one.join) for one in self.delivery.passed]
        lives, ends = self.stepped.lives, None
        if not lives.says_nothing:
            # Of lives that rows hand on the next join hears whose rows they are.
            whose = np.full(len(lives.place), self.delivery.bucket)
            ends = write_batch(replace(lives, bucket=whose).written())
        counted = (self.stepped.until, ends, self.counts(), self.hot())
        nothing = (MISSING, None, None, None)
        return [
            (blob, join, self.delivery.bucket, *(nothing if number else counted))
            for number, (blob, join) in enumerate(blobs)
        ]

    def counts(self) -> list[int | None]:
        """Returns what is counted, as `COUNTED` names it."""
        *before, last = self.counted
        every = zip(COUNTED, last, *before, strict=True)
        return [
            sum(filter(None, counts)) if name in _OF_PIECES else counts[0]
            for name, *counts in every
        ]

    def hot(self) -> str | None:
        """Returns the keys of the most rows that came, if any came twice."""
        parcels = self.delivery.parcels
        found = [hot_keys(self.settings, _came(parcels, hand)) for hand in (0, 1)]
        return json.dumps(found) if any(found) else None


def run_batch(settings: JoinSettings, memory: Memory, delivery: Delivery) -> Ran:
    """Returns what a bucket's steps make of a delivery, its state kept.

    It is one step, or several of pieces where too many rows meet.
    """
    play = gather if settings.gathers else step
    most = MOST_PAIRS if may_be_cut(settings, delivery.parcels) else NEVER
    waiting, now = [(delivery.parcels, most)], delivery.now
    blobs: list[bytes] = []
    counted: list[list[int | None]] = []
    while True:
        parcels, most = waiting.pop()
        asked, state = replace(settings, most_pairs=most), memory.load(parcels, now)
        try:
            stepped = play(asked, state, parcels, now)
        except TooManyPairsError as error:
            pieces = pieces_of(settings, parcels, -(-error.pairs // most))
            # A row that meets too many alone does so in one step.
            several = [(one, most) for one in reversed(pieces)]
            waiting += several or [(parcels, NEVER)]
            continue
        counted.append(_counts(parcels, stepped, memory.save(stepped)))
        blobs += as_blobs(stepped.out)
        if not waiting:
            return Ran(settings, delivery, stepped, tuple(blobs), tuple(counted))


def as_blobs(out: Iterable[pa.RecordBatch]) -> Iterator[bytes]:
    """Gives results as blobs, so many of their bytes in each."""
    for batch in out:
        if has_numbers(batch):
            # Whole, for each blob would have all rows; the numbers are runs.
            yield write_batch(batch, is_packed=True)
            continue
        each = max(1, int(BLOB_BYTES // (batch.nbytes / batch.num_rows + 1)))
        for start in range(0, batch.num_rows, each):
            yield write_batch(batch.slice(start, each))


def _counts(parcels: list[Parcel], stepped: Stepped, saved: Saved) -> list[int | None]:
    """Returns what a step has counted, as `COUNTED` names it."""
    present, kept = stepped.present, saved.sides
    matched, went = _went(stepped.out)
    sides = [
        value
        for hand in (0, 1)
        for value in (
            sum(len(rows) for rows in _came(parcels, hand)),
            stepped.met[hand],
            *went[hand],
            *kept[hand],
        )
    ]
    # Either end of all time is no moment that anybody could be told.
    bounds = [
        watch.bound if BEGINNING < watch.bound < NEVER else None
        for watch in present.watches
    ]
    # Spark observes the greatest of all buckets: so uneven are they.
    rows = kept[0].alive + kept[1].alive
    return [*sides, matched, saved.written, 1, *bounds, rows]


def _came(parcels: list[Parcel], hand: int) -> list[Rows]:
    """Returns the rows that came on a side."""
    return [one.rows for one in parcels if one.report.hand == hand]


def run_lives(settings: JoinSettings, store: Store, delivery: Delivery) -> list[Line]:
    """Returns what is told of a delivery's rows and older ones, the state kept."""
    parcels, now = delivery.parcels, delivery.now
    state = store.load(parcels, now)
    stepped, tidings = lives_step(settings, state, store.alive, parcels, now)
    store.save(stepped)
    return [
        Line(
            bucket=label,
            hand=LIVES + hand,
            position=0,
            bound=BEGINNING,
            newest=BEGINNING,
            seen=False,
            now=BEGINNING,
            stopped=NEVER,
            part=WHOLE,
            blob=write_batch(told.written()),
        )
        for (label, hand), told in tidings.items()
    ]


def _went(out: Iterable[pa.RecordBatch]) -> tuple[int, list[list[int]]]:
    """Returns how many rows matched, and of each side what became of others.

    They are unmatched, late, or have failed: without a time, or with a bad interval.
    """
    matched, sides = 0, [[0, 0, 0], [0, 0, 0]]
    for batch in out:
        outlets = batch.column("outlet").to_numpy()
        matched += int(np.count_nonzero(outlets == code(Outlet.MATCHED)))
        for hand, outlet in enumerate(UNMATCHED):
            sides[hand][0] += int(np.count_nonzero(outlets == code(outlet)))
        late = outlets == code(Outlet.LATE)
        if not late.any():
            continue
        is_late = batch.column("reason").to_numpy() == code(Reason.LATE)
        is_left = batch.column("left").to_numpy(zero_copy_only=False)
        for hand, own in enumerate((late & is_left, late & ~is_left)):
            sides[hand][1] += int(np.count_nonzero(own & is_late))
            sides[hand][2] += int(np.count_nonzero(own & ~is_late))
    return matched, sides


OUTLET, REASON, ROW_TIME, LEFT, RIGHT = "outlet", "reason", "row_time", "left", "right"
HEAD = pa.schema(
    [
        (OUTLET, pa.int8()),
        (REASON, pa.int8()),
        (ROW_TIME, pa.timestamp("us", tz="UTC")),
        (LEFT, pa.bool_()),
        (RIGHT, pa.bool_()),
    ]
)
"""What stands before both sides' columns of a row that comes out."""
COUNTER, CHANGE = "counter", "change"
MORE = pa.schema([(COUNTER, pa.int64()), (CHANGE, pa.int8())])
"""What may stand behind them: each batch has what can be seen of its own rows."""


_NOTHING = {TURN: b"", REST: ()}


def told_beside(
    settings: JoinSettings, schemas: tuple[pa.Schema, pa.Schema]
) -> pa.Schema:
    """Returns what stands behind both sides of a join's rows that come out."""
    asked = {
        COUNTER: settings.picks.numbered,
        CHANGE: settings.retracts or settings.changelog,
    }
    told = [MORE.field(name) for name, is_asked in asked.items() if is_asked]
    told += [*CAUSES] if settings.caused else []
    told += [*life.HANDED] if settings.inherited else []
    for one in settings.sets:
        row = pa.struct([(name, schemas[0].field(name).type) for name in one.columns])
        told.append(pa.field(REST, pa.list_(row)))
    return pa.schema(told)


def shown_names(payload: pa.Schema) -> list[str]:
    """Returns the columns of a side that come out; hidden ones are for matching."""
    return [name for name in payload.names if not name.startswith(HIDDEN)]


def result_schema(
    schemas: tuple[pa.Schema, pa.Schema], more: Iterable[pa.Field] = ()
) -> pa.Schema:
    """Returns the columns of rows that come out: head, `l0`, .., `r0`, .., and more.

    The sides' columns are numbered, since two users' columns may have one name.
    """
    sides = [
        pa.field(f"{letter}{number}", payload.field(name).type)
        for letter, payload in zip("lr", schemas, strict=True)
        for number, name in enumerate(shown_names(payload))
    ]
    return pa.schema([*HEAD, *sides, *more])


Batches = Iterator[pa.RecordBatch]


def make_unpack(
    schema: pa.Schema,
    names: Sequence[str],
    outlets: Sequence[int],
    *,
    there: Sequence[int] = (),
) -> Callable[[Batches], Batches]:
    """Returns the function for `mapInArrow`; Spark reads its columns by position.

    It gives these columns of the rows that leave by these outlets: what nobody looks
    at costs most where Spark makes rows of it. Those at some places are always `there`.
    """
    read = list(dict.fromkeys((OUTLET, *names)))
    # One column may be shown twice, and of two fields of one name Arrow writes one.
    apart = [*names] if len({*names}) == len(names) else [*map(str, range(len(names)))]

    def unpack(batches: Batches) -> Batches:
        for batch in batches:
            blobs = batch.column(0).drop_null()
            # Some together: what is done once for each costs as much as many rows.
            for start in range(0, len(blobs), _TOGETHER):
                some = blobs.slice(start, _TOGETHER)
                for rows in _tables(some, schema, read):
                    leaves = np.isin(rows.column(OUTLET).to_numpy(), outlets)
                    shown = rows.select(names)
                    if not leaves.all():
                        shown = shown.filter(pa.array(leaves))
                    # Spark would read what lies below a null, and not say so.
                    if any(shown.column(at).null_count for at in there):
                        raise AssertionError([names[at] for at in there])
                    yield shown.rename_columns(apart)

    return unpack


def _tables(
    blobs: pa.Array, schema: pa.Schema, names: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Gives these columns of the rows of blobs.

    Those of many rows come by themselves, some rows at a time.
    """
    found = (read_batch(blob.as_buffer()) for blob in blobs)
    for is_tall, tables in groupby(found, has_numbers):
        if not is_tall:
            yield pa.concat_batches([as_told(one, schema, names) for one in tables])
            continue
        for tall in tables:
            for start in range(0, tall.num_rows, AT_ONCE):
                some = with_values(tall.slice(start, AT_ONCE), names)
                yield as_told(some, schema, names)


def unpacked(blob: bytes | pa.Buffer, schema: pa.Schema) -> pa.RecordBatch:
    """Returns the rows of a blob of results, in the types of a schema."""
    return as_told(with_values(read_batch(blob)), schema)


def as_told(
    found: pa.RecordBatch, schema: pa.Schema, names: Sequence[str] | None = None
) -> pa.RecordBatch:
    """Returns rows of results in the types of a schema: these columns, or all.

    Columns go by their places: two sides' may have one name. Only what stands behind
    them goes by its name; where nothing is said of it, it is 0, or empty.
    """
    behind = {*MORE.names, *CAUSES.names, *life.HANDED.names, REST}
    asked = schema.names if names is None else names
    columns = []
    for name in asked:
        at = schema.get_field_index(name)
        kind = schema.types[at]
        if name not in behind:
            column = found.column(at)
        elif name in found.schema.names:
            column = found.column(name)
        else:
            nothing = pa.scalar(_NOTHING.get(name, 0), kind)
            column = pa.repeat(nothing, found.num_rows)
        columns.append(column if column.type == kind else column.cast(kind))
    return pa.RecordBatch.from_arrays(columns, names=list(asked))
