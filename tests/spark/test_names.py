"""A column may have any name: joins, streams, programs and indexes leave it alone."""

from datetime import UTC, datetime, timedelta

import dovetail as dt
from dovetail.schema import quoted
from tests.spark.rows import bag

START = datetime(2020, 1, 1, tzinfo=UTC)
KEY, AT, WORD = "a`b", "a.b", "select"
DEEP = "struct<`p``q`:int,`r.s,t`:array<struct<`u:v`:string>>>"
SCHEMA = f"`a``b` BIGINT, `a.b` TIMESTAMP, `select` STRING, `l.x` {DEEP}"


def rows(hand, *keys):
    """Rows of a hand, one a second; its word says where each comes from."""
    return [
        {
            KEY: key,
            AT: START + timedelta(seconds=number),
            WORD: f"{hand}{number}",
            "l.x": {"p`q": number, "r.s,t": [{"u:v": hand}]},
        }
        for number, key in enumerate(keys)
    ]


ROWS = {"l": rows("l", 1, 2, 3), "r": rows("r", 2, 1, 1)}
PAIRS = [(0, 1), (0, 2), (1, 0)]
FULL = [*PAIRS, (2, None)]
NAMES = [KEY, AT, WORD, "l.x"]


def frame(spark, hand, *more):
    found = [tuple(one.values()) for one in (*ROWS[hand], *more)]
    return spark.createDataFrame(found, SCHEMA)


def expected(pairs, key=KEY):
    """The rows of a full join with suffixes: the key once, all else twice."""
    nothing = dict.fromkeys(NAMES)
    for left, right in pairs:
        one = nothing if left is None else ROWS["l"][left]
        two = nothing if right is None else ROWS["r"][right]
        yield {
            key: one[key] if left is not None else two[key],
            **{f"{name} l": one[name] for name in NAMES if name != key},
            **{f"{name} r`": two[name] for name in NAMES if name != key},
        }


def joined(left, right):
    """The full join on the key of rows within a minute, the newest two of each key."""
    minute = dt.range("1 minute")
    sides = [dt.stream(one, time=AT).window(minute) for one in (left, right)]
    return sides[0].join(sides[1], on=KEY, how="full", suffixes=(" l", " r`"))


def plain(table):
    return table.to_pylist()


def test_a_batch_join(odd_session):
    found = joined(frame(odd_session, "l"), frame(odd_session, "r")).matched
    assert bag(plain(found.toArrow())) == bag(expected(FULL))


def test_a_nearest_row_of_a_batch(spark):
    left, right = (dt.stream(frame(spark, hand), time=AT) for hand in "lr")
    nearest = dt.asof(f"l.{quoted(AT)}", f"r.{quoted(AT)}")
    shown = {"l.x": f"l.{quoted(WORD)}", "r`": "r.`l.x`.`r.s,t`[0].`u:v`"}
    found = left.join(right, on=KEY, how="left", asof=nearest, select=shown)
    assert plain(found.matched.toArrow()) == [
        {"l.x": "l0", "r`": None},
        {"l.x": "l1", "r`": "r"},
        {"l.x": "l2", "r`": None},
    ]


def test_a_stream_join(spark, tmp_path):
    last = {**rows("l", -1)[0], AT: START + timedelta(hours=1)}
    feeds = []
    for hand in "lr":
        folder = str(tmp_path / hand)
        frame(spark, hand, last).coalesce(1).write.parquet(folder)
        feeds.append(spark.readStream.schema(SCHEMA).parquet(folder))
    query = joined(*feeds).write(
        matched=dt.folder(str(tmp_path / "out")),
        checkpoint=str(tmp_path / "checkpoint"),
        trigger={"availableNow": True},
    )
    query.awaitTermination()
    found = plain(spark.read.parquet(str(tmp_path / "out")).drop("batch").toArrow())
    assert bag(one for one in found if one[KEY] != -1) == bag(expected(FULL))


BOTH = """
    i := INDEX(b, {k}, {b}, 'names::of_b');
    OUTPUT(JOIN(a, b, LEFT.k = RIGHT.k, LEFT OUTER), NAMED('All'));
    OUTPUT(SORT(DEDUP(SORT(a + b, k), k), -k), NAMED('Few'));
    OUTPUT(JOIN(a, i, LEFT.k = RIGHT.k, KEYED), NAMED('Read'));
"""


def test_a_program_and_its_index(spark, tmp_path):
    texts = "`a``b` AS k", "`select`", "`l.x`", "CAST(`a``b` AS STRING) AS `a.b`"
    named = {
        name: frame(spark, hand).selectExpr(*texts)
        for name, hand in (("a", "l"), ("b", "r"))
    }
    built = dt.ecl(BOTH + "BUILD(i);", named, indexes=str(tmp_path / "indexes"))
    words = {
        name: [(row["k"], row[WORD]) for row in plain(one.toArrow())]
        for name, one in built.items()
    }
    assert words == {
        "All": [(1, "l0"), (1, "l0"), (2, "l1"), (3, "l2")],
        "Few": [(3, "l2"), (2, "l1"), (1, "l0")],
        "Read": [(1, "l0"), (1, "l0"), (2, "l1")],
    }
    assert [row["l.x"] for row in plain(built["Few"].toArrow())] == [
        ROWS["l"][number]["l.x"] for number in (2, 1, 0)
    ]
