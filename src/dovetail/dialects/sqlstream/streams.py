"""Streams of a text that are more than one join of its inputs: steps behind each other.

    SELECT .. WHERE ..       filtered, projected
    .. UNION ALL ..          appended, in row time
    GROUP BY x, STEP(..)     projected, in row time, a tumbling window, projected
    SUM(x) OVER (..)         projected, in row time, a sliding window, projected
    FROM a JOIN b ..         a join, whose inputs may be such streams

Each of these steps has a column with its row time, ROWTIME, which comes out only where
a query asks for it. The stream of an input has its own name for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream.aggregates import argument_of, computed
from dovetail.dialects.sqlstream.parser import Filled, Text, not_yet
from dovetail.dialects.sqlstream.query import (
    ROWTIME,
    Pair,
    Query,
    is_plain,
    with_row_time,
)
from dovetail.dialects.trees import conjuncts, own_column, sided
from dovetail.expression import Expression, Scope, parse
from dovetail.schema import ArrayType, AtomicType, Column, Schema

_COUNTS = "counts"
_NOBODY = Schema(())
_GROUP, _VALUE, _PART, _RESULT = "group", "value", "part", "result"
"""How columns of ours begin, while a query is made of steps; numbers follow."""
_TOGETHER = "a UNION of streams"
Select = tuple[tuple[str, Expression], ...]


@dataclass(frozen=True, slots=True)
class Made:
    """A stream of the text as a step, and which of its columns come out."""

    step: spec.Step
    shown: tuple[str, ...]


def projected(source: spec.Step, columns: Select) -> spec.Step:
    """Returns a step with these columns, of the types that they have."""
    if columns == tuple((name, _column(name)) for name in source.schema.names):
        return source
    scope = Scope.pair(source.schema, _NOBODY)
    kinds = tuple(Column(name, parse(text, scope).type) for name, text in columns)
    return spec.Projected(source, Schema(kinds), spec.Columns(columns))


def _column(name: str) -> Expression:
    """Returns a column of the rows of a step."""
    return Expression(sided(own_column(name), spec.Hand.LEFT).sql(dialect="spark"))


class Streams:
    """The streams of one text, each made once: beside its inputs they are inputs."""

    def __init__(self, text: Text, inputs: spec.Inputs) -> None:
        """Keeps the text and its inputs; no stream is made yet."""
        self.text = text
        self.inputs = dict(inputs)
        self.steps: dict[str, spec.Step] = {}
        self._names: dict[int, str] = {}
        self._made: dict[int, Made] = {}

    def result(self) -> spec.JoinSpec | spec.Program:
        """Returns what comes out: a join of inputs where it is no more than one."""
        results = self.text.results
        # A join alone stays one: all engines know it, and what becomes of each row.
        if len(results) == 1 and is_plain(results[0].query):
            query = Query(self, results[0])
            if query.is_join:
                join = query.join()
                if not self.steps:
                    return join
        outputs = []
        for number, one in enumerate(results):
            made = self.made(one, ())
            name = one.name or (f"result {number + 1}" if number else "result")
            shown = tuple((it, _column(it)) for it in made.shown)
            outputs.append(spec.Output(name, projected(made.step, shown)))
        return spec.Program(tuple(outputs))

    def derived(self, filled: Filled, title: str, within: tuple[Filled, ...]) -> str:
        """Returns the name under which the rows of a query are an input."""
        # A subquery is read once, a stream of the text by each that names it.
        if id(filled.query) not in self._names:
            made = self.made(filled, within)
            # Whoever reads it has its row time too, whether it comes out or not.
            shown = (*made.shown, *({ROWTIME} - {*made.shown}))
            columns = tuple((it, _column(it)) for it in shown)
            name = filled.name or title or "a subquery"
            self._names[id(filled.query)] = self.add(
                name, projected(made.step, columns)
            )
        return self._names[id(filled.query)]

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

    def made(self, filled: Filled, within: tuple[Filled, ...]) -> Made:
        """Returns the stream that a query gives; with each row is its row time."""
        # A query that fills a stream is the same one for all that read it.
        known = id(filled.query)
        if known not in self._made:
            self._made[known] = self._make(filled, within)
        return self._made[known]

    def _make(self, filled: Filled, within: tuple[Filled, ...]) -> Made:
        """Returns the stream that a query gives."""
        match filled.query:
            case exp.Union():
                return self._united(filled, within)
            case exp.Select() as query if is_plain(query) and query.args.get("joins"):
                join = Query(self, filled, within=within).join()
                assert isinstance(join.select, spec.Columns)  # noqa: S101 - as made
                if join.clock is not spec.Clock.EVENT:
                    raise not_yet(self.text.at(query), "a join of tables among streams")
                shown = tuple(name for name, _ in join.select.columns)
                return Made(self.joined(with_row_time(join)), shown)
            case _:
                return _Single(self, Query(self, filled, within=within)).made()

    def joined(self, join: spec.JoinSpec) -> spec.JoinedInRowTime:
        """Returns a join as a step, over those of its inputs."""
        inputs = tuple(
            spec.TimedInput(name, self.step(name), self.inputs[name].time)
            for name in dict.fromkeys(spec.source_names(join))
        )
        rows = spec.input_of(spec.Nested(join, "a join"), self.inputs, "")
        return spec.JoinedInRowTime(join, inputs, rows.schema)

    def _united(self, filled: Filled, within: tuple[Filled, ...]) -> Made:
        """Returns the rows of several queries, in row time."""
        parts: list[Made] = []
        for query in _parts(filled.query):
            if query.args.get("order") or query.args.get("limit"):
                raise not_yet(self.text.at(query), "ORDER BY or LIMIT of a UNION")
            made = self.made(Filled(query, filled.columns), within)
            parts.append(made)
            self._refuse_unlike(query, parts[0], made)
        # They go by their places under the names of the first, as in all of SQL.
        names = parts[0].shown
        more = (ROWTIME,) if ROWTIME not in names else ()
        sources = []
        for made in parts:
            own = (*made.shown, *more)
            columns = zip((*names, *more), map(_column, own), strict=True)
            sources.append(projected(made.step, tuple(columns)))
        if _is_distinct(filled.query):
            raise not_yet(self.text.at(filled.query), "UNION without ALL")
        step = spec.InRowTime(spec.Appended(tuple(sources)), ROWTIME)
        return Made(step, names)

    def _refuse_unlike(self, query: exp.Expr, first: Made, other: Made) -> None:
        """Refuses rows that cannot run together with the first ones."""
        kinds, others = (
            [str(one.step.schema[name].type) for name in one.shown]
            for one in (first, other)
        )
        if kinds != others:
            told = f"({', '.join(others)}) of {_TOGETHER}"
            hint = "CAST says of what type a value is"
            expected = f"({', '.join(kinds)}) as of its first query"
            raise self.text.wrong(query, told, expected, hint)
        if (ROWTIME in first.shown) != (ROWTIME in other.shown) or (
            ROWTIME in first.shown
            and first.shown.index(ROWTIME) != other.shown.index(ROWTIME)
        ):
            told = f"ROWTIME in another place of {_TOGETHER}"
            raise self.text.wrong(query, told, "the same place in each query")


def _parts(query: exp.Expr) -> Iterator[exp.Query]:
    """Yields the queries of a union, from the first to the last."""
    if isinstance(query, exp.Union):
        yield from _parts(query.this)
        yield from _parts(query.expression)
    elif isinstance(query, exp.Subquery):
        yield from _parts(query.this)
    else:
        assert isinstance(query, exp.Query)  # noqa: S101 - as it is parsed
        yield query


def _is_distinct(query: exp.Expr) -> bool:
    """Tells whether a union leaves equal rows out."""
    return any(one.args.get("distinct") for one in query.find_all(exp.Union))


@dataclass(slots=True)
class _Single:
    """A query over the rows of one stream, or of joins, while it becomes steps.

    `columns` stand in front of its windows, by their names; the same value once.
    """

    streams: Streams
    query: Query
    columns: dict[str, str] = field(default_factory=dict)
    pair: Pair = field(init=False)
    step: spec.Step = field(init=False)

    def __post_init__(self) -> None:
        """Finds the rows, and filters them."""
        written = self.query.query
        first = written.args.get("from_")
        if first is None:
            raise self.query.not_yet(written, "a query without FROM")
        self.query.refuse_unread("group", "having")
        where = written.args.get("where")
        if self.query.is_join:
            rows = self.query.joined()
            assert isinstance(rows.source, spec.Nested)  # noqa: S101 - as it is made
            # Its columns keep the names of their tables: a group may be of any.
            self.step = self.streams.joined(rows.source.join)
            where = None  # which the joins have tested
            source = spec.Named(self.streams.add("a join", self.step))
            rows = type(rows)(source, rows.columns, rows.is_stream, rows.window)
        else:
            rows = self.query.rows_of(first.this)
            if rows.written is not None:
                raise self._wrong(rows.written, "a window without a join", "none")
            assert isinstance(rows.source, spec.Named)  # noqa: S101 - others are made
            if not rows.is_stream:
                raise self.query.not_yet(first.this, "a query of a table alone")
            self.step = self.streams.step(rows.source.name)
        self.pair = Pair.alone(rows)
        for one in conjuncts(where.this) if where is not None else ():
            condition = Expression(self.query.written(one, self.pair))
            self.step = spec.Filtered(self.step, condition)

    def made(self) -> Made:
        """Returns the stream of the query."""
        written = self.query.query
        if written.args.get("group"):
            return self._grouped(written.args["group"].expressions)
        if having := written.args.get("having"):
            raise self._wrong(having, "HAVING without GROUP BY", "WHERE")
        if any(one.find(exp.Window) for one in written.expressions):
            return self._over()
        for one in written.expressions:
            if one.find(exp.AggFunc):
                hint = "GROUP BY STEP(ROWTIME BY INTERVAL '1' MINUTE)"
                told = "a function of all rows of a stream, which never ends"
                raise self._wrong(one, told, "GROUP BY, or OVER", hint)
        columns = [
            (name, Expression(self.query.written(node, self.pair)))
            for name, node in self._selected()
        ]
        return self._shown(columns, self.time)

    @property
    def time(self) -> str:
        """Returns the row time of the rows, as an expression over them."""
        return self.query.written(exp.column(ROWTIME), self.pair)

    def _wrong(self, node: exp.Expr, found: str, *told: str) -> Exception:
        """Returns what is wrong, at its place."""
        return self.streams.text.wrong(node, found, *told)

    def _selected(self) -> Iterator[tuple[str, exp.Expr]]:
        """Yields the output columns; a second one of a name gets a number."""
        seen: dict[str, int] = {}
        for name, node in self.query.named_columns(self.pair):
            again = seen.get(name.lower(), 0)
            seen[name.lower()] = again + 1
            if name.upper() == ROWTIME and not self._is_row_time(node):
                raise self.query.not_yet(node, "another time AS ROWTIME")
            yield f"{name}_{again}" if again else name, node

    def _is_row_time(self, node: exp.Expr) -> bool:
        """Tells whether a value is the row time, as it is or cast to its own type."""
        while isinstance(node, exp.Cast | exp.Paren):
            node = node.this
        if not isinstance(node, exp.Column):
            return False
        return any(one.is_time for _, one in self.pair.named(node))

    def _shown(self, columns: Sequence[tuple[str, Expression]], time: str) -> Made:
        """Returns the stream with its columns, and its row time if it is none."""
        shown = tuple(
            ROWTIME if name.upper() == ROWTIME else name for name, _ in columns
        )
        values = (text for _, text in columns)
        every = dict(zip(shown, values, strict=True))
        every.setdefault(ROWTIME, Expression(time))
        return Made(projected(self.step, tuple(every.items())), shown)

    # Windows.

    def _added(self, word: str, text: str) -> str:
        """Returns the column in front of windows that has a value."""
        name = f"{word} {len(self.columns)}"
        same = (it for it, known in self.columns.items() if known == text)
        known = next((it for it in same if it.startswith(word)), name)
        self.columns[known] = text
        return known

    def _value(self, function: exp.Expr) -> str:
        """Returns the column of the values that a function looks at."""
        argument = argument_of(function, self.streams.text)
        return self._added(_VALUE, self.query.written(argument, self.pair))

    def _in_front(self, *more: tuple[str, str]) -> spec.InRowTime:
        """Returns the rows with the columns that windows look at, in row time."""
        columns = {**dict(more), **self.columns}
        texts = ((name, Expression(text)) for name, text in columns.items())
        return spec.InRowTime(projected(self.step, tuple(texts)), ROWTIME)

    def _windowed(
        self,
        source: spec.InRowTime,
        window: spec.firing.FiringWindow,
        **how: tuple[str, ...],
    ) -> spec.Windowed:
        """Returns what a window gives of lists of values, and of the rest as it was."""
        known, lists = source.schema, how["lists"]
        last = tuple(name for name in known.names if name not in lists)
        schema = Schema(
            (
                *(Column(name, ArrayType(known[name].type)) for name in lists),
                Column(_COUNTS, ArrayType(AtomicType.INT)),
                *(known[name] for name in last),
            )
        )
        gives = spec.firing.Lists(how.get("groups", ()), lists, _COUNTS, last)
        return spec.Windowed(source, schema, window, gives, how.get("by", ()))

    def _result(self, function: exp.Expr, column: str, source: spec.Step) -> exp.Expr:
        """Returns what a function is of a column of lists."""
        kind = source.schema[column].type
        values = own_column(column).sql(dialect="spark")
        return computed(function, values, kind, text=self.streams.text)

    def _text(self, node: exp.Expr, step: spec.Step) -> Expression:
        """Returns an expression over columns of ours as the spec writes it."""
        scope = Scope.pair(step.schema, _NOBODY)
        tree = sided(node, spec.Hand.LEFT)
        return Expression(self.query.spelled(tree, scope, node))

    # Groups.

    def _grouped(self, keys: Sequence[exp.Expr]) -> Made:
        """Returns a row for each group, at the end of its stretch of row time."""
        stretch = self._stretch(keys)
        texts = [self.query.written(one, self.pair) for one in keys]
        groups = {text: self._added(_GROUP, text) for text in texts}
        # What groups and functions look at is computed in front of the window, so
        # that the kernel has columns and no expression.
        selected = [*self._selected()]
        having = self.query.query.args.get("having")
        nodes = [*(node for _, node in selected), *([having] if having else [])]
        functions = (it for node in nodes for it in node.find_all(exp.AggFunc))
        lists = {id(one): self._value(one) for one in functions}
        source = self._in_front((ROWTIME, self.time))
        until = spec.firing.Tumbling(spec.firing.ByTime(stretch))
        each = tuple(dict.fromkeys(lists.values()))
        fired = self._windowed(source, until, lists=each, groups=tuple(groups.values()))
        # The stretch in which a row falls ends behind it.
        size = stretch.microseconds
        micros = f"unix_micros(l.{ROWTIME})"
        end = f"timestamp_micros({micros} - pmod({micros}, {size}) + {size})"

        def of_group(node: exp.Expr) -> exp.Expr | None:
            kinds = map(type, keys)
            if type(node) in kinds and not node.find(exp.AggFunc):
                known = groups.get(self.query.written(node, self.pair))
                if known is not None:
                    return own_column(known)
            if isinstance(node, exp.AggFunc):
                return self._result(node, lists[id(node)], source)
            if isinstance(node, exp.Column) and self._is_row_time(node):
                return exp.maybe_parse(end, dialect="spark")
            if isinstance(node, exp.Column):
                told = f'the column "{node.sql()}", which is in no GROUP BY'
                raise self._wrong(node, told, "one that is, or a function of it")
            return None

        self.step = fired
        if having:
            holds = _rewritten(having.this, of_group)
            self.step = spec.Filtered(fired, self._text(holds, fired))
        columns = [
            (name, self._text(_rewritten(node, of_group), fired))
            for name, node in selected
        ]
        return self._shown(columns, end)

    def _stretch(self, keys: Sequence[exp.Expr]) -> spec.Span:
        """Returns the length of the stretches of row time into which rows fall."""
        times = [
            one
            for one in keys
            if isinstance(one, exp.TimestampTrunc | exp.DateBin)
            and self._is_row_time(
                one.expression if isinstance(one, exp.DateBin) else one.this
            )
        ]
        if len(times) != 1:
            group = self.query.query.args["group"]
            hint = "GROUP BY x, STEP(ROWTIME BY INTERVAL '1' MINUTE)"
            told = f"GROUP BY with {len(times) or 'no'} stretches of row time"
            expected = "one FLOOR or STEP of ROWTIME, at whose end a group comes out"
            raise self._wrong(group, told, expected, hint)
        return self.query.windows.stretch(times[0])

    # Functions over the rows before each row.

    def _over(self) -> Made:
        """Returns each row with what functions are of rows before it."""
        # Functions over the same rows are one window; others stand behind it, and see
        # the rows in the same order.
        selected = [*self._selected()]
        apart: dict[tuple[spec.firing.Sliding, tuple[str, ...]], list[exp.Window]] = {}
        values: dict[int, str] = {}
        for node in (it for _, one in selected for it in one.find_all(exp.Window)):
            window, parts = self.query.windows.of_function(node)
            texts = (self.query.written(one, self.pair) for one in parts)
            by = tuple(self._added(_PART, text) for text in texts)
            apart.setdefault((window, by), []).append(node)
            values[id(node)] = self._value(node.this)
        results = {one: f"{_RESULT} {number}" for number, one in enumerate(values)}

        def of_row(node: exp.Expr) -> exp.Expr | None:
            if isinstance(node, exp.Window):
                return own_column(results[id(node)])
            if isinstance(node, exp.Column):
                text = self.query.written(node, self.pair)
                return own_column(self._added(_GROUP, text))
            return None

        written = [(name, _rewritten(node, of_row)) for name, node in selected]
        source = self._in_front((ROWTIME, self.time))
        for (window, by), nodes in apart.items():
            each = tuple(dict.fromkeys(values[id(one)] for one in nodes))
            fired = self._windowed(source, window, lists=each, by=by)
            # The row itself is the last one in each list.
            columns = [
                (name, self._text(_last(name, is_list=name in each), fired))
                for name in source.schema.names
            ]
            for one in nodes:
                found = self._result(one.this, values[id(one)], source)
                columns.append((results[id(one)], self._text(found, fired)))
            source = spec.InRowTime(projected(fired, tuple(columns)), ROWTIME)
        # The windows have given rows in row time: nothing must sort them again.
        self.step = source.source
        columns = [(name, self._text(node, self.step)) for name, node in written]
        return self._shown(columns, f"l.{ROWTIME}")


def _last(name: str, *, is_list: bool) -> exp.Expr:
    """Returns a column; of one that is a list the value of the last row, its own."""
    column = own_column(name)
    if not is_list:
        return column
    return exp.maybe_parse(
        f"element_at({column.sql(dialect='spark')}, -1)", dialect="spark"
    )


def _rewritten(
    node: exp.Expr, meant: Callable[[exp.Expr], exp.Expr | None]
) -> exp.Expr:
    """Returns an expression whose parts are what a function says, if it says it."""
    found = meant(node)
    if found is not None:
        return found
    new = node.copy()
    for name, part in node.args.items():
        if isinstance(part, exp.Expr):
            new.set(name, _rewritten(part, meant))
        elif isinstance(part, list):
            parts = (
                _rewritten(it, meant) if isinstance(it, exp.Expr) else it for it in part
            )
            new.set(name, [*parts])
    return new
