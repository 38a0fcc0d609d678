"""Times as texts of a written form, and back, and as the clocks of zones show them.

Of Java's letters those are taken that mean the same in every country: year, month,
day, hour, minute, second and fraction, names in English. A form is a
constant; another letter in it is refused by name. So is a zone, by its name or its
distance from UTC: what a clock jumps over counts as what it jumps to; what it shows
twice is the first of both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from typing import TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from dovetail import schema
from dovetail.errors import UnsupportedError
from dovetail.expression import kinds
from dovetail.expression.functions import entry
from dovetail.expression.functions.casts import cast, checked_cast
from dovetail.expression.tree import Call, Literal, Node, Value
from dovetail.expression.values import SECOND

ENTRIES = entry.Entries()

Writer = Callable[[datetime], str]
Part = TypeVar("Part")
_DEFAULT = (Literal("yyyy-MM-dd HH:mm:ss", kinds.STRING),)
_MONTHS = (
    *("January", "February", "March", "April", "May", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_PIECE = re.compile(r"'(?:[^']|'')*'|([A-Za-z])\1*|[^A-Za-z']")
# Names are of a table of ours: what `strftime` writes depends on where it runs.
_WRITERS: dict[str, Writer] = {
    "y": lambda value: f"{value.year}",
    "yy": lambda value: f"{value.year % 100:02}",
    "yyyy": lambda value: f"{value.year:04}",
    "M": lambda value: f"{value.month}",
    "MM": lambda value: f"{value.month:02}",
    "MMM": lambda value: _MONTHS[value.month - 1][:3],
    "MMMM": lambda value: _MONTHS[value.month - 1],
    "d": lambda value: f"{value.day}",
    "dd": lambda value: f"{value.day:02}",
    "D": lambda value: f"{value.timetuple().tm_yday}",
    "DDD": lambda value: f"{value.timetuple().tm_yday:03}",
    "E": lambda value: _DAYS[value.weekday()][:3],
    "EEE": lambda value: _DAYS[value.weekday()][:3],
    "EEEE": lambda value: _DAYS[value.weekday()],
    "H": lambda value: f"{value.hour}",
    "HH": lambda value: f"{value.hour:02}",
    "h": lambda value: f"{(value.hour + 11) % 12 + 1}",
    "hh": lambda value: f"{(value.hour + 11) % 12 + 1:02}",
    "a": lambda value: "AM" if value.hour < 12 else "PM",  # noqa: PLR2004 - noon
    "m": lambda value: f"{value.minute}",
    "mm": lambda value: f"{value.minute:02}",
    "s": lambda value: f"{value.second}",
    "ss": lambda value: f"{value.second:02}",
}
_READ = {
    "yyyy": r"(?P<year>\d{4})",
    "M": r"(?P<month>\d{1,2})",
    "MM": r"(?P<month>\d{2})",
    "MMM": rf"(?P<month>{'|'.join(name[:3] for name in _MONTHS)})",
    "MMMM": rf"(?P<month>{'|'.join(_MONTHS)})",
    "d": r"(?P<day>\d{1,2})",
    "dd": r"(?P<day>\d{2})",
    "H": r"(?P<hour>\d{1,2})",
    "HH": r"(?P<hour>\d{2})",
    "m": r"(?P<minute>\d{1,2})",
    "mm": r"(?P<minute>\d{2})",
    "s": r"(?P<second>\d{1,2})",
    "ss": r"(?P<second>\d{2})",
}
_LEAST = {"year": 1970, "month": 1, "day": 1, "hour": 0, "minute": 0, "second": 0}
# Names of months are told apart by three letters.
_NUMBERED = {name[:3].lower(): number for number, name in enumerate(_MONTHS, 1)}
_FRACTION = re.compile("S{1,6}")


def _foreign(piece: str, form: str) -> UnsupportedError:
    """Returns the error for a piece of a form that we do not know."""
    return UnsupportedError(f'"{piece}" in the form "{form}"')


def _parts(
    form: str,
    known: Mapping[str, Part],
    letters: Callable[[str], Part],
    fraction: Callable[[int], Part],
) -> Iterator[Part]:
    """Yields what is made of each piece of a form; one that is not known is refused."""
    place = 0
    while place < len(form):
        found = _PIECE.match(form, place)
        # Java keeps these signs for later, and its brackets make a part optional
        if not found or found[0] in "#{}[]":
            raise _foreign(form[place], form)
        piece, place = found[0], found.end()
        if piece[0] == "'":
            # two quotes are one, inside of others and by themselves
            yield letters(piece[1:-1].replace("''", "'") or "'")
        elif not found[1]:
            yield letters(piece)
        elif _FRACTION.fullmatch(piece):
            yield fraction(len(piece))
        elif piece in known:
            yield known[piece]
        else:
            raise _foreign(piece, form)


@lru_cache(maxsize=100)
def _writer(form: str) -> Writer:
    """Returns the function that writes moments in a form."""
    writers = tuple(
        _parts(
            form,
            _WRITERS,
            lambda piece: lambda _value: piece,
            lambda size: lambda value: f"{value.microsecond:06}"[:size],
        )
    )
    return lambda value: "".join(write(value) for write in writers)


@lru_cache(maxsize=100)
def _reader(form: str) -> re.Pattern[str]:
    """Returns the pattern of texts in a form."""
    parts = _parts(
        form, _READ, re.escape, lambda size: rf"(?P<fraction>\d{{1,{size}}})"
    )
    text = "".join(parts)
    try:
        return re.compile(text, re.ASCII | re.IGNORECASE)
    except re.error as error:
        raise UnsupportedError(f'the form "{form}", which has a part twice') from error


def _formed(text: str, check: Callable[[str], object]) -> entry.Rule:
    """Returns the rule of a shape whose second argument is a form that we know."""
    rule = entry.shape(text)

    def checked(arguments: entry.Arguments) -> entry.Signature | None:
        signature, form = rule(arguments), arguments[1]
        if not isinstance(form, Literal) or form.type not in (kinds.STRING, kinds.NULL):
            raise UnsupportedError("a form of times that is no constant")
        if form.value is not None:
            check(form.value)
        return signature

    return checked


@ENTRIES.typed("date_format", _formed("timestamp, string -> string", _writer), takes=2)
def _formatting(call: Call) -> entry.Compute:
    write = _writer(entry.constant(call.arguments[1]) or "")
    return lambda value, _form: write(value)


def _reading(result: Callable[[datetime], Value]) -> entry.Evaluation:
    """Returns the evaluation of the reading of a text in a form."""

    def evaluate(call: Call) -> entry.Compute:
        pattern = _reader(entry.constant(call.arguments[1]) or "")

        def read(text: str, _form: str) -> Value:
            found = pattern.fullmatch(text)
            parts = found.groupdict() if found else {}
            # a part that is not there is the least
            if month := parts.get("month"):
                parts["month"] = str(_NUMBERED.get(month[:3].lower(), month))
            values = {name: int(parts.get(name) or it) for name, it in _LEAST.items()}
            fraction = int(f"{parts.get('fraction') or '':0<6}")
            try:
                moment = datetime(**values, microsecond=fraction, tzinfo=UTC)
            except ValueError:
                return None
            return result(moment) if found else None

        return read

    return evaluate


def _read_with(name: str, reader: str, kind: schema.Type) -> entry.Macro:
    """Returns the entry of a reading: by a form, or as a cast does."""

    def expand(build: entry.Build, text: Node, *form: Node) -> Node:
        return build(reader, text, *form) if form else checked_cast("cast", text, kind)

    return entry.Macro(name, (reader, "cast"), expand, takes=1, optional=1)


_UNIX = ("unix_micros", "div", "moment in form", "cast")


@ENTRIES.macro("unix_timestamp", _UNIX, takes=1, optional=1)
def _unix(build: entry.Build, value: Node, *form: Node) -> Node:
    if value.type == kinds.STRING:
        value = build("moment in form", value, *form or _DEFAULT)
    # DIV cuts towards 1970, unlike UNIX_SECONDS
    count = build("unix_micros", cast(value, kinds.TIMESTAMP))
    return build("div", count, Literal(SECOND, kinds.BIGINT))


@ENTRIES.macro(
    "from_unixtime", ("timestamp_seconds", "date_format", "cast"), takes=1, optional=1
)
def _from_unix(build: entry.Build, seconds: Node, *form: Node) -> Node:
    whole = checked_cast("cast", seconds, kinds.BIGINT)
    return build("date_format", build("timestamp_seconds", whole), *form or _DEFAULT)


_OFFSET = re.compile(r"([+-])(\d\d):(\d\d)")
_NAMED = re.compile(r"UTC|[A-Z][A-Za-z]+/[A-Za-z_/+-]+")


def _zone(name: str) -> tzinfo:
    """Returns the zone of a name, or raises where there is none of everyone's."""
    offset = _OFFSET.fullmatch(name)
    if offset:
        away = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
        return timezone(-away if offset[1] == "-" else away)
    try:
        if _NAMED.fullmatch(name):
            return ZoneInfo(name)
    except ZoneInfoNotFoundError:
        pass
    raise UnsupportedError(f'the zone "{name}"')


