"""A join of DataFrames as one native plan: the way in to this engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from pyspark.sql import DataFrame

from dovetail.errors import UnsupportedError
from dovetail.plan.batch import BATCH, plan_buckets
from dovetail.plan.capability import features_of_join, features_of_settings
from dovetail.run.spark.moments import LATEST
from dovetail.run.spark.rules import pinned, plain_rules
from dovetail.run.spark_batch.arrivals import PLACE, WHAT, Arrivals, admit
from dovetail.run.spark_batch.lines import ROW_TIME
from dovetail.run.spark_batch.lives import Living, Seat, give_lives
from dovetail.run.spark_batch.matching import Meeting
from dovetail.run.spark_batch.results import ORDER, mentions, outlets
from dovetail.spec.inputs import Input, Inputs, Order, Outlet, Settings
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec, Named

_USUAL = Settings()


@dataclass(frozen=True, slots=True)
class BatchRows:
    """The rows of every outlet, and the late rows of every input with their reasons."""

    outlets: Mapping[Outlet, DataFrame]
    late: Mapping[str, DataFrame]


def join_batch(
    join: JoinSpec,
    inputs: Inputs,
    frames: Mapping[str, Arrivals],
    *,
    settings: Settings = _USUAL,
) -> BatchRows:
    """Returns the rows of a join; nothing runs before they are asked for."""
    spark = next(iter(frames.values())).frame.sparkSession
    # What the user computed before keeps the user's rules.
    own = {name: replace(one, frame=pinned(one.frame)) for name, one in frames.items()}
    with plain_rules(spark):
        rows = ordered_rows(join, inputs, own, settings=settings)
        by_time = settings.order is Order.ROW_TIME
        found = {
            outlet: pinned((frame.sort(ROW_TIME) if by_time else frame).drop(*ORDER))
            for outlet, frame in rows.outlets.items()
        }
        late = {name: pinned(frame.drop(PLACE)) for name, frame in rows.late.items()}
        return BatchRows(found, late)


def ordered_rows(
    join: JoinSpec,
    inputs: Inputs,
    frames: Mapping[str, Arrivals],
    *,
    settings: Settings,
) -> BatchRows:
    """Returns the rows with the columns of ORDER; the plain rules are in force."""
    used = features_of_join(join, inputs) | features_of_settings(settings)
    BATCH.refuse_unsupported(used)
    sources = {hand: inputs[_name(join, hand)] for hand in HANDS}
    by_name = {source.name: source for source in sources.values()}
    arrivals = {name: _own_columns(by_name[name], frames[name]) for name in by_name}
    admitted = {
        name: admit(source, arrivals[name], join.clock)
        for name, source in by_name.items()
    }
    sides: dict[Hand, Living] = {}
    for hand, source in sources.items():
        window = join.side(hand).window
        seat = Seat(hand, source, window, arrivals[source.name], join.clock)
        sides[hand] = give_lives(seat, admitted[source.name])
    buckets = plan_buckets(join, (sources[Hand.LEFT], sources[Hand.RIGHT]))
    meeting = Meeting(join, sides, buckets, _asks_row_time(join, arrivals, settings))
    late = {
        name: admitted[name].late
        for name, source in by_name.items()
        if join.clock is Clock.EVENT and source.is_timed
    }
    return BatchRows(outlets(meeting), late)


def _name(join: JoinSpec, hand: Hand) -> str:
    """Returns the name of the input on a hand."""
    source = join.side(hand).source
    if not isinstance(source, Named):
        raise UnsupportedError.not_yet(BATCH.name, "a join of a join's rows")
    return source.name


def _own_columns(source: Input, arrivals: Arrivals) -> Arrivals:
    """Returns the arrivals without columns that the input does not declare."""
    names = [f"`{name}`" for name in source.schema.names]
    hidden = [PLACE, WHAT] if arrivals.has_places else []
    return replace(arrivals, frame=arrivals.frame.select(*names, *hidden))


def _asks_row_time(
    join: JoinSpec, frames: Mapping[str, Arrivals], settings: Settings
) -> bool:
    """Tells whether the row time of a row of a semi join makes any difference."""
    is_open = any(arrivals.bound < LATEST for arrivals in frames.values())
    by_time = settings.order is Order.ROW_TIME
    return is_open or by_time or mentions(join, "row_time")
