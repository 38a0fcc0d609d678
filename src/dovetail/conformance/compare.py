"""Compares what a case expects with what an engine put out, down to the cell.

    expected  {"row": {"id": 1, "n": 2}, "after": 3}
    found     id = 1, n = 5  [after 3, out matched]      ->   n: expected 2, found 5

First as bags. Where the bags are the same, the order is looked at as the case says and
as far as it is known: the event of a row, and so the order across outlets, to engines
that play event by event; that within one event where one query gives all outlets.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from itertools import groupby, pairwise

from dovetail import spec
from dovetail.conformance.lines import (
    Count,
    Line,
    Order,
    Rows,
    Sight,
    emitted,
    folded,
    rough_key,
    same_value,
)


def compare(
    expected: Rows | Count, found: Sequence[spec.Emission], sight: Sight
) -> Difference:
    """Returns how an engine's rows differ from what a case expects."""
    return compare_lines(expected, [emitted(one, sight) for one in found], sight)


def compare_lines(
    expected: Rows | Count, found: list[Line], sight: Sight
) -> Difference:
    """Returns how lines differ from what a case expects."""
    match expected:
        case Count(rows):
            count = len(_looked_at(found, ()))
            note = f"expected {rows} rows, found {count}"
            return SAME if count == rows else Difference(notes=(note,))
        case Rows() if sight is not Sight.OUTLETS:
            return _row_difference(expected, found, sight)
        case Rows(lines):
            # A mark stands behind the rows of one event: who knows no events has none.
            kept = tuple(line for line in lines if not line.is_mark())
            return _row_difference(replace(expected, lines=kept), found, sight)


def lists_late(expected: object) -> bool:
    """Tells whether what a case expects lists a late row."""
    return isinstance(expected, Rows) and any(
        one.facts.get("out") == spec.Outlet.LATE.value for one in expected.lines
    )


_BESIDE = frozenset({spec.Outlet.LATE.value, "failed"})
"""Outlets of rows that are no result: they are late, or lack a value."""


def _looked_at(found: Sequence[Line], expected: Sequence[Line]) -> list[Line]:
    """Returns the lines that count.

    Marks do where the case lists one, and rows beside the result where it lists one of
    their outlet.
    """
    unlisted = _BESIDE - {line.facts.get("out") for line in expected}
    wants_marks = any(line.is_mark() for line in expected)
    return [
        line
        for line in found
        if line.facts["out"] not in unlisted and (wants_marks or not line.is_mark())
    ]


def _row_difference(expected: Rows, found: list[Line], sight: Sight) -> Difference:
    """Returns the difference as bags; where there is none, the one in order."""
    found = _looked_at(found, expected.lines)
    missing, unexpected = _leftovers(expected.lines, found)
    if missing or unexpected:
        return _paired(missing, unexpected)
    if sight is Sight.STREAMS and expected.order is Order.ORDERED:
        # What is left open may be as it is expected.
        found, sight = _interleaved(expected.lines, found), Sight.EVENTS
    # Who knows no events knows the order of lines outlet by outlet; a mark, which
    # stands among the rows of one, has no place there.
    parts: dict[object, list[Line]] = defaultdict(list)
    for line in found:
        if sight is not Sight.OUTLETS or not line.is_mark():
            parts["" if sight is Sight.EVENTS else line.facts["out"]].append(line)
    for part in parts.values():
        difference = SAME
        match expected.order:
            case Order.ORDERED:
                difference = _place_difference(expected.lines, part)
            case Order.BY_TIME:
                difference = _time_difference(expected.time_column, part)
            case Order.BAG:
                pass
        if difference:
            return difference
    return SAME


def _leftovers(
    expected: Sequence[Line], found: Sequence[Line]
) -> tuple[list[Line], list[Line]]:
    """Returns the lines of both hands that find no partner on the other."""
    open_lines: dict[Hashable, list[Line]] = defaultdict(list)
    for line in found:
        open_lines[rough_key(line.row)].append(line)
    # Lines that list more facts choose first: the others take what is left.
    strict_first = sorted(expected, key=lambda line: -len(line.facts))
    missing = [
        line
        for line in strict_first
        if not _take(line, open_lines[rough_key(line.row)])
    ]
    rest = [line for lines in open_lines.values() for line in lines]
    # Two doubles that are the same can stand on both sides of a rounding edge.
    return [line for line in missing if not _take(line, rest)], rest


