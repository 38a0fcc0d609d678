"""Picks: which of a row's pairs count.

A pick is a name with its numbers, and what other rooms ask of any pick: its word and
its JSON, what it compares, what it means in words. How it chooses stands in
`kernels/candidates`, once more for batches in `engines/spark_batch/picks.py`, and once
as a definition in the oracle.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from enum import Enum
from typing import ClassVar

from dovetail.errors import SpecError
from dovetail.expression import ALWAYS, NEVER, Expression
from dovetail.schema import quoted
from dovetail.spec import fields
from dovetail.spec.fields import unless, write_columns, write_number
from dovetail.spec.spans import Span

_LONGEST_PREFIX = 10_000


def _need_count(name: str, count: int) -> None:
    """Refuses a count below 1: no limit at all is the case Unlimited."""
    if count < 1:
        raise SpecError(f"{name} of {count}", "1 or more", rule="pick_count")


@dataclass(frozen=True, slots=True)
class Equality:
    """An expression of the left row that must equal one of the right row."""

    left: Expression
    right: Expression

    @classmethod
    def of_columns(cls, left: str, right: str) -> Equality:
        """Returns the equality of a left column and a right one."""
        texts = f"l.{quoted(left)}", f"r.{quoted(right)}"
        return cls(*map(Expression, texts))

    @property
    def written(self) -> list[str]:
        """Returns the two texts."""
        return [self.left.text, self.right.text]


class Strategy(Enum):
    """How a set join looks for partners; only `lookup` changes the rows."""

    DEFAULT = "default"
    LOOKUP = "lookup"
    MANY_LOOKUP = "many_lookup"
    ALL = "all"
    SMART = "smart"
    HASH = "hash"
    SORT_MERGE = "sort_merge"
    KEYED = "keyed"

    @property
    def keeps_order(self) -> bool:
        """Tells whether rows of a batch stand in the order of the left ones."""
        goes_through_left = {Strategy.LOOKUP, Strategy.MANY_LOOKUP, Strategy.ALL}
        return self in {*goes_through_left, Strategy.KEYED}


Compared = tuple[Expression, Expression]
"""What a pick looks at of the left row, and of the right one."""


# A new pick answers these by itself, so that no room asks which pick it has.
class Pick:
    """What other rooms ask of any pick; it has no words where nothing is picked."""

    __slots__ = ()
    word: ClassVar[str] = ""

    @property
    def compared(self) -> tuple[Compared, ...]:
        """Returns what it compares beside the hard equalities."""
        return ()

    @property
    def written(self) -> object:
        """Returns what stands behind its word in JSON."""
        return None

    @property
    def ends_behind(self) -> bool:
        """Tells whether left rows far behind a right one can no longer take it."""
        return False

    def counted_among(self, hard: tuple[Equality, ...]) -> tuple[Equality, ...]:
        """Returns the equalities that make a candidate, where a join has these."""
        return hard

    def in_words(self) -> str:
        """Returns which pairs, or which rows, it lets through."""
        return ""


def _crowded(count: int) -> str:
    """Returns which rows are more than enough for a limit, in words."""
    candidates = "candidate" if count == 1 else "candidates"
    return f"a left row with more than {count} {candidates}"


@dataclass(frozen=True, slots=True)
class Unlimited(Pick):
    """No pick of this sort."""


@dataclass(frozen=True, slots=True)
class Keep(Pick):
    """The first `count` pairs of each left row."""

    word = "keep"
    count: int

    def __post_init__(self) -> None:
        """Refuses to keep nothing."""
        _need_count("keep", self.count)

    @property
    def written(self) -> object:
        """Returns the number."""
        return self.count

    def in_words(self) -> str:
        """Returns how many pairs come out."""
        pairs = "pair" if self.count == 1 else f"{self.count} pairs"
        return f"the first {pairs} of each left row"


# An optional equality chooses among too many candidates: the longest shared beginning
# that leaves few enough of them counts, so it may be another one for each left row.
@dataclass(frozen=True, slots=True)
class OptionalPrefix:
    """Optional equality of two texts, character by character up to `width`."""

    left: Expression
    right: Expression
    width: int

    def __post_init__(self) -> None:
        """Refuses a prefix without a letter, and one for which no text is padded."""
        _need_count("a prefix", self.width)
        if self.width > _LONGEST_PREFIX:
            raise SpecError(
                f"a prefix of {self.width}",
                f"at most {_LONGEST_PREFIX:,} letters",
                rule="pick_count",
            )

    @property
    def compared(self) -> Compared:
        """Returns the two texts."""
        return self.left, self.right

    @property
    def written(self) -> dict[str, object]:
        """Returns both texts and how much of them."""
        return {"prefix": [self.left.text, self.right.text, self.width]}


@dataclass(frozen=True, slots=True)
class OptionalEqual:
    """Optional equality as a whole."""

    equality: Equality

    @property
    def compared(self) -> Compared:
        """Returns both sides of it."""
        return self.equality.left, self.equality.right

    @property
    def written(self) -> dict[str, object]:
        """Returns the equality."""
        return {"eq": self.equality.written}


@dataclass(frozen=True, slots=True)
class AllHard:
    """All hard equalities count towards the limit."""


@dataclass(frozen=True, slots=True)
class AtMost(Pick):
    """A left row with more than `count` candidates has no match at all."""

    word = "atmost"
    count: int
    counted: tuple[Equality, ...] | AllHard = AllHard()
    optional: tuple[OptionalPrefix | OptionalEqual, ...] = ()

    def __post_init__(self) -> None:
        """Refuses a limit that nothing passes."""
        _need_count("atmost", self.count)

    def counted_among(self, hard: tuple[Equality, ...]) -> tuple[Equality, ...]:
        """Returns those that are named; the others are asked of candidates later."""
        return hard if isinstance(self.counted, AllHard) else self.counted

    @property
    def compared(self) -> tuple[Compared, ...]:
        """Returns what is counted by name, and what is optional."""
        named = ((one.left, one.right) for one in self.counted_among(()))
        return (*named, *(one.compared for one in self.optional))

    @property
    def written(self) -> object:
        """Returns the number, what counts, and what is optional."""
        found: dict[str, object] = {"n": self.count}
        if not isinstance(self.counted, AllHard):
            found["on"] = [one.written for one in self.counted]
        if self.optional:
            found["optional"] = [one.written for one in self.optional]
        return found

    def in_words(self) -> str:
        """Returns which rows have no match."""
        return f"{_crowded(self.count)} has no match at all"

    @property
    def counts(self) -> bool:
        """Tells whether there is an equality by which candidates are counted."""
        return self.counted != () or self.optional != ()


# A left row over its limit has no pairs, and its candidates count as matched: no row of
# theirs comes out as unmatched either.
class OnExceed(Enum):
    """What becomes of a left row with more candidates than its limit."""

    SKIP = "skip"
    FAIL = "fail"
    TRANSFORM = "transform"


@dataclass(frozen=True, slots=True)
class Limit(Pick):
    """A left row with more than `count` candidates is skipped, replaced, or fatal.

    Output columns that the `transform` does not name are null.
    """

    word = "limit"
    count: int
    on_exceed: OnExceed
    transform: tuple[tuple[str, Expression], ...] = ()

    def __post_init__(self) -> None:
        """Refuses a limit that nothing passes."""
        _need_count("limit", self.count)

    @property
    def written(self) -> object:
        """Returns the number, what becomes of a row, and the row in its place."""
        found: dict[str, object] = {"n": self.count, "on_exceed": self.on_exceed.value}
        if self.transform:
            found["transform"] = write_columns(self.transform)
        return found

    def in_words(self) -> str:
        """Returns what becomes of which rows."""
        return f"{_crowded(self.count)} {_EXCEEDED[self.on_exceed]}"


_EXCEEDED = {
    OnExceed.SKIP: "is left out",
    OnExceed.FAIL: "fails the join",
    OnExceed.TRANSFORM: "gives one row of its own instead",
}


def row_of_key(key: Sequence[str]) -> str:
    """Returns a left row in words, by its key; not every join has one."""
    return f"the left row of the key {', '.join(key)}" if key else "a left row"


class Direction(Enum):
    """On which side of the left row's time the nearest right row is looked for."""

    BACKWARD = "backward"
    FORWARD = "forward"
    NEAREST = "nearest"


