"""How the events of a play are cut into micro-batches; no cut may change a row.

each        0 | 1 | 2 | 3 | 4
whole       0   1   2   3   4
random:7    0   1 | 2   3 | 4
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import assert_never

from dovetail.errors import SpecError

MOST_BATCHES = 5
DEFAULT = "random:1"


@dataclass(frozen=True, slots=True)
class Each:
    """One event a batch."""


@dataclass(frozen=True, slots=True)
class Whole:
    """All events in one batch."""


@dataclass(frozen=True, slots=True)
class Random:
    """At most five batches, cut by chance; the same for one seed and one name."""

    seed: int


Split = Each | Whole | Random


def parse_split(text: str) -> Split:
    """Returns the split that `each`, `whole` or `random:SEED` names."""
    word, _, seed = text.partition(":")
    match word:
        case "each" if not seed:
            return Each()
        case "whole" if not seed:
            return Whole()
        case "random" if seed.isdecimal():
            return Random(int(seed))
        case _:
            raise SpecError(
                f'no split "{text}"', "each, whole or random:SEED", rule="split"
            )


def batch_ends(split: Split, events: int, name: str) -> tuple[int, ...]:
    """Returns how many events have been played at the end of each batch.

    The last is always `events`; a play without events has one empty batch.
    """
    match split:
        case Each():
            return tuple(range(1, events + 1)) or (0,)
        case Whole():
            return (events,)
        case Random(seed):
            # A text seeds alike on every machine, a hash of it would not.
            chance = random.Random(f"{seed}/{name}")  # noqa: S311 # no secret
            cuts = min(chance.randrange(MOST_BATCHES), max(events - 1, 0))
            return (*sorted(chance.sample(range(1, events), cuts)), events)
        case _ as unknown:
            assert_never(unknown)
