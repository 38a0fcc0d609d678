"""EXISTS and IN anywhere in a condition give what SQLite does, by chance."""

import sqlite3
from dataclasses import replace
from random import Random

import pytest

from dovetail import spec
from dovetail.conformance import local, oracle
from dovetail.conformance.engines import EngineName
from dovetail.conformance.programs import ProgramPlay
from dovetail.dialects import sqlstream
from dovetail.schema import AtomicType, Column, Schema

COLUMNS = {"id": AtomicType.INT, "k": AtomicType.STRING, "x": AtomicType.INT}
SCHEMA = Schema(tuple(Column(*one) for one in COLUMNS.items()))
INPUTS = {name: spec.Input(name, spec.InputKind.DATASET, SCHEMA) for name in "ST"}
ENGINES = EngineName.ORACLE, EngineName.LOCAL
INNER = ("", " WHERE x > 2", " WHERE id IS NOT NULL AND k <> 'c'", " WHERE T.k = S.k")
OUTER = ("", "S.id IS NOT NULL AND ", "S.k > 'a' AND ")


def condition(chance, depth=2):
    """A condition by chance, in which rows of T are looked for."""
    if depth and chance.random() < 0.6:
        sign = chance.choice((" AND ", " OR "))
        parts = [condition(chance, depth - 1) for _ in range(2)]
        return f"{chance.choice(('', 'NOT '))}({sign.join(parts)})"
    where = chance.choice(INNER)
    return chance.choice(
        (
            "S.x > 3",
            f"S.id {chance.choice(('', 'NOT '))}IN (SELECT T.id FROM T{where})",
            f"S.k {chance.choice(('', 'NOT '))}IN (SELECT k FROM T{where})",
            f"(S.id, S.k) {chance.choice(('', 'NOT '))}IN (SELECT id, k FROM T{where})",
            f"{chance.choice(('', 'NOT '))}EXISTS (SELECT 1 FROM T{where})",
            "EXISTS (SELECT 1 FROM T WHERE T.x < S.x)",
        )
    )


def some_rows(chance):
    """Rows by chance, nulls among them."""
    texts, numbers = ("a", "b", "c", None), (1, 2, 3, None)
    return [
        (chance.choice(numbers), chance.choice(texts), chance.randrange(6))
        for _ in range(chance.randrange(6))
    ]


def of_sqlite(text, tables):
    """What SQLite makes of a text."""
    base = sqlite3.connect(":memory:")
    for name, rows in tables.items():
        base.execute(f"CREATE TABLE {name} (id INT, k TEXT, x INT)")
        base.executemany(f"INSERT INTO {name} VALUES (?, ?, ?)", rows)
    return sorted(map(repr, base.execute(text).fetchall()))


def is_number(value):
    """A truth as SQLite writes it."""
    return int(value) if isinstance(value, bool) else value


def judge(text, tables, number):
    """Plays a text, and compares what comes out with what SQLite gives."""
    given = {
        name: tuple(dict(zip(COLUMNS, row, strict=True)) for row in rows)
        for name, rows in tables.items()
    }
    inputs = {name: replace(it, rows=given[name]) for name, it in INPUTS.items()}
    made, engine = sqlstream.translate(text, INPUTS), ENGINES[number % 10 == 0]
    if isinstance(made, spec.Program):
        lines = ProgramPlay(made, given, is_exact=True).lines(engine)
    else:
        player = {EngineName.ORACLE: oracle, EngineName.LOCAL: local}[engine]
        lines = player.play(spec.Play(made, inputs, (spec.Finish(0),)))
    found = [tuple(map(is_number, one.row.values())) for one in lines]
    assert sorted(map(repr, found)) == of_sqlite(text, tables), (text, given)


@pytest.mark.parametrize("number", range(80))
def test_what_is_looked_for_is_found_as_in_sqlite(number):
    chance = Random(number)
    tables = {name: some_rows(chance) for name in "ST"}
    where = chance.choice(OUTER) + condition(chance)
    text = f"SELECT S.id, S.k, S.x, {condition(chance, 1)} AS v FROM S WHERE {where}"
    judge(text, tables, number)


@pytest.mark.parametrize("number", range(60))
def test_what_outer_joins_look_for_is_found_as_in_sqlite(number):
    chance = Random(number)
    tables = {name: some_rows(chance) for name in "ST"}
    both = (condition(chance, 1), condition(chance, 1).replace("S.", "U."))
    on = f"S.id = U.id AND {chance.choice((' AND ', ' OR ')).join(both)}"
    kind = chance.choice(("LEFT", "RIGHT", "FULL"))
    value = chance.choice(("S.x", "(SELECT MAX(x) FROM T)"))
    text = f"SELECT S.*, U.x AS y FROM S {kind} JOIN T AS U ON {on} AND {value} > 1"
    judge(text, tables, number)


KEYED = "S.id IS NOT NULL AND S.id NOT IN (SELECT id FROM T WHERE id IS NOT NULL)"


@pytest.mark.parametrize(
    ("where", "joins", "keys"),
    [
        (KEYED, 1, 1),
        (f"S.x = 2 AND {KEYED}", 1, 1),
        ("S.id > 2 AND S.id NOT IN (SELECT id FROM T WHERE 3 < id)", 1, 1),
        ("S.id IS NOT NULL AND S.id NOT IN (SELECT id FROM T)", 3, 1),
        ("S.id NOT IN (SELECT id FROM T WHERE id IS NOT NULL)", 3, 1),
        ("(S.id, S.x) NOT IN (SELECT id, x FROM T)", 1, 0),
        ("S.id NOT IN (SELECT id FROM T WHERE T.x > S.x)", 1, 0),
    ],
)
def test_rows_are_looked_for_by_key_where_one_value_is(where, joins, keys):
    join = sqlstream.translate(f"SELECT id FROM S WHERE {where}", INPUTS)
    found = [join]
    while isinstance(found[-1].left.source, spec.Nested):
        found.append(found[-1].left.source.join)
    assert [len(one.hard) for one in found] == [keys] * joins
