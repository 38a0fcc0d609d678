"""The streams of a text: joins of its inputs, or steps behind each other.

    SELECT .. GROUP BY ..    one stream becomes another: single.py
    .. UNION ALL ..          appended, in row time
    FROM a JOIN b ..         a join, whose inputs may be such streams

Each of these steps has a column with its row time, ROWTIME, which comes out only where
a query asks for it. The stream of an input has its own name for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream import casts, steps, united
from dovetail.dialects.sqlstream.functions import refuse_built_in
from dovetail.dialects.sqlstream.hourly import Hourly, keeps_table, without_table
from dovetail.dialects.sqlstream.parser import ROWTIME, Filled, Text
from dovetail.dialects.sqlstream.plain import gives_time, is_plain
from dovetail.dialects.sqlstream.query import Query
from dovetail.dialects.sqlstream.single import Single
from dovetail.dialects.sqlstream.tables import Tables

_ENDLESS = "rows come for ever, and so no row is sure to be the last of its kind"


class Streams:
    """The streams of one text, each made once: beside its inputs they are inputs."""

    def __init__(self, text: Text, inputs: spec.Inputs) -> None:
        """Keeps the text and its inputs; no stream is made yet."""
        self.text = text
        self.inputs = dict(inputs)
        self.steps: dict[str, spec.Step] = {}
        # What is made of tables alone, before a row of a stream comes.
        self.tables = Tables(text, inputs)
        self.made_tables: list[spec.Output] = []
        self._names: dict[int, str] = {}
        # With each its query, whose number another one would get if it were gone.
        self._made: dict[int, tuple[exp.Query, steps.Made]] = {}

    def result(self) -> spec.JoinSpec | spec.Program:
        """Returns what comes out: a join of inputs where it is no more than one."""
        for function in self.text.functions:
            refuse_built_in(function, self.text)
        results = self.text.results
        # A join alone stays one: all engines know it, and what becomes of each row.
        if len(results) == 1 and is_plain(results[0].query):
            query = Query(self, results[0])
            if query.is_join and not keeps_table(query):
                join = query.join()
                if not self.steps:
                    return join
        outputs = []
        for number, one in enumerate(results):
            made = self.made(one, ())
            name = one.name or (f"result {number + 1}" if number else "result")
            shown = tuple((it, steps.column_of(it)) for it in made.shown)
            step = steps.projected(made.step, shown)
            outputs.append(spec.Output(name, step, one.pump))
        return spec.Program(tuple(outputs), tables=(*self.made_tables,))

    def derived(self, filled: Filled, title: str, within: tuple[Filled, ...]) -> str:
        """Returns the name under which the rows of a query are an input."""
        # A subquery is read once, a stream of the text by each that names it.
        if id(filled.query) in self._names:
            return self._names[id(filled.query)]
        if self.text.reads_tables(filled, self.inputs):
            self._names[id(filled.query)] = self._table(filled, title, within)
        else:
            made = self.made(filled, within)
            # Whoever reads it has its row time too, whether it comes out or not.
            shown = (*made.shown, *({ROWTIME} - {*made.shown}))
            columns = tuple((it, steps.column_of(it)) for it in shown)
            name = filled.name or title or "a subquery"
            self._names[id(filled.query)] = self.add(
                name, steps.projected(made.step, columns)
            )
        return self._names[id(filled.query)]

    def _table(self, filled: Filled, title: str, within: tuple[Filled, ...]) -> str:
        """Returns the name of the data set that is made of tables by a query."""
        step = self.tables.made(filled, within).step
        for one in spec.givens_of(spec.Program((spec.Output("", step),))):
            if self.inputs[one.input].kind is not spec.InputKind.DATASET:
                told = f'groups or sets of "{one.input}", which changes, among streams'
                hint = "a data set is read once, when the flow starts"
                raise self.text.not_yet(filled.query, told, hint)
        return self.dataset(filled.name or title or "a subquery", step)

    def dataset(self, title: str, step: spec.Step) -> str:
        """Returns the name under which rows that are made once are an input."""
        name, kind = self.add(title, step), spec.InputKind.DATASET
        self.inputs[name] = spec.Input(name, kind, step.schema)
        self.steps[name] = spec.Given(name, step.schema)
        self.made_tables.append(spec.Output(name, step))
        return name

    def add(self, title: str, step: spec.Step) -> str:
        """Returns the name under which the rows of a step are an input."""
        name = title
        while name in self.inputs:
            name = f"the {name}"
        self.steps[name] = step
        stream = spec.InputKind.STREAM
        self.inputs[name] = spec.Input(name, stream, step.schema, time=ROWTIME)
        return name

    def step(self, name: str) -> spec.Step:
        """Returns the rows of an input as a step, the same one each time."""
        if name not in self.steps:
            self.steps[name] = spec.Given(name, self.inputs[name].schema)
        return self.steps[name]

    def made(self, filled: Filled, within: tuple[Filled, ...]) -> steps.Made:
        """Returns the stream that a query gives; with each row is its row time."""
        # A query that fills a stream is the same one for all that read it.
        known = id(filled.query)
        if known in self._made:
            return self._made[known][1]
        # Remembered with its result, so that no other query gets its identity.
        query = filled.query
        match query:
            case exp.SetOperation() if any(map(query.args.get, united.ENDS)):
                ordered = united.sorted_apart(
                    query, lambda: self.made(filled, within).shown
                )
                made = self.made(Filled(ordered), within)
            case exp.SetOperation():
                made = self._united(filled, within)
            # A join whose rows keep their time; with a new one they are sorted anew.
            case exp.Select() if (
                is_plain(query) and query.args.get("joins") and not gives_time(query)
            ):
                whole = Query(self, filled, within=within)
                if keeps_table(whole):
                    made = self._hourly(filled, whole, within)
                else:
                    join = whole.join(is_stream=True)
                    assert isinstance(join.select, spec.Columns)  # noqa: S101 - as made
                    if join.clock is not spec.Clock.EVENT:
                        told = "a join of tables among streams"
                        raise self.text.not_yet(query, told)
                    shown = tuple(name for name, _ in join.select.columns)
                    step = self.joined(steps.with_row_time(join), whole.tries)
                    made = steps.Made(step, shown)
                    if whole.tries_values:
                        # Casts of what comes out are tried behind the join.
                        whole = Query(self, filled, within=within)
                        made = Single(self, whole).made()
            case _:
                made = Single(self, Query(self, filled, within=within)).made()
        self._made[known] = query, made
        return made

    def joined(
        self, join: spec.JoinSpec, tries: Mapping[str, Sequence[str]]
    ) -> spec.JoinedInRowTime:
        """Returns a join as a step, over those of its inputs.

        Beside it some of the inputs `tries` says rows of which a cast fails.
        """
        inputs = tuple(
            spec.TimedInput(name, self.step(name), self.inputs[name].time)
            for name in dict.fromkeys(spec.source_names(join))
        )
        rows = spec.input_of(spec.Nested(join, "a join"), self.inputs, "")
        tried = tuple(
            spec.Tried(self.step(name), casts.any_of(some))
            for name, some in tries.items()
            if some
        )
        return spec.JoinedInRowTime(join, inputs, rows.schema, tried=tried)

    def _united(self, filled: Filled, within: tuple[Filled, ...]) -> steps.Made:
        """Returns the rows of several queries, in row time."""
        several = filled.parts or [
            Filled(one, filled.columns) for one in _parts(filled.query, self.text)
        ]
        unions = filled.query.find_all(exp.Union)
        if any(one.args.get("distinct") for one in unions):
            told = "UNION of streams without ALL"
            raise self.text.wrong(filled.query, told, "UNION ALL", _ENDLESS)
        parts: list[steps.Made] = []
        for one in several:
            parts.append(self.made(one, within))
            united.refuse_unlike(self.text, one.query, parts)
        names = parts[0].shown
        step = spec.InRowTime(spec.Appended(united.alike(parts)), ROWTIME)
        return steps.Made(step, names)

    def _hourly(
        self, filled: Filled, query: Query, within: tuple[Filled, ...]
    ) -> steps.Made:
        """Returns the pairs of a stream and a table, and the table's other rows.

        Those come with the end of each hour in which they have met nobody.
        """
        inner = without_table(query.query)
        alone = Query(self, replace(filled, query=inner), within=within)
        join = alone.join()
        assert isinstance(join.select, spec.Columns)  # noqa: S101 - as it is made
        shown = tuple(name for name, _ in join.select.columns)
        pairs = self.joined(steps.with_row_time(join), alone.tries)
        rows = Hourly(self, query).made()
        # A row alone has the end of its hour as its time, behind all pairs of it.
        whole = spec.InRowTime(spec.Appended((pairs, rows)), ROWTIME)
        return steps.Made(whole, shown)


def _parts(query: exp.Expr, text: Text) -> Iterator[exp.Query]:
    """Yields the queries of a union, from the first to the last."""
    match query:
        case exp.Union() if not any(map(query.args.get, united.ENDS)):
            united.refuse_unread(query, text)
            yield from _parts(query.this, text)
            yield from _parts(query.expression, text)
        case exp.Except() | exp.Intersect():
            raise united.refused(query, text)
        case exp.Subquery():
            united.refuse_unread(query, text)
            yield from _parts(query.this, text)
        case _:
            assert isinstance(query, exp.Query)  # noqa: S101 - as it is parsed
            yield query
