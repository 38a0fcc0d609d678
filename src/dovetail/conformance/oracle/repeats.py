"""Rows that repeat others, row by row: what the definition says of them.

What is remembered is a list, the one touched last at its end.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from dovetail import spec
from dovetail.conformance.oracle.firing import Content, Given, Passing, Sign
from dovetail.spec import firing


def recognized(
    step: spec.Recognized, given: Sequence[Given]
) -> Iterator[tuple[int, Content]]:
    """Yields each row with whether it repeats one, and marks as they come."""
    memory = _Memory(step)
    for number, (clock, content) in enumerate(given):
        match content:
            case Passing.TIME:
                pass
            case Sign():
                if content is Sign.MARK and step.forgets:
                    memory.remembered.clear()
                yield number, content
            case _:
                yield number, {**content, step.column: memory.repeats(content, clock)}


@dataclass(slots=True)
class _Memory:
    """What is remembered: values of rows, each with where its row stood."""

    step: spec.Recognized
    remembered: list[tuple[tuple[object, ...], Any]] = field(default_factory=list)
    count: int = 0

    def repeats(self, row: spec.Row, clock: int) -> bool:
        """Returns whether a row repeats another one, and remembers it."""
        key, here = tuple(row[name] for name in self.step.by), self._stands(row, clock)
        # What holds NaN equals nothing, itself neither.
        if not _equals_itself(key):
            return False
        own = [one for one in self.remembered if one[0] == key]
        most = self._most(here)
        # A place that is no number, NaN, is above none, and drives all out.
        found = any(not here - there > most for _, there in own)
        if not found or self.step.renews:
            self.remembered = [one for one in self.remembered if one not in own]
            self.remembered.append((key, here))
        # Those that were touched first are looked at, up to one that still counts.
        while self.remembered and not here - self.remembered[0][1] <= most:
            del self.remembered[0]
        return found

    def _stands(self, row: spec.Row, clock: int) -> Any:  # noqa: ANN401 - as measured
        """Returns where a row stands: its number, its value, or when it came."""
        self.count += 1
        match self.step.within:
            case firing.ByCount():
                return self.count
            case firing.ByDelta(column):
                return row[column]
            case _:
                return clock

    def _most(self, here: Any) -> Any:  # noqa: ANN401 - as measured
        """Returns how far a place may be above one that still counts."""
        match self.step.within:
            case firing.ByCount(count):
                return count
            case firing.ByDelta(_, width):
                return float(width) if isinstance(here, float) else width
            case firing.ByTime(length):
                return length.microseconds
            case other:
                raise TypeError(other)


def _equals_itself(value: object) -> bool:
    """Tells whether nothing in a value is NaN."""
    match value:
        case tuple() | list():
            return all(map(_equals_itself, value))
        case dict():
            return all(map(_equals_itself, value.values()))
        case _:
            return value == value  # noqa: PLR0124 - NaN alone is not