def _take(wanted: Line, lines: list[Line]) -> bool:
    """Removes the first line that is the wanted one; tells whether there was one."""
    for place, line in enumerate(lines):
        if wanted.is_same(line):
            del lines[place]
            return True
    return False


def _interleaved(expected: Sequence[Line], found: Sequence[Line]) -> list[Line]:
    """Returns lines with those of one event as they are expected.

    The lines of each outlet stay in their order, and events in theirs.
    """
    wanted, arranged = iter(expected), list[Line]()
    for _, lines in groupby(found, key=lambda line: line.facts.get("after")):
        outlets: dict[object, list[Line]] = defaultdict(list)
        for line in lines:
            outlets[line.facts["out"]].append(line)
        while any(outlets.values()):
            line, firsts = next(wanted), [one[0] for one in outlets.values() if one]
            chosen = next((one for one in firsts if line.is_same(one)), firsts[0])
            arranged.append(outlets[chosen.facts["out"]].pop(0))
    return arranged


def _paired(missing: list[Line], unexpected: list[Line]) -> Difference:
    """Returns the difference with lines that are alike shown as pairs."""
    alone, near, rest = [], [], list(unexpected)
    for line in missing:
        closest = min(
            (Near(line, other, _cells(line, other)) for other in rest),
            key=lambda pair: len(pair.cells),
            default=None,
        )
        # A line of which more than half differs is another line, not a near one.
        width = len(line.row) + len(line.facts)
        if closest is None or 2 * len(closest.cells) > 1 + width:
            alone.append(line)
        else:
            near.append(closest)
            rest.remove(closest.found)
    return Difference(tuple(alone), tuple(rest), tuple(near))


def _cells(expected: Line, found: Line) -> tuple[Cell, ...]:
    """Returns the cells and facts that differ between two lines."""
    left, right = folded(expected.row), folded(found.row)
    names = [*left, *(name for name in right if name not in left)]
    cells = [Cell(n, left.get(n, NO_COLUMN), right.get(n, NO_COLUMN)) for n in names]
    differing = [cell for cell in cells if not same_value(cell.expected, cell.found)]
    # A fact of which the engine says nothing is no difference.
    facts = [
        Cell(name, value, found.facts[name])
        for name, value in expected.facts.items()
        if found.facts.get(name, value) != value
    ]
    return (*differing, *facts)


def _place_difference(expected: Sequence[Line], found: Sequence[Line]) -> Difference:
    """Returns the first place at which another line stands than expected."""
    # What is found may be of some outlets, or without marks: the rest has no place.
    outlets = {line.facts["out"] for line in found}
    with_marks = any(line.is_mark() for line in found)
    wanted = [
        line
        for line in expected
        if ("out" not in line.facts or line.facts["out"] in outlets)
        and (with_marks or not line.is_mark())
    ]
    if len(wanted) != len(found):  # lines that name no outlet, in several outlets
        return SAME
    for place, (line, other) in enumerate(zip(wanted, found, strict=True)):
        if not line.is_same(other):
            near = Near(line, other, _cells(line, other))
            note = f"the rows are right, their order is not: see row {place}"
            return Difference(near=(near,), notes=(note,))
    return SAME


def _time_difference(column: str, found: Sequence[Line]) -> Difference:
    """Returns a note where a row's time is below that of the row before it."""
    times = [folded(line.row).get(column.lower()) for line in found]
    for before, after in pairwise(time for time in times if time is not None):
        if after < before:  # type: ignore[operator] # one column, so of one type
            note = f'the rows are right, but not in the order of "{column}"'
            return Difference(notes=(f"{note}: {after} comes after {before}",))
    return SAME


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
    near = []
    for pair in difference.near:
        cells = "; ".join(
            f"{cell.name}: expected {plain(cell.expected)}, found {plain(cell.found)}"
            for cell in pair.cells
        )
        near.append(f"differs     {shown(pair.expected)}: {cells}")
    return [
        *difference.notes,
        *_some(near),
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


def _some(texts: list[str]) -> Iterator[str]:
    """Gives the first ten texts, and how many more there are."""
    yield from texts[:SHOWN]
    if len(texts) > SHOWN:
        yield f"... and {len(texts) - SHOWN} more like these"
