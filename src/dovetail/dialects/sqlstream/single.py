"""A query over the rows of one stream, or of joins, as steps behind each other.

SELECT .. WHERE ..       filtered, projected
GROUP BY x, STEP(..)     projected, in row time, a tumbling window, projected
WINDOWED BY STAGGER (..) likewise, a window that begins with its first row
SUM(x) OVER (..)         projected, in row time, a sliding window, projected
t AS ROWTIME             another row time, and the rows in its order
DISTINCT                 the first of equal rows
ORDER BY ROWTIME, x      in row time, and by x
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream import casts, plain, steps, syntax, values
from dovetail.dialects.sqlstream.aggregates import argument_of, computed
from dovetail.dialects.sqlstream.parser import ROWTIME, Text
from dovetail.dialects.sqlstream.query import Query
from dovetail.dialects.sqlstream.rows import Pair, Rows
from dovetail.dialects.sqlstream.windows import (
    end_of_calendar,
    unit_of_calendar,
)
from dovetail.dialects.trees import conjuncts, own_column
from dovetail.expression import Expression, Scope

_GROUP, _VALUE, _PART, _RESULT = "group", "value", "part", "result"
"""How columns of ours begin, while a query is made of steps; numbers follow."""
_OWN_TIME = "own time"
# Units of the calendar in months, from the shortest on; a week is none.
_MONTHS = {"WEEK": 0, "MONTH": 1, "QUARTER": 3, "YEAR": 12}
_AT_ITS_END = "ROWTIME, or a FLOOR or STEP of it, at whose end a group comes out"
_DAY = 86_400 * spec.SECOND
Columns = values.Columns
Node = values.Node
_Window = tuple[spec.firing.Sliding, tuple[str, ...]]


class KnownStreams(Protocol):
    """The streams of the text, among which a query is one."""

    text: Text

    def step(self, name: str) -> spec.Step:
        """Returns the rows of an input as a step."""

    def joined(
        self, join: spec.JoinSpec, tries: Mapping[str, Sequence[str]]
    ) -> spec.JoinedInRowTime:
        """Returns a join as a step, and which rows of inputs are told beside it."""

    def add(self, title: str, step: spec.Step) -> str:
        """Returns the name under which the rows of a step are an input."""


@dataclass(slots=True)
class Single:
    """A query over the rows of one stream, or of joins, while it becomes steps.

    `columns` stand in front of its windows, by their names; the same value once.
    """

    streams: KnownStreams
    query: Query
    columns: dict[str, str] = field(default_factory=dict)
    pair: Pair = field(init=False)
    step: spec.Step = field(init=False)

    def __post_init__(self) -> None:
        """Finds the rows, and filters them."""
        written = self.query.query
        first = written.args["from_"]
        plain.refuse_unread(
            written, self.query.text, "group", "having", "distinct", "order"
        )
        terms = [*conjuncts(written.args.get("where"))]
        if self.query.is_join:
            rows = self.query.joined()
            assert isinstance(rows.source, spec.Nested)  # noqa: S101 - as it is made
            # Its columns keep the names of their tables: a group may be of any.
            self.step = self.streams.joined(rows.source.join, self.query.tries)
            # All else of WHERE the joins have tested.
            terms = plain.asking_time(written)
            source = spec.Named(self.streams.add("a join", self.step))
            rows = Rows(source, rows.columns, rows.is_stream, rows.window)
        else:
            rows = self.query.rows_alone(first.this)
            assert isinstance(rows.source, spec.Named)  # noqa: S101 - others are made
            if not rows.is_stream:
                hint = "in a text of its own it gives rows, which may be a table here"
                what = "a query of tables among streams"
                raise self.streams.text.not_yet(first.this, what, hint)
            self.step = self.streams.step(rows.source.name)
            # What a source gives may not be of the type that the text declares.
            self.query.try_rows(rows, ())
            if tried := self.query.tries.get(rows.source.name):
                self.step = spec.Tried(self.step, casts.any_of(tried))
        self.pair = Pair.alone(rows)
        # One step each: Spark puts them together, and a mistake has its own place.
        self._try(terms)
        for one in terms:
            condition = Expression(self.query.condition(one, self.pair))
            self.step = spec.Filtered(self.step, condition)

    def made(self) -> steps.Made:
        """Returns the stream of the query."""
        written = self.query.query
        selected = [*self.query.outputs(self.pair)]
        self.query.refuse_time_of_side(self.pair)
        for _, one in selected:
            bins = one.find_all(exp.DateBin)
            if stretch := next(
                (it for it in bins if it.args.get(syntax.COUNTED)), None
            ):
                what = "a length of time as a column"
                raise self.query.text.not_yet(stretch, what)
        keys = [*values.sort_keys(self.query, selected)]
        nodes = [*selected, *((name, one.this) for name, one in keys[1:])]
        self._try([one for _, one in nodes])
        columns, time = self._valued(nodes)
        made = self._timed(columns, time, selected)
        if written.args.get("distinct"):
            made = self._distinct(made, selected)
        if keys:
            made = steps.sorted_rows(made, keys[1:], self._sorted_within(keys[0][1]))
        shown = tuple(
            ROWTIME if name.upper() == ROWTIME else name for name, _ in selected
        )
        return steps.Made(made.step, shown)

    def _try(self, nodes: Sequence[exp.Expr]) -> None:
        """Tells rows of which a cast fails that is computed of each of them."""
        if tried := [*self.query.failures(nodes, self.pair)]:
            self.step = spec.Tried(self.step, casts.any_of(tried))

    def _valued(self, nodes: Sequence[Node]) -> tuple[Columns, str]:
        """Returns what is selected over the rows of the last step, and their time."""
        written = self.query.query
        if group := values.group_of(self.query, self.pair):
            values.refuse_over([one for _, one in nodes], self.query.text)
            return self._grouped(group, nodes)
        if having := written.args.get("having"):
            raise self._wrong(having, "HAVING without GROUP BY", "WHERE")
        if any(one.find(exp.Window) for _, one in nodes):
            return self._over(nodes)
        for _, one in nodes:
            if one.find(exp.AggFunc):
                hint = "GROUP BY STEP(ROWTIME BY INTERVAL '1' MINUTE)"
                told = "a function of all rows of a stream, which never ends"
                raise self._wrong(one, told, "GROUP BY, or OVER", hint)
        columns = [
            (name, Expression(self.query.written(node, self.pair)))
            for name, node in nodes
        ]
        return columns, self.time

    @property
    def time(self) -> str:
        """Returns the row time of the rows, as an expression over them."""
        return self.query.written(exp.column(ROWTIME), self.pair)

    def _wrong(self, node: exp.Expr, found: str, *told: str) -> Exception:
        """Returns what is wrong, at its place."""
        return self.streams.text.wrong(node, found, *told)

    # Columns, and what says when rows are.

    def _is_row_time(self, node: exp.Expr) -> bool:
        """Tells whether a value is the row time, as it is or cast to its own type."""
        while isinstance(node, exp.Cast | exp.Paren):
            node = node.this
        if not isinstance(node, exp.Column):
            return False
        return any(one.is_of_rows for _, one in self.pair.named(node))

    def _stretch_of(self, node: exp.Expr) -> exp.Expr | None:
        """Returns the FLOOR or STEP of row time that is in a value, if any."""
        for one in node.find_all(exp.TimestampTrunc, exp.DateBin):
            is_step = isinstance(one, exp.DateBin)
            if self._is_row_time(one.expression if is_step else one.this):
                return one
        return None

    def _refuse_time_of_side(self, nodes: Sequence[exp.Expr]) -> None:
        """Refuses what goes by the time of one side of a join, which does not go on."""
        for column in (it for one in nodes for it in one.find_all(exp.Column)):
            found = self.pair.named(column)
            if any(one.is_time and one.is_of_side for _, one in found):
                name = column.sql()
                told = f'an order of "{name}", in which joined rows are not'
                hint = (
                    f"a query of SELECT STREAM {name} AS ROWTIME, .. ORDER BY {name} "
                    "WITHIN INTERVAL '1' HOUR may stand in front, and makes it theirs"
                )
                raise self._wrong(column, told, "ROWTIME, when joined rows are", hint)

    def _timed(
        self, columns: Columns, time: str, selected: Sequence[Node]
    ) -> steps.Made:
        """Returns the stream with its columns, and its row time if it is none."""
        every = {
            ROWTIME if name.upper() == ROWTIME else name: text for name, text in columns
        }
        shown = tuple(every)
        # The row time goes on with every row, whether it comes out or not.
        every.setdefault(ROWTIME, Expression(time))
        given = next((it for name, it in selected if name.upper() == ROWTIME), None)
        if given is not None:
            scope = Scope.pair(self.step.schema, steps.NOBODY)
            self.query.refuse_no_time(ROWTIME, every[ROWTIME], scope, given)
        order = self.query.query.args.get("order")
        within = order.args.get(syntax.WITHIN) if order is not None else None
        lateness = self.query.windows.length(within) if within else spec.NO_TIME
        if given is None or self._is_row_time(given):
            step = steps.projected(self.step, tuple(every.items()))
            # What repairs the order of rows comes before anything finds them late.
            return steps.Made(
                steps.timed_anew(step, lateness) if within else step, shown
            )
        every[_OWN_TIME] = Expression(time)
        step = spec.InRowTime(
            steps.projected(self.step, tuple(every.items())), _OWN_TIME
        )
        # Rows that are late from here on are told as the query has made them.
        return steps.Made(steps.timed_anew(steps.only(step, shown), lateness), shown)

    def _distinct(self, made: steps.Made, selected: Sequence[Node]) -> steps.Made:
        """Returns the first of equal rows of one stretch of row time."""
        stretches = [it for _, one in selected if (it := self._stretch_of(one))]
        times = [(name, one) for name, one in selected if self._is_row_time(one)]
        own = {name for name, one in times if isinstance(one, exp.Column) and one.table}
        if not stretches and not times:
            self._refuse_time_of_side([one for _, one in selected])
            told = "DISTINCT without a stretch of row time"
            hint = "SELECT STREAM DISTINCT FLOOR(s.ROWTIME TO HOUR), .."
            raise self._wrong(
                self.query.query.expressions[0],
                *(told, "a FLOOR or STEP of ROWTIME, or s.ROWTIME", hint),
            )
        # ROWTIME alone is the time of what comes out, which makes no rows different.
        ignored = {name for name, _ in times} - own if stretches or own else set()
        by = tuple(
            ROWTIME if name.upper() == ROWTIME else name
            for name, _ in selected
            if name not in ignored
        )
        # Of several stretches rows are alike within the shortest alone.
        within = spec.NO_TIME
        if not own and stretches:
            lengths = map(self.query.windows.longest, stretches)
            within = min(lengths, key=lambda span: span.microseconds)
        return steps.first_of_each(made, by, within)

    def _sorted_within(self, leading: exp.Ordered) -> spec.Span:
        """Returns the stretch of row time that is sorted as one; none: single times."""
        node = leading.this
        if leading.args.get("desc"):
            told, hint = "ORDER BY time, descending", "a stream goes on in row time"
            raise self._wrong(node, told, "ascending", hint)
        # Sorting by the new ROWTIME is what a time of its own does anyway.
        given = [
            one.sql()
            for name, one in self.query.outputs(self.pair)
            if name.upper() == ROWTIME
        ]
        if self._is_row_time(node) or node.sql() in given:
            return spec.NO_TIME
        stretch = self._stretch_of(node)
        if stretch is None:
            self._refuse_time_of_side([node])
            hint = "ORDER BY ROWTIME, x sorts rows of equal times"
            told = "ORDER BY what does not go on with time"
            raise self._wrong(node, told, "first ROWTIME, or FLOOR or STEP of it", hint)
        if self.query.query.args.get("group"):
            return spec.NO_TIME  # at whose ends the groups come out
        return self.query.windows.stretch(stretch)

    # Windows.

    def _added(self, word: str, text: str) -> str:
        """Returns the column in front of windows that has a value."""
        name = f"{word} {len(self.columns)}"
        # A value that is looked at twice is one column, of each word its own.
        same = (it for it, known in self.columns.items() if known == text)
        known = next((it for it in same if it.startswith(word)), name)
        self.columns[known] = text
        return known

    def _value(self, function: exp.Expr) -> str:
        """Returns the column of the values that a function looks at."""
        argument = argument_of(function, self.streams.text)
        return self._added(_VALUE, self.query.written(argument, self.pair))

    def _value_of_group(self, function: exp.Expr) -> str:
        """Returns the column of the values that a function of groups looks at."""
        if isinstance(function, exp.Lag | syntax.ExpAvg):
            told = f"{syntax.called(function)} of a group"
            raise self._wrong(function, told, "OVER and a window")
        return self._value(function)

    def _in_front(self, *more: tuple[str, str]) -> spec.InRowTime:
        """Returns the rows with the columns that windows look at, in row time."""
        columns = {**dict(more), **self.columns}
        texts = ((name, Expression(text)) for name, text in columns.items())
        return spec.InRowTime(steps.projected(self.step, tuple(texts)), ROWTIME)

    # Groups.

    def _grouped(self, group: exp.Group, nodes: Sequence[Node]) -> tuple[Columns, str]:
        """Returns the columns of groups, at the end of their stretch of row time."""
        keys = group.expressions
        texts = [self.query.written(one, self.pair) for one in keys]
        groups = {text: self._added(_GROUP, text) for text in texts}
        # What groups and functions look at is computed in front of the window, so
        # that the kernel has columns and no expression.
        having = self.query.query.args.get("having")
        every = [*(node for _, node in nodes), *([having] if having else [])]
        asking = {
            id(one): (one, self._value_of_group(one))
            for one in values.functions_in(every)
        }
        source = self._in_front((ROWTIME, self.time))
        asked, results = computed(asking, source.schema, self.streams.text)
        window, end = self._window_of(group, asked)
        names = tuple(groups.values())
        # A window that begins with a row is one of its group alone.
        by = names if isinstance(window.until, spec.firing.FromFirst) else ()
        fired = asked.windowed(source, window, by=by, groups=() if by else names)
        made = values.OfGroups(self.query, self.pair, keys, groups, results, end)
        self.step, columns = made.selected(fired, nodes, having)
        return columns, end

    def _window_of(
        self, group: exp.Group, asked: steps.Asked
    ) -> tuple[spec.firing.Tumbling, str]:
        """Returns how long groups last, and the time at which they come out."""
        stagger: exp.Expr | None = group.args.get(syntax.STAGGER)
        is_moment = not any(map(self._stretch_of, group.expressions)) and any(
            map(self._is_row_time, group.expressions)
        )
        if stagger or is_moment:
            # Rows of one time are over with the next one that there can be.
            length = self.query.windows.length(stagger) if stagger else spec.Span(0, 1)
            if stagger and not (length.is_exact and length.microseconds):
                raise self._wrong(stagger, "a window of months, or of nothing", "HOUR")
            # When it comes out is known by the first time that is in it.
            first = asked.total(spec.firing.Fold.FIRST, ROWTIME)
            until = spec.firing.Tumbling(spec.firing.FromFirst(length))
            micros = length.microseconds if stagger else 0
            end = f"timestamp_micros(unix_micros(l.`{first}`) + {micros})"
            return until, end
        policy, end = self._ended(group)
        return spec.firing.Tumbling(policy), end

    def _ended(self, group: exp.Group) -> tuple[spec.firing.Policy, str]:
        """Returns what a group lasts, and when it ends as an expression over its row.

        Of several stretches the shortest counts, with which the longer ones end too:
        a day ends with each week, month or year, a month with a year, no week with it.
        """
        time, found = f"l.{ROWTIME}", map(self._stretch_of, group.expressions)
        times = [one for one in found if one is not None]
        units = [it for one in times if (it := unit_of_calendar(one))]
        exact = [one for one in times if not unit_of_calendar(one)]
        every = (self.query.windows.stretch(one).microseconds for one in exact)
        first, *longer = sorted(every) or (0,)
        if first:
            is_whole = not any(one % first for one in (*longer, *[_DAY][: len(units)]))
        else:
            is_whole = bool(units) and ("WEEK" not in units or {*units} == {"WEEK"})
        if not is_whole:
            self._refuse_time_of_side(group.expressions)
            hint = "GROUP BY x, STEP(ROWTIME BY INTERVAL '1' MINUTE)"
            told = f"GROUP BY with {len(times) or 'no'} stretches of row time"
            raise self._wrong(group, told, _AT_ITS_END, hint)
        if first:
            lasts = spec.firing.ByTime(spec.Span(0, first))
            return lasts, steps.end_of(time, first)
        unit = min(units, key=_MONTHS.__getitem__)
        return spec.firing.ByCalendar(_MONTHS[unit]), end_of_calendar(time, unit)

    # Functions over the rows before each row.

    def _over(self, nodes: Sequence[Node]) -> tuple[Columns, str]:
        """Returns the columns of each row, and what functions are of rows before it."""
        # Functions over the same rows are one window; others stand behind it, and see
        # the rows in the same order.
        apart: dict[_Window, dict[int, tuple[exp.Expr, str]]] = {}
        for node in (it for _, one in nodes for it in one.find_all(exp.Window)):
            seen = self.query.windows.of_function(node)
            order = self.query.windows.meant(node).args.get("order")
            cut = (exp.TimestampTrunc, exp.DateBin)
            stretches = (it for one in seen.parts for it in one.find_all(*cut))
            self._refuse_time_of_side([*([order] if order else []), *stretches])
            texts = (self.query.written(one, self.pair) for one in seen.parts)
            by = tuple(self._added(_PART, text) for text in texts)
            function = self._with_usual(node.this), self._value(node.this)
            apart.setdefault((seen.window, by), {})[id(node)] = function
        every = (one for some in apart.values() for one in some)
        results = {one: f"{_RESULT} {number}" for number, one in enumerate(every)}

        def of_row(node: exp.Expr) -> exp.Expr | None:
            if isinstance(node, exp.Window):
                return own_column(results[id(node)])
            if isinstance(node, exp.Column):
                text = self.query.written(node, self.pair)
                return own_column(self._added(_GROUP, text))
            return None

        written = [(name, values.rewritten(node, of_row)) for name, node in nodes]
        source = self._in_front((ROWTIME, self.time))
        for (window, by), some in apart.items():
            columns = [(it, steps.column_of(it)) for it in source.schema.names]
            asked, found = computed(some, source.schema, self.streams.text)
            fired = asked.windowed(source, window, by=by)
            columns += (
                (results[it], values.written_over(self.query, one, fired))
                for it, one in found.items()
            )
            behind = steps.projected(fired, tuple(columns))
            source = spec.InRowTime(behind, ROWTIME)
        # The windows have given rows in row time: nothing must sort them again.
        self.step = source.source
        return [
            (name, values.written_over(self.query, node, self.step))
            for name, node in written
        ], f"l.{ROWTIME}"

    def _with_usual(self, function: exp.Expr) -> exp.Expr:
        """Returns a function whose value where there is no row is a column of ours."""
        new = function.copy()
        lag = new.find(exp.Lag)
        usual = lag.args.get("default") if lag is not None else None
        if lag is None or usual is None or not usual.find(exp.Column):
            return function
        # It is what the row itself has, not the one that is looked for.
        own = own_column(self._added(_GROUP, self.query.written(usual, self.pair)))
        lag.set("default", own)
        return new
