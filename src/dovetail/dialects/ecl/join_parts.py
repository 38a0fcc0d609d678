"""A JOIN taken apart, and which terms of its condition are equalities of the join."""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.dialects.ecl.conditions import Hard, Piece, Soft
from dovetail.dialects.ecl.context import Context
from dovetail.dialects.ecl.nodes import Call
from dovetail.dialects.ecl.options import Options
from dovetail.dialects.ecl.totals import Gathered
from dovetail.dialects.ecl.values import DatasetValue, Index, Made
from dovetail.spec.join import Hand
from dovetail.spec.picks import Equality, Strategy
from dovetail.spec.program import Alone, Indexed

Conditions = tuple[tuple[Equality, ...], str, str]


@dataclass(frozen=True, slots=True)
class Parts:
    """A JOIN taken apart: its sides, its condition, its transform and its options."""

    node: Call
    context: Context
    left: DatasetValue
    right: DatasetValue
    options: Options
    pieces: tuple[Piece, ...]
    made: Made
    totals: tuple[list[Gathered], list[Gathered]]

    @property
    def is_keyed(self) -> bool:
        """Tells whether the right side is read by an index."""
        return self.options.is_keyed

    @property
    def strategy(self) -> Strategy:
        """Returns how partners are looked for."""
        return Strategy.KEYED if self.is_keyed else self.options.strategy

    @property
    def title(self) -> str:
        """Returns the name of the join and the line where it stands."""
        label = f"{self.context.label} := " if self.context.label else ""
        kind = self.options.kind.value.replace("_", " ")
        word = self.node.word.upper()
        return f"{label}{word} in line {self.node.place.line}, {kind}"


def conditions_of(parts: Parts) -> Conditions:
    """Returns equalities, the rest, and what a keyed join asks of the left first."""
    found = [one for one in parts.pieces if isinstance(one, Hard)]
    hard = [one for one in found if _is_hard(parts, one)]
    soft = [
        f"({one.equality.left} = {one.equality.right})"
        for one in found
        if one not in hard
    ]
    first: list[str] = []
    for one in parts.pieces:
        if isinstance(one, Soft):
            of_left = parts.is_keyed and one.hands == {Hand.LEFT}
            (first if of_left else soft).append(one.text)
    equalities = tuple(one.equality for one in hard)
    return equalities, " AND ".join(soft) or "true", " AND ".join(first) or "true"


def pointer_of(parts: Parts) -> Indexed | Alone:
    """Returns the index that KEYED(index) names beside the right side, if it does."""
    for call in parts.options.calls("keyed"):
        step = parts.context.dataset(call.arguments[0]).step
        if isinstance(step, Indexed):
            return step
    return Alone()


def _is_hard(parts: Parts, one: Hard) -> bool:
    """Tells whether an equality is hard; in a keyed join only one that the index has.

    Where terms are marked KEYED, the index is asked for those alone.
    """
    index = parts.right.index
    if not parts.is_keyed or not isinstance(index, Index):
        return True
    marks = any(isinstance(it, Hard) and it.is_keyed for it in parts.pieces)
    return one.fields <= set(index.keys) and (one.is_keyed or not marks)
