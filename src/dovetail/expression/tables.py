"""Tables whose entries stand beside their code: who answers for what says so itself.

@entered(READERS, "sort", "topn")
def read_sorted(..): ..
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Word = TypeVar("Word")
Reader = TypeVar("Reader")


def entered(table: dict[Word, Reader], *words: Word) -> Callable[[Reader], Reader]:
    """Enters a function into a table, under all that it answers for."""

    def enter(reader: Reader) -> Reader:
        table.update(dict.fromkeys(words, reader))
        return reader

    return enter
