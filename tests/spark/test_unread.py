"""What of both rows goes from the operator to Spark: what the outlets look at."""

import re
from collections import Counter

import pytest

import dovetail as dt
from dovetail.engines.spark_stream import dataflow
from dovetail.spec.inputs import Outlet

ROWS = "CAST(value AS STRING) AS k", "value AS n", "timestamp AS at", "'pad' AS pad"
HOUR = dt.range("1 hour", "1 hour")
INNER, LEFT = {"how": "inner"}, {"how": "left"}
APART = {"how": "full", "unmatched": "outlet"}


@pytest.fixture
def told(monkeypatch):
    """The settings of every operator that is made, the last one last."""
    found, made = [], dataflow.make_operator

    def noted(settings, schemas):
        found.append(settings)
        return made(settings, schemas)

    monkeypatch.setattr(dataflow, "make_operator", noted)
    return found


def stream(spark):
    rows = spark.readStream.format("rate").load().selectExpr(*ROWS)
    return dt.stream(rows, time="at", lateness="1 minute")


@pytest.mark.parametrize(
    ("how", "select", "expected"),
    [
        (INNER, {"k": "l.k", "n": "r.N"}, {"matched": ("n at pad", "k at pad")}),
        (INNER, {"all": "to_json(l)"}, {"matched": ("", "k n at pad")}),
        (INNER, {"two": "l.n + r.n"}, {"matched": ("k at pad", "k at pad")}),
        # On one port rows without a partner show what pairs do.
        (
            LEFT,
            {"x": "coalesce(r.n, l.n)"},
            {
                "matched": ("k at pad", "k at pad"),
                "left_unmatched": ("k at pad", "k at pad"),
            },
        ),
        (
            APART,
            {"n": "l.n"},
            {
                "matched": ("k at pad", "k n at pad"),
                "left_unmatched": ("", "k n at pad"),
                "right_unmatched": ("k n at pad", ""),
            },
        ),
    ],
)
def test_an_operator_is_told_what_no_outlet_looks_at(
    spark, told, how, select, expected
):
    left, right = (stream(spark).window(HOUR) for _ in "lr")
    joined = left.join(right, on="k", select=select, **how)
    assert joined.matched.columns[0] in select
    (settings,) = told
    found = {
        outlet.value: tuple(
            " ".join(name for name in ("k", "n", "at", "pad") if name in names)
            for names in (unread.left, unread.right)
        )
        for outlet, unread in settings.unread.items()
        if outlet.value in expected
    }
    assert found == expected
    # Who shows columns of rows alone does not show when they met.
    is_plain = all(re.fullmatch(r"[lr]\.\w+", text) for text in select.values())
    assert {settings.unread[Outlet(name)].time for name in expected} == {is_plain}
    assert not any(settings.unread[Outlet.LATE])


def test_columns_of_rows_come_out_as_they_are(spark, tmp_path, capsys):
    rows = [("a", 1, 10), ("a", None, 11), (None, 3, 12), ("b", 4, None)]
    frame = spark.createDataFrame(rows, "k string, n int, second int")
    frame = frame.selectExpr("k", "n", "timestamp_seconds(second) AS at", "n AS `A.b`")
    frame.write.parquet(str(tmp_path / "rows"))
    left, right = (
        dt.stream(
            spark.readStream.schema(frame.schema).parquet(str(tmp_path / "rows")),
            time="at",
        ).window(HOUR)
        for _ in "lr"
    )
    select = {"k": "l.k", "n": "r.n", "N2": "R.N", "at": "l.at", "odd": "l.`A.b`"}
    joined = left.join(right, on="k", how="left", unmatched="outlet", select=select)
    outlets = {"matched": joined.matched, "alone": joined.left_unmatched}
    found = {}
    for name, one in outlets.items():
        # A projection of Spark would copy every row.
        one.explain(extended=True)
        _, plan = capsys.readouterr().out.split("Analyzed Logical Plan ==")
        assert plan.splitlines()[2].startswith("~MapInArrow"), plan
        write = one.writeStream.format("memory").queryName(f"{tmp_path.name}_{name}")
        folder = str(tmp_path / f"checkpoint_{name}")
        query = write.option("checkpointLocation", folder)
        query.trigger(availableNow=True).start().awaitTermination()
        found[name] = spark.table(f"{tmp_path.name}_{name}").drop("at").collect()
    nulls = {it.name: it.nullable for it in joined.matched.schema}
    assert nulls == {"k": False, "n": True, "N2": True, "at": False, "odd": True}
    assert all(it.nullable for it in joined.left_unmatched.schema)
    pairs = [(n, other) for n in (1, None) for other in (1, None)]
    expected = [("a", other, other, n) for n, other in pairs]
    assert Counter(map(tuple, found["matched"])) == Counter(expected)
