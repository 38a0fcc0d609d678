"""KEYED and WILD: what of a condition an index must answer."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.dialects.ecl.conditions import Term, hands_of, terms
from dovetail.dialects.ecl.context import Context, refusal
from dovetail.dialects.ecl.nodes import Call, Node
from dovetail.dialects.ecl.ordering import row_at
from dovetail.dialects.ecl.totals import gathering
from dovetail.dialects.ecl.types import RecordType
from dovetail.dialects.ecl.values import DatasetValue, Index
from dovetail.expression import Expression
from dovetail.spec.join import Hand
from dovetail.spec.references import references


def check_index(context: Context, condition: Node, right: DatasetValue) -> None:
    """Refuses KEYED of what is no key, or behind a key that is left out.

    A key is left out where no term names it and WILD does not leave it open.
    """
    index = right.index
    found = list(terms(context, condition))
    marked = [one for one in found if one.is_keyed or one.is_wild]
    if not marked:
        return
    if not isinstance(index, Index):
        raise refusal(marked[0].node, "KEYED or WILD without an INDEX", "an INDEX")
    _check_keys(index, found, right.record, Hand.RIGHT)


def _check_keys(
    index: Index, found: list[Term], record: RecordType, hand: Hand
) -> None:
    """Refuses marked terms, among all of a condition, that the index cannot answer."""
    fields = [(one, list(_fields_of(one, record, hand))) for one in found]
    named = {name for _, names in fields for name in names}
    for term, names in fields:
        for name in names if term.is_keyed or term.is_wild else ():
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


def _fields_of(term: Term, record: RecordType, hand: Hand) -> Iterator[str]:
    """Yields the fields of a side that a term names, in lower case.

    A value of a whole data set is none of them, though it is a column beside the row.
    """
    known = {one.word for one in record.fields}
    node = term.node
    if term.is_wild and isinstance(node, Call):
        text = term.context.scalar(node.arguments[0]).text
    else:
        text = term.context.condition(node)
    if hand in hands_of(text):
        for one in references(Expression(text)):
            if one.hand is hand and one.column.lower() in known:
                yield one.column.lower()


def check_filter(context: Context, node: Call, source: DatasetValue) -> None:
    """Refuses what an index cannot answer in the filter of its rows."""
    if not isinstance(source.index, Index):
        return
    # The filter gathers its values of whole data sets itself.
    inside, _ = gathering(context.inside(row_at(source.record)))
    found = [one for it in node.arguments for one in terms(inside, it)]
    _check_keys(source.index, found, source.record, Hand.LEFT)
