"""IF of data sets: the rows of one or of the other, as a condition over neither says.

It becomes one(condition) + other(NOT condition), of which one has no rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dovetail.expression import Expression
from dovetail.front.ecl.context import Context
from dovetail.front.ecl.datasets import DATASETS, appended
from dovetail.front.ecl.nodes import Call, Name, Node, Part
from dovetail.front.ecl.totals import gathering, narrowed, widened
from dovetail.front.ecl.values import DatasetValue
from dovetail.spec.program import Filtered

_MAKERS = {*DATASETS, "dataset", "join", "fetch"}


def read_either(context: Context, node: Call) -> Iterator[DatasetValue]:
    """Gives what IF(condition, one, other) has, if these are data sets."""
    condition, *branches = node.arguments
    if not branches or not _is_dataset(context, branches[0]):
        return
    inside, totals = gathering(context.alone())
    text = inside.condition(condition)
    texts = [text, f"(NOT {text})"]
    parts = []
    for one, held in zip(branches, texts, strict=False):
        source = context.dataset(one)
        step = Filtered(widened(source, totals), Expression(held))
        parts.append(replace(source, step=narrowed(step, source.record, totals)))
    yield appended(parts) if parts[1:] else parts[0]


def _is_dataset(context: Context, node: Node) -> bool:
    """Tells whether a node is a data set, without a look into its parts."""
    match node:
        case Call() if node.word in _MAKERS:
            return True
        case Call(of=of) | Part(of=of):
            return _is_dataset(context, of)
        case Name(word=word):
            found = [*context.defined(node, word)][:1]
            return any(isinstance(one, DatasetValue) for one in found)
        case _:
            return False
