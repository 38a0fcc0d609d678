"""Windows: each says from when until when a row is alive on its side.

A window is a name with its numbers, and what other rooms ask of any window: its word
in JSON, the clocks that have it, what it means in words. What lifetime a row gets from
it is one function per window in `kernels/lifetimes/births.py`, once more for batches in
`engines/spark_batch/lives.py`, and once as a definition in the oracle.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import ClassVar, Literal, get_args

from dovetail.errors import SpecError
from dovetail.expression import Expression
from dovetail.spec import fields
from dovetail.spec.fields import write_number, write_seconds
from dovetail.spec.inputs import Clock
from dovetail.spec.spans import NO_TIME, Span, parse_span

HopUnitName = Literal["second", "minute", "hour", "day", "week", "month", "year"]


def _need(found: str, expected: str, *, holds: bool) -> None:
    """Refuses a window whose numbers make no sense."""
    if not holds:
        raise SpecError(found, expected, rule="window_size")


def _is_length(span: Span) -> bool:
    """Tells whether a span is 0 or more microseconds on every date."""
    return span.is_exact and span.microseconds >= 0


# A new window answers these by itself, so that no room asks which window it has.
class Lifetime:
    """What other rooms ask of any window, as most windows have it.

    Windows that need an order of arrival are not for row time, nor the other way
    round; a batch has neither order, but for what a row says itself, or its key.
    """

    __slots__ = ()
    word: ClassVar[str] = ""
    clocks: ClassVar[tuple[Clock, ...]] = ()
    is_of_row_time: ClassVar[bool] = False

    @property
    def is_ended_by_rows(self) -> bool:
        """Tells whether rows that come later end a life."""
        return False

    @property
    def counts_later(self) -> bool:
        """Tells whether a life begins and ends with the nth later row by row time."""
        return False

    @property
    def hop_length(self) -> Span:
        """Returns how long the windows of a size are: a row has a life in each."""
        return NO_TIME

    @property
    def interval(self) -> tuple[Expression, ...]:
        """Returns the start and the end that a row names itself, where it does."""
        return ()

    @property
    def measures(self) -> tuple[Expression, ...]:
        """Returns the expressions over a row by which its life is found."""
        return self.interval

    @property
    def is_inherited(self) -> bool:
        """Tells whether lives are those of the rows that a row is made of."""
        return False

    @property
    def written(self) -> object:
        """Returns what stands behind the window's word in JSON, if anything does."""
        return None

    def in_words(self, moment: str) -> str:  # noqa: ARG002 - most windows need it
        """Returns from when until when a row is alive; `moment` is its time."""
        return "alive for ever"

    def kept(self, until: str) -> str:  # noqa: ARG002 - most windows need it
        """Returns which rows of a stream are kept; `until` says what time ends."""
        return "without a bound: every row that ever came"


@dataclass(frozen=True, slots=True)
class Rows(Lifetime):
    """The newest `count` rows of a partition; 0: met once, never stored."""

    word = "rows"
    clocks = (Clock.ARRIVAL,)
    count: int

    def __post_init__(self) -> None:
        """Refuses a negative number."""
        _need(f"a window of {self.count} rows", "0 or more", holds=self.count >= 0)

    @property
    def is_ended_by_rows(self) -> bool:
        """Tells it of all but a row that is met once: it is over before others come."""
        return self.count > 0

    @property
    def written(self) -> object:
        """Returns the number."""
        return self.count

    def in_words(self, moment: str) -> str:
        """Returns how many later rows end it."""
        if not self.count:
            return f"alive at {moment} only"
        later = (
            "1 later row has" if self.count == 1 else f"{self.count} later rows have"
        )
        return f"alive until {later} come"


@dataclass(frozen=True, slots=True)
class Seconds(Lifetime):
    """Until more than so much processing time has passed since arrival."""

    word = "seconds"
    clocks = (Clock.ARRIVAL,)
    length: Span

    def __post_init__(self) -> None:
        """Refuses a length that is negative or not always the same."""
        _need(
            f"a window of {self.length}",
            "0 seconds or more",
            holds=_is_length(self.length),
        )

    @property
    def written(self) -> object:
        """Returns the seconds."""
        return write_seconds(self.length)

    def in_words(self, moment: str) -> str:  # noqa: ARG002 - as all
        """Returns how long."""
        return f"alive for {self.length.in_words()} of the clock on the wall"

    def kept(self, until: str) -> str:  # noqa: ARG002 - as all
        """Returns those of the last seconds."""
        return f"rows that came up to {self.length.in_words()} ago"


