"""How a command ends that cannot go on: with a sentence, and a status of its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import typer
from rich.console import Console

from dovetail.errors import DovetailError, EngineError

FAILED, BROKEN = 1, 2


@contextmanager
def told(command: str, *, failed: int = FAILED) -> Iterator[None]:
    """Tells an error in a sentence and ends: `failed` where a run failed, else 2."""
    try:
        yield
    except ImportError as error:
        raise _ended(command, EngineError.not_installed(error), BROKEN) from error
    except DovetailError as error:
        code = failed if isinstance(error, EngineError) else BROKEN
        raise _ended(command, error, code) from error


def _ended(command: str, error: DovetailError, code: int) -> typer.Exit:
    """Returns the end of the command, once the error is told."""
    errors = Console(stderr=True, soft_wrap=True, highlight=False)
    errors.print(f"dovetail {command}: {error}", style="red", markup=False)
    return typer.Exit(code)
