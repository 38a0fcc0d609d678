"""Expressions mean what Spark says they mean, their types and their values.

Many expressions are columns of one DataFrame, so that hundreds of them are a few
queries. ANSI mode is off and the zone is UTC, as the rules of cases say.
"""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from dovetail.expression import evaluate, parse
from tests.expression.arrow import side
from tests.expression.grammar import (
    SCOPE,
    TYPES,
    deep_expressions,
    plain_expressions,
    rows,
)
from tests.expression.sameness import same
from tests.expression.tables import TABLES

ROWS = rows(40, seed=3)
EVERY = sorted({*plain_expressions(), *deep_expressions(400, seed=4)})
AT_ONCE = 80  # more columns make Spark's generated code too long
BATCHES = [EVERY[start : start + AT_ONCE] for start in range(0, len(EVERY), AT_ONCE)]


@pytest.fixture(scope="module")
def lenient(spark):
    spark.conf.set("spark.sql.ansi.enabled", "false")
    yield spark
    spark.conf.unset("spark.sql.ansi.enabled")


@pytest.fixture(scope="module")
def pairs(lenient):
    table = pa.table(
        {"place": range(len(ROWS)), "l": side(ROWS, "l"), "r": side(ROWS, "r")}
    )
    record = ", ".join(f"{name}: {kind}" for name, kind in TYPES.items())
    schema = f"place long, l struct<{record}>, r struct<{record}>"
    return lenient.createDataFrame(table, schema).coalesce(1).cache()


def plain(value):
    """A value as Spark's Arrow gives it, in the domain of plain values."""
    if isinstance(value, datetime) and value.tzinfo:
        return value.astimezone(UTC)
    return value


@pytest.mark.parametrize("texts", BATCHES, ids=lambda texts: f"from {texts[0]}")
def test_spark_gives_the_same_types_and_values(pairs, texts):
    named = [f"{text} AS `{place}`" for place, text in enumerate(texts)]
    frame = pairs.selectExpr("place", *named)
    table = frame.toArrow().sort_by("place")
    wrong = {}
    for text, field, column in zip(
        texts, frame.schema.fields[1:], table.columns[1:], strict=True
    ):
        typed = parse(text, SCOPE)
        if str(typed.type) != field.dataType.simpleString():
            wrong[text] = (str(typed.type), field.dataType.simpleString())
        answers = map(plain, column.to_pylist(maps_as_pydicts="strict"))
        for pair, answer in zip(ROWS, answers, strict=True):
            value = evaluate(typed, pair)
            if not same(value, answer):
                wrong.setdefault(text, (value, answer))
    assert wrong == {}


@pytest.mark.parametrize("start", range(0, len(TABLES), AT_ONCE))
def test_spark_gives_what_the_tables_say(lenient, start):
    rows = TABLES[start : start + AT_ONCE]
    named = [f"{text} AS `{place}`" for place, (text, _, _) in enumerate(rows)]
    frame = lenient.range(1).selectExpr(*named)
    types = [field.dataType.simpleString() for field in frame.schema.fields]
    values = [plain(column[0].as_py()) for column in frame.toArrow().columns]
    wrong = {
        text: (kind, found, value, answer)
        for (text, kind, value), found, answer in zip(rows, types, values, strict=True)
        if kind != found or not same(value, answer)
    }
    assert wrong == {}
