"""A plan in words: windows, order, when rows come out, what is kept, which engine.

A heading and a sentence each:

    join    left_outer, on l.order = r.order
    left    alive for 30 minutes from its time (placed)
    right   alive from 5 minutes before its time (paid) to 10 minutes after it
    out     a pair comes out once both rows are there and neither can change ...
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dovetail.expression import ALWAYS, Expression
from dovetail.plan.manner import Arrival, state_bound
from dovetail.spec.inputs import Input
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec
from dovetail.spec.spans import NO_TIME, Span
from dovetail.spec.windows import (
    Between,
    Delta,
    Forever,
    HopSize,
    HopUnit,
    Latest,
    Range,
    Rows,
    RowsPreceding,
    Seconds,
    Window,
)

ORDERS = {
    Arrival.SEQUENCE: "rows meet in the one sequence that both sides carry",
    Arrival.MERGED: (
        "rows meet in the order of row time, left before right; any cut into batches "
        "gives the same rows"
    ),
    Arrival.AS_READ: (
        "rows meet batch by batch as they are read; a replay repeats the result, "
        "another cut may not"
    ),
}


WIDTH = 88
_QUOTED = re.compile(r"`(\w+)`")


@dataclass(frozen=True, slots=True)
class Told:
    """What an engine adds to the words: its name, why, the order, buckets, idleness."""

    engine: str
    reason: str
    arrival: Arrival | None = None
    buckets: str = ""
    warnings: tuple[str, ...] = ()


def explained(join: JoinSpec, inputs: Mapping[Hand, Input], told: Told) -> str:
    """Returns the plan of a join as paragraphs: a heading and a sentence each."""
    lines = list(_lines(join, inputs, told))
    margin = max(len(heading) for heading, _ in lines) + 2
    return "\n".join(
        textwrap.fill(
            text,
            WIDTH,
            initial_indent=heading.ljust(margin),
            subsequent_indent=" " * margin,
            break_on_hyphens=False,
        )
        for heading, text in lines
    )


def _lines(
    join: JoinSpec, inputs: Mapping[Hand, Input], told: Told
) -> Iterator[tuple[str, str]]:
    """Gives the headings with their sentences."""
    yield "join", f"{join.kind.value}, {_condition(join)}"
    for hand in HANDS:
        yield hand.value, _side(join, hand, inputs[hand])
    if told.arrival is not None:
        yield "order", ORDERS[told.arrival]
    yield "out", _when(join)
    if join.clock is not Clock.BATCH:
        yield "late", _late(inputs)
        for hand in HANDS:
            yield f"{hand.value} state", state_bound(join, inputs, hand)
    yield "engine", f"{told.engine}: {told.reason}"
    if told.buckets:
        yield "buckets", told.buckets
    for warning in told.warnings:
        yield "note", warning


def _condition(join: JoinSpec) -> str:
    """Returns on what rows meet."""
    equal = [f"{_plain(one.left)} = {_plain(one.right)}" for one in join.hard]
    soft = [] if join.soft == ALWAYS else [_plain(join.soft)]
    return "on " + " and ".join([*equal, *soft]) if equal or soft else "of every pair"


def _plain(expression: Expression) -> str:
    """Returns the text of an expression, names without the quotes they do not need."""
    return _QUOTED.sub(r"\1", expression.text)


def _side(join: JoinSpec, hand: Hand, source: Input) -> str:
    """Returns how long a side's rows live."""
    side = join.side(hand)
    per = ", ".join(map(_plain, side.partition_by))
    words = lifetime(side.window, join.clock, source.time)
    return f"{words}, for each {per}" if per else words


def lifetime(window: Window, clock: Clock, time: str) -> str:
    """Returns from when until when a row is alive, in words."""
    moment = f"its time ({time})" if time else "its arrival"
    match window:
        case Range(preceding, following):
            return _stretch(preceding, following, moment)
        case Rows(0):
            return f"alive at {moment} only"
        case Rows(count):
            return f"alive until {count} later rows have come"
        case Latest(key):
            return f"alive from {moment} to the next version of its {', '.join(key)}"
        case Forever() if clock is Clock.EVENT and time:
            return f"alive from {moment} on, for ever"
        case Forever():
            return "alive for ever"
        case _:
            return _rarer(window, moment)


def _rarer(window: Window, moment: str) -> str:
    """Returns how long a row is alive in the windows that only some engines know."""
    match window:
        case Seconds(length):
            return f"alive for {length.in_words()} of the clock on the wall"
        case Delta(by, width):
            return f"alive until a later row's {_plain(by)} is more than {width} above"
        case RowsPreceding(first, last):
            return f"alive from its {last}th later row to its {first + 1}th"
        case HopUnit(unit):
            return f"alive until the {unit} of {moment} is over"
        case HopSize(size, every):
            starts = f"one starts each {every.in_words()}"
            return f"alive in each window of {size.in_words()} around it; {starts}"
        case Between(start, end):
            return f"alive from {_plain(start)} to {_plain(end)}"
        case _:
            return "alive while both rows of its own join are"


def _stretch(preceding: Span, following: Span, moment: str) -> str:
    """Returns a stretch of row time around a row's own."""
    if preceding == following == NO_TIME:
        return f"alive at {moment} only"
    if following == NO_TIME:
        return f"alive for {preceding.in_words()} from {moment}"
    until = f"{preceding.in_words()} after it" if preceding != NO_TIME else "it"
    return f"alive from {following.in_words()} before {moment} to {until}"


def _when(join: JoinSpec) -> str:
    """Returns when rows come out."""
    lone = " and ".join(hand.value for hand in HANDS if join.kind.preserves(hand))
    if join.clock is Clock.BATCH:
        return "all rows at once, when the DataFrame is asked for them"
    if join.clock is Clock.ARRIVAL:
        pairs = "a pair comes out when its second row arrives"
        alone = "when it leaves its window"
    else:
        pairs = "a pair comes out once both rows are there and neither can change"
        alone = "once no row that it could meet can still come"
    return f"{pairs}; an unmatched {lone} row {alone}" if lone else pairs


def _late(inputs: Mapping[Hand, Input]) -> str:
    """Returns what becomes of late rows."""
    timed = [hand for hand in HANDS if inputs[hand].is_timed]
    if not timed:
        return "no row is late: there is no time column"
    waits = " or ".join(
        f"{inputs[hand].lateness.in_words()} ({hand.value})" for hand in timed
    )
    return f"a row further behind the newest of its side than {waits} goes to `late`"
