"""Laws about what comes out: names, ports, and what may be selected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dovetail import spec
from dovetail.expression import Expression
from dovetail.schema import AtomicType
from dovetail.spec.arguments import with_article
from dovetail.spec.rules.rule import Finding, JoinRule

# By how many sides the kind preserves: each has a port of its own, or none has.
_PORTS: Mapping[int, tuple[int, ...]] = {0: (1,), 1: (1, 2), 2: (1, 3)}
_WINDOW_NAMES = ("window_start", "window_end")


def repeated_names(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives the output columns that have the name of one before them."""
    # All columns of both sides need no look: of a name that both have one is left.
    seen: set[str] = set()
    for name, _expression in _selected(join):
        if name.lower() in seen:
            yield Finding(
                f'the output column "{name}" stands twice',
                "one of each name, whatever the case",
                f'call the second "{name}_1"',
            )
        seen.add(name.lower())


def ports_of_other_kinds(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives a number of ports that the kind has no rows for."""
    preserved = sum(join.kind.preserves(hand) for hand in spec.HANDS)
    allowed = _PORTS[preserved]
    if join.ports not in allowed:
        yield Finding(
            f"{join.ports} ports for {with_article(join.kind.value)} join",
            " or ".join(map(str, allowed)),
            "every preserved side has a port of its own, or none has",
        )


def ports_inside(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives joins inside others whose unmatched rows would leave by a port."""
    for hand in spec.HANDS:
        match join.side(hand).source:
            case spec.Nested(spec.JoinSpec(ports=ports)) if ports > 1:
                yield Finding(
                    f"the {hand.value} side is a join with {ports} ports",
                    "one port: its rows go to the join around it",
                )
            case _:
                pass


def window_bounds_without_windows(
    join: spec.JoinSpec, _: spec.Inputs
) -> Iterator[Finding]:
    """Gives the bounds of windows that are asked for where windows have no size."""
    # Either side says it: another law wants both to have the same windows.
    if join.side(spec.Hand.LEFT).window.hop_length != spec.NO_TIME:
        return
    for name, expression in (*_selected(join), ("skip_when", join.picks.skip_when)):
        for word in _WINDOW_NAMES:
            if word in spec.bare_names(expression):
                yield Finding(
                    f'"{name}" is {word}',
                    "windows of size and every on both sides",
                    'write "window": {"hop": {"size": .., "every": ..}}',
                )


def transforms_without_use(join: spec.JoinSpec, _: spec.Inputs) -> Iterator[Finding]:
    """Gives a limit that has a transform and does not use it, or the reverse."""
    limit = join.picks.limit
    if not isinstance(limit, spec.Limit):
        return
    if (limit.on_exceed is spec.OnExceed.TRANSFORM) != bool(limit.transform):
        has = "a" if limit.transform else "no"
        yield Finding(
            f"{has} transform where on_exceed is {limit.on_exceed.value}",
            "a transform where on_exceed is transform, and only there",
        )


def transforms_of_other_columns(
    join: spec.JoinSpec, inputs: spec.Inputs
) -> Iterator[Finding]:
    """Gives the columns of a limit's transform that do not come out."""
    # Its row stands among the others, so it has their columns, or null in them.
    known = spec.output_names(join, inputs)
    for name, _ in join.picks.stand_in if known else ():
        if name.lower() not in map(str.lower, known):
            yield Finding(
                f'the transform of limit gives "{name}"', f"one of {', '.join(known)}"
            )


def transforms_of_other_types(
    join: spec.JoinSpec, inputs: spec.Inputs
) -> Iterator[Finding]:
    """Gives the values of a limit's transform that their columns do not hold."""
    # What fits has been cast: the column would change for all other rows.
    for name, kind, own in spec.stand_ins(join, inputs):
        if own.type not in {kind, AtomicType.NULL}:
            found = f'"{own.text}" in ', f'transform of "{name}"', f" is {own.type}"
            yield Finding(
                (*found, "", f", and the column is {kind}"),
                f"{kind}, or what fits into it",
                f'write "CAST({own.text} AS {kind})", or select the column in a type '
                "that holds both",
            )


def _selected(join: spec.JoinSpec) -> tuple[tuple[str, Expression], ...]:
    """Returns the columns that are selected by name."""
    return join.select.columns if isinstance(join.select, spec.Columns) else ()


RULES = (
    JoinRule(
        "output_names", "no two output columns have the same name", repeated_names
    ),
    JoinRule(
        "ports",
        "unmatched rows have a port for each preserved side, or none",
        ports_of_other_kinds,
    ),
    JoinRule(
        "inner_ports",
        "a join inside another gives all its rows to that one",
        ports_inside,
    ),
    JoinRule(
        "window_bounds",
        "window_start and window_end are those of windows of size and every",
        window_bounds_without_windows,
    ),
    JoinRule(
        "limit_transform",
        "a limit has a transform exactly where on_exceed says so",
        transforms_without_use,
    ),
    JoinRule(
        "transform_columns",
        "a limit's transform gives output columns",
        transforms_of_other_columns,
    ),
    JoinRule(
        "transform_types",
        "a limit's transform gives values of the types of their columns",
        transforms_of_other_types,
    ),
)
