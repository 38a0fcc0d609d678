"""Indexes that a program writes: BUILD, and files that are kept by their positions.

An index of a whole file remembers that it points to every row of it, so that a join
with the file may read by the index.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dovetail.engines.spark_program.book import Book, aliased, select
from dovetail.engines.spark_program.indexing import is_file, is_kept, keys_of, shape_of
from dovetail.engines.spark_program.lines import Kept, Points
from dovetail.engines.spark_program.rows import Rows
from dovetail.expression import NEVER
from dovetail.schema import quoted
from dovetail.spec.program import Built, Indexed, Ordered, Projected, Step


def kept(book: Book, rows: Rows, built: Built) -> None:
    """Writes that an index is kept, given its rows in their order."""
    index = built.index
    placed = book.numbered(rows)
    columns = index.schema.names
    extra = [
        aliased(text.replace("l.`", "`", 1), column)
        for column, text in keys_of(index)
        if column not in columns
    ]
    found = book.changed(
        placed, "index", select(*placed.columns, *extra, *placed.hidden)
    )
    [place] = placed.order
    keys = tuple(column for column, _ in keys_of(index))
    points = _points(book, index)
    book.lines.append(
        Kept(found.frame, index.file, keys, place.column, built.replaces, points)
    )
    book.shelf[index.file] = shape_of(index)


def _points(book: Book, index: Indexed) -> Points:
    """Returns the file on disk to every row of which an index points, if there is."""
    for file, own in _files(book, index.source):
        places = [name for name, of in own.items() if of == file.keys[0]]
        for position in places[:1]:
            return Points(file.file, tuple(_own_keys(index, own)), position)
    return Points()


def _own_keys(index: Indexed, own: Mapping[str, str]) -> Iterator[str]:
    """Yields the keys on disk that are columns of a file, under their own names."""
    for (column, _), name in zip(keys_of(index), index.keys, strict=False):
        if own.get(name, "").lower() == name.lower():
            yield column


def _files(book: Book, step: Step) -> Iterator[tuple[Indexed, Mapping[str, str]]]:
    """Yields the file on disk that a step has all rows of, and its columns unchanged.

    Each of these is the name that the step has for it, and its own.
    """
    match step:
        case Indexed() if is_file(step):
            if is_kept(book, step):
                yield step, {name: name for name in step.schema.names}
        case Indexed(source) | Ordered(source):
            yield from _files(book, source)
        case Projected(source, skip_when=skip) if skip == NEVER:
            for file, own in _files(book, source):
                yield file, dict(_unchanged(step, own))
        case _:
            return


def _unchanged(step: Projected, own: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields the columns of a projection that are a file's, and their names there."""
    known = {f"l.{quoted(name)}": of for name, of in own.items()}
    for name, text in step.select.columns:
        if text.text in known:
            yield name, known[text.text]
