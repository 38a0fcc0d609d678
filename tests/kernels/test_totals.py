"""Totals of windows: the kernel, row by row, gives what the oracle makes of all."""

from decimal import Decimal
from math import inf, nan
from random import Random

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from dovetail import spec
from dovetail.conformance.local.firing import fire
from dovetail.conformance.oracle.firing import Passing, Sign, fired
from dovetail.dialects.steps import Asked
from dovetail.engines.kernel_settings import firing_settings, in_row_time
from dovetail.engines.tables import arrow_table
from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.keeping.lines import KIND, NOW
from dovetail.kernels.keeping.operator import Kept, advance
from dovetail.kernels.keeping.panes import is_in_panes
from dovetail.kernels.keeping.recent import Held
from dovetail.kernels.keeping.sliding import is_sliding
from dovetail.schema import (
    AtomicType,
    Column,
    DecimalType,
    Schema,
    from_microseconds,
)
from dovetail.spec.firing import Fold

SECOND = spec.SECOND
KINDS = {
    "whole": AtomicType.INT,
    "long": AtomicType.BIGINT,
    "part": AtomicType.DOUBLE,
    "small": AtomicType.FLOAT,
    "exact": DecimalType(38, 4),
    "text": AtomicType.STRING,
    "moment": AtomicType.TIMESTAMP,
    "truth": AtomicType.BOOLEAN,
}
NUMBERS = ("whole", "long", "part", "small", "exact")
SCHEMA = Schema(
    (
        Column("at", AtomicType.TIMESTAMP),
        Column("key", AtomicType.STRING),
        *(Column(name, kind) for name, kind in KINDS.items()),
    )
)
GIVEN = spec.InRowTime(spec.Given("rows", SCHEMA), "at")
SUMS = (Fold.SUM, Fold.SQUARES)
TOTALS = [
    (fold, name, distinct)
    for fold in Fold
    for name in (NUMBERS if fold in SUMS else KINDS)
    for distinct in ((False, True) if fold in (*SUMS, Fold.COUNT) else (False,))
]
WHOLE = [it for it in TOTALS if not it[2]]
"""These go over whole columns in panes; in a window that slides all of them do."""
PLACED = [
    (name, number) for name in ("whole", "text", "moment") for number in (1, 2, -1, -3)
]
FEW_SECONDS = spec.firing.ByTime(spec.Span(0, 7 * SECOND))
ONE, FOUR = spec.firing.ByCount(1), spec.firing.ByCount(4)
DELTA = spec.firing.ByDelta("whole", Decimal(3))
WINDOWS = (
    spec.firing.Sliding(FEW_SECONDS, ONE, eager=True),
    spec.firing.Sliding(FOUR, ONE, eager=True),
    spec.firing.Sliding(FOUR, spec.firing.ByCount(2)),
    spec.firing.Sliding(DELTA, ONE, eager=True),
    spec.firing.Sliding(FOUR, ONE, eager=True, skips=spec.firing.ByCount(2)),
    spec.firing.Sliding(
        FEW_SECONDS, ONE, eager=True, skips=spec.firing.ByTime(spec.Span(0, 2 * SECOND))
    ),
    spec.firing.Sliding(
        FEW_SECONDS, spec.firing.ByTime(spec.Span(0, 2 * SECOND)), eager=True
    ),
    spec.firing.Tumbling(FOUR),
    spec.firing.Tumbling(DELTA),
    spec.firing.Tumbling(FEW_SECONDS),
    spec.firing.Tumbling(spec.firing.FromFirst(spec.Span(0, 5 * SECOND))),
    spec.firing.Tumbling(spec.firing.FromLast(spec.Span(0, 2 * SECOND))),
    spec.firing.Tumbling(spec.firing.ByCalendar(1)),
)
LARGE = 1 << 62


