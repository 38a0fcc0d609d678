"""A join with a file whose index is beside it: KEYED(index).

    JOIN(few, file, LEFT.k = RIGHT.k, KEYED(index))

The index has the positions of the file's rows. Where both lie on disk the file is read
at those of the left keys alone; what stands between the file and the join, a filter and
the order of the index, is done to the rows that are read.
"""

from __future__ import annotations

from collections.abc import Iterator

from dovetail.engines.spark_program.book import Book
from dovetail.engines.spark_program.indexing import (
    below,
    is_file,
    is_kept,
    rows_of,
    sought,
    terms,
)
from dovetail.engines.spark_program.lines import Pointed, Unpointed
from dovetail.engines.spark_program.rows import Rows
from dovetail.spec.program import Filtered, Indexed, Joined, Ordered, Step

_NO_FILE = "it is no file that a program has written with positions of its rows"


def pointed(
    book: Book, left: Rows, step: Joined, index: Indexed
) -> Iterator[tuple[Indexed, Rows]]:
    """Yields the file of a join and its rows that an index points to, if it can."""
    files = list(_file(book, step.right))
    for file in files if is_kept(book, index) else ():
        line = sought(book, file, title=step.told.title)
        asked = (left.frame, tuple(terms(index, step.join)))
        book.lines.append(Pointed(index.file, asked, line))
        yield file, rows_of(file, line)
        return
    why = f"the index {index.file} is not built".replace("  ", " ")
    book.lines.append(Unpointed(step.told.title, why if files else _NO_FILE))


def _file(book: Book, step: Step) -> Iterator[Indexed]:
    """Yields the file on disk whose rows a step filters and sorts, if it is one."""
    match step:
        case Ordered(source) | Filtered(source):
            yield from _file(book, source)
        case _:
            yield from filter(is_file, below(book, step))
