"""Left rows on the clock `arrival` whose pairs wait: more candidates may come.

`atmost`, `limit` and `asof` judge over all candidates that a left row ever has, so its
pairs are held until it leaves its window, or until no right row can come at all. A
right row that leaves before its candidates are judged waits for them, silently.
"""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.conformance.oracle.life import NEVER, LivingRow
from dovetail.conformance.oracle.matching import Pair
from dovetail.conformance.oracle.outer_rows import NullRows
from dovetail.conformance.oracle.parts import Parts
from dovetail.spec.inputs import Emission
from dovetail.spec.join import Hand


class Held:
    """The candidates of left rows that have not been judged."""

    def __init__(self, parts: Parts, nulls: NullRows) -> None:
        """Starts with none."""
        self._parts = parts
        self._nulls = nulls
        self._pairs: dict[LivingRow, list[Pair]] = {}
        self._leavers: dict[LivingRow, int] = {}

    def take(self, pair: Pair) -> None:
        """Takes in a candidate, in order of arrival; one too many may end the job."""
        pairs = self._pairs.setdefault(pair.left, [])
        pairs.append(pair)
        self._parts.refuse_excess(pair.left, len(self._parts.picker.candidates(pairs)))

    def judge(self, left: LivingRow) -> Iterator[Emission]:
        """Yields what comes of a left row to which no candidate comes any more."""
        choice = self._parts.picker.choose(self._pairs.pop(left, []))
        left.partners += len(choice.matches)
        left.has_too_many = choice.has_too_many
        if choice.matches:
            rights = [pair.right for pair in choice.matches]
            yield from self._nulls.taken_back(left, *rights)
        if choice.is_over_limit:
            yield from self._parts.writer.over_limit(left)
        elif self._parts.kind.gives_pairs:
            for _, emission in self._parts.pair_rows(choice.matches, lambda _: [NEVER]):
                yield emission
        elif choice.matches and self._parts.kind.gives_once(Hand.LEFT):
            yield from self._parts.writer.once(left)
        for pair in choice.matches:
            yield from self._match(pair.right)

    def leave(self, row: LivingRow, clock: int) -> Iterator[Emission]:
        """Yields what comes of a row that leaves its window."""
        self._leavers[row] = clock
        if row.hand is Hand.LEFT:
            yield from self.judge(row)
        yield from self._settle()

    def has_match(self, row: LivingRow) -> bool:
        """Tells whether a row has a match by now, judged or not."""
        choices = map(self._parts.picker.choose, self._pairs.values())
        pairs = [pair for choice in choices for pair in choice.matches]
        return row.partners > 0 or any(row in pair.rows for pair in pairs)

    def _match(self, right: LivingRow) -> Iterator[Emission]:
        """Yields the right row of a semi join, at its first match."""
        right.partners += 1
        if self._parts.kind.gives_once(Hand.RIGHT) and right.partners == 1:
            yield from self._parts.writer.once(right)

    def _settle(self) -> Iterator[Emission]:
        """Yields the rows that have left without a match and wait for none."""
        for row in [row for row in self._leavers if not self._is_open(row)]:
            yield from self._nulls.at_end(row, self._leavers.pop(row))

    def _is_open(self, row: LivingRow) -> bool:
        """Tells whether a row has candidates that are not judged."""
        return any(
            row is pair.right for pairs in self._pairs.values() for pair in pairs
        )
