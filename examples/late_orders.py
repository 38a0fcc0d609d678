"""A join of two streams at work: orders wait for their payments.

An order waits thirty minutes for its payment; a payment may be five minutes ahead of
its order. A payment that is reported more than ten minutes behind the newest is late.

    scripts/demo --story       sets up first
    scripts/demo --pause 2     rests between batches, so that one can look on
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.live import Live
from rich.table import Table

import dovetail as dt


def join(orders: DataFrame, payments: DataFrame) -> dt.Joined:
    """Returns the join: a job of your own needs this and `write`, no more."""
    waiting = dt.stream(orders, time="placed").window(dt.range(preceding="30 minutes"))
    paying = dt.stream(payments, time="paid", lateness="10 minutes")
    return waiting.join(
        paying.window(dt.range(preceding="5 minutes")),
        on=["order"],
        how="left",
        suffixes=("", "_paid"),
        unmatched="outlet",
    )


def run(spark: SparkSession, folder: Path, console: Console, pause: float) -> None:
    """Joins, follows the query to its end, and shows the outlets."""
    orders, payments = (feed(spark, folder / name, name) for name in COLUMNS)
    joined = join(orders, payments)
    console.rule("[bold]Orders wait for their payments")
    console.print(STORY)
    console.print(joined.explain(), soft_wrap=True, style="dim")
    outlets = {outlet: dt.folder(f"{folder}/{outlet}") for outlet in OUTLETS}
    query = joined.write(
        **outlets,
        checkpoint=f"{folder}/checkpoint",
        trigger={"availableNow": True},
    )
    head(
        console, "progress", "after each batch; kept: rows that could still meet others"
    )
    watch(query, console, pause)
    for outlet in OUTLETS:
        show(spark.read.parquet(f"{folder}/{outlet}"), outlet, console)
    console.print(NEXT)


def watch(query: StreamingQuery, console: Console, pause: float) -> None:
    """Shows the counters of a query, a line a batch, until its end."""
    seen = grid(("rows in", "matched", "unmatched", "late", "kept"))
    with Live(seen, console=console, auto_refresh=False) as screen:
        for now in dt.follow(query):
            counts = (now.came, now.matched, now.unmatched, now.late, now.alive)
            seen.add_row(*map(str, counts))
            screen.refresh()
            time.sleep(pause)
    if not console.is_terminal:
        console.print()


def show(rows: DataFrame, outlet: str, console: Console) -> None:
    """Shows the rows of an outlet in order, and what to see in them."""
    about, shown = OUTLETS[outlet]
    seen = rows.selectExpr(*shown)
    found = grid(seen.columns)
    for row in sorted(seen.collect()):
        found.add_row(*map(str, row))
    head(console, outlet, about)
    console.print(found)


STORY = """
An order waits 30 minutes for its payment; a payment may be 5 minutes ahead of
its order. A payment that comes more than 10 minutes behind the newest is late.
"""
OUTLETS = {
    "matched": (
        "paid in time: 1003 in two parts, 1005 ahead of its order",
        (
            *("order", "customer", "amount", "amount_paid AS paid", "by"),
            *("date_format(placed, 'HH:mm') AS placed",),
            *("date_format(paid, 'HH:mm') AS `paid at`",),
        ),
    ),
    "left_unmatched": (
        "not paid: 1004 never, 1014 after its time, 1010 see below",
        ("order", "customer", "amount", "date_format(placed, 'HH:mm') AS placed"),
    ),
    "late": (
        "this payment came when one of 10:03 had been seen",
        (
            *("right.order", "right.amount", "right.by"),
            *("date_format(right.paid, 'HH:mm') AS `paid at`", "reason"),
        ),
    ),
}
NEXT = """
Next: the join is the first function of examples/late_orders.py: change a window
and run it again. docs/lifetimes.md has the one idea behind every window."""
# One row a line, in the order in which rows arrive; a blank line ends a batch.
FEED = """
09:00  order    1001  Ada    40.00
09:02  order    1002  Ben    15.50
09:03  payment  1001  card   40.00
09:04  order    1003  Cleo   99.00
09:06  payment  1002  cash   15.50

