"""A join of DataFrames as one native plan: the way in to this engine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pyspark.sql import DataFrame

from dovetail.engines.spark.moments import LATEST
from dovetail.engines.spark.rules import pinned, plain_rules
from dovetail.engines.spark_batch.arrivals import PLACE, WHAT, Arrivals, admit
from dovetail.engines.spark_batch.inner import in_left_order
from dovetail.engines.spark_batch.line import ROW_TIME
from dovetail.engines.spark_batch.mentioned import mentions
from dovetail.engines.spark_batch.results import ORDER
from dovetail.engines.spark_batch.sets import join_sets
from dovetail.engines.spark_batch.tree import (
    Asked,
    BatchRows,
    Ground,
    joined,
    windows_on,
)
from dovetail.plan.batch import refuse
from dovetail.plan.capability import ORDERED
from dovetail.schema import quoted
from dovetail.spec.inputs import Input, Inputs, Order, Outlet, Settings
from dovetail.spec.join import Clock, JoinSpec, SetJoinSpec
from dovetail.spec.sources import source_names
from dovetail.spec.stops import Stops
from dovetail.spec.windows import Between

_USUAL = Settings()
_NO_STOPS = Stops()


def join_batch(
    join: JoinSpec | SetJoinSpec,
    inputs: Inputs,
    frames: Mapping[str, Arrivals],
    *,
    settings: Settings = _USUAL,
    stops: Stops = _NO_STOPS,
) -> BatchRows:
    """Returns the rows of a join; nothing runs before they are asked for."""
    spark = next(iter(frames.values())).frame.sparkSession
    # What the user computed before keeps the user's rules.
    own = {name: replace(one, frame=pinned(one.frame)) for name, one in frames.items()}
    with plain_rules(spark):
        if isinstance(join, SetJoinSpec):
            together = pinned(join_sets(join, inputs, own))
            return BatchRows({Outlet.MATCHED: together}, {})
        rows = ordered_rows(join, inputs, own, settings=settings, stops=stops)
        by_time = settings.order is Order.ROW_TIME
        found = {
            outlet: pinned(_sorted(join, frame, rows, by_time=by_time).drop(*ORDER))
            for outlet, frame in rows.outlets.items()
        }
        late = {name: pinned(frame.drop(PLACE)) for name, frame in rows.late.items()}
        return BatchRows(found, late)


def _sorted(
    join: JoinSpec, frame: DataFrame, rows: BatchRows, *, by_time: bool
) -> DataFrame:
    """Returns the rows in the order that is promised, if one is."""
    if by_time:
        return frame.sort(ROW_TIME)
    if _is_promised(join) and not rows.in_left_order:
        return in_left_order(frame)
    return frame


def _is_promised(join: JoinSpec) -> bool:
    """Tells whether rows come in the order of the left ones."""
    return join.clock is Clock.BATCH and join.picks.strategy in ORDERED


def ordered_rows(
    join: JoinSpec,
    inputs: Inputs,
    frames: Mapping[str, Arrivals],
    *,
    settings: Settings,
    stops: Stops = _NO_STOPS,
) -> BatchRows:
    """Returns the rows with the columns of ORDER; the plain rules are in force."""
    refuse(join, inputs, settings)
    sources = {name: inputs[name] for name in source_names(join)}
    own = {name: _own_columns(sources[name], frames[name]) for name in sources}
    windows = {name: [*windows_on(join, name)] for name in sources}
    admitted = {
        name: admit(source, own[name], join.clock, windows[name])
        for name, source in sources.items()
    }
    late = {
        name: admitted[name].late
        for name, source in sources.items()
        if (join.clock is Clock.EVENT and source.is_timed)
        or any(isinstance(window, Between) for window in windows[name])
    }
    ground = Ground(sources, own, admitted, stops)
    asked = Asked(_asks_row_time(join, own, settings), _is_promised(join))
    found = joined(join, ground, asked, "the join")
    return replace(found, late={**late, **found.late})


def _own_columns(source: Input, arrivals: Arrivals) -> Arrivals:
    """Returns the arrivals without columns that the input does not declare."""
    names = [quoted(name) for name in source.schema.names]
    hidden = [PLACE, WHAT] if arrivals.has_places else []
    return replace(arrivals, frame=arrivals.frame.select(*names, *hidden))


def _asks_row_time(
    join: JoinSpec, frames: Mapping[str, Arrivals], settings: Settings
) -> bool:
    """Tells whether the row time of a row of a semi join makes any difference."""
    is_open = any(arrivals.bound < LATEST for arrivals in frames.values())
    by_time = settings.order is Order.ROW_TIME
    return is_open or by_time or mentions(join, "row_time")
