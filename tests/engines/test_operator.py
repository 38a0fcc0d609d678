"""What Spark calls in its workers gives the rows that `local` gets of a bucket.

Spark itself is not there: rows go from hand to hand as it would bring them.
"""

from itertools import chain

import pyarrow as pa
import pytest
from pyspark.sql import Row

from dovetail.conformance.local.outlets import output_rows
from dovetail.conformance.local.stage import InPlace, Stage
from dovetail.engines.spark_stream.worker import bucket
from dovetail.engines.spark_stream.worker.operator import (
    DIRECTORY,
    PIECE_BYTES,
    SMALL_BYTES,
    Head,
    SmallShelf,
    StateShelf,
    make_operator,
)
from dovetail.engines.spark_stream.worker.pack import make_pack
from dovetail.kernels.arrays.blobs import write_batch
from dovetail.kernels.pairs.results import code
from dovetail.spec.inputs import Outlet
from tests.conformance.local.agreement import told
from tests.spark.stream_plays import JOINS, random_play


class Blobs(dict):
    def getValue(self, key):  # noqa: N802 - Spark's name
        return self.get(key)

    def updateValue(self, key, value):  # noqa: N802 - Spark's name
        self[key] = value

    def removeKey(self, key):  # noqa: N802 - Spark's name
        del self[key]


class Handle:
    def getMapState(self, *_schema):  # noqa: N802 - Spark's name
        return Blobs()


def packed(frame, first, past):
    """A side's lines between two positions, one task's, as rows of Spark."""
    start, stop = frame.position.searchsorted((first, past))
    part = frame.lines.slice(start, stop - start)
    names = tuple(part.schema.names)
    numbered = part.rename_columns([f"c{number}" for number in range(len(names))])
    pack = make_pack(frame.settings, names)
    found = pa.Table.from_batches(pack(iter([numbered])), schema=bucket.LINE)
    return [Row(**line) for line in found.to_pylist()]


def unpacked(stage, results):
    """The rows in the operator's results."""
    found = [line["blob"] for line in results]
    blobs = pa.record_batch({"blob": pa.array(found, pa.binary())})
    names = [bucket.shown_names(schema) for schema in stage.schemas]
    unpack = bucket.make_unpack(stage.schema, stage.schema.names, range(len(Outlet)))
    for batch in unpack(iter([blobs])):
        yield from output_rows(batch, names)


def shown(stage, rows):
    return [told(stage.writer.emission(row)) for row in rows]


def test_what_nobody_looks_at_is_left_in_its_blob():
    schema = bucket.result_schema((pa.schema([("n", pa.int64())]), pa.schema([])))
    leaves = [code(Outlet.MATCHED), code(Outlet.LATE), code(Outlet.MATCHED)]
    columns = [leaves, [0] * 3, [None] * 3, [True] * 3, [False] * 3, [5, 6, 7]]
    rows = pa.RecordBatch.from_arrays(
        [pa.array(one, kind) for one, kind in zip(columns, schema.types, strict=True)],
        schema=schema,
    )
    lines = pa.record_batch({"blob": pa.array([None, write_batch(rows)], pa.binary())})
    for outlets, expected in (
        ([Outlet.MATCHED], [5, 7]),
        ([Outlet.LATE, Outlet.MATCHED], [5, 6, 7]),
        ([Outlet.LEFT_UNMATCHED], []),
    ):
        unpack = bucket.make_unpack(schema, ["l0"], [code(one) for one in outlets])
        (found,) = unpack(iter([lines]))
        assert found.to_pydict() == {"l0": expected}


