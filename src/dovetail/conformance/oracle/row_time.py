"""Goes through a program in row time: each step has all of its rows, and then gives.

What goes along a stream are its rows, and how far its row time has come:

    row 10:02       passed over 10:03       come as far as 10:05       row 10:04

A row that a filter leaves out has shown how late it is all the same. Nothing says when
rows come out, only which: so a program is played as one whole, with the joins, windows
and the order of time by whoever is given for them. What looks at each row alone keeps
its place among all events, by which it meets others in a join.

A row that is late goes on as a line that says why, and what it was when it came: as an
input had brought it, or as windows and joins had made it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cmp_to_key, partial
from operator import itemgetter
from typing import Any

from dovetail import spec
from dovetail.conformance.oracle.code import coded
from dovetail.conformance.oracle.firing import Given, Passing, Sign
from dovetail.conformance.oracle.flow import Coder, Firer
from dovetail.conformance.oracle.parts import Bounds
from dovetail.conformance.oracle.program import JoinPlayer, changed_by
from dovetail.conformance.oracle.sides import NEVER, PAST, Moment, moment_of
from dovetail.errors import UnsupportedError
from dovetail.spec.rules import checked


@dataclass(frozen=True, slots=True)
class Line:
    """A row of a source, or how far that source has come at least.

    `time` is a row's own; of one that was passed over it is all there is. By its
    `place` it stands among what comes. What it was as it `came` is known unless windows
    have made it; of one that was `late` it is all there is, and why.
    """

    source: spec.Input
    place: int
    row: spec.Row | None = None
    time: Moment | None = None
    bound: Moment | None = None
    came: spec.Row | None = None
    late: str = ""


Arranger = Callable[[spec.InRowTime, Sequence[spec.Input], Sequence[Line]], list[Line]]
"""Puts rows in row time, and ends with how far all their sources have come.

Those that are late stand among them, as no rows.
"""


@dataclass(frozen=True, slots=True)
class RowTimePlayers:
    """Who plays what of a program in row time remembers rows."""

    join: JoinPlayer
    fire: Firer
    arrange: Arranger
    code: Coder = coded


Switches = Callable[[spec.JoinSpec, spec.Inputs], spec.Settings]
"""Says which switches a join of a program has, over its inputs."""


@dataclass(frozen=True, slots=True)
class RowTimePlay:
    """A program in row time with its inputs, their events, and the joins' switches."""

    program: spec.Program
    inputs: spec.Inputs
    events: tuple[spec.Event, ...]
    switches: Switches


def play_in_row_time(
    play: RowTimePlay, players: RowTimePlayers
) -> list[tuple[str, spec.Row]]:
    """Returns the rows that come out, each with the name of its output."""
    player = _Player(play, players)
    return [
        *(
            (output.name, line.row)
            for output in play.program.outputs
            for line in player.lines(output.step)
            if line.row is not None
        ),
        *(
            (spec.Outlet.LATE.value, {**line.came, "reason": line.late})
            for output in play.program.outputs
            for line in player.late(output.step)
            if line.came is not None
        ),
    ]


def late_line(line: Line, reason: str) -> Line:
    """Returns a row that is late as what goes on of it."""
    came = line.row if line.came is None else line.came
    return Line(line.source, line.place, came=came, late=reason)


def _compared(by: Sequence[tuple[str, bool]], first: Line, second: Line) -> int:
    """Tells by a number below or above 0 which of two rows stands in front."""
    values: list[tuple[Any, Any, bool]] = [(first.time, second.time, False)]
    assert first.row is not None  # noqa: S101 - rows alone are compared
    assert second.row is not None  # noqa: S101
    values += [(first.row[it], second.row[it], descends) for it, descends in by]
    for ours, theirs, descends in values:
        if ours != theirs:
            return -1 if (ours < theirs) is not descends else 1
    return 0


