"""Texts whose streams arrive row by row: read, given their events, and played.

Where one join, with joins inside it, gives all that comes out, the text is a play like
any other, and every engine takes it. What is more than that is gone through operator by
operator.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial

from dovetail import schema, spec
from dovetail.conformance import oracle
from dovetail.conformance.case import CaseData
from dovetail.conformance.chains import TableChain
from dovetail.conformance.engines import (
    Each,
    EngineName,
    NamedPlay,
    Split,
    batch_ends,
    played,
)
from dovetail.conformance.lines import MARK, Line, OutletNames, emitted
from dovetail.conformance.programs import ProgramPlay
from dovetail.dialects import lenses, sqlstream
from dovetail.dialects.spl import translate
from dovetail.errors import DovetailError, SpecError, UnsupportedError
from dovetail.plan import flow as planned
from dovetail.spec.fields import Fields, mapping
from dovetail.spec.reader import read_events, read_schema

_NO_COLUMNS = schema.Schema(())


@dataclass(frozen=True, slots=True)
class JoinPlay:
    """A text that is one join, joins inside it perhaps: its play."""

    play: spec.Play
    program: spec.Program

    @property
    def names(self) -> OutletNames:
        """Returns what the text calls each outlet."""
        found = {}
        for one in self.program.outputs:
            match one.step:
                case spec.Joined(outlet=outlet):
                    found[outlet.value] = one.name
                # Such a join has but one outlet that a text can name.
                case spec.JoinedInRowTime():
                    found[spec.Outlet.MATCHED.value] = one.name
                case _:
                    pass
        return found

    def lines(self, engine: EngineName, split: Split) -> list[Line]:
        """Returns what an engine puts out, under the names of the text."""
        names, sight = self.names, engine.sight(split)
        found = played(engine, NamedPlay("a text", self.play), split)
        return [emitted(one, sight, names) for one in found]


@dataclass(frozen=True, slots=True)
class FlowPlay:
    """A program of several operators with the events of its inputs."""

    program: spec.Program
    inputs: spec.Inputs
    opening: tuple[spec.Event, ...]
    events: tuple[spec.Event, ...]

    @property
    def queries(self) -> tuple[planned.Query, ...]:
        """Returns the queries of the program on streams, or refuses it."""
        ends = any(isinstance(one, spec.Finish) for one in self.events)
        return planned.plan_flow(self.program, planned.in_sequence(), ends=ends)

    def lines(self, engine: EngineName) -> list[Line]:
        """Returns what an engine puts out, each row with its output and event."""
        match engine:
            case EngineName.ORACLE:
                players = oracle.Players(oracle.play, oracle.fire)
            case EngineName.LOCAL:
                from dovetail.conformance import local  # noqa: PLC0415 - Arrow is slow

                players = oracle.Players(local.play, local.fire, local.carry_out)
            case _:
                raise UnsupportedError.not_yet(
                    engine.value, "a text that is more than one join"
                )
        found = oracle.play_flow(self.program, self.opening, self.events, players)
        lines = []
        for name, item in found:
            facts: dict[str, object] = {"out": name}
            # What the opening gives comes before event 0, during none of the case.
            if item.place[0] >= 0:
                facts["after"] = item.place[0]
            if isinstance(item.content, oracle.Sign):
                lines.append(Line({}, {**facts, MARK: "window"}))
            else:
                lines.append(Line(item.content, facts))
        return lines


@dataclass(frozen=True, slots=True)
class NamedFlow:
    """A program under the name of its case; `in_order` as that of a `NamedPlay`."""

    name: str
    flow: FlowPlay
    in_order: bool


def streamed(
    flows: Sequence[NamedFlow], split: Split
) -> Iterator[tuple[str, list[Line] | DovetailError]]:
    """Gives what streams of Spark make of programs, by the names of their cases."""
    if not flows:
        return
    from dovetail.conformance.spark_stream.flows import (  # noqa: PLC0415 - Spark
        StreamFlow,
        play_flows,
    )
    from dovetail.engines.spark_session import local_session  # noqa: PLC0415

    wanted = [
        StreamFlow(
            one.name,
            one.flow.program,
            one.flow.inputs,
            one.flow.opening,
            one.flow.events,
            batch_ends(split, len(one.flow.events), one.name),
            stepwise=isinstance(split, Each),
            in_order=one.in_order,
        )
        for one in flows
    ]
    sight = EngineName.STREAM.sight(split)
    for name, found in play_flows(local_session, wanted):
        if isinstance(found, DovetailError):
            yield name, found
            continue
        # A query knows outlets alone: its lines leave under the name of its stream.
        lines = ((stream, emitted(row, sight)) for stream, row in found)
        yield name, [Line(it.row, {**it.facts, "out": stream}) for stream, it in lines]


@dataclass(frozen=True, slots=True)
class RowTimeText:
    """A text whose streams are more than one join, with the events of its inputs."""

    play: oracle.RowTimePlay

    def lines(
        self, engine: EngineName, split: Split, *, tells_late: bool = False
    ) -> list[Line]:
        """Returns what an engine puts out, each row with its output; late ones too.

        Streams of Spark tell them only where somebody wants them.
        """
        if any(spec.tells_changes(one.step) for one in self.play.program.outputs) and (
            any(one.rows for one in self.play.inputs.values())
        ):
            # They give no changes, of which alone groups are made.
            told = "groups of a table that has rows from the start"
            raise UnsupportedError.not_yet(engine.value, told)
        match engine:
            case EngineName.ORACLE:
                fire = partial(oracle.fire, has_marks=False)
                players = oracle.RowTimePlayers(oracle.play, fire, oracle.arrange)
            case EngineName.LOCAL:
                from dovetail.conformance import local  # noqa: PLC0415 - Arrow is slow

                players = oracle.RowTimePlayers(
                    local.play,
                    partial(local.fire, has_marks=False),
                    local.arrange,
                    local.carry_out,
                )
            case EngineName.STREAM:
                from dovetail.conformance.spark_stream import row_time  # noqa: PLC0415
                from dovetail.engines.spark_session import (  # noqa: PLC0415 - Spark
                    local_session,
                )

                names = ", ".join(one.name for one in self.play.program.outputs)
                ends = batch_ends(split, len(self.play.events), names)
                streamed = row_time.play_text(
                    local_session(), self.play, ends, tells_late=tells_late
                )
                return [*map(self._line, streamed)]
            case _:
                raise UnsupportedError.not_yet(
                    engine.value, "a text that is more than one join"
                )
        return [*map(self._line, oracle.play_in_row_time(self.play, players))]

    def _line(self, found: tuple[str, spec.Row]) -> Line:
        """Returns a row that came out with its output, and what it does to a table."""
        name, row = found
        steps = {one.name: one.step for one in self.play.program.outputs}
        # Late rows are of no result.
        if name not in steps or not spec.tells_changes(steps[name]):
            return Line(row, {"out": name})
        own = {it: value for it, value in row.items() if it != spec.CHANGE}
        return Line(own, {"out": name, spec.CHANGE: row[spec.CHANGE]})


@dataclass(frozen=True, slots=True)
class NamedJoin:
    """A query in SQL that is one join, which fills a stream of a name."""

    play: spec.Play
    name: str

    @property
    def names(self) -> OutletNames:
        """Returns what the text calls the rows that come out."""
        return {spec.Outlet.MATCHED.value: self.name}


def sql_play(
    text: str, given: CaseData
) -> spec.Play | NamedJoin | RowTimeText | ProgramPlay:
    """Returns a query in SQL, a join of what a case gives, or more than one."""
    declared = sqlstream.declared(text, given.inputs_data)
    inputs, settings = given.inputs(declared), given.settings()
    found = sqlstream.translate(text, inputs)
    if isinstance(found, spec.JoinSpec):
        play = given.play(found, inputs, settings)
        play = replace(play, events=_read_once(play.events, inputs))
        name = sqlstream.name_of(text)
        return NamedJoin(play, name) if name else play
    if spec.is_exact(found):
        if given.has_events:
            told = "events in queries of tables alone"
            raise SpecError(told, "rows", rule="case_file")
        rows = {one.name: inputs[one.input].rows for one in spec.givens_of(found)}
        return ProgramPlay(found, rows, is_exact=True)
    events = _read_once(read_events(given.events_data, inputs), inputs)
    inputs = {**inputs, **_made_of_tables(found, inputs, events)}
    emptied, opening = given.arrivals(inputs, is_timed=True)
    return RowTimeText(
        oracle.RowTimePlay(
            found, emptied, (*opening, *events), lambda _join, _inputs: settings
        )
    )


def _made_of_tables(
    program: spec.Program, inputs: spec.Inputs, events: Sequence[spec.Event]
) -> spec.Inputs:
    """Returns the data sets that a text of streams makes of others, as the oracle."""
    made, dataset = spec.Program(program.tables), spec.InputKind.DATASET
    taken = {one.name: inputs[one.input] for one in spec.givens_of(made)}
    names = {one.name for one in taken.values()}
    changes = (it for it in events if isinstance(it, spec.Arrive | spec.Remove))
    if any(it.input in names for it in changes):
        told = "events of a table of which another one is made"
        raise SpecError(told, "rows", rule="case_file")
    rows = defaultdict[str, list[spec.Row]](list)
    given = {name: one.rows for name, one in taken.items()}
    for name, row in oracle.play_program(made, given, oracle.play):
        rows[name].append(row)
    return {
        one.name: spec.Input(
            one.name, dataset, one.step.schema, rows=tuple(rows[one.name])
        )
        for one in made.outputs
    }


def _read_once(
    events: Sequence[spec.Event], inputs: spec.Inputs
) -> tuple[spec.Event, ...]:
    """Returns events of which s-Server sees those of tables in front of its streams.

    It reads a table once, when the query starts; from then on a table is as it was.
    """
    streams = {
        name for name, one in inputs.items() if one.kind is spec.InputKind.STREAM
    }
    has_begun = any(inputs[name].rows for name in streams)
    seen: list[spec.Event] = []
    for one in events:
        if isinstance(one, spec.Arrive | spec.Remove):
            has_begun |= one.input in streams
            if has_begun and one.input not in streams:
                # In its place, so that each event keeps its number.
                seen.append(spec.Pause(one.clock))
                continue
        seen.append(one)
    return tuple(seen)


TextPlay = JoinPlay | RowTimeText | TableChain
"""One result of a text."""


@dataclass(frozen=True, slots=True)
class Results:
    """A text with several results, each of them played by itself, by their names."""

    plays: tuple[tuple[str, TextPlay], ...]

    def lines(
        self, engine: EngineName, split: Split, *, tells_late: bool = False
    ) -> list[Line]:
        """Returns what an engine puts out, each row with its output."""
        return [
            line
            for _, play in self.plays
            for line in (
                play.lines(engine, split, tells_late=tells_late)
                if isinstance(play, RowTimeText)
                else play.lines(engine, split)
            )
        ]


def lenses_play(text: str, given: CaseData) -> TextPlay | Results:
    """Returns the results of a text in Lenses SQL over what a case gives."""
    inputs = given.inputs()
    # Tables alone, to which nothing happens, are joined as they are.
    is_bounded = not given.has_events and all(
        one.kind is not spec.InputKind.STREAM for one in inputs.values()
    )
    program = lenses.program(text, inputs, is_bounded=is_bounded)
    plays = tuple(
        (one.name, _result(one, given, inputs, remarks=program.remarks))
        for one in program.outputs
    )
    return plays[0][1] if len(plays) == 1 else Results(plays)


def _result(
    output: spec.Output,
    given: CaseData,
    inputs: spec.Inputs,
    *,
    remarks: tuple[str, ...],
) -> TextPlay:
    """Returns one result of a text: a join, or more than one."""
    program = spec.Program((output,), remarks)
    inputs = {**inputs, **spec.inline_inputs(output.step)}
    join = spec.plain_join(output.step)
    if join is not None:
        settings = given.settings(lenses.usual_settings(join, inputs))
        return JoinPlay(given.play(join, inputs, settings), program)
    whole = spec.whole_join(output.step)
    if whole is not None and spec.takes_changes(output.step):
        events = read_events(given.events_data, inputs)
        settings = given.settings(lenses.usual_settings(whole, inputs))
        return TableChain.of(output, inputs, events, settings)
    emptied, opening = given.arrivals(inputs, is_timed=True)
    events = read_events(given.events_data, inputs)

    def switches(join: spec.JoinSpec, inputs: spec.Inputs) -> spec.Settings:
        # Each join of a text has the usual ones, as it has for a user.
        return given.settings(lenses.usual_settings(join, inputs))

    play = oracle.RowTimePlay(program, emptied, (*opening, *events), switches)
    return RowTimeText(play)


def spl_program(text: str, given: CaseData) -> spec.Program:
    """Returns the program of an SPL text; a case may give columns of its inputs."""
    schemas = {}
    for name, data in given.inputs_data.items():
        fields = Fields(mapping(data, f"inputs.{name}"), f"inputs.{name}")
        schemas[name] = fields.take("schema", read_schema, _NO_COLUMNS)
    return translate(text, schemas).program


_MOST_COUNTED = 10**6


def _counted(program: spec.Program) -> Iterator[spec.Arrive]:
    """Yields the rows that a program gives itself, in their order."""
    stretches = spec.stretches_of(program)
    # A case is played by loops over rows in memory.
    if (count := sum(one.count for one in stretches.values())) > _MOST_COUNTED:
        raise SpecError(
            f"a program that gives itself {count} rows, in a case",
            f"at most {_MOST_COUNTED}",
            "on streams of Spark there may be more",
            rule="case_file",
        )
    schemas = {one.input: one.schema for one in spec.givens_of(program)}
    found = [
        (one.first + number * one.step, name, number)
        for name, one in stretches.items()
        for number in range(one.count)
    ]
    # By when they come; of one moment by name, so that each run has one order.
    for _, name, number in sorted(found):
        (column,) = schemas[name].names
        yield spec.Arrive(name, {column: number})


def spl_play(text: str, given: CaseData) -> JoinPlay | FlowPlay:
    """Returns an SPL text with the rows and events that a case gives."""
    program = spl_program(text, given)
    givens = {one.input: one for one in spec.givens_of(program)}
    # The text says what is on the stream, also where the case does.
    data = {
        name: {key: it for key, it in mapping(one, name).items() if key != "schema"}
        if name in givens
        else one
        for name, one in given.inputs_data.items()
    }
    given = replace(given, inputs_data=data)
    named = given.inputs({name: one.schema for name, one in givens.items()})
    # A stream of the text that a case does not give brings nothing.
    stream = spec.InputKind.STREAM
    silent = {name: spec.Input(name, stream, it.schema) for name, it in givens.items()}
    inputs = {**silent, **named}
    for name, source in inputs.items():
        if source.kind is not stream:
            raise SpecError(
                f'the input "{name}" of a text in SPL is a {source.kind.value}',
                "a stream",
                rule="case_file",
            )
    events = read_events(given.events_data, inputs)
    opening = (
        *_counted(program),
        *(
            spec.Arrive(source.name, row)
            for source in inputs.values()
            for row in source.rows
        ),
    )
    for number, event in enumerate((*opening, *events)):
        if isinstance(event, spec.Arrive) and event.input in givens:
            where = f"row {number} of {event.input}"
            spec.refuse_beyond(givens[event.input].ranges, event.row, where)
    ends = any(isinstance(event, spec.Finish) for event in events)
    whole = spec.one_join(program, ends=ends)
    if whole is None:
        if given.settings() != spec.Settings():
            hint = "a text that is one join takes them"
            raise SpecError("settings of several joins", "none", hint, rule="case_file")
        emptied = {name: replace(one, rows=()) for name, one in inputs.items()}
        return FlowPlay(program, emptied, opening, events)
    return JoinPlay(given.play(whole, inputs, given.settings()), program)
