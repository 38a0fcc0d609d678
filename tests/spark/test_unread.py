"""What of both rows goes from the operator to Spark: what the outlets look at."""

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
            for names in both
        )
        for outlet, both in settings.unread.items()
        if outlet.value in expected
    }
    assert found == expected
    assert not any(settings.unread[Outlet.LATE])
