"""A plan in words: windows, picks, when rows come out, what is kept, which engine.

A heading and a sentence each:

    join    left_outer, on l.order = r.order
    left    alive for 30 minutes from its time (placed)
    right   alive from 5 minutes before its time (paid) to 10 minutes after it
    asof    the right row whose r.paid is nearest before l.placed
    out     a pair comes out once both rows are there and neither can change ...

Of a program each join says how Spark carries it out, as far as it is told beforehand:

    broadcast         the right side goes to every task: LOOKUP, ALL
    shuffle, hash     rows of a key come together, one side is hashed: HASH
    shuffle, merge    rows of a key come together, both sorted: NOSORT, PARTITION, SKEW
    Spark's choice    whichever is cheaper, as sizes say: no option, SMART, FEW

Spark changes its mind where it must: what it broadcasts is the side that may be lost.
"""

from __future__ import annotations

import itertools
import json
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from dovetail import spec
from dovetail.expression import ALWAYS, NEVER
from dovetail.plan.batch import AnyPlan
from dovetail.plan.nested import TIME
from dovetail.plan.state import state_bound
from dovetail.plan.stream import GATHERED, StreamPlan
from dovetail.spec.writer import write_join

_CLOCKS = {
    spec.Clock.ARRIVAL: "arrival: rows meet as they come",
    spec.Clock.EVENT: "event: rows meet by their own times, whenever they come",
    spec.Clock.BATCH: "batch: rows meet when all are there",
}
_ORDERS = {
    spec.Arrival.SEQUENCE: (
        "rows meet in the one sequence that both sides carry; any cut that reads both "
        "up to one number gives the same rows"
    ),
    spec.Arrival.MERGED: (
        "rows meet in the order of row time, left before right; any cut into batches "
        "gives the same rows"
    ),
    spec.Arrival.AS_READ: (
        "rows meet batch by batch as they are read; a replay repeats the result, "
        "another cut may not"
    ),
}

# Of a stream that Spark joins with a table: no row of it looks at another one.
_EACH_ALONE = (
    "each row of the stream meets all of the table; any cut into batches gives the "
    "same rows"
)
_ASKING = "each row meets what the table has when it is asked"
ON_LOOKUP = "each batch asks for the keys that it brings, in Spark's workers"
ON_SPARK = "Spark's own join of each batch with all of the table; nothing is kept"
COPIED = "are copied beside the checkpoint at the first start, and read from there"
ON_STREAMS = "a stateful operator of ours: Arrow chunks in Spark's state store"
_ASKED_FOR = "all rows at once, when the DataFrame is asked for them"
_AT_THE_END = "all rows at once, when all inputs have ended"
_WHEN_ARRIVED = "when the later of the two arrives", "when it leaves its window"
_WHEN_SURE = (
    "once both rows are there and neither can change",
    "once no row that it could meet can still come",
)
_UNMATCHED = {
    spec.OuterRows.EAGER: "a row that meets nobody as it comes goes out at once as "
    "unmatched; pairs that come later follow it",
    spec.OuterRows.EAGER_RETRACT: "a row that meets nobody as it comes goes out at "
    "once as unmatched, and is taken back when it meets somebody",
    spec.OuterRows.PER_MILLISECOND: "a row goes out for each stretch of its life in "
    "which it has no partner",
}
_WAITS = "an unmatched row of a stream waits for the first row of a table that fits"
_COST_OF_ONE = "each has tasks and state of its own in every batch"
_GO_ALONG = (
    "go along all the same, for `late` and for a wider select on the same checkpoint; "
    "if neither will want them leave them out in front of the join: they cost in every "
    "batch"
)
FEW = 8
"""So many columns that nobody reads are not worth a word."""
WIDTH = 88
Line = tuple[str, str]
_BROADCAST = (
    "the right side is broadcast to every task, the left side stays where it is"
)
_SHUFFLED = "both sides are shuffled by their keys"
_WAYS = {
    spec.Strategy.LOOKUP: _BROADCAST,
    spec.Strategy.MANY_LOOKUP: _BROADCAST,
    spec.Strategy.ALL: _BROADCAST,
    spec.Strategy.HASH: f"{_SHUFFLED}, one is hashed, none is sorted",
    spec.Strategy.SORT_MERGE: f"{_SHUFFLED}, sorted and merged",
    spec.Strategy.KEYED: "the right rows that may match are read by the index where "
    "it is written, else as Spark chooses",
}
_CHOSEN = "as Spark chooses: a side that is small is broadcast, else "
_SETS = "rows of a key come together from all sets in one shuffle each"
BROADCAST = frozenset(
    {spec.Strategy.LOOKUP, spec.Strategy.MANY_LOOKUP, spec.Strategy.ALL}
)


