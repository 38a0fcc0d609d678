"""Windows and picks as a user writes them.

How long a row of a side is alive:

- `dt.range(preceding="10 minutes")`: row times, this much back and forth
- `dt.between("starts", "ends")`: from one time of the row to another
- `dt.hop("hour")`, `dt.hop("10 minutes", at_once=True)`: until that hour is over
- `dt.hop("10 minutes", every="5 minutes")`: in each such window that it is in
- `dt.rows_preceding(3)`: until so many later rows, by row time
- `dt.rows(100)`: the newest 100 rows of a partition, by arrival
- `dt.delta("price", 5)`: until a later row's value is so much higher
- `dt.seconds(10)`: so long by the clock on the wall
- `dt.latest("ticker")`: the newest version of each key
- `dt.inherited()`: the row of a join, as long as its own rows live
- `dt.forever()`: always

Which right rows count for a left row, of those that it meets:

- `dt.asof("l.placed", "r.quoted")`: the right row whose time is nearest before
- `keep=3` of `join`: the first three
- `joined.pick(..)`: of a left row with too many none, or another row; conditions
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any, cast, get_args

from dovetail import spec
from dovetail.errors import SpecError
from dovetail.expression import Expression
from dovetail.spec import arguments

EVERY = spec.Unlimited()
"""Every right row that matches."""
# A length of time that is the same on every date.
_exact = partial(arguments.length, least=spec.NO_TIME, is_exact=True)
_EXAMPLE = 'dt.asof("l.placed", "r.quoted")'
_MOST_YEARS = 10_000
_MOST_WINDOWS = 1_000_000
"""In so many windows a row may be: it meets others in each of them."""


@arguments.public
def range(  # noqa: A001 - dt.range reads as SQL does
    preceding: arguments.Length = "0 seconds", following: arguments.Length = "0 seconds"
) -> spec.Window:
    """Returns the window of row times t - following to t + preceding."""
    window = spec.Range(
        arguments.length("preceding", preceding),
        arguments.length("following", following),
    )
    # Either may be negative by itself, as in "from five to three minutes ago".
    if window.is_backward:
        raise SpecError(
            f"preceding={window.preceding} and following={window.following}",
            "a sum that is not negative",
            "a window ends no earlier than it starts",
        )
    return window


@arguments.public
def rows(count: int) -> spec.Window:
    """Returns the window of the newest `count` rows; 0: met once, never stored."""
    return spec.Rows(arguments.whole("count", count, "dt.rows(100)"))


@arguments.public
def seconds(length: arguments.Length | float) -> spec.Window:
    """Returns the window of so much time by the clock: seconds, or a length of time."""
    if isinstance(length, str | timedelta):
        return spec.Seconds(_exact("length", length))
    expected, example = "a number of seconds, or a length of time", "dt.seconds(10)"
    # In whole microseconds, which is what clocks and Spark's timestamps have.
    found = arguments.number("length", length, expected, example) * spec.SECOND
    # Of a number with too many digits no remainder can be taken.
    if not 0 <= found <= _MOST_YEARS * 366 * 86_400 * spec.SECOND or found % 1:
        told = f"whole microseconds, 0 or more, and at most {_MOST_YEARS:,} years"
        raise arguments.wrong("length", length, told, f"write for example {example}")
    return spec.Seconds(spec.Span(0, int(found)))


@arguments.public
def delta(by: str, width: arguments.Length | float | Decimal) -> spec.Window:
    """Returns the window of rows whose `by` no later row exceeds by more than `width`.

    `by` is a column, or SQL over columns, of numbers or times; between times `width`
    is a length, or a number of seconds.
    """
    example = 'dt.delta("price", 5)'
    column = arguments.text("by", by, "a column, or SQL over columns", example)
    # Kernels and the definition measure times in seconds.
    if isinstance(width, str | timedelta):
        micros = Decimal(_exact("width", width).microseconds)
        return spec.Delta(Expression(column), micros / spec.SECOND)
    expected = "a number, 0 or more, or a length of time"
    found = arguments.number("width", width, expected, example)
    if found < 0:
        raise arguments.wrong("width", width, expected, f"write for example {example}")
    return spec.Delta(Expression(column), found)


@arguments.public
def rows_preceding(first: int, last: int = 0) -> spec.Window:
    """Returns the window of rows that at least `last`, at most `first` rows follow.

    Rows follow by row time, as in `ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING`.
    """
    example = "dt.rows_preceding(3)"
    count = arguments.whole("last", last, example)
    return spec.RowsPreceding(
        arguments.whole("first", first, example, least=count), count
    )


@arguments.public
def hop(
    size: arguments.Length, every: arguments.Length = "", *, at_once: bool = False
) -> spec.Window:
    """Returns windows of the calendar, `hour`, or of a size, one starting so often.

    Two rows meet in each window that both are in, and come out at its end; without
    `every` a window follows on the other. Those of the calendar do not wait: a pair
    comes out as soon as it can, at the later row's time. `at_once` has it so in windows
    of a size, of which a row is then in one.
    """
    early = arguments.truth("at_once", at_once)
    if early and not arguments.is_unsaid(every):
        hint = f'write for example dt.hop("{size}", at_once=True)'
        raise arguments.wrong("every", every, "none beside at_once", hint)
    # A unit goes by the calendar in UTC: months and years have no one length.
    units = get_args(spec.HopUnitName)
    if isinstance(size, str) and size in units:
        if not arguments.is_unsaid(every):
            hint = f'write for example dt.hop("1 {size}", every="10 minutes")'
            raise arguments.wrong("every", every, f'none beside "{size}"', hint)
        return spec.HopUnit(size)  # type: ignore[arg-type]
    length = _exact("size", size, least=spec.INSTANT)
    if early:
        return spec.HopUnit(length)
    if arguments.is_unsaid(every):
        return spec.HopSize(length, length)
    often = _exact("every", every, least=spec.INSTANT)
    if length.microseconds > _MOST_WINDOWS * often.microseconds:
        expected = f"a row in at most {_MOST_WINDOWS:,} windows of {length.in_words()}"
        hint = 'write for example dt.hop("1 hour", every="5 minutes")'
        raise arguments.wrong("every", every, expected, hint)
    return spec.HopSize(length, often)


@arguments.public
def between(start: str, end: str) -> spec.Window:
    """Returns the window from one time of the row to another, both included."""
    example = 'dt.between("valid_from", "valid_to")'
    ends = {"start": start, "end": end}
    first, last = (
        Expression(arguments.text(name, one, "a column, or SQL over columns", example))
        for name, one in ends.items()
    )
    return spec.Between(first, last)


@arguments.public
def inherited() -> spec.Window:
    """Returns the window of a join's row: while both its own rows live."""
    return spec.Inherited()