class Tie(Enum):
    """Which of several right rows of the same time is taken."""

    LAST = "last"
    FIRST = "first"


_WHERE = {
    Direction.BACKWARD: "nearest before {}",
    Direction.FORWARD: "nearest after {}",
    Direction.NEAREST: "nearest to {} on either side",
}


@dataclass(frozen=True, slots=True)
class AsOf(Pick):
    """Of the right rows that fit, the one whose time is nearest."""

    word = "asof"
    left: Expression
    right: Expression
    direction: Direction = Direction.BACKWARD
    # A length between times, a number between numbers.
    tolerance: Span | Decimal | Unlimited = Unlimited()
    exact: bool = True
    tie: Tie = Tie.LAST

    @property
    def compared(self) -> tuple[Compared, ...]:
        """Returns both times."""
        return ((self.left, self.right),)

    @property
    def ends_behind(self) -> bool:
        """Tells whether left rows far behind a right one can no longer take it."""
        return self.direction is Direction.FORWARD or self.tolerance != Unlimited()

    @property
    def written(self) -> object:
        """Returns both times, and how the nearest is found where it is not as usual."""
        match self.tolerance:
            case Span() as length:
                tolerance: dict[str, object] = {"tolerance": str(length)}
            case Decimal() as distance:
                tolerance = {"tolerance": write_number(distance)}
            case _:
                tolerance = {}
        return {
            "left": self.left.text,
            "right": self.right.text,
            **unless(Direction.BACKWARD.value, direction=self.direction.value),
            **tolerance,
            **unless(default=True, exact=self.exact),
            **unless(Tie.LAST.value, tie=self.tie.value),
        }

    def in_words(self) -> str:
        """Returns which right row is taken."""
        where = _WHERE[self.direction].format(self.left)
        equal = "" if self.exact else ", never at the same time"
        tie = f"of several of that time the {self.tie.value}"
        far = ""
        if self.tolerance != Unlimited():
            most = self.tolerance
            length = most.in_words() if isinstance(most, Span) else str(most)
            far = f", at most {length} away"
        return f"the right row whose {self.right} is {where}{far}{equal}; {tie}"