def arrange(
    step: spec.InRowTime, sources: Sequence[spec.Input], lines: Sequence[Line]
) -> list[Line]:
    """Returns rows in row time, and those that are late; equal times as it says."""
    bounds, found, late = Bounds(), list[Line](), list[Line]()
    for line in lines:
        if line.bound is not None:
            bounds.promise(line.source.name, line.bound)
            continue
        is_late = line.time is None or line.time < bounds.bound(line.source)
        if line.time is not None:
            bounds.see(line.source, line.time)
        if is_late and line.row is not None:
            late.append(late_line(line, "null_time" if line.time is None else "late"))
        elif line.row is not None:
            found.append(line)
    reached = min(map(bounds.bound, sources))
    # Where equal times are sorted they wait for the last of them.
    is_final = reached == NEVER or not step.by
    ready = [
        one
        for one in found
        if one.time is not None
        and (one.time <= reached if is_final else one.time < reached)
    ]
    ready.sort(key=cmp_to_key(partial(_compared, step.by)))
    return [*ready, *late, Line(sources[0], len(lines), bound=reached)]


@dataclass(slots=True)
class _Player:
    """Plays steps; what has been played is remembered by the step itself."""

    play: RowTimePlay
    players: RowTimePlayers
    played: dict[int, list[Line]] = field(default_factory=dict)
    open: set[str] = field(default_factory=set)
    """Joins whose inputs do not end: how far they have come nobody says here."""

    def lines(self, step: spec.Step) -> list[Line]:
        """Returns what goes along the stream of a step, in order."""
        if id(step) not in self.played:
            self.played[id(step)] = list(self._play(step))
        return self.played[id(step)]

    def late(self, step: spec.Step) -> Iterator[Line]:
        """Yields the rows that were late in a step, or in front of it.

        A step that several others take tells them to each: so does a query.
        """
        for source in spec.sources_of(step):
            yield from self.late(source)
        beside = step.tried if isinstance(step, spec.JoinedInRowTime) else ()
        if isinstance(step, spec.InRowTime | spec.Tried | spec.JoinedInRowTime):
            every = (line for one in (*beside, step) for line in self.lines(one))
            yield from (it for it in every if it.late)

    def _play(self, step: spec.Step) -> Iterator[Line]:
        """Yields what a step gives."""
        match step:
            case spec.Given():
                yield from self._given(self.play.inputs[step.input])
            case spec.Filtered() | spec.Projected() | spec.Unfolded() | spec.Tried():
                yield from _changed(step, self.lines(step.source))
            case spec.Appended(sources):
                every = [line for one in sources for line in self.lines(one)]
                yield from sorted(every, key=lambda line: line.place)
            case spec.InRowTime(source, time):
                lines = [it for it in self.lines(source) if not it.late]
                if any(one.name in self.open for one in self._sources(source)):
                    told = "steps behind a join of which inputs do not end"
                    raise UnsupportedError.not_yet("oracle", told)
                known = [
                    replace(one, time=_time_of(one.row, time)) if one.row else one
                    for one in lines
                ]
                # From here on they are the lines of one source, the step.
                own, inputs = self._own(step), self._sources(source)
                arranged = enumerate(self.players.arrange(step, inputs, known))
                yield from (replace(it, source=own, place=at) for at, it in arranged)
            case spec.Retimed():
                yield from self._retimed(step)
            case spec.Windowed() | spec.Coded():
                yield from self._kept(step)
            case spec.JoinedInRowTime():
                yield from self._joined(step)
            case _:
                raise TypeError(step)

    def _sources(self, step: spec.Step) -> list[spec.Input]:
        """Returns the sources of which a step has rows, each with its own row time."""
        match step:
            case spec.Given():
                return [self.play.inputs[step.input]]
            case (
                spec.Filtered(source=source)
                | spec.Projected(source=source)
                | spec.Tried(source=source)
                | spec.Unfolded(source)
            ):
                return self._sources(source)
            case spec.Appended(sources):
                every = [one for source in sources for one in self._sources(source)]
                return list({one.name: one for one in every}.values())
            case _:
                return [self._own(step)]

    def _own(self, step: spec.Step) -> spec.Input:
        """Returns what a step gives that has a row time of its own, as a source."""
        name, stream = f"step {id(step)}", spec.InputKind.STREAM
        lateness = step.lateness if isinstance(step, spec.Retimed) else spec.NO_TIME
        return spec.Input(
            name, stream, step.schema, time=step.schema.names[0], lateness=lateness
        )

    def _retimed(self, step: spec.Retimed) -> Iterator[Line]:
        """Yields the rows of a step; of the time they had nothing is left."""
        own, lines = self._own(step), self.lines(step.source)
        rows = [line for line in lines if line.row is not None]
        for line in rows:
            yield replace(line, source=own, time=None)
        ended = {line.source.name for line in lines if line.bound == NEVER} - self.open
        if ended >= {one.name for one in self._sources(step.source)}:
            yield Line(own, len(lines), bound=NEVER)

    def _given(self, source: spec.Input) -> Iterator[Line]:
        """Yields what an input brings."""
        for place, event in enumerate(self.play.events):
            match event:
                case spec.Arrive(input=name, row=row) if name == source.name:
                    time = _time_of(row, source.time) if source.is_timed else None
                    yield Line(source, place, row, time, came=row)
                case spec.Bound(input=name, moment=moment) if name == source.name:
                    yield Line(source, place, bound=moment)
                case spec.Finish(input=name) if name == source.name:
                    yield Line(source, place, bound=NEVER)
                case _:
                    pass

    def _windowed(self, step: spec.Windowed) -> Iterator[Line]:
        """Yields what windows give whose clock is row time."""
        assert isinstance(step.source, spec.InRowTime)  # noqa: S101 - no other clock
        *lines, end = self.lines(step.source)
        given: list[Given] = [
            (int(one.time), one.row)
            for one in lines
            if one.row is not None and one.time is not None
        ]
        assert end.bound is not None  # noqa: S101 - the last line is how far it is
        if given:
            # So long behind the last row of all the last window is over.
            match step.window.keeps:
                case spec.firing.ByTime(length) | spec.firing.FromFirst(length):
                    more = length.microseconds
                case spec.firing.ByCalendar() as lasts:
                    more = lasts.longest
                case spec.firing.FromLast(length):
                    more = length.microseconds + 1
                case _:
                    more = 0
            last = given[-1][0] + more if end.bound == NEVER else int(end.bound)
            given.append((last, Passing.TIME))
        own = self._own(step)
        # Where no row has come, no window has anything to give.
        fired = self.players.fire(step, given) if given else ()
        rows = [row for _, row in fired if not isinstance(row, Sign)]
        for place, row in enumerate(rows):
            yield Line(own, place, row)
        yield Line(own, len(rows), bound=end.bound)

    def _kept(self, step: spec.Windowed | spec.Coded) -> Iterator[Line]:
        """Yields what windows give; of code what it hands on, row by row."""
        if isinstance(step, spec.Windowed):
            yield from self._windowed(step)
            return
        lines = self.lines(step.source)
        given: list[Given] = [(0, it.row) for it in lines if it.row is not None]
        own = self._own(step)
        rows = [
            row
            for _, (port, row) in self.players.code(step, given)
            if port == step.port and not isinstance(row, Sign)
        ]
        # What code counts is ours: no row has come with it.
        ours = {it.name for it in step.code.variables.columns}
        for place, row in enumerate(rows):
            came = {it: one for it, one in row.items() if it not in ours}
            yield Line(own, place, row, came=came)
        if any(one.name in self.open for one in self._sources(step.source)):
            self.open.add(own.name)
        yield from (replace(it, source=own) for it in lines if it.bound is not None)

    def _joined(self, step: spec.JoinedInRowTime) -> Iterator[Line]:
        """Yields the rows of a join, played alone on what comes to it."""
        inputs = inputs_of(step, self.play.inputs)
        in_turn = spec.takes_changes(step)
        # A join passes by the events of other inputs.
        placed = every = [*enumerate(self.play.events)]
        for one in step.inputs:
            if not in_turn and not isinstance(one.step, spec.Given | spec.Inline):
                placed = [*placed, *self._events(one, inputs[one.name])]
        # Stable: what has come stands in front of what a step makes of it.
        events = tuple(it for _, it in sorted(placed, key=itemgetter(0)))
        switches = self.play.switches(step.join, inputs)
        play = spec.Play(step.join, inputs, events, settings=switches)
        ended = {one.input for one in events if isinstance(one, spec.Finish)}
        streams = [it for it in inputs.values() if it.kind is spec.InputKind.STREAM]
        bound, own = NEVER, self._own(step)
        if any(one.name not in ended for one in streams):
            # Beside tables alone the rows of a stream come out in its own time.
            if len(streams) == 1 and step.join.clock is not spec.Clock.ARRIVAL:
                bound = _reached(streams[0], events)
            else:
                self.open.add(own.name)
        if in_turn:
            player = self.players.join
            found = join_in_turn(step, self.play.inputs, every, player, switches)
        else:
            found = self.players.join(checked(play))
        told = step.change
        rows = [
            {**one.row, told: one.change.value} if told else one.row
            for one in found
            # What is late or says that a window is over is no row of the result.
            if one.outlet not in {spec.Outlet.LATE, spec.Outlet.MARKS}
        ]
        for place, row in enumerate(rows):
            came = {name: it for name, it in row.items() if name != told}
            yield Line(own, place, row, came=came)
        for late in (one.row for one in found if one.outlet is spec.Outlet.LATE):
            came = {name: value for name, value in late.items() if name != "reason"}
            yield Line(own, len(rows), came=came, late=str(late["reason"]))
        yield Line(own, len(rows), bound=bound)

    def _events(self, one: spec.TimedInput, known: spec.Input) -> Iterator[Placed]:
        """Yields the rows of a step as what arrives at a join, each with its place.

        Those of windows come in row time, behind all else.
        """
        lines, is_timed = self.lines(one.step), known.is_timed
        behind, bounds = len(self.play.events), Bounds()
        each = _brought(one.step)
        for line in lines:
            place = line.place if each else behind
            if line.row is not None:
                yield place, spec.Arrive(one.name, line.row)
            elif line.bound == NEVER:
                yield place, spec.Finish(one.name)
            elif line.bound is not None and line.bound > PAST:
                yield place, spec.Bound(one.name, int(line.bound))
            elif each and is_timed and line.time is not None:
                # A row that a filter leaves out has been seen all the same.
                bounds.see(known, line.time)
                yield place, spec.Bound(one.name, int(bounds.bound(known)))


