"""A folder with a result that changes as it stands: what it holds, and over crashes."""

import os
from collections import Counter
from pathlib import Path
from random import Random
from threading import Event

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.errors import PySparkException

import dovetail as dt
from dovetail.api import jobs, runs
from dovetail.bind.jobs import read_job
from tests.spark.test_api import versions

DDL = "k int, word string, x double, change string"
TAKES = ("delete", "update_before")


def rows_of(sink, spark):
    return Counter(map(tuple, sink.read(spark).collect()))


def test_it_holds_what_changes_add_up_to_whatever_is_written_twice(spark, tmp_path):
    """A batch comes again as it was, or what of it is there was not all of it."""
    chance = Random(11)
    # A name that would find others, were it a pattern of names.
    sink = dt.current(tmp_path / "out[1]{a}*?", every=3)
    there, before = Counter(), Counter()
    for number in range(8):
        before = there.copy()
        changes = []
        for _ in range(chance.randrange(12)):
            if there and chance.random() < 0.45:
                row = chance.choice(sorted(there.elements(), key=repr))
                there[row] -= 1
                there += Counter()
                changes.append((*row, chance.choice(TAKES)))
            else:
                word = chance.choice([None, "", "a", "b"])
                row = (chance.randrange(3), word, chance.choice([None, 0.0, 1.5]))
                there[row] += 1
                changes.append((*row, chance.choice(["insert", "update_after"])))
        # Within a batch nobody knows which of them came first.
        chance.shuffle(changes)
        frame = spark.createDataFrame(changes, DDL)
        if number in {0, 3, 5}:
            # Whatever is there of a batch that comes again does not count.
            some = frame.where("k > 0 AND change = 'insert'")
            sink.write(some, number, is_empty=False)
        for _ in range(1 + number % 2):
            sink.write(frame, number, is_empty=not changes)
        assert rows_of(sink, spark) == there, number
    assert there
    assert there != before
    gone = [(*row, "delete") for row in there.elements()]
    sink.write(spark.createDataFrame(gone, DDL), 8, is_empty=False)
    assert not rows_of(sink, spark)
    # Two with all rows, and those for changes, however many batches.
    assert len(list(Path(sink.path).glob("slot=*"))) == 4


def test_rows_with_values_in_values_are_taken_back(spark, tmp_path):
    sink = dt.current(tmp_path / "out", every=2)
    map_of, other = "map(k, 'x', 9, NULL)", "map(9, NULL, k, 'x')"
    steps = [
        (map_of, "insert", [0, 1]),
        (map_of, "insert", [0, 0, 1, 1]),
        (other, "delete", [0, 1]),
        (other, "delete", []),
    ]
    keys = spark.createDataFrame([(0,), (1,)], "k int")
    for number, (text, change, held) in enumerate(steps):
        inner = f"struct(array(k, NULL) AS a, {text} AS m) AS s"
        told = keys.selectExpr(
            "k", inner, "double('NaN') AS f", f"'{change}' AS change"
        )
        sink.write(told, number, is_empty=False)
        assert sorted(row["k"] for row in sink.read(spark).collect()) == held


def test_a_row_that_is_taken_back_and_was_not_there_is_told(spark, tmp_path):
    sink = dt.current(tmp_path / "out")
    frame = spark.createDataFrame([(1, "a", 0.5, "delete")], DDL)
    with pytest.raises(PySparkException, match=r'not there: \{"k":1,"word'):
        sink.write(frame, 0, is_empty=False)


def written(joined, sink, folder):
    query = joined.write(
        matched=sink, checkpoint=folder / "state", trigger={"availableNow": True}
    )
    query.awaitTermination()


def test_a_join_of_two_tables_stands_there_and_goes_on(spark, tmp_path):
    stock = [[(1, 10), (2, 20), (3, 30)], [(1, 11)], [(4, 40), (2, 21)]]
    price = [[(1, 5)], [(2, 6), (1, 7)], [(4, 8)]]
    sides = [
        versions(spark, tmp_path / name, *rows)
        for name, rows in (("stock", stock), ("price", price))
    ]
    select = {"k": "l.k", "stock": "l.stock", "price": "r.price"}
    joined = sides[0].join(sides[1], on="k", how="left", select=select)
    sink = dt.current(tmp_path / "out")
    written(joined, sink, tmp_path)
    expected = {(1, 11, 7): 1, (2, 21, 6): 1, (3, 30, None): 1, (4, 40, 8): 1}
    assert rows_of(sink, spark) == expected
    late = tmp_path / "stock" / "9.parquet"
    pq.write_table(pa.table({"k": [3], "stock": [31]}), late)
    os.utime(late, (9, 9))
    written(joined, sink, tmp_path)
    del expected[3, 30, None]
    assert rows_of(sink, spark) == {**expected, (3, 31, None): 1}
    with pytest.raises(dt.SpecError, match="has rows of another query"):
        written(joined, sink, tmp_path / "elsewhere")
    wider = sides[0].join(sides[1], on="k", how="left", select={**select, "x": "1"})
    with pytest.raises(dt.SpecError, match="the columns of its start"):
        written(wider, sink, tmp_path)


def test_what_does_not_fit_is_refused(spark, tmp_path):
    sink = dt.current(tmp_path / "out")
    plain = spark.createDataFrame([(1,)], "k int")
    with pytest.raises(dt.SpecError, match='no column "change"'):
        sink.prepare(plain, is_new=True)
    variants = plain.selectExpr("parse_json('1') AS m", "'insert' AS change")
    with pytest.raises(dt.SpecError, match="no variants"):
        sink.prepare(variants, is_new=True)
    with pytest.raises(dt.SpecError, match="a whole number, 1 or more"):
        dt.current("out", every=0)


JOB = """\
checkpoint = "state"
[join]
type = "inner"
clock = "arrival"
hard = [["l.id", "r.id"]]
select = { id = "l.id", a = "l.a", b = "r.b" }
left = { from = "Left", window = { latest = ["id"] } }
right = { from = "Right", window = { latest = ["id"] } }

[tables.Left]
file = "left.csv"
columns = { n = "int", id = "int", a = "int" }
key = ["id"]
order = "n"
streams = true

[tables.Right]
file = "right.csv"
columns = { n = "int", id = "int", b = "int" }
key = ["id"]
order = "n"
streams = true

[sinks.matched]
current = "out"
every = 2
"""


def test_a_job_and_its_script_write_it(spark, tmp_path):
    (tmp_path / "left.csv").write_text("n,id,a\n1,1,5\n3,2,6\n5,1,7\n")
    (tmp_path / "right.csv").write_text("n,id,b\n2,1,8\n4,2,9\n6,2,10\n")
    path = tmp_path / "job.toml"
    path.write_text(JOB)
    whole = jobs.prepared(read_job(path))
    with runs.outcome_of(spark, whole) as outcome:
        outcome.run(lambda *_: None, Event())
    sink = dt.current(tmp_path / "out", every=2)
    assert rows_of(sink, spark) == {(1, 7, 8): 1, (2, 6, 10): 1}
    assert f"dt.current({str(tmp_path / 'out')!r}, 2)" in jobs.script_of(whole)
