"""A JOIN whose condition is a constant: all right rows are candidates of a left row.

    JOIN(few, many, TRUE, LIMIT(9, SKIP), LEFT OUTER)

So its LIMIT is one of the right rows: more of them than that, and there are none. The
left rows are not over a limit then. They have no partner.
"""

from __future__ import annotations

from dataclasses import replace

from dovetail.dialects.ecl.conditions import Soft
from dovetail.dialects.ecl.datasets import filtered
from dovetail.dialects.ecl.join_parts import Parts
from dovetail.dialects.ecl.limits import Counts
from dovetail.dialects.ecl.nodes import Call, Name, Number, Operation
from dovetail.spec.picks import Limit, OnExceed, Unlimited


def is_constant(parts: Parts) -> bool:
    """Tells whether the condition looks at no row."""
    return all(isinstance(one, Soft) and not one.hands for one in parts.pieces)


def limited(parts: Parts, counts: Counts) -> tuple[Parts, Counts]:
    """Returns the join; a LIMIT that skips is asked of all right rows, if it can be."""
    match counts.picks.limit:
        case Limit(most, OnExceed.SKIP) if is_constant(parts):
            right = filtered(parts.context, parts.right, (_are_few(parts, most),))
            line = ("LIMIT", f"of more than {most} right rows there are none")
            picks = replace(counts.picks, limit=Unlimited())
            asked = replace(counts, picks=picks, lines=(line,))
            return replace(parts, right=right), asked
        case _:
            return parts, counts


def _are_few(parts: Parts, most: int) -> Operation:
    """Returns COUNT(right) <= n, as the program could have written it."""
    place, right = parts.node.place, parts.node.arguments[1]
    count = Call(place, Name(place, "count"), (right,))
    return Operation(place, "<=", (count, Number(place, str(most))))
