"""What refuses a join, in Python's words: a hint is something to be written there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from pyspark.errors import AnalysisException

from dovetail import spec
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


@contextmanager
def words_of_spark(join: spec.JoinSpec) -> Iterator[None]:
    """Raises what Spark says of an expression as a sentence with the texts it may mean.

    Texts in Spark SQL may name functions that only Spark knows, so it is asked.
    """
    try:
        yield
    except AnalysisException as error:
        texts = {"where": join.soft.text}
        if isinstance(join.select, spec.Columns):
            shown = join.select.columns
            texts |= {f'select["{name}"]': one.text for name, one in shown}
        said = _ENDING.sub("", _NAME.sub("", str(error).strip().partition("\n")[0]))
        meant = [name for name, text in texts.items() if _may_mean(str(error), text)]
        hint = f"it may be that of {', '.join(meant or texts)}"
        raise SpecError(
            f"Spark refuses an expression of the join: {said}",
            "Spark SQL over l and r, the left and the right row",
            hint,
        ) from error


def _may_mean(said: str, text: str) -> bool:
    """Tells whether a name or a sign of an expression stands in what Spark says."""
    plain = said.replace("`", "").lower()
    calls = re.findall(r"(\w+)\s*\(", text)
    return text.strip().lower() in plain or any(
        re.search(rf"\b{re.escape(one.lower())}\b", plain) for one in calls
    )


_NAME = re.compile(r"^\[[A-Z_.]+\] ?")
_ENDING = re.compile(r"\s*SQLSTATE: .*")
