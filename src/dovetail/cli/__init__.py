"""The command line: each verb of the library as a command."""

import sys

from dovetail.errors import EngineError


def main() -> None:
    """Runs the command that the words of the shell name."""
    try:
        from dovetail.cli.main import app  # noqa: PLC0415 - an install may lack typer
    except ImportError as error:
        sys.exit(f"dovetail: {EngineError.not_installed(error)}")
    app()


__all__ = ["main"]
