"""How Spark carries out a join, in words: what it is told before it starts.

    broadcast         the right side goes to every task: LOOKUP, ALL
    shuffle, hash     rows of a key come together, one side is hashed: HASH
    shuffle, merge    rows of a key come together, both sorted: NOSORT, PARTITION, SKEW
    Spark's choice    whichever is cheaper, as sizes say: no option, SMART, FEW

Spark changes its mind where it must: what it broadcasts is the side that may be lost.
"""

from __future__ import annotations

from dovetail.plan.words import paragraphs
from dovetail.spec.join import JoinSpec, SetJoinSpec
from dovetail.spec.picks import AsOf, AtMost, Limit, Picks, Strategy
from dovetail.spec.program import Joined, Program, SetJoined, steps_of

_BROADCAST = (
    "the right side is broadcast to every task, the left side stays where it is"
)
_SHUFFLED = "both sides are shuffled by their keys"
_WAYS = {
    Strategy.LOOKUP: _BROADCAST,
    Strategy.MANY_LOOKUP: _BROADCAST,
    Strategy.ALL: _BROADCAST,
    Strategy.HASH: f"{_SHUFFLED}, one is hashed, none is sorted",
    Strategy.SORT_MERGE: f"{_SHUFFLED}, sorted and merged",
    Strategy.KEYED: "the right rows that may match are read by the index where it is "
    "written, else as Spark chooses",
}
_CHOSEN = "as Spark chooses: a side that is small is broadcast, else "
_SETS = "rows of a key come together from all sets in one shuffle each"
BROADCAST = frozenset({Strategy.LOOKUP, Strategy.MANY_LOOKUP, Strategy.ALL})


def on_spark(join: JoinSpec | SetJoinSpec) -> str:
    """Returns how Spark joins."""
    if isinstance(join, SetJoinSpec):
        return _SETS
    way = _WAYS.get(join.picks.strategy)
    if way is None:
        both = f"{_SHUFFLED}, sorted and merged"
        way = _CHOSEN + (both if join.hard else "every row meets every other")
    return f"{way}{_counting(join.picks)}"


def explained_program(program: Program) -> str:
    """Returns what each join of a program does, and what its options became."""
    lines: list[tuple[str, str]] = []
    for step in steps_of(program):
        if isinstance(step, Joined | SetJoined):
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


def _counting(picks: Picks) -> str:
    """Returns what a count of candidates adds."""
    match picks.at_most, picks.limit, picks.asof:
        case (AtMost(), _, _) | (_, Limit(), _):
            return "; candidates are counted in a window of their key"
        case _, _, AsOf():
            return "; the nearest is found among sorted rows"
        case _:
            return ""
