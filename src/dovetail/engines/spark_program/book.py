"""The lines of a program as they are written, one for each frame.

A step is written once, however many others take its rows.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from dovetail.engines.spark_index.shelf import Shape
from dovetail.engines.spark_program.lines import Call, Changed, Line, Method
from dovetail.engines.spark_program.rows import Rows, Term
from dovetail.expression import Expression
from dovetail.schema import quoted

ALONE = "all rows go through one task here: each looks at those before it"
_WORDS = {"spark", "inputs", "dt", "F", "outputs", "main"}


@dataclass(slots=True)
class Book:
    """The lines so far, and which names are taken.

    `asked`: the steps, by identity, of which an order is asked. `known`: the columns
    that inputs have, in lower case, where they are known. `shelf`: the indexes on disk
    by their files.
    """

    asked: frozenset[int]
    known: Mapping[str, frozenset[str]]
    shelf: dict[str, Shape] = field(default_factory=dict)
    lines: list[Line] = field(default_factory=list)
    frames: set[str] = field(default_factory=set)
    count: int = 0

    def name(self, wish: str) -> str:
        """Returns the name of a frame to be: as wished, or numbered."""
        plain = re.sub(r"\W+", "_", wish.lower(), flags=re.ASCII).strip("_") or "rows"
        if plain[0].isdigit():
            plain = f"rows_{plain}"
        taken = self.frames | _WORDS
        found, number = plain, 1
        while found in taken or keyword.iskeyword(found):
            number += 1
            found = f"{plain}_{number}"
        self.frames.add(found)
        return found

    def hidden(self, what: str) -> str:
        """Returns a hidden column that no frame has."""
        self.count += 1
        return self.unused(f"{what} {self.count}")

    def unused(self, name: str) -> str:
        """Returns a name that no column of an input has: as wished, or longer."""
        while any(name in columns for columns in self.known.values()):
            name += " again"
        return name

    def changed(self, rows: Rows, wish: str, *calls: Call, note: str = "") -> Rows:
        """Returns the rows after calls, as a frame of its own."""
        name = self.name(wish)
        self.lines.append(Changed(name, rows.frame, calls, note))
        return replace(rows, frame=name)

    def placed(self, rows: Rows) -> Rows:
        """Returns the rows with columns that tell their order."""
        if rows.order:
            return rows
        place = self.hidden("place")
        text = f"monotonically_increasing_id() AS {quoted(place)}"
        found = self.changed(rows, f"{rows.frame}_placed", select("*", text))
        return replace(found, order=(Term(place),))

    def sorted(self, rows: Rows) -> Rows:
        """Returns the rows as a frame that has them in their order."""
        if rows.in_place or not rows.order:
            return rows
        by = tuple(term.sorting for term in rows.order)
        found = self.changed(rows, f"{rows.frame}_sorted", Call(Method.SORT, by))
        return replace(found, in_place=True)

    def numbered(self, rows: Rows) -> Rows:
        """Returns the rows with one number as their order."""
        placed = self.placed(rows)
        first, *more = placed.order
        if first.is_number and not more and not first.is_descending:
            return placed
        return self.placed(replace(self.sorted(placed), order=()))


def select(*texts: str) -> Call:
    """Returns the call that computes columns."""
    return Call(Method.SELECT, texts)


def where(text: str) -> Call:
    """Returns the call that keeps rows."""
    return Call(Method.WHERE, (text,))


def as_row(letter: str) -> Call:
    """Returns the call that names a row for expressions."""
    return Call(Method.ALIAS, (letter,))


def aliased(expression: Expression | str, name: str) -> str:
    """Returns a column that is computed under a name."""
    return f"{expression} AS {quoted(name)}"
