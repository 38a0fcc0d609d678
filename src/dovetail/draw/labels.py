"""What a picture says in words: its title, its lanes, and each row.

Beside a row stand its values, short, the key first, and why it met nobody; a pointer on
it shows all that is known. Letters are of one width, so a label's length on the page is
known before it is drawn.
"""

from __future__ import annotations

import json
import unicodedata
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import accumulate

from dovetail import spec
from dovetail.conformance.oracle import Axis, RowOutcome, Trace, TracedRow
from dovetail.draw.scale import moment_words
from dovetail.plan.words import described
from dovetail.schema import shown, shown_row

LETTER = 6.65  # the width of a letter of 11 points
LONGEST_VALUE = 20
LONGEST_LABEL = 28
DOTS = "…"
NO_DAY = "1970-01-01T"  # the day of times that have none
Names = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Label:
    """The values of a row and, where it met nobody, the reason."""

    values: str
    reason: str

    def __str__(self) -> str:
        """Returns the whole label."""
        return f"{self.values} {self.reason}".strip()

    @property
    def width(self) -> float:
        """Returns the length of the label on the page."""
        return cells(str(self)) * LETTER

    def within(self, width: float) -> Label:
        """Returns the label cut so that it is no longer than some length."""
        # The reason goes first: what a row is counts more than why it met nobody.
        room = int(width / LETTER)
        if cells(str(self)) <= room:
            return self
        reason = shortened(self.reason, max(room - cells(self.values) - 1, 0))
        return Label(shortened(self.values, room), reason)


def label_of(row: TracedRow, keys: Names, times: Names) -> Label:
    """Returns the label of a row; its time is told by its place."""
    names = [name for name in row.values if name not in {*keys, *times}]
    first = [name for name in keys if name in row.values]
    values = [value_words(row.values[name]) for name in (*first, *names)]
    return Label(shortened(" · ".join(values), LONGEST_LABEL), reason_of(row))


def reason_of(row: TracedRow) -> str:
    """Returns why a row met nobody, in few words."""
    match row.outcome:
        case RowOutcome.MATCHED:
            return ""
        case RowOutcome.OPEN:
            return RowOutcome.OPEN.value
        case RowOutcome.LATE | RowOutcome.UNMATCHED:
            return row.reason.replace("_", " ")


def value_words(value: object) -> str:
    """Returns a value without quotes, shortened."""
    plain = shown(value)
    words = plain if isinstance(plain, str) else json.dumps(plain, ensure_ascii=False)
    words = words.removeprefix(NO_DAY)
    readable = "".join(one if one.isprintable() else " " for one in words)
    return shortened(readable, LONGEST_VALUE)


def shortened(words: str, most: int) -> str:
    """Returns a text that is no wider than so many letters."""
    if cells(words) <= most:
        return words
    # One letter less than fits, for the dots.
    ends = accumulate(map(cells, words))
    kept = sum(end < most for end in ends)
    return words[:kept].rstrip(f" ·{DOTS}") + DOTS if most else ""


def cells(words: str) -> int:
    """Returns how many letters wide a text is; those of the far east are two."""
    return sum(1 + (unicodedata.east_asian_width(one) in "WF") for one in words)


def title_of(join: spec.JoinSpec, name: str) -> str:
    """Returns the name of a picture and the kind and sides of its join."""
    sides = " and ".join(join.side(hand).source.name for hand in spec.HANDS)
    told = f"{join.kind.value.replace('_', ' ')} join of {sides}"
    return f"{name}: {told}" if name else told


def lanes_of(play: spec.Play, join: spec.JoinSpec) -> Mapping[str, str]:
    """Returns on what rows meet, and how long those of each side live."""
    sources = {
        hand: spec.known_input(join.side(hand).source, play.inputs)
        for hand in spec.HANDS
    }
    return dict(described(join, sources))


def keys_of(join: spec.JoinSpec, hand: spec.Hand) -> tuple[str, ...]:
    """Returns the columns of a side that the equalities name."""
    sides = [one.left if hand is spec.Hand.LEFT else one.right for one in join.hard]
    found = [spec.plain_reference(side) for side in sides]
    return tuple(one.column for one in found if isinstance(one, spec.Reference))


def times_of(play: spec.Play, join: spec.JoinSpec, hand: spec.Hand) -> tuple[str, ...]:
    """Returns the columns that a side's rows may be laid out by."""
    source, asof = join.side(hand).source, join.picks.asof
    time = play.inputs[source.name].time if isinstance(source, spec.Named) else ""
    sides = (left if hand is spec.Hand.LEFT else right for left, right in asof.compared)
    found = [spec.plain_reference(one) for one in sides]
    return (time, *(one.column for one in found if isinstance(one, spec.Reference)))


def whole_row(row: TracedRow, axis: Axis) -> str:
    """Returns all that is known of a row, line by line."""
    values = json.dumps(shown_row(row.values), ensure_ascii=False)
    return "\n".join(
        [f"{row.hand.value} {values}", life_words(row, axis), outcome_words(row)]
    )


def life_words(row: TracedRow, axis: Axis) -> str:
    """Returns from when until when a row is alive."""
    if not row.has_life:
        return f"at {moment_words(axis, row.at)}"
    birth, death = (moment_words(axis, one) for one in (row.birth, row.death))
    return f"alive from {birth} until before {death}"


def outcome_words(row: TracedRow) -> str:
    """Returns what became of a row, and why."""
    told = (
        f"{row.outcome.value}: {row.reason.replace('_', ' ')}"
        if row.reason
        else row.outcome.value
    )
    # A faulty row is among the late ones, and behind no bound.
    if row.outcome is RowOutcome.LATE and abs(row.bound) != float("inf"):
        return f"{told}, behind the bound {moment_words(Axis.ROW_TIME, row.bound)}"
    return told


def summary(trace: Trace) -> str:
    """Returns the picture in one sentence, for who cannot see it."""
    sides = Counter(row.hand.value for row in trace.rows)
    rows = " and ".join(f"{sides[hand.value]} {hand.value} rows" for hand in spec.HANDS)
    counts = Counter(row.outcome for row in trace.rows)
    told = ", ".join(f"{counts[one]} {one.value}" for one in RowOutcome if counts[one])
    given = sum(meeting.comes_out for meeting in trace.meetings)
    return (
        f"{rows} by {trace.axis.value}; {len(trace.meetings)} meetings, "
        f"{given} of them come out as pairs; rows: {told or 'none'}."
    )
