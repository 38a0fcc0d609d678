"""The program `dovetail` and its commands."""

from __future__ import annotations

import typer

from dovetail.cli.check import check
from dovetail.cli.explain import explain
from dovetail.cli.picture import draw
from dovetail.cli.run import run
from dovetail.cli.translate import translate

app = typer.Typer(
    help="Every kind of join, on Apache Spark.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    # A traceback is for us; what a user does wrong is told in a sentence.
    pretty_exceptions_enable=False,
)
app.command()(check)
app.command()(explain)
app.command("picture")(draw)
app.command()(run)
app.command()(translate)


@app.callback()
def program() -> None:
    """Every kind of join, on Apache Spark."""


def main() -> None:
    """Runs the command that the words of the shell name."""
    app()
