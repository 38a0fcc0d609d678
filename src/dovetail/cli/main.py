"""The program `dovetail` and its commands."""

from __future__ import annotations

from typing import Annotated

import typer

from dovetail import __version__
from dovetail.cli.check import check
from dovetail.cli.explain import explain
from dovetail.cli.new import new
from dovetail.cli.picture import draw
from dovetail.cli.programs import run, translate
from dovetail.cli.state import state

app = typer.Typer(
    help="Every kind of join, on Apache Spark.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
    # A traceback is for us; what a user does wrong is told in a sentence.
    pretty_exceptions_enable=False,
)
app.command()(check)
app.command()(explain)
# The function is called otherwise: `picture` is what it draws with.
app.command("picture")(draw)
app.command()(new)
app.command()(run)
app.command()(state)
app.command()(translate)


def _tell_version(is_asked: bool) -> None:  # noqa: FBT001 - as typer calls it
    """Prints the version and ends, where it is asked for."""
    if is_asked:
        typer.echo(f"dovetail {__version__}")
        raise typer.Exit


Version = Annotated[
    bool,
    typer.Option(
        "--version", help="Print the version.", callback=_tell_version, is_eager=True
    ),
]


@app.callback()
def program(*, version: Version = False) -> None:
    """Every kind of join, on Apache Spark."""
