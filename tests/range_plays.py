"""Random joins of a join in order of arrival that time lets rows out of.

A row that moves the time past a range's end lets out the null row of that range.
"""

from random import Random

from dovetail.expression import Expression
from dovetail.schema import Schema, from_microseconds
from dovetail.spec.inputs import Arrive, Clock, Input, InputKind
from dovetail.spec.join import Columns, JoinSpec, Kind, Named, Nested, Play, Side
from dovetail.spec.picks import Equality
from dovetail.spec.rules import checked
from dovetail.spec.spans import NO_TIME, SECOND, Span
from dovetail.spec.windows import Forever, Latest, Range, Rows

SCHEMA = {"k": "int", "n": "int", "t": "timestamp"}
KINDS = [Kind.LEFT_OUTER, Kind.RIGHT_OUTER, Kind.FULL_OUTER, Kind.LEFT_ONLY]
WINDOWS = [Rows(1), Rows(2), Rows(4), Forever(), Latest(("k",))]


def random_range_play(seed):
    """Returns the play of a seed."""
    chance = Random(f"ranges {seed}")
    inputs = {name: _input(chance, name) for name in "abc"}
    events = tuple(
        Arrive(chance.choice("abc"), _row(chance, number), number * SECOND)
        for number in range(chance.randrange(4, 16))
    )
    inner = JoinSpec(
        Side(Named("a"), _range(chance)),
        Side(Named("b"), _range(chance)),
        chance.choice(KINDS),
        Clock.ARRIVAL,
        _equal("k"),
        select=_columns(k="coalesce(l.k, r.k)", a="l.n", b="r.n"),
    )
    outer = JoinSpec(
        Side(Nested(inner, "ab"), chance.choice(WINDOWS)),
        Side(Named("c"), chance.choice(WINDOWS)),
        chance.choice([Kind.INNER, Kind.LEFT_OUTER, Kind.FULL_OUTER]),
        Clock.ARRIVAL,
        _equal("k") if chance.random() < 0.7 else (),
        select=_columns(a="l.a", b="l.b", c="r.n"),
    )
    return checked(Play(outer, inputs, events))


def _input(chance, name):
    lateness = Span(0, chance.randrange(4) * SECOND) if name != "c" else NO_TIME
    schema = Schema.of(SCHEMA)
    return Input(name, InputKind.STREAM, schema, (), "t", lateness)


def _row(chance, number):
    at = from_microseconds((number // 2 + chance.randrange(-2, 5)) * SECOND)
    return {"k": chance.choice([None, 1, 1, 2]), "n": number, "t": at}


def _range(chance):
    return Range(
        Span(0, chance.randrange(4) * SECOND), Span(0, chance.randrange(2) * SECOND)
    )


def _equal(name):
    return (Equality(Expression(f"l.{name}"), Expression(f"r.{name}")),)


def _columns(**texts):
    return Columns(tuple((name, Expression(text)) for name, text in texts.items()))
