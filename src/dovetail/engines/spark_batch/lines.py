"""The lines of a join's result, pairs, rows alone, rows met once, and what comes out.

A line has the structs `l` and `r`, whether each is there, and hidden columns: its row
time, when it is settled, until when its rows are alive together, where it stands in the
order of the output, and whether it stands for a left row over its limit.

Where every pair stands for itself Spark's own joins give the lines. Where candidates
are judged, by `limit`, `atmost` or `asof`, pairs and left rows alone come from one
join, which keeps the left rows. What becomes of the right rows, once all left ones are
judged, is found by another, which keeps those.

Of the lines become the rows of the outlets: picks that look at outputs, then the
select. A row that is skipped has matched and was counted, but is not kept.

    left 1   right 1 skipped     right 2     right 3       keep 1: right 2
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.engines.spark import values
from dovetail.engines.spark_batch import picks
from dovetail.engines.spark_batch.arrivals import PLACE, TIME
from dovetail.engines.spark_batch.candidates import HERE, Meeting, mentions, side_column
from dovetail.engines.spark_batch.lives import BIRTH, DEATH, END, LAST, LASTING
from dovetail.expression import NEVER
from dovetail.kernels.arrays.names import reserved
from dovetail.plan.batch import Buckets
from dovetail.schema import quoted

Columns = Mapping[spec.Hand, Column]
NOBODY_LATE: Mapping[spec.Hand, DataFrame] = {}

ROW_TIME = reserved("row_time")
ORDINALS = {spec.Hand.LEFT: reserved("left"), spec.Hand.RIGHT: reserved("right")}
SETTLED = reserved("settled")
EXCEEDS = reserved("exceeds")
RIGHT_TIME = reserved("right_time")
ORDER = (ROW_TIME, *ORDINALS.values())
_NUMBER = reserved("number")
_MARK, _ALONE, _ONCE, _EXCEEDS = (
    reserved(word) for word in ("mark", "is_alone", "is_once", "is_over")
)


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
            *(self.rows[hand].alias(hand.letter) for hand in spec.HANDS),
            *(self.here[hand].alias(matched(hand)) for hand in spec.HANDS),
            *(self.places[hand].alias(ORDINALS[hand]) for hand in spec.HANDS),
            self.time.alias(ROW_TIME),
            self.settled.alias(SETTLED),
            self.exceeds.alias(EXCEEDS),
            self.right_time.alias(RIGHT_TIME),
            *(one.alias(name) for one, name in zip(self.lasting, LASTING, strict=True)),
        ]


def matched(hand: spec.Hand) -> str:
    """Returns the name that tells whether a hand's row is there."""
    return f"matched_{hand.value}"


def result_lines(meeting: Meeting) -> DataFrame:
    """Returns every line that comes out: the inputs have come far enough for it."""
    kind, left, right = meeting.join.kind, spec.Hand.LEFT, spec.Hand.RIGHT
    parts: list[DataFrame] = []
    if not picks.judges(meeting.join):
        # In as few joins as Spark needs for it: an outer one gives rows alone too.
        kept = [one for one in spec.HANDS if kind.gives_pairs and kind.preserves(one)]
        if isinstance(meeting.plan.buckets, Buckets):
            # The other side is copied into buckets: its rows alone would come often.
            del kept[1:]
        if kind.gives_pairs:
            parts.append(_paired(meeting, kept))
        for hand in spec.HANDS:
            if kind.gives_once(hand):
                parts.append(_once(meeting, hand))
            if kind.preserves(hand) and hand not in kept:
                parts.append(_alone(meeting, hand))
    else:
        from_left = kind.gives_pairs or kind.preserves(left) or kind.gives_once(left)
        if from_left or meeting.join.picks.transforms:
            parts.append(_of_left(meeting))
        if kind.preserves(right) or kind.gives_once(right):
            parts.append(_of_right(meeting))
    lines = reduce(DataFrame.unionByName, parts)
    # A line comes out when both inputs have come so far: later than either alone.
    bound = min(side.seat.arrivals.bound for side in meeting.sides.values())
    if meeting.join.clock is spec.Clock.EVENT and bound < values.LATEST:
        lines = lines.where(F.col(SETTLED) <= bound)
    return lines.drop(SETTLED)


