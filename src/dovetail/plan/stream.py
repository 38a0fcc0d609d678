"""A join of streams: all that is decided of it before a row comes, decided once.

`plan_stream` says what a stream does not do yet, in which order rows meet, what they
must have in common, over how many buckets they can be spread and how long they stay.
A user's streams and the events of a case get their plan here, and whoever explains,
starts or plays the join takes it from the plan.

    user    streams with a time, an order or a sequence --+
                                                          +-> plan_stream -> StreamPlan
    case    events, each with its place in one sequence --+

Three orders of arrival: `sequence`, one number over both sides; `merged`, by row time,
held back until both sides' bounds have passed; `as_read`, batch by batch, without it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from dovetail import schema, spec
from dovetail.errors import SpecError, UnsupportedError
from dovetail.plan import features, nested
from dovetail.plan import sets as several
from dovetail.plan.combinations import TOGETHER, judges_pairs, missing_together
from dovetail.plan.keys import HASH, Keys, hash_of, is_unhashed, keys_of
from dovetail.plan.lookups import AnyLookup, Lookup, NoLookup, refuse_other_ways
from dovetail.plan.sides import ends_by_key, input_of, is_static, partition_of
from dovetail.plan.state import state_bound
from dovetail.plan.ways import Onward
from dovetail.spec.facts import outlets_of

# A plan travels to Spark's workers by value: a room that its methods name would go
# along whole, so these are single nodes.
from dovetail.spec.inputs import Arrival, Clock, InputKind, Outlet
from dovetail.spec.join import HANDS
from dovetail.spec.spans import NO_TIME

STREAM = features.Engine(
    "stream",
    frozenset(features.Feature),
    lacks=TOGETHER
    | {
        features.Combination.OTHER_CLOCK_INSIDE,
        features.Combination.SWITCH_INSIDE,
        features.Combination.CHANGELOG_INSIDE,
        features.Combination.JUDGED_INHERITED,
    },
)
_USUAL = spec.Settings()


@dataclass(frozen=True, slots=True)
class Feed:
    """How the rows of a side come, beside what they are.

    `order` tells rows of one time apart, `sequence` orders the rows of both sides: SQL
    over the side's columns, empty where there is none. `part` is the number of the
    lasting part of a source that a row is from, each of which may be as far in time as
    it is; `deletes` is true of a row that takes its key out of a table, `bounds` of one
    that only says how far the side is. After the silence `idle` a side no longer holds
    the other back. `by_turns`: bytes say where a row stands in its number. Where it
    does not stream nothing ever comes, but a start may read it anew, so long after it
    was read: `refresh`. A `lookup` asks for rows that are not there. Those of another
    join come as its sides, `inside`.
    """

    order: str = ""
    sequence: str = ""
    part: str = ""
    deletes: str = ""
    bounds: str = ""
    idle: spec.Span = NO_TIME
    streams: bool = True
    inside: Feeds = field(default_factory=dict)
    refresh: spec.Span = NO_TIME
    lookup: AnyLookup = NoLookup()
    by_turns: bool = False

    @property
    def number(self) -> str:
        """Returns the number of a row among those that it is ordered with, if any."""
        return self.sequence or self.order

    @property
    def place(self) -> str:
        """Returns the number of a row as it is compared; of rows without one null."""
        return f"CAST({self.number or 'NULL'} AS BIGINT)"


Feeds = Mapping[spec.Hand, Feed]


@dataclass(frozen=True, slots=True)
class StreamSide:
    """One side of a join on streams: all that is known of it before a row comes.

    `place` is SQL for where a row stands among those of its time, or of both sides; if
    they are not numbered it does not say which was first. The rows of a `static` side
    are all there from the start; one that does not stream is a table of the user's,
    copied beside the checkpoint. `bound` says in words how many rows are kept at most,
    `feed` how rows come, without the joins inside.
    """

    hand: spec.Hand
    source: spec.Input
    place: str
    idle: spec.Span
    keys: Keys
    partition: tuple[str, ...]
    static: bool
    bound: str
    feed: Feed

    @property
    def is_numbered(self) -> bool:
        """Tells whether rows have a number that says which was first."""
        return not self.place.startswith(HASH)

    @property
    def is_timed(self) -> bool:
        """Tells whether the side's rows live in row time."""
        return self.source.is_timed and not self.static


