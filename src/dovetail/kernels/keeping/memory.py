"""Rows that repeat others which are remembered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from dovetail.kernels.arrays.names import LineKind
from dovetail.kernels.keeping.lines import Found, Key, Measure, Saved, keys_of, taken
from dovetail.spec.firing import ByCount, ByDelta, ByTime, Policy


@dataclass(frozen=True, slots=True)
class Memory:
    """What tells rows that repeat others: see `Recognized`, whose words it has."""

    column: str
    by: tuple[str, ...]
    within: Policy
    renews: bool
    forgets: bool


@dataclass(slots=True)
class Remembered:
    """The keys of rows that have come, the one touched last at the end.

    Beside each stands where its row stood: its number, its value, or when it came.
    """

    known: Memory
    table: pa.RecordBatch
    keys: Sequence[Key]
    width: Any
    values: Sequence[Any]
    seen: dict[Key, Any] = field(default_factory=dict)
    count: int = 0

    @classmethod
    def over(cls, known: Memory, table: pa.RecordBatch, saved: Saved) -> Remembered:
        """Returns what is remembered, with the keys of what comes."""
        width, values = _limit(known.within, table)
        memory = cls(known, table, keys_of(table, known.by), width, values)
        if saved is not None:
            pairs, memory.count = saved
            memory.seen = dict(pairs)
        return memory

    def come(self, kind: int, now: int, place: int) -> Iterator[Found]:
        """Yields each row with whether it repeats one, and marks as they come."""
        match kind:
            case LineKind.ROW:
                yield Found(place, counts=[int(self._repeats(place, now))])
            case LineKind.MARK:
                if self.known.forgets:
                    self.seen.clear()
                yield Found()

    def _repeats(self, place: int, now: int) -> bool:
        """Returns whether a row repeats another one, and remembers it."""
        self.count += 1
        key, here = self.keys[place], self._stands(place, now)
        # What holds NaN equals nothing, itself neither.
        if not _equals_itself(key):
            return False
        # A place that is no number, NaN, is above none, and drives all out.
        found = key in self.seen and not here - self.seen[key] > self.width
        if not found or self.known.renews:
            # A dict keeps the order in which keys were put in.
            self.seen.pop(key, None)
            self.seen[key] = here
        while self.seen:
            first = next(iter(self.seen))
            if here - self.seen[first] <= self.width:
                break
            del self.seen[first]
        return found

    def _stands(self, place: int, now: int) -> Any:  # noqa: ANN401 - as measured
        """Returns where a row stands."""
        match self.known.within:
            case ByCount():
                return self.count
            case ByDelta():
                return self.values[place]
            case _:
                return now

    def kept(self) -> list[int]:
        """Returns no place: what is remembered are keys."""
        return []

    def saved(self, _: Mapping[int, int]) -> Saved:
        """Returns what is remembered, in its order."""
        return [*self.seen.items()], self.count

    def columns(self, found: Sequence[Found]) -> dict[str, pa.Array]:
        """Returns the rows themselves, with whether each repeats one."""
        places = [one.last for one in found]
        rows = taken(self.table, self.table.schema.names, places)
        told = [None if one.is_mark else bool(one.counts[0]) for one in found]
        return rows | {self.known.column: pa.array(told, pa.bool_())}


def _limit(within: Policy, table: pa.RecordBatch) -> tuple[Any, Sequence[Any]]:
    """Returns how far a row may be above one that it repeats, and by which values."""
    match within:
        case ByCount(count):
            return count, ()
        case ByTime(length):
            return length.microseconds, ()
        case _:
            measure = Measure.of(within, table)
            assert measure is not None  # noqa: S101 - other policies remember nothing
            return measure.width, measure.values


def _equals_itself(value: Any) -> bool:  # noqa: ANN401 - a part of a key
    """Tells whether nothing in a key is NaN."""
    if isinstance(value, tuple):
        return all(map(_equals_itself, value))
    return value is not ...
