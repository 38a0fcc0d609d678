"""A join of streams: all that is decided of it before a row comes, decided once.

`plan_stream` says what a stream does not do yet, in which order rows meet, what they
must have in common, over how many buckets they can be spread and how long they stay.
A user's streams and the events of a case get their plan here, and whoever explains,
starts or plays the join takes it from the plan.

    user    streams with a time, an order or a sequence --+
                                                          +-> plan_stream -> StreamPlan
    case    events, each with its place in one sequence --+

Three orders of arrival: `sequence`, one number over both sides; `merged`, by row time,
held back until both sides' bounds have passed; `as_read`, batch by batch, where there
is no time.

A single key that is a whole number, a date or a time is its own code. Any other key is
hashed, and compared once more by value, so that two keys of one hash never meet.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from dovetail.errors import SpecError, UnsupportedError
from dovetail.expression import Scope, Typed, common_type, parse
from dovetail.expression.tree import Column
from dovetail.plan.capability import (
    features_of_join,
    features_of_play,
    features_of_settings,
)
from dovetail.plan.features import Combination, Engine, Feature
from dovetail.plan.sides import (
    candidate_equalities,
    changing,
    has_stream,
    is_static,
    partition_of,
    untimed_changes,
)
from dovetail.schema import (
    ArrayType,
    AtomicType,
    CarriedType,
    DecimalType,
    MapType,
    Schema,
    StructType,
    Type,
    quoted,
)
from dovetail.spec.defaults import is_by_row_time
from dovetail.spec.inputs import (
    Arrival,
    Input,
    InputKind,
    Inputs,
    Order,
    Outlet,
    Settings,
)
from dovetail.spec.join import HANDS, Clock, Hand, JoinSpec, Named, SetJoinSpec, Side
from dovetail.spec.play import Play
from dovetail.spec.references import counting_columns, plain_column, references
from dovetail.spec.results import own_outlets
from dovetail.spec.spans import NO_TIME, Span
from dovetail.spec.windows import Forever, Latest, Range, Rows, RowsPreceding, Window

STREAM = Engine(
    "stream",
    frozenset(Feature)
    - {
        Feature.CLOCK_BATCH,
        Feature.SETS,
        Feature.NESTED,
        Feature.CHANGELOG,
        Feature.WINDOW_SECONDS,
        Feature.WINDOW_DELTA,
        Feature.WINDOW_HOP_SIZE,
        Feature.WINDOW_BETWEEN,
        Feature.WINDOW_INHERITED,
        Feature.EVICT_AGE,
        Feature.EVICT_COUNT,
        Feature.EVICT_TUPLES,
        Feature.AT_MOST_OPTIONAL,
        Feature.LIMIT_FAIL,
        Feature.LIMIT_TRANSFORM,
        Feature.LEFT_CONDITION,
        Feature.PER_MILLISECOND,
        Feature.EAGER,
        Feature.EAGER_RETRACT,
        Feature.LATE_TABLE_ROWS,
    },
    lacks=frozenset(
        {
            Combination.NO_STREAM,
            Combination.CHANGES_WITHOUT_TIME,
            Combination.ARRIVAL_RANGE,
            Combination.COUNTER_SELECTED,
        }
    ),
)
_USUAL = Settings()
_CODES = {
    AtomicType.BOOLEAN: "CAST({0} AS BIGINT)",
    AtomicType.TINYINT: "CAST({0} AS BIGINT)",
    AtomicType.SMALLINT: "CAST({0} AS BIGINT)",
    AtomicType.INT: "CAST({0} AS BIGINT)",
    AtomicType.BIGINT: "CAST({0} AS BIGINT)",
    AtomicType.DATE: "CAST(unix_date({0}) AS BIGINT)",
    AtomicType.TIMESTAMP: "unix_micros({0})",
}
"""How a key of one of these types is its own code."""
_WHOLE = (AtomicType.TINYINT, AtomicType.SMALLINT, AtomicType.INT, AtomicType.BIGINT)
_FLOATING = (AtomicType.FLOAT, AtomicType.DOUBLE)
_HASHED = (AtomicType.STRING, AtomicType.BINARY, AtomicType.TIMESTAMP_NTZ)
_COMPARED = {*_CODES, *_HASHED, *_FLOATING}


@dataclass(frozen=True, slots=True)
class Feed:
    """How the rows of a side come, beside what they are.

    `order` tells rows of one time apart, `sequence` orders the rows of both sides: SQL
    over the side's columns, empty where there is none. After the silence `idle` a side
    no longer holds the other back. Where it does not stream nothing ever comes.
    """

    order: str = ""
    sequence: str = ""
    idle: Span = NO_TIME
    streams: bool = True


Feeds = Mapping[Hand, Feed]


@dataclass(frozen=True, slots=True)
class Keys:
    """What rows of a side must have in common with those they meet, in SQL.

    `code` is the value or the hash of all keys, null where one of them is null; what
    is `compared` by value stands beside a hash. `column` is the side's own column that
    is the code as it is, empty where none is.
    """

    code: str = ""
    compared: tuple[str, ...] = ()
    column: str = ""


@dataclass(frozen=True, slots=True)
class StreamSide:
    """One side of a join on streams: all that is known of it before a row comes.

    `place` is SQL for where a row stands among those of its time, or of both sides.
    The rows of a `static` side are all there from the start. `bound` says in words how
    many rows are kept at most.
    """

    hand: Hand
    source: Input
    place: str
    idle: Span
    keys: Keys
    partition: tuple[str, ...]
    static: bool
    bound: str

    @property
    def is_timed(self) -> bool:
        """Tells whether the side's rows live in row time."""
        return self.source.is_timed and not self.static


