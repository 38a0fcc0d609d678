"""Changes of a result: what is taken back, what is given, which two are an update."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dovetail.conformance.oracle.life import LivingRow
from dovetail.spec.inputs import Change, Emission
from dovetail.spec.join import HANDS, Hand


@dataclass(frozen=True, slots=True)
class Result:
    """One row of the result, what it is made of, and the keys of that.

    That of a left row over its limit is another one than its null row.
    """

    rows: tuple[LivingRow, ...]
    keys: Mapping[Hand, tuple[object, ...]]
    emission: Emission
    stands_for_many: bool = False

    @property
    def seen(self) -> tuple[object, ...]:
        """Returns what makes two rows of the result the same one."""
        return self.rows, self.stands_for_many, self.emission

    def told(self, change: Change) -> Emission:
        """Returns the row with what happened to it."""
        return replace(self.emission, change=change)


def changes(before: Sequence[Result], after: Sequence[Result]) -> Iterator[Emission]:
    """Yields the steps from one result to the next."""
    old, new = without(before, after), without(after, before)
    for result in old:
        successor = successor_of(result, new)
        if successor is None:
            yield result.told(Change.DELETE)
        else:
            new.remove(successor)
            yield result.told(Change.UPDATE_BEFORE)
            yield successor.told(Change.UPDATE_AFTER)
    for result in new:
        yield result.told(Change.INSERT)


def without(results: Sequence[Result], others: Sequence[Result]) -> list[Result]:
    """Returns the results that are not among the others."""
    known = [other.seen for other in others]
    return [one for one in results if one.seen not in known]


def successor_of(result: Result, new: Sequence[Result]) -> Result | None:
    """Returns the first new result of the same left key, else of the same right key."""
    for hand in HANDS:
        for candidate in new:
            if shares(result, candidate, hand):
                return candidate
    return None


def shares(result: Result, other: Result, hand: Hand) -> bool:
    """Tells whether two results have a row of the same key on a side."""
    key = result.keys.get(hand)
    return key is not None and key == other.keys.get(hand)
