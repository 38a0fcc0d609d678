"""A table whose rows come out at the end of each hour in which they met nobody.

    FROM sales OVER (ORDER BY FLOOR(ROWTIME TO HOUR) RANGE CURRENT ROW) AS s
    RIGHT JOIN cities AS c ON s.city = c.city

    sales    10:05 Rome    10:50 Oslo    | 11:20 Rome
    pairs    10:05 Rome    10:50 Oslo    | 11:20 Rome
    alone                          11:00 | Bonn        12:00 Bonn, Oslo

The rows of an hour are one row with a list, which meets the rows of the table for which
no item of the list would be a partner. An hour in which no row came has no end here.
"""

from __future__ import annotations

from collections.abc import Callable

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream import steps, syntax
from dovetail.dialects.sqlstream.functions import as_spark
from dovetail.dialects.sqlstream.parser import ROWTIME
from dovetail.dialects.sqlstream.plain import kind_of
from dovetail.dialects.sqlstream.query import Query
from dovetail.dialects.sqlstream.rows import Pair
from dovetail.dialects.sqlstream.single import KnownStreams
from dovetail.dialects.trees import sided
from dovetail.expression import Expression, Scope, parse
from dovetail.schema import Schema

_ITEM, _ITEMS = "item", "items"


def keeps_table(query: Query) -> bool:
    """Tells whether a query keeps the rows of a table that met nobody in an hour."""
    joins = [*(query.query.args.get("joins") or ())]
    if len(joins) != 1 or joins[0].args.get(syntax.SOUGHT):
        return False
    first = query.query.args["from_"]
    pair = Pair(query.rows_of(first.this), query.rows_of(joins[0].this))
    kind = kind_of(joins[0], query.text)
    tables = {hand for hand in spec.HANDS if not pair.side(hand).is_stream}
    table = spec.Hand.RIGHT if pair.left.is_stream else spec.Hand.LEFT
    if len(tables) != 1:
        return False
    window = pair.side(table.other).window
    return kind.preserves(table) and isinstance(window, spec.HopUnit)


def without_table(query: exp.Select) -> exp.Select:
    """Returns a query that keeps no row of its table: what the stream gives at once."""
    inner = query.copy()
    (join,) = inner.args["joins"]
    is_full = join.side == "FULL" or (join.kind == "OUTER" and not join.side)
    join.set("side", None)
    if is_full:
        # Of both sides the one of the stream is left.
        join.set("side", "LEFT")
    join.set("kind", None)
    return inner