@dataclass(frozen=True, slots=True)
class Spread:
    """Whether the rows of a join can be spread over many buckets, and why."""

    is_wide: bool
    reason: str


@dataclass(frozen=True, slots=True)
class StreamPlan:
    """How streams are joined; `notes` are what a user should know of the way."""

    join: JoinSpec
    settings: Settings
    arrival: Arrival
    sides: tuple[StreamSide, StreamSide]
    spread: Spread
    notes: tuple[str, ...]

    def side(self, hand: Hand) -> StreamSide:
        """Returns the side on this hand."""
        return self.sides[HANDS.index(hand)]

    @property
    def inputs(self) -> Inputs:
        """Returns the inputs of both sides by their names, without rows."""
        return {side.source.name: side.source for side in self.sides}

    @property
    def outlets(self) -> tuple[Outlet, ...]:
        """Returns the outlets that the join has, the late one last."""
        return (Outlet.MATCHED, *own_outlets(self.join).values(), Outlet.LATE)

    @property
    def heeds_silence(self) -> bool:
        """Tells whether a side that is silent for long lets the other one go on."""
        return any(side.idle != NO_TIME for side in self.sides)


def plan_stream(
    join: JoinSpec | SetJoinSpec,
    inputs: Inputs,
    feeds: Feeds,
    *,
    settings: Settings = _USUAL,
    changes: frozenset[str] | None = None,
) -> StreamPlan:
    """Returns the plan of a join, or raises what a stream cannot do of it yet.

    `changes` are the inputs of which rows come after the start, None for all.
    """
    STREAM.refuse_unsupported(
        features_of_join(join, inputs) | features_of_settings(settings)
    )
    assert isinstance(join, JoinSpec)  # noqa: S101 - sets are no feature of streams
    _refuse_finite(feeds)
    # A plan is of a join and not of one run of it: it holds no rows.
    sources = {hand: replace(_source(join, hand, inputs), rows=()) for hand in HANDS}
    arrival = _arrival(join, sources, feeds)
    moving = frozenset(inputs) if changes is None else changes
    STREAM.refuse_together(_missing(join, inputs, arrival, moving))
    keys = dict(zip(HANDS, _keys(join, sources), strict=True))
    left, right = (
        StreamSide(
            hand,
            sources[hand],
            _place(feeds[hand], sources[hand].schema, arrival),
            feeds[hand].idle,
            keys[hand],
            partition_of(join.side(hand)),
            is_static(join, hand, sources[hand]),
            state_bound(join, sources, hand, arrival),
        )
        for hand in HANDS
    )
    spread = _spread(join, settings)
    return StreamPlan(join, settings, arrival, (left, right), spread, _notes(feeds))


def plan_play(play: Play, place: str = "place") -> StreamPlan:
    """Returns the plan of a play, whose events are one sequence by the column `place`.

    Raises what a stream cannot do of it yet.
    """
    STREAM.refuse_unsupported(features_of_play(play))
    return plan_stream(
        play.join,
        play.inputs,
        dict.fromkeys(HANDS, Feed(sequence=quoted(place))),
        settings=play.settings,
        changes=changing(play),
    )


def refuse_unbounded(join: JoinSpec, sources: Mapping[Hand, Input]) -> None:
    """Raises a SpecError where the state of a stream would grow for ever."""
    endless = [
        hand.value
        for hand in HANDS
        if sources[hand].kind is InputKind.STREAM
        and join.clock is not Clock.BATCH
        and isinstance(join.side(hand).window, Forever)
        and not _forgets(join, sources, hand)
    ]
    if endless:
        raise SpecError(
            f"the {' and '.join(endless)} side keeps every row for ever, without a "
            "bound on state",
            "a window such as range, rows or latest",
            "unbounded=True allows it",
            rule="bounded_state",
        )


