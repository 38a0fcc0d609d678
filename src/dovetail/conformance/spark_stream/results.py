"""From the raw results of a query to what each of its plays put out."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from dovetail import spec
from dovetail.conformance.spark_stream.script import Script
from dovetail.conformance.spark_stream.shared import Batches, Shape
from dovetail.engines.spark_stream.feeds import SCOPE
from dovetail.engines.spark_stream.outlets import Outlets
from dovetail.engines.spark_stream.worker.bucket import CHANGE, LEFT, OUTLET, ROW_TIME
from dovetail.engines.tables import plain_rows
from dovetail.kernels.arrays.names import reserved
from dovetail.kernels.pairs.results import OUTLETS, UNMATCHED

PLACE = reserved("place")


@dataclass(frozen=True, slots=True)
class Result:
    """A raw result: its place among all, its batch, its play, and what it is of."""

    place: int
    batch: int
    scope: int
    exit: spec.Outlet
    is_left: bool
    row_time: int | None


def emissions(
    spark: SparkSession, shape: Shape, raw: Batches, scripts: Sequence[Script]
) -> list[list[spec.Emission]]:
    """Returns what each script put out, in the order in which it came out."""
    table = _whole(raw)
    results = [one for one in _results(table, raw) if _counts(one, scripts)]
    if shape.plan.join.clock is spec.Clock.EVENT and not shape.by_row_time:
        # Buckets know no order among each other; of row time there always is one.
        results.sort(key=lambda one: (one.row_time is None, one.row_time))
    rows = _rows(spark, shape, table, results)
    found = [list(script.lost) for script in scripts]
    for one in results:
        after = (
            scripts[one.scope].events[one.batch]
            if shape.stepwise
            else spec.UNKNOWN_EVENT
        )
        outlet, row = rows[one.place]
        # Behind the columns of the join stands what the row does to its result.
        is_told = CHANGE in table.column_names
        change = spec.Change(row.pop(CHANGE)) if is_told else spec.Change.NONE
        found[one.scope].append(spec.Emission(outlet, row, after, change))
    return found


def _whole(raw: Batches) -> pa.Table:
    """Returns the results of all batches, with their places."""
    parts = [raw[number] for number in sorted(raw)]
    # Spark takes a table for empty whose first chunk is.
    whole = pa.concat_tables(parts).combine_chunks()
    return whole.append_column(PLACE, pa.array(range(whole.num_rows), pa.int64()))


def _results(table: pa.Table, raw: Batches) -> Iterator[Result]:
    """Gives what is known of each result without looking at its row."""
    batches = (number for number in sorted(raw) for _ in range(raw[number].num_rows))
    columns = [
        table.column(OUTLET),
        table.column(LEFT),
        table.column(ROW_TIME).cast(pa.int64()),
        *(table.column(letter).combine_chunks().field(SCOPE) for letter in "lr"),
    ]
    heads = zip(batches, *(column.to_pylist() for column in columns), strict=True)
    for place, (batch, leaves, is_left, time, left, right) in enumerate(heads):
        scope = left if is_left else right
        yield Result(place, batch, scope, OUTLETS[leaves], is_left, time)


def _counts(result: Result, scripts: Sequence[Script]) -> bool:
    """Tells whether a result counts: of a silent start only late rows do."""
    is_silent = scripts[result.scope].has_silent_start and result.batch == 0
    return not is_silent or result.exit is spec.Outlet.LATE


def _rows(
    spark: SparkSession, shape: Shape, table: pa.Table, results: Sequence[Result]
) -> dict[int, tuple[spec.Outlet, dict[str, object]]]:
    """Returns the outlet and the row of every result by its place."""
    if not results:
        return {}
    frame = spark.createDataFrame(table)
    found = {}
    for outlet, shown in _frames(shape, frame, results):
        table = shown.toArrow()
        places, rows = table.column(PLACE).to_pylist(), plain_rows(table.drop(PLACE))
        found.update(
            {place: (outlet, row) for place, row in zip(places, rows, strict=True)}
        )
    return found


def _frames(
    shape: Shape, frame: DataFrame, results: Sequence[Result]
) -> Iterator[tuple[spec.Outlet, DataFrame]]:
    """Gives the outlets that have rows, late rows by their side."""
    outlets = Outlets(shape.plan, (PLACE,))
    has_ports = shape.plan.join.ports > 1
    ports = {one.exit for one in results if has_ports and one.exit in UNMATCHED}
    if any(_is_matched(one, has_ports=has_ports) for one in results):
        yield spec.Outlet.MATCHED, outlets.frame(frame, spec.Outlet.MATCHED)
    for port in ports:
        yield port, outlets.frame(frame, port)
    late = {one.is_left for one in results if one.exit is spec.Outlet.LATE}
    for hand in spec.HANDS:
        if (hand is spec.Hand.LEFT) in late:
            yield spec.Outlet.LATE, outlets.late_of(frame, hand)


def _is_matched(result: Result, *, has_ports: bool) -> bool:
    """Tells whether a result goes through `select`."""
    return result.exit is spec.Outlet.MATCHED or (
        not has_ports and result.exit in UNMATCHED
    )
