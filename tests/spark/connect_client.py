"""Joins through a Connect server; prints what came out as one line of JSON.

Run as `python connect_client.py URL FOLDER`: a process of its own, because one process
is a Classic client or a Connect client, never both.
"""

import json
import sys
from pathlib import Path

from pyspark.sql import SparkSession

import dovetail as dt

PROGRAM = """
rec := RECORD INTEGER k; INTEGER v; END;
sales := DATASET('sales', rec, THOR);
few := DATASET([{1, 7}, {3, 0}], rec);
OUTPUT(CHOOSEN(SORT(sales, -k), 3), NAMED('first'));
OUTPUT(DEDUP(sales, LEFT.v + 9 > RIGHT.v) + few, NAMED('parts'));
OUTPUT(TABLE(sales(v / 0 = 0), {k, INTEGER n := COUNT(GROUP)}, k), NAMED('counts'));
OUTPUT(SORT(JOIN(few, sales, LEFT.k = RIGHT.k, KEEP(2)), -k), NAMED('pairs'));
"""
KEPT = """
rec := RECORD INTEGER k; STRING v; END;
few := DATASET([{2, 'x'}, {4, 'x'}], rec);
OUTPUT(sales,,'~base',OVERWRITE);
base := DATASET('~base', {INTEGER k, INTEGER v, UNSIGNED8 at {virtual(fileposition)}});
sales := DATASET('sales', {INTEGER k; INTEGER v}, THOR);
by_v := INDEX(base, {v, at}, '~by_v');
by_k := INDEX(sales, {k}, {v}, '~by_k');
BUILD(by_v);
BUILD(by_k);
keyed := JOIN(few, by_k, LEFT.k = RIGHT.k, TRANSFORM({INTEGER k, INTEGER v},
    SELF.k := LEFT.k; SELF.v := RIGHT.v), LEFT OUTER, KEEP(2));
OUTPUT(keyed, NAMED('keyed'));
OUTPUT(FETCH(base, by_v(v IN [5, 12]), RIGHT.at), NAMED('fetched'));
OUTPUT(JOIN(few, sales, LEFT.k = RIGHT.k, LIMIT(3, FAIL(77, 'too many'))),
    NAMED('failing'));
OUTPUT(JOIN(sales, few, LEFT.k = RIGHT.k, SKEW(0.1), THRESHOLD(9)), NAMED('skewed'));
"""
WINDOW = {"preceding": "10 seconds"}
COLUMNS = {"id": "l.id", "price": "r.price", "word": "upper(l.word)"}


def sides(folder, read):
    """Both sides as rows of Dovetail."""
    orders = read(folder / "orders", "k int, id bigint, word string, at timestamp")
    trades = read(folder / "trades", "k int, price decimal(9,2), at timestamp")
    return (
        dt.stream(orders, time="at").window(dt.range(**WINDOW)),
        dt.stream(trades, time="at").window(dt.range(**WINDOW)),
    )


def joined(folder, read, **more):
    left, right = sides(folder, read)
    return left.join(
        right, on=["k"], where="r.price > l.id", how="left", select=COLUMNS, **more
    )


def streams_of(spark):
    """Reads a folder as a stream, a file a batch."""

    def read(path, schema):
        reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
        return reader.parquet(str(path))

    return read


def write(spark, folder, **how):
    """The query of the join of two streams."""
    now = {"trigger": {"availableNow": True}, "checkpoint": str(folder / "checkpoint")}
    return joined(folder, streams_of(spark)).write(**{**now, **how})


def streamed(spark, folder, **how):
    """The rows of the join of two streams, and what was said of the last batch."""
    target = str(folder / "out")
    query = write(spark, folder, matched=dt.folder(target), **how)
    told = [str(progress) for progress in dt.follow(query)]
    return rows(spark.read.parquet(target)), told[-1]


def parted(spark, folder):
    """What comes out of the same join where each outlet has a folder of its own."""
    outlets = "matched", "left_unmatched", "late"
    targets = {outlet: folder / f"only_{outlet}" for outlet in outlets}
    query = joined(folder, streams_of(spark), unmatched="outlet").write(
        **{outlet: dt.folder(target) for outlet, target in targets.items()},
        checkpoint=folder / "parted",
        trigger={"availableNow": True},
    )
    list(dt.follow(query))
    found = (spark.read.parquet(str(target)) for target in targets.values())
    return [sorted(row.id for row in rows.collect()) for rows in found]


def looked_up(spark, folder):
    """The rows of a stream with what a table has of their keys, asked by the server."""

    def found(keys):
        return [{**one, "name": f"n{one['k']}"} for one in keys if one["k"] < 3]

    schema = "k int, id bigint, word string, at timestamp"
    reader = spark.readStream.schema(schema).option("maxFilesPerTrigger", 1)
    table = dt.lookup(found, key="k", columns={"k": "int", "name": "string"})
    select = {"id": "l.id", "name": "r.name"}
    orders = dt.stream(reader.parquet(str(folder / "orders")))
    query = orders.join(table, on="k", how="left", select=select).write(
        matched=dt.folder(folder / "named"),
        checkpoint=folder / "naming",
        trigger={"availableNow": True},
    )
    *_, last = dt.follow(query)
    rows = spark.read.parquet(str(folder / "named")).collect()
    return sorted([row.id, row.name or ""] for row in rows), last.right.fetched > 0


def refused(spark, folder):
    """What is said of a sink that breaks, on the server."""

    def broken(*_):
        raise ValueError("no")

    query = write(spark, folder, matched=broken, checkpoint=str(folder / "broken"))
    try:
        list(dt.follow(query))
    except dt.EngineError as error:
        return str(error)
    return ""


def batched(spark, folder):
    """The rows of the same join of two tables."""

    def read(path, schema):
        return spark.read.schema(schema).parquet(str(path))

    return joined(folder, read).matched


def programmed(spark):
    """The rows of every output of a program in ECL."""
    source = {"sales": spark.range(0, 40, 1, 3).selectExpr("id % 4 AS k", "id AS v")}
    found = dt.ecl(PROGRAM, source)
    return {name: [list(row) for row in one.collect()] for name, one in found.items()}


def kept(spark, folder):
    """The rows of a program that keeps indexes, and how its failing outputs fail."""
    keys = "IF(id < 30, 2L, id) AS k"
    source = {"sales": spark.range(0, 40, 1, 3).selectExpr(keys, "id AS v")}
    found = dt.ecl(KEPT, source, indexes=str(folder / "indexes"))
    shown = found._repr_html_()
    return {
        **{
            name: [list(row)[:2] for row in found[name].collect()]
            for name in ("keyed", "fetched")
        },
        "failing": "77: too many" in shown,
        "skewed": "rows lie unevenly by" in shown,
        "read": list(found.remarks),
    }


def rows(frame):
    return sorted(
        [
            [row.id, None if row.price is None else str(row.price), row.word]
            for row in frame.collect()
        ],
        key=repr,
    )


def main(url, folder):
    spark = SparkSession.builder.remote(url).getOrCreate()
    stream, told = streamed(spark, Path(folder), finish=False)
    finished, told_last = streamed(spark, Path(folder), finish=True)
    found = {
        "stream": stream,
        "finished": finished,
        "told": [told, told_last],
        "parted": parted(spark, Path(folder)),
        "refused": refused(spark, Path(folder)),
        "looked_up": looked_up(spark, Path(folder)),
        "batch": rows(batched(spark, Path(folder))),
        "program": programmed(spark),
        "kept": kept(spark, Path(folder)),
    }
    print(json.dumps(found))  # noqa: T201 - that is how it tells
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
