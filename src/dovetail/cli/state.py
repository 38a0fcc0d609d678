"""`dovetail state`: what the joins of a query keep, read from its checkpoint."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from dovetail.cli.terminal import Master, reported, waiting

Folder = Annotated[
    str,
    typer.Argument(
        help="The folder that joined.write(checkpoint=..) was given, or a URL of it.",
        metavar="CHECKPOINT",
        show_default=False,
    ),
]
Key = Annotated[
    list[str] | None,
    typer.Option(
        metavar="VALUE",
        help="Show the rows of a key too. Where a join compares several values, once "
        "for each, in their order.",
        show_default=False,
    ),
]
Buckets = Annotated[bool, typer.Option("--buckets", help="Each bucket by itself too.")]
Json = Annotated[
    bool, typer.Option("--json", help="One JSON object, all buckets in it.")
]


def state(
    checkpoint: Folder,
    *,
    key: Key = None,
    buckets: Buckets = False,
    as_json: Json = False,
    master: Master = "",
) -> None:
    """Say what the joins of a query keep, from its checkpoint; nothing is changed.

    For each join and side the rows that are alive, those of them that have met
    somebody and those that wait, bytes, row times and the bound; the buckets and
    how much the largest has more than the mean; the keys of most rows. The query
    may be running: shown is its last batch that is through. The exit status is 1
    where the folder is none, or cannot be read, 2 where the key is none.

    [bold]Try[/]

    dovetail state out/checkpoint

    dovetail state out/checkpoint --key 4711 --json
    """
    with reported("state"):
        from dovetail.api.state import state as state_of  # noqa: PLC0415 - Spark
        from dovetail.engines.spark_session import program_session  # noqa: PLC0415

        # What is wrong with the options has been told: only now Spark is waited for.
        with waiting("starting Spark"):
            spark = program_session(master)
        with waiting("reading the state"):
            found = state_of(checkpoint, key or (), spark)
        typer.echo(
            json.dumps(found.as_dict(), ensure_ascii=False)
            if as_json
            else found.told(buckets=buckets)
        )
