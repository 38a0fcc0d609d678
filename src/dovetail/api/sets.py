"""A join of several sets of rows: which stand together, one of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pyspark.sql import DataFrame
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it
from pyspark.sql.streaming.query import StreamingQuery

from dovetail import spec
from dovetail.api import joined, terms
from dovetail.bind import failures
from dovetail.bind.schemas import refuse_unpacked
from dovetail.engines import kernel_settings
from dovetail.engines.spark.rules import plain_rules
from dovetail.engines.spark_batch.arrivals import Arrivals
from dovetail.engines.spark_batch.join import join_batch
from dovetail.engines.spark_stream import query as running
from dovetail.engines.spark_stream import ways
from dovetail.errors import SpecError
from dovetail.expression import Expression
from dovetail.plan import sets as planned
from dovetail.plan import stream, words
from dovetail.plan.batch import plan_batch
from dovetail.schema import quoted
from dovetail.spec import arguments
from dovetail.spec.defaults import with_defaults

if TYPE_CHECKING:
    from dovetail.api.streams import Rows
    from dovetail.engines.spark_stream.dataflow import Frames

_HOW = {
    "inner": spec.SetKind.INNER,
    "left": spec.SetKind.LEFT_OUTER,
    "anti": spec.SetKind.LEFT_ONLY,
    "some": spec.SetKind.M_OF_N,
}
_CONDITIONS = {
    "where": 'where="l.a < r.a"',
    "having": 'having="ROWS_COUNT() > 2"',
    "skip_when": 'skip_when="l.a = 0"',
}


@dataclass(frozen=True, slots=True)
class Together:
    """A join of several sets; nothing runs before its rows are asked for."""

    request: spec.SetJoinSpec
    inputs: spec.Inputs
    rows: Mapping[str, Rows]

    def __repr__(self) -> str:
        """Returns the join in one line: how many sets, and by what."""
        where = "streams" if self.is_streaming else "a batch"
        by = ", ".join(self.request.stepped) or "nothing: every row meets every other"
        kind, count = self.request.kind.value, len(self.rows)
        return f"{kind} join of {count} sets by {by}, on {where} of Spark"

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> object:
            """Refuses what only a DataFrame can be asked for."""
            hint = "the rows are a DataFrame: together.matched"
            raise arguments.missing("together", name, dir(type(self)), hint)

    @property
    def is_streaming(self) -> bool:
        """Tells whether rows keep coming."""
        return any(rows.feed.streams for rows in self.rows.values())

    @property
    def matched(self) -> DataFrame:
        """Returns the rows that come out."""
        if self.is_streaming:
            return self._streaming().frame(spec.Outlet.MATCHED)
        # Rows of a table stand as they count: the last of a key is newest.
        frames = {
            name: Arrivals(
                self._frame(name), order=rows.feed.place if rows.feed.number else ""
            )
            for name, rows in self.rows.items()
        }
        plan = plan_batch(self.request, self.inputs)
        return join_batch(plan, frames).outlets[spec.Outlet.MATCHED]

    @arguments.public
    def explain(self) -> str:
        """Returns the plan in words: who meets, when rows come out, what is kept.

        Nothing runs, but Spark is asked all that it is asked at a start.
        """
        if self.is_streaming:
            self._streaming().lay()
        else:
            _ = self.matched.schema
        return self.in_words()

    def in_words(self) -> str:
        """Returns the plan in words; what only Spark can refuse is not refused."""
        if self.is_streaming:
            return words.explained(self._plan(), lambda _: "")
        return words.explained_sets(self.request)

    @arguments.public
    def write(
        self,
        *,
        matched: joined.SinkLike,
        checkpoint: arguments.AnyPath,
        trigger: Mapping[str, object] | None = None,
        name: str = "",
        finish: bool | None = None,
        partitions: int | None = None,
    ) -> StreamingQuery:
        """Returns the running query that writes the rows into a sink.

        Rows come out once all streams have ended: `finish=True` says that they end with
        what is there now; all else is as in `write` of a join of two sides.
        """
        if not self.is_streaming:
            raise SpecError(
                "all sets of the join are ordinary DataFrames",
                "streams",
                "use together.matched.write: a batch join is an ordinary DataFrame",
            )
        how = joined.start_given(
            checkpoint, trigger, name, finish=finish, partitions=partitions
        )
        sink = joined.sink_given("matched", matched)
        return joined.started(self._streaming(), {spec.Outlet.MATCHED: sink}, how)

    @property
    def _places(self) -> tuple[str, ...]:
        """Returns the column with the places of rows, if all sets say them."""
        feeds = [rows.feed for rows in self.rows.values()]
        return (ways.GIVEN_PLACE,) if all(one.number for one in feeds) else ()

    def _plan(self) -> stream.StreamPlan:
        """Returns the plan of streams, or raises what cannot be done of it yet."""
        place = "".join(map(quoted, self._places))
        # A sequence is the same word of all sets; an order is of each by itself.
        is_one = all(rows.feed.sequence for rows in self.rows.values())
        feed = stream.Feed(sequence=place) if is_one else stream.Feed(order=place)
        by_hand = dict.fromkeys(spec.HANDS, feed)
        plan = stream.plan_stream(self.request, self.inputs, by_hand)
        kernel_settings.stream_settings(plan)  # the kernels refuse here what they lack
        return plan

    def _streaming(self) -> running.Streaming:
        """Returns the plan with its frames, as the streaming engine takes it."""
        # Both sides of the plan are ways of rows of sets, each with its place.
        plan, riders = self._plan(), ways.Riders(self._places)
        paths = planned.paths_of(self.request, self.inputs)
        with plain_rules(self._frame(self.request.sets[0]).sparkSession):
            left, right = (
                ways.gathered(
                    lambda path: self._placed(path.input), paths[hand.value], riders
                )
                for hand in spec.HANDS
            )
        frames: Frames = (left, right)
        return running.Streaming(plan, frames)

    def _frame(self, name: str) -> DataFrame:
        """Returns the frame of a set."""
        frame = self.rows[name].frame
        assert isinstance(frame, DataFrame)  # noqa: S101 - rows of joins are refused
        failures.refuse_stopped(frame)
        return frame

    def _placed(self, name: str) -> DataFrame:
        """Returns the rows of a set, beside them their places if all have one."""
        place = F.expr(self.rows[name].feed.place)
        return self._frame(name).withColumn(ways.GIVEN_PLACE, place)


def joined_sets(
    rows: Sequence[Rows], kind: str, told: Mapping[str, object]
) -> Together:
    """Returns the join of sets, of a kind and on terms as a user gives them."""
    if len(rows) == 1:
        hint = 'write for example a.together(b, on="id", select={"id": "l.id"})'
        raise SpecError("rows together with no others", "another set", hint)
    given = {f"set {number}": one for number, one in enumerate(rows, start=1)}
    _refuse_unfit(given)
    for word in ("least", "most"):
        so_many = arguments.whole(word, told[word], f"{word}=2")
        if so_many > len(given):
            hint = f"there are {len(given)} sets: with the rows it is called on"
            raise arguments.wrong(word, so_many, f"{len(given)} at most", hint)
    inputs = {name: replace(one.source, name=name) for name, one in given.items()}
    shown = arguments.texts("select", told["select"], '{"id": "l.id"}')
    where, having, skip_when = (
        Expression(arguments.text(name, told[name], "a condition", example))
        for name, example in _CONDITIONS.items()
    )
    join = spec.SetJoinSpec(
        tuple(given),
        _HOW[arguments.word("how", kind, _HOW)],
        arguments.names("on", told["on"], 'on="id"'),
        arguments.names("order", told["order"], 'order="id"'),
        spec.Columns(tuple((name, Expression(one)) for name, one in shown.items())),
        arguments.whole("least", told["least"], "least=2"),
        arguments.whole("most", told["most"], "most=3"),
        where,
        having,
        skip_when,
    )
    request = with_defaults(join, inputs)
    terms.check(request, inputs, spec.Settings())
    assert isinstance(request, spec.SetJoinSpec)  # noqa: S101 - as it was
    # What cannot be read is told now, and not when rows come.
    planned.side_by_side(request, inputs)
    return Together(request, inputs, given)


def _refuse_unfit(given: Mapping[str, Rows]) -> None:
    """Refuses sets of which more is said than counts here, or not the same of all.

    None is the rows of a join, or has a window or a time; all are streams, or none is,
    and all have an order, or none has.
    """
    for name, rows in given.items():
        source = rows.source
        if isinstance(rows.frame, tuple):
            hint = "write out the rows of the join, and read them as a stream"
            raise arguments.wrong(name, rows, "rows of no other join", hint)
        is_newest = bool(source.key) and rows.kept == spec.Latest(source.key)
        if not is_newest and rows.kept != spec.Unstated():
            hint = "all rows of a set count: leave window out"
            raise arguments.wrong(name, rows, "rows without a window", hint)
        if source.is_timed or rows.feed.refresh != spec.NO_TIME:
            hint = "rows of sets meet whenever they came: leave time and refresh out"
            raise arguments.wrong(name, rows, "rows without a time", hint)
        if rows.feed.streams:
            refuse_unpacked(f"{name} has", source.schema)
    some = [name for name, rows in given.items() if rows.feed.streams]
    if some and len(some) < len(given):
        others = ", ".join(name for name in given if name not in some)
        raise SpecError(
            f"{', '.join(some)} of streams, and {others} of ordinary DataFrames",
            "streams, or ordinary DataFrames",
            "a folder can be read as a stream too: spark.readStream",
        )
    feeds = [rows.feed for rows in given.values() if some]
    for word in ("sequence", "order"):
        has = [bool(getattr(feed, word)) for feed in feeds]
        if any(has) and not all(has):
            raise SpecError(
                f"{word} of some sets only",
                f"{word}=... of all sets, or of none",
                "it says which row of a key is the newest, and how equal ones stand",
            )
