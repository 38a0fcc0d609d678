"""Random plays of the whole spec: one generator, whatever an engine can do by now.

`random_play(seed)` is the same play for one seed; `plays()` is the same generator
driven by Hypothesis. Every feature is drawn in one place, without regard to what it may
stand beside: what breaks a rule, or what an engine does not do yet, is drawn again.
`crowded_play(seed, ..)` has a pick or a switch by name, and at least two beside it.
"""

from dataclasses import fields
from functools import partial
from itertools import takewhile
from random import Random

from hypothesis import strategies as st

from dovetail.conformance.oracle import clocks
from dovetail.errors import EngineError, SpecError, UnsupportedError
from dovetail.expression import Expression
from dovetail.spec.inputs import (
    Arrive,
    Clock,
    EmitLateTableRows,
    IgnoreLateTableRows,
    Order,
    OuterRows,
    Settings,
    Unending,
)
from dovetail.spec.join import JoinSpec, Kind, Play
from dovetail.spec.picks import Equality, Picks
from dovetail.spec.rules import checked
from tests.chance.dice import Dice
from tests.chance.events import events
from tests.chance.inputs import inputs
from tests.chance.output import absent, ports, select
from tests.chance.picks import picks
from tests.chance.rows import Rows
from tests.chance.windows import seconds_of, sides

HARDS = [["k"], ["k"], ["g"], ["k", "g"], []]
SOFTS = [*["true"] * 3, "l.n < r.n", "l.g <> r.g", "l.g + r.g > 1 or l.n > 9"]
WAITS = [Unending(), *map(seconds_of, (1, 3, 9))]
RARE = [one.name for part in (Picks, Settings) for one in fields(part)]
"""What most plays are without."""


def random_play(seed, accepts=clocks.playable, clock=None):
    """Returns the play of a seed that an engine can play."""
    return play_of(Dice(Random(f"chance {seed}")), accepts, clock)


def crowded_play(seed, accepts, clock, name):
    """Returns the play of a seed in which much is rare, and what is named is there."""
    dice = Dice(Random(f"crowded {name} {seed}"), bold=True)
    return play_of(dice, partial(accept_crowded, accepts, name), clock)


def accept_crowded(accepts, name, play):
    """Raises where a feature is not in a play, or fewer than two are beside it."""
    parts = (play.join.picks, Picks()), (play.settings, Settings())
    given = [
        one.name
        for part, usual in parts
        for one in fields(part)
        if getattr(part, one.name) != getattr(usual, one.name)
    ]
    if name not in given or len(given) < 3:
        raise UnsupportedError.not_yet("a crowded play", f"a play without {name}")
    accepts(play)


def plays(accepts=clocks.playable, clock=None):
    """Plays as Hypothesis draws them."""
    randoms = st.randoms(use_true_random=False)
    return randoms.map(lambda chance: play_of(Dice(chance), accepts, clock))


def play_of(dice, accepts, clock):
    """Returns the first play by chance that is sound, and that an engine accepts."""
    clock = clock or dice.pick(list(Clock))
    return first_of(partial(drawn, dice, clock), accepts)


def first_of(draw, accepts):
    """Returns the first play that is drawn sound, and that an engine accepts."""
    while True:
        try:
            play = checked(draw())
            accepts(play)
        except (SpecError, UnsupportedError, EngineError):
            # A batch inside is played before all, and may be over its limit.
            continue
        return play


def drawn(dice, clock):
    """A play, sound or not."""
    rows = Rows(dice)
    sources, names = inputs(dice, clock, rows)
    join = join_of(dice, clock, [sources[name] for name in names])
    return of_join(dice, join, sources, rows)


def of_join(dice, join, sources, rows):
    """A play of a join: what happens, and the switches."""
    happened = events(dice, join.clock, list(sources.values()), rows)
    opening = dice.rarely(4, (), lambda: first_rows(happened, dice.number(0, 2)))
    rest = happened[len(opening) :]
    return Play(join, sources, rest, opening, settings(dice))


def first_rows(happened, most):
    """The rows before anything else, as those that a case gives with its streams."""
    return tuple(takewhile(lambda one: isinstance(one, Arrive), happened[:most]))


def join_of(dice, clock, sources):
    """A join of two inputs; only some of its parts look at the kind."""
    kind = dice.pick(list(Kind))
    is_cross = kind is Kind.CROSS
    names = [] if is_cross else dice.pick(HARDS)
    hard = tuple(
        Equality(Expression(f"l.{name}"), Expression(f"r.{name}")) for name in names
    )
    left, right = sides(dice, clock, sources)
    return JoinSpec(
        *(left, right, kind, clock, hard),
        Expression("true" if is_cross else dice.pick(SOFTS)),
        select(dice, kind, left.window),
        ports(dice, kind),
        absent(dice),
        absent(dice),
        picks(dice, kind, hard),
    )


def settings(dice):
    """The switches, most often as they are."""
    return Settings(
        dice.rarely(8, OuterRows.EXPIRY, lambda: dice.pick(list(OuterRows))),
        dice.rarely(
            4, IgnoreLateTableRows(), lambda: EmitLateTableRows(dice.pick(WAITS))
        ),
        dice.rarely(4, Order.AS_FOUND, lambda: Order.ROW_TIME),
        # Only there: another draw would make other plays of all known seeds.
        late_null_rows=dice.bold and dice.one_of(3),
    )
