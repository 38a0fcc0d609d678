"""Laws about columns: every one that an expression names is there, on its side."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from dovetail import spec
from dovetail.errors import SchemaError, SpecError
from dovetail.expression import PAIR_NAMES, is_comparable
from dovetail.expression.changing import TIMES_NOW
from dovetail.expression.syntax import syntax
from dovetail.schema import AtomicType, Schema, read_value
from dovetail.spec.rules.rule import Finding, JoinRule, Place

_UNKNOWN = Schema(())
# A null by itself is an unknown truth, and as good a condition as any.
_TRUTHS = (AtomicType.BOOLEAN, AtomicType.NULL)
_CALLED_BARE = {*TIMES_NOW, "current_user", "session_user", "user"}
"""What Spark computes without parentheses behind the name."""


def unknown_columns(join: spec.JoinSpec, inputs: spec.Inputs) -> Iterator[Finding]:
    """Gives the references to columns that a side does not have."""
    columns = {
        hand: spec.columns_of(join.side(hand).source, inputs) for hand in spec.HANDS
    }
    # In the order of a text of a join, which is that of what is told first.
    sides = (place for hand in spec.HANDS for place in one_sided(join, hand))
    for place, expression in chain(sides, pair_expressions(join)):
        for reference in spec.references(expression):
            # Empty where no schema is known: then nothing can be said.
            known = columns[reference.hand]
            if known and not _is_one_of(reference.column, known):
                yield Finding(
                    (f'"{reference}" in ', place, " names no column"),
                    f"one of {', '.join(known)}",
                )


def unknown_bare_columns(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives the bare columns of a pair, which has none but ours."""
    # In more than a name a bare one may be the parameter of a lambda.
    for place, expression in pair_expressions(join):
        column = spec.plain_column(expression)
        if column and column not in PAIR_NAMES and column.lower() not in _CALLED_BARE:
            yield Finding(
                (f'there is no column "{column}" for ', place),
                f"a column of l or r, or one of {', '.join(PAIR_NAMES.names)}",
                f"a variable of Spark's session is session.{column}",
            )


def keys_that_never_meet(join: spec.JoinSpec, inputs: spec.Inputs) -> Iterator[Finding]:
    """Gives the equalities of types of which no two values are equal or not."""
    # Of which types meet in which the engines know more.
    for equality in join.hard:
        types = [
            kind
            for one in (equality.left, equality.right)
            for kind in spec.known_types(one, join, inputs)
        ]
        if len(types) == len(spec.HANDS) and not all(map(is_comparable, types)):
            left, right = types
            yield Finding(f'"=" does not take ({left}, {right})', "comparable types")


def unknown_own_columns(join: spec.JoinSpec, inputs: spec.Inputs) -> Iterator[Finding]:
    """Gives the bare columns that their own side does not have."""
    for hand in spec.HANDS:
        side = join.side(hand)
        known = spec.columns_of(side.source, inputs)
        for place, expression in over_bare_columns(side):
            column = spec.plain_column(expression)
            if known and column and not _is_one_of(column, known):
                yield Finding(
                    (
                        f'"{column}" in ',
                        place,
                        f" names no column of the {hand.value} side",
                    ),
                    f"one of {', '.join(known)}",
                )