09:08  payment  1005  card   12.00
09:10  order    1004  Dan    23.75
09:11  order    1005  Eve    12.00
09:13  payment  1003  card   50.00
09:15  order    1006  Finn   64.20

09:19  payment  1003  card   49.00
09:21  order    1007  Gina    8.90
09:27  payment  1007  cash    8.90
09:22  payment  1006  card   64.20
09:28  order    1008  Hugo   31.00

09:31  order    1009  Ines   72.40
09:34  payment  1008  card   31.00
09:36  order    1010  Jon    18.00
09:38  payment  1009  card   72.40
09:41  order    1011  Kim    27.30

09:45  payment  1011  card   27.30
09:47  order    1012  Lou    55.00
09:52  order    1013  Mia     9.99
09:58  payment  1012  card   55.00
10:03  payment  1013  cash    9.99

09:44  payment  1010  card   18.00
10:05  order    1014  Nils   44.00
10:08  order    1015  Olga   16.80
10:15  payment  1015  card   16.80
10:47  payment  1014  card   44.00

10:50  order    1016  Pia    20.00
10:52  payment  1016  card   20.00
11:30  order    1017  Quin   13.10
11:31  payment  1017  card   13.10
"""
DAY = "2026-03-02"
COLUMNS = {
    "order": "order INT, customer STRING, amount DECIMAL(9, 2), placed TIMESTAMP",
    "payment": "order INT, by STRING, amount DECIMAL(9, 2), paid TIMESTAMP",
}


def feed(spark: SparkSession, folder: Path, name: str) -> DataFrame:
    """Returns the orders or the payments as a stream of files, a block a batch."""
    folder.mkdir()
    for number, block in enumerate(FEED.strip().split("\n\n")):
        rows = [line.split() for line in block.splitlines()]
        file = folder / f"{number}.csv"
        file.write_text(
            "\n".join(
                f"{order},{word},{amount},{DAY} {clock}"
                for clock, what, order, word, amount in rows
                if what == name
            )
        )
        os.utime(file, (number, number))  # the oldest file is read first
    files = spark.readStream.schema(COLUMNS[name]).option("maxFilesPerTrigger", 1)
    return files.csv(str(folder))


def head(console: Console, name: str, about: str) -> None:
    """Shows a name in front of what it is."""
    console.print(f"\n[bold]{name}[/]  {about}")


def grid(columns: Sequence[str]) -> Table:
    """Returns an empty table for the screen; numbers are to the right."""
    found = Table(box=SIMPLE_HEAD, padding=(0, 1), show_edge=False)
    words = {"customer", "by", "reason", "placed", "paid at"}
    for column in columns:
        found.add_column(column, justify="left" if column in words else "right")
    return found


def main() -> int:
    """Runs the join on a Spark of its own, in a folder that goes away again."""
    options = _options()
    console = Console(highlight=False)
    console.print("Starting Spark on this machine ...", style="dim")
    try:
        # Of so few rows one task can keep all.
        spark = dt.local_session(**{"spark.sql.shuffle.partitions": "1"})
        with TemporaryDirectory(prefix="late_orders_") as name:
            run(spark, Path(name), console, options.pause)
        spark.stop()
    except dt.DovetailError as error:
        console.print(str(error), style="red", markup=False)
        return 1
    return 0


def _options() -> argparse.Namespace:
    """Returns what the words of the shell ask for."""
    parser = argparse.ArgumentParser(
        prog="scripts/demo",
        description=(__doc__ or "").partition("\n\n    ")[0],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--pause",
        type=float,
        default=0,
        metavar="SECONDS",
        help="rest so long after each batch, to look on (default: not at all)",
    )
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