@dataclass(frozen=True, slots=True)
class Spread:
    """Whether the rows of a join can be spread over many buckets, and why.

    Rows of the sides `told` are ended by rows of other keys: so an operator in front of
    the join's sees all rows, and tells the buckets when theirs end.
    """

    is_wide: bool
    reason: str
    told: tuple[spec.Hand, ...] = ()

    def over(self, buckets: int) -> Spread:
        """Returns how rows are spread over so many buckets: one knows all by itself."""
        if self.told and buckets == 1:
            return Spread(is_wide=False, reason="one bucket: no more were asked for")
        return self


@dataclass(frozen=True, slots=True)
class Runner:
    """Whether Spark joins a stream with a table by itself, and why it does not."""

    is_native: bool
    reason: str = ""


_OURS = Runner(is_native=False)
_IN_ORDER = Spread(
    is_wide=False, reason="one bucket: the join around picks by the order of its rows"
)
_LET_OUT = Spread(
    is_wide=False, reason="one bucket: rows of all keys let out a row, which goes on"
)
GATHERED = (
    "no row comes out before all inputs have ended: a query that never ends only keeps "
    "what comes; with finish=True it ends when all that is there has been read"
)
_GOES_ON = Runner(is_native=False, reason="its rows go on to a join with an operator")


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """How streams are joined; `notes` are what a user should know of the way.

    Where a side is the rows of another join, `inside` is the plan of that one, and its
    `onward` says what becomes of its results; here it is an input like any other. Its
    rows' lives may be `inherited` by a join around it. Where rows of joins come to a
    side by turns, their plans are `merged`. Of a join of several `sets` the rows of the
    first are the left side here, those of all others the right one.
    """

    join: spec.JoinSpec
    settings: spec.Settings
    arrival: spec.Arrival
    sides: tuple[StreamSide, StreamSide]
    spread: Spread
    notes: tuple[str, ...]
    runner: Runner = _OURS
    inside: Mapping[spec.Hand, StreamPlan] = field(default_factory=dict)
    inherited: bool = False
    onward: Onward = Onward()
    sets: tuple[spec.SetJoinSpec, ...] = ()
    merged: Mapping[spec.Hand, tuple[StreamPlan, ...]] = field(default_factory=dict)

    @property
    def every_inside(self) -> tuple[StreamPlan, ...]:
        """Returns the joins whose rows come to a side, those of the left first."""
        merged = (one for plans in self.merged.values() for one in plans)
        return (*self.inside.values(), *merged)

    @property
    def joins(self) -> tuple[StreamPlan, ...]:
        """Returns this join and those inside it, each behind the one around it."""
        return (self, *(one for plan in self.every_inside for one in plan.joins))

    @property
    def has_order(self) -> bool:
        """Tells whether rows of a batch have an order, by their numbers or times."""
        sides = (
            side for plan in self.joins for side in plan.sides if side.feed.streams
        )
        as_read = any(one.arrival is Arrival.AS_READ for one in self.joins)
        return not as_read or all(side.is_numbered for side in sides)

    @property
    def leaves(self) -> tuple[StreamSide, ...]:
        """Returns the sides of all joins that are inputs, and no rows of a join."""
        return tuple(
            side
            for plan in self.joins
            for side in plan.sides
            if side.hand not in plan.inside
        )

    def side(self, hand: spec.Hand) -> StreamSide:
        """Returns the side on this hand."""
        return self.sides[HANDS.index(hand)]

    @property
    def inputs(self) -> spec.Inputs:
        """Returns the inputs of both sides by their names, without rows."""
        return {side.source.name: side.source for side in self.sides}

    @property
    def outlets(self) -> tuple[spec.Outlet, ...]:
        """Returns the outlets that the join has, the late one last."""
        return (*outlets_of(self.join), Outlet.LATE)

    @property
    def live(self) -> frozenset[str]:
        """Returns the tables without a time that change on the event clock."""
        return live_inputs(self.join, tuple(side.source for side in self.sides))

    @property
    def tables(self) -> tuple[StreamSide, ...]:
        """Returns the sides that do not stream: at most one, joins inside apart.

        Beside a lookup there is none: nothing is there to be copied.
        """
        if self.lookups:
            return ()
        return tuple(side for side in self.sides if not side.feed.streams)

    @property
    def lookups(self) -> tuple[Lookup, ...]:
        """Returns the tables that are asked by key; those of joins inside apart."""
        found = (side.feed.lookup for side in self.sides)
        return tuple(one for one in found if isinstance(one, Lookup))

    def run_by(self, runner: Runner) -> StreamPlan:
        """Returns the same joins, all of them run by one runner."""
        inside = {hand: plan.run_by(runner) for hand, plan in self.inside.items()}
        return replace(self, runner=runner, inside=inside)

    def refuse_other_ways(self, reason: str) -> None:
        """Refuses a lookup of which rows would have to wait, for a reason."""
        lookups = {side.hand: side.feed.lookup for side in self.sides}
        refuse_other_ways(self.join, lookups, reason)

    def with_operators(self) -> StreamPlan:
        """Returns the plan with operators of ours for what goes on to its own.

        What lies in their state is not read anew, nor asked for.
        """
        for plan in self.joins:
            plan.refuse_other_ways("the rows go on to an operator")
        if any(side.feed.refresh != NO_TIME for side in self.leaves):
            raise UnsupportedError.not_yet(
                "stream",
                "refresh of a table that lies in the state of an operator",
                hint="Spark does not join by itself, since "
                f"{self.runner.reason or 'a stream of the row meets another one'}",
            )
        inside = {
            hand: plan.run_by(_GOES_ON) if plan.runner.is_native else plan
            for hand, plan in self.inside.items()
        }
        return replace(self, inside=inside)

    @property
    def late_inside(self) -> tuple[str, ...]:
        """Returns the names of what joins inside turn away, in the order of `joins`.

        Where Spark joins by itself nothing is late.
        """
        if self.runner.is_native:
            return ()
        return tuple(
            f"{hand.value}_{name}"
            for hand, plan in self.inside.items()
            for name in (Outlet.LATE.value, *plan.late_inside)
        )

    @property
    def heeds_silence(self) -> bool:
        """Tells whether a side that is silent for long lets another one go on."""
        return any(side.idle != NO_TIME for side in self.leaves)


