"""Gives every row its life: from when until when it is alive on its side.

A life is [BIRTH, DEATH) in microseconds of row time; END is the row time at which the
row leaves unmatched. An empty life meets nobody. A version lives until the next one,
one of the newest rows until so many have come:

    key 1   10:00 [---------------)               a window function finds the next
                            10:05 [-----------    version, or delete, of the key

In windows of a size a row has a line of its own for each that it falls into, so that
rows meet where the ends are equal: an equality, which Spark joins by.

    size 10, every 5     00:07 falls into [00:00, 00:10) and [00:05, 00:15)
"""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Window, WindowSpec
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail import spec
from dovetail.engines.spark import values
from dovetail.engines.spark_batch.arrivals import (
    PLACE,
    TIME,
    Admitted,
    Arrivals,
    What,
    ends_of,
)
from dovetail.kernels.arrays.names import reserved
from dovetail.plan.batch import lives_in_time
from dovetail.schema import quoted

BIRTH, DEATH, END = reserved("birth"), reserved("death"), reserved("end")
# Of a row with several lives, in windows of a size, the ends of the first and last.
FIRST, LAST = reserved("first"), reserved("last")
# Until when the rows of a join inside live, for a window that inherits it.
LASTING = (reserved("lasts"), reserved("ends"))
# Between which places of arrival a row without time is there.
SINCE, UNTIL = reserved("since"), reserved("until")
_AGE = reserved("age")


@dataclass(frozen=True, slots=True)
class Seat:
    """One side of a join: its hand, its input, its window, and what has come.

    One that is `is_state` has of each key the newest version alone.
    """

    hand: spec.Hand
    source: spec.Input
    side: spec.Side
    arrivals: Arrivals
    clock: spec.Clock
    is_state: bool

    @property
    def window(self) -> spec.Window:
        """Returns the window of the side."""
        return self.side.window

    @property
    def is_timed(self) -> bool:
        """Tells whether rows have lives in row time; else they are simply there."""
        always = self.clock is spec.Clock.BATCH and self.window == spec.Forever()
        return lives_in_time(self.source, self.window) and not always

    @property
    def lives_often(self) -> bool:
        """Tells whether a row has a life for each window that it falls into."""
        return self.window.hop_length != spec.NO_TIME and self.source.is_timed

    @property
    def is_met_on_arrival(self) -> bool:
        """Tells whether the rows are met as they are when a row of a stream comes."""
        untimed = self.clock is spec.Clock.EVENT and not self.source.is_timed
        return untimed and self.arrivals.has_places


@dataclass(frozen=True, slots=True)
class Living:
    """The rows of a side with BIRTH, DEATH, END, and where needed SINCE and UNTIL."""

    seat: Seat
    frame: DataFrame

    @property
    def may_miss(self) -> bool:
        """Tells whether a life can be other than always."""
        of_others = isinstance(self.seat.window, spec.Latest) and not self.seat.is_state
        names_it = bool(self.seat.window.interval)
        return self.seat.source.is_timed or names_it or of_others


def give_lives(seat: Seat, admitted: Admitted) -> Living:
    """Returns the rows of a side, each with its life; deletes end lives and go."""
    lines, window = admitted.lines, seat.window
    if seat.is_state:
        by_age = _of_key(seat).orderBy(F.desc_nulls_last(TIME), F.desc(PLACE))
        stays = F.col(_AGE) == 1
        if seat.source.is_timed:
            # What lacks its time replaces no version, and stays.
            stays |= F.col(TIME).isNull()
        numbered = lines.withColumn(_AGE, F.row_number().over(by_age))
        lines = numbered.where(stays).drop(_AGE)
    if seat.source.is_timed and isinstance(window, spec.HopSize):
        # A line for each window that a row falls into, named by its end.
        known = lines.withColumn(END, _window_ends(window, F.col(TIME)))
        bounds = {FIRST: F.array_min(END), LAST: F.array_max(END)}
        lines = known.withColumns(bounds).withColumn(END, F.explode(END))
    birth, death, end = _timed_life(seat) if seat.is_timed else _untimed_life(seat)
    if seat.source.is_timed:
        # A row that lacks its row time lives nowhere.
        has_time = F.col(TIME).isNotNull()
        birth = F.when(has_time, birth).otherwise(values.LATEST)
        death = F.when(has_time, death).otherwise(values.EARLIEST)
        end = F.when(has_time, end).otherwise(values.LATEST)
    lines = lines.withColumns({BIRTH: birth, DEATH: death, END: end})
    if seat.is_met_on_arrival:
        # What is there from the start has no place among what comes.
        start = F.when(What.STATE.is_it(), F.lit(values.EARLIEST))
        since, until = F.coalesce(start, F.col(PLACE)), F.lit(values.LATEST)
        if isinstance(window, spec.Latest):
            until = F.coalesce(_next(seat, F.col(PLACE), since), until)
        lines = lines.withColumns({SINCE: since, UNTIL: until})
    # Only now: a delete is the next version of its key, and ends the one before it.
    return Living(seat, lines.where(~What.DELETE.is_it()))