def explained(plan: StreamPlan, reads_all: Callable[[StreamPlan], str]) -> str:
    """Returns how streams are joined, as the engine runs the plan.

    `reads_all` gives why a batch reads all that is kept, or nothing where it does not.
    """
    if plan.sets:
        return paragraphs([*_of_sets(plan)])
    # The time of a join's rows has a hidden name: users know it as `row_time`.
    shown = {
        side.hand: replace(side.source, time="row_time")
        for side in plan.sides
        if side.source.time == TIME
    }
    join, sources = plan.join, {it.hand: it.source for it in plan.sides} | shown
    order = _EACH_ALONE if plan.runner.is_native else _ORDERS[plan.arrival]
    if plan.lookups:
        order = _ASKING
    lines = [
        *_sides(join, sources),
        ("clock", _CLOCKS[join.clock]),
        ("order", order),
        *picked(join.picks),
        ("out", _AT_THE_END if GATHERED in plan.notes else _when(join)),
        *switched(plan.settings),
        ("late", _late(sources)),
        *_kept(plan, reads_all),
        *_engine(plan),
        *(("note", note) for note in plan.notes),
    ]
    if plan.every_inside:
        behind = f"{len(plan.joins)} {{}} behind each other in one query"
        by_us = f"{behind.format('operators')}: {_COST_OF_ONE}"
        by_spark = behind.format("joins of Spark's")
        lines.append(("in a row", by_spark if plan.runner.is_native else by_us))
    inside = (
        f"\n\nthe {hand.value} side is what this join gives:\n\n"
        + explained(inner, reads_all)
        for hand, inner in plan.inside.items()
    )
    among = (
        f"\n\nto the {hand.value} side comes what this join gives:\n\n"
        + explained(inner, reads_all)
        for hand, plans in plan.merged.items()
        for inner in plans
    )
    return paragraphs(lines) + "".join((*inside, *among))


def _of_sets(plan: StreamPlan) -> Iterator[Line]:
    """Gives how streams of several sets are joined."""
    for join in plan.sets:
        yield "join", title_of_sets(join)
        for order in _in_order(join):
            yield "out in", order
    yield "out", _AT_THE_END
    yield "state", plan.sides[0].bound
    yield "a batch", reads_of(plan, "")
    yield from _engine(plan)
    for note in plan.notes:
        yield "note", note


def explained_sets(join: spec.SetJoinSpec) -> str:
    """Returns how DataFrames of several sets are joined."""
    return paragraphs(
        [
            ("join", title_of_sets(join)),
            *(("out in", one) for one in _in_order(join)),
            ("out", _ASKED_FOR),
            ("engine", f"batch: all sets are finite: one native Spark plan; {_SETS}"),
        ]
    )


def _in_order(join: spec.SetJoinSpec) -> Iterator[str]:
    """Gives the order of the rows of several sets, if they have one."""
    if join.ordered_by:
        yield f"the order of {', '.join(join.ordered_by)}"


def title_of_sets(join: spec.SetJoinSpec) -> str:
    """Returns the kind of a join of several sets, and which they are."""
    return f"{join.kind.value} of the sets {', '.join(join.sets)}"


def _kept(plan: StreamPlan, reads_all: Callable[[StreamPlan], str]) -> Iterator[Line]:
    """Gives how many rows each side keeps, and after what silence none are held."""
    # Spark's own join keeps no rows of the stream, and has the table apart.
    if not plan.runner.is_native:
        for side in plan.sides:
            yield f"{side.hand.value} state", side.bound
        yield "a batch", reads_of(plan, reads_all(plan))
        for side in plan.sides:
            if len(names := _unread(plan.join, side.source)) > FEW:
                shown = ", ".join(f"{side.hand.letter}.{name}" for name in names[:2])
                many = f"{shown} and {len(names) - 2} more"
                yield f"{side.hand.value} unread", f"{many} {_GO_ALONG}"
    for side in plan.sides:
        if side.idle != spec.NO_TIME:
            other, silence = side.hand.other.value, side.idle.in_words()
            told = f"after {silence} without a row it no longer holds the {other} side"
            yield f"{side.hand.value} idle", f"{told} back"


def _unread(join: spec.JoinSpec, source: spec.Input) -> list[str]:
    """Returns the columns of an input that a join with one outlet never names."""
    if join.ports > 1 or not isinstance(join.select, spec.Columns):
        return []
    own = (source.time, *source.key)
    said = json.dumps(write_join(join), ensure_ascii=False)

    def is_named(name: str) -> bool:
        return bool(re.search(rf"(?<!\w){re.escape(name)}(?!\w)", said, re.IGNORECASE))

    return [one for one in source.schema.names if one not in own and not is_named(one)]


