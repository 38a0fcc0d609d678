"""Random plays that are sound as they are drawn, for makers of special ones.

Whatever a join can be at all is drawn by `tests/chance`, again and again until a play
is sound. Here a maker knows what goes together, so that others can tell it what to
draw: rows that wait for late tables, joins of joins.

`random_play(seed)` is the same play for one seed, whoever asks; `plays()` is the same
generator driven by Hypothesis, which makes a failing play small. Times come a little
out of order and often twice; keys are few, and null at times; every row has its own
number `n`, so that no two rows are alike.
"""

from dataclasses import replace
from decimal import Decimal
from random import Random

from hypothesis import strategies as st

from dovetail.expression import Expression
from dovetail.schema import Schema, from_microseconds
from dovetail.spec.inputs import (
    Arrive,
    Bound,
    Clock,
    EmitLateTableRows,
    Finish,
    IgnoreLateTableRows,
    Input,
    InputKind,
    Order,
    OuterRows,
    Pause,
    Remove,
    Settings,
    Unending,
)
from dovetail.spec.join import (
    AllColumns,
    BlankRow,
    Columns,
    GivenRow,
    JoinSpec,
    Kind,
    NullRow,
    Play,
)
from dovetail.spec.picks import (
    Equality,
    Strategy,
    Unlimited,
)
from dovetail.spec.rules import checked
from dovetail.spec.spans import NO_TIME, SECOND, Span
from dovetail.spec.windows import (
    HopSize,
    Latest,
    RowsPreceding,
)
from tests.pick_plays import COLUMNS, PickMaker
from tests.window_plays import WindowMaker, seconds

NAN = float("nan")
# One value in every type that a key can have; the last two are the hard ones.
VALUES = {
    "int": [None, 1, 1, 1, 2, 3],
    "string": [None, "1", "1", "1.0", "2"],
    "decimal(9,2)": [None, Decimal("1.00"), Decimal("2.00"), Decimal("2.50")],
    "double": [None, 1.0, 1.0, NAN, -0.0, 0.0],
    "array<double>": [None, [1.0], [1.0, None], [NAN], [0.0], [-0.0]],
}
KEY_TYPES = [
    *[("int", "int")] * 5,
    ("int", "decimal(9,2)"),
    ("string", "int"),
    ("double", "double"),
    ("double", "int"),
    ("array<double>", "array<double>"),
]
HARDS = [["k"], ["k"], ["g"], ["k", "g"], []]
SOFTS = [*["true"] * 3, "l.n < r.n", "l.g <> r.g", "l.g + r.g > 1 or l.n > 9"]
WAITING = {InputKind.STREAM, InputKind.TABLE}
JANUARY = 30 * 86_400 * SECOND  # 1970-01-31, from where months are of all lengths


def random_play(seed, clock=None):
    """Returns the play of a seed; on one clock where that is asked for."""
    return play_of(Random(f"play {seed}"), clock)


def plays(clock=None):
    """Plays as Hypothesis draws them."""
    return st.randoms(use_true_random=False).map(lambda chance: play_of(chance, clock))


def play_of(chance, clock=None):
    """Returns a sound play, made by chance."""
    return PlayMaker(chance, clock or chance.choice(list(Clock))).play()


