"""A bar while Spark works, for who looks on: where stdout is a terminal.

Work that is done soon shows none: the bar comes after a second.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Thread

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
from rich.progress import TimeElapsedColumn as Elapsed

from dovetail.api.outcomes import Outcome

_PATIENCE, _PAUSE = 1.0, 0.2


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Shows what is waited for."""
    if not _is_watched():
        yield
        return
    with Console(stderr=True).status(what):
        yield


@contextmanager
def watched(outcome: Outcome, name: str) -> Iterator[None]:
    """Shows how far the work on an output is, until it is done."""
    if not _is_watched():
        yield
        return
    over = Event()
    watcher = Thread(target=_follow, args=(outcome, name, over), daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()


def _is_watched() -> bool:
    """Tells whether somebody looks on."""
    return Console().is_terminal


def _follow(outcome: Outcome, name: str, over: Event) -> None:
    """Draws the bar until the work is over."""
    if over.wait(_PATIENCE):
        return
    columns = TextColumn("{task.description}"), BarColumn(), TaskProgressColumn()
    with Progress(
        *columns, Elapsed(), console=Console(stderr=True), transient=True
    ) as bar:
        task = bar.add_task(name, total=None)
        while not over.wait(_PAUSE):
            done, total = outcome.done()
            bar.update(task, completed=done, total=total or None)
