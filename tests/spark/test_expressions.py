"""Expressions mean what Spark says they mean, their types and their values.

`--long` asks Spark for 20,000 random ones instead of some hundreds.
"""

import pytest

from dovetail.engines.spark.functions import register_functions
from tests.expression.forms import FORMS
from tests.expression.grammar import deep_expressions, plain_expressions
from tests.expression.said import said
from tests.expression.sameness import same
from tests.expression.tables import TABLES
from tests.spark.differences import (
    INTERPRETED,
    RULES,
    differences,
    misread,
    pairs,
    plain,
)

AT_ONCE = 100  # more columns make Spark's plans too long
FEW, MANY = 4, 200  # batches of random expressions
EVERY = sorted(set(plain_expressions()))


def pytest_generate_tests(metafunc):
    if "seed" in metafunc.fixturenames:
        many = metafunc.config.getoption("--long")
        metafunc.parametrize("seed", range(MANY if many else FEW))


@pytest.fixture(scope="module")
def lenient(spark):
    settings = RULES | INTERPRETED
    for name, value in settings.items():
        spark.conf.set(name, value)
    register_functions(spark)
    yield spark
    for name in settings:
        spark.conf.unset(name)


@pytest.fixture(scope="module")
def frame(lenient):
    return pairs(lenient)


@pytest.mark.parametrize("start", range(0, len(EVERY), AT_ONCE))
def test_spark_gives_the_same_for_every_form(frame, start):
    assert differences(frame, EVERY[start : start + AT_ONCE]) == {}


def test_spark_reads_what_a_tree_is_written_as(frame):
    texts = [next(plain_expressions(name)) for name in FORMS]
    assert differences(frame, texts, rewritten=True) == {}


def test_spark_gives_the_same_for_random_expressions(frame, seed):
    texts = list(deep_expressions(AT_ONCE, seed))
    assert differences(frame, texts, rewritten=seed % 2 == 1) == {}


def test_spark_reads_the_same_out_of_texts(lenient):
    assert misread(lenient, said(500, seed=6)) == {}


def test_compiled_code_gives_the_same(frame, lenient):
    for name in INTERPRETED:
        lenient.conf.unset(name)
    try:
        assert differences(frame, list(deep_expressions(AT_ONCE, seed=-1))) == {}
    finally:
        for name, value in INTERPRETED.items():
            lenient.conf.set(name, value)


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
