"""The command line: each verb of the library as a command."""

import errno
import os
import sys

from dovetail.errors import EngineError


def main() -> None:
    """Runs the command that the words of the shell name."""
    try:
        from dovetail.cli.main import app  # noqa: PLC0415 - an install may lack typer
    except ImportError as error:
        sys.exit(f"dovetail: {EngineError.not_installed(error)}")
    try:
        app()
    except OSError as error:
        if error.errno != errno.ENOSPC:
            raise
        # What is still to be printed would meet the full disk once more, at the end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        sys.exit(f"dovetail: what is printed has no place: {error.strerror}")


__all__ = ["main"]
