"""What a case expects and what came out, in one form: lines.

A *line* is a row and the facts about it: those that the case lists on the one hand,
those that the engine knows on the other (its outlet, its event, its change). Two lines
are the same where their rows are, and every fact that both have.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from dovetail.conformance.sameness import same_row
from dovetail.spec.inputs import UNKNOWN_EVENT, Change, Emission, Outlet, Row

Facts = Mapping[str, object]
MARK = "mark"


class Order(Enum):
    """What a case says about the order of its rows; the values are those of files."""

    BAG = "bag"
    ORDERED = "ordered"
    BY_TIME = "by_time"


class Sight(Enum):
    """What an engine knows: the event of every row, or no more than its outlet."""

    EVENTS = "events"
    OUTLETS = "outlets"


@dataclass(frozen=True, slots=True)
class Line:
    """A row with the facts about it: `out`, `after`, `change`, `mark`."""

    row: Row
    facts: Facts

    def is_same(self, found: Line) -> bool:
        """Tells whether rows are the same, and the facts that both lines have."""
        return self.agrees(found) and same_row(self.row, found.row)

    def agrees(self, found: Line) -> bool:
        """Tells whether the facts that both lines have are the same."""
        shared = self.facts.keys() & found.facts.keys()
        return all(self.facts[name] == found.facts[name] for name in shared)

    def is_mark(self) -> bool:
        """Tells whether the line is a window punctuation and no row."""
        return MARK in self.facts


@dataclass(frozen=True, slots=True)
class Rows:
    """The lines that must come out, in the file's order."""

    lines: tuple[Line, ...]
    order: Order = Order.BAG
    time_column: str = ""


@dataclass(frozen=True, slots=True)
class Count:
    """Only the number of rows is known."""

    rows: int


# Only the first outlet of a join ever gets a mark.
_MARK_FACTS = {MARK: "window", "out": Outlet.MATCHED.value}


def emitted(emission: Emission, sight: Sight) -> Line:
    """Returns an emission as a line, with the facts that the engine knows."""
    facts: dict[str, object] = {}
    if sight is Sight.EVENTS and emission.after != UNKNOWN_EVENT:
        facts["after"] = emission.after
    if emission.outlet is Outlet.MARKS:
        return Line({}, {**facts, **_MARK_FACTS})
    change = Change.INSERT if emission.change is Change.NONE else emission.change
    facts |= {"out": emission.outlet.value, "change": change.value}
    return Line(emission.row, facts)
