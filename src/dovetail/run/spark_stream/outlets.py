"""From raw results to what an outlet shows: the select, unmatched rows, late rows."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.kernels.pairs import leaving
from dovetail.run.kernel_settings import input_of
from dovetail.run.spark.absent import absent_struct
from dovetail.run.spark_stream.joining import LEFT, OUTLET, REASON, RIGHT
from dovetail.schema import quoted
from dovetail.spec.inputs import Inputs, Outlet
from dovetail.spec.join import (
    HANDS,
    Hand,
    JoinSpec,
    NullRow,
)
from dovetail.spec.results import own_outlets, selected_columns

PRESENT = {Hand.LEFT: LEFT, Hand.RIGHT: RIGHT}
_CODES = {
    Outlet.MATCHED: leaving.Outlet.MATCHED,
    Outlet.LEFT_UNMATCHED: leaving.Outlet.LEFT_UNMATCHED,
    Outlet.RIGHT_UNMATCHED: leaving.Outlet.RIGHT_UNMATCHED,
    Outlet.LATE: leaving.Outlet.LATE,
}
_REASONS = ("late", "null_time")  # in the order of leaving.Reason, which starts at 1


@dataclass(frozen=True, slots=True)
class Outlets:
    """The outlets of a join over its raw results; `extra` columns ride along."""

    join: JoinSpec
    inputs: Inputs
    extra: tuple[str, ...] = ()

    @property
    def names(self) -> tuple[Outlet, ...]:
        """Returns the outlets that this join has, the late one last."""
        return (Outlet.MATCHED, *own_outlets(self.join).values(), Outlet.LATE)

    def frame(self, raw: DataFrame, outlet: Outlet) -> DataFrame:
        """Returns the rows of one outlet with its own columns."""
        match outlet:
            case Outlet.MATCHED:
                return self._matched(raw)
            case Outlet.LEFT_UNMATCHED:
                return self._as_came(_only(raw, outlet), Hand.LEFT)
            case Outlet.RIGHT_UNMATCHED:
                return self._as_came(_only(raw, outlet), Hand.RIGHT)
            case Outlet.LATE:
                return self._late(_only(raw, outlet))
            case _:
                raise AssertionError(outlet)

    def late_of(self, raw: DataFrame, hand: Hand) -> DataFrame:
        """Returns one side's late rows as they came in, with the reason."""
        late = _only(raw, Outlet.LATE).where(PRESENT[hand])
        return self._as_came(late, hand, _reason().alias("reason"))

    def _matched(self, raw: DataFrame) -> DataFrame:
        """Returns what the select makes of pairs and, on one port, of lone rows."""
        if self.join.ports > 1:
            rows = _only(raw, Outlet.MATCHED)
        else:
            rows = raw.where(F.col(OUTLET) != int(leaving.Outlet.LATE))
        known = rows.select(
            *(self._row(hand) for hand in HANDS),
            *(self._has_matched(hand).alias(f"matched_{hand.value}") for hand in HANDS),
            "row_time",
            *self.extra,
        )
        return known.select(*self._columns(), *self.extra)

    def _has_matched(self, hand: Hand) -> Column:
        """Returns whether a side is there; of a row given once, its partner was."""
        once = self.join.kind.gives_once(hand.other)
        return F.lit(True) if once else F.col(PRESENT[hand])  # noqa: FBT003

    def _row(self, hand: Hand) -> Column:
        """Returns a side's row, or what stands for it where it is absent."""
        letter, absent = hand.letter, self.join.absent(hand)
        if isinstance(absent, NullRow):
            return F.col(letter)
        source = input_of(self.join, hand, self.inputs)
        there = F.struct(*(F.col(f"{letter}.{quoted(n)}") for n in source.schema.names))
        stand_in = absent_struct(absent, source.schema)
        return F.when(F.col(PRESENT[hand]), there).otherwise(stand_in).alias(letter)

    def _columns(self) -> list[Column]:
        """Returns the output columns."""
        schemas = {
            hand: input_of(self.join, hand, self.inputs).schema for hand in HANDS
        }
        columns = selected_columns(self.join, schemas)
        return [F.expr(text.text).alias(name) for name, text in columns]

    def _as_came(self, rows: DataFrame, hand: Hand, *more: Column) -> DataFrame:
        """Returns rows with the columns with which they came in."""
        names = input_of(self.join, hand, self.inputs).schema.names
        own = [F.col(f"{hand.letter}.{quoted(name)}").alias(name) for name in names]
        return rows.select(*own, *more, *self.extra)

    def _late(self, rows: DataFrame) -> DataFrame:
        """Returns late rows: which side, why, and the row as it came in."""
        side = F.when(F.col(LEFT), "left").otherwise("right").alias("side")
        structs = [
            F.when(
                F.col(PRESENT[hand]),
                F.struct(
                    *(
                        F.col(f"{hand.letter}.{quoted(name)}").alias(name)
                        for name in input_of(self.join, hand, self.inputs).schema.names
                    )
                ),
            ).alias(hand.value)
            for hand in HANDS
        ]
        return rows.select(side, _reason().alias("reason"), *structs, *self.extra)


def _only(raw: DataFrame, outlet: Outlet) -> DataFrame:
    """Returns the raw results that leave by one outlet."""
    return raw.where(F.col(OUTLET) == int(_CODES[outlet]))


def _reason() -> Column:
    """Returns the reason of a late row as a word."""
    code = F.col(REASON).cast("int")
    return F.element_at(F.array(*map(F.lit, _REASONS)), code)
