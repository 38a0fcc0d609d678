"""From JSON to a join: the neutral spec as case files and tools write it.

Every key is read by one small reader; a key that no reader knows, a value of another
type or a word that is no choice is a SpecError that names the place. What a join means
as a whole is not judged here: that is what the rules are for.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from dovetail.errors import SpecError
from dovetail.expression import ALWAYS, NEVER, Expression
from dovetail.spec.fields import (
    Fields,
    Reader,
    choice,
    expression,
    many,
    mapping,
    number,
    span,
    text,
    truth,
    whole,
    wrong,
)
from dovetail.spec.join import (
    Absent,
    AllColumns,
    BlankRow,
    Clock,
    Columns,
    GivenRow,
    Hand,
    JoinSpec,
    Kind,
    Named,
    Nested,
    NullRow,
    SetJoinSpec,
    SetKind,
    Side,
)
from dovetail.spec.picks import (
    AllHard,
    AsOf,
    AtMost,
    Direction,
    Equality,
    Keep,
    Limit,
    OnExceed,
    OptionalEqual,
    OptionalPrefix,
    Picks,
    Strategy,
    Tie,
    Unlimited,
)
from dovetail.spec.reading_windows import read_eviction, read_window
from dovetail.spec.spans import Span
from dovetail.spec.windows import KeepPartitions, Unstated
from dovetail.spec.writing_windows import write_number

_PICK_KEYS = (
    *("keep", "atmost", "limit", "asof"),
    *("strategy", "left_condition", "skip_when"),
)
_JOIN_KEYS = (
    *("left", "right", "type", "hard", "soft", "select", "ports", "clock"),
    *("default_left", "default_right", "absent"),
    *_PICK_KEYS,
)
_SET_KEYS = (
    *("sets", "type", "min", "max", "stepped", "sorted", "pair_condition"),
    *("rows_condition", "skip_when", "select", "clock"),
)
_SIDE_KEYS = ("from", "window", "partition_by", "partition_evict")
_ASOF_KEYS = ("left", "right", "direction", "tolerance", "exact", "tie")
_PORTS = (1, 2, 3)
_RESTS: Mapping[str, NullRow | BlankRow] = {"null": NullRow(), "blank": BlankRow()}


def read_join(data: object, where: str = "join") -> JoinSpec | SetJoinSpec:
    """Returns the join that a JSON object says, before any default is filled in."""
    if "sets" in mapping(data, where):
        return _read_sets(data, where)
    return _read_pair(data, where)


def _read_pair(data: object, where: str) -> JoinSpec:
    """Reads a join of two sides."""
    fields = Fields.of(data, where, _JOIN_KEYS)
    return JoinSpec(
        left=fields.need("left", _read_side),
        right=fields.need("right", _read_side),
        kind=fields.need("type", choice(Kind)),
        clock=fields.need("clock", choice(Clock)),
        hard=fields.take("hard", many(_read_equality), ()),
        soft=fields.take("soft", expression, ALWAYS),
        select=fields.take("select", _read_select, AllColumns()),
        ports=fields.take("ports", _read_ports, 1),
        absent_left=_read_absent(fields, Hand.LEFT),
        absent_right=_read_absent(fields, Hand.RIGHT),
        picks=_read_picks(fields),
    )


def _read_sets(data: object, where: str) -> SetJoinSpec:
    """Reads a join of several sets."""
    fields = Fields.of(data, where, _SET_KEYS)
    clock = fields.take("clock", choice(Clock), Clock.BATCH)
    if clock is not Clock.BATCH:
        raise wrong(f"{where}.clock", clock.value, "batch, the clock of sets")
    return SetJoinSpec(
        sets=fields.need("sets", many(text)),
        kind=fields.need("type", choice(SetKind)),
        stepped=fields.take("stepped", many(text), ()),
        ordered_by=fields.take("sorted", many(text), ()),
        select=fields.need("select", _read_select),
        least=fields.take("min", whole, 0),
        most=fields.take("max", whole, 0),
        pair_condition=fields.take("pair_condition", expression, ALWAYS),
        rows_condition=fields.take("rows_condition", expression, ALWAYS),
        skip_when=fields.take("skip_when", expression, NEVER),
    )


def _read_side(value: object, where: str) -> Side:
    """Reads one side: where its rows come from and how long they live."""
    fields = Fields.of(value, where, _SIDE_KEYS)
    return Side(
        source=fields.need("from", _read_source),
        window=fields.take("window", read_window, Unstated()),
        partition_by=fields.take("partition_by", many(expression), ()),
        partition_evict=fields.take("partition_evict", read_eviction, KeepPartitions()),
    )


def _read_source(value: object, where: str) -> Named | Nested:
    """Reads the name of an input, or a join whose rows come in."""
    if isinstance(value, str):
        return Named(value)
    fields = Fields.of(value, where, ("join", "as"))
    inner = fields.need("join", read_join)
    if isinstance(inner, SetJoinSpec):
        raise SpecError(
            f'"{where}.join" is a join of several sets',
            "a join of two sides",
            rule="nested_join",
        )
    return Nested(inner, fields.take("as", text, ""))


def _read_equality(value: object, where: str) -> Equality:
    """Reads a pair of expressions that must be equal."""
    match value:
        case [str(left), str(right)]:
            return Equality(Expression(left), Expression(right))
        case _:
            raise wrong(where, value, "[left expression, right expression]")


def _read_named(value: object, where: str) -> tuple[tuple[str, Expression], ...]:
    """Reads columns by name, each with its expression."""
    return tuple(
        (name, expression(item, f"{where}.{name}"))
        for name, item in mapping(value, where).items()
    )


def _read_select(value: object, where: str) -> Columns:
    """Reads the output columns."""
    return Columns(_read_named(value, where))


def _read_ports(value: object, where: str) -> int:
    """Reads the number of ports."""
    if (ports := whole(value, where)) in _PORTS:
        return ports
    raise wrong(where, value, "1, 2 or 3")


def _read_absent(fields: Fields, hand: Hand) -> Absent:
    """Reads what stands for a missing row: its columns, and how the others are."""
    rest = fields.take("absent", _read_rest(hand), NullRow())
    given = fields.take(f"default_{hand.value}", mapping, {})
    values = tuple((name, _exact(value)) for name, value in given.items())
    return GivenRow(values, rest) if values else rest


def _exact(value: object) -> object:
    """Returns a value as JSON can have it again, be it read with exact numbers."""
    return write_number(value) if isinstance(value, Decimal) else value


def _read_rest(hand: Hand) -> Reader[NullRow | BlankRow]:
    """Returns the reader of the word for a side: one for both, or one for each."""

    def read(value: object, where: str) -> NullRow | BlankRow:
        if isinstance(value, Mapping):
            sides = Fields.of(value, where, ("left", "right"))
            return sides.take(hand.value, read, NullRow())
        if isinstance(value, str) and value in _RESTS:
            return _RESTS[value]
        raise wrong(where, value, f"one of {', '.join(_RESTS)}")

    return read


def _read_picks(fields: Fields) -> Picks:
    """Reads all picks of a join."""
    return Picks(
        keep=fields.take("keep", _read_keep, Unlimited()),
        at_most=fields.take("atmost", _read_at_most, Unlimited()),
        limit=fields.take("limit", _read_limit, Unlimited()),
        asof=fields.take("asof", _read_asof, Unlimited()),
        strategy=fields.take("strategy", choice(Strategy), Strategy.DEFAULT),
        left_condition=fields.take("left_condition", expression, ALWAYS),
        skip_when=fields.take("skip_when", expression, NEVER),
    )


def _read_keep(value: object, where: str) -> Keep | Unlimited:
    """Reads how many pairs of a row are kept; 0 is no limit."""
    count = whole(value, where)
    return Keep(count) if count else Unlimited()


def _read_at_most(value: object, where: str) -> AtMost | Unlimited:
    """Reads how many candidates a row may have; 0 is no limit."""
    fields = Fields.of(value, where, ("n", "on", "optional"))
    count = fields.need("n", whole)
    counted = fields.take("on", many(_read_equality), AllHard())
    optional = fields.take("optional", many(_read_optional), ())
    return AtMost(count, counted, optional) if count else Unlimited()


def _read_optional(value: object, where: str) -> OptionalPrefix | OptionalEqual:
    """Reads an optional equality: of the first letters, or of the whole."""
    match value:
        case {"eq": pair, **rest} if not rest:
            return OptionalEqual(_read_equality(pair, f"{where}.eq"))
        case {"prefix": [str(left), str(right), width], **rest} if not rest:
            length = whole(width, f"{where}.prefix")
            return OptionalPrefix(Expression(left), Expression(right), length)
        case _:
            expected = '{"prefix": [left, right, width]} or {"eq": [left, right]}'
            raise wrong(where, value, expected)


def _read_limit(value: object, where: str) -> Limit | Unlimited:
    """Reads what becomes of a row with too many candidates; 0 is no limit."""
    fields = Fields.of(value, where, ("n", "on_exceed", "transform"))
    count = fields.need("n", whole)
    on_exceed = fields.take("on_exceed", choice(OnExceed), OnExceed.FAIL)
    transform = fields.take("transform", _read_named, ())
    return Limit(count, on_exceed, transform) if count else Unlimited()


def _read_asof(value: object, where: str) -> AsOf:
    """Reads how the nearest right row is found."""
    fields = Fields.of(value, where, _ASOF_KEYS)
    return AsOf(
        left=fields.need("left", expression),
        right=fields.need("right", expression),
        direction=fields.take("direction", choice(Direction), Direction.BACKWARD),
        tolerance=fields.take("tolerance", _read_tolerance, Unlimited()),
        exact=fields.take("exact", truth, default=True),
        tie=fields.take("tie", choice(Tie), Tie.LAST),
    )


def _read_tolerance(value: object, where: str) -> Span | Decimal:
    """Reads a distance: a number where the times are numbers, else a length of time."""
    try:
        return number(value, where)
    except SpecError:
        return span(value, where)
