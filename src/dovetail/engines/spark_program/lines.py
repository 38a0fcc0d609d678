"""A program as lines of PySpark: plain data that one reader runs and another prints.

    people = inputs["people"]                                   Taken
    adults = people.alias("l").where("l.`age` >= 18")           Changed
    pairs = dt.join({..}, {"left": adults, "right": pets})      Met
    "Result 1": pairs                                           Put

A line makes one frame and gives it a name. What it calls are methods of a DataFrame,
with SQL texts, numbers and names of other frames as arguments, so whatever runs can be
printed, and whatever is printed runs. Only indexes on disk (Kept, Sought, Pointed,
Unpointed) are for a run alone: what is printed has the rows of their sources.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from dovetail import spec


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