@dataclass(frozen=True, slots=True)
class Delta(Lifetime):
    """Until a later row's `by` is more than `width` above this row's."""

    word = "delta"
    clocks = (Clock.ARRIVAL,)
    by: Expression
    width: Decimal

    def __post_init__(self) -> None:
        """Refuses a negative width."""
        _need(f"a delta of the width {self.width}", "0 or more", holds=self.width >= 0)

    @property
    def measures(self) -> tuple[Expression, ...]:
        """Returns what is compared with the width."""
        return (self.by,)

    @property
    def is_ended_by_rows(self) -> bool:
        """Tells that it is so."""
        return True

    @property
    def written(self) -> object:
        """Returns what is compared with which width."""
        return {"by": self.by.text, "width": write_number(self.width)}

    def in_words(self, moment: str) -> str:  # noqa: ARG002 - as all
        """Returns which row ends it."""
        return (
            f"alive until a later row's {self.by.plain} is more than {self.width} above"
        )

    def kept(self, until: str) -> str:  # noqa: ARG002 - as all
        """Returns those not far below the last one."""
        by, width = self.by.text, self.width
        return f"rows whose {by} is up to {width} below that of later ones"


@dataclass(frozen=True, slots=True)
class Range(Lifetime):
    """Row times t - following to t + preceding, both ends included."""

    word = "range"
    clocks = (Clock.ARRIVAL, Clock.EVENT, Clock.BATCH)
    is_of_row_time = True
    preceding: Span = NO_TIME
    following: Span = NO_TIME

    @property
    def is_backward(self) -> bool:
        """Tells whether the range ends before it starts, whatever the date."""
        # Months and microseconds are not summed up: which of them is more depends on
        # the date, and a range is refused only where it is backward on all of them.
        months = self.preceding.months + self.following.months
        rest = self.preceding.microseconds + self.following.microseconds
        return (months, rest) != (0, 0) and months <= 0 and rest <= 0

    @property
    def written(self) -> object:
        """Returns both lengths."""
        return {"preceding": str(self.preceding), "following": str(self.following)}

    def in_words(self, moment: str) -> str:
        """Returns a stretch of row time around a row's own."""
        preceding, following = self.preceding, self.following
        # The shorter ways to say it, where one of the lengths is nothing.
        if preceding == following == NO_TIME:
            return f"alive at {moment} only"
        if following == NO_TIME:
            return f"alive for {preceding.in_words()} from {moment}"
        until = f"{preceding.in_words()} after it" if preceding != NO_TIME else "it"
        return f"alive from {following.in_words()} before {moment} to {until}"


@dataclass(frozen=True, slots=True)
class RowsPreceding(Lifetime):
    """Row times of the `last`th to the (`first` + 1)th later row of the stream."""

    word = "rows_preceding"
    clocks = (Clock.EVENT,)
    is_of_row_time = True
    first: int
    last: int = 0

    def __post_init__(self) -> None:
        """Refuses rows that run backward."""
        found = f"rows preceding from {self.first} to {self.last}"
        _need(
            found, "from at least to, to at least 0", holds=self.first >= self.last >= 0
        )

    @property
    def is_ended_by_rows(self) -> bool:
        """Tells that it is so."""
        return True

    @property
    def counts_later(self) -> bool:
        """Tells that it is so."""
        return True

    @property
    def written(self) -> object:
        """Returns both numbers; one by itself ends at the row."""
        return {"from": self.first, "to": self.last} if self.last else self.first

    def in_words(self, moment: str) -> str:  # noqa: ARG002 - as all
        """Returns while which later rows are there."""
        least = f"at least {self.last} and " if self.last else ""
        return f"alive while {least}at most {self.first} later rows are there by time"

    def kept(self, until: str) -> str:
        """Returns the newest rows."""
        rows = f"{self.first + 1} row{'s' * (self.first > 0)} a partition"
        return f"{rows}, and those {until}"


@dataclass(frozen=True, slots=True)
class HopUnit(Lifetime):
    """Until the row time leaves the hour, day, minute it stands in.

    A length is a unit of its own: each begins at a multiple of it, counted from 1970.
    """

    word = "hop"
    clocks = (Clock.EVENT, Clock.BATCH)
    is_of_row_time = True
    unit: HopUnitName | Span

    def __post_init__(self) -> None:
        """Refuses a length that is nothing, negative, or not always the same."""
        if isinstance(self.unit, Span):
            found, holds = f"a hop window of {self.unit}", self.unit != NO_TIME
            holds &= _is_length(self.unit)
            _need(found, "more than 0 seconds, no months", holds=holds)

    @property
    def length(self) -> Span:
        """Returns how long the unit is; of the calendar it is a step."""
        if isinstance(self.unit, Span):
            return self.unit
        return parse_span(f"1 {self.unit}")

    @property
    def written(self) -> object:
        """Returns the unit."""
        return str(self.unit)

    @property
    def _called(self) -> str:
        """Returns the unit in words."""
        if isinstance(self.unit, Span):
            return f"stretch of {self.unit.in_words()}"
        return self.unit

    def in_words(self, moment: str) -> str:
        """Returns the end of the unit."""
        return f"alive until the {self._called} of {moment} is over"

    def kept(self, until: str) -> str:
        """Returns those of units that go on."""
        return f"rows of each {self._called} that ends {until}"


