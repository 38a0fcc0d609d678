"""Laws about joins of several sets."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail import spec
from dovetail.expression import ALWAYS, kinds
from dovetail.schema import Column
from dovetail.spec.arguments import with_article
from dovetail.spec.rules.rule import Finding, SetRule


def unknown_sets(join: spec.SetJoinSpec, inputs: spec.Inputs) -> Iterator[Finding]:
    """Gives the sets that are not there, or that there are none."""
    if not join.sets:
        yield Finding("a join of no sets", "at least one")
    for name in join.sets:
        if name not in inputs:
            yield Finding(
                f'a set is "{name}"',
                f"one of {', '.join(inputs) or 'the inputs: there is none'}",
            )


def unknown_steps(join: spec.SetJoinSpec, inputs: spec.Inputs) -> Iterator[Finding]:
    """Gives the stepped columns that a set does not have."""
    for name in join.sets:
        schema = inputs[name].schema
        for column in join.stepped:
            if schema.columns and column not in schema:
                yield Finding(
                    (f'"{column}" in ', "stepped", f' is no column of "{name}"'),
                    f"one of {', '.join(schema.names)}",
                )


def unknown_set_columns(
    join: spec.SetJoinSpec, inputs: spec.Inputs
) -> Iterator[Finding]:
    """Gives the references to columns that none of the sets has."""
    known = _known_columns(join, inputs)
    selected = [(f'select of "{name}"', item) for name, item in join.select.columns]
    for place, expression in (("pair_condition", join.pair_condition), *selected):
        for reference in spec.references(expression):
            if known and reference.column.lower() not in map(str.lower, known):
                yield Finding(
                    (f'"{reference}" in ', place, " names no column"),
                    f"one of {', '.join(known)}",
                )


def types_that_do_not_meet(
    join: spec.SetJoinSpec, inputs: spec.Inputs
) -> Iterator[Finding]:
    """Gives the columns of one name that no type holds in all sets."""
    every: dict[str, list[tuple[str, Column]]] = {}
    for name in join.sets:
        for column in inputs[name].schema.columns:
            every.setdefault(column.name.lower(), []).append((name, column))
    for some in every.values():
        if kinds.widest_without_texts([one.type for _, one in some]) is None:
            told = ", ".join(f"{one.type} in {name}" for name, one in some)
            yield Finding(
                f'the column "{some[0][1].name}" is {told}',
                "types of which one holds the others",
                "give them other names, or CAST one before the join",
            )


def unknown_order(join: spec.SetJoinSpec, inputs: spec.Inputs) -> Iterator[Finding]:
    """Gives the columns of `sorted` that neither come out nor are there."""
    # Rows are sorted behind the transform, so what comes out counts as well.
    known = _known_columns(join, inputs)
    names = (*(name for name, _ in join.select.columns), *known)
    for column in join.ordered_by:
        if known and column.lower() not in map(str.lower, names):
            yield Finding(
                (f'"{column}" in ', "sorted", " names no column"),
                f"one of {', '.join(dict.fromkeys(names))}",
            )


def bounds_without_sense(join: spec.SetJoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives numbers of sets that no key can have, or that nobody asks for."""
    kind = with_article(join.kind.value)
    found = f"min {join.least} and max {join.most} in {kind} join"
    # Of other kinds 0 is unsaid; of this one a most of 0 means all of the sets.
    if join.kind is not spec.SetKind.M_OF_N:
        if join.least or join.most:
            yield Finding(found, "neither of them", "they belong to mofn")
    elif not 1 <= join.least <= (join.most or len(join.sets)):
        yield Finding(found, "1 <= min <= max")


def conditions_of_some(join: spec.SetJoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives a condition on pairs where any of the sets may be missing."""
    # Rows of two sets are neighbours only where nothing between them is missing.
    if join.kind is spec.SetKind.M_OF_N and join.pair_condition != ALWAYS:
        yield Finding(
            ("the ", "pair_condition", f' "{join.pair_condition}" in a mofn join'),
            "stepped keys alone",
            "write it as rows_condition or skip_when",
        )


def repeated_set_names(join: spec.SetJoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives the output columns that have the name of one before them."""
    seen: set[str] = set()
    for name, _expression in join.select.columns:
        if name.lower() in seen:
            yield Finding(
                f'the output column "{name}" stands twice', "one of each name"
            )
        seen.add(name.lower())


def _known_columns(join: spec.SetJoinSpec, inputs: spec.Inputs) -> tuple[str, ...]:
    """Returns the columns of all sets, none where a schema is missing."""
    schemas = [inputs[name].schema for name in join.sets]
    # Of a set without a schema any column may be one.
    if not all(schema.columns for schema in schemas):
        return ()
    return tuple(dict.fromkeys(name for schema in schemas for name in schema.names))


RULES = (
    SetRule("known_set", "every set is an input that is there", unknown_sets),
    SetRule("stepped_columns", "every set has the stepped columns", unknown_steps),
    SetRule(
        "set_columns",
        "every l.column and r.column is one of a set",
        unknown_set_columns,
    ),
    SetRule(
        "set_types",
        "columns of one name have types that meet in one",
        types_that_do_not_meet,
    ),
    SetRule("sorted_columns", "sorted names columns that are there", unknown_order),
    SetRule(
        "mofn_bounds",
        "mofn has 1 <= min <= max, other kinds none",
        bounds_without_sense,
    ),
    SetRule("mofn_condition", "mofn matches by stepped keys alone", conditions_of_some),
    SetRule(
        "set_output_names",
        "no two output columns have the same name",
        repeated_set_names,
    ),
)