@dataclass(frozen=True, slots=True)
class Picks:
    """All picks of a join; by default every pair counts."""

    keep: Keep | Unlimited = Unlimited()
    at_most: AtMost | Unlimited = Unlimited()
    limit: Limit | Unlimited = Unlimited()
    asof: AsOf | Unlimited = Unlimited()
    strategy: Strategy = Strategy.DEFAULT
    # Asked of the left row before any candidate: where it fails none is counted.
    left_condition: Expression = ALWAYS
    # A skipped pair is a match that does not come out, and KEEP does not count it.
    skip_when: Expression = NEVER

    @property
    def in_order(self) -> tuple[Pick, ...]:
        """Returns those that count or choose, in the order in which they are made."""
        # Candidates are counted before one is chosen.
        return self.limit, self.at_most, self.asof, self.keep

    @property
    def counts_candidates(self) -> bool:
        """Tells whether a left row may have too many candidates."""
        return self.limit != Unlimited() or self.at_most != Unlimited()

    @property
    def looks_nearest(self) -> bool:
        """Tells whether the nearest right row is looked for."""
        return self.asof != Unlimited()

    @property
    def most_kept(self) -> int:
        """Returns how many pairs of a left row come out, 0 where all do."""
        # The first partner that fits, however many there are: so LOOKUP has it.
        if self.strategy is Strategy.LOOKUP:
            return 1
        return self.keep.count if isinstance(self.keep, Keep) else 0

    @property
    def fails(self) -> bool:
        """Tells whether a left row over its limit fails the join."""
        limit = self.limit
        return isinstance(limit, Limit) and limit.on_exceed is OnExceed.FAIL

    @property
    def skipping(self) -> Picks:
        """Returns the same, but that a row over its limit is left out."""
        if not isinstance(self.limit, Limit) or not self.fails:
            return self
        return replace(self, limit=replace(self.limit, on_exceed=OnExceed.SKIP))

    @property
    def transforms(self) -> bool:
        """Tells whether a left row over its limit gives a row of its own."""
        limit = self.limit
        return isinstance(limit, Limit) and limit.on_exceed is OnExceed.TRANSFORM

    @property
    def stand_in(self) -> tuple[tuple[str, Expression], ...]:
        """Returns the columns of the row that stands for a left row over its limit."""
        return self.limit.transform if isinstance(self.limit, Limit) else ()

    def standing_in_with(self, more: tuple[tuple[str, Expression], ...]) -> Picks:
        """Returns the same, where the row that stands in has more columns, if any."""
        return self.standing_in((*self.stand_in, *more))

    def standing_in(self, columns: tuple[tuple[str, Expression], ...]) -> Picks:
        """Returns the same, where the row that stands in, if any, has these columns."""
        if not isinstance(self.limit, Limit) or not self.stand_in:
            return self
        return replace(self, limit=replace(self.limit, transform=columns))

    @property
    def optional(self) -> tuple[OptionalPrefix | OptionalEqual, ...]:
        """Returns the optional equalities of `atmost`."""
        return self.at_most.optional if isinstance(self.at_most, AtMost) else ()


