"""The streaming plan: pack both sides, one stateful operator, unpack.

left  -> keys, time, payload -> pack --+
right -> keys, time, payload -> pack --+-> operator by bucket -> unpack
ticks ---------------------------------+

Where a side is the rows of another join, that one stands before it in the same query:

a -> pack -+
b -> pack -+-> operator -> relay -> select -> pack -+
c ------------------------------------------> pack -+-> operator -> unpack

Where rows of other keys end a row, one bucket in front of the join's sees a few numbers
of all rows, and tells the others. Their lines go by there, so each side is read once:

left, right -> pack -> lives, or by -> operator by bucket -> unpack
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from types import MappingProxyType

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema
from pyspark.sql.types import ArrayType, StructField, StructType

from dovetail import spec
from dovetail.bind.travel import Function, over_batches, travel_by_value
from dovetail.engines.kernel_settings import stream_manner, stream_settings
from dovetail.engines.spark_stream import outlets
from dovetail.engines.spark_stream.feeds import Buckets, Packing, packings
from dovetail.engines.spark_stream.fingerprint import Identity
from dovetail.engines.spark_stream.firing import Riding, rows_alone
from dovetail.engines.spark_stream.types import as_nullable, unpacked
from dovetail.engines.spark_stream.ways import Riders, changed, gathered
from dovetail.engines.spark_stream.worker import bucket, relay
from dovetail.engines.spark_stream.worker.bucket import IN_FRONT
from dovetail.engines.spark_stream.worker.operator import (
    JoinOperator,
    make_lives_operator,
    make_operator,
)
from dovetail.engines.spark_stream.worker.pack import make_heartbeat, make_pack
from dovetail.kernels.arrays.names import (
    PLACE,
    REST,
    TURN,
    LineKind,
    is_reserved,
    reserved,
)
from dovetail.kernels.arrays.rows import BEGINNING, FIRST
from dovetail.kernels.arrival.causes import CAUSES
from dovetail.kernels.pairs.results import UNMATCHED
from dovetail.kernels.row_order import BESIDE, CAME
from dovetail.kernels.settings import JoinSettings, Unread
from dovetail.plan.flow import TurnQuery
from dovetail.plan.stream import StreamPlan
from dovetail.plan.ways import NO_JOIN, Path
from dovetail.schema import quoted
from dovetail.spec.references import looked_at

COUNTERS = "dovetail.join"
"""The name of the counters of a join that is written; others are numbered."""
_RELAYED_TYPES = from_arrow_schema(relay.RELAYED)
_LINE = reserved("line")
"""A line that goes by, while late rows of other columns are read beside it."""


_numbers = itertools.count(1)


def numbered_counters() -> str:
    """Returns a name of counters that no other join of this process has.

    Several joins may stand in one query, where Spark wants a name for each.
    """
    return f"{COUNTERS}.{next(_numbers)}"


Sides = tuple[Packing, Packing]


def reading_of(sides: Sides, told: pa.Schema) -> outlets.Reading:
    """Returns how the results of a join are read whose sides are packed so.

    `told` stands behind both sides' columns.
    """
    left, right = sides
    shown = {}
    for hand, packing in zip(spec.HANDS, sides, strict=True):
        types = {field.name: field.dataType for field in packing.frame.schema}
        # Numbered: two sides may have columns of one name.
        shown[hand] = tuple(
            outlets.Shown(
                name,
                StructField(f"{hand.letter}{number}", as_nullable(types[name])),
                unpacked(
                    f"{hand.letter}{number}", packing.types.get(name, types[name])
                ),
            )
            for number, name in enumerate(bucket.shown_names(packing.schema))
        )
    schema = bucket.result_schema((left.schema, right.schema), told)
    fields = tuple(from_arrow_schema(told))
    if REST not in told.names:
        return outlets.Reading(schema, shown, fields)
    rest, values = _rest_of(left)
    fields = tuple(rest if one.name == REST else one for one in fields)
    return outlets.Reading(schema, shown, fields, values)


def _rest_of(packing: Packing) -> tuple[StructField, str]:
    """Returns how rows of sets behind the second stand, and SQL of them as they came.

    All sets of a join have the columns of the first.
    """
    shown = bucket.shown_names(packing.schema)
    row = StructType(
        [
            StructField(one.name, as_nullable(one.dataType))
            for one in packing.frame.schema
            if one.name in shown and not is_reserved(one.name)
        ]
    )
    parts = (
        f"{unpacked(f'row.{quoted(name)}', kind)} AS {quoted(name)}"
        for name, kind in packing.types.items()
        if not is_reserved(name)
    )
    text = f"transform({REST}, row -> struct({', '.join(parts)}))"
    return StructField(REST, ArrayType(row)), text


@dataclass(frozen=True, slots=True)
class Layout:
    """What whoever runs a query says of the joins in it.

    Those that are `ordered` say how far they have come. Keys are spread over `count`
    buckets. Once a join is laid out `identities` have what it is, by the id of its
    plan. Lines of inputs may be more than rows where they come `with_events`; `ticks`
    have as columns the batch's own time, and whether all ends. By the name `counters`
    Spark observes what the outermost counts. Whoever takes its rows may tell late ones.
    """

    buckets: Callable[[StreamPlan], Buckets]
    ordered: Callable[[StreamPlan], bool]
    count: int = 0
    identities: dict[int, str] = field(default_factory=dict)
    ticks: tuple[DataFrame, ...] = ()
    counters: str = COUNTERS
    with_events: bool = False
    tells_late: bool = False


Frames = tuple["DataFrame | Frames | Merged", "DataFrame | Frames | Merged"]
"""The rows of both sides of a join; of a join inside, those of its own two sides."""

TURNS = Riders((*_RELAYED_TYPES.names, *CAUSES.names), PLACE, turn=TURN)
"""What rides along beside rows that go by turns: what a line is, where it stands."""


def lines_by_turns(
    rows: DataFrame, columns: Sequence[str], told: Mapping[str, str]
) -> DataFrame:
    """Returns rows of an input as lines that run together with those of joins.

    `told` are place, clock and what else is known of a line, as SQL; other lines than
    rows are bounds, which have nothing to say here but the time.
    """
    nothing = {relay.EVENT: f"{int(LineKind.ROW)}", relay.SCOPE: "0", relay.JOIN: "0"}
    # Time passes before a row comes: turns of lines that tell it begin with zero.
    known = {**nothing, TURN: "X'01'", **told}
    riders = (
        f"CAST({known.get(one.name, 'NULL')} AS {one.dataType.simpleString()}) "
        f"AS {quoted(one.name)}"
        for one in (*_RELAYED_TYPES, *from_arrow_schema(CAUSES))
    )
    return rows.selectExpr(*map(quoted, columns), *riders)


def times_by_turns(ticks: DataFrame, told: Mapping[str, str]) -> DataFrame:
    """Returns lines that tell the time: unless told, in front of all of a batch."""
    kind = {relay.EVENT: f"{int(LineKind.BOUND)}", relay.MOMENT: f"{BEGINNING}L"}
    return lines_by_turns(ticks, (), {**kind, PLACE: f"{FIRST}L", **told})


@dataclass(frozen=True, slots=True)
class Merged:
    """The rows that come by turns: of inputs, `given` by their names, and of joins.

    `frames` are those of the joins at which `paths` begin; `times` say what time it is.
    """

    paths: Sequence[Path]
    given: Callable[[str], DataFrame]
    frames: tuple[Frames, ...]
    times: DataFrame | None = None

    def lines(self, joins: Sequence[DataFrame]) -> DataFrame:
        """Returns the lines of all ways; `joins` are what the joins hand on."""

        def rows(path: Path) -> DataFrame:
            if path.join == NO_JOIN:
                return self.given(path.input)
            handed = joins[path.join]
            own = [one for one in handed.columns if not is_reserved(one)]
            return handed.select(*map(quoted, (*own, *TURNS.columns)))

        return gathered(rows, self.paths, replace(TURNS, times=self.times))


def frames_of(plan: StreamPlan, rows: Callable[[str], DataFrame]) -> Frames:
    """Returns the rows of both sides of a join, of one inside those of its own.

    `rows` has those of a side that is no join, by the name of the side's input.
    """
    left, right = (
        frames_of(plan.inside[side.hand], rows)
        if side.hand in plan.inside
        else rows(side.source.name)
        for side in plan.sides
    )
    return left, right


def merged_frames(
    query: TurnQuery, given: Callable[[str], DataFrame], times: DataFrame | None
) -> Merged:
    """Returns the rows that come out of a query by turns, with those of its joins."""

    def merged(paths: Sequence[Path], plans: Sequence[StreamPlan]) -> Merged:
        return Merged(paths, given, tuple(map(frames, plans)), times)

    def frames(plan: StreamPlan) -> Frames:
        left, right = (
            merged(query.sides[side.source.name], plan.merged[side.hand])
            for side in plan.sides
        )
        return left, right

    return merged(query.paths, query.plans)


def leaves(frames: Frames) -> Iterator[DataFrame]:
    """Gives the frames of all inputs."""
    for one in frames:
        match one:
            case tuple():
                yield from leaves(one)
            case Merged():
                yield from leaves_of(one)
            case _:
                yield one


def leaves_of(merged: Merged) -> Iterator[DataFrame]:
    """Gives the frames of all inputs of what comes by turns."""
    yield from (merged.given(it) for one in merged.paths for it in one.inputs)
    for frames in merged.frames:
        yield from leaves(frames)


def lay(
    plan: StreamPlan, frames: Frames, layout: Layout
) -> tuple[DataFrame, outlets.Results]:
    """Returns the lines of all results, and how each outlet's rows are read of them."""
    travel_by_value()
    looked_at = _looked_at(plan)
    # Who plays a join with events looks at all that comes out of it.
    read = {} if layout.with_events else looked_at
    lines, readings = _operated(plan, frames, layout, 0, looked_at=read)
    return lines.select(*outlets.LINES), outlets.Results(
        plan, tuple(readings), looked_at
    )


