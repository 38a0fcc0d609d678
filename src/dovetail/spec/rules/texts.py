"""Laws about each expression of a join, of two sides or of several sets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain

from dovetail import spec
from dovetail.expression import Expression
from dovetail.expression.changing import changing
from dovetail.expression.syntax import value_and_name
from dovetail.spec.rules.columns import one_sided, over_bare_columns, pair_expressions
from dovetail.spec.rules.rule import Finding, TextRule

Text = tuple[str, Expression, Sequence[str]]
"""An expression at its place, and which columns stand bare in it."""


UNSTEADY = (
    "is another value each time it is asked",
    "a value that is found again where a run goes on, or is repeated",
    "have it in the rows as they are stored, or compute it behind the join",
)
"""What is told of chance and of the clock, what is expected, and what helps."""


def texts_of(
    join: spec.JoinSpec | spec.SetJoinSpec, inputs: spec.Inputs
) -> Iterator[Text]:
    """Gives every expression of a join, those of joins inside first."""
    if isinstance(join, spec.SetJoinSpec):
        yield "pair_condition", join.pair_condition, ()
        yield "rows_condition", join.rows_condition, ()
        yield "skip_when", join.skip_when, ()
        for name, expression in join.select.columns:
            yield f'select of "{name}"', expression, ()
        return
    for side in (join.left, join.right):
        if isinstance(side.source, spec.Nested):
            yield from texts_of(side.source.join, inputs)
        known = spec.columns_of(side.source, inputs)
        yield from ((*place, known) for place in over_bare_columns(side))
    sides = chain.from_iterable(one_sided(join, hand) for hand in spec.HANDS)
    yield from ((*place, ()) for place in chain(sides, pair_expressions(join)))


def named_by_themselves(
    place: str, expression: Expression, _: Sequence[str]
) -> Iterator[Finding]:
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


def changing_values(
    place: str, expression: Expression, columns: Sequence[str]
) -> Iterator[Finding]:
    """Gives an expression of chance or of the clock: a join would differ each time.

    What comes out may say when that was: nothing is decided by it.
    """
    shows = place.startswith("select of")
    if name := changing(expression.text, columns, but_clock=shows):
        inside = "" if expression.text.strip() == name else f" names {name}, which"
        found = f'"{expression}" in ', place, f"{inside} {UNSTEADY[0]}"
        yield Finding(found, *UNSTEADY[1:])


RULES = (
    TextRule("own_name", "an expression has no name of its own", named_by_themselves),
    TextRule(
        "steady_values", "a value is the same each time it is asked", changing_values
    ),
)
