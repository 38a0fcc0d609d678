"""Null rows that come early, or by stretches, equal the definition.

The plays are those by chance, with each switch for null rows in turn: drawn alone
they would be few. A failing seed is played again with `early_play(seed)` or
`split_play(seed)`.
"""

from dataclasses import replace
from datetime import timedelta
from random import Random

import pytest

from dovetail.errors import SpecError, UnsupportedError
from dovetail.spec.inputs import Arrive, Clock, OuterRows
from dovetail.spec.join import Kind
from dovetail.spec.picks import Strategy, Unlimited
from dovetail.spec.rules import checked
from dovetail.spec.windows import HopSize, Range
from tests.chance.dice import Dice
from tests.chance.picks import asof, at_most, limit
from tests.chance.plays import random_play
from tests.chance.windows import span
from tests.conformance.local.agreement import (
    MOVING,
    accepted,
    chunks,
    is_defined,
    is_uncut,
    of_kernels,
    seeds_of,
)

pytestmark = pytest.mark.usefixtures("unmeasured")

CHUNK = 60
CHUNKS = chunks(1, 40)
EARLY = [OuterRows.EAGER, OuterRows.EAGER_RETRACT]
OUTER = [Kind.LEFT_OUTER, Kind.LEFT_ONLY, Kind.RIGHT_OUTER, Kind.FULL_OUTER]
PRESERVING = [
    *[Kind.LEFT_OUTER, Kind.RIGHT_OUTER, Kind.FULL_OUTER],
    *[Kind.LEFT_ONLY, Kind.RIGHT_ONLY, Kind.FULL_ONLY],
]
# Within a millisecond, across its end, and whole ones.
CRUMBS = [timedelta(microseconds=some) for some in (0, 0, 1, 500, 999, 1000, 2500)]


def switched(play, outer_rows):
    return replace(play, settings=replace(play.settings, outer_rows=outer_rows))


def or_plain(play, other):
    """A play, or another one where it cannot be."""
    try:
        accepted(checked(play))
    except (SpecError, UnsupportedError):
        return other
    return play


def early_play(seed):
    """The play of a seed with null rows that come early; as it is where it cannot."""
    play = random_play(seed, accepted, Clock.EVENT)
    return or_plain(switched(play, EARLY[seed % len(EARLY)]), play)


def held_play(seed):
    """The play of a seed with early null rows beside picks that hold pairs."""
    clock = MOVING[seed % len(MOVING)]
    play = random_play(seed, accepted, clock)
    dice = Dice(Random(f"held {seed}"))
    join = replace(play.join, kind=dice.pick(OUTER), ports=1)
    for _ in range(5):
        held = held_picks(dice, join)
        try:
            picks = replace(join.picks, strategy=Strategy.DEFAULT, **held)
            drawn = replace(crowded(dice, play), join=replace(join, picks=picks))
        except SpecError:
            continue
        drawn = or_plain(switched(drawn, dice.pick(EARLY)), play)
        if drawn is not play:
            return drawn
    return play


def held_picks(dice, join):
    """What holds pairs: a count of candidates, the nearest, or both."""
    counts = dice.pick(["at_most", "limit", "limit", "nothing"])
    picked = dict.fromkeys(("at_most", "limit", "asof"), Unlimited())
    if counts == "at_most":
        picked |= {"at_most": at_most(dice, join.hard)}
    if counts == "limit":
        picked |= {"limit": replace(limit(dice), count=dice.pick([1, 1, 2]))}
    if counts == "nothing" or dice.one_of(3):
        picked |= {"asof": asof(dice)}
    return picked


def crowded(dice, play):
    """The play with fewer keys in each input, so that more rows meet."""
    keys = {one.input: one.row["k"] for one in play.events if isinstance(one, Arrive)}
    many = {name for name in keys if dice.one_of(2)}
    return replace(
        play,
        events=tuple(
            replace(one, row=one.row | {"k": keys[one.input]})
            if isinstance(one, Arrive) and one.input in many and dice.one_of(2)
            else one
            for one in play.events
        ),
    )


def split_play(seed):
    """The play of a seed with null rows by stretches; preserved sides are ranges."""
    play = random_play(seed, accepted, Clock.EVENT)
    dice = Dice(Random(f"split {seed}"))
    kind = dice.pick(PRESERVING)
    left, right = (
        replace(side, window=span(dice))
        if dice.one_of(2) or not isinstance(side.window, Range | HopSize)
        else side
        for side in (play.join.left, play.join.right)
    )
    for sides in ((play.join.left, right), (left, play.join.right), (left, right)):
        join = replace(play.join, left=sides[0], right=sides[1], kind=kind, ports=1)
        split = switched(replace(play, join=join), OuterRows.PER_MILLISECOND)
        split = or_plain(replace(split, events=crumbled(dice, play.events)), play)
        if split is not play:
            return split
    return play


def crumbled(dice, events):
    """The events with times of all lengths."""
    return tuple(
        replace(one, row=crumb(dice, one.row)) if isinstance(one, Arrive) else one
        for one in events
    )


def crumb(dice, row):
    """A row a little later."""
    return row | {"t": row["t"] and row["t"] + dice.pick(CRUMBS)}


def check(play, seed, *outer_rows):
    """Whether all agree on a play with such null rows, however it is cut."""
    if play.settings.outer_rows not in outer_rows:
        return
    found = of_kernels(play)
    assert is_defined(play, found), seed
    assert is_uncut(play, found, seed), seed


@pytest.mark.parametrize("chunk", CHUNKS)
def test_early_null_rows_equal_the_definition(chunk):
    for seed in seeds_of(chunk, CHUNK):
        check(early_play(seed), seed, *EARLY)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_null_rows_of_stretches_equal_the_definition(chunk):
    for seed in seeds_of(chunk, CHUNK):
        check(split_play(seed), seed, OuterRows.PER_MILLISECOND)


@pytest.mark.parametrize("chunk", CHUNKS)
def test_early_null_rows_beside_held_pairs_equal_the_definition(chunk):
    for seed in seeds_of(chunk, CHUNK):
        check(held_play(seed), seed, *EARLY)