PICK_KEYS = (
    *(Keep.word, AtMost.word, Limit.word, AsOf.word),
    *("strategy", "left_condition", "skip_when"),
)
"""The keys of a join in JSON that are read here."""


def write_picks(picks: Picks) -> dict[str, object]:
    """Returns the keys of the picks that are made."""
    found = (picks.keep, picks.at_most, picks.limit, picks.asof)
    return {
        **{one.word: one.written for one in found if one != Unlimited()},
        **unless(Strategy.DEFAULT.value, strategy=picks.strategy.value),
        **unless(ALWAYS, left_condition=picks.left_condition),
        **unless(NEVER, skip_when=picks.skip_when),
    }


def read_picks(keys: fields.Fields) -> Picks:
    """Reads all picks of a join, among its other keys."""
    return Picks(
        keep=keys.take(Keep.word, fields.made(_keep, fields.whole), Unlimited()),
        at_most=keys.take(AtMost.word, _at_most, Unlimited()),
        limit=keys.take(Limit.word, _limit, Unlimited()),
        asof=keys.take(AsOf.word, _asof, Unlimited()),
        strategy=keys.take("strategy", fields.choice(Strategy), Strategy.DEFAULT),
        left_condition=keys.take("left_condition", fields.expression, ALWAYS),
        skip_when=keys.take("skip_when", fields.expression, NEVER),
    )


def equality(value: object, where: str) -> Equality:
    """Reads a pair of expressions that must be equal."""
    match value:
        case [str(left), str(right)]:
            return Equality(Expression(left), Expression(right))
        case _:
            raise fields.wrong(where, value, "[left expression, right expression]")


# Of every count of candidates, or of pairs, 0 is no limit: so ECL has it.
def _keep(count: int) -> Keep | Unlimited:
    """Returns how many pairs of a row are kept."""
    return Keep(count) if count else Unlimited()


def _at_most(value: object, where: str) -> AtMost | Unlimited:
    """Reads how many candidates a row may have."""
    keys = fields.Fields.of(value, where, ("n", "on", "optional"))
    count = keys.need("n", fields.whole)
    counted = keys.take("on", fields.many(equality), AllHard())
    optional = keys.take("optional", fields.many(_optional), ())
    return AtMost(count, counted, optional) if count else Unlimited()


def _optional(value: object, where: str) -> OptionalPrefix | OptionalEqual:
    """Reads an optional equality: of the first letters, or of the whole."""
    match value:
        case {"eq": pair, **rest} if not rest:
            return OptionalEqual(equality(pair, f"{where}.eq"))
        case {"prefix": [str(left), str(right), width], **rest} if not rest:
            length = fields.whole(width, f"{where}.prefix")
            return OptionalPrefix(Expression(left), Expression(right), length)
        case _:
            expected = '{"prefix": [left, right, width]} or {"eq": [left, right]}'
            raise fields.wrong(where, value, expected)


def _limit(value: object, where: str) -> Limit | Unlimited:
    """Reads what becomes of a row with too many candidates."""
    keys = fields.Fields.of(value, where, ("n", "on_exceed", "transform"))
    count = keys.need("n", fields.whole)
    on_exceed = keys.take("on_exceed", fields.choice(OnExceed), OnExceed.FAIL)
    transform = keys.take("transform", fields.columns, ())
    return Limit(count, on_exceed, transform) if count else Unlimited()


def _asof(value: object, where: str) -> AsOf:
    """Reads how the nearest right row is found."""
    known = ("left", "right", "direction", "tolerance", "exact", "tie")
    keys = fields.Fields.of(value, where, known)

    def distance(value: object, where: str) -> Span | Decimal:
        # A number between numbers, a length of time between times. A number may stand
        # as a text too, so the text alone does not tell.
        try:
            return fields.number(value, where)
        except SpecError:
            return fields.span(value, where)

    return AsOf(
        left=keys.need("left", fields.expression),
        right=keys.need("right", fields.expression),
        direction=keys.take("direction", fields.choice(Direction), Direction.BACKWARD),
        tolerance=keys.take("tolerance", distance, Unlimited()),
        exact=keys.take("exact", fields.truth, default=True),
        tie=keys.take("tie", fields.choice(Tie), Tie.LAST),
    )