class Hourly:
    """The rows of a table that met nobody in an hour, while they become a join."""

    def __init__(self, known: KnownStreams, query: Query) -> None:
        """Finds both sides, and what makes them partners."""
        self.known = known
        self.query = query
        (self.written,) = query.query.args["joins"]
        first = query.query.args["from_"].this
        self.pair = Pair(query.rows_of(first), query.rows_of(self.written.this))
        (self.table,) = (
            hand for hand in spec.HANDS if not self.pair.side(hand).is_stream
        )
        self.stream = self.table.other
        self.conditions = [*query.conditions(self.written, self.pair)]
        # What conditions look at of the stream's rows, under names in an item.
        self.fields: dict[str, str] = {}

    def made(self) -> spec.Step:
        """Returns the rows, each with its time in front."""
        partner = " AND ".join(
            self._said(one, self._of_item) for one in self.conditions
        )
        # Only now it is known which values of the stream the conditions look at.
        hours = self.known.add("hours", self._hours())
        found = f"exists(l.`{_ITEMS}`, {_ITEM} -> {partner})"
        # A condition that is null makes nobody a partner.
        holds = [f"NOT coalesce({found}, false)"]
        scope = Scope.pair(self._schema(self.stream), self._schema(self.table))
        for one in self.pair.side(self.table).kept:
            own = sided(one, spec.Hand.RIGHT)
            holds.append(self.query.spelled(own, scope, one))
        if where := self.query.query.args.get("where"):
            holds.append(f"({self._said(where.this, self._of_nobody)})")
        columns = tuple(
            (name, Expression(self._said(node, self._of_nobody)))
            for name, node in self.query.outputs(self.pair)
        )
        # Each hour meets all rows of the table: what parts them is no equality.
        join = spec.JoinSpec(
            spec.Side(spec.Named(hours), spec.Unstated()),
            spec.Side(self.pair.side(self.table).source, spec.Unstated()),
            spec.Kind.INNER,
            spec.Clock.EVENT,
            (),
            Expression(" AND ".join(holds)),
            select=spec.Columns(columns),
        )
        return self.known.joined(steps.with_row_time(join), {})

    def _hours(self) -> spec.Step:
        """Returns a row for each hour with the list of its rows, at its end."""
        rows = self.pair.side(self.stream)
        assert isinstance(rows.source, spec.Named)  # noqa: S101 - a stream has a name
        step = self.known.step(rows.source.name)
        for one in rows.kept:
            step = spec.Filtered(step, Expression(self._of_stream(one)))
        parts = ", ".join(f"'{name}', {text}" for text, name in self.fields.items())
        time = next(one.value for one in rows.columns if one.is_time)
        columns = (
            (ROWTIME, Expression(self._of_stream(time))),
            (_ITEMS, Expression(f"named_struct({parts})")),
        )
        match rows.window:
            case spec.HopUnit() as window if window.length.is_exact and (
                window.unit != "week"
            ):
                size = window.length.microseconds
            case _:
                told = "a table whose rows come out each week, month or year"
                raise self.query.text.not_yet(self.written, told)
        until = spec.firing.Tumbling(spec.firing.ByTime(spec.Span(0, size)))
        source = spec.InRowTime(steps.projected(step, columns), ROWTIME)
        asked = steps.Asked()
        items = (_ITEMS, steps.column_of(asked.values(_ITEMS)))
        fired = asked.windowed(source, until)
        ended = (ROWTIME, Expression(steps.end_of(f"l.{ROWTIME}", size)))
        return steps.projected(fired, (ended, items))

    # What the query says, of an hour's items and where nobody has come.

    def _said(self, node: exp.Expr, of_stream: Callable[[exp.Expr], exp.Expr]) -> str:
        """Returns an expression over an hour and a row of the table."""

        def meant(part: exp.Expr) -> exp.Expr:
            if not isinstance(part, exp.Column):
                return part
            if not part.table and part.name.upper() == ROWTIME:
                return exp.column("row_time")
            hand, one = self.query.shown(part, self.pair, self.table)
            if hand is self.table:
                return sided(one.value, spec.Hand.RIGHT)
            return of_stream(one.value)

        scope = Scope.pair(self._schema(self.stream), self._schema(self.table))
        tree = as_spark(node.transform(meant), scope, self.query.text)
        return tree.sql(dialect="spark")

    def _schema(self, hand: spec.Hand) -> Schema:
        """Returns the columns of one side's rows."""
        return self.query.schema_of(self.pair.side(hand), hand)

    def _of_stream(self, value: exp.Expr) -> str:
        """Returns a value over the columns of the stream's own rows."""
        scope = Scope.pair(self._schema(self.stream), steps.NOBODY)
        return self.query.spelled(sided(value, spec.Hand.LEFT), scope, value)

    def _of_item(self, value: exp.Expr) -> exp.Expr:
        """Returns what an item of the list has of a value."""
        text = self._of_stream(value)
        name = self.fields.setdefault(text, f"f{len(self.fields)}")
        return exp.column(name, table=_ITEM)

    def _of_nobody(self, value: exp.Expr) -> exp.Expr:
        """Returns what stands for a value of a row that has not come."""
        text = self._of_stream(value)
        scope = Scope.pair(self._schema(self.stream), steps.NOBODY)
        kind = parse(Expression(text), scope).type
        return exp.maybe_parse(f"CAST(NULL AS {kind})", dialect="spark")