def lay_rows(plan: StreamPlan, frames: Frames, layout: Layout) -> DataFrame:
    """Returns the rows of a join that go on to operators that keep some of them."""
    travel_by_value()
    lines, readings = _operated(plan, frames, layout, 0)
    rows = _handed_on(plan, lines, readings[0], 0, layout)
    if not layout.tells_late:
        return rows
    rows = _with_late_inside(plan, rows, readings)
    goes_by = any(BESIDE in it.columns for it in leaves(frames))
    return _with_late_in_front(rows) if goes_by else rows


def _with_late_inside(
    plan: StreamPlan, rows: DataFrame, readings: Sequence[outlets.Reading]
) -> DataFrame:
    """Returns rows of a join beside the late ones that joins inside it have passed on.

    Of the same lines: read twice they would come of joins that run twice.
    """
    for number, reading in enumerate(readings[1:], 1):
        read = _with_passed(
            rows, partial(relay.make_late_rows, reading.schema, number), reading.fields
        ).selectExpr(*reading.shown(), _LINE, f"{_LINE}.{relay.MOMENT}")
        late = outlets.Outlets(plan.joins[number]).with_late(read)
        said = late.withColumn(relay.EVENT, F.lit(int(LineKind.LATE)))
        rows = _lines_or_late(said, rows.columns)
    return rows


