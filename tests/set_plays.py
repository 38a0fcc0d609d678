"""Random joins of several sets, the same for one seed, whoever asks.

Keys are few, null and NaN at times; a set may be a table whose keys come again, or a
stream, and one set may stand twice.
"""

from random import Random

from dovetail.expression import Expression
from dovetail.schema import Schema
from dovetail.spec.inputs import Arrive, Input, InputKind, Remove
from dovetail.spec.join import Columns, Play, SetJoinSpec, SetKind
from dovetail.spec.rules import checked

KINDS = [InputKind.DATASET, InputKind.DATASET, InputKind.TABLE, InputKind.STREAM]
SCHEMA = {"k": "int", "x": "double", "n": "int", "g": "int"}
STEPPED = [(), ("k",), ("k",), ("k",), ("x",), ("k", "x"), ("K",)]
PAIRS = ["true", "true", "l.g = r.g", "l.n < r.n", "l.g <> r.g or l.g is null"]
ROWS = [
    *["true"] * 3,
    "ROWS_COUNT() > 1",
    "ROWS_ANY(g = 1)",
    "ROWS_MIN(g) < ROWS_MAX(g)",
    "ROWS_LAST(n) > l.n",
]
SKIPS = ["false", "false", "l.g = 2", "r.n > 9", "ROWS_COUNT() = 2"]
SELECT = {"N": "l.n", "count": "ROWS_COUNT()", "all": "ROWS_LIST(n)", "second": "r.n"}
SORTED = [(), ("n",), ("g", "n"), ("x",), ("count", "second")]
VALUES = {
    "k": [None, 1, 1, 2, 2, 3],
    "x": [None, 1.0, 1.0, -0.0, 0.0, float("nan")],
    "g": [None, 0, 1, 1, 2],
}


def random_set_play(seed):
    """Returns the play of a seed."""
    chance = Random(f"sets {seed}")
    count = chance.randrange(1, 5)
    numbers = iter(range(1, 1000))
    inputs = {name: _input(chance, name, numbers) for name in "abcd"[:count]}
    names = [*inputs, *(["a"] if chance.randrange(4) == 0 else [])]
    chance.shuffle(names)
    moving = [one for one in inputs.values() if one.kind is not InputKind.DATASET]
    streams = sum(one.kind is InputKind.STREAM for one in moving)
    events = tuple(
        _event(chance, chance.choice(moving), numbers)
        for _ in range(chance.randrange(4 + 4 * streams) if moving else 0)
    )
    return checked(Play(_join(chance, tuple(names)), inputs, events))


def _input(chance, name, numbers):
    kind = chance.choice(KINDS)
    is_stream, is_table = kind is InputKind.STREAM, kind is InputKind.TABLE
    count = 0 if is_stream else chance.randrange(6)
    rows = tuple(_row(chance, numbers) for _ in range(count))
    key = ("k",) if is_table and chance.randrange(3) else ()
    return Input(name, kind, Schema.of(SCHEMA), key, rows=rows)


def _row(chance, numbers):
    drawn = {name: chance.choice(values) for name, values in VALUES.items()}
    return {"k": drawn["k"], "x": drawn["x"], "n": next(numbers), "g": drawn["g"]}


def _event(chance, source, numbers):
    row = _row(chance, numbers)
    if source.key and chance.randrange(3) == 0:
        return Remove(source.name, {"k": row["k"]})
    return Arrive(source.name, row)


def _join(chance, names):
    kind = chance.choice(list(SetKind))
    is_counted = kind is SetKind.M_OF_N
    least = chance.randrange(1, len(names) + 1) if is_counted else 0
    return SetJoinSpec(
        sets=names,
        kind=kind,
        stepped=chance.choice(STEPPED),
        ordered_by=chance.choice(SORTED),
        select=Columns(
            tuple((name, Expression(text)) for name, text in SELECT.items())
        ),
        least=least,
        most=chance.randrange(least, len(names) + 1) if is_counted else 0,
        pair_condition=Expression("true" if is_counted else chance.choice(PAIRS)),
        rows_condition=Expression(chance.choice(ROWS)),
        skip_when=Expression(chance.choice(SKIPS)),
    )