def value(chance, name):
    """A value of a column, one that is hard to add among them."""
    if name == "whole":
        # A place for deltas: not every kernel knows what is far from nothing.
        return chance.randrange(9)
    if chance.random() < 0.2:
        return None
    match name:
        case "long":
            return chance.choice((0, 1, -3, LARGE, -LARGE, LARGE + 1, 1 - LARGE))
        case "part":
            some = (0.1, 0.2, 0.3, 1e16, -1e16, 1e-300, 1e308, -1e308)
            return chance.choice((*some, *some, *some, nan, inf, -inf))
        case "small":
            return chance.choice((0.5, -0.25, 3.0, 0.0, -0.0, nan))
        case "exact":
            # The third is no double: which one is nearest is hard to say.
            some = "0.0001", "-3.5000", "22.6714", "9" * 34 + ".0000"
            return Decimal(chance.choice(some))
        case "text":
            return chance.choice(("", "a", "Z", "é", "\U0001f600", "\uffff"))
        case "moment":
            return from_microseconds(chance.randrange(10**15))
        case _:
            return chance.random() < 0.5


def stream(chance, unit):
    """Rows that come, and time that passes without any, up to the end."""
    now = 0
    for _ in range(chance.randrange(4, 60)):
        now += chance.choice((0, 0, 1, 2, 9)) * unit
        if chance.random() < 0.15:
            yield now, Passing.TIME
            continue
        row = {name: value(chance, name) for name in KINDS}
        yield now, {"at": from_microseconds(now), "key": chance.choice("ab")} | row
    yield now + 60 * unit, Passing.TIME
    yield now + 60 * unit, Sign.END


def told(found):
    """What comes out, as texts: NaN does not equal itself. The end does by itself.

    Zeros of both signs are equal: which of them is the least nothing says.
    """
    return [
        (
            number,
            str(one)
            if isinstance(one, Sign)
            else {
                name: "0.0" if str(it) == "-0.0" else str(it)
                for name, it in one.items()
            },
        )
        for number, one in found
        if one is not Sign.END
    ]


@pytest.mark.parametrize("number", range(260))
def test_the_kernel_gives_what_the_oracle_does(number):
    chance = Random(number)
    window = WINDOWS[number % len(WINDOWS)]
    parts = chance.choice(((), ("key",)))
    asked = Asked()
    for fold, name, distinct in chance.sample(TOTALS, 6):
        asked.total(fold, name, is_distinct=distinct)
    for one in chance.choice(((), PLACED)):
        asked.row(*one)
    for one in chance.choice(((), ("text",))):
        asked.values(one)
    step = asked.windowed(
        GIVEN,
        window,
        groups=parts if isinstance(window, spec.firing.Tumbling) else (),
        by=chance.choice(((), ("key",))),
        counts=chance.choice(("", "counts")),
    )
    is_long = isinstance(window.fires, spec.firing.ByCalendar)
    given = [*stream(chance, SECOND * (100_000 if is_long else 1))]
    has_marks = chance.random() < 0.5
    expected = fired(step, given, has_marks=has_marks)
    found = fire(step, given, has_marks=has_marks)
    if not has_marks:
        # Nobody hears of them: whether there are any is the same to all.
        expected = [it for it in expected if it[1] is not Sign.MARK]
    assert told(found) == told(expected)


def lines_of(rows, first):
    """Rows as lines, one a second from some second on."""
    nows = pa.array(range(first, first + len(rows)), pa.int64())
    table = arrow_table(rows, SCHEMA).combine_chunks()
    columns = {name: table[name].combine_chunks() for name in table.column_names}
    columns[KIND] = pa.array([int(LineKind.ROW)] * len(rows), pa.int32())
    columns[NOW] = pc.multiply(nows, SECOND)
    return pa.RecordBatch.from_pydict(columns)


class Counting(Held):
    """Pieces in memory, which are counted as they are read."""

    def read(self, number):
        READ.append(number)
        return super().read(number)


READ = []


def minute_of(chance, key):
    """Totals over the last minute of each key, of rows that come every second."""
    asked = Asked()
    for fold, name, distinct in chance.sample(TOTALS, 6):
        asked.total(fold, name, is_distinct=distinct)
    minute = spec.firing.ByTime(spec.Span(0, 60 * SECOND))
    window = spec.firing.Sliding(minute, ONE, eager=True)
    return asked.windowed(GIVEN, window, by=(key,), counts="counts")


