"""Windows of s-Server's joins: `OVER (..)` to a window of the spec.

RANGE INTERVAL '1' HOUR PRECEDING          alive for an hour from its time
RANGE BETWEEN a PRECEDING AND b PRECEDING  alive from b later until a later
RANGE .. FOLLOWING                         alive from before its time
ROWS 5 PRECEDING                           until the sixth later row of the stream
ORDER BY FLOOR(ROWTIME TO HOUR) ..         until the hour changes
nothing                                    RANGE CURRENT ROW: its own time alone
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import zip_longest

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream.parser import ROWTIME, Text
from dovetail.dialects.sqlstream.syntax import ALL, CURRENT

_SECONDS = {"SECOND": 1, "MINUTE": 60, "HOUR": 3600, "DAY": 86_400}
_MONTHS = {"MONTH": 1, "YEAR": 12}
# Of a unit behind a longer one there are fewer than make one of that.
_MOST = {"SECOND": 60, "MINUTE": 60, "HOUR": 24, "MONTH": 12}
# From the longest to the shortest, as the parts of a long interval stand.
_DAY_TO_SECOND = ("DAY", "HOUR", "MINUTE", "SECOND")
_HOPS = ("SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "YEAR")
# The longest that each unit of the calendar may be, in days.
_LONGEST = {"WEEK": 7, "MONTH": 31, "QUARTER": 92, "YEAR": 366}
_DAY = 86_400 * spec.SECOND
_LONGEST_OF_ALL = 9_999 * 12 * _LONGEST["MONTH"] * _DAY
_NUMBER = re.compile(r"\s*(\d+)(?:\.(\d{1,6}))?\s*")
_NONE = spec.firing.ByCount(0)
_PARTS = {"partition_by": "PARTITION BY", "order": "ORDER BY", "spec": "a frame"}
"""What a window is made of, and what each part is called."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The rows that a function looks at: those before a row, by what they are apart.

    Of these it does not see the newest, which the window skips.
    """

    keeps: spec.firing.Policy
    parts: tuple[exp.Expr, ...]
    skips: spec.firing.ByCount | spec.firing.ByTime = _NONE

    @property
    def window(self) -> spec.firing.Sliding:
        """Returns the window, which gives its rows with each one that comes."""
        # Eager: it gives them before it is full, too.
        each = spec.firing.ByCount(1)
        return spec.firing.Sliding(self.keeps, each, eager=True, skips=self.skips)


@dataclass(frozen=True, slots=True)
class Windows:
    """The windows of a query, those of its WINDOW clause by their names."""

    text: Text
    named: dict[str, exp.Window] = field(default_factory=dict)

    @classmethod
    def of(cls, text: Text, query: exp.Select) -> Windows:
        """Returns the windows that a query names."""
        known = dict[str, exp.Window]()
        for one in query.args.get("windows") or ():
            if not any(one.args.get(it) for it in (*_PARTS, "alias")):
                told, expected = f'a window "{one.name}" of nothing', "AS (RANGE ..)"
                raise text.wrong(one.this, told, expected)
            if known.setdefault(one.this.name.upper(), one) is not one:
                told = f'a second window "{one.this.name}"'
                raise text.wrong(one.this, told, "a name for each")
        return cls(text, known)

    def of_table(self, written: exp.Window) -> spec.Window:
        """Returns the window that stands behind a stream."""
        written = self.meant(written)
        if partition := written.args.get("partition_by"):
            hint = "rows meet by the equality of the join in any case"
            raise self.text.wrong(
                partition[0], "PARTITION BY in a join's window", "none", hint
            )
        order, frame = written.args.get("order"), written.args.get("spec")
        if frame is None:
            raise self.text.wrong(
                written, "a window without a frame", "RANGE .. or ROWS .."
            )
        if order is not None:
            hop = self._hop(order)
            if hop is not None:
                return self._hopping(hop, frame)
        if frame.args["kind"] == "ROWS":
            return self._rows(frame)
        return self._range(frame)

    def meant(self, written: exp.Window, within: tuple[str, ...] = ()) -> exp.Window:
        """Returns a window as it is written out, also where it is meant by a name.

        `within` are the names that have led to it.
        """
        named = written.args.get("alias")
        if named is None:
            return written
        name = named.name.upper()
        found = self.named.get(name)
        if name in within:
            told = f'the window "{named.name}", which is made of itself'
            raise self.text.wrong(named, told, "RANGE .. or ROWS ..")
        if found is None:
            raise self.text.wrong(
                named, f'no window "{named.name}"', "WINDOW .. AS (..)"
            )
        # What a window of a name leaves out may stand beside the name.
        meant = self.meant(found, (*within, name))
        for part, called in _PARTS.items():
            own, known = written.args.get(part), meant.args.get(part)
            if own and known:
                told = f'{called} beside that of the window "{named.name}"'
                raise self.text.wrong(named, told, "one of the two")
            if own:
                meant = meant.copy()
                meant.set(part, own.copy() if isinstance(own, exp.Expr) else own)
        return meant

    def of_function(self, written: exp.Window) -> Seen:
        """Returns the rows that a function looks at, and by what they are apart."""
        meant = self.meant(written)
        order, frame = meant.args.get("order"), meant.args.get("spec")
        parts = tuple(meant.args.get("partition_by") or ())
        if frame is None:
            raise self.text.wrong(
                meant, "a window without a frame", "RANGE .. or ROWS .."
            )
        hop = self._hop(order) if order is not None else None
        if hop is None and frame.args.get("start") == ALL:
            return self._so_far(frame, parts)
        if hop is not None:
            self._hopping(hop, frame)
            # Rows of an hour are apart from all others, and none is older than it.
            return Seen(spec.firing.ByTime(self.longest(hop)), (*parts, hop))
        if frame.args["kind"] == "ROWS":
            window = self._rows(frame)
            every, newest = (
                spec.firing.ByCount(it) for it in (window.first + 1, window.last)
            )
            return Seen(every, parts, newest)
        window_of_time = self._range(frame)
        reach, past = window_of_time.preceding, window_of_time.following.negated()
        if not reach.is_exact or not past.is_exact:
            raise self.text.not_yet(frame, "a function over months")
        if past.microseconds < 0:
            told = "a function over rows that follow"
            hint = "a window of a function ends with the current row, or before it"
            raise self.text.wrong(frame, told, "PRECEDING or CURRENT ROW", hint)
        skips = spec.firing.ByTime(past) if past.microseconds else _NONE
        return Seen(spec.firing.ByTime(reach), parts, skips)

    def _so_far(self, frame: exp.WindowSpec, parts: tuple[exp.Expr, ...]) -> Seen:
        """Returns all rows before a row, of a partition that ends with its hour."""
        if frame.args.get("end") not in (None, CURRENT):
            told = f"UNBOUNDED PRECEDING AND {frame.args['end']}"
            raise self.text.wrong(frame, told, "CURRENT ROW behind AND")
        lengths = [
            self.longest(one)
            for one in parts
            if isinstance(one, exp.TimestampTrunc | exp.DateBin)
            and any(it.name.upper() == ROWTIME for it in one.find_all(exp.Column))
        ]
        if not lengths:
            told = "all rows before a row, which are more and more"
            expected = "a length of time, a number of rows"
            hint = "PARTITION BY FLOOR(ROWTIME TO DAY) forgets them with the day"
            raise self.text.wrong(frame, told, expected, hint)
        shortest = min(lengths, key=lambda one: one.microseconds)
        return Seen(spec.firing.ByTime(shortest), parts)

    def longest(self, node: exp.Expr) -> spec.Span:
        """Returns how long a stretch of FLOOR or STEP may be."""
        unit = unit_of_calendar(node)
        return spec.Span(0, _LONGEST[unit] * _DAY) if unit else self.stretch(node)

    def stretch(self, node: exp.Expr) -> spec.Span:
        """Returns how long each stretch of FLOOR or STEP is, if all are as long."""
        if isinstance(node, exp.DateBin):
            length = self.length(node.this)
        else:
            length = spec.Span(0, exact_unit(node.args["unit"].name) or 0)
        if not length.is_exact or not length.microseconds:
            raise self.text.not_yet(node, "rows of weeks, months or years, here")
        return length

    def _hop(self, order: exp.Order) -> exp.Expr | None:
        """Returns by what a window hops; None where rows are in their usual order."""
        for one in order.expressions:
            if isinstance(one, exp.Ordered) and one.args.get("desc"):
                told, hint = "ORDER BY time, descending", "time goes on in a stream"
                raise self.text.wrong(one, told, "ascending", hint)
        first, *others = [
            one.this if isinstance(one, exp.Ordered) else one
            for one in order.expressions
        ]
        if not others and _is_row_time(first):
            return None
        if not others and isinstance(first, exp.TimestampTrunc | exp.DateBin):
            is_step = isinstance(first, exp.DateBin)
            if _is_row_time(first.expression if is_step else first.this):
                return first
        raise self.text.wrong(first, "ORDER BY", "ROWTIME, or FLOOR or STEP of it")

    def _hopping(self, hop: exp.Expr, frame: exp.WindowSpec) -> spec.Window:
        """Returns a window that empties when the hour changes."""
        ends = [frame.args.get(name) for name in ("start", "end")]
        is_long = any(end not in (None, CURRENT) for end in ends)
        if is_long or frame.args["kind"] == "ROWS":
            told = "a length" if is_long else "ROWS"
            raise self.text.wrong(
                hop, f"a hopping window with {told}", "RANGE CURRENT ROW"
            )
        if isinstance(hop, exp.DateBin):
            size = self.length(hop.this)
            if not size.is_exact or size == spec.NO_TIME:
                told = "STEP by months, or by nothing"
                raise self.text.wrong(hop, told, "FLOOR, or a length above 0")
            return spec.HopUnit(size)
        unit = hop.args["unit"].name.upper()
        if unit not in _HOPS:
            raise self.text.wrong(hop, f'FLOOR to "{unit}"', " or ".join(_HOPS))
        return spec.HopUnit(unit.lower())

    def _rows(self, frame: exp.WindowSpec) -> spec.RowsPreceding:
        """Returns a window of so many rows before the row itself."""
        back = []
        for end in ("start", "end"):
            value, side = frame.args.get(end), frame.args.get(f"{end}_side")
            if value in (None, CURRENT):
                back.append(0)
                continue
            is_number = isinstance(value, exp.Literal) and value.is_int
            if not is_number or side != "PRECEDING":
                raise self.text.wrong(
                    frame, f"ROWS {value} {side}", "a number and PRECEDING"
                )
            back.append(int(value.this))
        first, last = back
        if first < last:
            raise self.text.wrong(
                frame, "rows that end before they begin", "the older first"
            )
        return spec.RowsPreceding(first, last)

    def _range(self, frame: exp.WindowSpec) -> spec.Range:
        """Returns a window of row time: how long rows live before and after."""
        first = self._reach(frame, "start")
        # Without an end of its own a frame ends at the row, unless it begins behind it.
        if frame.args.get("end") is None and frame.args["start_side"] == "FOLLOWING":
            return spec.Range(spec.Span(), first.negated())
        window = spec.Range(first, self._reach(frame, "end").negated())
        if window.is_backward:
            raise self.text.wrong(frame, "a window that ends before it begins")
        return window

    def _reach(self, frame: exp.WindowSpec, end: str) -> spec.Span:
        """Returns how far back an end of a frame reaches; what follows is negative."""
        value = frame.args.get(end)
        if value in (None, CURRENT):
            return spec.Span()
        if not isinstance(value, exp.Interval):
            hint = "a window is finite"
            raise self.text.wrong(frame, f"RANGE {value}", "an INTERVAL", hint)
        length = self.length(value)
        is_back = frame.args.get(f"{end}_side") != "FOLLOWING"
        return length if is_back else length.negated()

    def length(self, interval: exp.Expr) -> spec.Span:
        """Returns the length of an interval: INTERVAL '1:30' MINUTE TO SECOND."""
        value = interval.this
        unit = interval.args.get("unit")
        if not isinstance(value, exp.Literal) or unit is None:
            raise self.text.wrong(interval, "an interval", "INTERVAL '10' MINUTE")
        # '1:30' MINUTE TO SECOND has a number for each unit from the one to the other.
        is_long = isinstance(unit, exp.IntervalSpan)
        ends = (unit.this, unit.expression) if is_long else (unit,)
        first, last = _unit_name(ends[0]), _unit_name(ends[-1])
        names = self._units(interval, first, last)
        parts = re.split(r"[ :-]", value.this.strip()) if is_long else [value.this]
        months = micros = 0
        for name, number in zip_longest(names, map(_NUMBER.fullmatch, parts)):
            if name is None or number is None or (number[2] and name in _MONTHS):
                unit_names = " TO ".join(dict.fromkeys((first, last)))
                told = f"INTERVAL '{value.this}' {unit_names}"
                hint = "none is below 0"
                raise self.text.wrong(interval, told, "a number for each unit", hint)
            whole, rest = number.group(1), number.group(2) or ""
            if name != first and int(whole) >= _MOST[name]:
                told = f"{whole} {name} behind a {first}"
                raise self.text.wrong(interval, told, f"at most {_MOST[name] - 1}")
            months += int(whole) * _MONTHS.get(name, 0)
            # Digits behind the point are a part of a second: six of them are micros.
            micros += int(whole + rest.ljust(6, "0")) * _SECONDS.get(name, 0)
        length = spec.Span(months, micros)
        if months * _LONGEST["MONTH"] * _DAY + micros > _LONGEST_OF_ALL:
            told = f"an interval of {value.this} {last}"
            raise self.text.wrong(interval, told, "at most 9999 years")
        return length

    def _units(self, node: exp.Expr, first: str, last: str) -> tuple[str, ...]:
        """Returns the units of an interval from the first to the last."""
        for known in (_DAY_TO_SECOND, ("YEAR", "MONTH")):
            if first in known and last in known[known.index(first) :]:
                return known[known.index(first) : known.index(last) + 1]
        if first == last and first in _MONTHS:
            return (first,)
        raise self.text.wrong(
            node, f'the unit "{first}"', "SECOND, MINUTE, HOUR, DAY, MONTH or YEAR"
        )


def exact_unit(name: str) -> int | None:
    """Returns how many microseconds a unit has, if it has always as many."""
    seconds = _SECONDS.get(name.upper())
    return None if seconds is None else seconds * spec.SECOND


def _is_row_time(node: exp.Expr) -> bool:
    """Tells whether a value is ROWTIME, which alone goes on in a stream."""
    node = node.unnest()
    return isinstance(node, exp.Column) and node.name.upper() == ROWTIME


def unit_of_calendar(node: exp.Expr) -> str:
    """Returns the unit of a FLOOR whose stretches are of the calendar, if they are."""
    unit = (
        node.args["unit"].name.upper() if isinstance(node, exp.TimestampTrunc) else ""
    )
    return unit if unit in _LONGEST else ""


def end_of_calendar(time: str, unit: str) -> str:
    """Returns the end of the week, month, quarter or year in which a time is."""
    length = {"WEEK": "'7' DAY", "QUARTER": "'3' MONTH"}.get(unit, f"'1' {unit}")
    return f"date_trunc('{unit}', {time}) + INTERVAL {length}"


def _unit_name(unit: exp.Expr) -> str:
    """Returns the name of a unit; SECOND(3), with its digits, is read as a function."""
    return unit.name.upper() if isinstance(unit, exp.Var) else unit.key.upper()
