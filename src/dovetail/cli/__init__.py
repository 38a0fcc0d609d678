"""The command line: a thin door to the verbs of a session."""

from dovetail.cli.main import main

__all__ = ["main"]
