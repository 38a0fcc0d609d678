"""Random joins of joins: a random play of streams with a join in place of a side.

The inner join gives rows with the columns of the stream that it replaces, so that the
rest of the play stays as it is; at times it is a chain of two joins. Rows that inherit
their lives are often made of such as others may end: versions, rows that are counted.
"""

from contextlib import suppress
from dataclasses import replace
from random import Random

from dovetail.errors import SpecError
from dovetail.expression import Expression
from dovetail.schema import to_microseconds
from dovetail.spec.inputs import (
    Arrive,
    Bound,
    Clock,
    EmitLateTableRows,
    Finish,
    InputKind,
    Remove,
    Settings,
)
from dovetail.spec.join import Columns, JoinSpec, Kind, Named, Nested, Side
from dovetail.spec.picks import Equality, Keep, Picks
from dovetail.spec.rules import checked
from dovetail.spec.spans import SECOND, Span
from dovetail.spec.windows import (
    Forever,
    HopUnit,
    Inherited,
    Latest,
    Range,
    Rows,
    RowsPreceding,
)
from tests.late_plays import random_late_play
from tests.pick_plays import KEPT
from tests.plays import random_play
from tests.window_plays import HOPS

KINDS = [Kind.INNER, Kind.INNER, Kind.LEFT_OUTER, Kind.FULL_OUTER, Kind.LEFT_SEMI]
HANDING = [*KINDS, Kind.INNER, Kind.RIGHT_SEMI, Kind.LEFT_ONLY, Kind.RIGHT_OUTER]
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


def random_waiting_play(seed):
    """The play of a seed in which rows of a join wait for a table's; or none."""
    play = random_late_play(seed)
    (hand,) = (
        name
        for name in ("left", "right")
        if play.inputs[getattr(play.join, name).source.name].kind is InputKind.STREAM
    )
    waits = Settings(late_table_rows=EmitLateTableRows(), order=play.settings.order)
    plain = replace(play, settings=waits)
    with suppress(SpecError):
        nested = _Nester(Random(f"waiting {seed}"), plain).around(hand)
        # Each looks the table up at its own time.
        windows = {"left": Latest(("k",)), "right": Latest(("k",)), hand: Rows(0)}
        sides = {
            name: replace(getattr(nested.join, name), window=window, partition_by=())
            for name, window in windows.items()
        }
        return checked(replace(nested, join=replace(nested.join, **sides)))
    return None


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
        picks = Picks()
        if inherits and self.play.join.kind in KEPT and self.chance.random() < 0.25:
            picks = Picks(keep=Keep(self.chance.randrange(1, 3)))
        outer = replace(
            self.play.join,
            picks=picks,
            **{hand: replace(side, source=Nested(inner, "nested"), window=window)},
        )
        return checked(
            replace(
                self.play, join=outer, inputs=self.inputs, events=tuple(self.events)
            )
        )

    def inner(self, left, source, *, inherits):
        """A join of some rows with those of one more stream like them."""
        kind = self.chance.choice(HANDING if inherits else KINDS)
        more = Named(
            self.more(source, is_table=inherits and self.chance.random() < 0.3)
        )
        names = list(CHAIN.items())
        if kind in (Kind.LEFT_SEMI, Kind.RIGHT_SEMI):
            letter = kind.value[0]
            names = [(name, f"{letter}.{name}") for name in CHAIN]
        ours, theirs = (self.window(one, inherits=inherits) for one in (left, more))
        is_table = self.inputs[more.name].kind is InputKind.TABLE
        if inherits and not is_table and self.chance.random() < 0.1:
            ours = theirs = self.chance.choice(HOPS)
        return JoinSpec(
            Side(left, ours),
            Side(more, theirs),
            kind,
            self.play.join.clock,
            (Equality(Expression("l.k"), Expression("r.k")),),
            Expression(self.chance.choice(SOFTS)),
            Columns(tuple((name, Expression(text)) for name, text in names)),
            picks=self.kept(kind, inherits=inherits),
        )

    def kept(self, kind, *, inherits):
        """The first pairs alone, at times, where a life is handed on."""
        if inherits and kind in KEPT and self.chance.random() < 0.15:
            return Picks(keep=Keep(self.chance.randrange(1, 3)))
        return Picks()

    def window(self, source, *, inherits):
        """A window of the inner join: one of row time where its life is handed on."""
        clock = self.play.join.clock
        preceding = self.chance.randrange(0, 6)
        around = Range(
            Span(0, preceding * SECOND), Span(0, self.chance.randrange(3) * SECOND)
        )
        if clock is Clock.EVENT and inherits:
            return self.handed_on(source, around)
        if clock is Clock.EVENT:
            return self.chance.choice([around, Latest(("k",))])
        if clock is Clock.BATCH:
            return Forever()
        return self.chance.choice([Rows(2), Rows(1), Forever(), Latest(("k",))])

    def handed_on(self, source, around):
        """A window whose lives go on to the next join: others may end most of them."""
        if isinstance(source, Nested):
            ended = [Latest(("k",)), RowsPreceding(1, 0)]
            return self.chance.choice([around, Inherited(), Inherited(), *ended])
        if self.inputs[source.name].kind is InputKind.TABLE:
            return Latest(("k",))
        counted = RowsPreceding(self.chance.randrange(1, 3), self.chance.randrange(2))
        unit = HopUnit(self.chance.choice(["second", "minute", Span(0, 3 * SECOND)]))
        versions = [Latest((name,)) for name in ("k", "k", "g")]
        return self.chance.choice([around, around, *versions, counted, unit, Forever()])

    def more(self, source, *, is_table=False):
        """One more stream, or versioned table, whose rows come among the others."""
        name = f"s{len(self.inputs) + 5}"
        like = [
            event.row
            for event in (*self.play.opening, *self.play.events)
            if isinstance(event, Arrive) and event.input == source.name
        ]
        self.inputs[name] = replace(source, name=name, rows=())
        if is_table:
            table = {"kind": InputKind.TABLE, "key": ("k",)}
            self.inputs[name] = replace(self.inputs[name], **table)
        for row in like:
            place = self.chance.randrange(len(self.events) + 1)
            clock = self.events[place - 1].clock if place else 0
            event = Arrive(name, {**row, "n": -row["n"]}, clock)
            if is_table and self.chance.random() < 0.2:
                event = Remove(name, {"k": row["k"], "t": row["t"]}, clock)
            self.events.insert(place, event)
            if row["t"] is not None and self.chance.random() < 0.1:
                self.events.insert(place, Bound(name, to_microseconds(row["t"]), clock))
        clock = self.events[-1].clock if self.events else 0
        if self.chance.random() < 0.8:
            self.events.append(Finish(name, clock))
        return name
