"""Names of ours meet no column of a user, whatever it is called, in any case."""

from datetime import UTC, datetime, timedelta

import pytest

import dovetail as dt
from dovetail.kernels.arrays.names import reserved
from tests.spark.rows import bag

START = datetime(2020, 1, 1, tzinfo=UTC)
# Every name that a column of ours has, or once had, in any frame on the way.
TAKEN = """
    batch side reason left right outlet row_time l r counter matched_left matched_right
    window_start window_end place what time moment position code partition event scope
    now bucket blob row rows met value key value_1 _1 _2 c0 l0 r0 row_0 sequence cut
    input change kept came matched unmatched late alive waiting dovetail key_0 at
    __time __place __what __is_bad __row_time __left __right __settled __exceeds __here
    __birth __death __end __first __last __lasts __ends __bucket __match __number __at
    __rank __tie __key_0 __l_0 @moment @position @code @partition @place @row @life
    #0 #1 #early #key #life #group #told #start #end #bad #clock _metadata
"""
NAMES = [*dict.fromkeys(TAKEN.split()), "place 1", "key 1", "number of it"]
CASES = {"lower": NAMES, "upper": [name.upper() for name in NAMES]}


def rows(names, hand, keys):
    """Rows one second apart; every column says where it comes from."""
    return [
        {
            "id": key,
            "when": START + timedelta(seconds=number),
            **{name: f"{hand}{number} {name}" for name in names},
        }
        for number, key in enumerate(keys)
    ]


def frame(spark, found, names):
    fields = ["id BIGINT", "when TIMESTAMP", *(f"`{name}` STRING" for name in names)]
    values = [tuple(row.values()) for row in found]
    return spark.createDataFrame(values, ", ".join(fields))


def whole(names, hand):
    """Every column of a hand under a name of its own, and under its own one."""
    letter = hand[0]
    shown = {name: f"{letter}.`{name}`" for name in ("id", "when", *names)}
    return (
        shown if hand == "left" else {f"{name} too": it for name, it in shown.items()}
    )


def sides(frames):
    return [
        dt.stream(one, time="when").window(dt.range("1 minute", "1 minute"))
        for one in frames
    ]


def expected(left, right):
    """The rows of a left join on `id`."""
    for one in left:
        found = [two for two in right if two["id"] == one["id"]]
        for two in found or [dict.fromkeys(one)]:
            yield {**one, **{f"{name} too": value for name, value in two.items()}}


def cases(names):
    return rows(names, "left", (1, 2, 3, 3)), rows(names, "right", (3, 1, 1, 5))


@pytest.fixture(params=CASES)
def names(request):
    return CASES[request.param]


MANNERS = {
    "plain": {},
    "first": {"keep": 5},
    "nearest": {"asof": dt.asof("l.when", "r.when", direction="nearest")},
    "outlet": {"unmatched": "outlet"},
}


@pytest.mark.parametrize("manner", MANNERS)
def test_a_batch_carries_every_name(spark, names, manner):
    left, right = cases(names)
    one, other = sides([frame(spark, it, names) for it in (left, right)])
    select = whole(names, "left") | whole(names, "right")
    joined = one.join(other, on="id", how="left", select=select, **MANNERS[manner])
    found = joined.matched.toArrow().to_pylist()
    known = [bag([row]) for row in expected(left, right)]
    assert len(found) >= 3
    assert all(bag([row]) in known for row in found)
    if manner == "plain":
        assert bag(found) == bag(expected(left, right))
    if manner == "outlet":
        assert bag(joined.left_unmatched.toArrow().to_pylist()) == bag(left[1:2])


@pytest.mark.parametrize("how", ["semi", "anti"])
def test_a_batch_of_one_side_carries_every_name(spark, names, how):
    left, right = cases(names)
    one, other = sides([frame(spark, it, names) for it in (left, right)])
    found = one.join(other, on="id", how=how).matched.toArrow().to_pylist()
    assert bag(found) == bag(left[1:2] if how == "anti" else [left[0], *left[2:]])


def test_a_stream_carries_every_name(spark, names, tmp_path):
    left, right = cases(names)
    last = {**left[0], "id": -1, "when": START + timedelta(hours=2)}
    early = {**left[0], "id": -2, "when": START - timedelta(hours=2)}
    feeds = []
    for hand, found in (("l", left), ("r", right)):
        folder = str(tmp_path / hand)
        for number, part in enumerate(([*found, last], [early, last])):
            made = frame(spark, part, names).coalesce(1)
            made.write.mode("append").parquet(folder)
            assert number in {0, 1}
        stream = spark.readStream.schema(made.schema).option("maxFilesPerTrigger", 1)
        feeds.append(stream.parquet(folder))
    got = {"matched": [], "left_unmatched": [], "late": []}
    select = whole(names, "left") | whole(names, "right")
    one, other = sides(feeds)
    joined = one.join(other, on="id", how="left", unmatched="outlet", select=select)
    query = joined.write(
        checkpoint=str(tmp_path / "checkpoint"),
        trigger={"availableNow": True},
        **{name: keeper(found) for name, found in got.items()},
    )
    query.awaitTermination()
    pairs = [row for row in got["matched"] if row["id"] > 0]
    alone = [row for row in got["left_unmatched"] if row["id"] > 0]
    assert bag(pairs) == bag(it for it in expected(left, right) if it["id too"])
    assert bag(alone) == bag(left[1:2])
    late = [row["left"] for row in got["late"] if row["side"] == "left"]
    assert late == [early]
    assert {row["reason"] for row in got["late"]} == {"late"}


def keeper(found):
    return lambda rows, _: found.extend(rows.toArrow().to_pylist())


def test_a_program_carries_every_name(spark, names):
    left, right = (
        [{name: value for name, value in row.items() if name != "when"} for row in one]
        for one in cases(names)
    )
    frames = {
        name: frame(spark, cases(names)[number], names).drop("when")
        for number, name in enumerate("ab")
    }
    text = """
        OUTPUT(JOIN(a, b, LEFT.id = RIGHT.id, TRANSFORM(LEFT), LEFT ONLY), NAMED('j'));
        OUTPUT(SORT(a + b, -id), NAMED('s'));
        OUTPUT(CHOOSEN(GROUP(SORT(b, id), id), 1), NAMED('c'));
    """
    found = dt.ecl(text, frames)
    assert found["j"].toArrow().to_pylist() == left[1:2]
    ordered = sorted([*left, *right], key=lambda row: -row["id"])
    assert found["s"].toArrow().to_pylist() == ordered
    firsts = [right[1], right[0], right[3]]
    assert found["c"].toArrow().to_pylist() == firsts


@pytest.mark.parametrize("name", [reserved("x"), reserved("x").upper()])
def test_names_of_ours_are_refused(spark, name):
    one = frame(spark, rows([name], "left", (1,)), [name])
    plain = frame(spark, rows(["n"], "right", (1,)), ["n"])
    told = f'a column called "{name}"'
    for attempt in (
        lambda: dt.stream(one),
        lambda: dt.table(one, key="id"),
        lambda: dt.dataset(one),
        lambda: dt.dataset(plain).join(
            dt.dataset(plain), on="id", select={name: "l.n"}
        ),
        lambda: dt.ecl("OUTPUT(a);", {"a": one}),
        lambda: dt.join(
            {"type": "inner", "clock": "batch"}
            | {"left": {"from": "a"}, "right": {"from": "b"}},
            {"a": one, "b": plain},
        ),
    ):
        with pytest.raises(dt.DovetailError) as refusal:
            attempt()
        assert told in str(refusal.value)
        assert "hint: " in str(refusal.value)