def _with_late_in_front(rows: DataFrame) -> DataFrame:
    """Returns rows of a join beside what steps in front of it have let go by."""
    own = StructType().add(relay.EVENT, "integer").add(relay.MOMENT, "long")
    own = own.add(CAME, "string")
    schema = to_arrow_schema(own)
    read = partial(relay.make_late_rows, schema, IN_FRONT, as_they_are=True)
    return _lines_or_late(_with_passed(rows, read, own.fields), rows.columns)


def _with_passed(
    rows: DataFrame,
    read: partial[Function],
    fields: Sequence[StructField],
) -> DataFrame:
    """Returns lines whole, and beside them late rows as they are read."""
    whole = F.struct(*map(quoted, rows.columns)).alias(_LINE)
    passed = rows.select(whole, relay.JOIN, relay.BLOB)
    types = StructType([*fields, StructField(_LINE, rows.schema)])
    return over_batches(passed, read, types)


def _lines_or_late(every: DataFrame, names: Sequence[str]) -> DataFrame:
    """Returns lines as they were, late rows among them with what is said of them."""
    line, said = F.col(_LINE), {relay.EVENT, relay.MOMENT, CAME}
    columns = (
        F.when(line.isNull(), F.col(name) if name in said else F.lit(None))
        .otherwise(line.getField(name))
        .alias(name)
        for name in names
    )
    return every.select(*columns)


