"""Joins of joins by chance: the whole spec in the join inside and in the one outside.

What is drawn for one join is drawn for both: kinds, windows, picks, conditions. Rows of
the join inside have the columns of an input, so that anything may be asked of them.
"""

from dataclasses import replace
from functools import partial
from random import Random

from dovetail.expression import Expression
from dovetail.spec.inputs import Clock, Input, InputKind
from dovetail.spec.join import Columns, Kind, Named, Nested
from dovetail.spec.windows import Inherited
from tests.chance.dice import Dice
from tests.chance.inputs import inputs, one_input
from tests.chance.plays import first_of, join_of, of_join
from tests.chance.rows import Rows

ONE_SIDED = {
    Kind.LEFT_SEMI: "l",
    Kind.LEFT_ONLY: "l",
    Kind.RIGHT_SEMI: "r",
    Kind.RIGHT_ONLY: "r",
}
OTHERS = {Clock.ARRIVAL: "ssstud", Clock.EVENT: "ssssttud", Clock.BATCH: "dddstu"}
NAME = "nest"


def nested_play(seed, accepts, clock):
    """Returns the play of a seed, a join of a join, that an engine can play.

    In that of every other seed much is rare.
    """
    dice = Dice(Random(f"nest {clock.value} {seed}"), bold=seed % 2 == 1)
    return first_of(partial(drawn, dice, clock), accepts)


def drawn(dice, clock):
    """A play, sound or not."""
    rows = Rows(dice)
    sources, (name, other) = inputs(dice, clock, rows)
    key_type = str(sources[name].schema["k"].type)
    more = f"{dice.pick(OTHERS[clock])}3"
    sources[more] = one_input(dice, clock, rows, (more, key_type))
    inside = dice.pick([clock] * 5 + [Clock.BATCH])
    pair = dice.shuffled([sources[name], sources[more]])
    inner = replace(join_of(dice, inside, pair), ports=1)
    inner = replace(inner, select=columns(dice, inner.kind))
    is_still = inside is Clock.BATCH and clock is not Clock.BATCH
    kind = InputKind.DATASET if is_still else InputKind.STREAM
    stands_for = Input(NAME, kind, sources[name].schema, (), "t" * dice.one_of(2))
    join = join_of(dice, clock, dice.shuffled([stands_for, sources[other]]))
    nested = partial(nesting, dice, clock, inner)
    join = replace(join, left=nested(join.left), right=nested(join.right))
    return of_join(dice, join, sources, rows)


def columns(dice, kind):
    """The columns of an input, of the sides that a kind puts out."""
    only = ONE_SIDED.get(kind)
    if only:
        told = {name: f"{only}.{name}" for name in "kngtu"}
    else:
        told = {
            "k": dice.pick(["l.k", "r.k"]),
            "n": "coalesce(l.n, 0) * 100 + coalesce(r.n, 0)",
            "g": dice.pick(["l.g", "r.g", "coalesce(l.g, r.g)"]),
            "t": dice.pick(["l.t", "coalesce(l.t, r.t)", "coalesce(r.t, l.t)"]),
            "u": dice.pick(["l.u", "coalesce(l.u, r.u)"]),
        }
    return Columns(tuple((name, Expression(text)) for name, text in told.items()))


def nesting(dice, clock, inner, side):
    """A side with the join inside, where that is meant; its lives go on at times."""
    if side.source != Named(NAME):
        return side
    side = replace(side, source=Nested(inner, NAME))
    if clock is Clock.EVENT and inner.clock is clock and dice.one_of(2):
        return replace(side, window=Inherited())
    return side
