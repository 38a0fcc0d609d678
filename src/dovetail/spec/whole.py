"""Which of a program's steps are joins: one with those inside it, or changes of tables.

What is one join of inputs is played, and planned, as any other one; what stands behind
a join of tables is told of its changes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

from dovetail.spec.inputs import Input, InputKind, Outlet
from dovetail.spec.join import HANDS, Hand, JoinSpec, Named, Nested, Side
from dovetail.spec.program import (
    Given,
    Inline,
    Joined,
    JoinedInRowTime,
    Output,
    Program,
    Step,
    sources_of,
    steps_of,
)


def one_join(program: Program, *, ends: bool = False) -> JoinSpec | None:
    """Returns the join that gives all that comes out, or None where there is none.

    `ends`: inputs of it are finished. Of a join inside another one SPL freezes then the
    window outside, of which a join that holds another knows nothing.
    """
    first, *others = [one.step for one in program.outputs]
    if not isinstance(first, Joined) or any(
        not isinstance(one, Joined) or one.join is not first.join for one in others
    ):
        return None
    # Filters, functors and streams that run together are no part of a join.
    whole = _nested(first)
    if whole is None:
        return None
    leaves = [*_leaves(first)]
    steps = steps_of(program)
    joins = {id(one.join) for one in steps if isinstance(one, Joined)}
    # A stream that comes to two joins has no order there that a join alone would know.
    is_shared = len({*leaves}) < len(leaves)
    return None if len(joins) > 1 and (is_shared or ends) else whole


def plain_join(step: Step) -> JoinSpec | None:
    """Returns the join that a step is, of inputs as they are; None of any other."""
    if isinstance(step, JoinedInRowTime) and all(
        isinstance(one.step, Given | Inline) for one in step.inputs
    ):
        return step.join
    return None


def inline_inputs(step: Step) -> Mapping[str, Input]:
    """Returns the data sets that stand in a text, by their names in its joins."""
    return {
        one.name: Input(one.name, InputKind.DATASET, one.step.schema)
        for it in steps_of(Program((Output("", step),)))
        if isinstance(it, JoinedInRowTime)
        for one in it.inputs
        if isinstance(one.step, Inline)
    }


def whole_join(step: Step) -> JoinSpec | None:
    """Returns a join that takes changes of others with those inside; else None."""
    if not isinstance(step, JoinedInRowTime):
        return None
    inside = dict[str, Nested]()
    for one in step.inputs:
        if isinstance(one.step, Given | Inline):
            continue
        inner = whole_join(one.step)
        if inner is None or not one.key:
            return None
        inside[one.name] = Nested(inner, one.name, one.key)

    def nested(_: Hand, side: Side) -> Side:
        if isinstance(side.source, Named) and side.source.name in inside:
            return replace(side, source=inside[side.source.name])
        return side

    return step.join.with_sides(nested)


def tells_changes(step: Step) -> bool:
    """Tells whether what comes out says of each row what it does to a table."""
    return any(
        isinstance(it, JoinedInRowTime) and bool(it.change)
        for it in steps_of(Program((Output("", step),)))
    )


def takes_changes(step: Step) -> bool:
    """Tells whether a join takes the changes of a table that a join keeps."""
    return any(
        one.key and not isinstance(one.step, Given)
        for it in steps_of(Program((Output("", step),)))
        if isinstance(it, JoinedInRowTime)
        for one in it.inputs
    )


def _leaves(step: Step) -> Iterator[str]:
    """Yields the inputs below a step, each as often as it is taken."""
    if isinstance(step, Given):
        yield step.input
    for source in sources_of(step):
        yield from _leaves(source)


def _nested(step: Joined) -> JoinSpec | None:
    """Returns a join with what stands below it inside, None where that is no join."""
    sources: dict[Hand, Named | Nested] = {}
    for hand, source in zip(HANDS, (step.left, step.right), strict=True):
        match source:
            case Given():
                sources[hand] = Named(source.input)
            case Joined(join=join, outlet=Outlet.MATCHED) if join.ports == 1:
                inner = _nested(source)
                if inner is None:
                    return None
                sources[hand] = Nested(inner, f"{hand.value} join")
            case _:
                return None
    return step.join.with_sides(lambda hand, side: replace(side, source=sources[hand]))