LookedAt = Mapping[spec.Outlet, outlets.Columns]
"""Which columns of the sides the rows of outlets are made of; all of outlets left out.
"""


def _looked_at(plan: StreamPlan) -> LookedAt:
    """Returns which columns of the sides the rows of outlets are made of.

    Of sides left out it is all. This is found before results travel: whoever writes
    them need not know how.
    """
    if plan.sets:  # their rows stand together whole
        return {}
    schemas = {side.hand: side.source.schema for side in plan.sides}
    texts = [text for _, text in spec.selected_columns(plan.join, schemas)]
    texts += [text for _, text in plan.join.picks.stand_in]
    # What stands for an absent row has all of its columns.
    selected = {
        hand: names
        for hand, names in looked_at(texts).items()
        if isinstance(plan.join.absent(hand), spec.NullRow)
    }
    alone = zip(UNMATCHED, reversed(spec.HANDS), strict=True)
    nothing = frozenset[str]()
    return {spec.Outlet.MATCHED: selected} | {
        one: {other: nothing} for one, other in alone
    }


def _unread(
    plan: StreamPlan, sides: Sides, looked_at: LookedAt
) -> dict[spec.Outlet, Unread]:
    """Returns by the outlets of results what no outlet looks at of their rows."""
    found: dict[spec.Outlet, Unread] = {}
    shown = outlets.Outlets(plan)
    for outlet in plan.outlets if looked_at else ():
        of_sides = looked_at.get(outlet, {})
        left, right = (
            frozenset(
                name
                for name in bucket.shown_names(packing.schema)
                if hand in of_sides and name.lower() not in of_sides[hand]
            )
            for hand, packing in zip(spec.HANDS, sides, strict=True)
        )
        # Columns of both sides say nothing of when a row comes out.
        unread = Unread(left, right, time=bool(shown.taken(outlet)))
        found |= dict.fromkeys(shown.leaving_by(outlet), unread)
    return found


def _operated(
    plan: StreamPlan,
    frames: Frames,
    layout: Layout,
    number: int,
    *,
    looked_at: LookedAt = MappingProxyType({}),
) -> tuple[DataFrame, list[outlets.Reading]]:
    """Returns the lines of results of a join, and how those of all joins are read.

    Where outlets read the lines it is known what they look at.
    """
    rows: list[DataFrame] = []
    below: list[outlets.Reading] = []
    for side, frame in zip(plan.sides, frames, strict=True):
        if isinstance(frame, DataFrame):
            rows.append(frame)
            continue
        is_merged = isinstance(frame, Merged)
        plans = plan.merged[side.hand] if is_merged else (plan.inside[side.hand],)
        handed_on: list[DataFrame] = []
        for within, own in zip(
            plans, frame.frames if isinstance(frame, Merged) else (frame,), strict=True
        ):
            # Numbers go as the plan lists its joins: each before those inside it.
            inner = number + len(below) + 1
            lines, readings = _operated(within, own, layout, inner)
            handed_on.append(_handed_on(within, lines, readings[0], inner, layout))
            below += readings
        every = frame.lines(handed_on) if isinstance(frame, Merged) else handed_on[0]
        rows.append(rows_alone(every))
    left, right = rows
    buckets = layout.buckets(plan)
    sides, settings = packed(plan, (left, right), layout)
    layout.identities[id(plan)] = settings.identity
    settings = replace(settings, unread=_unread(plan, sides, looked_at))
    # Every bucket hears the time, those in front of the join's too.
    beat = partial(make_heartbeat, buckets.by_scope)
    beats = [over_batches(tick, beat, bucket.LINE_DDL) for tick in layout.ticks]
    lines = reduce(DataFrame.unionAll, [*map(as_lines, sides), *beats])
    schemas = sides[0].schema, sides[1].schema
    if buckets.lives:
        finding = dict.fromkeys(buckets.lives, (settings, schemas))
        lines = by_bucket(lines, make_lives_operator(finding), bucket.LINE_DDL)
    results = by_bucket(lines, make_operator(settings, schemas), bucket.RESULT_DDL)
    name = f"{layout.counters}.join{number}" if number else layout.counters
    counted = results.observe(name, *_counters())
    told = bucket.told_beside(settings, schemas)
    return counted, [reading_of(sides, told), *below]


