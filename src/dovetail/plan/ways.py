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
from dovetail.expression import Expression
from dovetail.schema import Schema

# What of a plan travels to workers names single nodes: see `stream.py`.
from dovetail.spec.inputs import Outlet


@dataclass(frozen=True, slots=True)
class Kept:
    """The rows of which a condition is true go on."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class Reshaped:
    """Each row goes on with other columns."""

    select: spec.Columns
    schema: Schema


Change = Kept | Reshaped


@dataclass(frozen=True, slots=True)
class Onward:
    """What of a join's results goes on, and what becomes of it before it arrives."""

    outlet: Outlet = Outlet.MATCHED
    changes: tuple[Change, ...] = ()


@dataclass(frozen=True, slots=True)
class Path:
    """The way of an input's rows to a side of a join.

    `rank` tells the rows apart that one row becomes on several ways: of two ways the
    one of the lower rank is gone first.
    """

    input: str
    changes: tuple[Change, ...]
    rank: int = 0


Paths = Mapping[str, tuple[Path, ...]]
"""By the name of a side of a join the ways on which its rows come."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way that begins at an input or a join, with the numbers of its steps."""

    begin: spec.Given | spec.Joined
    changes: tuple[Change, ...]
    numbers: tuple[int, ...]

    @property
    def onward(self) -> Onward:
        """Returns what of the join at which the way begins goes along."""
        match self.begin:
            case spec.Joined(outlet=outlet):
                return Onward(outlet, self.changes)
            case spec.Given():
                return Onward(changes=self.changes)


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
            change, own = _change(step), numbers[id(step)]
            for way in ways_to(step.source, numbers):
                yield replace(
                    way, changes=(*way.changes, change), numbers=(*way.numbers, own)
                )
        case _:
            raise UnsupportedError.not_yet("stream", f"{type(step).__name__} of a text")


def _change(step: spec.Filtered | spec.Projected) -> Change:
    """Returns what a step does to each row."""
    match step:
        case spec.Filtered(condition=condition):
            return Kept(condition)
        case spec.Projected(schema=schema, select=select):
            return Reshaped(select, schema)