def live_inputs(join: spec.JoinSpec, sources: Sequence[spec.Input]) -> frozenset[str]:
    """Returns the tables without a time that change on the event clock.

    A row of the other side meets them as they are when it comes.
    """
    return frozenset(
        source.name
        for source in sources
        if join.clock is Clock.EVENT
        and source.kind is InputKind.TABLE
        and not source.is_timed
    )


def plan_stream(
    join: spec.JoinSpec | spec.SetJoinSpec,
    inputs: spec.Inputs,
    feeds: Feeds,
    *,
    settings: spec.Settings = _USUAL,
    changes: frozenset[str] | None = None,
    inside: Mapping[spec.Hand, StreamPlan] | None = None,
) -> StreamPlan:
    """Returns the plan of a join, or raises what a stream cannot do of it yet.

    `changes` are the inputs of which rows come after the start, None for all. `inside`
    are plans of joins whose rows are inputs here, where they change on their way.
    """
    used = features.features_of_join(join, inputs)
    STREAM.refuse_unsupported(used | features.features_of_settings(settings))
    if isinstance(join, spec.SetJoinSpec):
        return _plan_of_sets(join, inputs, feeds)
    inside = inside or _inside(join, inputs, feeds, settings, changes)
    join, inputs = nested.unnested(join, inputs)
    _refuse_driven_out(join, feeds)
    # A plan is of a join and not of one run of it: it holds no rows.
    sources = {
        hand: replace(input_of(join, hand, inputs), rows=()) for hand in spec.HANDS
    }
    arrival = _arrival(join, sources, feeds, inside)
    # A user's streams and tables all go on; the events of a case are known.
    coming = (sources[hand].name for hand, feed in feeds.items() if feed.streams)
    moving = frozenset(coming) if changes is None else changes
    STREAM.refuse_together(missing_together(join, inputs, settings, moving))
    keys = dict(zip(spec.HANDS, keys_of(join, sources), strict=True))
    left, right = (
        StreamSide(
            hand,
            sources[hand],
            _place(feeds[hand], sources[hand].schema, arrival),
            # A table is there from the start: nobody holds it back.
            feeds[hand].idle if feeds[hand.other].streams else NO_TIME,
            keys[hand],
            partition_of(join.side(hand)),
            join.clock is not Clock.BATCH and is_static(join, hand, sources[hand]),
            state_bound(join, sources, hand, arrival),
            replace(feeds[hand], inside={}),  # of joins inside there are plans
        )
        for hand in spec.HANDS
    )
    spread = _spread(join, settings, arrival, [*sources.values()])
    runner = _runner(join, settings, (left, right), inside)
    notes = (*_notes(join, feeds), *_met_as_read(join, feeds, sources))
    plan = StreamPlan(
        join, settings, arrival, (left, right), spread, notes, runner, inside
    )
    plan.refuse_other_ways("" if runner.is_native else runner.reason)
    return plan if runner.is_native else plan.with_operators()


