"""Sliding joins: with #OPTION('slidingJoins') a range stands for an equality.

LEFT.x BETWEEN RIGHT.low AND RIGHT.high
LEFT.x >= RIGHT.low AND LEFT.x <= RIGHT.high
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from dovetail.dialects.ecl.conditions import Piece, Soft
from dovetail.dialects.ecl.context import Context
from dovetail.dialects.ecl.nodes import Node, Operation
from dovetail.dialects.ecl.options import Options
from dovetail.spec.join import Kind

_KINDS = {Kind.INNER, Kind.LEFT_OUTER}


def slides(context: Context, options: Options, pieces: Iterable[Piece]) -> bool:
    """Tells whether a range of the condition stands for an equality."""
    is_on = context.world.options["slidingjoins"] != "0"
    is_counted = options.has("atmost", "limit")
    return is_on and options.kind in _KINDS and not is_counted and _has_range(pieces)


def _has_range(pieces: Iterable[Piece]) -> bool:
    """Tells whether something lies between two bounds."""
    nodes = [one.node for one in pieces if isinstance(one, Soft)]
    if any(isinstance(one, Operation) and one.sign == "BETWEEN" for one in nodes):
        return True
    pairs = [pair for one in nodes for pair in _ordered(one)]
    lesser = [one for one, _ in pairs]
    return any(greater in lesser for _, greater in pairs)


def _ordered(node: Node) -> Iterator[tuple[Node, Node]]:
    """Yields what a comparison says to be the lesser, and the greater."""
    match node:
        case Operation(sign="<=", operands=(one, other)):
            yield one, other
        case Operation(sign=">=", operands=(one, other)):
            yield other, one
        case _:
            return
