"""Pack: rows in, one line a bucket out, inside `mapInArrow`.

It hashes each key to a bucket, notes which rows are late by what their own task has
seen, and writes the rows of a bucket as one Arrow blob. After it Spark moves a handful
of fat lines instead of rows, and has no late rows to drop.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from itertools import pairwise

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from dovetail.engines.spark_stream.worker.bucket import (
    BLOB_BYTES,
    ENDS,
    HEARTBEAT,
    IN_FRONT,
    LINE,
    PASSED,
    TOLD,
)
from dovetail.kernels.arrays.blobs import append_batch, as_batch, read_batch, shortened
from dovetail.kernels.arrays.names import BAD, LineKind
from dovetail.kernels.arrays.rows import (
    BEGINNING,
    MISSING,
    NEVER,
    Mask,
    Rows,
    Whole,
    flags_of,
    make_rows,
    take_payload,
)
from dovetail.kernels.arrival.arrival import WHOLE
from dovetail.kernels.lifetimes.calendar import shift
from dovetail.kernels.lifetimes.lives import Lives, lives_of_all
from dovetail.kernels.lifetimes.measures import measures
from dovetail.kernels.lives import as_seen
from dovetail.spec.spans import Span

Events = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.uint16]
Unwritten = tuple[
    int, int, int, int, int, bool, int, int, int, pa.RecordBatch | bytes | None
]
"""A line as `LINE` has it, but for its rows, which are not yet bytes."""
Whence = tuple[int, int]
"""A scope, and a lasting part of a source there, or WHOLE."""
# So much of a task's rows lies in memory before it is packed.
FLUSH_ROWS = 1 << 20
FLUSH_BYTES = 64 << 20
ROW, DELETE, BOUND, FINISH, INITIAL, PASSED_ON, ENDED, *_ = map(int, LineKind)
"""What a line of a side is, in the column `@event` where it has one."""
_ENDS = tuple((hand, NEVER, NEVER) for hand in (0, 1))
"""What is said of either hand at its end: the last position, the last bound."""


@dataclass(frozen=True, slots=True)
class PackSettings:
    """How one side is packed; names of columns are empty where there is none.

    `labels` are the buckets: `per_scope` of them for each scope, in order. `barred` is
    a column that is 1 where a row fails the condition of its own side. `measured` is
    one by whose values rows drive each other out that are further apart than `width`.
    Where rows are those of a join inside, `passed` is what that passes on, and `join`
    says whose it is. Where rows of other keys end a row, `lives` are the buckets that
    see all rows of a scope, without what is shown of them. `part` is the lasting part
    of the source that a row is from: each is reported by itself. What stands in
    `beside` is no row of the side: it goes by. In order of arrival an end says nothing
    of row times: `ends_times` is false.
    """

    hand: int
    labels: tuple[int, ...]
    per_scope: int
    lateness: Span
    timed: bool
    code: str
    moment: str
    payload: tuple[str, ...]
    event: str = ""
    partition: str = ""
    position: str = ""
    scope: str = ""
    now: str = ""
    barred: str = ""
    measured: str = ""
    width: Decimal = Decimal(0)
    passed: str = ""
    join: str = ""
    lives: tuple[int, ...] = ()
    part: str = ""
    beside: str = ""
    ends_times: bool = True


Batches = Iterator[pa.RecordBatch]


def make_pack(
    settings: PackSettings, names: tuple[str, ...]
) -> Callable[[Batches], Batches]:
    """Returns the function for `mapInArrow` that packs one side.

    Columns go by their places into a worker, where they get their names.
    """

    def pack(batches: Batches) -> Batches:
        packer = Packer(settings)
        for batch in batches:
            if packer.add(batch.rename_columns(list(names))):
                yield packer.flush()
        if packer.waiting:
            yield packer.flush()

    return pack


def make_heartbeat(scopes: tuple[tuple[int, ...], ...]) -> Callable[[Batches], Batches]:
    """Returns the function for `mapInArrow` that tells every bucket the time.

    Each scope has its buckets; a beat is for all of them, or says for which it is. The
    last beat also says of both sides that nothing more comes, after whatever else comes
    in its batch.
    """

    def beat(batches: Batches) -> Batches:
        for batch in batches:
            told = zip(*(column.to_pylist() for column in batch.columns), strict=True)
            for now, ended, *scope in told:
                heard = [scopes[one] for one in scope] or scopes
                labels = [label for one in heard for label in one]
                beats = [heartbeat(label, now) for label in labels]
                ends = [
                    (label, *end, BEGINNING, False, now, now, WHOLE, None)
                    for label in labels
                    for end in _ENDS
                ]
                yield _written([*beats, *ends] if ended else beats)

    return beat


def heartbeat(label: int, now: int) -> Unwritten:
    """Returns the line that tells a bucket the time."""
    rest = (False, now, NEVER, WHOLE, None)
    return (label, HEARTBEAT, 0, BEGINNING, BEGINNING, *rest)


@dataclass(slots=True)
class Packer:
    """One task's rows of one side, and how far it has come in each scope."""

    settings: PackSettings
    waiting: list[pa.RecordBatch] = field(default_factory=list)
    rows: int = 0
    bytes: int = 0
    bounds: dict[Whence, int] = field(default_factory=dict)
    newest: dict[Whence, int] = field(default_factory=dict)
    told: dict[int, int] = field(default_factory=dict)

    def add(self, batch: pa.RecordBatch) -> bool:
        """Takes a batch; tells whether there is enough to flush."""
        if batch.num_rows:
            self.waiting.append(batch)
            self.rows += batch.num_rows
            # Nothing is cut from what Spark hands over, so its buffers are all its own.
            self.bytes += batch.get_total_buffer_size()
        return self.rows >= FLUSH_ROWS or self.bytes >= FLUSH_BYTES

    def flush(self) -> pa.RecordBatch:
        """Returns the lines of all rows taken since the last flush."""
        lines = _written(self.lines())
        self.waiting, self.rows, self.bytes = [], 0, 0
        return lines

    def lines(self) -> list[Unwritten]:
        """Returns the lines of the rows that wait, whose rows are not yet bytes."""
        settings, waiting = self.settings, self.waiting
        batch = waiting[0] if len(waiting) == 1 else pa.concat_batches(waiting)
        found: list[Unwritten] = []
        if settings.beside:
            goes_by = batch.column(settings.beside).is_valid()
            found += self._going_by(batch.filter(goes_by))
            batch = batch.filter(pc.invert(goes_by))
            if not batch.num_rows:
                return found
        if not settings.part and not settings.event:
            return found + self._reported((0, WHOLE), batch)
        # Rows that have parts of a source come without events, in one scope.
        numbers = _numbers(batch, settings.part or settings.scope)
        for number in np.unique(numbers).tolist():
            own = batch.filter(pa.array(numbers == number))
            if settings.part:
                found += self._reported((0, number), own)
            elif settings.passed:
                found += self._of_join(number, own)
            else:
                for part in self._parts(own):
                    found += self._reported((number, WHOLE), part)
        return found

    def _going_by(self, lines: pa.RecordBatch) -> Iterator[Unwritten]:
        """Gives what is no row of the side as a line that goes by, if there is any."""
        if not lines.num_rows:
            return
        settings = self.settings
        own = pa.RecordBatch.from_struct_array(lines.column(settings.beside))
        other = (BEGINNING, False, _latest(lines, settings), NEVER, WHOLE)
        # It is told once, by whichever bucket.
        yield (settings.labels[0], PASSED, IN_FRONT, BEGINNING, *other, own)

    def _parts(self, batch: pa.RecordBatch) -> Iterator[pa.RecordBatch]:
        """Gives lines in parts that are reported each by itself.

        A bound or an end is one, so that rows behind it are judged by it.
        """
        events = _events(batch, self.settings)
        bare = np.flatnonzero((events == BOUND) | (events == FINISH))
        edges = np.unique(np.concatenate(([0], bare, bare + 1, [len(events)])))
        for start, stop in pairwise(edges.tolist()):
            yield batch.slice(start, stop - start)

    def _of_join(self, scope: int, batch: pa.RecordBatch) -> Iterator[Unwritten]:
        """Gives the lines of a scope whose rows are those of a join inside.

        How far that has come its buckets tell, each for itself, and no row: behind one
        bucket's rows another bucket's may come that are older.
        """
        settings, events = self.settings, _events(batch, self.settings)
        # After a flush the same task may read of another bucket: the least stays.
        told = _moment(batch, settings)[events == BOUND]
        other = (BEGINNING, False, _latest(batch, settings), NEVER, WHOLE)
        labels = self._labels(scope)
        if len(told) or scope in self.told:
            least = min(self.told.get(scope, NEVER), int(told.min(initial=NEVER)))
            self.told[scope] = least
            for label in (*labels, *settings.lives[scope : scope + 1]):
                yield (label, TOLD + settings.hand, 0, least, *other, None)
        ends = batch.filter(pa.array(events == ENDED)).column(settings.passed)
        if len(ends):
            lives = lives_of_all(
                Lives.read(read_batch(one.as_buffer())) for one in ends
            )
            for label in labels:
                head = (label, ENDS + settings.hand, 0, BEGINNING)
                yield (*head, *other, lives.written())
        passed = batch.filter(pa.array(events == PASSED_ON))
        whose = _numbers(passed, settings.join).tolist()
        blobs = passed.column(settings.passed).to_pylist()
        for join, blob in zip(whose, blobs, strict=True):
            yield (labels[0], PASSED, join, BEGINNING, *other, blob)
        # A changelog inside takes rows away too.
        rows = batch.filter(pa.array((events == ROW) | (events == DELETE)))
        for line in self._reported((scope, WHOLE), rows) if rows.num_rows else ():
            # Buckets without rows have heard all that there is to say above.
            if line[-1] is not None:
                yield line

    def _labels(self, scope: int) -> tuple[int, ...]:
        """Returns the buckets of a scope."""
        each = self.settings.per_scope
        return self.settings.labels[scope * each : (scope + 1) * each]

    def _reported(self, whence: Whence, batch: pa.RecordBatch) -> list[Unwritten]:
        """Returns the lines of one report on a scope, and a part of a source."""
        scope, source = whence
        events = _events(batch, self.settings)
        # Where lines have no places all stand alike, at 0.
        position = _numbers(batch, self.settings.position)
        first = int(position.min())
        rows, is_row = self._judged(whence, batch, events, position)
        bound = self.bounds.get(whence, BEGINNING)
        newest = self.newest.get(whence, BEGINNING)
        seen = bool(is_row.any())
        now, stopped = _latest(batch, self.settings), NEVER
        ends = events == FINISH
        if self.settings.now and ends.any():
            stopped = int(_numbers(batch, self.settings.now)[ends].min())
        report = (self.settings.hand, first, bound, newest, seen, now, stopped, source)
        labels = self._labels(scope)
        buckets = _bucket_of(rows, len(labels))
        parted = _parted(self._filed(rows), buckets, len(labels))
        parts = [*zip(labels, parted, strict=True)]
        if self.settings.lives:
            bare = as_seen(rows, np.array(labels)[buckets])
            parts.append((self.settings.lives[scope], self._filed(bare)))
        return [
            (label, *report, blob) for label, part in parts for blob in _blobs(part)
        ]

    def _filed(self, rows: Rows) -> pa.RecordBatch:
        """Returns rows with all that buckets must know of them as a batch."""
        return shortened(as_batch(rows, own_partition=bool(self.settings.partition)))

    def _judged(
        self, whence: Whence, batch: pa.RecordBatch, events: Events, position: Whole
    ) -> tuple[Rows, Mask]:
        """Returns the rows with their flags, and which lines are rows at all."""
        settings = self.settings
        moment, late = _moment(batch, settings), np.zeros(len(events), bool)
        is_row = (events != BOUND) & (events != FINISH)
        timeless = (events == DELETE) & (moment == MISSING) & settings.timed
        if (settings.timed or settings.event) and not settings.passed:
            bad = _marked(batch, BAD)
            moment, late = self._progress(whence, events, moment, timeless, bad)
        code, has_key = _codes(batch, settings.code)
        flags = flags_of(
            has_key=has_key,
            removes=events == DELETE,
            late=late,
            from_start=events == INITIAL,
            open_time=timeless,
            barred=_marked(batch, settings.barred),
        )
        payload = batch.select(list(settings.payload))
        if settings.measured:
            # Kernels compare what is measured as whole numbers, whatever it is.
            found = measures(batch.column(settings.measured), settings.width)
            for name, numbers in found.items():
                payload = payload.append_column(name, pa.array(numbers, pa.int64()))
        rows = make_rows(code, moment, position, flags, payload)
        if settings.partition:
            rows = rows.with_arrays(partition=_numbers(batch, settings.partition))
        return (rows if is_row.all() else rows.take(is_row)), is_row

    def _progress(
        self, whence: Whence, events: Events, moment: Whole, timeless: Mask, bad: Mask
    ) -> tuple[Whole, Mask]:
        """Returns the row times, and which rows are behind what came before them.

        Moves the scope's bound and newest time past these rows, but not past those
        whose interval is bad: they take no part. Who takes the newest time is behind no
        row, and whether behind a bound only the bucket knows, where all tasks report.
        """
        lines = (events == BOUND) | (events == FINISH)
        own = np.where(lines | bad | (moment == MISSING), BEGINNING, moment)
        timed = moment
        if timeless.any():
            timed = np.where(timeless, _running(own, self.newest, whence), moment)
        self.newest[whence] = max(self.newest.get(whence, BEGINNING), int(own.max()))
        bound = shift(own, self.settings.lateness.negated())
        if lines.any():
            bound = np.where(events == BOUND, moment, bound)
            end = NEVER if self.settings.ends_times else BEGINNING
            bound = np.where(events == FINISH, end, bound)
        late = timed < _running(bound, self.bounds, whence)
        return timed, late & ~timeless


