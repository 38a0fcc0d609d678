"""Loops of functions: a list that is folded into the variables that a loop changes.

    for (int32 x in l) n += x; return n;
    aggregate(l, {n}, (so_far, x) -> {n: so_far.n + x}, ended -> ended.n)

Beside the variables stands how the loop goes on: where it has been left, no further
turn changes anything. A `while` goes through a list of turns, each of which goes
through another one as long as the loop is not left. So it may have many turns, and has
few where it needs few; what would need more has no value.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import IntEnum

from dovetail.dialects.spl import types, values
from dovetail.dialects.spl.absence import WAY, ended
from dovetail.expression.functions import build
from dovetail.expression.reader import compose, variable
from dovetail.expression.tree import Lambda, Literal, Node, Variable
from dovetail.schema import AtomicType

_WIDTH, _DEPTH = 32, 3
"""How many turns a list has, and how many lists stand inside of each other."""


RESULT = "result"


class Way(IntEnum):
    """How a loop goes on behind a turn."""

    ON = 0
    BROKEN = 1
    RETURNED = 2


@dataclass(frozen=True, slots=True)
class Turns:
    """A loop: what it knows behind so many turns, `so_far`, and behind all of them."""

    kind: types.Tuple
    so_far: Variable
    ended: Variable

    @classmethod
    def of(cls, changed: Iterable[types.SplType], result: types.SplType) -> Turns:
        """Returns the loop that changes variables of some types, in a function."""
        own = [(f"v{at}", kind) for at, kind in enumerate(changed)]
        kind = types.Tuple((*own, (WAY, types.INT32), (RESULT, result)))
        stored = types.stored(kind)
        return cls(kind, variable("so_far", stored), variable("ended", stored))

    def made(self, way: Way, own: Iterable[Node], result: Node) -> Node:
        """Returns what is known behind a turn."""
        said = Literal(int(way), AtomicType.INT)
        return values.structured(self.kind, (*own, said, result))

    def folded(
        self, elements: Node, item: Variable, *, start: Node, turn: Node, behind: Node
    ) -> Node:
        """Returns what is made of the end of a loop through the elements of a list."""
        step = Lambda((self.so_far, item), self._unless_left(turn))
        return build("aggregate", elements, start, step, Lambda((self.ended,), behind))

    def repeated(self, start: Node, turn: Node, behind: Node) -> Node:
        """Returns what is made of the end of a loop that ends by itself."""
        every = compose(f"sequence(1, {_WIDTH})")
        none = compose("slice(x, 1, 0)", x=every)
        state, step = self.so_far, self._unless_left(turn)
        number = variable("turn", AtomicType.INT)
        for _ in range(_DEPTH - 1):
            outer = variable("so_far", self.so_far.type)
            # The list of turns inside is gone through only if the loop still goes on.
            goes = compose("IF(x = 0, y, z)", x=part(outer, WAY), y=every, z=none)
            step = build("aggregate", goes, outer, Lambda((state, number), step))
            state = outer
        found = ended(behind, part(self.ended, WAY))
        end = Lambda((self.ended,), found)
        return build("aggregate", every, start, Lambda((state, number), step), end)

    def _unless_left(self, turn: Node) -> Node:
        """Returns what is known behind one more turn; nothing new of a loop left."""
        way = part(self.so_far, WAY)
        return compose("IF(x = 0, y, z)", x=way, y=turn, z=self.so_far)


def part(state: Variable, name: str) -> Node:
    """Returns a part of what a loop knows."""
    return build("field", state, values.text(name))
