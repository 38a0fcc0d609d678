"""A program: rows that become other rows step by step, joins among the steps.

    given "people" -> filtered -> joined -> sorted -> output "Result 1"
    inline rows    -----------------^

A front end of a whole language writes one; an engine goes through it and runs each
join as it runs any other. Steps are frozen and know their columns. Expressions of a
step see its row as `l`; those of `Projected` also `counter`, which starts at 1 in each
group; `same` of `Deduped` sees an earlier row as `l` and a later one as `r`.

Rows may be grouped: neighbours that belong together. Sorting, deduping, counting and
choosing then go group by group. A group that loses all its rows is none any more.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import Enum

from dovetail.errors import SchemaError, UnsupportedError
from dovetail.expression import NEVER, Expression
from dovetail.schema import Schema
from dovetail.spec import code, firing
from dovetail.spec.inputs import Outlet
from dovetail.spec.join import (
    Columns,
    JoinSpec,
    SetJoinSpec,
)
from dovetail.spec.spans import NO_TIME, Span
from dovetail.spec.stops import Failure, Plainly, Skew
from dovetail.spec.windows import Eviction, KeepPartitions

LEFT, RIGHT = "left", "right"
CHANGE = "change"
"""The column of what comes out of a table that says what each row does to it."""


# How a text says that an input is written, where it says it at all.


@dataclass(frozen=True, slots=True)
class AnyLayout:
    """The ending of a file tells; of rows that are given there is nothing to tell."""


class Heading(Enum):
    """What the first line of a file of CSV is.

    IF_NAMED: names of columns, if it has the name of one that is declared.
    """

    NAMES = "names of columns"
    NONE = "a row"
    IF_NAMED = "either"


@dataclass(frozen=True, slots=True)
class CsvLayout:
    """Values between separators, a row a line.

    Without a heading columns go by their place.
    """

    separator: str = ","
    quote: str = '"'
    heading: Heading = Heading.IF_NAMED

    @property
    def has_heading(self) -> bool:
        """Tells whether the first line is, or may be, no row."""
        return self.heading is not Heading.NONE


@dataclass(frozen=True, slots=True)
class JsonLayout:
    """An object a line, or a list of objects."""


Layout = AnyLayout | CsvLayout | JsonLayout


class Lack(Enum):
    """What stands for a value that a row of an input lacks.

    BLANK: 0, "" or false by its type; a text is then without the blanks at its end.
    """

    BLANK = "the blank value"
    NULL = "null"
    REFUSED = "nothing: the run ends"


@dataclass(frozen=True, slots=True)
class NumberRange:
    """The least and the greatest number of a column; `type` is what the text says."""

    column: str
    least: int
    most: int
    type: str

    @property
    def words(self) -> str:
        """Returns what is expected of a value."""
        return f"{self.type}, from {self.least} to {self.most}"


def refuse_beyond(
    ranges: Iterable[NumberRange], row: Mapping[str, object], where: str
) -> None:
    """Raises a SchemaError for a number out of its range; `where` has the row."""
    for one in ranges:
        value = row[one.column]
        if isinstance(value, int | Decimal) and not one.least <= value <= one.most:
            raise SchemaError(
                f'{where}: the column "{one.column}" has "{value}"', one.words
            )


# The steps.


@dataclass(frozen=True, slots=True)
class Outside:
    """Somebody gives the rows of an input."""


@dataclass(frozen=True, slots=True)
class Counting:
    """So many rows that a program gives itself: each has its number, from 0.

    The first one comes after a `delay`, each other one after a `period`, in
    microseconds. Of one moment the lower number is first, then the lower `rank`. All
    of them come before the rows from outside.
    """

    count: int
    delay: int
    period: int
    rank: int


@dataclass(frozen=True, slots=True)
class Given:
    """The rows of an input; `position` is the column that numbers them, if any.

    Where the rows themselves have that column, it stays as it is. An input that a text
    declares twice, in two ways, has a name for each; `source` is its own one. `ranges`
    are those of columns whose type alone has room for more. In an `exact` input only
    the `optional` columns may lack a value, and texts are as they are written.
    """

    name: str
    schema: Schema
    position: str = ""
    layout: Layout = AnyLayout()
    source: str = ""
    ranges: tuple[NumberRange, ...] = ()
    exact: bool = False
    optional: tuple[str, ...] = ()
    origin: Outside | Counting = Outside()

    @property
    def input(self) -> str:
        """Returns the name of the input that gives the rows."""
        return self.source or self.name

    def lack(self, column: str) -> Lack:
        """Returns what stands for a value that a row lacks in a column."""
        if not self.exact:
            return Lack.BLANK
        return Lack.NULL if column in self.optional else Lack.REFUSED


@dataclass(frozen=True, slots=True)
class Inline:
    """Rows that stand in the text, each a plain value a column."""

    schema: Schema
    rows: tuple[tuple[object, ...], ...]


@dataclass(frozen=True, slots=True)
class Written:
    """The rows of an index that an earlier program has written, and nothing else gives.

    It stands below an `Indexed` of the same file, which whoever keeps indexes reads.
    """

    file: str
    schema: Schema

    def unread(self) -> UnsupportedError:
        """Returns the error where no indexes are kept, or not this one."""
        return UnsupportedError(
            f'the index "{self.file}" is not there, and no data set gives its rows',
            "a run on Spark with the folder in which an earlier program has built it",
            f'give its rows as an input named "{self.file}"',
        )


@dataclass(frozen=True, slots=True)
class SameColumns:
    """A step whose rows have the columns of its source."""

    source: Step

    @property
    def schema(self) -> Schema:
        """Returns the columns of the source."""
        return self.source.schema


@dataclass(frozen=True, slots=True)
class Filtered(SameColumns):
    """The rows of which a condition is true."""

    condition: Expression


@dataclass(frozen=True, slots=True)
class Projected:
    """One row for each row, unless it is skipped."""

    source: Step
    schema: Schema
    select: Columns
    skip_when: Expression = NEVER


@dataclass(frozen=True, slots=True)
class By:
    """What rows are sorted by."""

    value: Expression
    is_descending: bool = False


@dataclass(frozen=True, slots=True)
class Ordered(SameColumns):
    """The rows in another order; equal ones stay as they were."""

    by: tuple[By, ...]


@dataclass(frozen=True, slots=True)
class Indexed(SameColumns):
    """The rows of an index, which its source gives in the order of the keys.

    `file` is the name under which it is written, if it has one. Who finds it there may
    read it there instead.
    """

    keys: tuple[str, ...]
    file: str = ""


@dataclass(frozen=True, slots=True)
class Deduped(SameColumns):
    """Of rows that are the same the first `keep`, or the last ones.

    Neighbours are compared, or all rows with all (`is_all`).
    """

    same: Expression
    is_all: bool = False
    keep: int = 1
    keeps_last: bool = False


@dataclass(frozen=True, slots=True)
class Grouped(SameColumns):
    """The same rows; neighbours with the same values are a group. By none: none."""

    by: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Chosen(SameColumns):
    """So many rows from a place on, which counts from 1."""

    first: int
    count: int


@dataclass(frozen=True, slots=True)
class Numbered:
    """The rows with one more column: their number, from 0.

    Where numbers `may_gap` any will do, each of one row alone, and groups stay.
    """

    source: Step
    schema: Schema
    column: str
    may_gap: bool = False


@dataclass(frozen=True, slots=True)
class Appended:
    """The rows of several, one after the other."""

    sources: tuple[Step, ...]

    @property
    def schema(self) -> Schema:
        """Returns the columns of the first."""
        return self.sources[0].schema


@dataclass(frozen=True, slots=True)
class Counted:
    """One row for each group: `ROWS_COUNT()` and its relatives see all its rows.

    `l` is the first of them, blank where there is none. With `by` those rows are a
    group that have the same values in these columns, wherever they stand; where the
    step `keeps_groups`, in one group of the source, whose rows stay one.
    """

    source: Step
    schema: Schema
    select: Columns
    by: tuple[str, ...] = ()
    keeps_groups: bool = False


@dataclass(frozen=True, slots=True)
class Unfolded:
    """A row for each item of a list of rows that a row has, in its order.

    `keeps_groups`: the items of one list are a group.
    """

    source: Step
    schema: Schema
    column: str
    keeps_groups: bool = False


@dataclass(frozen=True, slots=True)
class Windowed:
    """What a window over rows that come one by one gives as it fires.

    `by` are columns of its partitions, of which whole ones may be dropped; those may
    fire as they are, `fires_dropped`.
    """

    source: Step
    schema: Schema
    window: firing.FiringWindow
    gives: firing.Gives
    by: tuple[str, ...] = ()
    drops: Eviction = KeepPartitions()
    fires_dropped: bool = False

    @property
    def apart(self) -> tuple[str, ...]:
        """Returns columns, if any, of which rows of other values know nothing here."""
        match self:
            case Windowed(gives=firing.Groups(by=groups, counts="")) if (
                self.drops == KeepPartitions()
            ):
                times = firing.ByTime, firing.ByCalendar
                # What time alone fires fires for all groups at once, each by itself.
                by_time = isinstance(self.window.fires, times)
                by_time &= isinstance(self.window.keeps, times)
                return self.by or (groups if by_time else ())
            case _:
                return ()


@dataclass(frozen=True, slots=True)
class Aligned:
    """A row of each of several streams, as soon as one of each is waiting.

    The rows of all of them come together: the column `port` says from which one a row
    is, and of each one a column of `parts` has what is shown of its rows. Only rows of
    equal values in the columns `by` wait for each other.
    """

    source: Step
    schema: Schema
    port: str
    parts: tuple[str, ...]
    by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Recognized:
    """The same rows that come one by one, with whether one repeats an earlier one.

    It does where a row of the same values in the columns `by` is remembered, which is
    `within` so many rows, so little below it by a column, or so long before it. Each
    row is remembered; one that repeats only where it `renews` what it repeats. A mark
    goes on, and may have all forgotten. Values that hold NaN are remembered by nobody.
    """

    source: Step
    schema: Schema
    column: str
    by: tuple[str, ...]
    within: firing.Policy
    renews: bool = True
    forgets: bool = False


Keeping = Windowed | Aligned | Recognized
"""Steps that remember rows, and are neither joins nor code."""


@dataclass(frozen=True, slots=True)
class Marked(SameColumns):
    """The same rows, with a mark before or behind each of which a condition is true.

    Marks that were there are not any more.
    """

    condition: Expression = NEVER
    is_before: bool = False


@dataclass(frozen=True, slots=True)
class Coded:
    """What code hands on by one of its ports, of rows that come one by one.

    Steps of the same `code` and source are its ports: it is carried out once. Rows of
    other values in the columns `apart` know nothing of each other, if there are some.
    """

    source: Step
    code: code.Code
    port: int = 0
    apart: tuple[str, ...] = ()

    @property
    def schema(self) -> Schema:
        """Returns the columns of what goes out by the port."""
        return self.code.ports[self.port]

    @property
    def seen(self) -> Schema:
        """Returns the columns that the code sees: those of a row, and variables."""
        return Schema((*self.source.schema.columns, *self.code.variables.columns))


@dataclass(frozen=True, slots=True)
class Alone:
    """No index beside the right rows of a join has their positions."""


@dataclass(frozen=True, slots=True)
class Told:
    """A join in words: its name and line, and what each of its options became."""

    title: str
    options: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Joined:
    """A join of two; its sides are named `left` and `right`.

    `keeps_groups`: a group of the left rows gives a group of results. `skew` is for
    engines that join in many parts. `pointer` is an index that may have the positions
    of the right rows; who reads them by it gets the same rows, if sooner. Where a join
    has several ports, each is a step of the same `join` and sources with its `outlet`.
    """

    left: Step
    right: Step
    join: JoinSpec
    schema: Schema
    told: Told
    failure: Failure | Plainly = Plainly()
    keeps_groups: bool = False
    skew: Skew = Skew()
    pointer: Indexed | Alone = Alone()
    outlet: Outlet = Outlet.MATCHED


@dataclass(frozen=True, slots=True)
class SetJoined:
    """A join of several sets, named `set 1`, `set 2`, .."""

    sources: tuple[Step, ...]
    join: SetJoinSpec
    schema: Schema
    told: Told


@dataclass(frozen=True, slots=True)
class InRowTime(SameColumns):
    """The same rows in the order of their column `time`, none that is late.

    Equal times stand in the order of the columns `by`, each with whether it descends,
    and else as they have come. An operator behind it has row time as its clock.
    """

    time: str
    by: tuple[tuple[str, bool], ...] = ()


@dataclass(frozen=True, slots=True)
class Retimed(SameColumns):
    """The same rows, whose row time is from here on their column `time`.

    A row may come so much behind the newest one, `lateness`. How far the time has come
    that they had before says nothing any more, but that they have ended. A column may
    `number` them in the order in which they come.
    """

    time: str
    lateness: Span = NO_TIME
    number: str = ""


@dataclass(frozen=True, slots=True)
class Tried(SameColumns):
    """The same rows in row time; of each of which a condition is true it is told.

    A value of it cannot be computed, and is null. Who asks for rows that were late gets
    such rows beside them, as they came.
    """

    failed: Expression


@dataclass(frozen=True, slots=True)
class TimedInput:
    """The rows of a step as an input of a join, by whose name the join knows them.

    `time` is the column of their row time; those of a table have none. Rows of a table
    that a join changes have a `key`.
    """

    name: str
    step: Step
    time: str = ""
    key: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class JoinedInRowTime:
    """The rows of a join on the clock event, or batch, with joins inside it perhaps.

    Its inputs are steps: those of a text's own streams, and `Given` ones. Of a table
    that changes the column `change` says what each row does to it, if it has a name.
    What fails of rows of inputs, `tried` beside the join, is told and does nothing.
    """

    join: JoinSpec
    inputs: tuple[TimedInput, ...]
    schema: Schema
    change: str = ""
    tried: tuple[Tried, ...] = ()


Step = (
    Given
    | Inline
    | Written
    | Filtered
    | Projected
    | Ordered
    | Indexed
    | Deduped
    | Grouped
    | Chosen
    | Numbered
    | Appended
    | Counted
    | Unfolded
    | Windowed
    | Aligned
    | Recognized
    | Marked
    | Coded
    | InRowTime
    | Retimed
    | Tried
    | Joined
    | JoinedInRowTime
    | SetJoined
)


@dataclass(frozen=True, slots=True)
class Output:
    """Rows that come out under a name; a text may call what fills them a `pump`."""

    name: str
    step: Step
    pump: str = ""


@dataclass(frozen=True, slots=True)
class Built:
    """An index that is written; one that is there must be replaced expressly."""

    index: Indexed
    replaces: bool


@dataclass(frozen=True, slots=True)
class Program:
    """What comes out, in order; `remarks` say what of the text has no effect.

    `builds` are written before anything comes out. Where nothing keeps files they mean
    nothing: an index has its rows anyway. Nor do `files`, what OUTPUT puts under the
    name of a file: who keeps files writes them as it writes what comes out.

    `tables` are made once of data sets, and stand among the inputs of all else.

    `anew` says where the text wants that nothing is known any more after a restart. Of
    steps that take the same row the one goes first that is first in `order`.
    """

    outputs: tuple[Output, ...]
    remarks: tuple[str, ...] = ()
    builds: tuple[Built, ...] = ()
    files: tuple[Output, ...] = ()
    anew: str = ""
    order: tuple[Step, ...] = field(default=(), repr=False, compare=False)
    tables: tuple[Output, ...] = ()


def sources_of(step: Step) -> tuple[Step, ...]:
    """Returns the steps whose rows a step takes."""
    match step:
        case Given() | Inline() | Written():
            return ()
        case Joined(left, right):
            return (left, right)
        case JoinedInRowTime(inputs=inputs):
            return tuple(one.step for one in inputs)
        case SetJoined(sources) | Appended(sources):
            return sources
        case _:
            return (step.source,)


def steps_of(program: Program) -> tuple[Step, ...]:
    """Returns the steps of a program, each once, sources before what takes them."""
    builds = (built.index for built in program.builds)
    return _behind((*builds, *(output.step for output in program.outputs)))


def _behind(ends: Iterable[Step]) -> tuple[Step, ...]:
    """Returns steps with all that stand in front of them, in the order of the ends."""
    found: dict[int, Step] = {}

    def visit(step: Step) -> None:
        # By identity: to compare two steps is to compare all that stands below them.
        if id(step) not in found:
            for source in sources_of(step):
                visit(source)
            found[id(step)] = step

    for end in ends:
        visit(end)
    return tuple(found.values())


def numbers_of(program: Program) -> dict[int, int]:
    """Returns the number of each step, by its identity: those in front have lower ones.

    Else the order of the program decides. The ports of one operator, a join or code,
    have the number of the first of them.
    """
    numbers: dict[int, int] = {}
    operators: dict[int, int] = {}
    for number, step in enumerate(_behind((*program.order, *steps_of(program)))):
        match step:
            case Joined():
                shared: object = step.join
            case Coded():
                shared = step.code
            case _:
                shared = step
        numbers[id(step)] = operators.setdefault(id(shared), number)
    return numbers


def givens_of(program: Program) -> tuple[Given, ...]:
    """Returns the inputs that a program takes."""
    return tuple(step for step in steps_of(program) if isinstance(step, Given))


def is_exact(program: Program) -> bool:
    """Tells whether a program takes all rows as they are, with nulls and blanks."""
    givens = givens_of(program)
    return bool(givens) and all(one.exact for one in givens)


@dataclass(frozen=True, slots=True)
class Stretch:
    """The places of rows by their numbers: `first`, and each other `step` behind."""

    count: int
    first: int
    step: int


_MOST_PLACE = 1 << 62


def stretches_of(program: Program) -> dict[str, Stretch]:
    """Returns where in the order of arrival rows stand that a program gives itself.

    All stand below 0, which is where rows from outside begin.
    """
    found = {
        one.input: one.origin
        for one in givens_of(program)
        if isinstance(one.origin, Counting)
    }
    most = max((one.count for one in found.values()), default=0) + 1
    ranks = max((one.rank for one in found.values()), default=0) + 1
    # The moment counts most, then the number, then the rank.
    places = {
        name: Stretch(
            one.count,
            one.delay * most * ranks + one.rank,
            (one.period * most + 1) * ranks,
        )
        for name, one in found.items()
    }
    past = max((it.first + it.count * it.step for it in places.values()), default=0)
    if past > _MOST_PLACE:
        told = "rows that a program gives itself last too long to be numbered"
        raise SchemaError(told, "fewer of them, or a shorter period")
    return {
        name: Stretch(one.count, one.first - past, one.step)
        for name, one in places.items()
    }


def schema_of(program: Program, name: str) -> Schema:
    """Returns the columns of an output."""
    return next(one.step.schema for one in program.outputs if one.name == name)


def is_grouped(step: Step) -> bool:
    """Tells whether the rows of a step are in groups."""
    match step:
        case Grouped(by=by):
            return bool(by)
        case Joined() | Unfolded() | Counted():
            return step.keeps_groups
        case Numbered(source, may_gap=may_gap):
            return may_gap and is_grouped(source)
        case Filtered() | Projected() | Ordered() | Indexed() | Deduped() | Chosen():
            return is_grouped(step.source)
        case _:
            return False


def set_name(number: int) -> str:
    """Returns the name of a set of a join of several, counted from 0."""
    return f"set {number + 1}"