def _paired(meeting: Meeting, kept: list[spec.Hand]) -> DataFrame:
    """Returns the pairs, and the rows of the kept hands that are in none."""
    first = kept[0] if kept else spec.Hand.LEFT
    here = {hand: side_column(hand, HERE).isNotNull() for hand in spec.HANDS}
    is_pair = here[spec.Hand.LEFT] & here[spec.Hand.RIGHT]
    time = F.when(is_pair, _met_at(meeting))
    settled = time + 1
    for hand in spec.HANDS:
        is_alone = here[hand] & ~here[hand.other]
        time = F.coalesce(time, F.when(is_alone, _life_part(meeting, hand, END)))
        settled = F.coalesce(
            settled, F.when(is_alone, _life_part(meeting, hand, DEATH))
        )
    rows = {hand: _row_struct(meeting, hand) for hand in spec.HANDS}
    for hand, row in rows.items():
        # An outer join gives nulls by itself; blanks and given rows are put in here.
        if meeting.join.absent(hand) != spec.NullRow():
            absent = _absent_row(meeting, hand)
            rows[hand] = F.when(here[hand], row).otherwise(absent)
    line = Line(
        rows,
        here,
        {hand: side_column(hand, PLACE) for hand in spec.HANDS},
        time,
        settled,
        values.no(),
        side_column(spec.Hand.RIGHT, TIME),
        _either(is_pair, _lasting(meeting, spec.HANDS), _passing(time)),
    )
    # Each hand that is kept makes the join one step more outer.
    how = ("inner", "left_outer", "full_outer")[len(kept)]
    return meeting.joined(first, how).select(*line.columns())


def _alone(meeting: Meeting, hand: spec.Hand) -> DataFrame:
    """Returns the rows of a hand that are in no pair."""
    line = Line(
        {
            hand: _row_struct(meeting, hand),
            hand.other: _absent_row(meeting, hand.other),
        },
        {hand: values.yes(), hand.other: values.no()},
        {hand: side_column(hand, PLACE), hand.other: _no_number()},
        _life_part(meeting, hand, END),
        _life_part(meeting, hand, DEATH),
        values.no(),
        _no_number(),
        _passing(_life_part(meeting, hand, END)),
    )
    return meeting.joined(hand, "left_anti").select(*line.columns())


def _once(meeting: Meeting, hand: spec.Hand) -> DataFrame:
    """Returns each row of a hand that is in a pair; its row time is the earliest."""
    row, place, time = (
        _row_struct(meeting, hand),
        side_column(hand, PLACE),
        _no_number(),
    )
    life = _passing(time)
    if meeting.knows_row_time or meeting.lives_often:
        births = (side_column(each, BIRTH) for each in spec.HANDS)
        # A struct has an order: the least one is the earliest meeting.
        met = F.struct(F.greatest(*births).alias("time"), *_lasting(meeting, [hand]))
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
        {hand: row, hand.other: _absent_row(meeting, hand.other)},
        dict.fromkeys(spec.HANDS, values.yes()),
        {hand: place, hand.other: _no_number()},
        time,
        time + 1,
        values.no(),
        _no_number(),
        life,
    )
    return joined.select(*line.columns())


