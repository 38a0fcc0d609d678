"""Each option of a join says how Spark joins; what counts candidates says so."""

import pytest

from dovetail.dialects.ecl import translate
from dovetail.plan.words import on_spark

ROWS = "d := DATASET([{7}], {INTEGER k});\n"


def told(options, condition="LEFT.k = RIGHT.k"):
    text = f"{ROWS}OUTPUT(JOIN(d, d, {condition}{options}));"
    (output,) = translate(text, {}).outputs
    return on_spark(output.step.join)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ("", "as Spark chooses"),
        (", SMART", "as Spark chooses"),
        (", FEW", "as Spark chooses"),
        (", LOOKUP", "the right side is broadcast"),
        (", MANY LOOKUP", "the right side is broadcast"),
        (", ALL", "the right side is broadcast"),
        (", HASH", "both sides are shuffled by their keys, one is hashed"),
        (", NOSORT", "both sides are shuffled by their keys, sorted and merged"),
        (", PARTITION LEFT", "sorted and merged"),
        (", PARTITION RIGHT", "sorted and merged"),
        (", SKEW(0.1)", "sorted and merged"),
        (", THRESHOLD(1000000)", "sorted and merged"),
        (", LIMIT(3)", "; candidates are counted in a window of their key"),
        (", HASH, ATMOST(3)", "; candidates are counted in a window of their key"),
    ],
)
def test_an_option_says_how_spark_joins(options, says):
    assert says in told(options)


def test_sets_come_together():
    text = f"{ROWS}OUTPUT(JOIN([d, d], LEFT.k = RIGHT.k, TRANSFORM(LEFT), SORTED(k)));"
    (output,) = translate(text, {}).outputs
    assert "from all sets" in on_spark(output.step.join)