@pytest.mark.parametrize("number", range(160))
def test_rows_of_the_last_seconds_leave_as_they_came(number):
    chance = Random(number)
    asked = Asked()
    for fold, name, distinct in chance.sample(TOTALS, 6):
        asked.total(fold, name, is_distinct=distinct)
    window = spec.firing.Sliding(FEW_SECONDS, ONE, eager=True)
    by, counts = chance.choice(((), ("key",))), chance.choice(("", "counts"))
    # By doubles they go from row to row.
    by = by if number % 4 else (*by, "part")
    step = asked.windowed(GIVEN, window, by=by, counts=counts)
    given = [*stream(chance, SECOND)]
    expected = [
        it for it in fired(step, given, has_marks=False) if it[1] is not Sign.MARK
    ]
    assert told(fire(step, given, has_marks=False)) == told(expected)


@pytest.mark.parametrize("number", range(240))
def test_windows_that_fire_with_the_clock_fold_whole_columns(number):
    chance = Random(number)
    asked = Asked()
    for fold, name, _ in chance.sample(WHOLE, 6):
        asked.total(fold, name)
    is_long, by_time = chance.random() < 0.3, spec.firing.ByTime
    lengths = [by_time(spec.Span(0, n * SECOND)) for n in (1, 2, 3, 4, 6, 7, 15)]
    window = spec.firing.Tumbling(
        spec.firing.ByCalendar(chance.choice((0, 1))) if is_long else FEW_SECONDS
    )
    if number % 2:
        is_long, window = False, spec.firing.Sliding(*chance.choices(lengths, k=2))
    groups = chance.choice(((), ("key",), ("key", "truth"), ("moment", "exact")))
    step = asked.windowed(
        GIVEN,
        window,
        groups=groups,
        counts=chance.choice(("", "counts")),
        moment=chance.choice(("", "then")),
    )
    settings = in_row_time(firing_settings(step))
    assert is_in_panes(settings, arrow_table([], SCHEMA).schema)
    given = [*stream(chance, SECOND * (100_000 if is_long else 1))]
    expected = fired(step, given, has_marks=False)
    expected = [it for it in expected if it[1] is not Sign.MARK]
    assert told(fire(step, given, has_marks=False)) == told(expected)


def test_a_window_that_slides_by_the_clock_keeps_no_row_but_the_last_of_groups():
    asked = Asked()
    asked.total(Fold.SUM, "whole")
    hour, minute = (spec.firing.ByTime(spec.Span(0, n * 60 * SECOND)) for n in (60, 1))
    step = asked.windowed(GIVEN, spec.firing.Sliding(hour, minute), groups=("key",))
    known = in_row_time(firing_settings(step))
    kept = Kept(lines_of([], 0).drop_columns([KIND, NOW]))
    nothing = dict.fromkeys(SCHEMA.names)
    rows = [nothing | {"key": "ab"[number % 2]} for number in range(300)]
    for first in range(0, 7200, 300):
        kept, found = advance(known, kept, lines_of(rows, first))
        # Two keys in each of 60 panes, and in the one that has not ended.
        assert kept.rows.num_rows <= 2 * 61
    assert found.num_rows == 2 * 5


@pytest.mark.parametrize("key", ["key", "part"])
def test_a_step_reads_the_rows_that_leave_and_no_others(key):
    chance = Random(1)
    known = in_row_time(firing_settings(minute_of(chance, key)))
    assert is_sliding(known, arrow_table([], SCHEMA).schema) == (key == "key")
    rows = [
        {"at": from_microseconds(number * SECOND), "key": chance.choice("ab")}
        | {name: value(chance, name) for name in KINDS}
        for number in range(300)
    ]
    kept = Kept(lines_of([], 0).drop_columns([KIND, NOW]), pieces=Counting())
    for first in range(0, 300, 10):
        READ.clear()
        kept, _ = advance(known, kept, lines_of(rows[first : first + 10], first))
        # A row leaves a second behind the minute: one of the piece before the last six.
        number = first // 10
        assert [it for it in (number - 7, number - 6) if it >= 0] == READ
        assert len(kept.pieces.pieces) <= 8
        assert not kept.rows.num_rows
