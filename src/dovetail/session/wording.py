"""Laws of joins in Python's words: a hint is something that its reader can write."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from dovetail.errors import SpecError

_ROW_TIME = 'name the column of the row time, as in dt.stream(frame, time="placed_at")'
_WINDOW = 'write for example orders.window(dt.range(preceding="10 minutes"))'
_TOLERANCE = 'write for example tolerance="5 seconds", or a number between numbers'
_HINTS: Mapping[str, str] = {
    "stated_window": _WINDOW,
    "window_time": _ROW_TIME,
    "event_time": _ROW_TIME,
    "arrival_range": "dt.rows counts in the order of arrival: give dt.range to both "
    "sides, or to none",
    "asof_tolerance": _TOLERANCE,
    "asof_unit": _TOLERANCE,
    "window_clock": "dt.rows counts rows as they come: on streams, beside dt.rows or "
    "dt.latest",
}
_EXPECTED: Mapping[str, str] = {
    "window_clock": "one of dt.range, dt.latest and dt.forever",
}


@contextmanager
def words_of_python() -> Iterator[None]:
    """Raises a broken law with what helps a user of Python."""
    try:
        yield
    except SpecError as error:
        raise SpecError(
            error.found,
            _EXPECTED.get(error.rule, error.expected),
            _HINTS.get(error.rule, error.hint),
            rule=error.rule,
        ) from None
