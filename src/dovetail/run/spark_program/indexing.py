"""Indexes on disk in a program: BUILD writes one, a keyed join reads what it needs.

A key is a column, or a text without its trailing blanks, as ECL compares it: that one
lies beside the columns of the index, because its order is the index's.
"""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.run.spark_batch.matching import counted
from dovetail.run.spark_index.shelf import Shape
from dovetail.run.spark_program.book import Book, aliased, select
from dovetail.run.spark_program.lines import Kept, Sought
from dovetail.run.spark_program.rows import Rows, Term
from dovetail.schema import AtomicType, Column, quoted
from dovetail.spec.join import Hand, JoinSpec
from dovetail.spec.picks import Strategy
from dovetail.spec.program import (
    Built,
    Indexed,
    Joined,
    Ordered,
    Program,
    Step,
    steps_of,
)

_OF_TEXT = "key of {}"


def indexes_of(program: Program) -> Iterator[Indexed]:
    """Yields the indexes that a program names, each file once."""
    files: set[str] = set()
    for step in steps_of(program):
        if isinstance(step, Indexed) and step.file and step.file not in files:
            files.add(step.file)
            yield step


def shape_of(index: Indexed) -> Shape:
    """Returns the keys and columns that an index has on disk."""
    own = [column for column, _ in _keys(index)]
    names = index.schema.names
    extra = [Column(column, AtomicType.STRING) for column in own if column not in names]
    return Shape.of(tuple(own), [*index.schema.columns, *extra])


def _keys(index: Indexed) -> Iterator[tuple[str, str]]:
    """Yields the column on disk of each key, and what it is of a row."""
    plain = [f"l.{quoted(name)}" for name in index.keys]
    # Rows that nothing sorts stand in the order of their numbers, which are the key.
    texts = (
        [one.value.text for one in index.source.by]
        if isinstance(index.source, Ordered)
        else plain
    )
    for name, column, text in zip(index.keys, plain, texts, strict=False):
        if text == column:
            yield name, text
        elif text == f"rtrim({column})":
            yield _OF_TEXT.format(name), text
        else:
            # What follows is sorted by something else, and is no key on disk.
            return


def kept(book: Book, rows: Rows, built: Built) -> None:
    """Writes that an index is kept, given its rows in their order."""
    placed = book.numbered(rows)
    columns = built.index.schema.names
    extra = [
        aliased(text.replace("l.`", "`", 1), column)
        for column, text in _keys(built.index)
        if column not in columns
    ]
    found = book.changed(
        placed, "index", select(*placed.columns, *extra, *placed.hidden)
    )
    [place] = placed.order
    keys = tuple(column for column, _ in _keys(built.index))
    book.lines.append(
        Kept(found.frame, built.index.file, keys, place.column, built.replaces)
    )
    book.shelf[built.index.file] = shape_of(built.index)


def is_kept(book: Book, step: Step) -> bool:
    """Tells whether the rows of a step lie on disk as an index."""
    return (
        isinstance(step, Indexed)
        and bool(step.file)
        and book.shelf.get(step.file) == shape_of(step)
    )


def is_sought(join: JoinSpec) -> bool:
    """Tells whether a join asks an index for the right rows of each left one."""
    return join.picks.strategy is Strategy.KEYED and not join.kind.preserves(Hand.RIGHT)


def whole(book: Book, index: Indexed) -> Rows:
    """Returns all rows of an index on disk."""
    return _sought(book, index, ("", ()), f"the index {index.file}")


def needed(book: Book, index: Indexed, left: Rows, step: Joined) -> Rows:
    """Returns the rows of an index on disk that the left rows of a join need."""
    terms = tuple(_terms(index, step.join))
    return _sought(book, index, (left.frame, terms), step.told.title)


def _sought(
    book: Book,
    index: Indexed,
    asked: tuple[str, tuple[tuple[str, str], ...]],
    note: str,
) -> Rows:
    """Returns rows of an index on disk, with a column that tells their order."""
    left, terms = asked
    name, place = book.name("index"), book.hidden("place")
    columns = tuple(index.schema.names)
    book.lines.append(Sought(name, index.file, (left, terms), columns, place, note))
    return Rows(name, index.schema, (Term(place),), in_place=False)


def _terms(index: Indexed, join: JoinSpec) -> Iterator[tuple[str, str]]:
    """Yields the keys that must be equal to something of the left row, and to what."""
    known = {text.replace("l.`", "r.`", 1): column for column, text in _keys(index)}
    for equality in counted(join):
        column = known.get(equality.right.text)
        if column is not None:
            yield column, equality.left.text