@arguments.public
def latest(*key: str | Sequence[str]) -> spec.Window:
    """Returns the window of the newest version of each key."""
    example = 'dt.latest("ticker")'
    # A single argument may be a list: dt.latest(names) is dt.latest(*names).
    found = arguments.names("key", key[0] if len(key) == 1 else key, example)
    if not found:
        expected = "at least one column"
        raise arguments.wrong("key", key, expected, f"write for example {example}")
    return spec.Latest(found)


@arguments.public
def forever() -> spec.Window:
    """Returns the window that no row ever leaves."""
    return spec.Forever()


def window_given(window: object) -> spec.Window:
    """Returns the window that a user gives, or refuses another thing."""
    if isinstance(window, get_args(spec.Window)) and window != spec.Unstated():
        return cast("spec.Window", window)
    # A text is most likely a length: then the hint has the user's own.
    span = arguments.told(window) if isinstance(window, str) else '"10 minutes"'
    hint = f"write for example dt.range(preceding={span})"
    expected = (
        "one of dt.range, dt.rows, dt.latest, dt.forever, dt.between, dt.hop, "
        "dt.rows_preceding, dt.delta, dt.seconds and dt.inherited"
    )
    raise arguments.wrong("window", window, expected, hint)


def eviction_of(**most: object) -> spec.Eviction:
    """Returns which partitions leave as a whole; one of the words says it, or none."""
    # Nothing said of it is no eviction: 0 partitions would keep no row at all.
    usual = {"evict_age": ""}
    given = {
        name: one
        for name, one in most.items()
        if not arguments.is_unsaid(one, usual.get(name, 0))
    }
    if len(given) > 1:
        told = (f"{name}={arguments.told(one)}" for name, one in given.items())
        found = " beside ".join(told)
        raise SpecError(found, f"one of {', '.join(most)}", "leave the others out")
    match [*given.items()]:
        case [("evict_age", age)]:
            return spec.EvictAge(_exact("evict_age", age))
        case [("evict_partitions", count)]:
            example = "evict_partitions=100"
            return spec.EvictCount(
                arguments.whole("evict_partitions", count, example, least=1)
            )
        case [("evict_rows", count)]:
            return spec.EvictTuples(
                arguments.whole("evict_rows", count, "evict_rows=1000", least=1)
            )
        case _:
            return spec.KeepPartitions()


