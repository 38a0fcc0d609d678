"""The engines by name: what each makes of plays, all through one door.

An engine takes all plays at once, because starting is dear and plays of one shape may
share a query, and gives one outcome for each, in their order: its rows, or the error
that ended it. Spark is imported only when one of its engines is asked for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import assert_never

from dovetail import oracle
from dovetail.errors import DovetailError, EngineError, UnsupportedError
from dovetail.session.lines import Sight
from dovetail.session.split import Each, Split, batch_ends
from dovetail.spec.inputs import Emission
from dovetail.spec.play import Play

Outcome = Sequence[Emission] | DovetailError


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
    """A play under the name of its case, which decides where chance cuts it."""

    name: str
    play: Play


def outcomes(
    engine: EngineName, plays: Sequence[NamedPlay], split: Split
) -> Iterator[Outcome]:
    """Gives what an engine makes of each play, in order."""
    match engine:
        case EngineName.ORACLE:
            return _one_by_one(oracle.play, plays)
        case EngineName.BATCH:
            return _batch(plays)
        case EngineName.LOCAL | EngineName.STREAM:
            return _guarded(_not_yet(engine, plays, split), len(plays))
        case _ as unknown:
            assert_never(unknown)


def _one_by_one(
    play_one: Callable[[Play], list[Emission]], plays: Iterable[NamedPlay]
) -> Iterator[Outcome]:
    """Gives the rows of each play, or its error."""
    for named in plays:
        try:
            yield play_one(named.play)
        except DovetailError as error:
            yield error
        except Exception as error:  # noqa: BLE001 - one case must not hide the others
            yield _broken(error)


def _guarded(found: Iterator[Outcome], count: int) -> Iterator[Outcome]:
    """Gives so many outcomes: where the engine breaks, its error for all the rest."""
    given = 0
    try:
        for outcome in found:
            yield outcome
            given += 1
    except Exception as error:  # noqa: BLE001 - one query must not hide the others
        yield from [_broken(error)] * (count - given)


def _broken(error: Exception) -> EngineError:
    """Returns an error that is none of ours as one: the engine is at fault."""
    text = str(error).partition("\n")[0]
    broken = EngineError(f"the engine broke: {type(error).__name__}: {text}")
    broken.__cause__ = error
    return broken


def _batch(plays: Sequence[NamedPlay]) -> Iterator[Outcome]:
    """Gives what a batch of DataFrames makes of each play."""
    from dovetail.run.spark_batch import cases  # noqa: PLC0415 - needs Spark
    from dovetail.run.spark_session import local_session  # noqa: PLC0415

    spark = local_session()
    return _one_by_one(lambda play: cases.play(spark, play), plays)


def _not_yet(
    engine: EngineName, plays: Sequence[NamedPlay], split: Split
) -> Iterator[Outcome]:
    """Gives the refusal of an engine that is still being built."""
    for named in plays:
        ends = batch_ends(split, len(named.play.events), named.name)
        cuts = f", in {len(ends)} batches" if engine is EngineName.STREAM else ""
        yield UnsupportedError.not_yet(engine.value, f"playing{cuts}")