def reads_of(plan: StreamPlan, reads_all: str) -> str:
    """Returns what a batch reads of what is kept; of all with the reason."""
    if plan.join.clock is spec.Clock.BATCH:
        return "adds rows to those that are kept; only the last one reads them, all"
    if reads_all:
        return f"reads all rows that are kept: {reads_all}"
    return "reads rows of the keys that come, and rows that fall due"


def _engine(plan: StreamPlan) -> Iterator[Line]:
    """Gives who joins, and what becomes of a table beside a stream."""
    if plan.lookups:
        is_batch = plan.join.clock is spec.Clock.BATCH
        yield "engine", f"{'batch' if is_batch else 'stream'}: {ON_LOOKUP}"
        yield from (("lookup", one.in_words()) for one in plan.lookups)
    elif plan.runner.is_native:
        yield "engine", f"stream: {ON_SPARK}"
    else:
        yield "engine", f"stream: {ON_STREAMS}"
        if plan.runner.reason:
            yield "why", f"Spark does not join by itself, since {plan.runner.reason}"
        yield "buckets", plan.spread.reason
        if plan.spread.told:
            both = f"two behind each other in one query: {_COST_OF_ONE}"
            yield "operators", f"{both}; with partitions=1 one bucket does it all"
    for side in plan.tables:
        yield "table", f"the {side.hand.value} rows {COPIED}"
        if side.feed.refresh != spec.NO_TIME:
            later = (
                f"at a start {side.feed.refresh.in_words()} or more after the last copy"
            )
            yield "refresh", f"they are copied anew {later}"


def explained_batch(plan: AnyPlan) -> str:
    """Returns how two DataFrames are joined, as the engine runs the plan."""
    assert isinstance(plan.join, spec.JoinSpec)  # noqa: S101 - a user has two sides
    engine = f"batch: both sides are finite: one native Spark plan{plan.cost}"
    sources = spec.side_inputs(plan.join, plan.inputs)
    told = described(plan.join, sources), switched(plan.settings)
    return paragraphs([*itertools.chain(*told), ("engine", engine)])


def described(
    join: spec.JoinSpec, sources: Mapping[spec.Hand, spec.Input]
) -> Iterator[Line]:
    """Gives what is true of a join on every engine, as headings and sentences."""
    yield from _sides(join, sources)
    yield from picked(join.picks)
    yield "out", _when(join)
    if join.clock is not spec.Clock.BATCH:
        yield "late", _late(sources)
        for hand in spec.HANDS:
            yield f"{hand.value} state", state_bound(join, sources, hand)


def paragraphs(lines: Sequence[Line]) -> str:
    """Returns headings with their sentences beside them, wrapped to the screen."""
    # One margin for all, so that headings stand above each other as in a table.
    margin = max((len(heading) for heading, _ in lines), default=0) + 2
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


def _sides(
    join: spec.JoinSpec, sources: Mapping[spec.Hand, spec.Input]
) -> Iterator[Line]:
    """Gives on what rows meet, and how long those of each side live."""
    yield "join", title(join)
    for hand in spec.HANDS:
        side, time = join.side(hand), sources[hand].time
        per = ", ".join(one.plain for one in side.partition_by)
        words = lifetime(side.window, join.clock, time)
        yield hand.value, f"{words}, for each {per}" if per else words


def title(join: spec.JoinSpec) -> str:
    """Returns the kind of a join, and on what its rows meet."""
    terms = [f"{one.left.plain} = {one.right.plain}" for one in join.hard]
    if join.soft != ALWAYS:
        terms.append(join.soft.plain)
    condition = f"on {' and '.join(terms)}" if terms else "of every pair"
    return f"{join.kind.value}, {condition}"


def lifetime(window: spec.Window, clock: spec.Clock, time: str) -> str:
    """Returns from when until when a row is alive, in words."""
    moment = f"its time ({time})" if time else "its arrival"
    # A stream's row in row time is not there before it came.
    if isinstance(window, spec.Forever) and clock is spec.Clock.EVENT and time:
        return f"alive from {moment} on, for ever"
    return window.in_words(moment)


def _when(join: spec.JoinSpec) -> str:
    """Returns when rows come out."""
    if join.clock is spec.Clock.BATCH:
        return _ASKED_FOR
    # In order of arrival a pair is one at once; in row time an earlier row may come.
    is_arrival = join.clock is spec.Clock.ARRIVAL
    pairs, unmatched = _WHEN_ARRIVED if is_arrival else _WHEN_SURE
    subjects = ["a pair comes out"] if join.kind.gives_pairs else []
    once = (hand.value for hand in spec.HANDS if join.kind.gives_once(hand))
    subjects += [f"a {side} row with a partner comes out once," for side in once]
    told = [f"{subject} {pairs}" for subject in subjects]
    lone = " or ".join(hand.value for hand in spec.HANDS if join.kind.preserves(hand))
    if lone:
        told.append(f"an unmatched {lone} row comes out {unmatched}")
    return "; ".join(told)


