"""One run at a time on a checkpoint, as far as this machine can tell.

    dovetail run    held from before Spark starts until the command ends
    write           held until the last of its queries has ended, as stop() ends it

What is held is a lock of the system on the folder itself: however a process ends, the
system ends its lock. Of a file system that knows no locks, or that is elsewhere, as a
server's of Spark Connect, nobody is refused.
"""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from pathlib import Path
from threading import Thread

from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery

from dovetail.bind.jobs import Job
from dovetail.bind.sinks import is_on_disk, local_path, place_of
from dovetail.errors import SpecError

_PATIENCE, _PAUSE = 5.0, 0.05
"""Seconds: a query that has just been stopped lets go in another thread."""
_OURS: ContextVar[frozenset[Path]] = ContextVar("checkpoints", default=frozenset())
"""What a run around this one holds."""


@contextmanager
def job_alone(job: Job) -> Iterator[None]:
    """Refuses another process of this machine that runs on a job's checkpoint now."""
    place = local_path(job.checkpoint)
    if place is None:
        yield
        return
    with ExitStack() as stack:
        with job.document.at(job.at("checkpoint")):
            _hold(stack, place, job.checkpoint, patience=0)
        before = _OURS.set(_OURS.get() | {place.resolve()})
        stack.callback(_OURS.reset, before)
        yield


def started_alone(
    spark: SparkSession,
    checkpoint: str,
    begin: Callable[[], tuple[StreamingQuery, ...]],
) -> tuple[StreamingQuery, ...]:
    """Returns queries that have begun, of which no other runs on their checkpoint."""
    is_here = getattr(spark, "_jvm", None) and is_on_disk(spark, checkpoint)
    place = local_path(place_of(spark, checkpoint)) if is_here else None
    if place is None or place.resolve() in _OURS.get():
        return begin()
    with ExitStack() as stack:
        _hold(stack, place, checkpoint, patience=_PATIENCE)
        queries = begin()
        held = stack.pop_all()

    def let_go() -> None:
        """Ends the lock behind the last query, however that ends."""
        with held:
            for one in queries:
                with suppress(Exception):
                    one.awaitTermination()

    Thread(target=let_go, daemon=True).start()
    return queries


def _hold(stack: ExitStack, place: Path, checkpoint: str, *, patience: float) -> None:
    """Takes the lock of a checkpoint, or says that another run has it."""
    # What else is wrong with the place is told where it is first written to.
    with suppress(OSError):
        place.mkdir(parents=True, exist_ok=True)
        held = os.open(place, os.O_RDONLY)
        stack.callback(os.close, held)
        until = time.monotonic() + patience
        while True:
            try:
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() >= until:
                    raise SpecError(
                        f'"{checkpoint}", with which another run goes on now',
                        "one run at a time",
                        "stop that one first, or give this one a checkpoint of its own",
                    ) from error
                time.sleep(_PAUSE)
        # While it is held: who was refused must not take another's away.
        stack.callback(_drop_empty, place)


def _drop_empty(folder: Path) -> None:
    """Removes a folder that nobody has used."""
    with suppress(OSError):
        folder.rmdir()
