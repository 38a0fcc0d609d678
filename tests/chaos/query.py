"""The query that is killed, as a program of its own.

    python -m tests.chaos.query FOLDER

reads FOLDER/l, FOLDER/r and so on, keeps its state in FOLDER/checkpoint, and writes a
folder for each outlet of the join that FOLDER/shape names: all rows, or how they stand.
Where FOLDER/between says so it dies by its own hand, with Spark and all workers, after
the first outlet of a batch is written. Where there is FOLDER/finish the streams end
with what is there. It runs on the Spark that FOLDER/master names, by default on one of
its own.
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import dovetail as dt
from dovetail.bind.sinks import Folder
from dovetail.engines.spark_session import BRIEF, local_session
from tests.chaos.events import ddl
from tests.chaos.killing import kill_session


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

    @property
    def reads_once(self):
        return self.inner.reads_once

    def write(self, rows, batch, *, is_empty):
        if self.order.exists() and batch >= int(self.order.read_text()):
            self.order.write_text(str(10**9))
            kill_session()
        self.inner.write(rows, batch, is_empty=is_empty)


def sides(spark, folder, letters):
    """The inputs of a join, each a file a batch."""
    found = []
    for letter in letters:
        files = spark.readStream.schema(ddl(letter)).option("maxFilesPerTrigger", 1)
        feed = files.parquet(str(folder / letter))
        rows = dt.stream(feed, time="at", lateness="5 seconds", sequence="sequence")
        found.append(rows.window(dt.range(preceding="4 seconds")))
    return found


def outer(left, right):
    return left.join(
        right,
        on=["k"],
        where="l.l_n % 3 <> r.r_n % 3",
        how="left",
        suffixes=("_l", "_r"),
        unmatched="outlet",
    )


def kept(left, right):
    """The first two pairs of a left row; one that has none stands alone."""
    return left.join(right, on=["k"], how="left", keep=2, suffixes=("_l", "_r"))


def taken_back(left, right):
    """Null rows at once, which a match takes back."""
    joined = left.join(right, on=["k"], how="left", suffixes=("_l", "_r"))
    return joined.emit(null_rows="eager", retract=True)


def nested(left, right, more):
    """A join of a join's rows: two operators in one query."""
    chosen = {"k": "l.k", "l_n": "l.l_n", "r_n": "r.r_n"}
    inner = left.join(right, on=["k"], how="left", select=chosen)
    inner = inner.window(dt.range(preceding="4 seconds"))
    return inner.join(
        more,
        on=["k"],
        how="full",
        select={**chosen, "k": "coalesce(l.k, r.k)", "l_n": "l.l_n", "r_n": "l.r_n"}
        | {"m_n": "r.m_n"},
    )


@dataclass(frozen=True)
class Shape:
    """A join, its inputs by their letters, and the outlets that are written.

    The first one changes where it `stands`: then its folder has what is left of it.
    """

    join: Callable
    letters: str
    outlets: tuple
    stands: bool = False


SHAPES = {
    "outer": Shape(outer, "lr", ("matched", "left_unmatched", "late")),
    "kept": Shape(kept, "lr", ("matched", "late")),
    "taken_back": Shape(taken_back, "lr", ("matched", "late"), stands=True),
    "nested": Shape(nested, "lrm", ("matched", "late", "left_late")),
}


def shape_of(folder):
    return SHAPES[(folder / "shape").read_text()]


def join(spark, folder):
    shape = shape_of(folder)
    return shape.join(*sides(spark, folder, shape.letters))


def standing(folder):
    """The first outlet of a join whose rows are taken back."""
    return dt.current(folder / shape_of(folder).outlets[0], every=2)


def write(joined, folder, *, finish=None):
    shape = shape_of(folder)
    names = shape.outlets
    sinks = {name: dt.folder(folder / name) for name in names}
    if shape.stands:
        sinks[names[0]] = standing(folder)
    sinks[names[1]] = Between(sinks[names[1]], folder / "between")
    return joined.write(
        checkpoint=str(folder / "checkpoint"),
        trigger={"availableNow": True},
        finish=finish,
        **sinks,
    )


def session(folder):
    """The Spark that the query runs on."""
    master = folder / "master"
    if not master.exists():
        return local_session()
    # Each worker has a core, and each executor that dies is started again.
    return local_session(
        **{
            "spark.master": master.read_text(),
            "spark.executor.memory": "600m",
            "spark.executor.extraJavaOptions": BRIEF,
        }
    )


def run(folder):
    joined = join(session(folder), folder)
    query = write(joined, folder, finish=(folder / "finish").exists() or None)
    (folder / "started").touch()
    query.awaitTermination()


if __name__ == "__main__":
    run(Path(sys.argv[1]))
