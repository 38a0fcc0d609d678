"""What Spark, the evaluation and the kernels give for many expressions at once.

Many expressions are columns of one DataFrame, so that hundreds of them are one query.
ANSI mode is off and the zone is UTC, as the rules of cases say.
"""

from datetime import UTC, date, datetime

import pyarrow as pa
import pyarrow.compute as pc

from dovetail.errors import UnsupportedError
from dovetail.expression import compiled, evaluate, lower, parse
from dovetail.expression.sql import written
from dovetail.kernels.arrays.program import run_program
from tests.expression.arrow import columns, side
from tests.expression.grammar import SCOPE, TYPES, rows
from tests.expression.said import CASTS
from tests.expression.said import SCOPE as SAID
from tests.expression.sameness import same

ROWS = rows(40, seed=3)
COLUMNS = columns(ROWS)
RULES = {
    "spark.sql.ansi.enabled": "false",
    "spark.sql.session.timeZone": "UTC",
}
# The days of Python's years since 1970, and how many microseconds a day has.
FIRST, LAST = (day.toordinal() - 719_163 for day in (date.min, date.max))
DAY = 86_400_000_000
# Forty rows are over before the code for hundreds of columns is compiled.
INTERPRETED = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
}


def pairs(spark):
    """The rows of the grammar as a DataFrame of `l`, `r` and their place."""
    table = pa.table(
        {"place": range(len(ROWS)), "l": side(ROWS, "l"), "r": side(ROWS, "r")}
    )
    record = ", ".join(f"{name}: {kind}" for name, kind in TYPES.items())
    schema = f"place long, l struct<{record}>, r struct<{record}>"
    return spark.createDataFrame(table, schema).coalesce(1).cache()


def plain(value):
    """A value as Spark's Arrow gives it, in the domain of plain values."""
    if isinstance(value, datetime) and value.tzinfo:
        return value.astimezone(UTC)
    return value


def differences(frame, texts, *, rewritten=False):
    """The texts that do not mean the same everywhere, with what they mean.

    Where `rewritten`, Spark is given what the tree is written as, not the text.
    """
    trees = [parse(text, SCOPE) for text in texts]
    asked = [written(typed) if rewritten else typed.text for typed in trees]
    named = [f"{text} AS `{place}`" for place, text in enumerate(asked)]
    found = frame.selectExpr("place", *named)
    table = found.toArrow().sort_by("place")
    wrong = {}
    for typed, field, column in zip(
        trees, found.schema.fields[1:], table.columns[1:], strict=True
    ):
        kind = field.dataType.simpleString()
        answers = list(map(plain, column.to_pylist(maps_as_pydicts="strict")))
        difference = _difference(typed, kind, answers)
        if difference:
            wrong[typed.text] = difference
    return wrong


def _known_years(column):
    """A column of Spark's, null where it is beyond the years that Python knows."""
    kind = column.type
    if not pa.types.is_temporal(kind):
        return column
    edges = (
        (FIRST, LAST) if pa.types.is_date(kind) else (FIRST * DAY, LAST * DAY + DAY - 1)
    )
    count = column.cast(pa.int32() if pa.types.is_date(kind) else pa.int64())
    known = pc.and_(*map(pc.less_equal, (edges[0], count), (count, edges[1])))
    return pc.if_else(known, column, pa.scalar(None, kind))


def misread(spark, texts):
    """The casts of texts that Spark reads otherwise, with the first such text."""
    frame = spark.createDataFrame(
        pa.table({"place": range(len(texts)), "said": texts}),
        "place long, said string",
    ).coalesce(1)
    named = [f"{text} AS `{place}`" for place, text in enumerate(CASTS)]
    table = frame.selectExpr("place", *named).toArrow().sort_by("place")
    wrong = {}
    for text, column in zip(CASTS, table.columns[1:], strict=True):
        read = compiled(text, SAID)
        answers = map(plain, _known_years(column).to_pylist())
        for one, answer in zip(texts, answers, strict=True):
            value = read({"": {"said": one}})
            if not same(value, answer):
                wrong.setdefault(text, (one, value, answer))
    return wrong


def _difference(typed, kind, answers):
    """What is said otherwise of an expression: by whom, and what; or nothing."""
    if str(typed.type) != kind:
        return "type", str(typed.type), kind
    values = [evaluate(typed, pair) for pair in ROWS]
    for value, answer in zip(values, answers, strict=True):
        if not same(value, answer):
            return "value", value, answer
    try:
        program = lower(typed)
    except UnsupportedError:
        return None
    found = run_program(program, COLUMNS, len(ROWS)).to_pylist(maps_as_pydicts="strict")
    for value, answer in zip(values, found, strict=True):
        if not same(value, answer):
            return "kernels", value, answer
    return None