def _plan_of_sets(
    join: spec.SetJoinSpec, inputs: spec.Inputs, feeds: Feeds
) -> StreamPlan:
    """Returns the plan of a join of several sets, which knows no switches."""
    plan = plan_stream(*several.side_by_side(join, inputs), feeds)
    reason = several.reason_for_one(join, inputs)
    # Of two reasons for one bucket that of the join comes first: it is the user's own.
    if reason and plan.spread.is_wide:
        plan = replace(plan, spread=Spread(is_wide=False, reason=reason))
    return replace(plan, sets=(join,))


def _inside(
    join: spec.JoinSpec,
    inputs: spec.Inputs,
    feeds: Feeds,
    settings: spec.Settings,
    changes: frozenset[str] | None,
) -> Mapping[spec.Hand, StreamPlan]:
    """Returns the plans of joins whose rows are sides, or raises what is not done."""
    plans, inputs = {}, spec.with_intervals(join, inputs)
    for hand, source in nested.inner_joins(join).items():
        missing = dict(nested.missing_inside(join, source, inputs, settings))
        own, is_table = feeds[hand].inside, bool(source.key)
        if is_table:
            # Of its rows each one's key is known; but what is there from the start
            # changes nothing, so that nobody would hear of it.
            missing[features.Combination.CHANGELOG_INSIDE] = any(
                inputs[name].kind is InputKind.TABLE and inputs[name].rows
                for name in spec.source_names(source.join)
            ) or any(
                feed.streams is False and inputs[one.name].kind is InputKind.TABLE
                for side, feed in own.items()
                if isinstance(one := source.join.side(side).source, spec.Named)
            )
        STREAM.refuse_together(what for what, is_found in missing.items() if is_found)
        waits = nested.inner_settings(join, settings)
        plan = plan_stream(source.join, inputs, own, settings=waits, changes=changes)
        inner = within(plan, Onward(replaced=is_table))
        inherited = join.side(hand).window.is_inherited
        spread = inner.spread
        # Rows of a batch have no number but their order, which buckets do not share.
        if source.join.clock is Clock.BATCH and join.picks != spec.Picks():
            spread = _IN_ORDER
        plans[hand] = replace(inner, spread=spread, inherited=inherited)
    return plans


def within(plan: StreamPlan, onward: Onward) -> StreamPlan:
    """Returns the plan of a join whose rows go on to another one."""
    join = plan.join
    # A row of any key may move the time that ends a range, and let out its null row, or
    # pairs that have waited.
    ranges = join.clock is Clock.ARRIVAL and any(
        isinstance(join.side(hand).window, spec.Range)
        and (join.kind.preserves(hand) or judges_pairs(join))
        for hand in HANDS
    )
    spread = _LET_OUT if plan.spread.told or ranges else plan.spread
    return replace(plan, spread=spread, onward=onward)