def state_bound(
    join: JoinSpec,
    sources: Mapping[Hand, Input],
    hand: Hand,
    arrival: Arrival | None = None,
) -> str:
    """Returns in words how many rows of a side are kept at most.

    Where rows meet by row time, those wait that the bounds have not passed.
    """
    merges = arrival is Arrival.MERGED or join.clock is Clock.EVENT
    waits = merges and all(source.is_timed for source in sources.values())
    waiting = "rows that one of the bounds has not passed yet"
    match join.side(hand).window:
        case Rows(0):
            return waiting if waits else "none: each row is met once"
        case Rows(count):
            rows = f"{count} row{'s' * (count != 1)} a partition"
            return f"{rows}, and {waiting}" if waits else rows
        case Latest(key):
            rows = f"one row for each {', '.join(key)}"
            return f"{rows}, and {waiting}" if waits else rows
        case Range(preceding):
            reach = _reach(preceding, join.side(hand.other).window)
            age = f"up to {reach.in_words()}" if reach != NO_TIME else "not"
            return f"rows {age} older than the {hand.other.value} side's bound"
        case _ if sources[hand].kind is not InputKind.STREAM:
            return "all of it"
        case Forever() if _forgets(join, sources, hand):
            return "for each key the rows that a left row may still pick"
        case _:
            return "without a bound: every row that ever came"


def _reach(preceding: Span, other: Window) -> Span:
    """Returns how long a row can wait: its own window and the other's look ahead.

    left   |--preceding-->            a left row lives on for so long
    right            <--following--|  a right row meets what is so far ahead of it
    """
    match other:
        case Range(following=ahead):
            months = preceding.months + ahead.months
            return Span(months, preceding.microseconds + ahead.microseconds)
        case _:
            return preceding


def _forgets(join: JoinSpec, sources: Mapping[Hand, Input], hand: Hand) -> bool:
    """Tells whether a side loses the rows that an `asof` can no longer pick."""
    named = {source.name: source for source in sources.values()}
    by_time = join.clock is Clock.EVENT and is_by_row_time(join, named)
    return hand is Hand.RIGHT and by_time


def _source(join: JoinSpec, hand: Hand, inputs: Inputs) -> Input:
    """Returns the input of a side."""
    source = join.side(hand).source
    assert isinstance(source, Named)  # noqa: S101 - nested joins have been refused
    return inputs[source.name]


def _refuse_finite(feeds: Feeds) -> None:
    """Refuses a join of a stream with rows that do not stream."""
    for hand, feed in feeds.items():
        if not feed.streams:
            raise UnsupportedError.not_yet(
                "stream",
                f"a {hand.value} side that is no stream",
                hint="spark.readStream reads what stays too; two sides that stay are "
                "joined as a batch",
            )


def _arrival(join: JoinSpec, sources: Mapping[Hand, Input], feeds: Feeds) -> Arrival:
    """Returns the order of arrival that the sides allow, or refuses the join."""
    if all(feed.sequence for feed in feeds.values()):
        return Arrival.SEQUENCE
    if all(source.is_timed for source in sources.values()):
        return Arrival.MERGED
    for hand, feed in feeds.items():
        if join.clock is Clock.ARRIVAL and not feed.order:
            raise SpecError(
                f"the {hand.value} side has no order: its rows have neither a "
                "time that both sides share nor a number",
                "time=... on both sides, or order=... on each",
                "for Kafka, order= can be made of partition and offset",
                rule="order_of_arrival",
            )
    return Arrival.AS_READ


def _missing(
    join: JoinSpec, inputs: Inputs, arrival: Arrival, moving: frozenset[str]
) -> Iterator[Combination]:
    """Gives what only several features together make impossible.

    A range is over once any row has come that is later. In a sequence that may be one
    of another bucket; where rows meet by row time, whoever comes later is later.
    """
    windows = [join.side(hand).window for hand in HANDS]
    has_range = any(isinstance(one, Range) for one in windows)
    if has_range and join.clock is Clock.ARRIVAL and arrival is not Arrival.MERGED:
        yield Combination.ARRIVAL_RANGE
    if counting_columns(join):
        yield Combination.COUNTER_SELECTED
    yield from untimed_changes(join, inputs, moving)
    if not has_stream(join, inputs):
        yield Combination.NO_STREAM


