"""KEYED and WILD: what of a condition an index must answer."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.expression import Expression
from dovetail.front.ecl.conditions import Term, hands_of, terms
from dovetail.front.ecl.context import Context, refusal
from dovetail.front.ecl.nodes import Call, Node
from dovetail.front.ecl.values import Index, NoIndex
from dovetail.spec.join import Hand
from dovetail.spec.references import references


def check_index(context: Context, condition: Node, index: Index | NoIndex) -> None:
    """Refuses KEYED of what is no key, or behind a key that is left out.

    A key is left out where no term names it and WILD does not leave it open.
    """
    found = list(terms(context, condition))
    marked = [one for one in found if one.is_keyed or one.is_wild]
    if not marked:
        return
    if not isinstance(index, Index):
        raise refusal(marked[0].node, "KEYED or WILD without an INDEX", "an INDEX")
    named = {name for one in found for name in fields_of(one, Hand.RIGHT)}
    check_keys(index, marked, named, Hand.RIGHT)


def check_keys(index: Index, marked: list[Term], named: set[str], hand: Hand) -> None:
    """Refuses marked terms that the index cannot answer."""
    for term in marked:
        for name in fields_of(term, hand):
            if name not in index.keys:
                raise refusal(
                    term.node, f'"{name}" is no key of the INDEX', _keys(index)
                )
            before = index.keys[: index.keys.index(name)]
            for key in before if term.is_keyed else ():
                if key not in named:
                    raise refusal(
                        term.node,
                        f'KEYED of "{name}" behind the key "{key}", which is left out',
                        f"a condition on {key}, or WILD of it",
                    )


def _keys(index: Index) -> str:
    """Returns the keys in words."""
    return f"one of {', '.join(index.keys)}"


def fields_of(term: Term, hand: Hand) -> Iterator[str]:
    """Yields the fields of a side that a term names, in lower case."""
    node = term.node
    if term.is_wild and isinstance(node, Call):
        text = term.context.scalar(node.arguments[0]).text
    else:
        text = term.context.condition(node)
    if hand in hands_of(text):
        for one in references(Expression(text)):
            if one.hand is hand:
                yield one.column.lower()


def check_filter(context: Context, node: Call, index: Index | NoIndex) -> None:
    """Refuses what an index cannot answer in the filter of its rows."""
    if not isinstance(index, Index):
        return
    found = [one for it in node.arguments for one in terms(context, it)]
    marked = [one for one in found if one.is_keyed or one.is_wild]
    named = {name for one in found for name in fields_of(one, Hand.LEFT)}
    check_keys(index, marked, named, Hand.LEFT)