def switched(settings: spec.Settings) -> Iterator[Line]:
    """Gives the switches that are not at their defaults as sentences."""
    if settings.outer_rows in _UNMATCHED:
        yield "unmatched", _UNMATCHED[settings.outer_rows]
    match settings.late_table_rows:
        case spec.EmitLateTableRows(spec.Span() as wait):
            yield "tables", f"{_WAITS} for {wait.in_words()}"
        case spec.EmitLateTableRows():
            yield "tables", f"{_WAITS}, for ever"
        case _:
            pass
    if settings.late_null_rows:
        yield "late rows", "of a preserved stream give their null row too"
    if settings.order is spec.Order.ROW_TIME:
        yield (
            "out in",
            "the order of row time: a row waits until none before it can come",
        )


def _late(inputs: Mapping[spec.Hand, spec.Input]) -> str:
    """Returns what becomes of late rows."""
    timed = [hand for hand in spec.HANDS if inputs[hand].is_timed]
    if not timed:
        return "no row is late: there is no time column"
    waits = {inputs[hand].lateness for hand in timed}
    # Which side is meant need be said only where the two differ.
    if waits == {spec.NO_TIME}:
        return "a row behind the newest of its side goes to `late`"
    told = [
        f"{inputs[hand].lateness.in_words()} ({hand.value})"
        if len(waits) > 1
        else inputs[hand].lateness.in_words()
        for hand in timed
    ]
    than = " or ".join(dict.fromkeys(told))
    return f"a row further behind the newest of its side than {than} goes to `late`"


def picked(picks: spec.Picks) -> Iterator[Line]:
    """Gives every pick of a join as a heading and a sentence."""
    yield from ((one.word, one.in_words()) for one in picks.in_order if one.in_words())
    if picks.strategy is spec.Strategy.LOOKUP:
        yield "lookup", "of each left row's matches the first comes out"
    if picks.left_condition != ALWAYS:
        yield "left if", f"a left row has a match only where {picks.left_condition}"
    if picks.skip_when != NEVER:
        yield "skip", f"no row comes out where {picks.skip_when}"


def on_spark(join: spec.JoinSpec | spec.SetJoinSpec) -> str:
    """Returns how Spark joins, as far as the text says it."""
    if isinstance(join, spec.SetJoinSpec):
        return _SETS
    way = _WAYS.get(join.picks.strategy)
    if way is None:
        both = f"{_SHUFFLED}, sorted and merged"
        way = _CHOSEN + (both if join.hard else "every row meets every other")
    picks = join.picks
    # Whatever finds candidates, a count or a nearest one asks for all of a key.
    if picks.counts_candidates:
        return f"{way}; candidates are counted in a window of their key"
    if picks.looks_nearest:
        return f"{way}; the nearest is found among sorted rows"
    return way


def explained_program(program: spec.Program) -> str:
    """Returns what each join of a program does, and what its options became."""
    lines: list[Line] = []
    for step in spec.steps_of(program):
        if isinstance(step, spec.Joined | spec.SetJoined):
            lines += [("join", step.told.title), *step.told.options]
            lines.append(("on Spark", on_spark(step.join)))
    lines += map(output_line, program.outputs)
    for built in program.builds:
        keys = ", ".join(built.index.keys)
        lines.append(("build", f"{built.index.file}: an index by {keys}"))
    lines += [("remark", remark) for remark in program.remarks]
    return paragraphs(lines)


def table_lines(program: spec.Program) -> list[Line]:
    """Returns what the tables of a program are made of, before a row of a stream."""
    lines: list[Line] = []
    for one in program.tables:
        alone = spec.Program((one,))
        given = dict.fromkeys(it.input for it in spec.givens_of(alone))
        done = filter(None, map(_in_a_word, spec.steps_of(alone)))
        columns = ", ".join(one.step.schema.names)
        made = f"once, when the flow starts, of {', '.join(given)}"
        made = ": ".join(filter(None, (made, ", ".join(done))))
        lines += [("table", f"{one.name}: {columns}"), ("made", made)]
    return lines


def _in_a_word(step: spec.Step) -> str:
    """Returns what a step does to which rows there are; nothing if it does not."""
    match step:
        case spec.Filtered():
            return "filtered"
        case spec.Joined(join=spec.JoinSpec() as join):
            return f"a join ({join.kind.value})"
        case spec.Counted():
            return "a row for each group" if step.by else "one row of all"
        case spec.Ordered():
            return "sorted"
        case spec.Chosen():
            return "the first of them"
        case spec.Appended():
            return "appended"
        case _:
            return ""


def output_line(output: spec.Output) -> Line:
    """Returns the name of what comes out, and its columns."""
    return "output", f"{output.name}: {', '.join(output.step.schema.names)}"
