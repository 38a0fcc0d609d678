"""How what came out differs from what was expected, as data and in words."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from dovetail.conformance.lines import Line


class Missing(Enum):
    """What stands for a value that is not even null."""

    COLUMN = "no such column"


NO_COLUMN = Missing.COLUMN


@dataclass(frozen=True, slots=True)
class Cell:
    """One value that is not as expected."""

    name: str
    expected: object
    found: object


@dataclass(frozen=True, slots=True)
class Near:
    """An expected line and the found one most like it, with the cells that differ."""

    expected: Line
    found: Line
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class Difference:
    """What is missing, what is too much, what is almost right; false where nothing."""

    missing: tuple[Line, ...] = ()
    unexpected: tuple[Line, ...] = ()
    near: tuple[Near, ...] = ()
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        """Tells whether anything differs."""
        return bool(self.missing or self.unexpected or self.near or self.notes)


SAME = Difference()
SHOWN = 10


def describe(difference: Difference) -> list[str]:
    """Returns the difference as lines of text, at most ten of a sort."""
    return [
        *difference.notes,
        *_some([_near(pair) for pair in difference.near]),
        *_some([f"missing     {shown(line)}" for line in difference.missing]),
        *_some([f"unexpected  {shown(line)}" for line in difference.unexpected]),
    ]


def shown(line: Line) -> str:
    """Returns a line as a person reads it: the cells, then the facts."""
    cells = ", ".join(f"{name} = {plain(value)}" for name, value in line.row.items())
    facts = ", ".join(f"{name} {value}" for name, value in line.facts.items())
    return f"{cells or '(no columns)'}  [{facts}]" if facts else cells


def plain(value: object) -> str:
    """Returns a value as a person reads it: null for None, texts in quotes."""
    match value:
        case None:
            return "null"
        case str():
            return f"'{value}'"
        case bool():
            return str(value).lower()
        case Missing():
            return value.value
        case _:
            return str(value)


def _near(pair: Near) -> str:
    """Returns the line that was expected with the cells that are not as expected."""
    cells = "; ".join(
        f"{cell.name}: expected {plain(cell.expected)}, found {plain(cell.found)}"
        for cell in pair.cells
    )
    return f"differs     {shown(pair.expected)}: {cells}"


def _some(texts: list[str]) -> Iterator[str]:
    """Gives the first ten texts, and how many more there are."""
    yield from texts[:SHOWN]
    if len(texts) > SHOWN:
        yield f"... and {len(texts) - SHOWN} more like these"