def plan_play(play: spec.Play, place: str = "place") -> StreamPlan:
    """Returns the plan of a play, whose events are one sequence by the column `place`.

    A batch of data sets inside a join is made before the start, as Spark does it.
    Raises what a stream cannot do of it yet.
    """
    STREAM.refuse_unsupported(features.features_of_play(play))
    join, inputs = play.join, play.inputs
    if isinstance(join, spec.JoinSpec):
        join, inputs, _ = nested.with_data_sets(join, inputs)
    # Every event has its place in one sequence, so that no cut changes a case.
    return plan_stream(
        join,
        inputs,
        feeds_of_play(join, schema.quoted(place)),
        settings=play.settings,
        changes=features.changing(play),
    )


def feeds_of_play(join: spec.JoinSpec | spec.SetJoinSpec, place: str) -> Feeds:
    """Returns how rows come that stand in one sequence, to a join and those inside."""
    if isinstance(join, spec.SetJoinSpec):
        return dict.fromkeys(spec.HANDS, Feed(sequence=place))
    return {
        hand: feed_of_rows(feeds_of_play(source.join, place), source.join.clock)
        if isinstance(source := join.side(hand).source, spec.Nested)
        else Feed(sequence=place)
        for hand in spec.HANDS
    }


def feed_of_rows(inside: Feeds, clock: spec.Clock) -> Feed:
    """Returns how the rows of a join come: one after another in row time.

    Whether they stand before a row of the other side nobody asks in row time, so that
    a number of their own is as good as one over both sides. In order of arrival they
    have that of the rows that let them out.
    """
    if clock is Clock.BATCH:
        # They come together, in their order.
        return Feed("0", "0", streams=True, inside=inside)
    # A sequence over both sides is one of the join's rows too; two orders make none.
    is_one = all(feed.sequence for feed in inside.values() if feed.streams)
    streams = any(feed.streams for feed in inside.values())
    if clock is spec.Clock.ARRIVAL:
        place = schema.quoted(nested.CAUSE)
        return Feed(place, place if is_one else "", streams=streams, inside=inside)
    sequence = f"unix_micros({schema.quoted(nested.TIME)})" if is_one else ""
    return Feed(sequence=sequence, streams=streams, inside=inside)


def _arrival(
    join: spec.JoinSpec,
    sources: Mapping[spec.Hand, spec.Input],
    feeds: Feeds,
    inside: Mapping[spec.Hand, StreamPlan],
) -> spec.Arrival:
    """Returns the order of arrival that the sides allow, or refuses the join."""
    # One number over both sides is the user's own word: it goes before row time.
    if all(feed.sequence for feed in feeds.values() if feed.streams):
        return spec.Arrival.SEQUENCE
    if join.clock is Clock.BATCH:
        return spec.Arrival.AS_READ  # row by row as they come: times do not order them
    # With two times no cut into batches, and no speed of a side, changes a result.
    merging = {
        hand for hand, plan in inside.items() if plan.arrival is spec.Arrival.MERGED
    }
    # What is there from the start is in front of every row: the other side's time
    # alone orders that, where its order makes a difference.
    first = {
        hand
        for hand, feed in feeds.items()
        if join.clock is spec.Clock.ARRIVAL
        and not feed.streams
        and not _has_order(feeds[hand.other])
        and not _needs_no_order(join, feeds, hand.other)
    }
    placed = {*merging, *first}
    if all(sources[hand].is_timed or hand in placed for hand in spec.HANDS):
        return spec.Arrival.MERGED
    for hand, feed in feeds.items():
        is_free = _has_order(feed) or _needs_no_order(join, feeds, hand)
        if join.clock is spec.Clock.ARRIVAL and not is_free:
            raise SpecError(
                f"the {hand.value} side has no order: its rows have neither a "
                "time that both sides share nor a number",
                "time=... on both sides, or order=... on each",
                "for Kafka, order= can be made of partition and offset",
                rule="order_of_arrival",
            )
    return spec.Arrival.AS_READ


def _has_order(feed: Feed) -> bool:
    """Tells whether rows have a number, and those of a join all that they are of."""
    own = all(_has_order(one) for one in feed.inside.values() if one.streams)
    return own and bool(feed.number)


