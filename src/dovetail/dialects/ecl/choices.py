"""IF, MAP, CASE and CHOOSE: one of several values, of the type that all have."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import reduce

from dovetail.dialects.ecl.casting import Scalar
from dovetail.dialects.ecl.context import Context, as_type, refusal
from dovetail.dialects.ecl.nodes import Arrow, Call, Node, Omitted, Operation, word_of
from dovetail.dialects.ecl.types import INTEGER, EclType, blank_text, common

Choice = Callable[[Context, Call], Scalar]


def _if(context: Context, node: Call) -> Scalar:
    """Returns IF: one of two values; without the second a blank one."""
    condition, *values = node.arguments
    text = context.condition(condition)
    branches = [(text, values[0])]
    return chosen(context, branches, tuple(values[1:]))


def _map(context: Context, node: Call) -> Scalar:
    """Returns MAP: the value of the first condition that is true."""
    branches, otherwise = [], node.arguments
    for argument in node.arguments:
        if not isinstance(argument, Arrow):
            break
        branches.append((context.condition(argument.condition), argument.value))
        otherwise = otherwise[1:]
    return chosen(context, branches, otherwise)


def _case(context: Context, node: Call) -> Scalar:
    """Returns CASE: the value beside what the first argument equals."""
    subject, *rest = node.arguments
    branches = []
    for argument in rest:
        if isinstance(argument, Arrow):
            same = Operation(node.place, "=", (subject, argument.condition))
            branches.append((context.condition(same), argument.value))
    return chosen(context, branches, tuple(rest[len(branches) :]))


def _choose(context: Context, node: Call) -> Scalar:
    """Returns CHOOSE: the nth value; the last one where there are not so many."""
    number, *values = node.arguments
    place = context.typed(number, INTEGER).text
    branches = [
        (f"({place} = {count}L)", value) for count, value in enumerate(values[:-1], 1)
    ]
    return chosen(context, branches, tuple(values[-1:]))


def chosen(
    context: Context, branches: Sequence[tuple[str, Node]], otherwise: tuple[Node, ...]
) -> Scalar:
    """Returns the value of the first branch that holds; a SKIP in one is no value."""
    seen: tuple[str, ...] = ()
    found: list[tuple[str, Node, Scalar | None]] = []
    for condition, node in (*branches, *(("", node) for node in otherwise[:1])):
        path = (*context.path, *seen, *((condition,) if condition else ()))
        found.append((condition, node, _branch(replace(context, path=path), node)))
        seen = (*seen, f"(NOT {condition})")
    values = [(text, node, value) for text, node, value in found if value is not None]
    if not values:
        raise refusal(branches[0][1], "SKIP in every branch", "a value in one")
    kind = _met_type([value for _, _, value in values])
    return _written(kind, values)


def _branch(context: Context, node: Node) -> Scalar | None:
    """Returns the value of a branch, or None where it is SKIP, which is noted."""
    if word_of(node) == "skip" and context.may_skip:
        note_skip(context, node)
        return None
    return None if isinstance(node, Omitted) else context.scalar(node)


def note_skip(context: Context, node: Node) -> None:
    """Notes a SKIP with the conditions that lead to it."""
    given = node.arguments if isinstance(node, Call) else ()
    own = [context.condition(one) for one in given]
    context.skips.append(" AND ".join((*context.path, *own)) or "true")


def _met_type(values: Sequence[Scalar]) -> EclType:
    """Returns the type of all branches together."""
    return reduce(common, [value.type for value in values])


def _written(kind: EclType, values: Sequence[tuple[str, Node, Scalar]]) -> Scalar:
    """Returns the choice as Spark SQL; where nothing holds it is blank."""
    whens, last = [], blank_text(kind)
    for condition, node, value in values:
        text = as_type(node, value, kind).text
        if condition:
            whens.append(f"WHEN {condition} THEN {text}")
        else:
            last = text
    return Scalar(f"(CASE {' '.join(whens)} ELSE {last} END)" if whens else last, kind)


CHOICES: Mapping[str, Choice] = {
    "if": _if,
    "map": _map,
    "case": _case,
    "choose": _choose,
}
