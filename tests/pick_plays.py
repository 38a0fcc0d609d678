"""Picks of random plays: those that the kind of a join allows, most often none.

A maker has a `chance`; `shown` are the output columns, `types` those of the keys.
"""

from decimal import Decimal

from dovetail.expression import ALWAYS, NEVER, Expression
from dovetail.spec.join import (
    Kind,
)
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
from tests.window_plays import seconds

SKIPS = [
    "l.n % 3 = 0",
    "r.n % 3 = 0 or l.g = 7",
    "not (matched_left and matched_right)",
    "counter % 2 = 1",
    "year(row_time) > 1970 or counter > 2",
]
PREFIX = (Expression("cast(l.n as string)"), Expression("cast(r.n as string)"))
NOT_KEPT = [Kind.RIGHT_OUTER, Kind.LEFT_ONLY, Kind.RIGHT_ONLY, Kind.FULL_ONLY]
KEPT = [kind for kind in Kind if kind not in NOT_KEPT]
ASOF = [Kind.INNER, Kind.LEFT_OUTER, Kind.LEFT_ONLY, Kind.LEFT_SEMI]
COLUMNS = {
    "ln": "l.n",
    "rn": "r.n",
    "sum": "coalesce(l.g, 0) + r.g",
    "left": "matched_left",
    "right": "matched_right",
    "time": "row_time",
    "counter": "counter",
}


class PickMaker:
    """Draws the picks of a join."""

    def picks(self, kind, hard):
        """Picks that the kind allows, most often none."""
        if self.one_of(2):
            return Picks()
        is_left = kind.value.split("_")[0] not in ("right", "full")
        count = self.chance.choice(["at_most", "limit", "", "", ""])
        at_most = limit = keep = Unlimited()
        if count == "at_most" and is_left:
            at_most = self.at_most(hard)
        if count == "limit" and not kind.value.endswith("only"):
            limit = self.limit(kind)
        if self.one_of(3) and kind in KEPT:
            keep = Keep(self.chance.randrange(1, 4))
        return Picks(
            keep,
            at_most,
            limit,
            self.asof()
            if kind in ASOF and not self.looks_up and self.one_of(2)
            else Unlimited(),
            strategy=self.strategy(is_counted=(at_most, limit) != (Unlimited(),) * 2)
            if is_left
            else Strategy.DEFAULT,
            left_condition=self.chance.choice([ALWAYS, ALWAYS, Expression("l.g > 0")]),
            skip_when=self.skip_when(kind),
        )

    def asof(self):
        """The nearest by row time, by number or by what is often the same."""
        name = self.chance.choice(["t", "t", "n", "g"])
        unit = Decimal if name != "t" else seconds
        tolerance = unit(self.chance.randrange(7))
        direction = self.chance.choice(list(Direction))
        if direction is Direction.BACKWARD and self.one_of(2):
            tolerance = Unlimited()
        return AsOf(
            Expression(f"l.{name}"),
            Expression(f"r.{name}"),
            direction,
            tolerance,
            not self.one_of(3),
            self.chance.choice(list(Tie)),
        )

    def strategy(self, *, is_counted):
        words = [Strategy.DEFAULT, Strategy.MANY_LOOKUP, Strategy.HASH]
        more = [] if is_counted else [Strategy.ALL, Strategy.LOOKUP]
        return self.chance.choice(words + more)

    def at_most(self, hard):
        """A limit on all equalities or on some, with and without optional ones."""
        some = self.chance.choice([AllHard(), AllHard(), tuple(hard[:1]), ()])
        if self.types[0] != self.types[1] or "array" in self.types[0]:
            # What does not count is compared by a kernel, which lacks some types.
            some = AllHard()
        optional = [
            OptionalEqual(Equality(Expression("l.g"), Expression("r.g"))),
            OptionalPrefix(*PREFIX, self.chance.randrange(1, 3)),
        ]
        self.chance.shuffle(optional)
        count = self.chance.randrange(3)
        if self.looks_up:
            count = 0  # nor do they rank what a table without time may still meet
        return AtMost(self.chance.randrange(1, 4), some, tuple(optional[:count]))

    def limit(self, kind):
        count = self.chance.randrange(1, 4)
        names = {"ln", "left", "right", "time", "counter"} & self.shown
        if not names or kind in (Kind.LEFT_SEMI, Kind.RIGHT_SEMI) or self.one_of(2):
            return Limit(count, OnExceed.SKIP)
        transform = tuple((name, Expression(COLUMNS[name])) for name in sorted(names))
        return Limit(count, OnExceed.TRANSFORM, transform)

    def skip_when(self, kind):
        other = {Kind.LEFT_SEMI: "r.", Kind.RIGHT_SEMI: "l."}.get(kind, "?")
        texts = [text for text in SKIPS if other not in text]
        if self.one_of(2):
            return NEVER
        return Expression(self.chance.choice(texts))