def _brought(step: spec.Step) -> tuple[spec.Given, ...]:
    """Returns whose rows a step has that looks at each row alone; else nothing."""
    match step:
        case spec.Given():
            return (step,)
        case (
            spec.Filtered(source=source)
            | spec.Projected(source=source)
            | spec.Tried(source=source)
            | spec.Unfolded(source)
        ):
            return _brought(source)
        case _:
            return ()


def _changed(
    step: spec.Filtered | spec.Projected | spec.Unfolded | spec.Tried,
    lines: Sequence[Line],
) -> Iterator[Line]:
    """Yields lines as a step makes them that looks at each row alone."""
    if isinstance(step, spec.Tried):
        fails = changed_by(spec.Filtered(step.source, step.failed))
        for line in (it for it in lines if not it.late):
            yield line
            if line.row is not None and [*fails([line.row])]:
                yield late_line(line, "failed")
        return
    # Made once: an expression is read there.
    change = None if isinstance(step, spec.Unfolded) else changed_by(step)
    for line in lines:
        found: list[spec.Row] = []
        if line.row is not None and isinstance(step, spec.Unfolded):
            listed: Any = line.row[step.column]
            found = list(listed or ())
        elif line.row is not None and change is not None:
            found = list(change([line.row]))
        yield from (replace(line, row=row) for row in found)
        if not found:
            # One that is left out stays as a line: its time has been seen.
            yield replace(line, row=None)