def _running(values: Whole, known: dict[Whence, int], whence: Whence) -> Whole:
    """Returns the maximum before each value, and keeps the last for the next ones."""
    start = known.get(whence, BEGINNING)
    reached = np.maximum.accumulate(np.concatenate(([start], values)))
    known[whence] = int(reached[-1])
    return reached[:-1]


def _parted(
    batch: pa.RecordBatch, buckets: Numbers, count: int
) -> Iterator[pa.RecordBatch]:
    """Gives the rows bucket by bucket, each in the order in which they came."""
    if count > 1:
        # Stable, so that the rows of a bucket stay in the order in which they came.
        order = np.argsort(buckets, kind="stable")
        batch, buckets = take_payload(batch, order), buckets[order]
    edges = np.searchsorted(buckets, np.arange(count + 1)).tolist()
    for start, stop in pairwise(edges):
        yield batch.slice(start, stop - start)


def _blobs(rows: pa.RecordBatch) -> Iterator[pa.RecordBatch | None]:
    """Gives the rows that blobs have, or nothing once."""
    if not rows.num_rows:
        yield None
        return
    each = max(1, BLOB_BYTES * rows.num_rows // (rows.nbytes + 1))
    for start in range(0, rows.num_rows, each):
        yield rows.slice(start, each)


def _bucket_of(rows: Rows, buckets: int) -> Numbers:
    """Returns the numbers of the buckets that rows go to."""
    mixed = rows.code.view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    # The high bits as a fraction of all buckets: a division takes much longer.
    bucket = (mixed >> np.uint64(32)) * np.uint64(buckets) >> np.uint64(32)
    return bucket.astype(np.uint16)


def _numbers(batch: pa.RecordBatch, name: str) -> Whole:
    """Returns a column as whole numbers; nulls are 0."""
    return _codes(batch, name)[0]


def _codes(batch: pa.RecordBatch, name: str) -> tuple[Whole, Mask]:
    """Returns a column as whole numbers, and which rows have one."""
    if not name:
        zero = np.zeros(batch.num_rows, np.int64)
        return zero, np.ones(batch.num_rows, bool)
    column = batch.column(name)
    whole = column.cast(pa.int64()) if column.type != pa.int64() else column
    if not whole.null_count:
        return whole.to_numpy(zero_copy_only=False), np.ones(len(whole), bool)
    there = whole.is_valid().to_numpy(zero_copy_only=False)
    return pc.fill_null(whole, 0).to_numpy(zero_copy_only=False), there


def _moment(batch: pa.RecordBatch, settings: PackSettings) -> Whole:
    """Returns the row times in microseconds; MISSING where there is none."""
    if not settings.moment:
        return np.full(batch.num_rows, MISSING)
    values, there = _codes(batch, settings.moment)
    return values if there.all() else np.where(there, values, MISSING)


def _marked(batch: pa.RecordBatch, name: str) -> Mask:
    """Tells in which lines a column is 1; in none where there is no such column."""
    if name not in batch.schema.names:
        return np.zeros(batch.num_rows, bool)
    marked: Mask = _numbers(batch, name) == 1
    return marked


def _events(batch: pa.RecordBatch, settings: PackSettings) -> Events:
    """Returns what each line is; rows where nothing else is said."""
    if not settings.event:
        return np.full(batch.num_rows, ROW, np.uint8)
    return _numbers(batch, settings.event).astype(np.uint8)


def _latest(batch: pa.RecordBatch, settings: PackSettings) -> int:
    """Returns the processing time that the lines have reached, where it is told."""
    return int(_numbers(batch, settings.now).max()) if settings.now else BEGINNING


def _written(lines: Sequence[Unwritten]) -> pa.RecordBatch:
    """Returns lines as Spark gets them, their rows as blobs; no rows are null.

    The blobs are written where they will lie: bytes would be copied twice.
    """
    *columns, batches = zip(*lines, strict=True)
    arrays = [
        pa.array(values, kind)
        for values, kind in zip(columns, LINE.types[:-1], strict=True)
    ]
    sink, ends = pa.BufferOutputStream(), [0]
    for batch in batches:
        if isinstance(batch, bytes):
            sink.write(batch)
        elif batch is not None:
            append_batch(sink, batch)
        ends.append(sink.tell())
    # As Arrow has it: a bit for each line says whether there are bytes.
    there = np.packbits([batch is not None for batch in batches], bitorder="little")
    buffers = [there, np.array(ends, np.int32), sink.getvalue()]
    blobs = pa.Array.from_buffers(
        pa.binary(), len(batches), [pa.py_buffer(buffer) for buffer in buffers]
    )
    return pa.RecordBatch.from_arrays([*arrays, blobs], schema=LINE)
