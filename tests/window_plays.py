"""Windows of random plays: every window on its clock, for each partition at times.

A maker has a `chance` and a `clock`; `far` says that times are months apart.
"""

from decimal import Decimal

from dovetail.expression import Expression
from dovetail.spec.inputs import (
    Clock,
    InputKind,
)
from dovetail.spec.join import Named, Side
from dovetail.spec.spans import SECOND, Span
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
UNITS = ["second", "minute", "week", "month", Span(0, 3 * SECOND)]
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
MONTHS = [
    Range(Span(1, 0), Span(0, SECOND)),
    Range(Span(1, -5 * SECOND), Span(-1, 8 * SECOND)),
    Range(Span(0, SECOND), Span(2, 0)),
]


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


class WindowMaker:
    """Draws the sides of a join with their windows."""

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
            choices += [HopUnit(unit) for unit in UNITS]
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