@arguments.public
def asof(
    left: str,
    right: str,
    *,
    direction: str = "backward",
    tolerance: arguments.Length | float | Decimal = "",
    exact: bool = True,
    tie: str = "last",
) -> spec.AsOf:
    """Returns the pick of the one right row whose time is nearest to the left one's.

    `direction`: backward, forward or nearest. `tolerance`: how far away it may be, as
    in "5 seconds", or a number where numbers are compared. `exact`: whether the same
    time counts. `tie`: first or last of rows of one time.
    """
    return spec.AsOf(
        _of_hand(spec.Hand.LEFT, left),
        _of_hand(spec.Hand.RIGHT, right),
        direction=arguments.choice("direction", direction, spec.Direction),
        tolerance=_distance(tolerance),
        exact=arguments.truth("exact", exact),
        tie=arguments.choice("tie", tie, spec.Tie),
    )


def picks_of(keep: int, nearest: spec.AsOf | spec.Unlimited) -> spec.Picks:
    """Returns the picks of a join; a keep of 0 keeps every pair."""
    count = arguments.whole("keep", keep, "keep=3: the first three pairs of a left row")
    if not isinstance(nearest, spec.AsOf | spec.Unlimited):
        raise arguments.wrong(
            "asof", nearest, "a pick of dt.asof", f"write for example asof={_EXAMPLE}"
        )
    return spec.Picks(keep=spec.Keep(count) if count else EVERY, asof=nearest)


def limit_of(count: int, exceeded: object) -> spec.Limit | spec.Unlimited:
    """Returns the limit of candidates; a count of 0 is none.

    `exceeded` says what becomes of a left row with more: a word, or its own columns.
    """
    # No limit at all is the usual case, and 0 says so.
    most = arguments.whole("limit", count, "limit=100")
    if not most and not arguments.is_unsaid(exceeded, "fail"):
        hint = 'write for example limit=100, exceeded="skip"'
        raise arguments.wrong("exceeded", exceeded, "a limit beside it", hint)
    if not most:
        return EVERY
    # A dict says what the row of its own is made of, a word that there is none.
    if isinstance(exceeded, Mapping):
        shown = arguments.texts("exceeded", exceeded, '{"id": "l.id"}')
        columns = tuple((name, Expression(one)) for name, one in shown.items())
        return spec.Limit(most, spec.OnExceed.TRANSFORM, columns)
    word = arguments.word("exceeded", exceeded, ("fail", "skip"))
    return spec.Limit(most, spec.OnExceed(word))


def at_most_of(
    count: int, counted: object, optional: object
) -> spec.AtMost | spec.Unlimited:
    """Returns the pick that a left row with too many candidates has no match at all.

    Keys that are `counted` make a candidate, unsaid all of them do. What is `optional`
    ranks candidates: names as in `on`, or two and how many letters are compared.
    """
    most = arguments.whole("atmost", count, "atmost=100")
    for name, one in (("counted", counted), ("optional", optional)):
        if not most and not arguments.is_unsaid(one, ()):
            hint = "write for example atmost=100"
            raise arguments.wrong(name, one, "an atmost beside it", hint)
    if not most:
        return EVERY
    # What counts must be the same as a whole: a length is of letters that may differ.
    keys = [*_optional("counted", counted)]
    found = tuple(one.equality for one in keys if isinstance(one, spec.OptionalEqual))
    if len(found) < len(keys):
        hint = "a length stands in optional"
        raise arguments.wrong("counted", counted, "keys of on", hint)
    ranked = tuple(_optional("optional", optional))
    return spec.AtMost(most, found or spec.AllHard(), ranked)


def more_picks(
    picks: spec.Picks,
    at_most: spec.AtMost | spec.Unlimited,
    limit: spec.Limit | spec.Unlimited,
    strategy: object,
    **conditions: object,
) -> spec.Picks:
    """Returns picks with what is said beside them; the rest stays as it is."""
    said: dict[str, Any] = {"at_most": at_most, "limit": limit}
    for name, one in conditions.items():
        if not arguments.is_unsaid(one):
            example = f'{name}="r.amount = 0"'
            text = arguments.text(name, one, "a condition as a text", example)
            said[name] = Expression(text)
    if not arguments.is_unsaid(strategy):
        said["strategy"] = arguments.choice("strategy", strategy, spec.Strategy)
    # What is not said stays: a pick may be made of several calls.
    return replace(picks, **{name: one for name, one in said.items() if one != EVERY})


