"""The engines by name: what each makes of plays, all asked in one way.

An engine takes all plays at once, because starting is dear and plays of one shape may
share a query, and gives one outcome for each as it comes: its rows, or the error that
ended it. Spark is imported only when one of its engines is asked for.

A stream gets the events of a play in micro-batches; no cut may change a row:

    each        0 | 1 | 2 | 3 | 4
    whole       0   1   2   3   4
    random:7    0   1 | 2   3 | 4
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from dovetail import spec
from dovetail.conformance import oracle
from dovetail.conformance.lines import Sight
from dovetail.errors import DovetailError, EngineError, SpecError

Outcome = Sequence[spec.Emission] | DovetailError
NamedOutcome = tuple[str, Outcome]


class EngineName(Enum):
    """Everything that can carry out a join."""

    ORACLE = "oracle"
    LOCAL = "local"
    BATCH = "batch"
    STREAM = "stream"

    def sight(self, split: Split) -> Sight:
        """Returns what the engine knows of a row beside its outlet."""
        match self:
            case EngineName.ORACLE | EngineName.LOCAL:
                return Sight.EVENTS
            case EngineName.STREAM if isinstance(split, Each):
                return Sight.EVENTS
            case EngineName.STREAM | EngineName.BATCH:
                return Sight.OUTLETS
            case _ as unknown:
                assert_never(unknown)


@dataclass(frozen=True, slots=True)
class NamedPlay:
    """A play under the name of its case, which decides where chance cuts it.

    `in_order`: the case looks at the order of rows.
    """

    name: str
    play: spec.Play
    in_order: bool = False


def outcomes(
    engine: EngineName, plays: Sequence[NamedPlay], split: Split
) -> Iterator[NamedOutcome]:
    """Gives what an engine makes of each play, by its name, in any order."""
    match engine:
        case EngineName.ORACLE:
            return _one_by_one(oracle.play, plays)
        case EngineName.LOCAL:
            from dovetail.conformance import local  # noqa: PLC0415 - Arrow is slow

            return _one_by_one(local.play, plays)
        case EngineName.BATCH:
            from dovetail.conformance import spark_batch  # noqa: PLC0415 - needs Spark
            from dovetail.engines.spark_session import local_session  # noqa: PLC0415

            spark = local_session()
            return _one_by_one(lambda play: spark_batch.play(spark, play), plays)
        case EngineName.STREAM:
            return _guarded(_stream(plays, split), [one.name for one in plays])
        case _ as unknown:
            assert_never(unknown)


def played(
    engine: EngineName, named: NamedPlay, split: Split
) -> Sequence[spec.Emission]:
    """Returns what an engine makes of one play, or raises its error."""
    ((_, outcome),) = outcomes(engine, [named], split)
    if isinstance(outcome, DovetailError):
        raise outcome
    return outcome


def _one_by_one(
    play_one: Callable[[spec.Play], list[spec.Emission]], plays: Iterable[NamedPlay]
) -> Iterator[NamedOutcome]:
    """Gives the rows of each play, or its error."""
    for named in plays:
        try:
            yield named.name, play_one(named.play)
        except DovetailError as error:
            yield named.name, error
        except Exception as error:  # noqa: BLE001 - one case must not hide the others
            yield named.name, _broken(error)


def _guarded(
    found: Iterator[NamedOutcome], names: Sequence[str]
) -> Iterator[NamedOutcome]:
    """Gives the outcomes; where the engine breaks, its error for all the rest."""
    missing = dict.fromkeys(names)
    error = EngineError("the engine has lost the case")
    try:
        for name, outcome in found:
            # Each once: a second outcome of a case is as wrong as none.
            del missing[name]
            yield name, outcome
    except Exception as cause:  # noqa: BLE001 - one query must not hide the others
        error = _broken(cause)
    for name in missing:
        yield name, error


def _broken(error: Exception) -> EngineError:
    """Returns an error that is none of ours as one: the engine is at fault."""
    text = str(error).partition("\n")[0]
    broken = EngineError(f"the engine broke: {type(error).__name__}: {text}")
    # Kept beside its own words, for whoever looks for the fault.
    broken.__cause__ = error
    return broken


def _stream(plays: Sequence[NamedPlay], split: Split) -> Iterator[NamedOutcome]:
    """Gives what structured streams make of the plays, cut into micro-batches."""
    from dovetail.conformance.spark_stream import cases, script  # noqa: PLC0415
    from dovetail.engines.spark_session import local_session  # noqa: PLC0415

    cut = [
        script.StreamPlay(
            one.name,
            one.play,
            batch_ends(split, len(one.play.events), one.name),
            stepwise=isinstance(split, Each),
            in_order=one.in_order,
        )
        for one in plays
    ]
    return cases.play_all(local_session, cut)


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
            # An empty batch: what is there from the start comes out without an event
            # too.
            return tuple(range(1, events + 1)) or (0,)
        case Whole():
            return (events,)
        case Random(seed):
            # A text seeds alike on every machine, a hash of it would not.
            chance = random.Random(f"{seed}/{name}")  # noqa: S311 # no secret
            # Between events alone: a cut at either end would be an empty batch.
            cuts = min(chance.randrange(MOST_BATCHES), max(events - 1, 0))
            return (*sorted(chance.sample(range(1, events), cuts)), events)
        case _ as unknown:
            assert_never(unknown)
