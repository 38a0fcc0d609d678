"""Whether anyone asks in which order the rows of a step stand.

Keeping an order costs: places are carried through joins, and rows are sorted. So it is
found beforehand who looks at it: a step that counts or compares neighbours, a pick of
the first partners, and an output whose order the language promises. That is any but the
order of a join for which ECL promises none.
"""

from __future__ import annotations

from typing import assert_never

from dovetail.plan.capability import ORDERED
from dovetail.spec.join import Columns, JoinSpec
from dovetail.spec.picks import Keep, Strategy
from dovetail.spec.program import (
    Appended,
    Chosen,
    Counted,
    Deduped,
    Filtered,
    Given,
    Grouped,
    Indexed,
    Inline,
    Joined,
    Numbered,
    Ordered,
    Program,
    Projected,
    SetJoined,
    Step,
    Unfolded,
    Written,
    sources_of,
)
from dovetail.spec.references import bare_names


def asked_of(program: Program) -> frozenset[int]:
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
        waiting += [(one, _asks(step, one, asks=asks)) for one in sources_of(step)]
    return frozenset(found)


def is_promised(step: Step) -> bool:
    """Tells whether ECL says in which order the rows of a step are."""
    match step:
        case Joined(left=left, join=join):
            return join.picks.strategy in ORDERED and is_promised(left)
        case Given() | Inline() | Written() | Ordered() | SetJoined():
            return True
        case _:
            return all(map(is_promised, sources_of(step)))


def counts_pairs(join: JoinSpec) -> bool:
    """Tells whether a join numbers the partners of a left row."""
    texts = [join.picks.skip_when]
    if isinstance(join.select, Columns):
        texts += [text for _, text in join.select.columns]
    return any("counter" in bare_names(text) for text in texts)


def counts_rows(step: Projected) -> bool:
    """Tells whether a projection numbers its rows."""
    texts = [step.skip_when, *(text for _, text in step.select.columns)]
    return any("counter" in bare_names(text) for text in texts)


def _asks(step: Step, source: Step, *, asks: bool) -> bool:
    """Tells whether a step looks at the order of a source."""
    match step:
        case Numbered(may_gap=may_gap):
            return asks or not may_gap
        case Deduped() | Chosen() | Counted() | SetJoined():
            return True
        case Grouped(by=by):
            return bool(by) or asks
        case Projected():
            return counts_rows(step) or asks
        case Joined(right=right):
            return asks or (source is right and takes_first(step.join))
        case Filtered() | Ordered() | Indexed() | Appended() | Unfolded():
            return asks
        case Given() | Inline() | Written():
            return False
        case _:
            assert_never(step)


def takes_first(join: JoinSpec) -> bool:
    """Tells whether a join looks at the order of its right rows."""
    picks = join.picks
    is_lookup = picks.strategy is Strategy.LOOKUP
    return is_lookup or isinstance(picks.keep, Keep) or counts_pairs(join)