def _reached(source: spec.Input, events: Sequence[spec.Event]) -> Moment:
    """Returns how far a stream has come by what has arrived."""
    bounds = Bounds()
    for one in events:
        match one:
            case spec.Arrive(input=name, row=row) if name == source.name:
                if (time := moment_of(row[source.time])) is not None:
                    bounds.see(source, time)
            case spec.Bound(input=name, moment=moment) if name == source.name:
                bounds.promise(name, moment)
            case _:
                pass
    return bounds.bound(source)


def inputs_of(step: spec.JoinedInRowTime, given: spec.Inputs) -> spec.Inputs:
    """Returns the inputs of a join: those of the text as they are given, and steps."""
    found = {}
    for one in step.inputs:
        if isinstance(one.step, spec.Given):
            found[one.name] = replace(given[one.step.input], name=one.name)
        elif isinstance(one.step, spec.Inline):
            dataset, columns = spec.InputKind.DATASET, one.step.schema
            found[one.name] = spec.Input(one.name, dataset, columns)
        elif one.key:
            # What a join of tables changes is a table to the next one.
            table, schema = spec.InputKind.TABLE, one.step.schema
            found[one.name] = spec.Input(one.name, table, schema, key=one.key)
        else:
            stream, schema = spec.InputKind.STREAM, one.step.schema
            rows = spec.Input(one.name, stream, schema, time=one.time)
            # What looks at each row alone makes none any later.
            for own in _brought(one.step) if one.time else ():
                rows = replace(rows, lateness=given[own.input].lateness)
            found[one.name] = rows
    return found


