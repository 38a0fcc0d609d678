"""Laws about inputs: keys and row times that are there, and lateness."""

from __future__ import annotations

from collections.abc import Iterator

from dovetail import spec
from dovetail.schema import MOMENTS
from dovetail.spec.rules.rule import Finding, InputRule, JoinRule

# A date has no place inside its day, so windows of it would have no ends.


def missing_key_columns(source: spec.Input) -> Iterator[Finding]:
    """Gives the columns of a key that the input does not have."""
    # Without a schema, as before a text has said it, nothing is known to be missing.
    for name in source.key:
        if source.schema.columns and name not in source.schema:
            yield _no_column(source, "key", name)


def missing_time_column(source: spec.Input) -> Iterator[Finding]:
    """Gives the time column where the input does not have it."""
    if source.is_timed and source.schema.columns and source.time not in source.schema:
        yield _no_column(source, "time", source.time)


def time_of_other_type(source: spec.Input) -> Iterator[Finding]:
    """Gives the time column where it is no timestamp."""
    if source.time in source.schema:
        column = source.schema[source.time]
        if column.type not in MOMENTS:
            yield Finding(
                f'the row time "{column.name}" of "{source.name}" is {column.type}',
                "a timestamp",
                "cast it when the input is declared",
            )


def lateness_without_time(source: spec.Input) -> Iterator[Finding]:
    """Gives a lateness that nothing can be judged by."""
    if source.lateness != spec.NO_TIME and not source.is_timed:
        yield Finding(
            f'"{source.name}" has a lateness of {source.lateness} and no row time',
            "a time column",
            'name it in "time", or leave the lateness out',
        )


def lateness_below_zero(source: spec.Input) -> Iterator[Finding]:
    """Gives a lateness that is negative."""
    if source.lateness.is_negative:
        yield Finding(
            f'"{source.name}" has a lateness of {source.lateness}', "0 seconds or more"
        )


def unknown_inputs(join: spec.JoinSpec, inputs: spec.Inputs) -> Iterator[Finding]:
    """Gives the sides whose input is not there."""
    for hand in spec.HANDS:
        match join.side(hand).source:
            case spec.Named(name) if name not in inputs:
                yield Finding(
                    f'the {hand.value} side is from "{name}"',
                    f"one of {', '.join(inputs) or 'the inputs: there is none'}",
                )
            case _:
                pass


def streams_without_time(join: spec.JoinSpec, inputs: spec.Inputs) -> Iterator[Finding]:
    """Gives the streams that have no place on the event clock."""
    if join.clock is not spec.Clock.EVENT:
        return
    # A table or a data set without a time is there from the start, and stays.
    for hand in spec.HANDS:
        source = join.side(hand).source
        is_stream = spec.kind_of(source, inputs) is spec.InputKind.STREAM
        if not is_stream or spec.is_timed(source, inputs):
            continue
        match source:
            case spec.Named(name):
                yield Finding(
                    f'the stream "{name}" has no row time on the clock event',
                    "a time column",
                    'name it in "time", or use the clock arrival',
                )
            case spec.Nested():
                yield Finding(
                    f"the {hand.value} side is a join whose rows have no row time",
                    "a join on the clock event",
                )


def arrivals_of_nothing(join: spec.JoinSpec, inputs: spec.Inputs) -> Iterator[Finding]:
    """Gives the joins on the clock arrival to which no row ever comes."""
    kinds = spec.kinds_of(join, inputs)
    if join.clock is spec.Clock.ARRIVAL and kinds == {spec.InputKind.DATASET}:
        yield Finding(
            "two data sets on the clock arrival",
            "a side that changes: a stream or a table",
            "rows that are all there from the start are joined on the clock batch",
        )


def changes_in_row_time(join: spec.JoinSpec, inputs: spec.Inputs) -> Iterator[Finding]:
    """Gives the joins on the clock event whose result is told by its changes."""
    # Results of tables alone are changes, and a change is told when it happens, which
    # row times, coming in any order, do not say.
    kinds = spec.kinds_of(join, inputs)
    changes = spec.InputKind.TABLE in kinds and spec.InputKind.STREAM not in kinds
    if join.clock is spec.Clock.EVENT and changes:
        yield Finding(
            "a table that meets no stream on the clock event",
            "the clock arrival, or batch",
            "such a result is told by its changes, in the order in which they come",
        )


def _no_column(source: spec.Input, use: str, name: str) -> Finding:
    """Returns the finding of a column that is not there."""
    return Finding(
        f'the {use} of "{source.name}" names "{name}"',
        f"one of {', '.join(source.schema.names)}",
    )


RULES = (
    JoinRule(
        "known_input", "every side is from an input that is there", unknown_inputs
    ),
    InputRule(
        "key_columns",
        "every column of a key is a column of its input",
        missing_key_columns,
    ),
    InputRule(
        "time_column", "the row time is a column of its input", missing_time_column
    ),
    InputRule("time_type", "the row time is a timestamp", time_of_other_type),
    InputRule(
        "lateness_time", "only rows with a row time are late", lateness_without_time
    ),
    InputRule("lateness_sign", "a lateness is not negative", lateness_below_zero),
    JoinRule(
        "event_time",
        "on the clock event every stream has a row time",
        streams_without_time,
    ),
    JoinRule(
        "changelog_clock",
        "changes of tables are told in order of arrival",
        changes_in_row_time,
    ),
    JoinRule(
        "arriving_side", "on the clock arrival something arrives", arrivals_of_nothing
    ),
)
