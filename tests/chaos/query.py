"""The query that is killed, as a program of its own.

    python -m tests.chaos.query FOLDER

reads FOLDER/l and FOLDER/r, keeps its state in FOLDER/checkpoint, and writes the
folders matched, left_unmatched and late. Where FOLDER/between says so it dies by its
own hand, with Spark and all workers, after the first outlet of a batch is written.
Where there is FOLDER/finish the streams end with what is there.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import dovetail as dt
from dovetail.bind.sinks import Folder
from dovetail.engines.spark_session import local_session
from tests.chaos.events import ddl
from tests.chaos.killing import kill_session

OUTLETS = ("matched", "left_unmatched", "late")


@dataclass
class Between:
    """A sink that ends it all when it gets a batch that is due to end it all."""

    inner: Folder
    order: Path

    def prepare(self, rows, *, is_new):
        self.inner.prepare(rows, is_new=is_new)

    @property
    def place(self):
        return self.inner.place

    def write(self, rows, batch, *, is_empty):
        if self.order.exists() and batch >= int(self.order.read_text()):
            self.order.write_text(str(10**9))
            kill_session()
        self.inner.write(rows, batch, is_empty=is_empty)


def join(spark, folder):
    sides = []
    for hand in "lr":
        files = spark.readStream.schema(ddl(hand)).option("maxFilesPerTrigger", 1)
        feed = files.parquet(str(folder / hand))
        rows = dt.stream(feed, time="at", lateness="5 seconds", sequence="sequence")
        sides.append(rows.window(dt.range(preceding="4 seconds")))
    left, right = sides
    return left.join(
        right,
        on=["k"],
        where="l.l_n % 3 <> r.r_n % 3",
        how="left",
        suffixes=("_l", "_r"),
        unmatched="outlet",
    )


def write(joined, folder, *, finish=None):
    matched, alone, late = (dt.folder(str(folder / name)) for name in OUTLETS)
    return joined.write(
        checkpoint=str(folder / "checkpoint"),
        trigger={"availableNow": True},
        finish=finish,
        matched=matched,
        left_unmatched=Between(alone, folder / "between"),
        late=late,
    )


def run(folder):
    joined = join(local_session(), folder)
    query = write(joined, folder, finish=(folder / "finish").exists() or None)
    (folder / "started").touch()
    query.awaitTermination()


if __name__ == "__main__":
    run(Path(sys.argv[1]))
