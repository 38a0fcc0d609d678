"""What would become of a join: its plan in words, and which engines can run it.

A case is explained without its rows being played: what an engine lacks is found from
the features that the join, its inputs and its events use.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import assert_never

from dovetail import spec
from dovetail.conformance.chains import TableChain
from dovetail.conformance.engines import EngineName
from dovetail.conformance.flows import FlowPlay, JoinPlay, RowTimeText
from dovetail.conformance.local.refusals import refuse
from dovetail.conformance.oracle import inputs_of, joined_alone
from dovetail.conformance.oracle.refusals import refuse as refuse_oracle
from dovetail.errors import UnsupportedError
from dovetail.plan import batch, stream
from dovetail.plan.words import (
    Line,
    described,
    output_line,
    paragraphs,
    reads_of,
    switched,
    title_of_sets,
)
from dovetail.spec.defaults import complete


@dataclass(frozen=True, slots=True)
class Answer:
    """Whether an engine can run a play, and how, or what it lacks."""

    engine: EngineName
    runs: bool
    reason: str


def explained(play: spec.Play) -> str:
    """Returns the plan of a play as paragraphs, and a line for each engine."""
    lines = [*_described(play.join, play), *switched(play.settings)]
    for answer in answers(play):
        word = "yes" if answer.runs else "not yet"
        lines.append((f"on {answer.engine.value}", f"{word}: {answer.reason}"))
    return paragraphs(lines)


def explained_text(text: JoinPlay | FlowPlay) -> str:
    """Returns the plan of each join of a text, what comes out, and the remarks."""
    program = text.program
    lines = [*map(output_line, program.outputs)]
    lines += [("remark", remark) for remark in program.remarks]
    if isinstance(text, JoinPlay):
        return "\n".join((explained(text.play), paragraphs(lines)))
    # A join of several ports is one join, whose plan is told once.
    joins = {
        id(step.join): step
        for step in spec.steps_of(program)
        if isinstance(step, spec.Joined)
    }
    plans = (
        f"join {step.told.title}\n{explained(joined_alone(step))}"
        for step in joins.values()
    )
    try:
        count = len(text.queries)
        word = f"yes: {count} quer{'y' if count == 1 else 'ies'}"
    except UnsupportedError as error:
        word = f"not yet: {', '.join(error.missing)}"
    # Whether streams of Spark run the text as a whole, beside each of its joins.
    return "\n\n".join((*plans, paragraphs([*lines, ("on stream", word)])))


def explained_in_row_time(text: RowTimeText) -> str:
    """Returns the plan of each join of a text in row time, and what comes out."""
    program = text.play.program
    plans = [
        paragraphs([*_described(join, spec.Play(join, known))])
        for step in spec.steps_of(program)
        if isinstance(step, spec.JoinedInRowTime)
        for known in [inputs_of(step, text.play.inputs)]
        for join in [complete(step.join, known)]
    ]
    joins = (
        spec.Play(complete(spec.whole_join(step) or step.join, known), known)
        for step in spec.steps_of(program)
        if isinstance(step, spec.JoinedInRowTime)
        for known in [{**text.play.inputs, **inputs_of(step, text.play.inputs)}]
    )
    lines = [*map(output_line, program.outputs)]
    lines.append(_on_stream(joins, len(program.outputs)))
    return "\n\n".join((*plans, paragraphs(lines)))


def explained_chain(chain: TableChain) -> str:
    """Returns the plan of each join of a chain, the last one first."""
    output = output_line(spec.Output(chain.name, chain.step))
    lines = [output, _on_stream([chain.whole()], 1)]
    plans = (
        paragraphs([*_described(join, spec.Play(join, inputs))])
        for join, inputs in chain.joins()
    )
    return "\n\n".join((*plans, paragraphs(lines)))


def _on_stream(plays: Iterable[spec.Play], count: int) -> Line:
    """Returns whether streams of Spark run these joins, as their plans say."""
    try:
        for play in plays:
            stream.plan_play(play)
    except UnsupportedError as error:
        return "on stream", f"not yet: {', '.join(error.missing)}"
    return "on stream", f"yes: {count} quer{'y' if count == 1 else 'ies'}"


def answers(play: spec.Play) -> Iterator[Answer]:
    """Yields for each engine whether it can run the play, the quickest first."""
    # They stand there from the quickest to the slowest.
    for engine in EngineName:
        try:
            yield Answer(engine, runs=True, reason=_way(engine, play))
        except UnsupportedError as error:
            yield Answer(engine, runs=False, reason=", ".join(error.missing))


def _described(
    join: spec.JoinSpec | spec.SetJoinSpec, play: spec.Play
) -> Iterator[Line]:
    """Gives headings and sentences; the joins inside follow the one they feed."""
    if isinstance(join, spec.SetJoinSpec):
        yield "join", title_of_sets(join)
        return
    yield from described(
        join,
        {
            hand: spec.known_input(join.side(hand).source, play.inputs)
            for hand in spec.HANDS
        },
    )
    for hand in spec.HANDS:
        match join.side(hand).source:
            case spec.Nested(inner):
                yield "", ""
                yield f"{hand.value} is", "a join of its own:"
                yield from _described(inner, play)
            case spec.Named():
                pass


def _way(engine: EngineName, play: spec.Play) -> str:
    """Returns how an engine plays a join; one that cannot refuses it."""
    match engine:
        case EngineName.ORACLE:
            # Of a join of several sets it refuses nothing.
            if isinstance(play.join, spec.JoinSpec):
                refuse_oracle(play, play.join)
            return "the definition, over plain rows"
        case EngineName.LOCAL:
            if isinstance(play.join, spec.JoinSpec):
                refuse(play)
            return "the kernels, event by event, without Spark"
        case EngineName.BATCH:
            cost = batch.plan_play(play).cost
            return f"one native Spark plan; no row passes through Python{cost}"
        case EngineName.STREAM:
            from dovetail.engines.kernel_settings import (  # noqa: PLC0415
                stream_settings,
            )

            plan = stream.plan_play(play)
            reads = reads_of(plan, stream_settings(plan).reads_all)
            reason = plan.spread.reason
            return f"a stateful operator on Spark; {reason}; a batch {reads}"
        case _ as unknown:
            assert_never(unknown)
