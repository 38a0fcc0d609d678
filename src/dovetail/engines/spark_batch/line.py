"""A line of a join's result, before any select: a pair, a row alone, a row met once.

A line has the structs `l` and `r`, whether each is there, and hidden columns: its row
time, when it is settled, until when its rows are alive together, where it stands in the
order of the output, and whether it stands for a left row over its limit.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark.absent import absent_struct
from dovetail.engines.spark.moments import EARLIEST, LATEST
from dovetail.engines.spark_batch.lives import BIRTH, DEATH, END, LASTING
from dovetail.engines.spark_batch.matching import Meeting, side_column
from dovetail.kernels.arrays.names import reserved
from dovetail.spec.join import HANDS, Hand, NullRow

Columns = Mapping[Hand, Column]

ROW_TIME = reserved("row_time")
ORDINALS = {Hand.LEFT: reserved("left"), Hand.RIGHT: reserved("right")}
SETTLED = reserved("settled")
EXCEEDS = reserved("exceeds")
RIGHT_TIME = reserved("right_time")


@dataclass(frozen=True, slots=True)
class Line:
    """What a line is made of; `settled` is the bound that both inputs must reach.

    `exceeds` tells of a line for a left row over its limit; `right_time` is the row
    time of the right row of a pair; `lasting` is the death and the end of the lives
    that the line is made of.
    """

    rows: Columns
    here: Columns
    places: Columns
    time: Column
    settled: Column
    exceeds: Column
    right_time: Column
    lasting: tuple[Column, Column]

    def columns(self) -> list[Column]:
        """Returns the columns of the line under their names."""
        return [
            *(self.rows[hand].alias(hand.letter) for hand in HANDS),
            *(self.here[hand].alias(matched(hand)) for hand in HANDS),
            *(self.places[hand].alias(ORDINALS[hand]) for hand in HANDS),
            self.time.alias(ROW_TIME),
            self.settled.alias(SETTLED),
            self.exceeds.alias(EXCEEDS),
            self.right_time.alias(RIGHT_TIME),
            *(one.alias(name) for one, name in zip(self.lasting, LASTING, strict=True)),
        ]


def matched(hand: Hand) -> str:
    """Returns the name that tells whether a hand's row is there."""
    return f"matched_{hand.value}"


def met_at(meeting: Meeting) -> Column:
    """Returns the row time of a pair: the later birth."""
    return F.greatest(*(life_part(meeting, hand, BIRTH) for hand in HANDS))


def life_part(meeting: Meeting, hand: Hand, name: str) -> Column:
    """Returns a column of a row's life; one that is always the same is no column."""
    if meeting.sides[hand].may_miss:
        return side_column(hand, name)
    return F.lit(EARLIEST if name == BIRTH else LATEST)


def lasting(meeting: Meeting, hands: Iterable[Hand]) -> tuple[Column, Column]:
    """Returns the death and the end of what the rows of these hands live together."""
    sides = list(hands)
    death, end = (
        reduce(F.least, [life_part(meeting, hand, name) for hand in sides]).alias(name)
        for name in (DEATH, END)
    )
    return death, end


def either(
    condition: Column, one: tuple[Column, Column], other: tuple[Column, Column]
) -> tuple[Column, Column]:
    """Returns one death and end where a condition is true, else the other ones."""
    death, end = (
        F.when(condition, first).otherwise(second)
        for first, second in zip(one, other, strict=True)
    )
    return death, end


def passing(time: Column) -> tuple[Column, Column]:
    """Returns the death and the end of what is alive at its own row time only."""
    return time + 1, time


def no_number() -> Column:
    """Returns a number that is not known."""
    return F.lit(None).cast("bigint")


def row_struct(meeting: Meeting, hand: Hand) -> Column:
    """Returns the row of a hand as a struct of its input's columns."""
    names = meeting.sides[hand].seat.source.schema.names
    return F.struct(*(side_column(hand, name).alias(name) for name in names))


def absent_row(meeting: Meeting, hand: Hand) -> Column:
    """Returns what stands for a hand's row."""
    schema = meeting.sides[hand].seat.source.schema
    return absent_struct(meeting.join.absent(hand), schema)


def row_if_here(meeting: Meeting, hand: Hand, here: Column) -> Column:
    """Returns the row where it is there; an outer join gives nulls by itself."""
    row = row_struct(meeting, hand)
    if meeting.join.absent(hand) == NullRow():
        return row
    return F.when(here, row).otherwise(absent_row(meeting, hand))
