"""Rows on their way to a join, or behind it: kept or not, and with other columns.

What rides along, columns of ours, stays beside the columns of the rows. Lines that
bring no row, such as bounds, go by untouched.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark_stream.worker import relay
from dovetail.kernels.arrays.names import LineKind
from dovetail.plan.ways import Change, Kept, Path, Reshaped
from dovetail.schema import quoted

_MOST = 2**63 - 1


def changed(
    frame: DataFrame, changes: Sequence[Change], riding: Sequence[str] = ()
) -> DataFrame:
    """Returns rows as changes make them, with the columns that ride along."""
    for change in changes:
        seen = frame.alias("l")
        match change:
            case Kept(condition):
                holds = F.expr(condition.text)
                # A bound has no values: of it a condition would be null, and drop it.
                if relay.EVENT in riding:
                    holds |= F.col(relay.EVENT) != int(LineKind.ROW)
                frame = seen.where(holds)
            case Reshaped(select, schema):
                # What Spark computes may be wider than what the program declares.
                values = (
                    F.expr(f"CAST({text} AS {schema[name].type})").alias(name)
                    for name, text in select.columns
                )
                frame = seen.select(*values, *riding)
    return frame


@dataclass(frozen=True, slots=True)
class Riders:
    """Columns of ours beside those of rows; `place` is the one they are ordered by.

    Each number there has so many places, `ranks`, of which a way takes its own.
    """

    columns: tuple[str, ...]
    place: str = ""
    ranks: int = 1

    def placed(self, path: Path) -> list[Column]:
        """Returns the columns as they are on a way.

        A number that has no room for so many places fails the query.
        """
        if self.ranks == 1 or not self.place:
            return [F.col(name) for name in self.columns]
        # Spark wraps silently where a product does not fit.
        most, number = _MOST // self.ranks - 1, F.col(self.place)
        told = f"a sequence beyond {most}, in which each row goes {self.ranks} ways"
        place = F.when(
            F.abs(number) > most, F.raise_error(F.lit(told)).cast("bigint")
        ).otherwise(number * self.ranks + path.rank)
        return [
            place.alias(name) if name == self.place else F.col(name)
            for name in self.columns
        ]


def gathered(
    rows: Callable[[str], DataFrame], paths: Sequence[Path], riders: Riders
) -> DataFrame:
    """Returns the rows that come on all ways; `rows` are those of an input."""
    frames = []
    for path in paths:
        frame = changed(rows(path.input), path.changes, riders.columns)
        own = [name for name in frame.columns if name not in riders.columns]
        frames.append(frame.select(*map(quoted, own), *riders.placed(path)))
    return reduce(DataFrame.unionAll, frames)
