"""Picks by chance: most joins have none, and few have two.

A pick that a kind cannot have is refused by the rules, and drawn again.
"""

from decimal import Decimal

from dovetail.expression import ALWAYS, NEVER, Expression
from dovetail.spec.join import Kind
from dovetail.spec.picks import (
    AllHard,
    AsOf,
    AtMost,
    Direction,
    Equality,
    Keep,
    Limit,
    OnExceed,
    OptionalEqual,
    OptionalPrefix,
    Picks,
    Strategy,
    Tie,
    Unlimited,
)
from tests.chance.windows import seconds_of
from tests.pick_plays import PREFIX, SKIPS

SOME_LEFT = Expression("l.g > 0")
DISTANCES = {
    "t": [Unlimited(), seconds_of(2), seconds_of(0), seconds_of(5)],
    "n": [Unlimited(), Decimal(3), Decimal("1.5")],
}
TRANSFORM = (("ln", Expression("l.n + 100")), ("right", Expression("r.n is null")))


def picks(dice, kind, hard):
    """The picks of a join; in most there is none."""
    if dice.one_of(2):
        return Picks()
    return Picks(
        dice.rarely(4, Unlimited(), lambda: Keep(dice.number(1, 3))),
        dice.rarely(6, Unlimited(), lambda: at_most(dice, hard)),
        dice.rarely(8, Unlimited(), lambda: limit(dice)),
        dice.rarely(4, Unlimited(), lambda: asof(dice)),
        dice.rarely(4, Strategy.DEFAULT, lambda: dice.pick(list(Strategy))),
        dice.rarely(4, ALWAYS, lambda: SOME_LEFT),
        dice.rarely(3, NEVER, lambda: skip(dice, kind)),
    )


def at_most(dice, hard):
    """A limit on all equalities or on some, with and without optional ones."""
    some = dice.pick([AllHard(), AllHard(), tuple(hard[:1]), ()])
    optional = dice.shuffled(
        [
            OptionalEqual(Equality(Expression("l.g"), Expression("r.g"))),
            OptionalPrefix(*PREFIX, dice.number(1, 2)),
        ]
    )
    return AtMost(dice.number(1, 3), some, tuple(optional[: dice.number(0, 2)]))


def limit(dice):
    reaction = dice.pick(list(OnExceed))
    transform = TRANSFORM if reaction is OnExceed.TRANSFORM else ()
    return Limit(dice.number(1, 3), reaction, transform)


def asof(dice):
    name = dice.pick(["t", "t", "n"])
    return AsOf(
        Expression(f"l.{name}"),
        Expression(f"r.{name}"),
        dice.pick(list(Direction)),
        dice.pick(DISTANCES[name]),
        dice.one_of(2),
        dice.pick(list(Tie)),
    )


def skip(dice, kind):
    other = {Kind.LEFT_SEMI: "r.", Kind.RIGHT_SEMI: "l."}.get(kind, "?")
    return Expression(dice.pick([text for text in SKIPS if other not in text]))
