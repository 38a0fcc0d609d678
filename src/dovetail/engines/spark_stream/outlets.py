"""From results to what an outlet shows: the select, unmatched rows, late rows.

    lines of all joins -> those of one join -> rows of one outlet, what is looked at
                                            -> what the outlet shows

Lines are read once for each outlet, and only what it shows becomes rows of Spark: a row
costs there by its columns, a line next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from operator import or_
from typing import NamedTuple

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.types import StructField, StructType

from dovetail.bind.failures import on_trial, said
from dovetail.bind.travel import over_batches
from dovetail.engines.spark.values import absent_struct, as_json, output_columns
from dovetail.engines.spark_stream.worker import relay

# Single names: what travels to a Connect server takes a module along whole.
from dovetail.engines.spark_stream.worker.bucket import (
    BLOB,
    CHANGE,
    COUNTED,
    COUNTER,
    COUNTS,
    JOIN,
    LEFT,
    OUTLET,
    REASON,
    RIGHT,
    ROW_TIME,
    make_unpack,
)
from dovetail.errors import SpecError
from dovetail.kernels.arrays.names import HIDDEN, REST, reserved
from dovetail.kernels.pairs.results import (
    CHANGES,
    REASONS,
    UNMATCHED,
    Reason,
    code,
)
from dovetail.kernels.row_order import CAME
from dovetail.plan.nested import TIME
from dovetail.plan.stream import StreamPlan
from dovetail.schema import Schema, quoted
from dovetail.spec.facts import own_outlets, selected_columns
from dovetail.spec.inputs import Change, Clock, Outlet
from dovetail.spec.join import HANDS, Hand, NullRow
from dovetail.spec.spans import NO_TIME

PRESENT = {Hand.LEFT: LEFT, Hand.RIGHT: RIGHT}
_REASONS = tuple(reason.value for reason in REASONS[1:])  # of codes from 1 on
_CHANGES = tuple(
    (Change.INSERT if change is Change.NONE else change).value for change in CHANGES
)
_OVER = reserved("over")


@dataclass(frozen=True, slots=True)
class LateInside:
    """The outlet of rows that a join inside turns away: its number, and a name."""

    number: int
    value: str


AnyOutlet = Outlet | LateInside


LINES = (BLOB, JOIN, COUNTS)
"""What of the lines of results goes to whoever reads them."""
_HEAD_TYPES = (
    StructType()
    .add(OUTLET, "byte")
    .add(REASON, "byte")
    .add(ROW_TIME, "timestamp")
    .add(LEFT, "boolean")
    .add(RIGHT, "boolean")
)


_ALWAYS_SAID = {OUTLET, REASON, LEFT, RIGHT}
Columns = Mapping[Hand, frozenset[str]]
"""Columns of sides by their names in lower case; all of sides that are left out."""


class Shown(NamedTuple):
    """A column of a side: its name, how it stands in results, the SQL of its value."""

    name: str
    field: StructField
    text: str

    @property
    def is_plain(self) -> bool:
        """Tells whether the value is what stands in results."""
        return self.text == self.field.name


class Taken(NamedTuple):
    """An output column that is a column of a side, and whether it is never null."""

    name: str
    hand: Hand
    column: str
    is_there: bool


@dataclass(frozen=True, slots=True)
class Reading:
    """How the rows of a join are read from lines of results: what of both sides.

    `schema` is that of the results, `head` what stands in front of both sides, `told`
    what stands behind them. Where several sets are joined `rest` is SQL for the rows
    behind the second one.
    """

    schema: pa.Schema
    sides: Mapping[Hand, tuple[Shown, ...]]
    told: tuple[StructField, ...]
    rest: str = ""
    head: tuple[StructField, ...] = tuple(_HEAD_TYPES)

    @property
    def fields(self) -> list[StructField]:
        """Returns the columns that are read; lines without a row have nulls in all."""
        sides = [one.field for hand in HANDS for one in self.sides[hand]]
        return [*self.head, *sides, *self.told]

    def shown(self) -> list[str]:
        """Returns how the columns are shown, as SQL: of each side in a struct."""
        sides = []
        for hand in HANDS:
            own = (f"{one.text} AS {quoted(one.name)}" for one in self.sides[hand])
            sides.append(f"struct({', '.join(own)}) AS {hand.letter}")
        return [
            *(quoted(one.name) for one in self.head),
            *sides,
            *(
                f"{self.rest} AS {quoted(REST)}"
                if one.name == REST
                else quoted(one.name)
                for one in self.told
            ),
        ]

    def only(self, looked_at: Columns, *, has_head: bool) -> Reading:
        """Returns the same with no more of some sides than these columns.

        Of the head nothing stays where nobody asks for it, and there is something else.
        """
        sides = {
            hand: tuple(
                one
                for one in columns
                if hand not in looked_at or one.name.lower() in looked_at[hand]
            )
            for hand, columns in self.sides.items()
        }
        has_head |= not any(sides.values())
        return replace(self, sides=sides, head=self.head if has_head else ())

    def rows(
        self, lines: DataFrame, number: int, outlets: Sequence[Outlet]
    ) -> DataFrame:
        """Returns the rows of a join that leave by some outlets."""
        fields = [
            # Spark need not ask of each row whether it says how it leaves.
            StructField(one.name, one.dataType, nullable=one.name not in _ALWAYS_SAID)
            for one in self.fields
        ]
        read = [(one.name, one) for one in fields]
        rows = self._read(lines, number, outlets, read=read)
        return rows.selectExpr(*self.shown())

    def has_as_they_are(self, columns: Sequence[Taken]) -> bool:
        """Tells whether a row that comes out is no more than these columns, if any."""
        shown = self._by_name()
        found = [shown[one.hand, one.column] for one in columns]
        changes = any(one.name == CHANGE for one in self.told)
        return bool(found) and not changes and all(it.is_plain for it in found)

    def _by_name(self) -> dict[tuple[Hand, str], Shown]:
        """Returns the columns of both sides by hand and name."""
        return {(hand, one.name): one for hand in HANDS for one in self.sides[hand]}

    def taken(
        self,
        lines: DataFrame,
        number: int,
        outlets: Sequence[Outlet],
        *,
        columns: Sequence[Taken],
    ) -> DataFrame:
        """Returns columns of sides of the rows of a join that leave by some outlets.

        They have their own names at once: what Spark selects it copies row by row.
        """
        shown = self._by_name()
        read = []
        for name, hand, column, is_there in columns:
            own = shown[hand, column].field
            field = StructField(name, own.dataType, nullable=not is_there)
            read.append((own.name, field))
        return self._read(lines, number, outlets, read=read)

    def _read(
        self,
        lines: DataFrame,
        number: int,
        outlets: Sequence[Outlet],
        *,
        read: Sequence[tuple[str, StructField]],
    ) -> DataFrame:
        """Returns these columns of the rows that leave by some outlets, as fields."""
        names, fields = [name for name, _ in read], [field for _, field in read]
        leaving = [code(one) for one in outlets]
        there = [at for at, one in enumerate(fields) if not one.nullable]
        unpack = partial(make_unpack, self.schema, names, leaving, there=there)
        blobs = lines.where(f"{quoted(JOIN)} = {number}").select(BLOB)
        return over_batches(blobs, unpack, StructType(fields))


@dataclass(frozen=True, slots=True)
class Results:
    """The results of a join and of those inside it: how each outlet is read of them.

    `readings` are those of the plan's joins, `looked_at` what outlets are made of.
    There are none where Spark joins by itself: its results are rows.
    """

    plan: StreamPlan
    readings: tuple[Reading, ...] = ()
    looked_at: Mapping[Outlet, Columns] = field(default_factory=dict)

    def frame(self, results: DataFrame, outlet: AnyOutlet) -> DataFrame:
        """Returns the rows of one outlet with its own columns."""
        number, own = (
            (outlet.number, Outlet.LATE)
            if isinstance(outlet, LateInside)
            else (0, outlet)
        )
        outlets = Outlets(self.plan.joins[number])
        if not self.readings:
            return outlets.frame(results, own)
        reading, leaving = self.readings[number], outlets.leaving_by(own)
        taken = outlets.taken(own)
        if reading.has_as_they_are(taken):
            return reading.taken(results, number, leaving, columns=taken)
        reading = reading.only(self.looked_at.get(own, {}), has_head=not taken)
        return outlets.shown(reading.rows(results, number, leaving), own)

    def whole(self, results: DataFrame, number: int = 0) -> DataFrame:
        """Returns all rows of the results of a join, with all columns of both sides."""
        if not self.readings:
            return results
        return self.readings[number].rows(results, number, tuple(Outlet))

    @property
    def every(self) -> tuple[AnyOutlet, ...]:
        """Returns the outlets of the join, and of those inside it."""
        return Outlets(self.plan).every

    def refuse_select(self, results: DataFrame) -> None:
        """Refuses what Spark refuses of the output columns of the join.

        Where they are no more than columns of the sides there is nothing to ask for.
        """
        outlets = Outlets(self.plan)
        told = {one.name for reading in self.readings[:1] for one in reading.told}
        if CHANGE in told or outlets.computes:
            outlets.refuse_select(self.whole(results))

    def has_rows(self) -> list[str]:
        """Returns whether there are rows for each outlet, as SQL for all results.

        Buckets have counted their own; what a join inside turns away has own lines.
        """
        outlets = Outlets(self.plan)
        if not self.readings:
            leaving = map(outlets.leaving_by, self.plan.outlets)
            codes = (", ".join(str(code(one)) for one in some) for some in leaving)
            return [f"count_if({OUTLET} IN ({some})) > 0" for some in codes]
        counted = (
            " + ".join(
                f"get({COUNTS}, {COUNTED.index(name)})"
                for some in outlets.leaving_by(one)
                for name in _COUNTS[some]
            )
            for one in self.plan.outlets
        )
        inside = (number for number, _ in enumerate(self.plan.late_inside, start=1))
        return [
            *(f"sum({some}) > 0" for some in counted),
            *(f"count_if({quoted(JOIN)} = {number}) > 0" for number in inside),
        ]


Telling = Callable[[StreamPlan, DataFrame], DataFrame]
"""Returns late rows of a join in other columns, the same ones for every join."""


@dataclass(frozen=True, slots=True)
class LateTogether:
    """The results of a join, the late rows of it and of those inside as one outlet."""

    results: Results
    told: Telling

    @property
    def every(self) -> tuple[AnyOutlet, ...]:
        """Returns the outlets of the join, the late one last."""
        return self.results.plan.outlets

    def frame(self, results: DataFrame, outlet: AnyOutlet) -> DataFrame:
        """Returns the rows of one outlet, late ones as they are told."""
        if outlet is not Outlet.LATE:
            return self.results.frame(results, outlet)
        plan = self.results.plan
        inside = (it for it in self.results.every if isinstance(it, LateInside))
        own: list[AnyOutlet] = [outlet, *inside]
        frames = (self.results.frame(results, one) for one in own)
        told = map(self.told, plan.joins, frames)
        return reduce(DataFrame.unionAll, told)

    def has_rows(self) -> list[str]:
        """Returns whether there are rows for each outlet, as SQL for all results."""
        own = self.results.has_rows()
        last = len(self.every) - 1
        return [*own[:last], " OR ".join(f"({one})" for one in own[last:])]


_COUNTS = {
    Outlet.MATCHED: ["matched"],
    Outlet.LEFT_UNMATCHED: ["left_unmatched"],
    Outlet.RIGHT_UNMATCHED: ["right_unmatched"],
    Outlet.LATE: ["left_late", "right_late", "left_failed", "right_failed"],
}
"""By which names buckets count the rows of an outlet."""


@dataclass(frozen=True, slots=True)
class Outlets:
    """The outlets of a join over rows of its results; `extra` columns ride along."""

    plan: StreamPlan
    extra: tuple[str, ...] = ()

    @property
    def every(self) -> tuple[AnyOutlet, ...]:
        """Returns the outlets of the join, and of those inside it."""
        names = self.plan.late_inside
        return (
            *self.plan.outlets,
            *(LateInside(number, name) for number, name in enumerate(names, start=1)),
        )

    def leaving_by(self, outlet: Outlet) -> tuple[Outlet, ...]:
        """Returns the outlets of the results that leave by one.

        On one port, rows without a partner leave with the pairs.
        """
        if outlet is Outlet.MATCHED and self.plan.join.ports == 1:
            return (outlet, *UNMATCHED)
        return (outlet,)

    def frame(self, raw: DataFrame, outlet: Outlet) -> DataFrame:
        """Returns the rows of one outlet with its own columns."""
        return self.shown(raw.where(self.leaves_by(outlet)), outlet)

    def taken(self, outlet: Outlet) -> list[Taken]:
        """Returns an outlet's columns if all of them are columns of a side, else none.

        In a pair keys and row times are there: without one a row meets nobody.
        """
        if outlet in UNMATCHED:
            hand = HANDS[UNMATCHED.index(outlet)]
            names = self._schema(hand).names
            return [Taken(name, hand, name, is_there=False) for name in names]
        join, own = self.plan.join, self._by_text()
        stands_in = any(not isinstance(join.absent(one), NullRow) for one in HANDS)
        if outlet is not Outlet.MATCHED or stands_in or join.picks.transforms:
            return []
        there, columns = self._always_there(), self._columns()
        found = [(name, own.get(text, own.get(text.lower()))) for name, text in columns]
        taken = [Taken(name, *it, it in there) for name, it in found if it]
        return taken if len(taken) == len(found) else []

    def _always_there(self) -> frozenset[tuple[Hand, str]]:
        """Returns the columns of both sides that are null in no row of pairs."""
        join = self.plan.join
        has_others = join.ports == 1 and any(map(join.kind.preserves, HANDS))
        if has_others or not join.kind.gives_pairs:
            return frozenset()
        own = self._by_text()
        texts = [text for equality in join.counted for text in equality.written]
        if join.clock is Clock.EVENT:
            texts += [
                f"{side.hand.letter}.{quoted(side.source.time)}"
                for side in self.plan.sides
                if side.feed.streams
            ]
        return frozenset(own[it.lower()] for it in texts if it.lower() in own)

    def shown(self, rows: DataFrame, outlet: Outlet) -> DataFrame:
        """Returns rows that leave by one outlet with its own columns.

        Pairs, and on one port lone rows, are shown as the select says. Others come out
        as they came in; of a late one its side and the reason stand in front.
        """
        match outlet:
            case Outlet.MATCHED:
                known = rows if self.taken(outlet) else self._known(rows)
                return known.select(*self._shown(), *_changes(known), *self.extra)
            case Outlet.LEFT_UNMATCHED | Outlet.RIGHT_UNMATCHED:
                return self._as_came(rows, HANDS[UNMATCHED.index(outlet)])
            case Outlet.LATE:
                side = F.when(F.col(LEFT), "left").otherwise("right").alias("side")
                structs = [
                    F.when(F.col(PRESENT[hand]), F.struct(*self._own(hand))).alias(
                        hand.value
                    )
                    for hand in HANDS
                ]
                return rows.select(
                    side, _reason().alias("reason"), *structs, *self.extra
                )
            case _:
                raise AssertionError(outlet)

    def handed_on(self, raw: DataFrame) -> DataFrame:
        """Returns results as rows of a side of the join around, with their row time.

        Where a join has several ports, those of one go on; lines without a row all do.
        """
        time, outlet = F.col("row_time").alias(TIME), self.plan.onward.outlet
        # Of a bound there is no outlet: it must reach the next join all the same.
        if self.plan.join.ports > 1:
            raw = raw.where(self.leaves_by(outlet) | F.col(OUTLET).isNull())
        for hand in HANDS:
            if outlet is own_outlets(self.plan.join).get(hand):
                return raw.select(*self._own(hand), time, *self.extra)
        known, told = self._known(raw), self.plan.onward.told
        changes = [one.alias(told) for one in _changes(known) if told]
        return known.select(*self._shown(), *changes, time, *self.extra)

    @property
    def computes(self) -> bool:
        """Tells whether an output column is more than a column of a side."""
        own = self._by_text()
        return any(text.lower() not in own for _, text in self._columns())

    def _by_text(self) -> dict[str, tuple[Hand, str]]:
        """Returns the columns of both sides by how they are written.

        In lower case too, for texts in any.
        """
        own = {
            f"{hand.letter}.{text}": (hand, name)
            for hand in HANDS
            for name in self._schema(hand).names
            for text in (quoted(name), *([name] if name.isidentifier() else []))
        }
        return {text.lower(): it for text, it in own.items()} | own

    def refuse_select(self, raw: DataFrame) -> None:
        """Refuses an output column that is not one value for each row.

        A condition is such a value: Spark takes no aggregate and no window in one.
        """
        # All at once: only where Spark refuses one of them each is asked by itself.
        known, columns = self._known(raw), self._columns()
        if CHANGE in raw.columns:
            # All outlets have a column of ours of that name, the user's none.
            sources = [side.source.schema.names for side in self.plan.sides]
            selected = [name for name, _ in columns]
            names = [selected, *(sources if self.plan.join.ports > 1 else ())]
            if any(name.lower() == CHANGE for some in names for name in some):
                raise SpecError(
                    f'a column is called "{CHANGE}", as the one that says of each '
                    "row whether it comes or is taken back",
                    "another name",
                    f'rename it: frame.withColumnRenamed("{CHANGE}", "changed")',
                )
        try:
            with on_trial():
                texts = (_is_null(text) for _, text in columns)
                _ = known.where(reduce(or_, texts)).schema
        except AnalysisException:
            for name, text in columns:
                try:
                    with on_trial():
                        _ = known.select(F.expr(text).alias(name)).schema
                        _ = known.where(_is_null(text)).schema
                except AnalysisException as error:
                    raise SpecError(
                        f'select of "{name}" is "{text}", which Spark refuses: '
                        f"{said(error)}",
                        "Spark SQL that gives one value for a row l and a row r",
                    ) from error

    def late_of(self, raw: DataFrame, hand: Hand) -> DataFrame:
        """Returns one side's late rows as they came in, with the reason."""
        late = raw.where(self.leaves_by(Outlet.LATE)).where(PRESENT[hand])
        return self._as_came(late, hand, _reason().alias("reason"))

    def with_late(self, raw: DataFrame) -> DataFrame:
        """Returns results with what late ones were as they came, and their times."""
        came, times = [], []
        for side in self.plan.sides:
            came.append(as_json(F.struct(*self._own(side.hand))))
            name = f"{side.hand.letter}.{quoted(side.source.time)}"
            time = f"unix_micros({name})" if side.source.is_timed else "NULL"
            times.append(F.expr(f"CAST({time} AS BIGINT)"))
        is_late = self.leaves_by(Outlet.LATE)
        of_side = [F.when(F.col(LEFT), one).otherwise(it) for one, it in (came, times)]
        moment = F.when(is_late, of_side[1]).otherwise(F.col(relay.MOMENT))
        told = {CAME: F.when(is_late, of_side[0]), relay.MOMENT: moment}
        return raw.withColumns(told)

    def _shown(self) -> list[Column]:
        """Returns the output columns."""
        return output_columns(self._columns(), self.plan.join.picks, exceeds=_OVER)

    def _known(self, raw: DataFrame) -> DataFrame:
        """Returns what a select may name: both rows, which are there, the row time."""
        # A row that is given once comes without its partner, which was there.
        met = {
            hand: F.lit(True)  # noqa: FBT003
            if self.plan.join.kind.gives_once(hand.other)
            else F.col(PRESENT[hand])
            for hand in HANDS
        }
        size, hop = self.plan.join.left.window.hop_length, list[Column]()
        if size != NO_TIME:
            # The row time of a window that hops is its end.
            end = F.col("row_time")
            length = F.expr(f"INTERVAL {size.microseconds} MICROSECONDS")
            hop = [(end - length).alias("window_start"), end.alias("window_end")]
        return raw.select(
            *(self._row(hand) for hand in HANDS),
            *(is_met.alias(f"matched_{hand.value}") for hand, is_met in met.items()),
            "row_time",
            *hop,
            (F.col(REASON) == code(Reason.OVER_LIMIT)).alias(_OVER),
            *(name for name in (COUNTER, CHANGE) if name in raw.columns),
            *(self._together() for name in raw.columns if name == REST),
            *self.extra,
        )

    def _together(self) -> Column:
        """Returns all rows that stand together, of several sets."""
        first, second = (
            F.when(F.col(PRESENT[hand]), F.struct(*self._own(hand))) for hand in HANDS
        )
        there = F.filter(F.array(first, second), lambda row: row.isNotNull())
        return F.concat(there, F.col(REST)).alias("rows")

    def leaves_by(self, outlet: Outlet) -> Column:
        """Returns whether a result leaves by an outlet."""
        return F.col(OUTLET).isin([code(one) for one in self.leaving_by(outlet)])

    def _row(self, hand: Hand) -> Column:
        """Returns a side's row, or what stands for it where it is absent."""
        letter, absent = hand.letter, self.plan.join.absent(hand)
        # The row is null by itself where it is absent: nothing need be asked of each.
        if isinstance(absent, NullRow):
            return F.col(letter)
        there = F.struct(*self._own(hand))
        stand_in = absent_struct(absent, self._schema(hand))
        return F.when(F.col(PRESENT[hand]), there).otherwise(stand_in).alias(letter)

    def _columns(self) -> list[tuple[str, str]]:
        """Returns the output columns: names, and what they are in Spark SQL."""
        schemas = {side.hand: side.source.schema for side in self.plan.sides}
        columns = selected_columns(self.plan.join, schemas)
        return [(name, text.text) for name, text in columns]

    def _as_came(self, rows: DataFrame, hand: Hand, *more: Column) -> DataFrame:
        """Returns rows with the columns with which they came in."""
        return rows.select(*self._own(hand), *more, *_changes(rows), *self.extra)

    def _own(self, hand: Hand) -> list[Column]:
        """Returns the columns of a side's row as they came in."""
        names = self._schema(hand).names
        return [F.col(f"{hand.letter}.{quoted(name)}").alias(name) for name in names]

    def _schema(self, hand: Hand) -> Schema:
        """Returns the columns of a side without one of ours."""
        columns = self.plan.side(hand).source.schema.columns
        # Of ours are the row time of a join's rows, and what only matching looks at.
        own = (one for one in columns if one.name != TIME)
        return Schema(tuple(one for one in own if not one.name.startswith(HIDDEN)))


def _changes(rows: DataFrame) -> list[Column]:
    """Returns what each row does to the result, as a word, where rows may go again."""
    if CHANGE not in rows.columns:
        return []
    # Spark counts the places of an array from 1.
    number = F.col(CHANGE).cast("int") + 1
    return [F.element_at(F.array(*map(F.lit, _CHANGES)), number).alias(CHANGE)]


def _is_null(text: str) -> Column:
    """Returns whether an expression is null."""
    return F.expr(text).isNull()


def _reason() -> Column:
    """Returns the reason of a late row as a word."""
    code = F.col(REASON).cast("int")
    return F.element_at(F.array(*map(F.lit, _REASONS)), code)
