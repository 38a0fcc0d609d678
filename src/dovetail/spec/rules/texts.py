"""Laws about each expression of a join, of two sides or of several sets."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail import spec
from dovetail.expression import Expression
from dovetail.expression.syntax import value_and_name
from dovetail.spec.rules.columns import one_sided, over_bare_columns, pair_expressions
from dovetail.spec.rules.rule import Finding, Place, TextRule


def texts_of(join: spec.JoinSpec | spec.SetJoinSpec) -> Iterator[Place]:
    """Gives every expression of a join with its place, those of joins inside first."""
    if isinstance(join, spec.SetJoinSpec):
        yield "pair_condition", join.pair_condition
        yield "rows_condition", join.rows_condition
        yield "skip_when", join.skip_when
        yield from ((f'select of "{name}"', one) for name, one in join.select.columns)
        return
    for hand in spec.HANDS:
        source = join.side(hand).source
        if isinstance(source, spec.Nested):
            yield from texts_of(source.join)
        yield from one_sided(join, hand)
        yield from over_bare_columns(join.side(hand))
    yield from pair_expressions(join)


def named_by_themselves(place: str, expression: Expression) -> Iterator[Finding]:
    """Gives an expression with an alias, which nobody would look at."""
    value, name = value_and_name(expression.text)
    if name:
        _, is_column, column = place.partition(' of "')
        found = f'"{expression}" in ', place, f' has the name "{name}" of its own'
        hint = f'write "{value}" alone'
        if is_column:
            column = column.removesuffix('"')
            hint = f'write {{"{column}": "{value}"}}, or {{"{name}": "{value}"}}'
        yield Finding(found, "an expression without a name", hint)


RULES = (
    TextRule("own_name", "an expression has no name of its own", named_by_themselves),
)