@dataclass(frozen=True, slots=True)
class HopSize(Lifetime):
    """Every window of `size` that starts a multiple of `every` and holds the row."""

    word = "hop"
    clocks = (Clock.EVENT, Clock.BATCH)
    is_of_row_time = True
    size: Span
    every: Span

    def __post_init__(self) -> None:
        """Refuses lengths that are nothing, negative, or not always the same."""
        # A size of months would be another one in every month.
        for length in (self.size, self.every):
            holds = _is_length(length) and length != NO_TIME
            _need(
                f"a hop window of {length}",
                "more than 0 seconds, no months",
                holds=holds,
            )

    @property
    def hop_length(self) -> Span:
        """Returns the size."""
        return self.size

    @property
    def written(self) -> object:
        """Returns both lengths."""
        return {"size": str(self.size), "every": str(self.every)}

    def in_words(self, moment: str) -> str:  # noqa: ARG002 - as all
        """Returns the windows around the row."""
        starts = f"one starts each {self.every.in_words()}"
        return f"alive in each window of {self.size.in_words()} around it; {starts}"

    def kept(self, until: str) -> str:
        """Returns those of windows that go on."""
        return f"rows of each window that ends {until}"


@dataclass(frozen=True, slots=True)
class Between(Lifetime):
    """From one row time of the row to another, both included."""

    word = "between"
    clocks = (Clock.EVENT, Clock.BATCH)
    start: Expression
    end: Expression

    @property
    def interval(self) -> tuple[Expression, ...]:
        """Returns both ends."""
        return self.start, self.end

    @property
    def written(self) -> object:
        """Returns both ends."""
        return [self.start.text, self.end.text]

    def in_words(self, moment: str) -> str:  # noqa: ARG002 - as all
        """Returns both ends."""
        return f"alive from {self.start.plain} to {self.end.plain}"

    def kept(self, until: str) -> str:
        """Returns those that have not ended."""
        return f"rows whose {self.end.text} is {until}"


@dataclass(frozen=True, slots=True)
class Latest(Lifetime):
    """Until the next version, or the delete, of its key."""

    word = "latest"
    clocks = (Clock.ARRIVAL, Clock.EVENT, Clock.BATCH)
    key: tuple[str, ...]

    @property
    def is_ended_by_rows(self) -> bool:
        """Tells that it is so."""
        return True

    @property
    def written(self) -> object:
        """Returns the key."""
        return list(self.key)

    def in_words(self, moment: str) -> str:
        """Returns what follows on the row."""
        return f"alive from {moment} to the next version of its {', '.join(self.key)}"


@dataclass(frozen=True, slots=True)
class Inherited(Lifetime):
    """The row of a join: while both its rows live."""

    word = "inherited"
    clocks = (Clock.EVENT,)

    @property
    def is_inherited(self) -> bool:
        """Tells that it is so."""
        return True

    def in_words(self, moment: str) -> str:  # noqa: ARG002 - as all
        """Returns whose life it is."""
        return "alive while both rows of its own join are"

    def kept(self, until: str) -> str:  # noqa: ARG002 - as all
        """Returns those whose own rows are kept."""
        return "rows as long as those are kept that they are made of"


@dataclass(frozen=True, slots=True)
class Forever(Lifetime):
    """Always; a stream's row on the event clock from its row time on."""

    word = "forever"
    clocks = (Clock.ARRIVAL, Clock.EVENT, Clock.BATCH)


@dataclass(frozen=True, slots=True)
class Unstated(Lifetime):
    """No window was written; `with_defaults` replaces it."""

    word = "no window"


Window = (
    Rows
    | Seconds
    | Delta
    | Range
    | RowsPreceding
    | HopUnit
    | HopSize
    | Between
    | Latest
    | Inherited
    | Forever
    | Unstated
)


@dataclass(frozen=True, slots=True)
class EvictAge:
    """Partitions without a new row for so long leave."""

    word: ClassVar[str] = "age"
    age: Span

    def __post_init__(self) -> None:
        """Refuses a length that is negative or not always the same."""
        _need(f"an age of {self.age}", "0 seconds or more", holds=_is_length(self.age))

    @property
    def written(self) -> object:
        """Returns the number."""
        return write_seconds(self.age)


@dataclass(frozen=True, slots=True)
class EvictCount:
    """At most so many partitions stay."""

    word: ClassVar[str] = "count"
    partitions: int

    def __post_init__(self) -> None:
        """Refuses a negative number."""
        _need(f"{self.partitions} partitions", "0 or more", holds=self.partitions >= 0)

    @property
    def written(self) -> object:
        """Returns the number."""
        return self.partitions