def _of_left(meeting: Meeting) -> DataFrame:
    """Returns the pairs, and left rows by themselves: alone, once, over a limit.

    A left row is not alone where it is met once.
    """
    kind, is_transformed = meeting.join.kind, meeting.join.picks.transforms
    how = "left_outer" if kind.preserves(spec.Hand.LEFT) else "inner"
    judged = picks.Judged.of(meeting, spec.Hand.LEFT, how)
    frame = _by_itself(judged, spec.Hand.LEFT).withColumn(_EXCEEDS, values.no())
    if is_transformed:
        first = _number(judged.of_row(spec.Hand.LEFT), spec.Hand.RIGHT) == 1
        frame = frame.withColumn(_EXCEEDS, F.col(picks.OVER) & first)
    is_pair = F.col(picks.MATCH) & F.lit(kind.gives_pairs)
    is_line = is_pair | F.col(_ALONE) | F.col(_ONCE) | F.col(_EXCEEDS)
    right = _row_struct(meeting, spec.Hand.RIGHT)
    if kind is not spec.Kind.INNER or is_transformed:
        # Else nothing but pairs comes out, and nothing need be asked of each.
        right = F.when(is_pair, right).otherwise(_absent_row(meeting, spec.Hand.RIGHT))
    is_met, met = is_pair | F.col(_ONCE), _met_at(meeting)
    end = _life_part(meeting, spec.Hand.LEFT, END)
    # A left row over its limit is settled with the last of its lives.
    last = side_column(spec.Hand.LEFT, LAST) if meeting.lives_often else end
    time = F.when(F.col(_EXCEEDS), last).when(is_met, met).otherwise(end)
    line = Line(
        {spec.Hand.LEFT: _row_struct(meeting, spec.Hand.LEFT), spec.Hand.RIGHT: right},
        {spec.Hand.LEFT: values.yes(), spec.Hand.RIGHT: is_met},
        {
            spec.Hand.LEFT: side_column(spec.Hand.LEFT, PLACE),
            spec.Hand.RIGHT: F.when(is_pair, side_column(spec.Hand.RIGHT, PLACE)),
        },
        time,
        F.when(is_met, met + 1).otherwise(_life_part(meeting, spec.Hand.LEFT, DEATH)),
        F.col(_EXCEEDS),
        side_column(spec.Hand.RIGHT, TIME),
        _either(
            is_pair,
            _lasting(meeting, spec.HANDS),
            _own_life(meeting, spec.Hand.LEFT, time),
        ),
    )
    return frame.where(is_line).select(*line.columns())


def _of_right(meeting: Meeting) -> DataFrame:
    """Returns each right row by itself: alone, or once where it is in a pair.

    It has been met by left rows over their limit too.
    """
    how = "left_outer" if meeting.join.kind.preserves(spec.Hand.RIGHT) else "inner"
    judged = picks.Judged.of(meeting, spec.Hand.RIGHT, how)
    frame = _by_itself(judged, spec.Hand.RIGHT)
    met = _met_at(meeting)
    end = _life_part(meeting, spec.Hand.RIGHT, END)
    time = F.when(F.col(_ONCE), met).otherwise(end)
    row, none = (
        _row_struct(meeting, spec.Hand.RIGHT),
        _absent_row(meeting, spec.Hand.LEFT),
    )
    line = Line(
        {spec.Hand.LEFT: none, spec.Hand.RIGHT: row},
        {spec.Hand.LEFT: F.col(_ONCE), spec.Hand.RIGHT: values.yes()},
        {
            spec.Hand.LEFT: _no_number(),
            spec.Hand.RIGHT: side_column(spec.Hand.RIGHT, PLACE),
        },
        time,
        F.when(F.col(_ONCE), met + 1).otherwise(
            _life_part(meeting, spec.Hand.RIGHT, DEATH)
        ),
        values.no(),
        _no_number(),
        _own_life(meeting, spec.Hand.RIGHT, time),
    )
    return frame.where(F.col(_ALONE) | F.col(_ONCE)).select(*line.columns())


def _own_life(meeting: Meeting, hand: spec.Hand, time: Column) -> tuple[Column, Column]:
    """Returns the death and the end of a row by itself; one alone has none but now."""
    return _either(F.col(_ONCE), _lasting(meeting, [hand]), _passing(time))


