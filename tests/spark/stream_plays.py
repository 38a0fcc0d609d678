"""Random plays of a few joins: so many plays of one shape share a streaming query.

The joins are chosen, so that every kind, window and key has its turn; what comes in is
chance, the same for one seed: rows of every type, late ones, nulls, deletes, bounds.
"""

from datetime import date
from decimal import Decimal
from random import Random

from dovetail.expression import Expression
from dovetail.schema import Schema, from_microseconds
from dovetail.spec.inputs import (
    Arrive,
    Bound,
    Clock,
    Finish,
    Input,
    InputKind,
    Pause,
    Remove,
)
from dovetail.spec.join import (
    AllColumns,
    BlankRow,
    Columns,
    JoinSpec,
    Kind,
    Named,
    Play,
    Side,
)
from dovetail.spec.picks import Equality
from dovetail.spec.spans import NO_TIME, SECOND, Span
from dovetail.spec.windows import Forever, Latest, Range, Rows

SCHEMA = Schema.of(
    {
        "k": "int",
        "n": "bigint",
        "s": "string",
        "d": "decimal(9,2)",
        "a": "array<int>",
        "p": "struct<x:int,y:string>",
        "day": "date",
        "t": "timestamp",
    }
)
BAND = Expression("l.n < r.n")
SELECT = Columns(
    (
        ("ln", Expression("l.n")),
        ("rn", Expression("r.n")),
        ("s", Expression("concat(l.s, r.s)")),
        ("half", Expression("coalesce(l.d, 0) / nullif(r.k, 2)")),
        ("a", Expression("r.a")),
        ("p", Expression("l.p")),
        ("y", Expression("r.p.y")),
        ("day", Expression("coalesce(l.day, r.day)")),
        ("both", Expression("matched_left and matched_right")),
        ("time", Expression("row_time")),
    )
)


def seconds(number):
    return Span(0, number * SECOND)


NEAR = Range(seconds(3), seconds(1))
AHEAD = Range(seconds(4), seconds(-2))


def equal(*names):
    pairs = [(name, name) if isinstance(name, str) else name for name in names]
    return tuple(
        Equality(Expression(f"l.{left}"), Expression(f"r.{right}"))
        for left, right in pairs
    )


def join(left, right, kind, **changes):
    fields = {"clock": Clock.EVENT, "hard": equal("k"), "select": SELECT, **changes}
    return JoinSpec(left, right, kind, **fields)


def side(name, window, per=""):
    return Side(Named(name), window, (Expression(per),) if per else ())


ARRIVAL = {"clock": Clock.ARRIVAL}
EVENT = [
    join(side("a", NEAR), side("b", NEAR), kind)
    for kind in Kind
    if kind is not Kind.CROSS
]
JOINS = [
    *EVENT,
    join(side("a", NEAR), side("b", AHEAD), Kind.CROSS, hard=()),
    join(side("a", NEAR), side("b", NEAR), Kind.LEFT_OUTER, hard=equal("s", "d")),
    join(side("a", NEAR), side("b", NEAR), Kind.FULL_OUTER, hard=equal("s"), ports=3),
    join(side("a", NEAR), side("b", Forever()), Kind.RIGHT_OUTER, hard=equal("day")),
    join(side("a", NEAR), side("a", AHEAD), Kind.LEFT_OUTER),
    join(
        side("a", Rows(0)),
        side("v", Latest(("k",))),
        Kind.LEFT_OUTER,
        select=AllColumns(),
        absent_right=BlankRow(),
    ),
    join(side("a", Rows(0)), side("u", Latest(("k",))), Kind.INNER),
    join(side("a", NEAR), side("f", Forever()), Kind.LEFT_ONLY),
    join(side("a", Rows(2)), side("b", Rows(3)), Kind.FULL_OUTER, **ARRIVAL),
    join(side("a", Rows(2), "k"), side("b", Rows(1), "k"), Kind.LEFT_OUTER, **ARRIVAL),
    join(side("a", Rows(0)), side("v", Latest(("k",))), Kind.LEFT_OUTER, **ARRIVAL),
    join(side("a", Rows(2), "k"), side("a", Rows(2), "k"), Kind.INNER, **ARRIVAL),
]
SOFT = [
    join(side("a", NEAR), side("b", NEAR), Kind.FULL_OUTER, soft=BAND),
    join(side("a", Rows(3)), side("b", Rows(3)), Kind.LEFT_SEMI, soft=BAND, **ARRIVAL),
]
STREAM, TABLE, DATASET = InputKind.STREAM, InputKind.TABLE, InputKind.DATASET
KINDS = {
    "a": (STREAM, (), "t"),
    "b": (STREAM, (), "t"),
    "v": (TABLE, ("k",), "t"),
    "u": (TABLE, ("k",), ""),
    "f": (DATASET, (), ""),
}


def random_row(chance, number, *, may_lack_time=True):
    """Returns a row with something of every type, and many nulls."""
    at = from_microseconds(chance.randrange(16) * SECOND)
    some = chance.random
    return {
        "k": chance.choice([None, 1, 1, 2, 3]),
        "n": number,
        "s": chance.choice([None, "", "x", "ä€"]),
        "d": chance.choice([None, Decimal(0), Decimal("2.50")]),
        "a": chance.choice([None, [], [1, None]]),
        "p": chance.choice([None, {"x": number, "y": None}, {"x": None, "y": "z"}]),
        "day": chance.choice([None, date(2020, 2, 29), date(1969, 12, 31)]),
        "t": None if may_lack_time and some() < 0.1 else at,
    }


def random_play(spec, seed, length=14):
    """Returns a play of a join: inputs with their state, and events in any order."""
    chance = Random(seed)
    names = sorted({spec.left.source.name, spec.right.source.name})
    inputs = {name: random_input(chance, name) for name in names}
    moving = [name for name in names if name not in "uf"]
    events = [
        random_event(chance, inputs[chance.choice(moving)], number)
        for number in range(chance.randrange(length))
    ]
    ends = [Finish(name) for name in moving if chance.random() < 0.8]
    return Play(spec, inputs, (*events, *ends))


def random_input(chance, name):
    kind, key, time = KINDS[name]
    state = [] if kind is STREAM else range(chance.randrange(5))
    rows = tuple(random_row(chance, -n, may_lack_time=False) for n in state)
    lateness = seconds(4) if name != "b" else NO_TIME
    return Input(name, kind, SCHEMA, key, time, lateness, rows)


def random_event(chance, source, number):
    dice = chance.random()
    row = random_row(chance, number)
    if dice < 0.08:
        return Pause()
    if dice < 0.16:
        return Bound(source.name, chance.randrange(16) * SECOND)
    if dice < 0.3 and source.kind is TABLE:
        return Remove(source.name, row)
    return Arrive(source.name, row)
