"""Random plays of everything that the kernels do: one generator for every engine.

`random_play(seed)` is the same play for one seed, whoever asks; `plays()` is the same
generator driven by Hypothesis, which makes a failing play small. Times come a little
out of order and often twice; keys are few, and null at times; every row has its own
number `n`, so that no two rows are alike.
"""

from dataclasses import replace
from decimal import Decimal
from random import Random

from hypothesis import strategies as st

from dovetail.expression import ALWAYS, NEVER, Expression
from dovetail.schema import Schema, from_microseconds
from dovetail.spec.inputs import (
    Arrive,
    Bound,
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
    Clock,
    Columns,
    GivenRow,
    JoinSpec,
    Kind,
    Named,
    NullRow,
    Side,
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
from dovetail.spec.play import Play
from dovetail.spec.rules import checked
from dovetail.spec.spans import NO_TIME, SECOND, Span
from dovetail.spec.windows import (
    Between,
    Delta,
    EvictAge,
    EvictCount,
    EvictTuples,
    Forever,
    HopSize,
    HopUnit,
    KeepPartitions,
    Latest,
    Range,
    Rows,
    RowsPreceding,
    Seconds,
)

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
WAITING = {InputKind.STREAM, InputKind.TABLE}
ASOF = [Kind.INNER, Kind.LEFT_OUTER, Kind.LEFT_ONLY, Kind.LEFT_SEMI]
PARTS = [(), ("g",), ("g", "n % 2"), ("k",)]
# What a delta window goes by: numbers of every type, and times.
MEASURES = [
    *["n", "n % 7", "g", "t"],
    *[
        "cast(n as double) / 10",
        "cast(n % 5 * 1e300 as double)",
        "cast(g / n as float)",
    ],
    *["cast(n % 9 as decimal(6, 1)) / 2", "cast(n % 9 as decimal(38, 9)) * 3"],
    *["9223372036854775807 - n % 3", "cast('NaN' as double) * (n % 2) + n % 5"],
]
# Intervals: after the row's own time, of no length, bad for some rows or for all.
INTERVALS = [
    [Expression(start), Expression(end)]
    for start, end in [
        ("t", "t"),
        ("t", "t + interval '1' second * (n % 4)"),
        ("t + interval '2' second", "t + interval '3' second * (n % 3)"),
        ("t - interval '1' second * (n % 5 - 3)", "t + interval '5' second"),
        ("if(n % 6 = 0, null, t)", "t + interval '1' month"),
    ]
]
COLUMNS = {
    "ln": "l.n",
    "rn": "r.n",
    "sum": "coalesce(l.g, 0) + r.g",
    "left": "matched_left",
    "right": "matched_right",
    "time": "row_time",
    "counter": "counter",
}
MONTHS = [
    Range(Span(1, 0), Span(0, SECOND)),
    Range(Span(1, -5 * SECOND), Span(-1, 8 * SECOND)),
    Range(Span(0, SECOND), Span(2, 0)),
]
JANUARY = 30 * 86_400 * SECOND  # 1970-01-31, from where months are of all lengths


def random_play(seed, clock=None):
    """Returns the play of a seed; on one clock where that is asked for."""
    return play_of(Random(f"play {seed}"), clock)


def plays(clock=None):
    """Plays as Hypothesis draws them."""
    return st.randoms(use_true_random=False).map(lambda chance: play_of(chance, clock))


def play_of(chance, clock=None):
    """Returns a sound play, made by chance."""
    return _Maker(chance, clock or chance.choice(list(Clock))).play()


def seconds(count):
    return Span(0, count * SECOND)


EVICTIONS = [
    *[EvictCount(most) for most in (1, 1, 2, 3, 0)],
    *[EvictAge(Span(0, age * SECOND // 2)) for age in (0, 2, 3, 4, 6)],
    *[EvictTuples(most) for most in (0, 1, 2, 3, 5)],
]
HOPS = [
    HopSize(seconds(size), seconds(every))
    for size, every in [(3, 3), (4, 2), (6, 2), (5, 2), (2, 5)]
]


class _Maker:
    """One play in the making."""

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
        outer_rows = self.outer_rows(join.picks)
        late_tables = self.late_tables(join, sources)
        if outer_rows is not OuterRows.EXPIRY and join.picks.asof != Unlimited():
            late_tables = IgnoreLateTableRows()
        settings = Settings(outer_rows, late_tables, order)
        return checked(Play(join, inputs, events[opening:], events[:opening], settings))

    def outer_rows(self, picks):
        """When null rows leave: early ones not where pairs wait for each other.

        But for the nearest in row time, which is one row.
        """
        choices = [OuterRows.EAGER, OuterRows.EAGER_RETRACT]
        waits = (picks.at_most, picks.limit) != (Unlimited(),) * 2
        ends = isinstance(self.both[1].window, Latest | RowsPreceding)
        if self.clock is not Clock.EVENT or self.hops or ends:
            waits |= picks.asof != Unlimited()
        if waits or self.clock is Clock.BATCH or not self.one_of(3):
            return OuterRows.EXPIRY
        return self.chance.choice(choices)

    def late_tables(self, join, sources):
        """Whether rows wait for a table's that come late, and how long."""
        waits = [Unending(), *map(seconds, (1, 3, 6))]
        late = EmitLateTableRows(self.chance.choice(waits))
        can_wait = self.can_wait(join, sources, late)
        return late if can_wait and self.one_of(2) else IgnoreLateTableRows()

    def can_wait(self, join, sources, late):
        """Whether the kernels let rows wait for a table's beside what the join has."""
        picks = join.picks
        kinds = [source.kind for source in sources]
        sides = [join.left, join.right]
        if self.clock is Clock.BATCH or {*kinds} != WAITING:
            return False
        hand = kinds.index(InputKind.STREAM)
        ended = isinstance(sides[hand].window, Latest | RowsPreceding | HopSize)
        timed = sources[1 - hand].is_timed or late == EmitLateTableRows()
        picked = (picks.at_most, picks.limit, picks.asof, picks.keep)
        lasts = picked == (Unlimited(),) * 4 and picks.strategy is not Strategy.LOOKUP
        if self.clock is Clock.ARRIVAL:
            return hand == 0 or (lasts and "counter" not in picks.skip_when.text)
        return not ended and timed and (hand == 0 or lasts)

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
        kind = self.kind = self.chance.choice(list(Kind))
        is_cross = kind is Kind.CROSS
        left, right = self.both = self.sides(sources)
        self.looks_up = (
            self.clock is Clock.EVENT
            and sources[0].kind is InputKind.TABLE
            and not sources[0].is_timed
            and isinstance(right.window, Latest | RowsPreceding)
        )
        names = [] if is_cross else self.chance.choice(HARDS)
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

    def sides(self, sources):
        """Both sides; on the event clock `rows: 0` meets what stays or is newest."""
        windows = [self.window(source) for source in sources]
        is_timed = all(source.is_timed for source in sources)
        if self.clock is Clock.ARRIVAL and is_timed and self.one_of(3):
            windows = [self.range() for _ in sources]
        hops = self.clock is not Clock.ARRIVAL
        if hops and is_timed and self.one_of(4):
            windows = [self.chance.choice(HOPS)] * 2
        for here, there in ((0, 1), (1, 0)):
            looks_up = isinstance(windows[there], Latest | Forever)
            is_stream = sources[here].kind is InputKind.STREAM
            if self.clock is Clock.EVENT and looks_up and is_stream and self.one_of(2):
                windows[here] = Rows(0)
                break
        return [
            self.side(source, window)
            for source, window in zip(sources, windows, strict=True)
        ]

    def side(self, source, window):
        """A side; whole partitions leave it at times."""
        parts = self.parts(window)
        evict = KeepPartitions()
        is_window = isinstance(window, Rows | Delta | Seconds | Forever)
        if self.clock is Clock.ARRIVAL and is_window and self.one_of(3):
            parts = parts or (Expression("g"),)
            evict = self.chance.choice(EVICTIONS)
        return Side(Named(source.name), window, parts, evict)

    def window(self, source):
        by = self.chance.choice([("k",), ("k",), ("g",), ("k", "g")])
        choices = [Forever(), Latest(source.key or by)]
        if source.kind is InputKind.TABLE:
            choices = [Latest(source.key)] * 3 + [Forever()]
        if self.clock is Clock.ARRIVAL:
            choices += [Rows(self.chance.randrange(4)) for _ in range(4)]
            choices += [self.delta() for _ in range(3)]
            choices += [Seconds(seconds(self.chance.randrange(5)))] * 3
        elif source.is_timed:
            choices += [self.range() for _ in range(4)]
            choices += [HopUnit(unit) for unit in ("second", "minute", "week", "month")]
            if self.clock is Clock.EVENT:
                choices += [self.rows_preceding() for _ in range(3)]
            choices += [Between(*self.chance.choice(INTERVALS)) for _ in range(3)]
        return self.chance.choice(choices)

    def rows_preceding(self):
        last = self.chance.choice([0, 0, 1, 2])
        return RowsPreceding(last + self.chance.randrange(3), last)

    def delta(self):
        width = self.chance.choice(["0", "1", "2.5", "4", "0.3", "1e30"])
        return Delta(Expression(self.chance.choice(MEASURES)), Decimal(width))

    def range(self):
        if self.far and self.one_of(2):
            return self.chance.choice(MONTHS)
        preceding = self.chance.randrange(-3, 7)
        return Range(seconds(preceding), seconds(self.chance.randrange(-preceding, 7)))

    def parts(self, window):
        if not isinstance(window, Rows | RowsPreceding | Delta):
            return ()
        return tuple(map(Expression, self.chance.choice(PARTS)))

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

    def events(self, sources):
        """Rows, deletes, bounds and pauses; at the end most inputs end."""
        moving = [source for source in sources if self.moves(source)]
        events, clock = [], 0
        for now in range(self.chance.randrange(2, 20) if moving else 0):
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
