"""A program as lines of PySpark: plain data that one reader runs and another prints.

    people = inputs["people"]                                   Taken
    adults = people.alias("l").where("l.`age` >= 18")           Changed
    pairs = dt.join({..}, {"left": adults, "right": pets})      Met
    "Result 1": pairs                                           Put

A line makes one frame and gives it a name. What it calls are methods of a DataFrame,
with SQL texts, numbers and names of other frames as arguments, so whatever runs can be
printed, and whatever is printed runs. Only indexes on disk (Kept, Sought, Pointed,
Unpointed) are for a run alone: what is printed has the rows of their sources.

The lines are written into a book, each step once, however many others take its rows.
The order of rows is told by hidden columns, whose names have a blank as no name in ECL
has. A frame that has its rows `in_place`, first partition first, needs none: they are
taken from there when a step asks for places.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from dovetail import spec
from dovetail.engines.spark_index.shelf import Shape
from dovetail.expression import Expression
from dovetail.expression.sql import text_of
from dovetail.expression.tree import Node
from dovetail.schema import Schema, quoted

ALONE = "all rows go through one task here: each looks at those before it"
# What is printed has names of its own, which no frame may take.
_WORDS = {"spark", "inputs", "dt", "F", "outputs", "main"}


class Method(Enum):
    """The methods of a DataFrame that lines call."""

    ALIAS = "alias"
    SELECT = "selectExpr"
    WHERE = "where"
    SORT = "sort"
    OFFSET = "offset"
    LIMIT = "limit"
    UNION = "union"
    GROUP = "groupBy"
    AGGREGATE = "agg"


@dataclass(frozen=True, slots=True)
class Sql:
    """An expression in SQL where the method takes no text."""

    text: str


@dataclass(frozen=True, slots=True)
class Downwards:
    """A column by which rows are sorted from the greatest on."""

    column: str


@dataclass(frozen=True, slots=True)
class FrameName:
    """The frame of another line."""

    frame: str


Argument = str | int | Sql | Downwards | FrameName


@dataclass(frozen=True, slots=True)
class Call:
    """A method with its arguments."""

    method: Method
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class Taken:
    """The frame of an input."""

    name: str
    input: str


@dataclass(frozen=True, slots=True)
class Made:
    """A frame of rows that stand in the text; `columns` is their schema in SQL."""

    name: str
    columns: str
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class Changed:
    """A frame made of another one; `note` says what a reader should know."""

    name: str
    source: str
    calls: tuple[Call, ...]
    note: str = ""


@dataclass(frozen=True, slots=True)
class Met:
    """A join of frames, and when its job stops."""

    name: str
    join: spec.JoinSpec | spec.SetJoinSpec
    frames: tuple[tuple[str, str], ...]
    stops: spec.Stops = spec.Stops()
    note: str = ""


@dataclass(frozen=True, slots=True)
class Put:
    """A frame that comes out under a name."""

    output: str
    frame: str


@dataclass(frozen=True, slots=True)
class Points:
    """A file to whose rows an index points, to every one; without a name there is none.

    `keys` are those of the index that are the file's own columns, `position` is the
    column with the number of the row.
    """

    file: str = ""
    keys: tuple[str, ...] = ()
    position: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """An index that is written; `place` is the column that decides among equal keys."""

    frame: str
    file: str
    keys: tuple[str, ...]
    place: str
    replaces: bool
    points: Points = Points()


@dataclass(frozen=True, slots=True)
class Sought:
    """Rows of an index on disk: what the rows of a frame need of it, or all.

    `asked`: the frame, and for each key what of its row must be equal; a frame without
    a name asks for all. `place` is the column that tells the order. `kind` says
    whether it is an index or a file.
    """

    name: str
    file: str
    asked: tuple[str, tuple[tuple[str, str], ...]]
    columns: tuple[str, ...]
    place: str
    note: str = ""
    kind: str = "index"


@dataclass(frozen=True, slots=True)
class Pointed:
    """Rows of a file on disk to which an index points for the rows of a frame.

    `rows` has what `Sought` has for a whole file; `asked` is as there, of the index.
    """

    index: str
    asked: tuple[str, tuple[tuple[str, str], ...]]
    rows: Sought


@dataclass(frozen=True, slots=True)
class Unpointed:
    """Tells why the index of a join does not say which rows of its data set to read."""

    note: str
    why: str


OnDisk = Kept | Sought | Pointed | Unpointed
Line = Taken | Made | Changed | Met | Put | OnDisk


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
        # What the text calls it, as far as Python allows it as a name.
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
        # What an input's columns are called is the user's choice: ours give way.
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
        # The numbers have gaps, but they grow as the rows of the frame come.
        text = f"monotonically_increasing_id() AS {quoted(place)}"
        found = self.changed(rows, f"{rows.frame}_placed", select("*", text))
        return replace(found, order=(Term(place),))

    def sorted(self, rows: Rows) -> Rows:
        """Returns the rows as a frame that has them in their order."""
        # Nothing to sort, or nothing to sort by.
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
        # Several columns become one: the rows are sorted, and numbered as they stand.
        return self.placed(replace(self.sorted(placed), order=()))


def select(*texts: str) -> Call:
    """Returns the call that computes columns."""
    return Call(Method.SELECT, texts)


def where(text: str) -> Call:
    """Returns the call that keeps rows."""
    return Call(Method.WHERE, (text,))


AS_ROW = Call(Method.ALIAS, ("l",))
"""The call that names a row as expressions do."""


def aliased(expression: Expression | str, name: str) -> str:
    """Returns a column that is computed under a name."""
    return f"{expression} AS {quoted(name)}"


@dataclass(frozen=True, slots=True)
class Unnamed:
    """A hidden column that is no value of the row as it is now."""


@dataclass(frozen=True, slots=True)
class Term:
    """A hidden column that sorts rows; `value` is what it is of the row.

    `is_number`: it is one number, not several that stand together.
    """

    column: str
    is_descending: bool = False
    value: Node | Unnamed = Unnamed()
    is_number: bool = True

    @property
    def text(self) -> str:
        """Returns the term in an ORDER BY."""
        return f"{quoted(self.column)}{' DESC' if self.is_descending else ''}"

    @property
    def sorting(self) -> str | Downwards:
        """Returns the term as an argument of `sort`."""
        name = quoted(self.column)
        return Downwards(name) if self.is_descending else name

    def backwards(self) -> Term:
        """Returns the term that sorts the other way."""
        return replace(self, is_descending=not self.is_descending)


Terms = tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """A frame by its name, and what is known of its rows.

    Rows of a group have the same `groups`, which come first in the order.
    """

    frame: str
    schema: Schema
    order: Terms = ()
    in_place: bool = True
    groups: Terms = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Returns the columns that are not hidden, in backticks."""
        return tuple(map(quoted, self.schema.names))

    @property
    def hidden(self) -> tuple[str, ...]:
        """Returns the hidden columns, in backticks."""
        # A column that makes groups may also sort: it is carried once.
        names = dict.fromkeys(term.column for term in (*self.groups, *self.order))
        return tuple(map(quoted, names))

    @property
    def record(self) -> str:
        """Returns a row as one value."""
        pairs = (f"{text_of(name)}, {quoted(name)}" for name in self.schema.names)
        return f"named_struct({', '.join(pairs)})"

    @property
    def named(self) -> FrameName:
        """Returns the frame as an argument."""
        return FrameName(self.frame)

    def without_values(self) -> Rows:
        """Returns the same rows where columns no longer are what they were."""
        return replace(
            self,
            order=tuple(replace(term, value=Unnamed()) for term in self.order),
            groups=tuple(replace(term, value=Unnamed()) for term in self.groups),
        )


def once(*terms: Term) -> Terms:
    """Returns terms without those whose column has sorted before."""
    found: dict[str, Term] = {}
    for term in terms:
        # Rows that a column did not tell apart it does not tell apart later either.
        found.setdefault(term.column, term)
    return tuple(found.values())


def window(parts: Terms, order: Terms) -> str:
    """Returns the OVER of rows of the same parts, in an order."""
    by = f"PARTITION BY {', '.join(quoted(term.column) for term in parts)} "
    sorted_by = f"ORDER BY {', '.join(term.text for term in order)}"
    return f"OVER ({by if parts else ''}{sorted_by})"
