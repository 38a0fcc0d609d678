"""What no outlet looks at stays out of results; a wider query has it all the same."""

from dataclasses import replace
from random import Random

import pyarrow as pa
import pytest

from dovetail.conformance.local.frames import NUMBER
from dovetail.conformance.local.stage import InPlace, Stage, steps
from dovetail.engines.spark_stream.worker import bucket
from dovetail.kernels.pairs import results
from dovetail.kernels.settings import Unread
from dovetail.spec.inputs import Outlet
from tests.engines.test_tall import KINDS, leaving_of, rows
from tests.plays import random_play


def unread_of(stage, chance):
    """Some columns of both sides that nobody looks at in pairs; none of the others.

    Nor, mostly, at the row times of some outlets.
    """
    left, right = (
        frozenset(
            name
            for name in bucket.shown_names(schema)
            if name != NUMBER and chance.random() < 0.6
        )
        for schema in stage.schemas
    )
    every = [frozenset(bucket.shown_names(schema)) for schema in stage.schemas]
    return {
        Outlet.MATCHED: Unread(left, right, time=chance.random() < 0.8),
        Outlet.LEFT_UNMATCHED: Unread(right=every[1], time=chance.random() < 0.8),
        Outlet.RIGHT_UNMATCHED: Unread(left=every[0], time=chance.random() < 0.8),
    }


def played(stage):
    return [row for step in steps(stage, InPlace(stage)) for row in step.rows]


@pytest.mark.parametrize("seed", range(40))
def test_rows_lack_no_more_than_what_is_unread(seed):
    play = random_play(seed)
    stage = Stage.of(play)
    unread = unread_of(stage, Random(seed))
    whole = played(stage)
    lacking = played(replace(stage, settings=replace(stage.settings, unread=unread)))
    assert len(lacking) == len(whole)
    may_be_held = stage.settings.ordered and not stage.settings.gathers
    for ours, theirs in zip(lacking, whole, strict=True):
        same = replace(ours, sides=theirs.sides, row_time=theirs.row_time)
        assert same == theirs
        own = unread.get(ours.outlet, Unread())
        is_told = ours.row_time == theirs.row_time
        assert is_told or (own.time and ours.row_time is None)
        assert is_told or not may_be_held
        for passed, mine, full in zip(own[:2], ours.sides, theirs.sides, strict=True):
            assert (mine is None) == (full is None)
            for name in full or ():
                is_there = repr(mine[name]) == repr(full[name])  # NaN is itself
                assert is_there or (name in passed and mine[name] is None)
                assert is_there or not may_be_held


@pytest.fixture
def schema():
    shown = pa.schema(KINDS.items())
    return bucket.result_schema((shown, shown))


def table_of(parts, unread, **more):
    shape = results.Shape(timed=True, sorted=False, unread=unread, **more)
    (table,) = results.leave(parts, (rows(3), rows(40)), shape)
    return table


UNREAD = {
    Outlet.MATCHED: Unread(frozenset(("n", "text")), frozenset(("cost",)), time=True),
    Outlet.LEFT_UNMATCHED: Unread(frozenset(("text",)), frozenset(KINDS)),
}


def test_unread_columns_take_no_room_and_are_read_as_nulls(schema):
    met, alone, _ = leaving_of(2, 2)
    whole, lacking = (table_of([met], unread) for unread in ({}, UNREAD))
    passed = {"row_time", "l.n", "l.text", "r.cost"}
    for name in whole.schema.names:
        kind = pa.null() if name in passed else whole.schema.field(name).type
        assert lacking.schema.field(name).type == kind
    (blob,), (full,) = ([*bucket.as_blobs([one])] for one in (lacking, whole))
    read, expected = (bucket.unpacked(one, schema) for one in (blob, full))
    assert read.schema == expected.schema
    lacking = "row_time", "l0", "l1", "r3"
    assert [one.null_count for one in read.select(lacking)] == [4, 4, 4, 4]
    there = [name for name in schema.names if name not in lacking]
    assert read.select(there).equals(expected.select(there))
    # Read of some of the rows of a table it is there for all of them.
    both = table_of([met, alone], UNREAD)
    lacks = [it.name for it in both.schema if pa.types.is_null(it.type)]
    assert lacks == ["l.text", "r.cost"]
    # Late rows are shown whole, and rows that are held back may be.
    late = replace(alone, outlet=Outlet.LATE)
    for table in (table_of([met, late], UNREAD), table_of([met], UNREAD, placed=True)):
        assert not any(pa.types.is_null(it.type) for it in table.schema)


def test_tables_that_lack_others_are_read_together(schema):
    met, alone, _ = leaving_of(2, 2)
    tables = [table_of([met], UNREAD), table_of([met, alone], {})]
    blobs = [blob for one in tables for blob in bucket.as_blobs([one])]
    batch = pa.RecordBatch.from_arrays([pa.array(blobs, pa.binary())], ["blob"])
    leaving = [results.code(Outlet.MATCHED), results.code(Outlet.LEFT_UNMATCHED)]
    (found,) = bucket.make_unpack(schema, ["l0", "r0"], leaving)([batch])
    assert found.to_pydict() == {
        "l0": [None] * 4 + [0, 0, 1, 1, 1],
        "r0": [0, 1, 0, 1] * 2 + [None],
    }


def test_a_null_where_none_may_be_is_told(schema):
    met, alone, _ = leaving_of(2, 2)
    blobs = [*bucket.as_blobs([table_of([met, alone], {})])]
    batch = pa.RecordBatch.from_arrays([pa.array(blobs, pa.binary())], ["blob"])
    leaving = [results.code(Outlet.MATCHED), results.code(Outlet.LEFT_UNMATCHED)]
    unpack = bucket.make_unpack(schema, ["l0", "r0"], leaving, there=[1])
    with pytest.raises(AssertionError, match="r0"):
        list(unpack(iter([batch])))
