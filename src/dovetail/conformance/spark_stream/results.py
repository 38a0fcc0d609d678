"""From the raw results of a query to what each of its plays put out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import itemgetter

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dovetail import spec
from dovetail.conformance.spark_stream.script import Script
from dovetail.conformance.spark_stream.shared import Batches, Shape
from dovetail.engines.spark_stream.firing import Riding
from dovetail.engines.spark_stream.outlets import Outlets
from dovetail.engines.spark_stream.ways import changed
from dovetail.engines.spark_stream.worker.bucket import (
    CHANGE,
    LEFT,
    OUTLET,
    ROW_TIME,
)
from dovetail.engines.spark_stream.worker.relay import SCOPE
from dovetail.engines.tables import plain_rows
from dovetail.kernels.arrays.names import reserved
from dovetail.kernels.pairs.results import OUTLETS, UNMATCHED
from dovetail.plan.stream import StreamPlan
from dovetail.plan.ways import Onward

PLACE, BATCH = reserved("place"), reserved("batch")
BEFORE_ALL = -1
"""The batch of what comes out before anything is played."""
GONE: dict[str, object] = {}
"""A row that a filter behind the join has dropped, though a mark may stand behind it.

It is known by its identity.
"""


@dataclass(frozen=True, slots=True)
class Result:
    """A raw result: its place among all, its batch, its play, and what it is of."""

    place: int
    batch: int
    scope: int
    outlet: spec.Outlet
    is_left: bool
    row_time: int | None


def emissions(
    spark: SparkSession,
    shape: Shape,
    raw: Sequence[Batches],
    scripts: Sequence[Script],
) -> list[list[spec.Emission]]:
    """Returns what each script put out, in the order in which it came out.

    `raw` are the results of each join of the shape. Where each event is a batch, marks
    stand among them in order of arrival.
    """
    found = [[(BEFORE_ALL, one) for one in script.lost] for script in scripts]
    known: Counter[Hashable] = Counter()
    is_batch = shape.plan.join.clock is spec.Clock.BATCH
    # What a join inside has turned away leaves before what it lets out.
    for number in reversed(range(len(shape.plan.joins))):
        turned_away = known.copy()
        table = _whole(raw[number])
        for one, emission in _of_join(spark, shape, table, number, scripts):
            if emission.outlet is spec.Outlet.LATE:
                told = one.scope, one.batch, repr(sorted(emission.row.items()))
                # Its input stands inside too: of the row it has been told there.
                if turned_away[told]:
                    turned_away[told] -= 1
                    continue
                known[told] += 1
            after = (
                scripts[one.scope].events[one.batch]
                if shape.stepwise and not is_batch
                else spec.UNKNOWN_EVENT
            )
            batch = one.batch if shape.stepwise else BEFORE_ALL
            found[one.scope].append((batch, replace(emission, after=after)))
    for rows in found:
        rows.sort(key=itemgetter(0))
    if shape.stepwise and shape.plan.join.clock is spec.Clock.ARRIVAL:
        return [[*_marked(*one)] for one in zip(found, scripts, strict=True)]
    return [[emission for _, emission in rows] for rows in found]


def _marked(
    found: Sequence[tuple[int, spec.Emission]], script: Script
) -> Iterator[spec.Emission]:
    """Gives rows with a mark behind those of an event that the first port gave.

    What time lets out no row has caused, so that no mark stands behind it.
    """
    sent = 0
    for batch, rows in groupby(found, key=itemgetter(0)):
        emissions = [emission for _, emission in rows]
        yield from emissions
        came = sum(one.outlet is spec.Outlet.MATCHED for one in emissions)
        if came and batch not in script.pauses:
            sent += came
            mark = {"port": 0, "ordinal": sent}
            yield spec.Emission(spec.Outlet.MARKS, mark, emissions[-1].after)


def _of_join(
    spark: SparkSession,
    shape: Shape,
    table: pa.Table,
    number: int,
    scripts: Sequence[Script],
) -> Iterator[tuple[Result, spec.Emission]]:
    """Gives what comes out of one join, in the order in which it does."""
    plan = shape.plan.joins[number]
    # Of a silent start, which is batch 0, only late rows count.
    silent = {one.scope for one in scripts if one.has_silent_start}
    results = [
        one
        for one in _results(table)
        if one.outlet is spec.Outlet.LATE or one.batch or one.scope not in silent
    ]
    if plan.join.clock is spec.Clock.EVENT and not shape.by_row_time:
        # Buckets know no order among each other; of row time there always is one.
        results.sort(key=lambda one: (one.row_time is None, one.row_time))
    # What the steps behind the join drop stands there as nothing.
    leaving = shape.feeding.exits if shape.feeding and not number else ()
    rows = _rows(spark, plan, table, results, leaving)
    for one in results:
        is_matched = _is_matched(one, has_ports=plan.join.ports > 1)
        own = spec.Outlet.MATCHED if is_matched else one.outlet
        for outlet, row in rows.get(one.place) or [(own, GONE)]:
            # Behind the columns of a join whose result changes stands what the row does
            # to it; of others such a column is the user's.
            is_told = CHANGE in row and CHANGE in table.column_names
            change = spec.Change(str(row.pop(CHANGE))) if is_told else spec.Change.NONE
            yield one, spec.Emission(outlet, row, change=change)


def _whole(raw: Batches) -> pa.Table:
    """Returns the results of all batches, with their places and batches."""
    parts = [raw[number] for number in sorted(raw)]
    batches = [number for number in sorted(raw) for _ in range(raw[number].num_rows)]
    # Spark takes a table for empty whose first chunk is.
    whole = pa.concat_tables(parts).combine_chunks()
    places = pa.array(range(whole.num_rows), pa.int64())
    numbers = pa.array(batches, pa.int64())
    return whole.append_column(PLACE, places).append_column(BATCH, numbers)


def _results(table: pa.Table) -> Iterator[Result]:
    """Gives what is known of each result without looking at its row."""
    columns = [
        table.column(PLACE),
        table.column(BATCH),
        table.column(OUTLET),
        table.column(LEFT),
        table.column(ROW_TIME).cast(pa.int64()),
        *(table.column(letter).combine_chunks().field(SCOPE) for letter in "lr"),
    ]
    heads = zip(*(column.to_pylist() for column in columns), strict=True)
    for place, batch, leaves, is_left, time, left, right in heads:
        scope = left if is_left else right
        yield Result(place, batch, scope, OUTLETS[leaves], is_left, time)


def _rows(
    spark: SparkSession,
    plan: StreamPlan,
    table: pa.Table,
    results: Sequence[Result],
    leaving: Sequence[Onward],
) -> dict[int, list[tuple[spec.Outlet, dict[str, object]]]]:
    """Returns the outlet and the rows of results by their places.

    Where one outlet alone is asked for, what becomes of its rows on each way.
    """
    if not results:
        return {}
    frame = spark.createDataFrame(table)
    found: dict[int, list[tuple[spec.Outlet, dict[str, object]]]] = {}
    for outlet, shown in _frames(plan, frame, results):
        # What of it is asked for goes on, and all of it where nothing is.
        ways = [one.changes for one in leaving if one.outlet is outlet]
        for changes in ways if leaving else [()]:
            table = changed(shown, changes, Riding((PLACE,))).toArrow()
            places = table.column(PLACE).to_pylist()
            rows = plain_rows(table.drop(PLACE))
            for place, row in zip(places, rows, strict=True):
                found.setdefault(place, []).append((outlet, row))
    return found


def _frames(
    plan: StreamPlan, frame: DataFrame, results: Sequence[Result]
) -> Iterator[tuple[spec.Outlet, DataFrame]]:
    """Gives the outlets that have rows, late rows by their side."""
    outlets = Outlets(plan, (PLACE,))
    has_ports = plan.join.ports > 1
    ports = {one.outlet for one in results if has_ports and one.outlet in UNMATCHED}
    if any(_is_matched(one, has_ports=has_ports) for one in results):
        yield spec.Outlet.MATCHED, outlets.frame(frame, spec.Outlet.MATCHED)
    for port in ports:
        yield port, outlets.frame(frame, port)
    late = {one.is_left for one in results if one.outlet is spec.Outlet.LATE}
    for hand in spec.HANDS:
        if (hand is spec.Hand.LEFT) in late:
            yield spec.Outlet.LATE, outlets.late_of(frame, hand)


def _is_matched(result: Result, *, has_ports: bool) -> bool:
    """Tells whether a result goes through `select`."""
    return result.outlet is spec.Outlet.MATCHED or (
        not has_ports and result.outlet in UNMATCHED
    )