def _by_itself(judged: picks.Judged, hand: spec.Hand) -> DataFrame:
    """Returns the lines, one of them marked for a row alone, or one for a row once."""
    kind = judged.meeting.join.kind
    frame = judged.frame.withColumn(_MARK, F.col(picks.MATCH) | F.col(picks.OVER))
    if judged.is_single:
        is_alone = ~F.col(picks.MATCH) & F.lit(kind.preserves(hand))
        is_once = F.col(picks.MATCH) & F.lit(kind.gives_once(hand))
        return frame.withColumns({_ALONE: is_alone, _ONCE: is_once})
    frame = frame.withColumns({_ALONE: values.no(), _ONCE: values.no()})
    if kind.preserves(hand):
        own = judged.of_life(hand)
        is_met = F.max(_MARK).over(own)
        first = _number(own, hand.other) == 1
        frame = frame.withColumn(_ALONE, ~is_met & first)
    if kind.gives_once(hand):
        # A left row over its limit does not come out; the right ones have been met.
        mark = picks.MATCH if hand is spec.Hand.LEFT else _MARK
        met = _met_at(judged.meeting)
        own = judged.of_row(hand).orderBy(F.desc(mark), met)
        frame = frame.withColumn(_ONCE, F.col(mark) & (F.row_number().over(own) == 1))
    return frame


def _number(own: WindowSpec, other: spec.Hand) -> Column:
    """Returns the number of a line in its window."""
    return F.row_number().over(own.orderBy(side_column(other, PLACE)))


def _met_at(meeting: Meeting) -> Column:
    """Returns the row time of a pair: the later birth."""
    return F.greatest(*(_life_part(meeting, hand, BIRTH) for hand in spec.HANDS))


def _life_part(meeting: Meeting, hand: spec.Hand, name: str) -> Column:
    """Returns a column of a row's life; one that is always the same is no column."""
    if meeting.sides[hand].may_miss:
        return side_column(hand, name)
    return F.lit(values.EARLIEST if name == BIRTH else values.LATEST)


def _lasting(meeting: Meeting, hands: Iterable[spec.Hand]) -> tuple[Column, Column]:
    """Returns the death and the end of what the rows of these hands live together."""
    sides = list(hands)
    death, end = (
        reduce(F.least, [_life_part(meeting, hand, name) for hand in sides]).alias(name)
        for name in (DEATH, END)
    )
    return death, end


def _either(
    condition: Column, one: tuple[Column, Column], other: tuple[Column, Column]
) -> tuple[Column, Column]:
    """Returns one death and end where a condition is true, else the other ones."""
    death, end = (
        F.when(condition, first).otherwise(second)
        for first, second in zip(one, other, strict=True)
    )
    return death, end


def _passing(time: Column) -> tuple[Column, Column]:
    """Returns the death and the end of what is alive at its own row time only."""
    return time + 1, time


def _no_number() -> Column:
    """Returns a number that is not known."""
    return F.lit(None).cast("bigint")


def _row_struct(meeting: Meeting, hand: spec.Hand) -> Column:
    """Returns the row of a hand as a struct of its input's columns."""
    names = meeting.sides[hand].seat.source.schema.names
    return F.struct(*(side_column(hand, name).alias(name) for name in names))


def _absent_row(meeting: Meeting, hand: spec.Hand) -> Column:
    """Returns what stands for a hand's row."""
    schema = meeting.sides[hand].seat.source.schema
    return values.absent_struct(meeting.join.absent(hand), schema)


def _late(meeting: Meeting, hand: spec.Hand, frame: DataFrame) -> DataFrame:
    """Returns the null rows of late rows of a hand; none has a row time."""
    names = meeting.sides[hand].seat.source.schema.names
    line = Line(
        {
            hand: F.struct(*(F.col(quoted(name)).alias(name) for name in names)),
            hand.other: _absent_row(meeting, hand.other),
        },
        {hand: values.yes(), hand.other: values.no()},
        {hand: F.col(PLACE), hand.other: _no_number()},
        _no_number(),
        _no_number(),
        values.no(),
        _no_number(),
        _passing(_no_number()),
    )
    return frame.select(*line.columns()).drop(SETTLED)


