"""A plan in words: windows, order, when rows come out, what is kept, which engine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from dovetail.plan.manner import Arrival, state_bound
from dovetail.spec.inputs import Input
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec
from dovetail.spec.windows import (
    Forever,
    Latest,
    Range,
    Rows,
    Window,
)

ORDERS = {
    Arrival.SEQUENCE: "rows meet in the one sequence that both sides carry",
    Arrival.MERGED: (
        "rows meet in the order of row time, then left before right; any cut into "
        "batches gives the same rows"
    ),
    Arrival.AS_READ: (
        "rows meet batch by batch as they are read; a replay repeats the result, "
        "another cut may not"
    ),
}


@dataclass(frozen=True, slots=True)
class Told:
    """What an engine adds to the words: its name, why, the order, buckets, idleness."""

    engine: str
    reason: str
    arrival: Arrival | None = None
    buckets: str = ""
    warnings: tuple[str, ...] = ()


def explained(join: JoinSpec, inputs: Mapping[Hand, Input], told: Told) -> str:
    """Returns the plan of a join as lines of a heading and a sentence each."""
    lines = list(_lines(join, inputs, told))
    width = max(len(heading) for heading, _ in lines)
    return "\n".join(f"{heading:<{width}}  {text}" for heading, text in lines)


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
            yield f"state {hand.value}", state_bound(join, inputs, hand)
    yield "engine", f"{told.engine}: {told.reason}"
    if told.buckets:
        yield "buckets", told.buckets
    for warning in told.warnings:
        yield "note", warning


def _condition(join: JoinSpec) -> str:
    """Returns on what rows meet."""
    equal = [f"{one.left} = {one.right}" for one in join.hard]
    soft = [] if join.soft.text == "true" else [str(join.soft)]
    return "on " + " and ".join([*equal, *soft]) if equal or soft else "of every pair"


def _side(join: JoinSpec, hand: Hand, source: Input) -> str:
    """Returns how long a side's rows live."""
    side = join.side(hand)
    per = ", ".join(part.text for part in side.partition_by)
    words = lifetime(side.window, join.clock)
    return f"{words}{f', for each {per}' if per else ''}" + (
        f" (time {source.time})" if source.is_timed else ""
    )


def lifetime(window: Window, clock: Clock) -> str:
    """Returns from when until when a row is alive, in words."""
    match window:
        case Range(preceding, following):
            return f"alive from {following} before its time to {preceding} after it"
        case Rows(0):
            return "alive at its own moment only"
        case Rows(count):
            return f"alive until {count} later rows have come"
        case Latest(key):
            return f"alive until the next version of its {', '.join(key)}"
        case Forever() if clock is Clock.EVENT:
            return "alive from its time on, for ever"
        case Forever():
            return "alive for ever"
        case _:
            return f"alive as the window {type(window).__name__} says"


def _when(join: JoinSpec) -> str:
    """Returns when rows come out."""
    lone = [hand.value for hand in HANDS if join.kind.preserves(hand)]
    alone = f"; unmatched {' and '.join(lone)} rows " if lone else ""
    match join.clock:
        case Clock.BATCH:
            return "all rows at once, when the DataFrame is asked for them"
        case Clock.ARRIVAL:
            pairs = "a pair comes out when its second row arrives"
            return pairs + (alone + "when they leave their window" if lone else "")
        case Clock.EVENT:
            pairs = "a pair comes out when both rows are there and its time is safe"
            bound = "when no row that could meet them can still come"
            return pairs + (alone + bound if lone else "")


def _late(inputs: Mapping[Hand, Input]) -> str:
    """Returns what becomes of late rows."""
    timed = [hand for hand in HANDS if inputs[hand].is_timed]
    if not timed:
        return "no row is late: there is no time column"
    waits = ", ".join(f"{hand.value} {inputs[hand].lateness}" for hand in timed)
    return f"a row further behind its side's newest than ({waits}) goes to `late`"
