"""What a picture says in words: its title, its lanes, what a pointer on a row shows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping

from dovetail.conformance.oracle import Axis, RowOutcome, Trace, TracedRow
from dovetail.draw.ticks import moment_words
from dovetail.plan.words import described
from dovetail.schema import shown_row
from dovetail.spec.join import HANDS, Hand, JoinSpec, Named
from dovetail.spec.picks import AsOf
from dovetail.spec.play import Play
from dovetail.spec.references import Reference, plain_reference
from dovetail.spec.sources import known_input


def title_of(join: JoinSpec, name: str) -> str:
    """Returns the name of a picture and the kind and sides of its join."""
    sides = " and ".join(join.side(hand).source.name for hand in HANDS)
    told = f"{join.kind.value.replace('_', ' ')} join of {sides}"
    return f"{name}: {told}" if name else told


def lanes_of(play: Play, join: JoinSpec) -> Mapping[str, str]:
    """Returns on what rows meet, and how long those of each side live."""
    sources = {hand: known_input(join.side(hand).source, play.inputs) for hand in HANDS}
    return dict(described(join, sources))


def keys_of(join: JoinSpec, hand: Hand) -> tuple[str, ...]:
    """Returns the columns of a side that the equalities name."""
    sides = [one.left if hand is Hand.LEFT else one.right for one in join.hard]
    found = [plain_reference(side) for side in sides]
    return tuple(one.column for one in found if isinstance(one, Reference))


def times_of(play: Play, join: JoinSpec, hand: Hand) -> tuple[str, ...]:
    """Returns the columns that a side's rows may be laid out by."""
    source, asof = join.side(hand).source, join.picks.asof
    time = play.inputs[source.name].time if isinstance(source, Named) else ""
    if not isinstance(asof, AsOf):
        return (time,)
    compared = plain_reference(asof.left if hand is Hand.LEFT else asof.right)
    return (time, compared.column) if isinstance(compared, Reference) else (time,)


def whole_row(row: TracedRow, axis: Axis) -> str:
    """Returns all that is known of a row, line by line."""
    values = json.dumps(shown_row(row.values), ensure_ascii=False)
    return "\n".join(
        [f"{row.hand.value} {values}", life_words(row, axis), fate_words(row)]
    )


def life_words(row: TracedRow, axis: Axis) -> str:
    """Returns from when until when a row is alive."""
    if not row.has_life:
        return f"at {moment_words(axis, row.at)}"
    birth, death = (moment_words(axis, one) for one in (row.birth, row.death))
    return f"alive from {birth} until before {death}"


def fate_words(row: TracedRow) -> str:
    """Returns what became of a row, and why."""
    told = (
        f"{row.outcome.value}: {row.reason.replace('_', ' ')}"
        if row.reason
        else row.outcome.value
    )
    if row.outcome is RowOutcome.LATE and abs(row.bound) != float("inf"):
        return f"{told}, behind the bound {moment_words(Axis.ROW_TIME, row.bound)}"
    return told


def summary(trace: Trace) -> str:
    """Returns the picture in one sentence, for who cannot see it."""
    sides = Counter(row.hand.value for row in trace.rows)
    rows = " and ".join(f"{sides[hand.value]} {hand.value} rows" for hand in HANDS)
    fates = Counter(row.outcome.value for row in trace.rows)
    told = ", ".join(
        f"{fates[fate.value]} {fate.value}" for fate in RowOutcome if fates[fate.value]
    )
    given = sum(meeting.comes_out for meeting in trace.meetings)
    return (
        f"{rows} by {trace.axis.value}; {len(trace.meetings)} meetings, "
        f"{given} of them come out as pairs; rows: {told or 'none'}."
    )
