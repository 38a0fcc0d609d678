"""Indexes on disk in a program: what one is there, and what a keyed join reads of it.

A key is a column, or a text without its trailing blanks, as ECL compares it: that one
lies beside the columns of the index, because its order is the index's.
"""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.engines.spark_batch.candidates import counted
from dovetail.engines.spark_index.shelf import Shape
from dovetail.engines.spark_program.book import Book
from dovetail.engines.spark_program.lines import Sought
from dovetail.engines.spark_program.rows import Rows, Term
from dovetail.schema import AtomicType, Column, quoted
from dovetail.spec.join import Hand, JoinSpec
from dovetail.spec.picks import Strategy
from dovetail.spec.program import (
    Filtered,
    Indexed,
    Joined,
    Ordered,
    Program,
    Step,
    steps_of,
)

_OF_TEXT = "key of {}"
_WHOLE = {
    AtomicType.TINYINT,
    AtomicType.SMALLINT,
    AtomicType.INT,
    AtomicType.BIGINT,
}
Asked = tuple[str, tuple[tuple[str, str], ...]]
_ALL: Asked = ("", ())


def indexes_of(program: Program) -> Iterator[Indexed]:
    """Yields the indexes that a program names, each file once."""
    files: set[str] = set()
    for step in steps_of(program):
        # An index that only points to rows gives none: it is no step of its own.
        found = step.pointer if isinstance(step, Joined) else step
        if isinstance(found, Indexed) and found.file and found.file not in files:
            files.add(found.file)
            yield found


def shape_of(index: Indexed) -> Shape:
    """Returns the keys and columns that an index has on disk."""
    own = [column for column, _ in keys_of(index)]
    names = index.schema.names
    extra = [Column(column, AtomicType.STRING) for column in own if column not in names]
    return Shape.of(tuple(own), [*index.schema.columns, *extra])


def keys_of(index: Indexed) -> Iterator[tuple[str, str]]:
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


def is_kept(book: Book, step: Step) -> bool:
    """Tells whether the rows of a step lie on disk as an index."""
    return (
        isinstance(step, Indexed)
        and bool(step.file)
        and book.shelf.get(step.file) == shape_of(step)
    )


def below(book: Book, step: Step) -> Iterator[Indexed]:
    """Yields the index on disk whose rows a step has, filtered or not, if it does."""
    match step:
        case Indexed() if is_kept(book, step):
            yield step
        case Filtered(source):
            yield from below(book, source)
        case _:
            return


def is_file(step: Indexed) -> bool:
    """Tells whether rows are a file, by their numbers, and no INDEX with its order."""
    return not isinstance(step.source, Ordered)


def is_sought(join: JoinSpec) -> bool:
    """Tells whether a join asks an index for the right rows of each left one."""
    return join.picks.strategy is Strategy.KEYED and not join.kind.preserves(Hand.RIGHT)


def whole(book: Book, index: Indexed) -> Rows:
    """Returns all rows of an index on disk."""
    line = sought(book, index, title=f"the {_kind(index)} {index.file}")
    book.lines.append(line)
    return rows_of(index, line)


def needed(book: Book, index: Indexed, left: Rows, step: Joined) -> Rows:
    """Returns the rows of an index on disk that the left rows of a join need."""
    asked = (left.frame, tuple(terms(index, step.join)))
    line = sought(book, index, asked, title=step.told.title)
    book.lines.append(line)
    return rows_of(index, line)


def sought(book: Book, index: Indexed, asked: Asked = _ALL, *, title: str) -> Sought:
    """Returns the line that reads rows of an index on disk into a new frame."""
    name, place = book.name("index"), book.hidden("place")
    columns = tuple(index.schema.names)
    return Sought(name, index.file, asked, columns, place, title, _kind(index))


def rows_of(index: Indexed, line: Sought) -> Rows:
    """Returns the rows that a line has read; a column of theirs tells their order."""
    return Rows(line.name, index.schema, (Term(line.place),), in_place=False)


def terms(index: Indexed, join: JoinSpec) -> Iterator[tuple[str, str]]:
    """Yields the keys that must be equal to something of the left row, and to what."""
    known = {
        text.replace("l.`", "r.`", 1).lower(): column
        for column, own in keys_of(index)
        for text in _texts(index, column, own)
    }
    for equality in counted(join):
        # Names have no case, and there is nothing else in the text of a key.
        column = known.get(equality.right.text.lower())
        if column is not None:
            yield column, equality.left.text


def _texts(index: Indexed, column: str, text: str) -> Iterator[str]:
    """Yields what is equal to a value just where a key is, in its order."""
    yield text
    if column in index.schema and index.schema[column].type in _WHOLE:
        # So it is compared with an unsigned number of 8 bytes.
        yield f"CAST({text} AS DECIMAL(20,0))"


def _kind(index: Indexed) -> str:
    """Returns whether rows on disk are a file or an index, in a word."""
    return "file" if is_file(index) else "index"
