"""Laws of joins that hold on the kernels whatever the rows are: no oracle is asked."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dovetail.conformance import local
from dovetail.expression import NEVER, Expression
from dovetail.schema import to_microseconds
from dovetail.spec.facts import is_state
from dovetail.spec.inputs import (
    Arrive,
    Bound,
    Clock,
    Finish,
    IgnoreLateTableRows,
    InputKind,
    OuterRows,
    Outlet,
    Remove,
)
from dovetail.spec.join import Columns, Hand, JoinSpec, Kind
from dovetail.spec.picks import Equality, Limit, Picks
from dovetail.spec.spans import Span
from dovetail.spec.windows import Forever, HopSize, Rows
from tests.conformance.local.agreement import bag, lines, told
from tests.pick_plays import COLUMNS
from tests.plays import plays

pytestmark = pytest.mark.usefixtures("unmeasured")

CLOCKS = st.sampled_from(list(Clock))
NUMBERS = Columns((("ln", Expression("l.n")), ("rn", Expression("r.n"))))
AGES = Span(1000, 0)  # nothing comes so late


def timed_bag(play):
    """The rows that come out with their events."""
    found = local.play(play)
    return Counter(told(one) for one in found if one.outlet is not Outlet.MARKS)


def changed(play, **changes):
    """The play with another join, and no strategy, which only some kinds allow."""
    return replace(play, join=replace(play.join, picks=Picks(), **changes))


def is_self_join(play):
    return play.join.left.source == play.join.right.source


# --- swapped sides ----------------------------------------------------------------


def swapped(text):
    return Expression(
        text.text.replace("l.", "\0").replace("r.", "l.").replace("\0", "r.")
    )


def mirrored(play):
    """The play with its sides swapped; what is selected still sees the same rows."""
    join = play.join
    columns = tuple((name, swapped(text)) for name, text in join.select.columns)
    turned = JoinSpec(
        join.right,
        join.left,
        join.kind.mirrored,
        join.clock,
        tuple(Equality(swapped(one.right), swapped(one.left)) for one in join.hard),
        swapped(join.soft),
        Columns(columns),
        join.ports,
        join.absent_right,
        join.absent_left,
    )
    return replace(play, join=turned)


TURNED = {
    Outlet.LEFT_UNMATCHED.value: Outlet.RIGHT_UNMATCHED.value,
    Outlet.RIGHT_UNMATCHED.value: Outlet.LEFT_UNMATCHED.value,
}


@given(CLOCKS.flatmap(plays))
def test_swapped_sides_mirror_the_kind(play):
    # In order of arrival a row of a self-join comes on the left first.
    assume(play.join.clock is not Clock.ARRIVAL or not is_self_join(play))
    names = ["sum", "time"] if not any(map(play.join.kind.gives_once, Hand)) else []
    select = Columns(tuple((name, Expression(COLUMNS[name])) for name in names))
    straight = changed(play, select=select)
    found = Counter(
        {
            (TURNED.get(line[0], line[0]), *line[1:]): count
            for line, count in timed_bag(mirrored(straight)).items()
        }
    )
    assert found == timed_bag(straight)


# --- kinds ------------------------------------------------------------------------


def of_kind(play, kind):
    """The rows of a kind by the numbers in them, without late ones.

    A table's late rows are left out: only who gives null rows waits for them.
    """
    usual = replace(play.settings, late_table_rows=IgnoreLateTableRows())
    play = replace(play, settings=usual)
    select = Columns(NUMBERS.columns[:1]) if kind is Kind.LEFT_SEMI else NUMBERS
    found = local.play(changed(play, kind=kind, select=select, ports=1))
    rows = [one for one in found if one.outlet is Outlet.MATCHED]
    return Counter(tuple(one.row.values()) for one in rows)


def plain(play):
    """The play with nulls for absent sides, so that numbers tell who is there.

    Without a stream, in order of arrival, there are no rows to count, only changes.
    """
    kinds = {source.kind for source in play.inputs.values()}
    assume(play.join.clock is not Clock.ARRIVAL or InputKind.STREAM in kinds)
    usual = JoinSpec(play.join.left, play.join.right, Kind.INNER, play.join.clock)
    return changed(play, absent_left=usual.absent_left, absent_right=usual.absent_right)


def ended(play):
    """The play with nothing left to wait for.

    Until then a kind waits only for what it gives: what two kinds have given so far may
    differ.
    """
    ends = [Finish(name) for name, one in play.inputs.items() if moves(one)]
    return replace(play, events=(*play.events, *ends))


def moves(source):
    """Whether more may come to an input that is waited for."""
    return source.is_timed and source.kind is not InputKind.DATASET


@pytest.mark.wide
@given(CLOCKS.flatmap(plays))
def test_each_kind_is_made_of_others(play):
    play = plain(ended(play))
    kinds = (Kind.INNER, Kind.LEFT_OUTER, Kind.RIGHT_OUTER, Kind.FULL_OUTER)
    inner, left, right, full = (of_kind(play, kind) for kind in kinds)
    assert inner <= left <= full
    assert full + inner == left + right
    assert full == inner + of_kind(play, Kind.FULL_ONLY)


@given(CLOCKS.flatmap(plays))
def test_outer_waits_longest(play):
    kinds = (Kind.INNER, Kind.FULL_ONLY, Kind.FULL_OUTER)
    inner, only, outer = (of_kind(plain(play), kind) for kind in kinds)
    assert outer <= inner + only


@given(CLOCKS.flatmap(plays))
def test_a_semi_row_is_a_left_row_with_a_pair(play):
    assume(not isinstance(play.join.left.window, HopSize))
    play = plain(ended(play))
    semi, inner = of_kind(play, Kind.LEFT_SEMI), of_kind(play, Kind.INNER)
    assert semi == Counter({(left,) for left, _ in inner})


# --- order of arrival, cuts of time -----------------------------------------------


def patient(play):
    """The play with null rows at the end: early ones tell what was known by then."""
    return replace(play, settings=replace(play.settings, outer_rows=OuterRows.EXPIRY))


def punctual(play):
    """The play on the event clock with all that makes the order of arrival matter out.

    Nothing is late, every input ends, and no two rows have one time. A table without a
    time, which is met as it is, does not change.
    """
    moving = {name for name, source in play.inputs.items() if source.is_timed}
    rows = [one for one in play.events if isinstance(one, Arrive | Remove)]
    events = [one for one in rows if one.input in moving]
    state = [row for source in play.inputs.values() for row in source.rows]
    times = [one.row.get("t") for one in events] + [row["t"] for row in state]
    assume(None not in times)
    assume(len(set(times)) == len(times))
    inputs = {
        name: replace(source, lateness=AGES if source.is_timed else source.lateness)
        for name, source in play.inputs.items()
    }
    ends = [Finish(name) for name, one in inputs.items() if one.is_timed]
    play = patient(replace(play, inputs=inputs, opening=()))
    return replace(play, events=(*events, *ends)), len(events)


def uncounted(play):
    """The play without the counter, which follows the order of arrival."""
    join = play.join
    skip = join.picks.skip_when
    picks = replace(join.picks, skip_when=NEVER if "counter" in skip.text else skip)
    select = join.select
    if isinstance(select, Columns):
        shown = [column for column in select.columns if column[0] != "counter"]
        select = Columns(tuple(shown))
        limit = join.picks.limit
        if isinstance(limit, Limit):
            transform = tuple(one for one in limit.transform if one[0] != "counter")
            picks = replace(picks, limit=replace(limit, transform=transform))
    return replace(play, join=replace(join, picks=picks, select=select))


@given(plays(Clock.EVENT), st.randoms(use_true_random=False))
def test_order_of_arrival_does_not_matter_where_nothing_is_late(play, chance):
    play, count = punctual(uncounted(play))
    rows = list(play.events[:count])
    chance.shuffle(rows)
    shuffled = replace(play, events=(*rows, *play.events[count:]))
    assert bag(local.play(shuffled)) == bag(local.play(play))


@given(plays(Clock.EVENT))
def test_a_batch_is_the_stream_when_all_has_come(play):
    windows = [play.join.side(hand).window for hand in Hand]
    # What is there for ever has a beginning on the event clock; `rows: 0` is no batch.
    assume(not any(isinstance(one, Forever | Rows) for one in windows))
    play, _ = punctual(changed(uncounted(play)))
    batch = changed(play, clock=Clock.BATCH)
    # Of what is met as it is at the end older versions meet nobody in a batch.
    assume(
        not any(
            is_state(batch.join, hand, timed=play.inputs[side.source.name].is_timed)
            for hand in Hand
            for side in [batch.join.side(hand)]
        )
    )
    assert bag(local.play(batch)) == bag(local.play(play))


@given(CLOCKS.flatmap(plays), st.data())
def test_what_has_come_out_was_right_whatever_follows(play, data):
    assume(play.join.clock is not Clock.BATCH)
    cut = data.draw(st.integers(0, len(play.events)))
    first = local.play(replace(play, events=play.events[:cut]))
    then = [one for one in local.play(play) if one.after < cut]
    assert lines(first) == lines(then)


def kept(play):
    """The play with every promise kept: nothing earlier follows it."""
    events, least = [], {}
    for event in reversed(play.events):
        if isinstance(event, Bound):
            moment = min(event.moment, least.get(event.input, event.moment))
            events.append(replace(event, moment=moment))
            continue
        events.append(event)
        if isinstance(event, Arrive | Remove) and event.row.get("t") is not None:
            moment = to_microseconds(event.row["t"])
            least[event.input] = min(moment, least.get(event.input, moment))
    return replace(play, events=tuple(reversed(events)))


@given(plays(Clock.EVENT))
def test_a_promise_brings_rows_forward_and_changes_none(play):
    play = patient(ended(kept(play)))
    rows = tuple(one for one in play.events if not isinstance(one, Bound))
    assert bag(local.play(replace(play, events=rows))) == bag(local.play(play))