def outlets(
    meeting: Meeting,
    hidden: tuple[str, ...] = ORDER,
    late: Mapping[spec.Hand, DataFrame] = NOBODY_LATE,
) -> dict[spec.Outlet, DataFrame]:
    """Returns the rows of every outlet: its own columns, then hidden ones.

    `late` are rows that give their null row though they take no part.
    """
    join, lines = meeting.join, result_lines(meeting)
    for hand, frame in late.items():
        lines = lines.unionByName(_late(meeting, hand, frame))
    # All that an expression may name beside the rows of both sides.
    lines = lines.withColumn("row_time", values.timestamp(F.col(ROW_TIME)))
    size = join.left.window.hop_length
    if size != spec.NO_TIME:
        end = F.col("row_time")
        start = F.timestamp_micros(F.unix_micros(end) - size.microseconds)
        lines = lines.withColumns({"window_start": start, "window_end": end})
    if mentions(join, "counter"):
        lines = lines.withColumn("counter", _counter(join))
    if join.picks.skip_when != NEVER:
        skipped = values.condition(join.picks.skip_when.text)
        lines = lines.where(~values.is_true(skipped))
    most = join.picks.most_kept
    if most and join.kind.gives_pairs:
        lines = lines.withColumn(_NUMBER, _rank(join)).where(F.col(_NUMBER) <= most)
    if join.ports == 1:
        return {spec.Outlet.MATCHED: lines.select(*_columns(meeting), *hidden)}
    matches = lines.where(_is_pair() | F.col(EXCEEDS))
    found = {spec.Outlet.MATCHED: matches.select(*_columns(meeting), *hidden)}
    for hand, outlet in spec.own_outlets(join).items():
        is_alone = ~F.col(matched(hand.other)) & ~F.col(EXCEEDS)
        found[outlet] = lines.where(is_alone).select(f"{hand.letter}.*", *hidden)
    return found


def _columns(meeting: Meeting) -> list[Column]:
    """Returns the output columns; a semi join has those of its own side."""
    schemas = {hand: meeting.sides[hand].seat.source.schema for hand in spec.HANDS}
    selected = spec.selected_columns(meeting.join, schemas)
    shown = ((name, expression.text) for name, expression in selected)
    return values.output_columns(shown, meeting.join.picks, exceeds=EXCEEDS)


def _counter(join: spec.JoinSpec) -> Column:
    """Returns the number of a pair among those of its left row; 0 where it is none."""
    left, right = (F.col(ORDINALS[hand]) for hand in spec.HANDS)
    # A line without a left row is a row met once: it counts for itself.
    pairs = Window.partitionBy(left, F.when(left.isNull(), right))
    time = F.col(ROW_TIME)
    is_picked = (
        join.clock is spec.Clock.BATCH or picks.judges(join) or join.picks.most_kept
    )
    order = [*_picked_order(join.clock), time] if is_picked else [time, right]
    return F.when(_is_pair(), F.row_number().over(pairs.orderBy(*order))).otherwise(0)


def _rank(join: spec.JoinSpec) -> Column:
    """Returns the number of a pair among those of its left row, 0 where it is none.

    A pair that meets more than once has one number.
    """
    left, right = (F.col(ORDINALS[hand]) for hand in spec.HANDS)
    # A line without a left row is no pair: it stands for itself.
    pairs = Window.partitionBy(left, F.when(~_is_pair(), right))
    order = pairs.orderBy(*_picked_order(join.clock))
    return F.when(_is_pair(), F.dense_rank().over(order)).otherwise(0)


def _picked_order(clock: spec.Clock) -> list[Column]:
    """Returns the order in which the pairs of a left row are picked.

    That is the order of the right rows; on the event clock that of their row times.
    """
    place = F.col(ORDINALS[spec.Hand.RIGHT])
    if clock is spec.Clock.BATCH:
        return [place]
    return [F.coalesce(F.col(RIGHT_TIME), F.lit(0)), place]


def _is_pair() -> Column:
    """Returns whether a line has both rows."""
    return F.col(matched(spec.Hand.LEFT)) & F.col(matched(spec.Hand.RIGHT))
