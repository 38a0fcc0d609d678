"""Windows by chance: one function each, and which of them a clock can have.

A window that a side cannot have is refused by the rules, and drawn again.
"""

from decimal import Decimal

from dovetail.expression import Expression
from dovetail.spec import windows
from dovetail.spec.inputs import Clock, InputKind
from dovetail.spec.join import Named, Side
from dovetail.spec.spans import SECOND, Span

MONTHS = [
    windows.Range(Span(1, 0), Span(0, SECOND)),
    windows.Range(Span(1, -5 * SECOND), Span(-1, 8 * SECOND)),
    windows.Range(Span(0, SECOND), Span(2, 0)),
    windows.Range(Span(12, 0), Span(0, 0)),
]
# What a delta window goes by: numbers of every type, and times.
MEASURES = [
    *["n", "n % 7", "g", "t"],
    "cast(n as double) / 10",
    "cast(n % 5 * 1e300 as double)",
    "cast(g / n as float)",
    "cast(n % 9 as decimal(6, 1)) / 2",
    "cast(n % 9 as decimal(38, 9)) * 3",
    "9223372036854775807 - n % 3",
    "cast('NaN' as double) * (n % 2) + n % 5",
]
WIDTHS = ["0", "1", "2.5", "4", "0.3", "1e30"]
ENDS = [("t", "u"), ("t", "u"), ("t + interval 1 second", "u"), ("t", "t"), ("u", "t")]
PARTS = [(), ("g",), ("g", "n % 2"), ("k",)]
SIZES = [(5, 5), (6, 3), (4, 1), (3, 5)]
UNITS = ["second", "minute", "hour", "day", "month"]


def seconds_of(count):
    return Span(0, count * SECOND)


def rows(dice):
    return windows.Rows(dice.number(0, 3))


def seconds(dice):
    return windows.Seconds(seconds_of(dice.number(0, 4)))


def delta(dice):
    by = Expression(dice.pick(MEASURES))
    return windows.Delta(by, Decimal(dice.pick(WIDTHS)))


def span(dice):
    if dice.one_of(8):
        return dice.pick(MONTHS)
    preceding = dice.number(-3, 6)
    following = dice.number(-preceding, 6)
    return windows.Range(seconds_of(preceding), seconds_of(following))


def rows_preceding(dice):
    last = dice.number(0, 2)
    return windows.RowsPreceding(last + dice.number(0, 3), last)


def hop_unit(dice):
    return windows.HopUnit(dice.pick([*UNITS, seconds_of(3), seconds_of(7)]))


def hop_size(dice):
    return windows.HopSize(*map(seconds_of, dice.pick(SIZES)))


def between(dice):
    return windows.Between(*map(Expression, dice.pick(ENDS)))


def latest(dice):
    return windows.Latest(dice.pick([("k",), ("k",), ("g",), ("k", "g")]))


def forever(_dice):
    return windows.Forever()


OF_CLOCK = {
    Clock.ARRIVAL: [*[rows] * 3, *[seconds] * 2, *[delta] * 2, *[latest] * 2, forever],
    Clock.EVENT: [
        *[*[span] * 4, *[latest] * 3, *[rows_preceding] * 2, hop_unit],
        *[*[between] * 2, forever],
    ],
    Clock.BATCH: [*[span] * 3, *[forever] * 3, *[latest] * 2, hop_unit, between],
}

TIMED = (span, rows_preceding, hop_unit)


def sides(dice, clock, sources):
    """Both sides with their windows: each by itself, or a pair that goes together."""
    is_timed = all(source.is_timed for source in sources)
    both = together(dice, clock) if is_timed and dice.one_of(3) else []
    if not both:
        both = [window(dice, clock, source) for source in sources]
    return [side(dice, *pair) for pair in zip(sources, both, strict=True)]


def together(dice, clock):
    """Two windows that can only meet one another; at times the one is two sided."""
    if clock is Clock.ARRIVAL:
        return [span(dice), span(dice)]
    if dice.one_of(2):
        return [hop_size(dice)] * 2
    if clock is Clock.EVENT:
        return dice.shuffled([windows.Rows(0), dice.pick([latest, forever])(dice)])
    return []


def window(dice, clock, source):
    """A window of one side; most often of a table the newest rows of its key."""
    if source.key and not dice.one_of(3):
        return windows.Latest(source.key)
    unfit = () if source.is_timed else TIMED
    if source.kind is InputKind.TABLE and unfit:
        # The kernels know that such a table stays as it is, the definition does not.
        unfit = (*TIMED, between)
    return dice.pick([draw for draw in OF_CLOCK[clock] if draw not in unfit])(dice)


def side(dice, source, of_rows):
    counts = isinstance(of_rows, windows.Rows | windows.Delta)
    parts = dice.pick(PARTS) if counts else ()
    evict = dice.rarely(4, windows.KeepPartitions(), lambda: eviction(dice))
    return Side(
        Named(source.name),
        of_rows,
        tuple(map(Expression, parts)),
        evict if parts else windows.KeepPartitions(),
    )


def eviction(dice):
    """How whole partitions are dropped."""
    count = dice.number(1, 3)
    return dice.pick(
        [
            windows.EvictAge(seconds_of(count)),
            windows.EvictCount(count),
            windows.EvictTuples(count + 1),
        ]
    )
