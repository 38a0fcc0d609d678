"""From a program to lines: every step becomes a frame, sources before what takes them.

Filtered(Given("people"))    ->    people = inputs["people"]
filtered = people.where(..)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import assert_never

from dovetail.engines.spark_index.shelf import Shape
from dovetail.engines.spark_program import (
    beginning,
    changing,
    grouping,
    indexing,
    joining,
    keeping,
    pointing,
)
from dovetail.engines.spark_program.blanks import trimmed
from dovetail.engines.spark_program.book import Book, aliased, select
from dovetail.engines.spark_program.deduping import deduped
from dovetail.engines.spark_program.lines import Line, Put
from dovetail.engines.spark_program.rows import Rows
from dovetail.plan.asked import asked_of
from dovetail.schema import quoted
from dovetail.spec.program import (
    Appended,
    Chosen,
    Counted,
    Deduped,
    Filtered,
    Given,
    Grouped,
    Indexed,
    Inline,
    Joined,
    Numbered,
    Ordered,
    Output,
    Program,
    Projected,
    SetJoined,
    Step,
    Unfolded,
    Written,
    sources_of,
)

Known = Mapping[str, frozenset[str]]
_NOTHING: Known = {}


class Unkept(Enum):
    """No index is written or read on disk."""

    UNKEPT = "unkept"


Shelved = Mapping[str, Shape] | Unkept
_UNKEPT = Unkept.UNKEPT


def lowered(
    program: Program, known: Known = _NOTHING, shelf: Shelved = _UNKEPT
) -> tuple[Line, ...]:
    """Returns the lines of a program.

    `known`: the columns that inputs have, in lower case; what is not known is there as
    it is declared. `shelf`: the indexes on disk, where they are kept.
    """
    book = Book(asked_of(program), known)
    writer = _Writer(book)
    if not isinstance(shelf, Unkept):
        book.shelf.update(shelf)
        for built in program.builds:
            keeping.kept(book, writer.rows(built.index.source), built)
    for output in program.outputs:
        writer.put(output)
    return tuple(book.lines)


@dataclass(slots=True)
class _Writer:
    """Writes steps into a book; what has been written is remembered by the step."""

    book: Book
    written: dict[int, Rows] = field(default_factory=dict)

    def rows(self, step: Step) -> Rows:
        """Returns the frame of a step."""
        # A step lives as long as its program, so its identity is a name for it.
        if id(step) not in self.written:
            self.written[id(step)] = _rows(self.book, step, self._sources(step))
        return self.written[id(step)]

    def _sources(self, step: Step) -> list[Rows]:
        """Returns the frames whose rows a step takes."""
        match step:
            case Indexed() if indexing.is_kept(self.book, step):
                return [indexing.whole(self.book, step)]
            case Joined(left, right, join) if indexing.is_sought(join):
                first = self.rows(left)
                for index, rows in _sought(self.book, first, step):
                    return [first, self._above(right, index, rows)]
                return [first, self.rows(right)]
            case _:
                return [self.rows(source) for source in sources_of(step)]

    def _above(self, step: Step, index: Indexed, rows: Rows) -> Rows:
        """Returns the frame of steps above an index, given those of its rows to take.

        They are seen by this one join alone, so they are not remembered.
        """
        if step is index:
            return rows
        [source] = sources_of(step)
        return _rows(self.book, step, [self._above(source, index, rows)])

    def put(self, output: Output) -> None:
        """Writes what comes out: visible columns, sorted where that is promised."""
        rows = self.rows(output.step)
        if id(output.step) in self.book.asked:
            rows = self.book.sorted(rows)
        columns = [
            aliased(trimmed(quoted(one.name), one.type), one.name)
            for one in rows.schema.columns
        ]
        found = self.book.changed(rows, output.name, select(*columns))
        self.book.lines.append(Put(output.name, found.frame))


def _sought(book: Book, left: Rows, step: Joined) -> Iterator[tuple[Indexed, Rows]]:
    """Yields an index or a file on disk, and its rows that a join needs, if it can."""
    if isinstance(step.pointer, Indexed):
        yield from pointing.pointed(book, left, step, step.pointer)
    else:
        for index in indexing.below(book, step.right):
            yield index, indexing.needed(book, index, left, step)


def _rows(book: Book, step: Step, sources: list[Rows]) -> Rows:
    """Returns the frame of a step, given those of its sources."""
    match step:
        case Inline():
            return beginning.made(book, step)
        case Given():
            return beginning.taken(book, step)
        case Indexed():
            return sources[0]
        case Written():
            raise step.unread()
        case Joined() | SetJoined() | Appended():
            return _together(book, step, sources)
        case Deduped() | Grouped() | Counted() | Unfolded():
            return _by_neighbours(book, step, sources[0])
        case _:
            return _changed(book, step, sources[0])


def _together(
    book: Book, step: Joined | SetJoined | Appended, sources: list[Rows]
) -> Rows:
    """Returns the frame of a step that takes the rows of several others."""
    match step:
        case Joined():
            left, right = sources
            return joining.joined(book, left, right, step)
        case SetJoined():
            return joining.sets_joined(book, sources, step)
        case Appended():
            return changing.appended(book, sources, step)
        case _:
            assert_never(step)


def _by_neighbours(
    book: Book, step: Deduped | Grouped | Counted | Unfolded, rows: Rows
) -> Rows:
    """Returns the frame of a step that looks at rows that stand together."""
    match step:
        case Deduped():
            return deduped(book, rows, step)
        case Grouped():
            return grouping.grouped(book, rows, step)
        case Counted():
            return grouping.counted(book, rows, step)
        case Unfolded():
            return grouping.unfolded(book, rows, step)
        case _:
            assert_never(step)


def _changed(
    book: Book,
    step: Filtered | Projected | Ordered | Chosen | Numbered,
    rows: Rows,
) -> Rows:
    """Returns the frame of a step that takes the rows of one other."""
    match step:
        case Filtered():
            return changing.filtered(book, rows, step)
        case Projected():
            return changing.projected(book, rows, step)
        case Ordered():
            return changing.ordered(book, rows, step)
        case Chosen():
            return changing.chosen(book, rows, step)
        case Numbered():
            return changing.numbered(book, rows, step)
        case _:
            assert_never(step)