@dataclass(frozen=True, slots=True)
class EvictTuples:
    """At most so many rows stay, over all partitions."""

    word: ClassVar[str] = "tuples"
    rows: int

    def __post_init__(self) -> None:
        """Refuses a negative number."""
        _need(f"{self.rows} rows of all partitions", "0 or more", holds=self.rows >= 0)

    @property
    def written(self) -> object:
        """Returns the number."""
        return self.rows


@dataclass(frozen=True, slots=True)
class KeepPartitions:
    """No partition is ever dropped as a whole."""


Eviction = EvictAge | EvictCount | EvictTuples | KeepPartitions


def write_window(window: Window) -> dict[str, object]:
    """Returns the key `window` with its JSON, nothing where none was written."""
    if isinstance(window, Unstated):
        return {}
    written = window.written
    return {"window": window.word if written is None else {window.word: written}}


def write_eviction(eviction: Eviction) -> dict[str, object]:
    """Returns the key `partition_evict` with its JSON, nothing where none leave."""
    if isinstance(eviction, KeepPartitions):
        return {}
    return {"partition_evict": {eviction.word: eviction.written}}


def read_window(value: object, where: str) -> Window:
    """Reads a window: a word, or an object whose one key is its name."""
    if isinstance(value, str):
        if value in _WORDS:
            return _WORDS[value]
        raise fields.wrong(where, value, f"one of {', '.join(_WORDS)}, or an object")
    return fields.only(value, where, _WINDOWS)


def read_eviction(value: object, where: str) -> Eviction:
    """Reads when whole partitions leave."""
    return fields.only(value, where, _EVICTIONS)


def _key(value: object, where: str) -> tuple[str, ...]:
    """Reads the columns of a key."""
    if names := fields.many(fields.text)(value, where):
        return names
    raise fields.wrong(where, value, "at least one column")


def _delta(value: object, where: str) -> Delta:
    """Reads how far a column may move on before a row dies."""
    keys = fields.Fields.of(value, where, ("by", "width"))
    return Delta(keys.need("by", fields.expression), keys.need("width", fields.number))


def _range(value: object, where: str) -> Range:
    """Reads how long before and after its row time a row is alive."""
    keys = fields.Fields.of(value, where, ("preceding", "following"))
    preceding = keys.take("preceding", fields.span, NO_TIME)
    return Range(preceding, keys.take("following", fields.span, NO_TIME))


def _rows_preceding(value: object, where: str) -> RowsPreceding:
    """Reads between which later rows of its stream a row is alive."""
    # A number by itself is how many rows precede the row, which ends them.
    if not isinstance(value, Mapping):
        return RowsPreceding(fields.whole(value, where))
    keys = fields.Fields.of(value, where, ("from", "to"))
    first = keys.need("from", fields.whole)
    return RowsPreceding(first, keys.take("to", fields.whole, 0))


def _hop(value: object, where: str) -> HopUnit | HopSize:
    """Reads a unit of the calendar, or windows of one size."""
    if isinstance(value, Mapping):
        keys = fields.Fields.of(value, where, ("size", "every"))
        return HopSize(keys.need("size", fields.span), keys.need("every", fields.span))
    units: tuple[HopUnitName, ...] = get_args(HopUnitName)
    for unit in units:
        if unit == value:
            return HopUnit(unit)
    if isinstance(value, str) and value.strip()[:1].isdigit():
        return HopUnit(fields.span(value, where))
    expected = f"one of {', '.join(units)}, a length, or size and every"
    raise fields.wrong(where, value, expected)


def _between(value: object, where: str) -> Between:
    """Reads from which row time to which a row is alive."""
    match fields.many(fields.expression)(value, where):
        case start, end:
            return Between(start, end)
        case _:
            raise fields.wrong(where, value, "[start expression, end expression]")


_WORDS: Mapping[str, Window] = {one.word: one for one in (Inherited(), Forever())}
# Windows that are objects, by their one key.
_WINDOWS: Mapping[str, fields.Reader[Window]] = {
    Rows.word: fields.made(Rows, fields.whole),
    Seconds.word: fields.made(Seconds, fields.seconds),
    Latest.word: fields.made(Latest, _key),
    Delta.word: _delta,
    Range.word: _range,
    RowsPreceding.word: _rows_preceding,
    HopUnit.word: _hop,
    Between.word: _between,
}
_EVICTIONS: Mapping[str, fields.Reader[Eviction]] = {
    EvictAge.word: fields.made(EvictAge, fields.seconds),
    EvictCount.word: fields.made(EvictCount, fields.whole),
    EvictTuples.word: fields.made(EvictTuples, fields.whole),
}
