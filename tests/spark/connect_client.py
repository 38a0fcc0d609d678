"""Joins through a Connect server; prints what came out as one line of JSON.

Run as `python connect_client.py URL FOLDER BROKER`: a process of its own, because one
process is a Classic client or a Connect client, never both.
"""

import json
import os
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
TEXT = """
CREATE STREAM counts (k VARCHAR(4), n INTEGER);
CREATE PUMP c AS INSERT INTO counts
  SELECT STREAM k, CAST(v AS INTEGER) FROM texts;
CREATE STREAM hours (h VARCHAR(19), total INTEGER);
CREATE PUMP h AS INSERT INTO hours
  SELECT STREAM CAST(FLOOR(ROWTIME TO HOUR) AS VARCHAR(19)), SUM(CAST(v AS INTEGER))
  FROM texts GROUP BY FLOOR(ROWTIME TO HOUR);
"""
PARTED = """
stream<int32 k, int64 id> L = Beacon() {}
stream<int32 k, int64 id> R = Beacon() {}
stream<int32 k, int64 id, int64 other> Met = Join(L; R) {
  window L : sliding, count(9); R : sliding, count(0);
  param match : L.k == R.k;
  output Met : k = L.k, id = L.id, other = R.id;
}
(stream<Met> First; stream<Met> Rest) = Filter(Met) { param filter : k == 1; }
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
        checkpoint=f"file:{folder / 'parted'}",
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


def of_a_text(spark, folder):
    """What comes out of a text, with late rows and with values that are none.

    The times of the rows are read by the rules of the session, those of the text not.
    """
    source = folder / "texts"
    source.mkdir()
    rows = ["a,2020-07-01 10:00:00,7", "b,2020-07-01 11:30:00,x"]
    for number, row in enumerate((*rows, "c,2020-07-01 09:00:00,1")):
        (source / f"{number}.csv").write_text(f"{row}\n")
        os.utime(source / f"{number}.csv", (number, number))
    reader = spark.readStream.schema("k string, at string, v string")
    frame = reader.option("maxFilesPerTrigger", 1).csv(str(source))
    timed = frame.selectExpr("k", "CAST(at AS timestamp) AS at", "v")
    flow = dt.sql(TEXT, {"texts": dt.stream(timed, time="at")}, dialect="sqlstream")
    sinks = {name: folder / f"told_{name}" for name in (*flow.outputs, "late")}
    queries = flow.write(
        {name: dt.folder(place) for name, place in sinks.items()},
        checkpoint=folder / "telling",
        trigger={"availableNow": True},
        finish=True,
    )
    for query in queries:
        list(dt.follow(query))
    found = {name: spark.read.parquet(str(it)) for name, it in sinks.items()}
    plain = flow.frame("counts").writeStream.trigger(availableNow=True)
    plain.option("checkpointLocation", str(folder / "plain")).start(
        str(folder / "told_plain"), format="parquet"
    ).awaitTermination()
    found["plain"] = spark.read.parquet(str(folder / "told_plain"))
    columns = {"hours": ["h", "total"], "late": ["stream", "reason", "row"]}
    return {
        name: sorted(
            [*row] for row in rows.select(*columns.get(name, ["k", "n"])).collect()
        )
        for name, rows in found.items()
    }


def several_ways(spark, folder):
    """What leaves a join of a text in SPL by two ways."""
    orders = "k int, id bigint, word string, at timestamp"
    frame = streams_of(spark)(folder / "orders", orders).where("k IS NOT NULL")
    numbered = (frame.selectExpr("k", "id", f"2 * id + {n} AS n") for n in (0, 1))
    sides = zip("LR", (dt.stream(one, sequence="n") for one in numbered), strict=True)
    flow = dt.spl(PARTED, dict(sides))
    targets = {name: folder / f"way_{name}" for name in flow.outputs}
    sinks = {name: dt.folder(target) for name, target in targets.items()}
    now = {"availableNow": True}
    for query in flow.write(sinks, checkpoint=folder / "ways", trigger=now):
        list(dt.follow(query))
    found = (spark.read.parquet(str(target)) for target in targets.values())
    return [sorted([row.id, row.other] for row in rows.collect()) for rows in found]


def changing(spark, folder):
    """What a result that changes has come to."""
    read = streams_of(spark)
    orders = read(folder / "orders", "k int, id bigint, word string, at timestamp")
    trades = read(folder / "trades", "k int, price decimal(9,2), at timestamp")
    bought = dt.table(orders.where("k IS NOT NULL"), key="id", order="id")
    paid = dt.table(trades, key="k", order="CAST(at AS BIGINT)")
    result = dt.current(folder / "result", every=2)
    select = {"id": "l.id", "price": "r.price"}
    query = bought.join(paid, on="k", select=select).write(
        matched=result,
        checkpoint=folder / "changing",
        trigger={"availableNow": True},
    )
    list(dt.follow(query))
    found = result.read(spark).collect()
    return sorted([row.id, row.price and str(row.price)] for row in found)


def through_topics(spark, folder, servers):
    """What a join of a topic has written into another one."""
    columns, key = {"id": "bigint", "at": "timestamp"}, {"k": "int"}
    topic = dt.kafka("orders", servers=servers, columns=columns, key=key)
    orders = spark.read.parquet(str(folder / "orders")).where("k IS NOT NULL")
    topic.write(orders.select("k", "id", "at").coalesce(1), 0, is_empty=False)
    _, trades = sides(folder, streams_of(spark))
    of_topic = dt.stream(topic, time="at").window(dt.range(**WINDOW))
    select = {"id": "l.id", "price": "r.price"}
    query = of_topic.join(trades, on="k", select=select).write(
        matched=dt.kafka("prices", servers=servers),
        checkpoint=folder / "topics",
        trigger={"availableNow": True},
    )
    list(dt.follow(query))
    reader = spark.read.format("kafka").option("subscribe", "prices")
    found = reader.option("kafka.bootstrap.servers", servers).load()
    return sorted(row[0] for row in found.selectExpr("string(value)").collect())


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


def refused_order(spark, folder):
    """What is said of an order that Spark refuses, before any query starts."""
    try:
        dt.stream(streams_of(spark)(folder / "orders", "k int"), order="nofun(k)")
    except dt.SpecError as error:
        return error.found
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


def main(url, folder, servers):
    spark = SparkSession.builder.remote(url).getOrCreate()
    stream, last = streamed(spark, Path(folder), finish=False)
    finished, at_end = streamed(spark, Path(folder), finish=True)
    found = {
        "stream": stream,
        "finished": finished,
        "told": [last, at_end],
        "texts": of_a_text(spark, Path(folder)),
        "parted": parted(spark, Path(folder)),
        "several_ways": several_ways(spark, Path(folder)),
        "changing": changing(spark, Path(folder)),
        "topics": through_topics(spark, Path(folder), servers),
        "refused": refused(spark, Path(folder)),
        "refused_order": refused_order(spark, Path(folder)),
        "looked_up": looked_up(spark, Path(folder)),
        "batch": rows(batched(spark, Path(folder))),
        "program": programmed(spark),
        "kept": kept(spark, Path(folder)),
    }
    print(json.dumps(found))  # noqa: T201 - that is how it tells
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