def one_sided_that_are_not(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives the expressions of one side that name a column of the other."""
    # Such an expression is a key: it is computed before there is a pair.
    for hand in spec.HANDS:
        for place, expression in one_sided(join, hand):
            for reference in spec.references(expression):
                if reference.hand is not hand:
                    yield Finding(
                        (f'"{reference}" in ', place),
                        f"columns of the {hand.value} side only",
                    )


def semi_selects_of_both(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives the columns of the other side that a semi join selects."""
    own = [hand for hand in spec.HANDS if join.kind.gives_once(hand)]
    # All columns of a semi join are those of its own side already.
    if not own or not isinstance(join.select, spec.Columns):
        return
    for name, expression in join.select.columns:
        for reference in spec.references(expression):
            if reference.hand is not own[0]:
                yield Finding(
                    f'"{name}" is "{reference}" in a {join.kind.value} join',
                    f"columns of the {own[0].value} side only",
                    "a semi join gives the rows of one side",
                )


def unreadable_conditions(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives the conditions that are no expressions, whatever functions there are."""
    # Among others they would be others: `a) or (b` closes what it has not opened.
    for place, condition in _conditions(join):
        try:
            syntax(condition.text)
        except SpecError as error:
            why = error.found.removeprefix(f'"{condition}" ')
            found = f'"{condition}" in ', place, f" {why}"
            yield Finding(found, error.expected, error.hint)


def conditions_of_other_types(
    join: spec.JoinSpec, inputs: spec.Inputs
) -> Iterator[Finding]:
    """Gives the conditions that are neither true nor false."""
    # Spark takes a number for a truth in some places and not in others: none is one.
    for place, condition in _conditions(join):
        for kind in spec.known_types(condition, join, inputs):
            if kind not in _TRUTHS:
                hint = f"compare it, as in ({condition}) <> 0"
                found = f'"{condition}" in ', place, f" is {kind}"
                yield Finding(found, "a condition: true or false", hint)


def misfit_given_rows(join: spec.JoinSpec, inputs: spec.Inputs) -> Iterator[Finding]:
    """Gives what a given row says of columns that are not there or of other types."""
    for hand in spec.HANDS:
        absent = join.absent(hand)
        if not isinstance(absent, spec.GivenRow):
            continue
        columns = spec.columns_of(join.side(hand).source, inputs)
        for name, value in absent.values:
            title, field = f'"{name}" of ', f"default_{hand.value}"
            if columns and not _is_one_of(name, columns):
                found = title, field, f" is no column of the {hand.value} side"
                yield Finding(found, f"one of {', '.join(columns)}")
                continue
            source = join.side(hand).source
            schema = (
                inputs[source.name].schema
                if isinstance(source, spec.Named)
                else _UNKNOWN
            )
            # Of the rows of another join the types are known when it has been planned.
            if name in schema:
                try:
                    read_value(value, schema[name].type, title + field)
                except SchemaError as error:
                    inside, _, told = error.found.partition(title + field)
                    found = inside + title, field, told
                    yield Finding(found, error.expected, error.hint)


def _conditions(join: spec.JoinSpec) -> Iterator[Place]:
    """Gives what is true or false of a pair, or of a row, with its place."""
    yield "soft", join.soft
    yield "left_condition", join.picks.left_condition
    yield "skip_when", join.picks.skip_when


def pair_expressions(join: spec.JoinSpec) -> Iterator[Place]:
    """Gives the expressions over both rows of a pair with their places."""
    yield "soft", join.soft
    yield "skip_when", join.picks.skip_when
    if isinstance(join.select, spec.Columns):
        yield from ((f'select of "{name}"', item) for name, item in join.select.columns)
    stand_in = join.picks.stand_in
    yield from ((f'transform of "{name}"', item) for name, item in stand_in)


def over_bare_columns(side: spec.Side) -> Iterator[Place]:
    """Gives the expressions that name columns of their side bare."""
    yield from (("partition_by", expression) for expression in side.partition_by)
    yield from ((side.window.word, expression) for expression in side.window.measures)


def one_sided(join: spec.JoinSpec, hand: spec.Hand) -> Iterator[Place]:
    """Gives the expressions that are over one side of a pair."""
    for equality in join.hard:
        yield "hard", equality.left if hand is spec.Hand.LEFT else equality.right
    if hand is spec.Hand.LEFT:
        yield "left_condition", join.picks.left_condition
    for pick in (join.picks.asof, join.picks.at_most):
        for left, right in pick.compared:
            yield pick.word, left if hand is spec.Hand.LEFT else right


def _is_one_of(name: str, known: tuple[str, ...]) -> bool:
    """Tells whether a name is among those known, without regard to case."""
    return name.lower() in map(str.lower, known)


RULES = (
    JoinRule(
        "known_columns",
        "every l.column and r.column is a column of its side",
        unknown_columns,
    ),
    JoinRule(
        "known_bare_columns",
        "a bare column of a pair is one that every pair has",
        unknown_bare_columns,
    ),
    JoinRule(
        "known_own_columns",
        "every bare column of a window is a column of its side",
        unknown_own_columns,
    ),
    JoinRule(
        "one_side",
        "an expression of one side names columns of that side only",
        one_sided_that_are_not,
    ),
    JoinRule(
        "semi_select", "a semi join selects from its own side", semi_selects_of_both
    ),
    JoinRule("key_type", "keys are of comparable types", keys_that_never_meet),
    JoinRule("condition_text", "a condition is an expression", unreadable_conditions),
    JoinRule(
        "condition_type", "a condition is true or false", conditions_of_other_types
    ),
    JoinRule(
        "given_row",
        "a given row has columns of its side with values of their types",
        misfit_given_rows,
    ),
)