def _zone_rule(arguments: entry.Arguments) -> entry.Signature | None:
    """Types a shift between UTC and a zone: a moment and the name of the zone."""
    signature = entry.shape("timestamp, string -> timestamp")(arguments)
    if signature:
        _zone(str(entry.constant(arguments[1])))
    return signature


def _in_zone(shift: Callable[[tzinfo, datetime], datetime]) -> entry.Evaluation:
    """Returns the evaluation of a shift between UTC and a zone."""

    def evaluate(call: Call) -> entry.Compute:
        zone = _zone(str(entry.constant(call.arguments[1])))

        def shifted(value: datetime, _zone: str) -> datetime | None:
            try:
                return shift(zone, value)
            except OverflowError:
                return None

        return shifted

    return evaluate


FUNCTIONS: tuple[entry.Entry, ...] = (
    *ENTRIES.written,
    entry.typed(
        "moment in form",
        _formed("string, string -> timestamp", _reader),
        _reading(lambda value: value),
        takes=2,
    ),
    entry.typed(
        "date in form",
        _formed("string, string -> date", _reader),
        _reading(datetime.date),
        takes=2,
    ),
    _read_with("to_timestamp", "moment in form", kinds.TIMESTAMP),
    _read_with("to_date", "date in form", kinds.DATE),
    entry.row("dayname", "date -> string", lambda day: _DAYS[day.weekday()][:3]),
    entry.row("monthname", "date -> string", lambda day: _MONTHS[day.month - 1][:3]),
    # the moment at which UTC's clock shows what the zone's clock shows
    entry.typed(
        "from_utc_timestamp",
        _zone_rule,
        _in_zone(
            lambda zone, value: value.astimezone(zone).replace(tzinfo=UTC, fold=0)
        ),
        takes=2,
    ),
    # the moment at which the zone's clock shows what UTC's clock shows
    entry.typed(
        "to_utc_timestamp",
        _zone_rule,
        _in_zone(
            lambda zone, value: value.replace(tzinfo=zone, fold=0).astimezone(UTC)
        ),
        takes=2,
    ),
    entry.alias("to_unix_timestamp", "unix_timestamp"),
    entry.alias("try_to_timestamp", "to_timestamp"),
)
