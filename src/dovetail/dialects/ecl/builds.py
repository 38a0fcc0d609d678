"""BUILD: an index is written where indexes are kept.

    BUILD(index, OVERWRITE)
    BUILD(data set, {keys}, {payload}, 'name', OVERWRITE)

It has its rows anyway, built or not; from here on an INDEX of its name that has no data
set has them too.
"""

from __future__ import annotations

from collections.abc import Iterable

from dovetail.dialects.ecl.context import Context, refusal
from dovetail.dialects.ecl.defined_indexes import index_of, layouts_of
from dovetail.dialects.ecl.nodes import Call, Node, Omitted, word_of, words_of
from dovetail.dialects.ecl.values import DatasetValue, Index
from dovetail.spec.program import Built, Indexed

_WITHOUT_EFFECT = {
    *("sorted", "distributed", "distribute", "merge", "few", "local", "noroot"),
    *("backup", "cluster", "plane", "expire", "compressed", "filepos", "fileposition"),
    *("maxlength", "width", "skew", "threshold", "set", "parallel", "ordered"),
    *("unordered", "stable", "unstable", "algorithm", "persist"),
}
_REFUSED = {
    "dedup": "INDEX(DEDUP(SORT(data set, keys), keys), ..) in its place",
    "update": "OVERWRITE, which writes the index anew",
}
_FORMS = "BUILD(data set, {keys}, {payload}, 'name')"


def build(context: Context, node: Call) -> None:
    """Carries out BUILD of an INDEX, or of a data set with its layout."""
    found, options = _index(context, node)
    replaces = _replaces(context, options)
    step, index = found.step, found.index
    if not isinstance(step, Indexed) or not isinstance(index, Index):
        raise refusal(node.arguments[0], "BUILD of no INDEX", f"an INDEX, or {_FORMS}")
    if index.is_read:
        raise refusal(
            node.arguments[0],
            "BUILD of an INDEX without a data set",
            "an INDEX that has rows",
            f"{_FORMS} writes them, and the INDEX without a data set reads them",
        )
    if not step.file:
        raise refusal(
            node.arguments[0],
            "BUILD of an INDEX without a name",
            "INDEX(.., {keys}, 'name')",
        )
    if step.file in {one.index.file for one in context.world.builds}:
        raise refusal(
            node, f'a second BUILD of "{step.file}"', "one for each name in a program"
        )
    context.world.builds.append(Built(step, replaces))
    context.world.indexes[step.file] = found


def _index(context: Context, node: Call) -> tuple[DatasetValue, Iterable[Node]]:
    """Returns the index that is built, and the options behind it."""
    first, *rest = node.arguments
    found = context.dataset(first)
    if rest and isinstance(rest[0], Omitted):
        # The fields of the data set itself are the keys.
        layouts, behind = [first], rest[1:]
    else:
        layouts, behind = layouts_of(context, rest)
    if not layouts:
        return found, rest
    return index_of(context, node, (found, layouts, behind[:1])), behind[1:]


def _replaces(context: Context, options: Iterable[Node]) -> bool:
    """Tells whether OVERWRITE is among options, all of which are known."""
    replaces = False
    for option in options:
        word = words_of(option)
        if isinstance(option, Omitted):
            continue
        if word == "overwrite":
            replaces = True
        elif word in _WITHOUT_EFFECT:
            if word_of(option) not in {"sorted", "distributed"}:
                context.world.remarks.append(f"{word.upper()} of BUILD has no effect")
        else:
            raise refusal(
                option,
                f'"{word.upper() or "this"}" of BUILD',
                "OVERWRITE, or nothing more",
                _REFUSED.get(word, "the name of an index stands in its INDEX"),
            )
    return replaces
