"""Whether anyone asks in which order the rows of a step stand.

Keeping an order costs: places are carried through joins, and rows are sorted. So it is
found beforehand who looks at it: a step that counts or compares neighbours, a pick of
the first partners, and an output whose order the language promises. That is any but the
order of a join for which ECL promises none.
"""

from __future__ import annotations

from typing import assert_never

from dovetail import spec
from dovetail.plan.capability import ORDERED


def asked_of(program: spec.Program) -> frozenset[int]:
    """Returns the steps, by identity, the order of whose rows someone looks at."""
    found: set[int] = set()
    seen: set[tuple[int, bool]] = set()
    waiting = [(one.step, is_promised(one.step)) for one in program.outputs]
    waiting += [(one.index, True) for one in program.builds]
    while waiting:
        step, asks = waiting.pop()
        if (id(step), asks) in seen:
            continue
        seen.add((id(step), asks))
        if asks:
            found.add(id(step))
        waiting += [(one, _asks(step, one, asks=asks)) for one in spec.sources_of(step)]
    return frozenset(found)


def is_promised(step: spec.Step) -> bool:
    """Tells whether ECL says in which order the rows of a step are."""
    match step:
        case spec.Joined(left=left, join=join):
            return join.picks.strategy in ORDERED and is_promised(left)
        case (
            spec.Given()
            | spec.Inline()
            | spec.Written()
            | spec.Ordered()
            | spec.SetJoined()
        ):
            return True
        case _:
            return all(map(is_promised, spec.sources_of(step)))


def counts_pairs(join: spec.JoinSpec) -> bool:
    """Tells whether a join numbers the partners of a left row."""
    texts = [join.picks.skip_when]
    if isinstance(join.select, spec.Columns):
        texts += [text for _, text in join.select.columns]
    return any("counter" in spec.bare_names(text) for text in texts)


def counts_rows(step: spec.Projected) -> bool:
    """Tells whether a projection numbers its rows."""
    texts = [step.skip_when, *(text for _, text in step.select.columns)]
    return any("counter" in spec.bare_names(text) for text in texts)


def _asks(step: spec.Step, source: spec.Step, *, asks: bool) -> bool:
    """Tells whether a step looks at the order of a source."""
    match step:
        case spec.Numbered(may_gap=may_gap):
            return asks or not may_gap
        case spec.Deduped() | spec.Chosen() | spec.Counted() | spec.SetJoined():
            return True
        case spec.Grouped(by=by):
            return bool(by) or asks
        case spec.Projected():
            return counts_rows(step) or asks
        case spec.Joined(right=right):
            return asks or (source is right and takes_first(step.join))
        case (
            spec.Filtered()
            | spec.Ordered()
            | spec.Indexed()
            | spec.Appended()
            | spec.Unfolded()
        ):
            return asks
        case spec.Given() | spec.Inline() | spec.Written():
            return False
        case _:
            assert_never(step)


def takes_first(join: spec.JoinSpec) -> bool:
    """Tells whether a join looks at the order of its right rows."""
    picks = join.picks
    is_lookup = picks.strategy is spec.Strategy.LOOKUP
    return is_lookup or isinstance(picks.keep, spec.Keep) or counts_pairs(join)