Placed = tuple[int, spec.Event]
"""An event with its place among those of a text; what it makes has that place too."""


def join_in_turn(
    step: spec.JoinedInRowTime,
    given: spec.Inputs,
    events: Sequence[Placed],
    player: JoinPlayer,
    settings: spec.Settings,
) -> list[spec.Emission]:
    """Returns what a join gives that takes what others change, each row with its event.

    Each join is played alone, over the events of its inputs and the changes of the
    joins in front of it, each change behind the event that made it.
    """
    inputs = inputs_of(step, given)
    made = [
        change
        for one in step.inputs
        if isinstance(one.step, spec.JoinedInRowTime)
        for change in _changes(
            one,
            join_in_turn(one.step, given, events, player, spec.Settings()),
        )
    ]
    own = [
        (place, event)
        for place, event in events
        if isinstance(event, spec.Pause) or event.input in inputs
    ]
    # Stable: what an event brings stands in front of what it makes.
    placed = sorted([*own, *made], key=itemgetter(0))
    play = spec.Play(
        step.join, inputs, tuple(event for _, event in placed), settings=settings
    )
    # A row knows its place in this play: from here on it is the event's of the text.
    return [replace(one, after=placed[one.after][0]) for one in player(checked(play))]


def _changes(one: spec.TimedInput, found: Sequence[spec.Emission]) -> Iterator[Placed]:
    """Yields what a join changes of the table that it is to another one."""
    for number, made in enumerate(found):
        match made.change:
            case spec.Change.INSERT | spec.Change.UPDATE_AFTER:
                yield made.after, spec.Arrive(one.name, made.row)
            case spec.Change.DELETE:
                yield made.after, spec.Remove(one.name, made.row)
            case spec.Change.UPDATE_BEFORE:
                # Where the key stays the row is replaced, else it goes.
                after = found[number + 1].row
                if any(made.row[name] != after[name] for name in one.key):
                    yield made.after, spec.Remove(one.name, made.row)
            case _:
                pass


def _time_of(row: spec.Row, column: str) -> Moment | None:
    """Returns the row time of a row."""
    return moment_of(row[column])
