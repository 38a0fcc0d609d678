"""The ways of rows through a program of streams: from inputs and joins, through steps.

    given A -> filtered -------------+
                                     +-> appended -> projected -> joined -> filtered
    given B -> projected ------------+

The rows of `joined` here are those of two ways, `A, filtered, projected` and
`B, projected, projected`; what comes out is a way that begins at the join. So whoever
runs a program looks at a join, and at what happens in front of it and behind it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from dovetail import spec
from dovetail.errors import UnsupportedError
from dovetail.expression import NEVER, Expression
from dovetail.schema import Schema

# What of a plan travels to workers names single nodes: see `stream.py`.
from dovetail.spec.code import most_submitted
from dovetail.spec.firing import (
    Arranged,
    ByCalendar,
    ByMark,
    ByTime,
    Groups,
    Sliding,
    Tumbling,
)
from dovetail.spec.inputs import Outlet
from dovetail.spec.program import Coded, Recognized, Windowed


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows of which a condition is true go on."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class Reshaped:
    """Each row goes on with other columns."""

    select: spec.Columns
    schema: Schema


@dataclass(frozen=True, slots=True)
class Punctuated:
    """Marks stand before or behind the rows of which a condition is true, no others.

    It may be true of none: then there is nothing to do where nothing has marks.
    """

    condition: Expression
    is_before: bool

    @property
    def has_marks(self) -> bool:
        """Tells whether there are rows with marks."""
        return self.condition != NEVER


@dataclass(frozen=True, slots=True)
class Fired:
    """Rows go on as an operator gives them that keeps some for a while."""

    step: spec.Keeping | spec.Coded

    @property
    def looks_at_marks(self) -> bool:
        """Tells whether marks make a difference."""
        step = self.step
        if isinstance(step, Coded):
            return bool(step.code.on_mark)
        if isinstance(step, Recognized):
            return True
        until_mark = Tumbling(ByMark())
        return isinstance(step, Windowed) and step.window == until_mark

    @property
    def looks_at_ends(self) -> bool:
        """Tells whether rows that are kept come out at the end."""
        step = self.step
        if isinstance(step, Coded):
            return bool(step.code.on_end)
        if not isinstance(step, Windowed):
            return False
        is_sliding = isinstance(step.window, Sliding)
        return is_sliding and isinstance(step.gives, Arranged)

    @property
    def looks_at_time(self) -> bool:
        """Tells whether time alone lets rows out."""
        step = self.step
        if not isinstance(step, Windowed):
            return False
        policies = (step.window.keeps, step.window.fires)
        return any(isinstance(one, ByTime | ByCalendar) for one in policies)

    @property
    def operator(self) -> int:
        """Returns what tells operators apart; the ports of one have the same."""
        return id(self.step.code if isinstance(self.step, Coded) else self.step)

    @property
    def gives_several(self) -> bool:
        """Tells whether a row may let several out at once."""
        match self.step:
            case Coded(code=known):
                # At the end, and with a mark, rows stand apart from all others.
                return most_submitted(known.on_row) > 1
            case Windowed(gives=Groups(by=groups), by=by):
                return bool(groups or by)
            case Windowed():
                return True
            case _:
                return False


RowChange = Kept | Reshaped | Punctuated | Fired


@dataclass(frozen=True, slots=True)
class Onward:
    """What of a join's results goes on, and what becomes of it before it arrives.

    Of a table that changes the column `told` says what each row does to it; or its rows
    arrive as those of a table, `replaced` by their keys. With `marks` those of the
    join go along whatever becomes of its rows here. Where time passes in its program
    joins let rows out in the order of the numbers of their `step`.
    """

    outlet: Outlet = Outlet.MATCHED
    changes: tuple[RowChange, ...] = ()
    told: str = ""
    replaced: bool = False
    marks: bool = False
    step: int = 0

    @property
    def keeps_rows(self) -> bool:
        """Tells whether rows stay on the way, or marks stand among them."""
        return _keeps_rows(self.changes)

    @property
    def passes_marks(self) -> bool:
        """Tells whether marks of the join go along."""
        return not any(isinstance(one, Punctuated) for one in self.changes)

    @property
    def asks_marks(self) -> bool:
        """Tells whether the marks behind what belongs together go along."""
        if self.marks:
            return True
        for one in self.changes:
            match one:
                case Fired():
                    return one.looks_at_marks
                case Punctuated():
                    return False
                case _:
                    pass
        return False


NO_JOIN = -1


@dataclass(frozen=True, slots=True)
class Path:
    """The way of an input's rows to a side of a join, or of those of a join.

    `rank` tells the rows apart that one row becomes on several ways: of two ways the
    one of the lower rank is gone first. Where rows of several ways run together before
    an operator keeps some of them, these are the paths `of` it, and stand for an input.
    Where rows go by turns it has the `numbers` of its steps, and perhaps begins at the
    join of a number among those that come there.
    """

    input: str
    changes: tuple[RowChange, ...]
    rank: int = 0
    of: tuple[Path, ...] = ()
    numbers: tuple[int, ...] = ()
    join: int = NO_JOIN

    @property
    def inputs(self) -> tuple[str, ...]:
        """Returns the inputs whose rows go this way."""
        if self.of:
            return tuple(name for one in self.of for name in one.inputs)
        return (self.input,) if self.join == NO_JOIN else ()

    @property
    def every_change(self) -> tuple[RowChange, ...]:
        """Returns what happens to rows on the way, whichever they are."""
        return (*(it for one in self.of for it in one.every_change), *self.changes)

    @property
    def keeps_rows(self) -> bool:
        """Tells whether rows stay on the way, or marks stand among them."""
        return _keeps_rows(self.every_change)


def _keeps_rows(changes: tuple[RowChange, ...]) -> bool:
    """Tells whether rows stay on a way, or marks stand among them."""
    return any(
        isinstance(one, Fired) or (isinstance(one, Punctuated) and one.has_marks)
        for one in changes
    )


Paths = Mapping[str, tuple[Path, ...]]
"""By the name of a side of a join the ways on which its rows come."""


@dataclass(frozen=True, slots=True)
class Together:
    """Rows of several inputs that run together."""

    ways: tuple[Way, ...]


Beginning = spec.Given | spec.Joined | Together


@dataclass(frozen=True, slots=True)
class Way:
    """A way that begins at an input or a join, with the numbers of its steps.

    Where an operator keeps rows of several ways it is the beginning.
    """

    begin: Beginning
    changes: tuple[RowChange, ...]
    numbers: tuple[int, ...]

    @property
    def onward(self) -> Onward:
        """Returns what of the join at which the way begins goes along."""
        match self.begin:
            case spec.Joined(outlet=outlet):
                return Onward(outlet, self.changes)
            case _:
                return Onward(changes=self.changes)

    def leaves(self, behind: tuple[int, ...] = ()) -> Iterator[tuple[Way, Place]]:
        """Yields each way of one input's or join's rows, with its place among all.

        The definition puts a row behind another one by its event, then operator by
        operator: so ways of one event are in the order of their steps' numbers.
        """
        if isinstance(self.begin, Together):
            for way in self.begin.ways:
                yield from way.leaves((*self.numbers, *behind))
        else:
            yield self, (*self.numbers, *behind)

    def path(self, ranks: Mapping[int, int]) -> Path:
        """Returns the way as a path; `ranks` are those of ways, by identity."""
        match self.begin:
            case Together(ways):
                of = tuple(way.path(ranks) for way in ways)
                return Path("", self.changes, of=of)
            case spec.Given(input=name):
                return Path(name, self.changes, ranks[id(self)])
            case _:
                raise TypeError(self.begin)


Place = tuple[int, ...]


def ways_to(step: spec.Step, numbers: Mapping[int, int]) -> Iterator[Way]:
    """Yields the ways on which the rows of a step come, as they stand in the program.

    `numbers` are those of all steps, by identity.
    """
    match step:
        case spec.Given() | spec.Joined():
            yield Way(step, (), ())
        case spec.Appended(sources):
            for source in sources:
                yield from ways_to(source, numbers)
        case spec.Filtered() | spec.Projected():
            change, own = change_of(step), numbers[id(step)]
            for way in ways_to(step.source, numbers):
                yield replace(
                    way, changes=(*way.changes, change), numbers=(*way.numbers, own)
                )
        case (
            spec.Windowed()
            | spec.Aligned()
            | spec.Recognized()
            | spec.Marked()
            | spec.Coded()
        ):
            yield from _kept_on(step, numbers)
        case _:
            raise UnsupportedError.not_yet("stream", f"{type(step).__name__} of a text")


def _kept_on(
    step: spec.Marked | spec.Keeping | spec.Coded, numbers: Mapping[int, int]
) -> Iterator[Way]:
    """Yields the ways behind a step that marks rows, or keeps some."""
    own = numbers[id(step)]
    ways = tuple(ways_to(step.source, numbers))
    if isinstance(step, spec.Marked):
        change: RowChange = Punctuated(step.condition, step.is_before)
    else:
        change = Fired(step)
        if len(ways) > 1:
            ways = (Way(Together(ways), (), ()),)
    for way in ways:
        yield replace(way, changes=(*way.changes, change), numbers=(*way.numbers, own))


def change_of(step: spec.Filtered | spec.Projected) -> RowChange:
    """Returns what a step does to each row."""
    match step:
        case spec.Filtered(condition=condition):
            return Kept(condition)
        case spec.Projected(schema=schema, select=select):
            return Reshaped(select, schema)
