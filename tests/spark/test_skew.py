"""SKEW: a job stops before it joins rows that lie too unevenly, and says how they lie.

Here all rows of a side have one key, or each a key of its own; texts are of two bytes.
"""

import pytest

import dovetail as dt
from dovetail.api.programs import explained_by
from dovetail.dialects.ecl import translate
from dovetail.engines.spark_batch.stops import limits_told
from dovetail.engines.spark_program import script
from dovetail.errors import LimitError
from dovetail.schema import Schema

PARTS = "4"
ONE_KEY, ALL_KEYS = "7L", "id"
TEXT = """
r := RECORD INTEGER k; STRING v; END;
l := DATASET('l', r, THOR);
m := DATASET('m', r, THOR);
OUTPUT(JOIN(l, m, LEFT.k = RIGHT.k, TRANSFORM(LEFT){options}), NAMED('pairs'));
"""


def text(options):
    return TEXT.replace("{options}", f", {options}" if options else "")


@pytest.fixture
def in_parts(spark):
    """Spark joins in four parts."""
    before = spark.conf.get("spark.sql.shuffle.partitions")
    spark.conf.set("spark.sql.shuffle.partitions", PARTS)
    yield spark
    spark.conf.set("spark.sql.shuffle.partitions", before)


def pairs(spark, options, *, left=ONE_KEY, right=ALL_KEYS):
    """The rows that come out of ten rows on each side."""
    sides = {
        name: spark.range(10).selectExpr(f"{key} AS k", "'\u00e9' AS v")
        for name, key in (("l", left), ("m", right))
    }
    return dt.ecl(text(options), sides)["pairs"]


@pytest.mark.parametrize(
    ("side", "keys"),
    [
        ("left", {"left": ONE_KEY, "right": ALL_KEYS}),
        ("right", {"left": ALL_KEYS, "right": ONE_KEY}),
    ],
)
def test_a_side_of_one_key_is_as_uneven_as_can_be(in_parts, side, keys):
    options = "SKEW(0.9), THRESHOLD(1)"
    with pytest.raises(LimitError) as found, limits_told():
        pairs(in_parts, options, **keys).collect()
    assert found.value.found.startswith(f"the {side} rows lie unevenly by ")
    assert "10 of 10 are in part " in found.value.found
    assert found.value.found.endswith(" of 4, a skew of 1.0")
    assert found.value.expected == "at most 0.9"
    assert "TABLE(rows, {key, COUNT(GROUP)}, key)" in found.value.hint


@pytest.mark.parametrize(
    "options",
    [
        "SKEW(1), THRESHOLD(1)",
        "SKEW(0.1)",
        # Ten rows, each with a number of 8 bytes and a text of 2.
        "SKEW(0.1), THRESHOLD(100)",
        "THRESHOLD(1)",
        "",
    ],
)
def test_up_to_the_limit_or_in_small_parts_rows_may_lie_as_they_like(in_parts, options):
    assert len(pairs(in_parts, options).collect()) == 10


def test_parts_are_measured_in_bytes(in_parts):
    with pytest.raises(LimitError), limits_told():
        pairs(in_parts, "SKEW(0.1), THRESHOLD(99)").collect()


def test_a_limit_of_zero_is_the_fair_share_of_a_part(in_parts):
    with pytest.raises(LimitError, match=r"at most 0\.25"), limits_told():
        pairs(in_parts, "SKEW(0), THRESHOLD(1)").collect()


def test_rows_that_lie_evenly_pass(in_parts):
    found = pairs(in_parts, "SKEW(0.9), THRESHOLD(1)", left=ALL_KEYS)
    assert len(found.collect()) == 10


def test_only_who_asks_for_it_pays(in_parts):
    assert "ubquery" in explained_by(pairs(in_parts, "SKEW(0.5)"))
    for options in ("", "NOSORT", "SKEW(1)", "THRESHOLD(1)"):
        assert "ubquery" not in explained_by(pairs(in_parts, options))


def test_the_printed_program_stops_too():
    kinds = dict.fromkeys("lm", Schema.of({"k": "bigint", "v": "string"}))
    printed = script(translate(text("SKEW(0.5), THRESHOLD(9)"), kinds))
    assert "skew=0.5" in printed
    assert "threshold=9" in printed
    assert "skew=" not in script(translate(text("NOSORT"), kinds))
