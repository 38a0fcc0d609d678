"""IF, MAP and CASE of data sets: the rows of one, as conditions over none of them say.

IF becomes one(condition) + other(NOT condition), of which one has no rows; the others
are an IF inside an IF.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from dovetail.dialects.ecl.context import Context
from dovetail.dialects.ecl.datasets import DATASETS, appended
from dovetail.dialects.ecl.nodes import Arrow, Call, Name, Node, Operation, Part
from dovetail.dialects.ecl.totals import gathering, narrowed, widened
from dovetail.dialects.ecl.values import Action, DatasetValue
from dovetail.expression import Expression
from dovetail.spec.program import Filtered

_MAKERS = {*DATASETS, "dataset", "join", "fetch"}
_CHOICES = {"if", "map", "case"}


def read_either(context: Context, node: Call) -> Iterator[DatasetValue]:
    """Gives what IF, MAP or CASE has, if these are data sets."""
    condition, *branches = as_if(node).arguments
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


def as_if(node: Call) -> Call:
    """Returns MAP(c => a, .., z) or CASE(x, v => a, .., z) as IF(c, a, IF(.., z))."""
    match node.word, node.arguments:
        case "map", (Arrow(condition=condition, value=value), *rest):
            others = tuple(rest)
        case "case", (subject, Arrow(condition=item, value=value), *rest):
            condition = Operation(node.place, "=", (subject, item))
            others = (subject, *rest)
        case _:
            return node
    last = others[-1]
    inner = replace(node, arguments=others)
    more = as_if(inner) if any(isinstance(it, Arrow) for it in others) else last
    word = Name(node.of.place, "IF")
    return Call(node.place, word, (condition, value, more))


def branches_of(context: Context, node: Node) -> tuple[Node, ...]:
    """Returns the condition of IF, MAP or CASE and what follows from it, if actions."""
    if not isinstance(node, Call) or node.word not in _CHOICES:
        return ()
    found = as_if(node).arguments
    is_action = isinstance(found[1], Name | Call) and isinstance(
        context.value(found[1]), Action
    )
    return found if is_action else ()


def _is_dataset(context: Context, node: Node) -> bool:
    """Tells whether a node is a data set, without a look into its parts."""
    match node:
        case Call(arguments=(_, first, *_)) if node.word in _CHOICES:
            return _is_dataset(
                context, first.value if isinstance(first, Arrow) else first
            )
        case Call() if node.word in _MAKERS:
            return True
        case Operation(sign="+" | "&", operands=(first, *_)):
            return _is_dataset(context, first)
        case Call(of=of) | Part(of=of):
            return _is_dataset(context, of)
        case Name(word=word):
            found = [*context.defined(node, word)][:1]
            return any(isinstance(one, DatasetValue) for one in found)
        case _:
            return False
