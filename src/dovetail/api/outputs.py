"""The outputs of a program over data sets: a dict of ordinary DataFrames.

It shows itself in a notebook. Showing runs it, as far as the first rows ask for; a run
that cannot go on is told in its own words, and the DataFrames are there all the same.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from html import escape

from pyspark.sql import DataFrame

from dovetail.bind import failures
from dovetail.bind.files.frames import misfits_told
from dovetail.engines.spark_batch.stops import limits_told
from dovetail.engines.tables import plain_rows
from dovetail.errors import DovetailError, EngineError
from dovetail.schema import cited
from dovetail.spec.inputs import Row

SHOWN = 10
# Spark's errors have names: what stands behind one is for people.
_NAMED = re.compile(r"\[[A-Z][A-Z_.]+\] [^\n]*")
# Spark says in its own words, of several kinds, that a broadcast side is too large.
_BROADCAST = re.compile(r"(?i)cannot broadcast|memory to build and broadcast")


class Outputs(dict[str, DataFrame]):
    """DataFrames by the names of outputs; `remarks` say what there is besides."""

    def __init__(self, frames: Mapping[str, DataFrame], remarks: Iterable[str]) -> None:
        """Keeps the frames and the remarks."""
        super().__init__(frames)
        self.remarks = tuple(remarks)

    def __repr__(self) -> str:
        """Returns the names of the outputs with their columns, in one line."""
        each = (f"{name} ({', '.join(one.columns)})" for name, one in self.items())
        return f"outputs of a program: {', '.join(each)}"

    def _repr_html_(self) -> str:
        """Returns the first rows of every output as tables."""
        return "\n".join(_shown(name, frame) for name, frame in self.items())


def first_rows(frame: DataFrame, count: int) -> list[Row]:
    """Returns the first rows of a frame as plain values."""
    with failures_told():
        return [*plain_rows(frame.limit(count).toArrow())]


@contextmanager
def failures_told() -> Iterator[None]:
    """Raises an error of ours, a sentence, for a job that Spark has stopped."""
    try:
        with limits_told(), misfits_told():
            yield
    except Exception as error:
        # By its module, as Spark has errors of its own, py4j's, and Connect's.
        if not type(error).__module__.startswith(("pyspark", "py4j")):
            raise
        said = str(error)
        known = _NAMED.search(said)
        fact = known[0] if known else failures.cause(error)
        hint = ""
        if _BROADCAST.search(said):
            hint = "SMART in place of LOOKUP lets Spark shuffle a large right side"
        raise EngineError(f"Spark cannot go on: {fact}", hint=hint) from error


def _shown(name: str, frame: DataFrame) -> str:
    """Returns the first rows of one output as a table, or why there is none."""
    title = f"<h4>{escape(name)}</h4>"
    try:
        # One more than is shown tells whether there are more.
        rows = first_rows(frame, SHOWN + 1)
    except DovetailError as error:
        return f"{title}\n<pre>{escape(str(error))}</pre>"
    lines = [f"<tr>{''.join(f'<th>{escape(one)}</th>' for one in frame.columns)}</tr>"]
    for row in rows[:SHOWN]:
        # Texts stand as they are, other values as JSON.
        cells = (one if isinstance(one, str) else cited(one) for one in row.values())
        lines.append(f"<tr>{''.join(f'<td>{escape(one)}</td>' for one in cells)}</tr>")
    more = f"<p>the first {SHOWN} rows</p>" if len(rows) > SHOWN else ""
    table = "\n".join(lines)
    return f"{title}\n<table>{table}\n</table>{more}"
