"""Random joins of joins: a random play of streams with a join in place of a side.

The inner join gives rows with the columns of the stream that it replaces, so that the
rest of the play stays as it is; at times it is a chain of two joins.
"""

from contextlib import suppress
from dataclasses import replace
from random import Random

from dovetail.errors import SpecError
from dovetail.expression import Expression
from dovetail.spec.inputs import Arrive, Finish, InputKind, Settings
from dovetail.spec.join import Clock, Columns, JoinSpec, Kind, Named, Nested, Side
from dovetail.spec.picks import Equality, Picks
from dovetail.spec.rules import checked
from dovetail.spec.spans import SECOND, Span
from dovetail.spec.windows import Forever, Inherited, Latest, Range, Rows
from tests.plays import random_play

KINDS = [Kind.INNER, Kind.INNER, Kind.LEFT_OUTER, Kind.FULL_OUTER, Kind.LEFT_SEMI]
CHAIN = {"k": "l.k", "n": "l.n", "g": "coalesce(l.g, r.g)", "t": "l.t"}
SOFTS = ["true", "true", "l.g <> r.g", "l.n < r.n"]


def random_nested_play(seed, clock):
    """The play of a seed on a clock; none where nothing can be replaced."""
    chance = Random(f"nested {seed}")
    found = []
    for number in range(1000):
        play = random_play(f"{seed}.{number}", clock)
        found = [hand for hand in ("left", "right") if _fits(play, hand)]
        if found:
            break
    hand = chance.choice(found)
    return _Nester(chance, play).around(hand)


def random_static_play(seed, clock):
    """The play of a seed on a clock that moves, a data set in it being a batch join."""
    chance = Random(f"static {seed}")
    for number in range(1000):
        play = random_play(f"{seed}.static.{number}", clock)
        for hand in ("left", "right"):
            with suppress(SpecError):
                if _is_data_set(play, hand):
                    return checked(_with_batch(chance, play, hand))
    raise AssertionError


def _is_data_set(play, hand):
    """Tells whether a side is a data set, and the other one not the same."""
    names = [side.source.name for side in (play.join.left, play.join.right)]
    source = play.inputs[getattr(play.join, hand).source.name]
    return source.kind is InputKind.DATASET and len(set(names)) == 2


def _with_batch(chance, play, hand):
    """The play with a batch of the data set and one like it in place of that."""
    side = getattr(play.join, hand)
    source = play.inputs[side.source.name]
    rows = [{**row, "n": -row["n"]} for row in source.rows if chance.random() < 0.7]
    more = replace(source, name="like it", rows=tuple(rows))
    inner = JoinSpec(
        Side(side.source, Forever()),
        Side(Named(more.name), Forever()),
        chance.choice(KINDS[:3]),
        Clock.BATCH,
        (Equality(Expression("l.k"), Expression("r.k")),),
        Expression(chance.choice(SOFTS)),
        Columns(tuple((name, Expression(text)) for name, text in CHAIN.items())),
    )
    outer = replace(play.join, **{hand: replace(side, source=Nested(inner, "batch"))})
    return replace(play, join=outer, inputs={**play.inputs, more.name: more})


def _fits(play, hand):
    """Tells whether a side is a stream that stands once, in a window of joins."""
    join = play.join
    sources = [join.left.source.name, join.right.source.name]
    side = getattr(join, hand)
    source = play.inputs[side.source.name]
    others = [play.inputs[name] for name in sources if name != source.name]
    # On the event clock a side of no rows looks up the very side that is replaced.
    plain = Range | Latest | Forever
    if join.clock is not Clock.EVENT:
        plain |= Rows
    return (
        len(set(sources)) == 2
        and source.kind is InputKind.STREAM
        and (source.is_timed or join.clock is not Clock.EVENT)
        and isinstance(join.left.window, plain)
        and isinstance(join.right.window, plain)
        and (join.clock is Clock.EVENT or not isinstance(side.window, Range))
        and play.settings == Settings(order=play.settings.order)
        and join.picks == Picks()
        and (join.clock is Clock.BATCH or others[0].kind is InputKind.STREAM)
    )


class _Nester:
    """One play in which a side becomes a join."""

    def __init__(self, chance, play):
        self.chance = chance
        self.play = play
        self.inputs = dict(play.inputs)
        self.events = list(play.events)

    def around(self, hand):
        side = getattr(self.play.join, hand)
        source = self.inputs[side.source.name]
        inherits = self.play.join.clock is Clock.EVENT and self.chance.random() < 0.6
        inner = self.inner(Named(source.name), source, inherits=inherits)
        if self.chance.random() < 0.3:
            inner = self.inner(Nested(inner, "inner"), source, inherits=inherits)
        window = Inherited() if inherits else side.window
        outer = replace(
            self.play.join,
            **{hand: replace(side, source=Nested(inner, "nested"), window=window)},
        )
        return checked(
            replace(
                self.play, join=outer, inputs=self.inputs, events=tuple(self.events)
            )
        )

    def inner(self, left, source, *, inherits):
        """A join of some rows with those of one more stream like them."""
        kind = self.chance.choice(KINDS)
        more = Named(self.more(source))
        names = list(CHAIN.items())
        if kind is Kind.LEFT_SEMI:
            names = [(name, f"l.{name}") for name in CHAIN]
        return JoinSpec(
            Side(left, self.window(left, inherits=inherits)),
            Side(more, self.window(more, inherits=inherits)),
            kind,
            self.play.join.clock,
            (Equality(Expression("l.k"), Expression("r.k")),),
            Expression(self.chance.choice(SOFTS)),
            Columns(tuple((name, Expression(text)) for name, text in names)),
        )

    def window(self, source, *, inherits):
        """A window of the inner join: one of row time where its life is handed on."""
        clock = self.play.join.clock
        preceding = self.chance.randrange(0, 6)
        around = Range(
            Span(0, preceding * SECOND), Span(0, self.chance.randrange(3) * SECOND)
        )
        if clock is Clock.EVENT and isinstance(source, Nested) and inherits:
            return self.chance.choice([around, Inherited()])
        if clock is Clock.EVENT:
            return around if inherits else self.chance.choice([around, Latest(("k",))])
        if clock is Clock.BATCH:
            return Forever()
        return self.chance.choice([Rows(2), Rows(1), Forever(), Latest(("k",))])

    def more(self, source):
        """One more stream, whose rows come among the others."""
        name = f"s{len(self.inputs) + 5}"
        like = [
            event.row
            for event in (*self.play.opening, *self.play.events)
            if isinstance(event, Arrive) and event.input == source.name
        ]
        self.inputs[name] = replace(source, name=name, rows=())
        for row in like:
            place = self.chance.randrange(len(self.events) + 1)
            clock = self.events[place - 1].clock if place else 0
            self.events.insert(place, Arrive(name, {**row, "n": -row["n"]}, clock))
        clock = self.events[-1].clock if self.events else 0
        if self.chance.random() < 0.8:
            self.events.append(Finish(name, clock))
        return name
