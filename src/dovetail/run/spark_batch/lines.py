"""The lines of a join's result, before any select: pairs, rows alone, rows met once.

A line has the structs `l` and `r`, whether each is there, and hidden columns: its row
time, when it is settled, and where it stands in the order of the output.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.plan.batch import Buckets
from dovetail.run.spark.absent import absent_struct
from dovetail.run.spark.moments import EARLIEST, LATEST
from dovetail.run.spark_batch.arrivals import PLACE
from dovetail.run.spark_batch.lives import BIRTH, DEATH, END
from dovetail.run.spark_batch.matching import HERE, Meeting, side_column
from dovetail.spec.join import HANDS, Clock, Hand, NullRow

Columns = Mapping[Hand, Column]

ROW_TIME = "__row_time"
ORDINALS = {Hand.LEFT: "__left", Hand.RIGHT: "__right"}
_SETTLED = "__settled"
_HOW = ("inner", "left_outer", "full_outer")


@dataclass(frozen=True, slots=True)
class Line:
    """What a line is made of; `settled` is the bound that both inputs must reach."""

    rows: Columns
    here: Columns
    places: Columns
    time: Column
    settled: Column

    def columns(self) -> list[Column]:
        """Returns the columns of the line under their names."""
        return [
            *(self.rows[hand].alias(hand.letter) for hand in HANDS),
            *(self.here[hand].alias(matched(hand)) for hand in HANDS),
            *(self.places[hand].alias(ORDINALS[hand]) for hand in HANDS),
            self.time.alias(ROW_TIME),
            self.settled.alias(_SETTLED),
        ]


def result_lines(meeting: Meeting) -> DataFrame:
    """Returns every line that comes out: the inputs have come far enough for it."""
    lines = reduce(DataFrame.unionByName, _parts(meeting))
    bound = min(side.seat.arrivals.bound for side in meeting.sides.values())
    if meeting.join.clock is Clock.EVENT and bound < LATEST:
        lines = lines.where(F.col(_SETTLED) <= bound)
    return lines.drop(_SETTLED)


def matched(hand: Hand) -> str:
    """Returns the name that tells whether a hand's row is there."""
    return f"matched_{hand.value}"


def _parts(meeting: Meeting) -> Iterator[DataFrame]:
    """Gives the lines in as few joins as Spark needs for them."""
    kind = meeting.join.kind
    kept = [hand for hand in HANDS if kind.gives_pairs and kind.preserves(hand)]
    if isinstance(meeting.buckets, Buckets):
        del kept[1:]
    if kind.gives_pairs:
        yield _paired(meeting, kept)
    for hand in HANDS:
        if kind.gives_once(hand):
            yield _once(meeting, hand)
        if kind.preserves(hand) and hand not in kept:
            yield _alone(meeting, hand)


def _paired(meeting: Meeting, kept: list[Hand]) -> DataFrame:
    """Returns the pairs, and the rows of the kept hands that are in none."""
    first = kept[0] if kept else Hand.LEFT
    here = {hand: side_column(hand, HERE).isNotNull() for hand in HANDS}
    time = F.when(here[Hand.LEFT] & here[Hand.RIGHT], _met(meeting))
    settled = time + 1
    for hand in HANDS:
        is_alone = here[hand] & ~here[hand.other]
        time = F.coalesce(time, F.when(is_alone, _life(meeting, hand, END)))
        settled = F.coalesce(settled, F.when(is_alone, _life(meeting, hand, DEATH)))
    line = Line(
        {hand: _row_or_absent(meeting, hand, here[hand]) for hand in HANDS},
        here,
        {hand: side_column(hand, PLACE) for hand in HANDS},
        time,
        settled,
    )
    return meeting.joined(first, _HOW[len(kept)]).select(*line.columns())


def _alone(meeting: Meeting, hand: Hand) -> DataFrame:
    """Returns the rows of a hand that are in no pair."""
    line = Line(
        {hand: _row(meeting, hand), hand.other: _absent(meeting, hand.other)},
        {hand: F.lit(True), hand.other: F.lit(False)},  # noqa: FBT003
        {hand: side_column(hand, PLACE), hand.other: _no_number()},
        _life(meeting, hand, END),
        _life(meeting, hand, DEATH),
    )
    return meeting.joined(hand, "left_anti").select(*line.columns())


def _once(meeting: Meeting, hand: Hand) -> DataFrame:
    """Returns each row of a hand that is in a pair; its row time is the earliest."""
    row, place, time = _row(meeting, hand), side_column(hand, PLACE), _no_number()
    if meeting.knows_row_time:
        births = (side_column(each, BIRTH) for each in HANDS)
        met = [
            row.alias("row"),
            place.alias("place"),
            F.greatest(*births).alias("time"),
        ]
        pairs = meeting.joined(hand, "inner").select(*met).groupBy("place")
        joined = pairs.agg(F.first("row").alias("row"), F.min("time").alias("time"))
        row, place, time = (F.col(name) for name in ("row", "place", "time"))
    else:
        joined = meeting.joined(hand, "left_semi")
    line = Line(
        {hand: row, hand.other: _absent(meeting, hand.other)},
        dict.fromkeys(HANDS, F.lit(True)),  # noqa: FBT003
        {hand: place, hand.other: _no_number()},
        time,
        time + 1,
    )
    return joined.select(*line.columns())


def _met(meeting: Meeting) -> Column:
    """Returns the row time of a pair: the later birth."""
    return F.greatest(*(_life(meeting, hand, BIRTH) for hand in HANDS))


def _life(meeting: Meeting, hand: Hand, name: str) -> Column:
    """Returns a column of a row's life; one that is always the same is no column."""
    if meeting.sides[hand].may_miss:
        return side_column(hand, name)
    return F.lit(EARLIEST if name == BIRTH else LATEST)


def _no_number() -> Column:
    """Returns a number that is not known."""
    return F.lit(None).cast("bigint")


def _row(meeting: Meeting, hand: Hand) -> Column:
    """Returns the row of a hand as a struct of its input's columns."""
    names = meeting.sides[hand].seat.source.schema.names
    return F.struct(*(side_column(hand, name).alias(name) for name in names))


def _absent(meeting: Meeting, hand: Hand) -> Column:
    """Returns what stands for a hand's row."""
    schema = meeting.sides[hand].seat.source.schema
    return absent_struct(meeting.join.absent(hand), schema)


def _row_or_absent(meeting: Meeting, hand: Hand, here: Column) -> Column:
    """Returns the row where it is there; an outer join gives nulls by itself."""
    row = _row(meeting, hand)
    if meeting.join.absent(hand) == NullRow():
        return row
    return F.when(here, row).otherwise(_absent(meeting, hand))
