"""Joins of a stream with tables in a row, each of which waits for its table's rows."""

from random import Random

import pytest

from dovetail.conformance import local, oracle
from dovetail.expression import Expression
from dovetail.schema import AtomicType, Column, Schema
from dovetail.spec import Play
from dovetail.spec.inputs import (
    Arrive,
    Clock,
    EmitLateTableRows,
    Input,
    InputKind,
    Pause,
    Remove,
    Settings,
)
from dovetail.spec.join import Columns, Equality, JoinSpec, Kind, Named, Nested, Side
from dovetail.spec.rules import checked
from dovetail.spec.spans import SECOND
from dovetail.spec.windows import Rows
from tests.conformance.local.agreement import chunks, comparable, seeds_of

CHUNK = 6
CHUNKS = chunks(1, 20)
INT = AtomicType.INT
INPUTS = {
    "s": Input("s", InputKind.STREAM, Schema((Column("k", INT), Column("n", INT)))),
    **{
        name: Input(
            name,
            InputKind.TABLE,
            Schema((Column("k", INT), Column("v", INT))),
            key=("k",),
        )
        for name in ("t", "u")
    },
}


def chain(chance):
    """A stream beside one table, and its rows beside another, on any side of each."""
    inner = joined(chance, Named("s"), "t", {"k": "k", "n": "n"})
    return joined(chance, Nested(inner, "a"), "u", {"k": "k", "n": "n", "t": "t"})


def joined(chance, source, table, shown):
    """A join of rows with a table, which keeps those rows or not."""
    stream, kind = "l", chance.choice([Kind.LEFT_OUTER] * 3 + [Kind.INNER])
    sides = [Side(source, Rows(0)), Side(Named(table))]
    if chance.random() < 0.5:
        stream, sides = "r", sides[::-1]
        kind = Kind.RIGHT_OUTER if kind is Kind.LEFT_OUTER else kind
    other = "r" if stream == "l" else "l"
    columns = {name: f"{stream}.{column}" for name, column in shown.items()}
    columns[table] = f"{other}.v"
    equal = Equality(Expression("l.k"), Expression("r.k"))
    select = Columns(tuple((name, Expression(it)) for name, it in columns.items()))
    soft = Expression(chance.choice(["true", "true", f"{other}.v > 2"]))
    return JoinSpec(*sides, kind, Clock.ARRIVAL, (equal,), soft, select)


def events(chance):
    """Rows of all three, a few keys; tables lose some, and time goes on."""
    for number in range(30):
        name = chance.choice("sssttuu")
        key = chance.choice([1, 2, 3, None] if name == "s" else [1, 2, 3])
        if chance.random() < 0.1:
            yield Pause(number * SECOND)
        elif name == "s":
            yield Arrive(name, {"k": key, "n": number})
        elif chance.random() < 0.2:
            yield Remove(name, {"k": key})
        else:
            yield Arrive(name, {"k": key, "v": chance.randrange(5)})


@pytest.mark.parametrize("chunk", CHUNKS)
def test_each_join_of_a_row_waits_as_the_definition_has_it(chunk):
    settings = Settings(late_table_rows=EmitLateTableRows())
    for seed in seeds_of(chunk, CHUNK):
        chance = Random(seed)
        coming = tuple(events(chance))
        play = checked(Play(chain(chance), INPUTS, coming, (), settings))
        found, expected = local.play(play), oracle.play(play)
        assert comparable(play, found) == comparable(play, expected), seed
