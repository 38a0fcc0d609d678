"""The lines of a join's result, before any select: pairs, rows alone, rows met once.

Where every pair stands for itself Spark's own joins give them.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import reduce

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.engines.spark.moments import LATEST
from dovetail.engines.spark_batch.arrivals import PLACE, TIME
from dovetail.engines.spark_batch.judged import judges
from dovetail.engines.spark_batch.judged_lines import judged_parts
from dovetail.engines.spark_batch.line import (
    SETTLED,
    Line,
    absent_row,
    either,
    lasting,
    life_part,
    met_at,
    no_number,
    passing,
    row_if_here,
    row_struct,
)
from dovetail.engines.spark_batch.lives import BIRTH, DEATH, END
from dovetail.engines.spark_batch.matching import HERE, Meeting, side_column
from dovetail.engines.spark_batch.truth import no, yes
from dovetail.plan.batch import Buckets
from dovetail.spec.join import HANDS, Clock, Hand

_HOW = ("inner", "left_outer", "full_outer")


def result_lines(meeting: Meeting) -> DataFrame:
    """Returns every line that comes out: the inputs have come far enough for it."""
    parts = judged_parts(meeting) if judges(meeting.join) else _parts(meeting)
    lines = reduce(DataFrame.unionByName, parts)
    bound = min(side.seat.arrivals.bound for side in meeting.sides.values())
    if meeting.join.clock is Clock.EVENT and bound < LATEST:
        lines = lines.where(F.col(SETTLED) <= bound)
    return lines.drop(SETTLED)


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
    is_pair = here[Hand.LEFT] & here[Hand.RIGHT]
    time = F.when(is_pair, met_at(meeting))
    settled = time + 1
    for hand in HANDS:
        is_alone = here[hand] & ~here[hand.other]
        time = F.coalesce(time, F.when(is_alone, life_part(meeting, hand, END)))
        settled = F.coalesce(settled, F.when(is_alone, life_part(meeting, hand, DEATH)))
    line = Line(
        {hand: row_if_here(meeting, hand, here[hand]) for hand in HANDS},
        here,
        {hand: side_column(hand, PLACE) for hand in HANDS},
        time,
        settled,
        no(),
        side_column(Hand.RIGHT, TIME),
        either(is_pair, lasting(meeting, HANDS), passing(time)),
    )
    return meeting.joined(first, _HOW[len(kept)]).select(*line.columns())


def _alone(meeting: Meeting, hand: Hand) -> DataFrame:
    """Returns the rows of a hand that are in no pair."""
    line = Line(
        {hand: row_struct(meeting, hand), hand.other: absent_row(meeting, hand.other)},
        {hand: yes(), hand.other: no()},
        {hand: side_column(hand, PLACE), hand.other: no_number()},
        life_part(meeting, hand, END),
        life_part(meeting, hand, DEATH),
        no(),
        no_number(),
        passing(life_part(meeting, hand, END)),
    )
    return meeting.joined(hand, "left_anti").select(*line.columns())


def _once(meeting: Meeting, hand: Hand) -> DataFrame:
    """Returns each row of a hand that is in a pair; its row time is the earliest."""
    row, place, time = row_struct(meeting, hand), side_column(hand, PLACE), no_number()
    life = passing(time)
    if meeting.knows_row_time or meeting.lives_often:
        births = (side_column(each, BIRTH) for each in HANDS)
        met = F.struct(F.greatest(*births).alias("time"), *lasting(meeting, [hand]))
        pairs = meeting.joined(hand, "inner").select(
            row.alias("row"), place.alias("place"), met.alias("met")
        )
        firsts = F.first("row").alias("row"), F.min("met").alias("met")
        joined = pairs.groupBy("place").agg(*firsts)
        row, place, time = (F.col(name) for name in ("row", "place", "met.time"))
        life = (F.col(f"met.{DEATH}"), F.col(f"met.{END}"))
    else:
        joined = meeting.joined(hand, "left_semi")
    line = Line(
        {hand: row, hand.other: absent_row(meeting, hand.other)},
        dict.fromkeys(HANDS, yes()),
        {hand: place, hand.other: no_number()},
        time,
        time + 1,
        no(),
        no_number(),
        life,
    )
    return joined.select(*line.columns())