@pytest.mark.parametrize("number", range(0, len(JOINS), 4))
def test_the_operator_gives_what_a_bucket_gives(number):
    play = random_play(JOINS[number], f"operator/{number}")
    stage = Stage.of(play)
    operator, memory = make_operator(stage.settings, stage.schemas), InPlace(stage)
    operator.init(Handle())
    came = 0
    for first in range(0, len(stage.events), 7):
        lines = stage.between(first, first + 7, most=7)
        parts = (packed(frame, first, first + 7) for frame in stage.frames)
        rows = chain.from_iterable(parts)
        results = list(operator.handleInputRows(0, rows, None))
        assert all(tuple(one.asDict()) == bucket.RESULT_NAMES for one in results)
        expected = stage.run(memory, lines).rows
        assert shown(stage, unpacked(stage, results)) == shown(stage, expected)
        found = [one["counts"] for one in results]
        came += sum(counts[0] + counts[OF_RIGHT] for counts in found if counts)
    assert came == sum(int((frame.place >= 0).sum()) for frame in stage.frames)


OF_RIGHT = len(bucket.OF_SIDE)


def shelf_of(blobs):
    state = StateShelf(blobs)
    return SmallShelf(state, state)


def head_of(blobs):
    return Head.read(blobs[DIRECTORY, 0][0])


def test_what_is_small_lies_beside_the_directory():
    blobs = Blobs()
    shelf = shelf_of(blobs)
    assert shelf.directory() == b""
    large = bytes(SMALL_BYTES)
    for number, data in enumerate((b"one", large, b"two", b"three"), 1):
        shelf.put(number, data)
    shelf.drop(3)
    shelf.keep_directory(b"said")
    assert head_of(blobs) == Head(b"said", {1: b"one", 4: b"three"})
    assert blobs.keys() == {(DIRECTORY, 0), (2, 0)}
    assert blobs[2, 0] == (large,)
    again = shelf_of(blobs)
    assert again.directory() == b"said"
    assert [again.get(number) for number in (1, 2, 4)] == [b"one", large, b"three"]
    again.drop(1)
    again.drop(2)
    again.keep_directory(b"more")
    assert head_of(blobs) == Head(b"more", {4: b"three"})
    assert [*blobs] == [(DIRECTORY, 0)]


def test_a_blob_may_grow_and_shrink_under_its_number():
    blobs = Blobs()
    for data in (b"one", bytes(SMALL_BYTES + 1), b"two", b"more", bytes(SMALL_BYTES)):
        shelf = shelf_of(blobs)
        shelf.directory()
        shelf.put(1, data)
        assert shelf.get(1) == data
        shelf.keep_directory(b"said")
        again = shelf_of(blobs)
        again.directory()
        assert again.get(1) == data


@pytest.mark.parametrize(("more", "pieces"), [(0, 2), (1, 3)])
def test_what_is_large_is_kept_in_pieces(more, pieces):
    blobs = Blobs()
    shelf = shelf_of(blobs)
    shelf.directory()
    large = bytes(range(256)) * (2 * PIECE_BYTES // 256) + bytes(more)
    shelf.put(1, large)
    shelf.keep_directory(b"said")
    assert head_of(blobs) == Head(b"said", {}, {1: pieces})
    assert sorted(blobs)[1:] == [(1, piece) for piece in range(pieces)]
    assert max(len(data) for (data,) in blobs.values()) == PIECE_BYTES
    again = shelf_of(blobs)
    again.directory()
    assert again.get(1) == large
    again.drop(1)
    again.keep_directory(b"more")
    assert (head_of(blobs), [*blobs]) == (Head(b"more"), [(DIRECTORY, 0)])


def test_what_is_kept_again_has_the_pieces_of_its_own_length():
    """As an operator beside joins has it, whose blobs keep their numbers."""
    blobs = Blobs()
    for count in (1, 3 * PIECE_BYTES + 5, PIECE_BYTES, 2 * PIECE_BYTES, 0, 7):
        state = StateShelf(blobs)
        before = state.directory()
        assert len(before) == 0 or len(state.get(4)) == int(before)
        data = bytes(range(256)) * (count // 256) + bytes(count % 256)
        state.put(4, data)
        state.keep_directory(str(count).encode())
        again = StateShelf(blobs)
        again.directory()
        assert again.get(4) == data
        assert len(blobs) == 1 + max(1, -(-count // PIECE_BYTES))