def _window_ends(window: spec.HopSize, moment: Column) -> Column:
    """Returns the ends of all windows that a moment falls into; of none it is never.

    The newest window that has begun ends last, the others so many steps before it.
    Where windows leave gaps, the newest may be over already: then there is none.
    """
    size, every = window.size.microseconds, window.every.microseconds
    last = moment - F.pmod(moment, F.lit(every)) + size
    ends = F.sequence(last, moment + 1, F.lit(-every))
    nowhere = F.array(F.lit(values.LATEST))
    none = F.array().cast("array<bigint>")
    return F.when(moment.isNull(), nowhere).when(last > moment, ends).otherwise(none)


def _timed_life(seat: Seat) -> tuple[Column, Column, Column]:
    """Returns birth, death and end in row time."""
    born = F.col(TIME)
    match seat.window:
        case spec.Latest() | spec.RowsPreceding() | spec.Inherited():
            return _life_among_others(seat)
        case spec.Range(preceding, following):
            time = F.col(quoted(seat.source.time))
            end = values.shifted(time, preceding)
            # Both ends belong to the window, so death is a microsecond behind it.
            return values.shifted(time, following.negated()), end + 1, end
        case spec.Rows(count=0):
            return born, born + 1, born
        case spec.HopUnit(spec.Span(microseconds=length)):
            end = born - F.pmod(born, F.lit(length)) + length
            return born, end, end
        case spec.HopUnit(unit) as window:
            time = F.col(quoted(seat.source.time)).cast("timestamp")
            end = values.shifted(F.date_trunc(str(unit), time), window.length)
            return born, end, end
        case spec.HopSize():
            return F.col(END), F.col(END) + 1, F.col(END)
        case spec.Between(start, end):
            first, last = ends_of((start, end))
            return first, last + 1, last
        case spec.Forever():
            return born, F.lit(values.LATEST), F.lit(values.LATEST)
        case window:
            raise AssertionError(window)


def _life_among_others(seat: Seat) -> tuple[Column, Column, Column]:
    """Returns birth, death and end of a row that other rows end."""
    born = F.col(TIME)
    match seat.window:
        case spec.RowsPreceding(first, last):
            parts = [F.expr(part.text) for part in seat.side.partition_by]
            rows = Window.partitionBy(*parts).orderBy(TIME, PLACE)
            # Row 0 is the row itself; one that has not come yet comes at the end.
            born, death = (
                F.coalesce(F.lead(TIME, number).over(rows), F.lit(values.LATEST))
                for number in (last, first + 1)
            )
            return born, death, death
        case spec.Inherited():
            death, end = (F.col(name) for name in LASTING)
            return born, death, end
        case _ if seat.is_state:
            return born, F.lit(values.LATEST), F.lit(values.LATEST)
        case _:
            # A version without a time, on the clock `batch`, comes behind all others.
            time = F.coalesce(TIME, F.lit(values.LATEST))
            death = F.coalesce(_next(seat, time, time), F.lit(values.LATEST))
            return born, death, death


def _untimed_life(seat: Seat) -> tuple[Column, Column, Column]:
    """Returns always, or of versions: for the newest always, for others never."""
    birth, death, end = (
        F.lit(values.EARLIEST),
        F.lit(values.LATEST),
        F.lit(values.LATEST),
    )
    stays = seat.is_state or seat.is_met_on_arrival
    if not isinstance(seat.window, spec.Latest) or stays:
        return birth, death, end
    # Without times the order of arrival alone says which version is newest.
    is_newest = _next(seat, F.col(PLACE), F.col(PLACE)).isNull()
    # A life that ends before it begins is never.
    return (
        F.when(is_newest, birth).otherwise(death),
        F.when(is_newest, death).otherwise(birth),
        end,
    )


def _next(seat: Seat, order: Column, shown: Column) -> Column:
    """Returns what the next version of a row's key in an order shows, null for none."""
    return F.lead(shown).over(_of_key(seat).orderBy(order, PLACE))


def _of_key(seat: Seat) -> WindowSpec:
    """Returns the window of all versions of a row's key."""
    key = seat.window.key if isinstance(seat.window, spec.Latest) else ()
    return Window.partitionBy(*(F.col(quoted(name)) for name in key))
