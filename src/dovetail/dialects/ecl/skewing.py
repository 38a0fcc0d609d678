"""SKEW and THRESHOLD: how unevenly a side's rows may lie before a join fails.

SKEW(limit[, target]) has two shares from 0 to 1, THRESHOLD(size) the bytes of a part up
to which nobody minds. Where a join is made in one process there are no parts.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal

from dovetail.dialects.ecl.context import refusal
from dovetail.dialects.ecl.join_parts import Parts
from dovetail.dialects.ecl.nodes import Call, Node, Omitted
from dovetail.spec.stops import USUAL_THRESHOLD, Skew

_USUAL_LIMIT = 0.1


def skew_of(parts: Parts) -> Skew:
    """Returns how unevenly the rows of a side may lie; without SKEW as they like."""
    _refuse_keyed(parts)
    skew = Skew()
    if parts.options.has("skew"):
        skew = replace(skew, limit=_USUAL_LIMIT)
    for call in parts.options.calls("skew"):
        skew = replace(skew, limit=_limit(parts, call))
    for call in parts.options.calls("threshold"):
        size = parts.context.count(call.arguments[0])
        skew = replace(skew, threshold=size or USUAL_THRESHOLD)
        if not parts.options.has("skew"):
            line = call.place.line
            _remark(parts, f"THRESHOLD in line {line} has no effect without SKEW")
    return skew


def told_skew(skew: Skew) -> Iterator[tuple[str, str]]:
    """Gives when a skew fails the job."""
    if not skew.is_any:
        told = (
            f"on Spark at a skew of more than {skew.limit:g}, where the largest part "
            f"has more than {skew.threshold} bytes: each side's keys are counted for "
            "it; one process has no parts, there nothing is measured"
        )
        yield "fails", told


def _refuse_keyed(parts: Parts) -> None:
    """Refuses both options where the right side is read by its index."""
    for name in ("skew", "threshold"):
        if parts.is_keyed and parts.options.has(name):
            node = parts.options.found[name]
            raise refusal(node, f"{name.upper()} in a keyed join", "no INDEX")


def _limit(parts: Parts, call: Call) -> float:
    """Returns the limit of SKEW(limit, target); the target steers nothing."""
    first, *targets = call.arguments
    for target in targets:
        _share(parts, target)
        _remark(
            parts,
            f"the target of SKEW in line {call.place.line} steers nothing: "
            "spark.sql.adaptive.skewJoin.* says when Spark splits a part",
        )
    return _USUAL_LIMIT if isinstance(first, Omitted) else _share(parts, first)


def _share(parts: Parts, node: Node) -> float:
    """Returns a number from 0 to 1 that is known from the text."""
    found = parts.context.constant(node)
    match found:
        case bool():
            pass
        case int() | float() | Decimal() if 0 <= found <= 1:
            return float(found)
        case _:
            pass
    raise refusal(node, f"a skew of {found}", "a share, from 0 to 1.0")


def _remark(parts: Parts, text: str) -> None:
    """Adds what of the text has no effect."""
    parts.context.world.remarks.append(text)