def _refuse_driven_out(join: spec.JoinSpec, feeds: Feeds) -> None:
    """Refuses a table whose rows drive out each other before any row of a stream."""
    for hand, feed in feeds.items():
        window = join.side(hand).window
        stays = isinstance(window, spec.Forever | spec.Latest)
        if not feed.streams and join.clock is spec.Clock.ARRIVAL and not stays:
            raise UnsupportedError.not_yet(
                "stream",
                f"a window by the order of arrival on the {hand.value} side, a table",
                hint="all of a table is there from the start: leave its window out",
            )


def _notes(join: spec.JoinSpec, feeds: Feeds) -> Iterator[str]:
    """Gives what a user should know of how rows come."""
    if join.clock is Clock.BATCH and any(feed.streams for feed in feeds.values()):
        yield GATHERED
    loose = [
        hand.value
        for hand, feed in feeds.items()
        if not (feed.number or _needs_no_order(join, feeds, hand))
    ]
    if loose:
        said = f"{' and '.join(loose)} rows of equal time meet in the order of their"
        yield f"{said} contents; order=... says another"
    for hand, feed in feeds.items():
        if feed.part and feed.streams:
            yield f"the time of the {hand.value} side {_APART}"


def _met_as_read(
    join: spec.JoinSpec, feeds: Feeds, sources: Mapping[spec.Hand, spec.Input]
) -> Iterator[str]:
    """Gives what a user should know of a table that rows of a join meet."""
    live = live_inputs(join, [*sources.values()])
    for hand, feed in feeds.items():
        if sources[hand].name in live and feed.streams and feeds[hand.other].inside:
            yield (
                f'rows of a join meet "{sources[hand].name}", a table without a time, '
                "as it is at the end of the batch in which they come out: another cut "
                "into batches may give others"
            )


_APART = "is that of the least of its partitions that has shown a row and is not idle"


def _needs_no_order(join: spec.JoinSpec, feeds: Feeds, hand: spec.Hand) -> bool:
    """Tells whether in which order the rows of a side come makes no difference.

    A table has the order of its rows, and is there before any row of a stream: that
    meets all of it, whoever comes before or after. But of a left row of a table a pick
    may take the first that came.
    """
    if not feeds[hand].streams:
        return True
    # A right row may be the first of a left one, which then decides what is kept.
    is_picked = hand is spec.Hand.RIGHT and join.picks != spec.Picks()
    is_once = join.side(hand).window == spec.Rows(0)
    return not feeds[hand.other].streams and is_once and not is_picked


def _runner(
    join: spec.JoinSpec,
    settings: spec.Settings,
    sides: tuple[StreamSide, StreamSide],
    inside: Mapping[spec.Hand, StreamPlan],
) -> Runner:
    """Returns who joins a stream with a table: Spark, where each row stands alone.

    So it is where what comes of a row of the stream is known from it and the table
    alone: then no row need be remembered, and none can be late.
    """
    left, right = sides
    asks = [isinstance(side.feed.lookup, Lookup) for side in sides]
    if left.feed.streams == right.feed.streams and not any(asks):
        return _OURS
    # Each reason is one for which Spark would have to remember a row. All are told, so
    # that a user sees at once what keeps his join from being Spark's.
    is_right = left.feed.streams or asks[1]
    table, rows = (right, left) if is_right else (left, right)
    kind, window = join.kind, join.side(rows.hand).window
    comes_out = kind.preserves(table.hand) or kind.gives_once(table.hand)
    reasons = {
        "the clock is batch: rows come out when all have come": (
            join.clock is Clock.BATCH and not any(asks)
        ),
        f"rows of the table, the {table.hand.value} side, come out too": comes_out,
        "time is named, so that rows may be late": any(
            side.source.is_timed for side in sides
        ),
        f"the {rows.hand.value} rows have a window": window != spec.Rows(0)
        and not (any(asks) and window == spec.Forever() and not rows.feed.streams),
        "pairs are picked": join.picks != spec.Picks(),
        f"the {rows.hand.value} rows are of a join with an operator": any(
            not plan.runner.is_native for plan in inside.values()
        ),
        "the rows are asked for early, or in an order": settings != _USUAL,
    }
    found = [reason for reason, holds in reasons.items() if holds]
    return Runner(is_native=not found, reason="; ".join(found))