def packed(
    plan: StreamPlan, rows: tuple[DataFrame, DataFrame], layout: Layout
) -> tuple[Sides, JoinSettings]:
    """Returns both sides of a join ready to be packed, and what kernels know of it."""
    ordered = layout.ordered(plan)
    settings = stream_settings(plan, ordered=ordered)
    sides = packings(
        plan, settings, rows, layout.buckets(plan), with_events=layout.with_events
    )
    # Only a join that is packed knows what its state is made of.
    same = Identity.of(plan, sides, stream_manner(plan, ordered=ordered), layout.count)
    return sides, replace(
        settings,
        buckets=layout.count,
        fingerprint=same.fingerprint,
        identity=same.text,
    )


def by_bucket(lines: DataFrame, operator: JoinOperator, types: str) -> DataFrame:
    """Returns what an operator makes of the lines of each bucket."""
    # The join has clocks of its own, which its lines tell: no timer of Spark's.
    return lines.groupBy("bucket").transformWithState(
        operator, outputStructType=types, outputMode="Append", timeMode="None"
    )


def _counters() -> Iterator[Column]:
    """Gives what Spark observes of all buckets: an entry of their counts each.

    One text for each: to build a column costs a call of Java for every part of it.
    """
    ways = dict.fromkeys(bucket.BOUNDS, "min") | {bucket.LARGEST: "max"}
    for number, name in enumerate(bucket.COUNTED):
        way = ways.get(name, "sum")
        yield F.expr(f"{way}(get({bucket.COUNTS}, {number})) AS {name}")
    yield F.expr(f"collect_list({bucket.HOT}) AS {bucket.HOT}")


def _handed_on(
    plan: StreamPlan,
    lines: DataFrame,
    reading: outlets.Reading,
    number: int,
    layout: Layout,
) -> DataFrame:
    """Returns the results of a join as rows of a side of the join around it."""
    known = layout.buckets(plan)
    scopes = {label: at // known.per_scope for at, label in enumerate(known.labels)}
    # The key of a result is that of both its rows, under the names of results.
    keys = tuple(
        one.field.name
        for side in plan.sides
        if plan.onward.replaced
        for one in reading.sides[side.hand]
        if one.name in side.source.key
    )
    # Of several ports the first has marks.
    port = spec.Outlet.MATCHED if plan.join.ports > 1 else None
    tells_late = layout.tells_late and not number
    hand_on = partial(
        relay.make_relay,
        reading.schema,
        number,
        scopes,
        marks=relay.Marks(port, plan.onward.step) if plan.onward.asks_marks else None,
        keys=keys,
        tells_late=tells_late,
    )
    types = StructType([*reading.fields, *_RELAYED_TYPES])
    plain = over_batches(lines.select(*bucket.RELAYED), hand_on, types)
    results = plain.selectExpr(*reading.shown(), *map(quoted, _RELAYED_TYPES.names))
    told = (one.name for one in reading.told if one.name not in bucket.MORE.names)
    came = (CAME,) if tells_late else ()
    if tells_late:
        results = outlets.Outlets(plan).with_late(results)
    own = outlets.Outlets(plan, (*_RELAYED_TYPES.names, *told, *came))
    # Asked of each join by itself: further on nobody could say whose column it is.
    own.refuse_select(results)
    rows = own.handed_on(results)
    riding = tuple(name for name in rows.columns if is_reserved(name))
    return changed(rows, plan.onward.changes, Riding(riding, (PLACE, TURN)))


def as_lines(packing: Packing) -> DataFrame:
    """Returns a side's lines."""
    frame, names = packing.frame, tuple(packing.frame.columns)
    # PySpark itself reads a name with a dot as two, and takes no heed of case.
    is_odd = any("." in name or "`" in name for name in names)
    if is_odd or len({name.lower() for name in names}) < len(names):
        frame = frame.toDF(*(f"c{number}" for number in range(len(names))))
    return over_batches(
        frame, partial(make_pack, packing.settings, names), bucket.LINE_DDL
    )