class PlayMaker(WindowMaker, PickMaker):
    """One play in the making."""

    kinds = tuple(Kind)
    hards = HARDS
    most = 20

    def __init__(self, chance, clock):
        self.chance = chance
        self.clock = clock
        self.rows = 0
        self.far = clock is not Clock.ARRIVAL and self.one_of(4)
        self.types = chance.choice(KEY_TYPES)

    def one_of(self, count):
        """True once in so many times."""
        return self.chance.randrange(count) == 0

    def play(self):
        names = self.names()
        inputs = {
            name: self.input(name, self.types[number])
            for number, name in enumerate(dict.fromkeys(names))
        }
        sources = [inputs[name] for name in names]
        join = self.join(sources)
        events = self.events(list(inputs.values()))
        opening = self.chance.randrange(3) if self.one_of(4) else 0
        order = Order.AS_FOUND
        if self.clock is not Clock.ARRIVAL and self.one_of(3):
            order = Order.ROW_TIME
        outer_rows = self.outer_rows()
        late_tables = self.late_tables(join, sources)
        settings = Settings(outer_rows, late_tables, order)
        return checked(Play(join, inputs, events[opening:], events[:opening], settings))

    def outer_rows(self):
        """When null rows leave: at times early, but in a batch."""
        if self.clock is Clock.BATCH or not self.one_of(3):
            return OuterRows.EXPIRY
        return self.chance.choice([OuterRows.EAGER, OuterRows.EAGER_RETRACT])

    def late_tables(self, join, sources):
        """Whether rows wait for a table's that come late, and how long."""
        waits = [Unending(), *map(seconds, (1, 3, 6))]
        late = EmitLateTableRows(self.chance.choice(waits))
        can_wait = self.can_wait(join, sources)
        return late if can_wait and self.one_of(2) else IgnoreLateTableRows()

    def can_wait(self, join, sources):
        """Whether the kernels let rows wait for a table's beside what the join has."""
        picks = join.picks
        kinds = [source.kind for source in sources]
        sides = [join.left, join.right]
        if self.clock is Clock.BATCH or {*kinds} != WAITING:
            return False
        hand = kinds.index(InputKind.STREAM)
        ended = isinstance(sides[hand].window, Latest | RowsPreceding)
        picked = (picks.at_most, picks.limit, picks.asof, picks.keep)
        lasts = picked == (Unlimited(),) * 4 and picks.strategy is not Strategy.LOOKUP
        if self.clock is Clock.ARRIVAL:
            return hand == 0 or (lasts and "counter" not in picks.skip_when.text)
        return not ended and (hand == 0 or lasts)

    def names(self):
        """The inputs of both sides: on a clock that moves one of them is a stream.

        Or, in order of arrival, none is, and the result is a changelog.
        """
        kinds = "sstud" if self.clock is not Clock.BATCH else "studdd"
        names = [
            "s1" if self.clock is not Clock.BATCH else f"{self.chance.choice(kinds)}1",
            f"{self.chance.choice(kinds)}2",
        ]
        if self.clock is Clock.ARRIVAL and self.one_of(4):
            kinds = self.chance.choice(["tu", "ut", "tt", "uu", "td", "ud"])
            names = [f"{kind}{number}" for number, kind in enumerate(kinds, start=1)]
        if self.one_of(8):
            names[1] = names[0]
        self.chance.shuffle(names)
        return names

    def input(self, name, key_type):
        kind = {"s": InputKind.STREAM, "d": InputKind.DATASET}.get(
            name[0], InputKind.TABLE
        )
        schema = Schema.of({"k": key_type, "n": "int", "g": "int", "t": "timestamp"})
        is_timed = self.is_timed(name, kind)
        state = [] if kind is InputKind.STREAM else range(self.chance.randrange(4))
        return Input(
            name,
            kind,
            schema,
            ("k",) if kind is InputKind.TABLE else (),
            "t" if is_timed else "",
            self.chance.choice([NO_TIME, NO_TIME, seconds(2), seconds(9), Span(1, 0)])
            if is_timed
            else NO_TIME,
            tuple(self.row(schema, number) for number in state),
        )

    def is_timed(self, name, kind):
        """A stream on the event clock has a time; a table `u` has none."""
        if kind is InputKind.STREAM and self.clock is Clock.EVENT:
            return True
        return name[0] != "u" and not self.one_of(3)

    def row(self, schema, now):
        """A row whose time is about `now`, or none."""
        self.rows += 1
        moment = now + self.chance.choice([-4, -2, -1, 0, 0, 0, 1, 2])
        moment = moment * SECOND + JANUARY
        if self.far:
            moment += self.chance.randrange(3) * 29 * 86_400 * SECOND
        return {
            "k": self.chance.choice(VALUES[str(schema["k"].type)]),
            "n": self.rows,
            "g": self.chance.choice([None, 0, 1, 1, 2]),
            "t": None if self.one_of(12) else from_microseconds(moment),
        }

    def join(self, sources):
        kind = self.kind = self.chance.choice(self.kinds)
        is_cross = kind is Kind.CROSS
        left, right = self.both = self.sides(sources)
        self.looks_up = (
            self.clock is Clock.EVENT
            and sources[0].kind is InputKind.TABLE
            and not sources[0].is_timed
            and isinstance(right.window, Latest | RowsPreceding)
        )
        names = [] if is_cross else self.chance.choice(self.hards)
        hard = tuple(
            Equality(Expression(f"l.{name}"), Expression(f"r.{name}")) for name in names
        )
        self.hops = isinstance(left.window, HopSize)
        select = self.select(kind)
        self.shown = (
            {name for name, _ in select.columns}
            if isinstance(select, Columns)
            else set()
        )
        preserved = kind.value.endswith("outer") + (kind is Kind.FULL_OUTER)
        return JoinSpec(
            left,
            right,
            kind,
            self.clock,
            hard,
            Expression("true" if is_cross else self.chance.choice(SOFTS)),
            select,
            self.chance.choice([1, (1, 2, 3)[preserved]]),
            self.absent(),
            self.absent(),
            self.picks(kind, hard),
        )

    def select(self, kind):
        if self.one_of(3):
            return AllColumns()
        other = {Kind.LEFT_SEMI: "r.", Kind.RIGHT_SEMI: "l."}.get(kind, "?")
        columns = [(name, text) for name, text in COLUMNS.items() if other not in text]
        if self.hops:
            columns += [("start", "window_start"), ("end", "window_end")]
        if "?" not in other:
            columns = [column for column in columns if column[0] != "sum"]
        return Columns(tuple((name, Expression(text)) for name, text in columns))

    def absent(self):
        given = GivenRow(
            (("n", -1), ("g", 7)), self.chance.choice([NullRow(), BlankRow()])
        )
        return self.chance.choice([NullRow(), NullRow(), NullRow(), BlankRow(), given])

    def events(self, sources):
        """Rows, deletes, bounds and pauses; at the end most inputs end."""
        moving = [source for source in sources if self.moves(source)]
        events, clock = [], 0
        for now in range(self.chance.randrange(2, self.most) if moving else 0):
            clock += self.chance.randrange(3) * SECOND
            events.append(self.event(self.chance.choice(moving), now, clock))
        ending = [source for source in moving if not self.one_of(6)]
        self.chance.shuffle(ending)
        ends = [Finish(source.name, clock) for source in ending]
        if ends and self.one_of(5) and self.clock is not Clock.BATCH:
            place = self.chance.randrange(len(events) + 1)
            then = events[place - 1].clock if place else 0
            events.insert(place, replace(ends.pop(), clock=then))
        return (*events, *ends)

    def moves(self, source):
        """A data set never moves."""
        return source.kind is not InputKind.DATASET

    def event(self, source, now, clock):
        row = self.row(source.schema, now)
        if source.kind is InputKind.TABLE and self.one_of(4) and self.deletes(source):
            return Remove(source.name, self.delete(source, row), clock)
        if source.is_timed and self.one_of(10):
            bound = JANUARY + (now + self.chance.randrange(-6, 2)) * SECOND
            return Bound(source.name, bound, clock)
        return Pause(clock) if self.one_of(20) else Arrive(source.name, row, clock)

    def deletes(self, source):
        """Nothing is deleted from a window that has no versions."""
        return all(
            isinstance(side.window, Latest) or side.source.name != source.name
            for side in self.both
        )

    def delete(self, source, row):
        """The key that goes, and at times when."""
        kept = ["k", "t"] if source.is_timed and self.one_of(2) else ["k"]
        return {name: row[name] for name in kept}
