"""Random joins in a row, of which time lets rows out: a play for each seed.

Two levels of joins or three, with a join on either side or on both. Most windows are
so many seconds long, most joins preserve a side; the clock goes on with rows, and at
times without any.
"""

from contextlib import suppress
from random import Random

from dovetail.errors import SpecError
from dovetail.expression import Expression
from dovetail.schema import Schema
from dovetail.spec.inputs import Arrive, Clock, Finish, Input, InputKind, Pause
from dovetail.spec.join import Columns, JoinSpec, Kind, Named, Nested, Play, Side
from dovetail.spec.picks import AtMost, Equality, Keep, Picks
from dovetail.spec.rules import checked
from dovetail.spec.spans import SECOND, Span
from dovetail.spec.windows import EvictCount, Forever, KeepPartitions, Rows, Seconds

OUTER = [Kind.LEFT_OUTER, Kind.FULL_OUTER, Kind.RIGHT_OUTER]
OTHERS = [Kind.INNER, Kind.LEFT_ONLY, Kind.LEFT_SEMI, Kind.FULL_ONLY, Kind.RIGHT_SEMI]
COLUMNS = {"k": "int", "n": "int", "g": "int"}
BOTH = {"k": "coalesce(l.k, r.k)", "n": "coalesce(l.n, 0) * 50 + coalesce(r.n, 0)"}
SOFTS = ["true", "true", "true", "l.n < r.n", "l.g <> r.g"]
PICKS = [Picks(keep=Keep(1)), Picks(at_most=AtMost(1)), Picks(at_most=AtMost(2))]


def random_timed_play(seed):
    """The play of a seed, in order of arrival."""
    for number in range(1000):
        with suppress(SpecError):
            return checked(_Maker(Random(f"timed {seed}.{number}")).play())
    raise AssertionError


class _Maker:
    """Makes one play, input by input."""

    def __init__(self, chance):
        self.chance = chance
        self.names = []

    def play(self):
        """A play that may not be sound."""
        join = self.join(self.chance.choice([1, 1, 1, 2]))
        schema = Schema.of(COLUMNS)
        inputs = {one: Input(one, InputKind.STREAM, schema) for one in self.names}
        return Play(join, inputs, tuple(self.events()))

    def events(self):
        """What comes, one event after the other, and how the clock goes on."""
        clock, number = 0, 0
        while number < 6 * len(self.names):
            clock += self.chance.choice([0, 0, SECOND // 2, SECOND, 3 * SECOND])
            what = self.chance.random()
            if what < 0.1:
                yield Pause(clock)
            else:
                number += 1
                key = self.chance.choice([None, 1, 1, 2])
                row = {"k": key, "n": number, "g": self.chance.randrange(2)}
                yield Arrive(self.chance.choice(self.names), row, clock)
        if self.chance.random() < 0.3:
            yield Finish(self.chance.choice(self.names), clock)
        yield Pause(clock + self.chance.choice([0, 2, 20]) * SECOND)

    def join(self, levels):
        """A join that has so many levels of others inside."""
        where = self.chance.choice(["left", "left", "right", "both"])
        inside = [where in (hand, "both") and levels > 0 for hand in ("left", "right")]
        left, right = (self.side(levels if one else 0) for one in inside)
        kind = self.chance.choice([*3 * OUTER, *OTHERS])
        columns = {**BOTH, "g": "coalesce(l.g, r.g)"}
        if kind in (Kind.LEFT_SEMI, Kind.RIGHT_SEMI):
            columns = {name: f"{kind.value[0]}.{name}" for name in COLUMNS}
        picks = Picks() if self.chance.random() < 0.8 else self.chance.choice(PICKS)
        shown = tuple((name, Expression(text)) for name, text in columns.items())
        return JoinSpec(
            left,
            right,
            kind,
            Clock.ARRIVAL,
            (Equality(Expression("l.k"), Expression("r.k")),),
            Expression(self.chance.choice(SOFTS)),
            Columns(shown),
            picks=picks,
        )

    def side(self, levels):
        """A side that is a stream, or a join of so many levels."""
        if levels:
            source = Nested(self.join(levels - 1), f"rows {len(self.names)}")
        else:
            self.names.append(f"s{len(self.names)}")
            source = Named(self.names[-1])
        seconds = Seconds(Span(0, self.chance.randrange(1, 9) * SECOND // 2))
        window = self.chance.choice([*4 * [seconds], Rows(2), Forever()])
        by, evict = (), KeepPartitions()
        if self.chance.random() < 0.25:
            by = (Expression(self.chance.choice(["k", "g"])),)
            evict = self.chance.choice([KeepPartitions(), EvictCount(1)])
        return Side(source, window, by, evict)
