"""Left rows on the clock `arrival` whose pairs wait: more candidates may come.

`atmost`, `limit` and `asof` judge over all candidates that a left row ever has, so its
pairs are held until it leaves its window, or until no right row can come at all. A
right row that leaves before its candidates are judged waits for them, silently.
"""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.oracle.life import NEVER, LivingRow
from dovetail.oracle.matching import Pair
from dovetail.oracle.parts import Parts
from dovetail.spec.inputs import Emission
from dovetail.spec.join import Hand


class Held:
    """The candidates of left rows that have not been judged."""

    def __init__(self, parts: Parts) -> None:
        """Starts with none."""
        self._parts = parts
        self._pairs: dict[LivingRow, list[Pair]] = {}
        self._leavers: list[LivingRow] = []

    def take(self, pair: Pair) -> None:
        """Takes in a candidate, in order of arrival; one too many may end the job."""
        pairs = self._pairs.setdefault(pair.left, [])
        pairs.append(pair)
        self._parts.refuse_excess(pair.left, len(self._parts.picker.candidates(pairs)))

    def judge(self, left: LivingRow) -> Iterator[Emission]:
        """Yields what comes of a left row to which no candidate comes any more."""
        choice = self._parts.picker.choose(self._pairs.pop(left, []))
        left.partners += len(choice.matches)
        if choice.is_over_limit:
            yield from self._parts.writer.over_limit(left)
        elif self._parts.kind.gives_pairs:
            for _, emission in self._parts.pair_rows(choice.matches, lambda _: [NEVER]):
                yield emission
        elif choice.matches and self._parts.kind.gives_once(Hand.LEFT):
            yield from self._parts.writer.once(left)
        for pair in choice.matches:
            yield from self._match(pair.right)
        yield from self._settle()

    def leave(self, row: LivingRow) -> Iterator[Emission]:
        """Yields what comes of a row that leaves its window."""
        if row.hand is Hand.LEFT:
            yield from self.judge(row)
        self._leavers.append(row)
        yield from self._settle()

    def _match(self, right: LivingRow) -> Iterator[Emission]:
        """Yields the right row of a semi join, at its first match."""
        right.partners += 1
        if self._parts.kind.gives_once(Hand.RIGHT) and right.partners == 1:
            yield from self._parts.writer.once(right)

    def _settle(self) -> Iterator[Emission]:
        """Yields the rows that have left without a match and wait for none."""
        settled = [row for row in self._leavers if not self._is_open(row)]
        self._leavers = [row for row in self._leavers if row not in settled]
        for row in settled:
            yield from self._parts.unmatched(row)

    def _is_open(self, row: LivingRow) -> bool:
        """Tells whether a row has candidates that are not judged."""
        return any(
            row is pair.right for pairs in self._pairs.values() for pair in pairs
        )