def absent_of(name: str, given: object, usual: spec.Absent) -> spec.Absent:
    """Returns what stands for an absent row: a word, or values by column."""
    match given:
        # Not `case "":`, which asks a Column of Spark whether it is equal.
        case str(""):
            return usual
        case str("null"):
            return spec.NullRow()
        case str("blank"):
            return spec.BlankRow()
        case Mapping() if given and all(isinstance(one, str) for one in given):
            return spec.GivenRow(tuple(given.items()))
        case _:
            expected = '"null", "blank", or a dict of values by column'
            hint = f'write for example {name}="blank" or {name}={{"name": "nobody"}}'
            raise arguments.wrong(name, given, expected, hint)


def settings_of(
    settings: spec.Settings, *, retract: object, **words: object
) -> spec.Settings:
    """Returns the switches with what is said beside them: when, in which order."""
    said: dict[str, Any] = {}
    if not arguments.is_unsaid(words["null_rows"]):
        rows = arguments.choice("null_rows", words["null_rows"], spec.OuterRows)
        said["outer_rows"] = rows
    if arguments.truth("retract", retract):
        if said.get("outer_rows") is not spec.OuterRows.EAGER:
            hint = 'write null_rows="eager" beside it'
            expected = "null rows that come at once"
            raise arguments.wrong("retract", retract, expected, hint)
        # Taken back can be only what has come out early.
        said["outer_rows"] = spec.OuterRows.EAGER_RETRACT
    late = words["late_table_rows"]
    if arguments.is_unsaid(late, "ever"):
        said["late_table_rows"] = spec.EmitLateTableRows()
    elif not arguments.is_unsaid(late):
        wait = _exact("late_table_rows", late, least=spec.INSTANT)
        said["late_table_rows"] = spec.EmitLateTableRows(wait)
    if not arguments.is_unsaid(words["order"]):
        said["order"] = arguments.choice("order", words["order"], spec.Order)
    return replace(settings, **said)


_IDLE = {
    "left": ("a join in which a left row may be absent", 'how="right" or "full"'),
    "right": ("a join in which a right row may be absent", 'how="left" or "full"'),
    "null_rows": ("a join with rows that met nobody", 'how="left", "right" or "full"'),
    "late_table_rows": ("a table on either side", 'dt.table(frame, key="id")'),
    "order": ("a time on either side", 'dt.dataset(frame, time="at")'),
}
"""What would do nothing: where it does something, and how that is written."""


def refuse_idle(is_known: Mapping[str, bool], **said: object) -> None:
    """Refuses words about what a join does not have: nobody would look at them."""
    for name, one in said.items():
        if not (arguments.is_unsaid(one) or is_known[name]):
            expected, example = _IDLE[name]
            raise arguments.wrong(name, one, expected, f"write for example {example}")


def _optional(
    name: str, given: object
) -> Iterator[spec.OptionalPrefix | spec.OptionalEqual]:
    """Gives the equalities that names stand for, whole or of so many letters."""
    for one in given if isinstance(given, list | tuple) else (given,):
        match one:
            case str() if one.strip():
                yield spec.OptionalEqual(spec.Equality.of_columns(one, one))
            case [str() as left, str() as right]:
                yield spec.OptionalEqual(spec.Equality.of_columns(left, right))
            case [str() as left, str() as right, int() as width] if width > 0:
                same = spec.Equality.of_columns(left, right)
                yield spec.OptionalPrefix(same.left, same.right, width)
            case _:
                raise arguments.wrong(
                    name,
                    given,
                    "a list of names, of pairs, or of pairs with a length",
                    f'write for example {name}=["city", ("street", "road")]',
                )


def _of_hand(hand: spec.Hand, given: str) -> Expression:
    """Returns what is compared of a side's rows: it names columns of that side."""
    expected = f"an expression over {hand.letter}, the {hand.value} row"
    found = Expression(arguments.text(hand.value, given, expected, _EXAMPLE))
    # A constant names neither side: it could not tell the rows of one apart.
    if {reference.hand for reference in spec.references(found)} != {hand}:
        raise arguments.wrong(
            hand.value, given, expected, f"write for example {_EXAMPLE}"
        )
    return found


def _distance(
    tolerance: arguments.Length | float | Decimal,
) -> spec.Span | Decimal | spec.Unlimited:
    """Returns how far away a right row may be; without a limit where none is said."""
    match tolerance:
        case str(""):
            return EVERY
        case int() | float() | Decimal():
            expected = "a length of time, or a number between numbers"
            example = 'tolerance="5 seconds"'
            found = arguments.number("tolerance", tolerance, expected, example)
            if found < 0:
                raise arguments.wrong(
                    "tolerance", tolerance, "0 or more", f"write {example}"
                )
            return found
        case _:
            return arguments.length("tolerance", tolerance, least=spec.NO_TIME)
