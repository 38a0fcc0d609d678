"""What is written beside a row: its values, short, the key first; and why it is alone.

Letters are of one width, so a label's length on the page is known before it is drawn.
"""

from __future__ import annotations

import json
import unicodedata
from dataclasses import dataclass
from itertools import accumulate

from dovetail.conformance.oracle import RowOutcome, TracedRow
from dovetail.schema import shown

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
    ends = accumulate(map(cells, words))
    kept = sum(end < most for end in ends)
    return words[:kept].rstrip(f" ·{DOTS}") + DOTS if most else ""


def cells(words: str) -> int:
    """Returns how many letters wide a text is; those of the far east are two."""
    return sum(1 + (unicodedata.east_asian_width(one) in "WF") for one in words)