def _place(feed: Feed, columns: schema.Schema, arrival: spec.Arrival) -> str:
    """Returns where a row stands among those of its time, or of both sides.

    Without a number of its own a row is told from others of its time by all it holds.
    """
    # All of a table is there before any row comes: its rows need no place.
    if not feed.streams:
        return ""
    number = feed.sequence if arrival is spec.Arrival.SEQUENCE else feed.order
    if number:
        return f"CAST({number} AS BIGINT)"
    for column in columns.columns:
        if is_unhashed(column.type):
            # Rows of a join have no number that a user could name.
            way = "leave it out of select in the join before, or take out"
            raise SpecError(
                f'the column "{column.name}" holds a variant, by which rows of equal '
                "time are not told apart",
                "a type that is hashed" if feed.inside else "order=... of its side",
                f'{way} a part, as with variant_get(l.{column.name}, "$.id", "int")'
                if feed.inside
                else 'write for example dt.stream(frame, order="offset")',
            )
    return hash_of((schema.quoted(one.name), one.type) for one in columns.columns)


def _spread(
    join: spec.JoinSpec,
    settings: spec.Settings,
    arrival: spec.Arrival,
    sources: Sequence[spec.Input],
) -> Spread:
    """Returns one bucket where rows of different keys must know of each other.

    Of some it is enough to be told when others end them.
    """
    # Rows of two buckets never see each other, and a bucket has its own order.
    if not join.hard:
        return Spread(is_wide=False, reason="one bucket: without an equality all meet")
    if settings.order is spec.Order.ROW_TIME:
        return Spread(is_wide=False, reason="one bucket: all rows leave in one order")
    if join.clock is Clock.BATCH and join.picks.strategy.keeps_order:
        said = "one bucket: the left rows leave in the order in which they came"
        return Spread(is_wide=False, reason=said)
    if join.clock is spec.Clock.EVENT and _asks_bounds(settings, sources):
        said = "one bucket: null rows look at what came before them, whatever its key"
        return Spread(is_wide=False, reason=said)
    ended = {
        hand: reason
        for hand in spec.HANDS
        if (reason := _ended_by_others(join, hand, arrival))
    }
    if not ended:
        return Spread(is_wide=True, reason="many buckets, by the equality")
    reasons = " and ".join(ended.values())
    # In row time an end is known late, and changes and late rows ask for more than it.
    is_changelog = all(one.kind is not spec.InputKind.STREAM for one in sources)
    waits = settings.late_table_rows != spec.IgnoreLateTableRows()
    if join.clock is not Clock.ARRIVAL or is_changelog or waits:
        return Spread(is_wide=False, reason=f"one bucket: {reasons}")
    front = "one bucket in front of them sees a few numbers of each row and tells them"
    said = f"many buckets, by the equality; {reasons}, so {front} when rows end"
    return Spread(is_wide=True, reason=said, told=tuple(ended))


def _ended_by_others(
    join: spec.JoinSpec, hand: spec.Hand, arrival: spec.Arrival
) -> str:
    """Returns how rows of other keys end those of a side; empty where they do not."""
    side = join.side(hand)
    # A range is over once any row has come that is later. In a sequence that may be
    # one of another bucket; in row time whoever comes later is later.
    is_range = isinstance(side.window, spec.Range)
    in_order = join.clock is spec.Clock.ARRIVAL and arrival is not spec.Arrival.MERGED
    if is_range and in_order:
        return f"rows of all keys end those of the {hand.value} range"
    # Ages too are looked at when any row comes.
    is_stored = side.window != spec.Rows(0)
    if is_stored and side.partition_evict != spec.KeepPartitions():
        return f"{hand.value} partitions are evicted as rows of all keys come"
    is_parted = ends_by_key(join, hand)
    return "" if is_parted else f"the {hand.value} window is not parted by the equality"


def _asks_bounds(settings: spec.Settings, sources: Sequence[spec.Input]) -> bool:
    """Tells whether it matters how far bounds were when each row came.

    So it does where rows wait for some time for a table without a time. A null row that
    comes early is taken back or not by what has come before it.
    """
    match settings.late_table_rows:
        case spec.EmitLateTableRows(spec.Span()):
            kinds = {one.kind for one in sources if not one.is_timed}
            return settings.is_eager or InputKind.TABLE in kinds
        case _:
            return settings.is_eager
