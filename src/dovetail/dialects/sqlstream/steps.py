"""Steps in row time that a query of the text is made of, and their columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream.parser import ROWTIME
from dovetail.dialects.steps import (
    LISTED,
    NOBODY,
    Asked,
    Select,
    column_of,
    end_of,
    listing,
    projected,
    unfolded,
)
from dovetail.expression import Expression


@dataclass(frozen=True, slots=True)
class Made:
    """A stream of the text as a step, and which of its columns come out."""

    step: spec.Step
    shown: tuple[str, ...]


def only(source: spec.Step, names: Sequence[str]) -> spec.Step:
    """Returns a step with some of its columns, its row time among them."""
    every = (*names, *({ROWTIME} - {*names}))
    return projected(source, tuple((one, column_of(one)) for one in every))


def first_of_each(made: Made, by: tuple[str, ...], within: spec.Span) -> Made:
    """Returns the first row of those that are alike in columns, in their row time.

    Within a length of time: rows that are alike are no farther from each other.
    """
    source = spec.InRowTime(made.step, ROWTIME)
    # A window of equal rows that counts 1 has this row alone: it is the first.
    before = spec.firing.Sliding(
        spec.firing.ByTime(within), spec.firing.ByCount(1), eager=True
    )
    counted = Asked().windowed(source, before, by=by, counts="counts")
    is_first = Expression("element_at(l.counts, 1) = 1")
    first = spec.Filtered(counted, is_first)
    return Made(only(first, made.step.schema.names), made.shown)


def sorted_rows(
    made: Made, by: Sequence[tuple[str, exp.Ordered]], stretch: spec.Span
) -> Made:
    """Returns rows in row time, those of one time by columns, which then are no more.

    With a stretch all that fall into one are sorted, and have its end as their time; by
    no column they stand as they did.
    """
    flags = {name: f"{name} is null" for name, _ in by}
    names = made.step.schema.names
    columns = [(name, column_of(name)) for name in names]
    columns += [
        (flag, Expression(f"{column_of(name).text} IS NULL"))
        for name, flag in flags.items()
    ]
    step = projected(made.step, tuple(columns))
    keys: list[tuple[str, bool]] = []
    for name, one in by:
        # Where there is no value says a column of its own: nothing is above nothing.
        keys.append((flags[name], bool(one.args.get("nulls_first"))))
        keys.append((name, bool(one.args.get("desc"))))
    size = stretch.microseconds
    # Without a stretch rows of one time are sorted, which the row time does itself.
    if size and keys:
        until = spec.firing.Tumbling(spec.firing.ByTime(stretch))
        gives = spec.firing.Arranged(tuple(keys))
        source = spec.InRowTime(step, ROWTIME)
        step = spec.Windowed(source, step.schema, until, gives)
        ended = [(ROWTIME, Expression(end_of(f"l.{ROWTIME}", size)))]
        rest = [(it, column_of(it)) for it in made.shown if it != ROWTIME]
        return Made(projected(step, (*ended, *rest)), made.shown)
    step = spec.InRowTime(step, ROWTIME, tuple(keys))
    return Made(only(step, made.shown), made.shown)


def with_row_time(join: spec.JoinSpec) -> spec.JoinSpec:
    """Returns a join whose rows have their row time as a column, in front of others."""
    assert isinstance(join.select, spec.Columns)  # noqa: S101 - as it is made
    columns = [one for one in join.select.columns if one[0].upper() != ROWTIME]
    own = ROWTIME, Expression("row_time")
    return replace(join, select=spec.Columns((own, *columns)))


def timed_anew(step: spec.Step, lateness: spec.Span) -> spec.Step:
    """Returns rows in the order of the time that they have in ROWTIME from here on."""
    return spec.InRowTime(spec.Retimed(step, ROWTIME, lateness), ROWTIME)


__all__ = [
    "LISTED",
    "NOBODY",
    "Asked",
    "Made",
    "Select",
    "column_of",
    "end_of",
    "first_of_each",
    "listing",
    "only",
    "projected",
    "sorted_rows",
    "timed_anew",
    "unfolded",
    "with_row_time",
]
