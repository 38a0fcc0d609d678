"""Goes through a program whose rows arrive one by one, event by event.

Every row has a place in one order over all streams: the event that brought it, then for
each operator on its way the operator, of a join the side, and which of its rows it is.

    the row of event 3           (3, 0)
    what join 1 makes of it      (3, 0, 1, 0, 7)  (3, 0, 1, 0, 8)
    what 2, code, makes of those (3, 0, 1, 0, 7, 2, 0)  (3, 0, 1, 0, 8, 2, 1)

An operator counts all that it has given: its rows are the join's eighth and ninth. So
whatever a row gives has gone all its way before the next row goes on. Time passes,
place (3, -1), before an event's row is handled, for a window that fires before joins,
place (3, -2). The joins are played by whoever is
given for it, each alone, on the rows that have come to it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from dovetail import spec
from dovetail.conformance.oracle import code, firing, repeats
from dovetail.conformance.oracle.firing import Sign
from dovetail.conformance.oracle.program import JoinPlayer, changed_by
from dovetail.spec.rules import checked

Place = tuple[int, ...]
_LAST = 1 << 62
_SIDES = (spec.LEFT, spec.RIGHT)


@dataclass(frozen=True, slots=True)
class Item:
    """A row, or a sign, at its place; `clock` is the time of its event."""

    place: Place
    clock: int
    content: firing.Content


Firer = Callable[
    [spec.Keeping, Sequence[firing.Given]],
    Iterable[tuple[int, firing.Content]],
]
"""Plays an operator that keeps rows; what comes out has the number of its cause."""


Coder = Callable[
    [spec.Coded, Sequence[firing.Given]], Iterable[tuple[int, code.Handed]]
]
"""Carries out code; what it hands on has its port and the number of its cause."""


@dataclass(frozen=True, slots=True)
class Players:
    """Who plays what of a program remembers rows, or is code."""

    join: JoinPlayer
    fire: Firer
    code: Coder = code.coded


def fire(
    step: spec.Keeping, given: Sequence[firing.Given], *, has_marks: bool = True
) -> Iterator[tuple[int, firing.Content]]:
    """Plays an operator that keeps rows, as the definition has it."""
    match step:
        case spec.Aligned():
            return firing.aligned(step, given)
        case spec.Recognized():
            return repeats.recognized(step, given)
        case spec.Windowed():
            return firing.fired(step, given, has_marks=has_marks)


def play_flow(
    program: spec.Program,
    opening: Sequence[spec.Event],
    events: Sequence[spec.Event],
    players: Players,
) -> list[tuple[str, Item]]:
    """Returns the rows and marks that come out, each with its output, in order.

    What `opening` brings is there before event number 0.
    """
    # What was there before event 0 counts down to it, so that all places stand in one
    # order.
    moments = [(at - len(opening), one) for at, one in enumerate((*opening, *events))]
    player = _Player(moments, players)
    # The number of a step is a part of every place behind it.
    player.numbers = spec.numbers_of(program)
    found = [
        (output.name, item)
        for output in program.outputs
        for item in player.items(output.step)
        if item.content is not Sign.END
    ]
    # Stable: what has one place stands in the order of the outputs.
    return sorted(found, key=lambda one: one[1].place)


@dataclass(slots=True)
class _Player:
    """Plays steps; what has been played is remembered by the step itself."""

    moments: Sequence[tuple[int, spec.Event]]
    players: Players
    numbers: dict[int, int] = field(default_factory=dict)
    played: dict[int, list[Item]] = field(default_factory=dict)
    handed: dict[int, list[tuple[object, Item]]] = field(default_factory=dict)

    def items(self, step: spec.Step) -> list[Item]:
        """Returns what goes along the stream of a step, in order."""
        if id(step) not in self.played:
            self.played[id(step)] = sorted(
                self._play(step), key=lambda item: item.place
            )
        return self.played[id(step)]

    def _play(self, step: spec.Step) -> Iterable[Item]:
        """Returns what a step gives."""
        match step:
            case spec.Given():
                return self._given(step)
            case spec.Filtered() | spec.Projected():
                return self._changed(step)
            case spec.Appended(sources):
                return _merged([self.items(one) for one in sources])
            case spec.Joined():
                found = self._meeting(step)
                return self._of_port(step.join, step.outlet, found)
            case spec.Marked():
                return self._punctuated(step)
            case spec.Windowed() | spec.Aligned() | spec.Recognized():
                return self._fired(step)
            case spec.Coded():
                handed = self._carried_out(step)
                return self._of_port(step.code, step.port, handed)
            case _:
                raise TypeError(step)

    def _given(self, step: spec.Given) -> Iterator[Item]:
        """Yields what arrives on an input."""
        for number, event in self.moments:
            place = (number, 0)
            match event:
                case spec.Arrive(input=name, row=row) if name == step.input:
                    yield Item(place, event.clock, row)
                case spec.Finish(input=name) if name == step.input:
                    yield Item(place, event.clock, Sign.END)
                case _:
                    pass

    def _changed(self, step: spec.Filtered | spec.Projected) -> Iterator[Item]:
        """Yields the rows that a step leaves, as it changes them; signs go through."""
        change, number = changed_by(step), self.numbers[id(step)]
        for item in self.items(step.source):
            place = (*item.place, number)
            if isinstance(item.content, Sign):
                yield Item(place, item.clock, item.content)
            else:
                for row in change([item.content]):
                    yield Item(place, item.clock, row)

    def _punctuated(self, step: spec.Marked) -> Iterator[Item]:
        """Yields the rows of a step and marks of its own; others end here."""
        holds = changed_by(spec.Filtered(step.source, step.condition))
        number = self.numbers[id(step)]
        for item in self.items(step.source):
            own = item.content
            # Marks of others end here: the operator gives its own.
            if own is Sign.MARK:
                continue
            has_mark = not isinstance(own, Sign) and [*holds([own])]
            marks = [Sign.MARK] if has_mark else []
            contents = [*marks, own] if step.is_before else [own, *marks]
            for count, content in enumerate(contents):
                yield Item((*item.place, number, count), item.clock, content)

    def _fired(self, step: spec.Keeping) -> Iterator[Item]:
        """Yields what an operator gives that keeps rows; it is played alone."""
        number = self.numbers[id(step)]
        came: list[tuple[Place, firing.Given]] = [
            ((at, -2, number), (event.clock, firing.Passing.TIME))
            for at, event in self.moments
        ]
        came += self._coming(step.source, number)
        # By place alone: what has come, rows and signs, has no order of its own.
        came.sort(key=lambda one: one[0])
        found = self.players.fire(step, [given for _, given in came])
        for count, (at, content) in enumerate(found):
            place, (clock, _) = came[at]
            yield Item((*place, count), clock, content)

    def _coming(
        self, step: spec.Step, number: int
    ) -> Iterator[tuple[Place, firing.Given]]:
        """Yields what comes to the operator of a number, each at its place."""
        for item in self.items(step):
            yield (*item.place, number), (item.clock, item.content)

    def _of_port(
        self, shared: object, port: object, found: Iterable[tuple[object, Item]]
    ) -> Iterator[Item]:
        """Yields what goes out by one port of a join or of code; the end by all."""
        # The ports of one operator share its spec: whoever is asked first plays it for
        # all of them, and has the number of all.
        if id(shared) not in self.handed:
            self.handed[id(shared)] = list(found)
        for one, item in self.handed[id(shared)]:
            if one == port or item.content is Sign.END:
                yield item

    def _carried_out(self, step: spec.Coded) -> Iterator[tuple[int, Item]]:
        """Yields what code hands on, each with its port."""
        came = [*self._coming(step.source, self.numbers[id(step)])]
        handed = self.players.code(step, [it for _, it in came])
        for count, (at, (port, found)) in enumerate(handed):
            place, (clock, _) = came[at]
            yield port, Item((*place, count), clock, found)
        for place, (clock, content) in came:
            if content is Sign.END:
                yield step.port, Item((*place, _LAST), clock, Sign.END)

    def _meeting(self, step: spec.Joined) -> Iterator[tuple[spec.Outlet, Item]]:
        """Yields what a join gives, each row with its outlet; marks with the first."""
        number = self.numbers[id(step)]
        # What comes to the join, in order; time passes there at every event.
        found: list[tuple[Place, spec.Event]] = [
            ((at, -1, number), spec.Pause(event.clock)) for at, event in self.moments
        ]
        for name, source in zip(_SIDES, (step.left, step.right), strict=True):
            for item in self.items(source):
                there = (*item.place, number)
                if item.content is Sign.END:
                    found.append((there, spec.Finish(name, item.clock)))
                elif not isinstance(item.content, Sign):
                    found.append((there, spec.Arrive(name, item.content, item.clock)))
        # Stable: of one row that comes to both sides all that the left gives is first.
        arrived = sorted(found, key=lambda one: one[0])
        alone = joined_alone(step, [event for _, event in arrived])
        for count, one in enumerate(self.players.join(alone)):
            place, event = arrived[one.after]
            there = (*place, count)
            is_mark = one.outlet is spec.Outlet.MARKS
            outlet = spec.Outlet.MATCHED if is_mark else one.outlet
            content = Sign.MARK if is_mark else one.row
            yield outlet, Item(there, event.clock, content)
        # Both ports have ended: so does what comes out, behind all that came of it.
        match [one for one in arrived if isinstance(one[1], spec.Finish)]:
            case [_, (place, event)]:
                last = Item((*place, _LAST), event.clock, Sign.END)
                yield spec.Outlet.MATCHED, last


def joined_alone(step: spec.Joined, events: Iterable[spec.Event] = ()) -> spec.Play:
    """Returns the play of a join alone, on what comes to it."""
    inputs = {
        name: spec.Input(name, spec.InputKind.STREAM, source.schema)
        for name, source in zip(_SIDES, (step.left, step.right), strict=True)
    }
    return checked(spec.Play(step.join, inputs, tuple(events)))


def _merged(streams: Sequence[Sequence[Item]]) -> Iterator[Item]:
    """Yields what several streams bring; they end as one when the last one does."""
    ends = []
    for items in streams:
        for item in items:
            if item.content is Sign.END:
                ends.append(item)
            else:
                yield item
    if len(ends) == len(streams):
        yield max(ends, key=lambda item: item.place)
