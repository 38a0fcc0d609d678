"""What only Spark can judge of a batch join: its words come in a sentence."""

import pytest

import dovetail as dt


@pytest.fixture(scope="module")
def sides(spark):
    versions = [(1, 5, "five"), (1, 7, "seven"), (1, 6, "six"), (2, 1, "one")]
    left = spark.createDataFrame([(1, 9), (2, 9)], "id INT, n INT")
    right = spark.createDataFrame(versions, "id INT, version INT, word STRING")
    return left.coalesce(1), right.coalesce(1)


WRONG = {
    "unknown function": ({"select": {"x": "nofun(l.n)"}}, "nofun", 'select["x"]'),
    "bare name": ({"where": "n > 1 AND bare(n)"}, "", "where"),
    "half an expression": ({"where": "l.n > "}, "Syntax error", "where"),
}


@pytest.mark.parametrize("name", WRONG)
def test_an_expression_that_spark_refuses_is_told(sides, name):
    wish, said, argument = WRONG[name]
    left, right = (dt.dataset(one) for one in sides)
    with pytest.raises(dt.SpecError, match="Spark refuses an expression") as refusal:
        _ = left.join(right, on="id", **wish).matched
    assert said in refusal.value.found
    assert "SQLSTATE" not in str(refusal.value)
    assert argument in refusal.value.hint


def test_a_table_of_a_batch_is_ordered_as_it_says(sides):
    left, right = dt.dataset(sides[0]), dt.table(sides[1], key="id", order="version")
    select = {"id": "l.id", "word": "r.word"}
    found = left.join(right, on="id", select=select).matched.collect()
    assert sorted(tuple(row) for row in found) == [(1, "seven"), (2, "one")]
    backward = dt.table(sides[1], key="id", order="-version")
    found = left.join(backward, on="id", select=select).matched.collect()
    assert sorted(tuple(row) for row in found) == [(1, "five"), (2, "one")]
