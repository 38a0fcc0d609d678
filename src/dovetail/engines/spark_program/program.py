"""From a program to lines: every step becomes a frame, sources before what takes them.

Filtered(Given("people"))    ->    people = inputs["people"]
                                   filtered = people.where(..)

Keeping an order costs: places are carried through joins, and rows are sorted. So it is
found beforehand who looks at it: a step that counts or compares neighbours, a pick of
the first partners, and an output whose order the language promises. That is any but the
order of a join for which ECL promises none.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import assert_never

from dovetail import spec
from dovetail.engines.spark_index.shelf import NoShelf, Shape
from dovetail.engines.spark_program import groups, indexes, lines, steps
from dovetail.schema import quoted

Known = Mapping[str, frozenset[str]]
Shelved = Mapping[str, Shape] | NoShelf
_NOTHING: Known = {}
_NO_SHELF = NoShelf()


def lowered(
    program: spec.Program, known: Known = _NOTHING, shelf: Shelved = _NO_SHELF
) -> tuple[lines.Line, ...]:
    """Returns the lines of a program.

    `known`: the columns that inputs have, in lower case; what is not known is there as
    it is declared. `shelf`: the indexes on disk, where they are kept.
    """
    book = lines.Book(asked_of(program), known)
    writer = _Writer(book)
    if not isinstance(shelf, NoShelf):
        book.shelf.update(shelf)
        # Before the outputs, which may read what is built.
        for built in program.builds:
            indexes.kept(book, writer.rows(built.index.source), built)
    for output in program.outputs:
        writer.put(output, is_exact=spec.is_exact(program))
    return tuple(book.lines)


@dataclass(slots=True)
class _Writer:
    """Writes steps into a book; what has been written is remembered by the step."""

    book: lines.Book
    written: dict[int, lines.Rows] = field(default_factory=dict)

    def rows(self, step: spec.Step) -> lines.Rows:
        """Returns the frame of a step."""
        # A step lives as long as its program, so its identity is a name for it.
        if id(step) not in self.written:
            self.written[id(step)] = _rows(self.book, step, self._sources(step))
        return self.written[id(step)]

    def _sources(self, step: spec.Step) -> list[lines.Rows]:
        """Returns the frames whose rows a step takes."""
        match step:
            case spec.Indexed() if indexes.is_kept(self.book, step):
                return [indexes.whole(self.book, step)]
            case spec.Joined(left, right, join) if indexes.is_sought(join):
                first = self.rows(left)
                for index, rows in indexes.sought(self.book, first, step):
                    return [first, self._above(right, index, rows)]
                return [first, self.rows(right)]
            case _:
                return [self.rows(source) for source in spec.sources_of(step)]

    def _above(
        self, step: spec.Step, index: spec.Indexed, rows: lines.Rows
    ) -> lines.Rows:
        """Returns the frame of steps above an index, given those of its rows to take.

        They are seen by this one join alone, so they are not remembered.
        """
        if step is index:
            return rows
        [source] = spec.sources_of(step)
        return _rows(self.book, step, [self._above(source, index, rows)])

    def put(self, output: spec.Output, *, is_exact: bool) -> None:
        """Writes what comes out: visible columns, sorted where that is promised."""
        rows = self.rows(output.step)
        # A sort of all rows is dear: only an order that is promised is kept.
        if id(output.step) in self.book.asked:
            rows = self.book.sorted(rows)
        columns = [
            quoted(one.name)
            if is_exact
            else lines.aliased(steps.trimmed(quoted(one.name), one.type), one.name)
            for one in rows.schema.columns
        ]
        found = self.book.changed(rows, output.name, lines.select(*columns))
        self.book.lines.append(lines.Put(output.name, found.frame))


def _rows(book: lines.Book, step: spec.Step, sources: list[lines.Rows]) -> lines.Rows:
    """Returns the frame of a step, given those of its sources."""
    match step:
        case spec.Inline():
            return steps.made(book, step)
        case spec.Given():
            return steps.taken(book, step)
        case spec.Indexed():
            return sources[0]
        case spec.Written():
            raise step.unread()
        case spec.Joined():
            left, right = sources
            return steps.joined(book, left, right, step)
        case spec.SetJoined():
            return steps.sets_joined(book, sources, step)
        case spec.Appended():
            return steps.appended(book, sources, step)
        case (
            spec.Windowed()
            | spec.Aligned()
            | spec.Recognized()
            | spec.Marked()
            | spec.Coded()
        ):
            raise TypeError(step)  # of rows that come one by one
        case spec.InRowTime() | spec.Retimed() | spec.Tried() | spec.JoinedInRowTime():
            raise TypeError(step)  # of streams
        case _:
            return _changed(book, sources[0], step)


def _changed(
    book: lines.Book,
    rows: lines.Rows,
    step: spec.Filtered
    | spec.Projected
    | spec.Ordered
    | spec.Chosen
    | spec.Numbered
    | spec.Deduped
    | spec.Grouped
    | spec.Counted
    | spec.Unfolded,
) -> lines.Rows:
    """Returns the frame of a step that takes the rows of one other."""
    match step:
        case spec.Filtered():
            return steps.filtered(book, rows, step)
        case spec.Projected():
            return steps.projected(book, rows, step)
        case spec.Ordered():
            return steps.ordered(book, rows, step)
        case spec.Chosen():
            return steps.chosen(book, rows, step)
        case spec.Numbered():
            return steps.numbered(book, rows, step)
        case spec.Deduped():
            return groups.deduped(book, rows, step)
        case spec.Grouped():
            return groups.grouped(book, rows, step)
        case spec.Counted():
            return groups.counted(book, rows, step)
        case spec.Unfolded():
            return groups.unfolded(book, rows, step)
        case _:
            assert_never(step)


def asked_of(program: spec.Program) -> frozenset[int]:
    """Returns the steps, by identity, the order of whose rows someone looks at."""
    found: set[int] = set()
    # A step may be asked for its order by one and not by another: both are followed,
    # each once.
    seen: set[tuple[int, bool]] = set()
    waiting = [(one.step, is_promised(one.step)) for one in program.outputs]
    waiting += [(one.index, True) for one in program.builds]
    while waiting:
        step, asks = waiting.pop()
        if (id(step), asks) in seen:
            continue
        seen.add((id(step), asks))
        if asks:
            found.add(id(step))
        waiting += [(one, _asks(step, one, asks=asks)) for one in spec.sources_of(step)]
    return frozenset(found)


def is_promised(step: spec.Step) -> bool:
    """Tells whether ECL says in which order the rows of a step are."""
    match step:
        case spec.Joined(left=left, join=join):
            return join.picks.strategy.keeps_order and is_promised(left)
        case (
            spec.Given()
            | spec.Inline()
            | spec.Written()
            | spec.Ordered()
            | spec.SetJoined()
        ):
            return True
        case _:
            return all(map(is_promised, spec.sources_of(step)))


def _asks(step: spec.Step, source: spec.Step, *, asks: bool) -> bool:
    """Tells whether a step looks at the order of a source."""
    match step:
        case spec.Numbered(may_gap=may_gap):
            return asks or not may_gap
        case spec.Deduped() | spec.Chosen() | spec.Counted() | spec.SetJoined():
            return True
        case spec.Grouped(by=by):
            return bool(by) or asks
        case spec.Projected():
            return steps.counts_rows(step) or asks
        case spec.Joined(right=right):
            # Right rows that nobody counts or takes the first of may come in any order.
            return asks or (source is right and steps.takes_first(step.join))
        case (
            spec.Filtered()
            | spec.Ordered()
            | spec.Indexed()
            | spec.Appended()
            | spec.Unfolded()
        ):
            return asks
        case (
            spec.Given()
            | spec.Inline()
            | spec.Written()
            | spec.Windowed()
            | spec.Coded()
            | spec.Aligned()
            | spec.Recognized()
            | spec.Marked()
            | spec.InRowTime()
            | spec.Retimed()
            | spec.Tried()
            | spec.JoinedInRowTime()
        ):
            return False
        case _:
            assert_never(step)
