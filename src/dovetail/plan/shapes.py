"""How Spark carries out a join, in words: what it is told before it starts.

    broadcast         the right side goes to every task: LOOKUP, ALL
    shuffle, hash     rows of a key come together, one side is hashed: HASH
    shuffle, merge    rows of a key come together, both sorted: NOSORT, PARTITION, SKEW
    Spark's choice    whichever is cheaper, as sizes say: no option, SMART, FEW

Spark changes its mind where it must: what it broadcasts is the side that may be lost.
"""

from __future__ import annotations

from dovetail import spec
from dovetail.plan.words import paragraphs

_BROADCAST = (
    "the right side is broadcast to every task, the left side stays where it is"
)
_SHUFFLED = "both sides are shuffled by their keys"
_WAYS = {
    spec.Strategy.LOOKUP: _BROADCAST,
    spec.Strategy.MANY_LOOKUP: _BROADCAST,
    spec.Strategy.ALL: _BROADCAST,
    spec.Strategy.HASH: f"{_SHUFFLED}, one is hashed, none is sorted",
    spec.Strategy.SORT_MERGE: f"{_SHUFFLED}, sorted and merged",
    spec.Strategy.KEYED: "the right rows that may match are read by the index where "
    "it is written, else as Spark chooses",
}
_CHOSEN = "as Spark chooses: a side that is small is broadcast, else "
_SETS = "rows of a key come together from all sets in one shuffle each"
BROADCAST = frozenset(
    {spec.Strategy.LOOKUP, spec.Strategy.MANY_LOOKUP, spec.Strategy.ALL}
)


def on_spark(join: spec.JoinSpec | spec.SetJoinSpec) -> str:
    """Returns how Spark joins."""
    if isinstance(join, spec.SetJoinSpec):
        return _SETS
    way = _WAYS.get(join.picks.strategy)
    if way is None:
        both = f"{_SHUFFLED}, sorted and merged"
        way = _CHOSEN + (both if join.hard else "every row meets every other")
    return f"{way}{_counting(join.picks)}"


def explained_program(program: spec.Program) -> str:
    """Returns what each join of a program does, and what its options became."""
    lines: list[tuple[str, str]] = []
    for step in spec.steps_of(program):
        if isinstance(step, spec.Joined | spec.SetJoined):
            lines += [("join", step.told.title), *step.told.options]
            lines.append(("on Spark", on_spark(step.join)))
    for output in program.outputs:
        lines.append(
            ("output", f"{output.name}: {', '.join(output.step.schema.names)}")
        )
    for built in program.builds:
        keys = ", ".join(built.index.keys)
        lines.append(("build", f"{built.index.file}: an index by {keys}"))
    lines += [("remark", remark) for remark in program.remarks]
    return paragraphs(lines)


def _counting(picks: spec.Picks) -> str:
    """Returns what a count of candidates adds."""
    match picks.at_most, picks.limit, picks.asof:
        case (spec.AtMost(), _, _) | (_, spec.Limit(), _):
            return "; candidates are counted in a window of their key"
        case _, _, spec.AsOf():
            return "; the nearest is found among sorted rows"
        case _:
            return ""
