"""What a batch must compare: an `asof` that is no single sort says what it costs.

l.k = r.k, r.valid               one sort of both sides
l.k = r.k, l.size < r.size       each left row with all right rows of its key
l.size < r.size                  each left row with every right row
"""

from __future__ import annotations

from dovetail.expression import Scope, conjuncts, parse, references
from dovetail.spec.inputs import Inputs
from dovetail.spec.join import HANDS, JoinSpec, Named
from dovetail.spec.picks import AsOf

_OF_KEY = "all right rows of its key"
_EVERY = "every right row; an equality in the join leaves those of its key"


def compared(join: JoinSpec, inputs: Inputs) -> str:
    """Returns which rows an `asof` compares one by one, or nothing where it need not.

    It need not where each term of the condition looks at one side alone.
    """
    if not isinstance(join.picks.asof, AsOf) or not _looks_across(join, inputs):
        return ""
    rows = _OF_KEY if join.hard else _EVERY
    return (
        "; the condition looks at both rows of a pair, so the nearest is found by "
        f"comparing each left row with {rows}"
    )


def _looks_across(join: JoinSpec, inputs: Inputs) -> bool:
    """Tells whether a term looks at both rows, as far as their columns are known."""
    sources = [join.side(hand).source for hand in HANDS]
    schemas = [inputs[one.name].schema for one in sources if isinstance(one, Named)]
    if len(schemas) < len(sources):
        return False
    terms = conjuncts(parse(join.soft, Scope.pair(*schemas)))
    return any(len({side for side, _ in references(one)}) > 1 for one in terms)
