"""Functions OVER rows of tables give what SQLite does, by chance."""

import sqlite3
from random import Random

import pytest

from dovetail import spec
from dovetail.conformance.engines import EngineName
from dovetail.conformance.programs import ProgramPlay
from dovetail.dialects import sqlstream
from dovetail.schema import AtomicType, Column, Schema

COLUMNS = {"i": AtomicType.INT, "k": AtomicType.STRING, "x": AtomicType.INT}
SCHEMA = Schema(tuple(Column(*one) for one in COLUMNS.items()))
INPUT = spec.Input("T", spec.InputKind.DATASET, SCHEMA)
FUNCTIONS = (
    *("ROW_NUMBER()", "RANK()", "DENSE_RANK()", "COUNT(*)", "COUNT(x)", "SUM(x)"),
    *("AVG(CAST(x AS DOUBLE))", "MIN(k)", "MAX(x)", "FIRST_VALUE(x)", "LAST_VALUE(k)"),
    *("LAG(x)", "LEAD(x, 2)", "LAG(x, 1, 7)", "NTH_VALUE(x, 2)", "SUM(i * 2)"),
)
FRAMES = (
    *("", "", "ROWS 2 PRECEDING", "ROWS UNBOUNDED PRECEDING"),
    "ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING",
    "ROWS BETWEEN 2 FOLLOWING AND 3 FOLLOWING",
    "ROWS BETWEEN 3 PRECEDING AND 2 PRECEDING",
    "ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING",
    "ROWS BETWEEN 2 PRECEDING AND UNBOUNDED FOLLOWING",
    "RANGE BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING",
    "RANGE BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
    "RANGE UNBOUNDED PRECEDING",
)


def window(chance):
    """A window; rows that are alike in its order have no other one in ROWS."""
    parts = chance.choice(("", "PARTITION BY k", "PARTITION BY MOD(x, 2), k"))
    frame = chance.choice(FRAMES)
    nulls, way = chance.choice(("FIRST", "LAST")), chance.choice(("", "DESC"))
    keys = f"x {way} NULLS {nulls}"
    if not frame.startswith("RANGE") and (frame or chance.random() < 0.5):
        keys = f"{keys}, i"
    return f"{parts} ORDER BY {keys} {frame}"


def text_of(chance):
    """A query of functions by chance, of which some look at places in an order."""
    selected = []
    for number in range(3):
        name, over = chance.choice(FUNCTIONS), window(chance)
        is_placed = name.startswith(("ROW", "LAG", "LEAD", "FIRST", "LAST", "NTH"))
        if is_placed and ", i" not in over:
            over = "PARTITION BY k ORDER BY x DESC NULLS LAST, i"
        if chance.random() < 0.2 and not is_placed and "RANK" not in name:
            over = chance.choice(("", "PARTITION BY k"))
        selected.append(f"{name} OVER ({over}) AS c{number}")
    return f"SELECT i, {', '.join(selected)} FROM T"


def of_sqlite(text, rows):
    """What SQLite makes of a text."""
    base = sqlite3.connect(":memory:")
    base.execute("CREATE TABLE T (i INT, k TEXT, x INT)")
    base.executemany("INSERT INTO T VALUES (?, ?, ?)", rows)
    return sorted(base.execute(text.replace("MOD(x, 2)", "x % 2")).fetchall())


def rows_of(text, rows, engine):
    """What an engine makes of a text."""
    program = sqlstream.translate(text, {"T": INPUT})
    given = [dict(zip(COLUMNS, row, strict=True)) for row in rows]
    play = ProgramPlay(program, {"T": given}, is_exact=True)
    return sorted(tuple(one.row.values()) for one in play.lines(engine))


@pytest.mark.parametrize("number", range(60))
def test_functions_over_rows_are_those_of_sqlite(number):
    chance = Random(number)
    rows = [
        (place, chance.choice(("a", "b", None)), chance.choice((None, 1, 2, 3, 5)))
        for place in range(chance.randrange(14))
    ]
    chance.shuffle(rows)
    text = text_of(chance)
    engine = EngineName.LOCAL if number % 10 == 0 else EngineName.ORACLE
    assert rows_of(text, rows, engine) == of_sqlite(text, rows), text


MANY = """
SELECT i, SUM(x) OVER w AS a, COUNT(x) OVER w AS b, MIN(k) OVER w AS c,
       AVG(CAST(x AS DOUBLE)) OVER (ORDER BY x NULLS LAST) AS d,
       DENSE_RANK() OVER (ORDER BY x NULLS FIRST) AS e,
       SUM(x) OVER (ORDER BY i ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING) AS f
  FROM T WINDOW w AS (ORDER BY i ROWS UNBOUNDED PRECEDING)
"""


@pytest.mark.parametrize("engine", [EngineName.LOCAL, EngineName.ORACLE])
def test_totals_of_all_rows_up_to_each_go_along_the_rows_once(engine):
    """Told anew for each row, three million values would be added up."""
    rows = [(at, "ba"[at > 5], None if at < 3 else at % 700) for at in range(2500)]
    found = rows_of(MANY, rows, engine)
    assert found == of_sqlite(MANY, rows)
    assert found[0][1:4] == (None, 0, "b")


def test_a_sum_that_no_digits_hold_stays_null():
    text = """
    SELECT i, SUM(x * CAST('99999999999999999999999999999999999999' AS DECIMAL(38, 0)))
              OVER (ORDER BY i ROWS UNBOUNDED PRECEDING) AS a FROM T
    """
    rows = [(0, "", None), (1, "", 1), (2, "", 1), (3, "", None), (4, "", -1)]
    found = [a for _, a in rows_of(text, rows, EngineName.ORACLE)]
    assert found == [None, 10**38 - 1, None, None, None]