def _place(feed: Feed, schema: Schema, arrival: Arrival) -> str:
    """Returns where a row stands among those of its time, or of both sides.

    Without a number of its own a row is told from others of its time by all it holds.
    """
    number = feed.sequence if arrival is Arrival.SEQUENCE else feed.order
    if number:
        return f"CAST({number} AS BIGINT)"
    for column in schema.columns:
        for held in _unhashed(column.type):
            raise SpecError(
                f'the column "{column.name}" holds a {held}, by which rows of equal '
                "time are not told apart",
                "order=... of its side, a whole number",
                'write for example dt.stream(frame, order="offset")',
            )
    return f"xxhash64({', '.join(quoted(name) for name in schema.names)})"


def _unhashed(kind: Type) -> Iterator[str]:
    """Gives what a type is or holds that Spark does not hash."""
    match kind:
        case MapType():
            yield "map"
        case CarriedType("variant"):
            yield "variant"
        case ArrayType(element):
            yield from _unhashed(element)
        case StructType(fields):
            for _, part in fields:
                yield from _unhashed(part)
        case _:
            pass


def _notes(feeds: Feeds) -> tuple[str, ...]:
    """Returns what a user should know of the way rows arrive."""
    loose = [
        hand.value for hand, feed in feeds.items() if not (feed.order or feed.sequence)
    ]
    if not loose:
        return ()
    said = f"{' and '.join(loose)} rows of equal time meet in the order of their"
    return (f"{said} contents; order=... says another",)


def _keys(join: JoinSpec, sources: Mapping[Hand, Input]) -> tuple[Keys, Keys]:
    """Returns the keys of both sides; without an equality all rows have one key."""
    scope = Scope.pair(*(sources[hand].schema for hand in HANDS))
    pairs = [
        (parse(one.left, scope), parse(one.right, scope))
        for one in candidate_equalities(join)
    ]
    if not pairs:
        return Keys(), Keys()
    types = [common_type(left.type, right.type) for left, right in pairs]
    for kind in types:
        if not isinstance(kind, DecimalType) and kind not in _COMPARED:
            raise UnsupportedError.not_yet("stream", f"an equality of {kind}")
    is_whole = len(pairs) == 1 and all(one.type in _WHOLE for one in pairs[0])
    left, right = (
        _keys_of(own, types, is_whole=is_whole) for own in zip(*pairs, strict=True)
    )
    return left, right


def _keys_of(own: Sequence[Typed], types: Sequence[Type], *, is_whole: bool) -> Keys:
    """Returns the keys of one side, in the types in which both sides compare."""
    cast = [
        _alike(f"CAST({one.text} AS {kind})", kind)
        for one, kind in zip(own, types, strict=True)
    ]
    tree = own[0].tree
    column = tree.name if is_whole and isinstance(tree, Column) else ""
    if len(types) == 1 and types[0] in _CODES:
        return Keys(_CODES[types[0]].format(cast[0]), column=column)
    missing = " OR ".join(f"({key}) IS NULL" for key in cast)
    hashed = f"CASE WHEN NOT ({missing}) THEN xxhash64({', '.join(cast)}) END"
    return Keys(hashed, tuple(cast), column)


def _alike(key: str, kind: Type) -> str:
    """Returns a key whose equal values look alike: 0.0 and -0.0, and every NaN."""
    return f"CAST({key} + 0.0D AS STRING)" if kind in _FLOATING else key


def _spread(join: JoinSpec, settings: Settings) -> Spread:
    """Returns one bucket where rows of different keys must know of each other."""
    if not join.hard:
        return Spread(is_wide=False, reason="one bucket: without an equality all meet")
    if settings.order is Order.ROW_TIME:
        return Spread(is_wide=False, reason="one bucket: all rows leave in one order")
    for hand in HANDS:
        if not _holds_windows(join, hand):
            reason = (
                f"one bucket: the {hand.value} window is not parted by the equality"
            )
            return Spread(is_wide=False, reason=reason)
    return Spread(is_wide=True, reason="many buckets, by the equality")


def _holds_windows(join: JoinSpec, hand: Hand) -> bool:
    """Tells whether a bucket has all rows on which the life of one depends.

    So it has where whoever has another key is in another partition of the window.
    """
    partition = _plain_partition(join.side(hand))
    if partition is None:
        return True
    return {
        one.column.lower()
        for equal in join.hard
        for text in (equal.left, equal.right)
        for one in references(text)
        if one.hand is hand
    } <= {name.lower() for name in partition}


def _plain_partition(side: Side) -> tuple[str, ...] | None:
    """Returns the plain columns that part a window of rows or versions."""
    match side.window:
        case Latest(key):
            return key
        case Rows(0):
            return None
        case Rows() | RowsPreceding():
            return tuple(plain_column(part) for part in side.partition_by)
        case _:
            return None
