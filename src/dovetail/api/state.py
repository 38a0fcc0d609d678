"""What a query keeps, to be looked at while it runs or rests.

print(dt.state("out/checkpoint"))

checkpoint  out/checkpoint, after batch 1
join        left_outer, on l.order = r.order
kept        4 buckets, 5.1 KB, the largest with 2.0 times the mean of rows

side   rows  matched  waiting  ...
left      3        1        0  ...
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from pyspark.sql import SparkSession

from dovetail.bind import failures
from dovetail.engines.spark.sizes import shown_size
from dovetail.engines.spark_session import local_session
from dovetail.engines.spark_stream import inspection
from dovetail.errors import SchemaError
from dovetail.schema import shown
from dovetail.spec import arguments

_NUMBERS = ("rows", "matched", "waiting", "bytes", "chunks")
_TIMES = ("earliest", "latest", "bound")


@dataclass(frozen=True, slots=True)
class State:
    """What the joins of a query keep after a batch, the outermost first.

    Each of `joins` has `left` and `right` of all `buckets`, `skew`, and of the key that
    was asked for the rows `found`.
    """

    checkpoint: str
    batch: int
    joins: tuple[inspection.StateOfJoin, ...]

    def as_dict(self) -> dict[str, Any]:
        """Returns all of it as plain values, as JSON has them."""
        joins = [
            {
                "join": one.title,
                "bytes": one.bytes,
                "held": one.held,
                "skew": round(one.skew, 3),
                "left": _plain(one.left),
                "right": _plain(one.right),
                "buckets": {
                    str(label): {"left": _plain(left), "right": _plain(right)}
                    for label, (left, right) in one.buckets.items()
                },
                "found": [_plain(row) for row in one.found],
            }
            for one in self.joins
        ]
        return {"checkpoint": self.checkpoint, "batch": self.batch, "joins": joins}

    def told(self, *, buckets: bool = False) -> str:
        """Returns all of it as a page, each bucket by itself where that is asked."""
        head = f"checkpoint  {self.checkpoint}, after batch {self.batch}"
        parts = [head, *(_told(one, buckets=buckets) for one in self.joins)]
        return "\n\n".join(parts)

    def __str__(self) -> str:
        """Returns all of it as a page."""
        return self.told()


@arguments.public
def state(
    checkpoint: arguments.AnyPath, key: object = (), spark: SparkSession | None = None
) -> State:
    """Returns what the query of a checkpoint keeps after its last batch.

    The rows of a `key`, a value or a list of as many as the join compares, are shown
    too. Without `spark` the session at work looks, or a local one.
    """
    path = arguments.path("checkpoint", checkpoint, 'dt.state("out/checkpoint")')
    if spark is not None and not hasattr(spark, "conf"):
        hint = "leave spark out: the session at work looks"
        raise arguments.wrong("spark", spark, "a session of Spark", hint)
    values = key if isinstance(key, list | tuple) else [key]
    # Spark reads each value from text, where a truth is a word in lower case; bytes
    # need not be a text.
    texts = [str(one).lower() if isinstance(one, bool) else str(one) for one in values]
    told = [
        one if isinstance(one, bytes) else text
        for one, text in zip(values, texts, strict=True)
    ]
    failures.refuse_stopped(spark)
    session = spark or SparkSession.getActiveSession() or local_session()
    known, joins = inspection.kept_by_joins(session, path, told)
    # A batch that is not through has left nothing behind: the one before it has.
    return State(path, known.batch - (not known.is_through), tuple(joins))


def _plain(part: inspection.StateOfSide | inspection.KeptRow) -> dict[str, object]:
    """Returns a part as JSON has it."""
    return {name: _shown(value) for name, value in asdict(part).items()}


def _shown(value: object) -> object:
    """Returns a value as JSON has it; of one that JSON does not know its text."""
    try:
        return shown(value)
    except SchemaError:
        return str(value)


def _told(join: inspection.StateOfJoin, *, buckets: bool) -> str:
    """Returns what a join keeps as lines."""
    kept = (
        f"{len(join.buckets)} buckets, {shown_size(join.bytes)}, the largest with "
        f"{join.skew:.1f} times the mean of rows"
    )
    lines = [f"join        {join.title}", f"kept        {kept}"]
    if join.held:
        lines.append(f"held        {join.held} results, until their row time is over")
    sides = {"left": join.left, "right": join.right}
    lines += [
        f"{name} hot".ljust(12)
        + ", ".join(f"{value} ({count} rows)" for value, count in side.hot)
        for name, side in sides.items()
        if side.hot
    ]
    # In the order of their labels, behind the sums that all of them make.
    if buckets:
        for label, (left, right) in sorted(join.buckets.items()):
            sides |= {f"{label} left": left, f"{label} right": right}
    head = ["", *_NUMBERS, *_TIMES]
    rows = [head, *([name, *_cells(side)] for name, side in sides.items())]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines.append("")
    for row in rows:
        # Numbers stand on the right, so that their digits are below each other.
        cells = (
            cell.rjust(width) if 0 < place <= len(_NUMBERS) else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(cells).rstrip())
    found = [*map(_lived, join.found)]
    return "\n".join([*lines, *([""] if found else []), *found])


def _cells(side: inspection.StateOfSide) -> Iterator[str]:
    """Gives a side's columns as texts."""
    for name in (*_NUMBERS, *_TIMES):
        match getattr(side, name):
            case None:
                yield "-"
            case datetime() as moment:
                yield f"{moment:%Y-%m-%d %H:%M:%S}"
            case number:
                yield str(number)


def _lived(one: inspection.KeptRow) -> str:
    """Returns a row of a key as a line."""
    since = "the beginning" if one.since is None else _shown(one.since)
    until = "no end yet" if one.until is None else _shown(one.until)
    marks = {
        "has met": one.matched is True,
        "has met nobody": one.matched is False,
        "waits for a bound": one.waits,
    }
    said = [f"{since} to {until}", *(mark for mark, is_so in marks.items() if is_so)]
    row = json.dumps(_shown(one.row), ensure_ascii=False)
    return f"{one.side:5}  {row}  {', '.join(said)}"
