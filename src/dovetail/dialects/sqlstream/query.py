"""A query of s-Server's SQL to a join: its tables, its conditions, its columns.

    FROM a OVER (..) AS x JOIN b ON .. LEFT JOIN c ON .. WHERE ..
         rows x ----+
         rows b ----+-> join, its rows inherit both lives ----+
         rows c ----------------------------------------------+-> join -> SELECT

Rows of a query are those of an input or of a join, and know which columns there are
under which name of a table. A subquery without a join has no rows of its own: its
columns are expressions over those of its stream, and its WHERE is part of conditions.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import zip_longest
from typing import Protocol

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream import casts, plain, sought, steps, syntax
from dovetail.dialects.sqlstream.calls import of_function
from dovetail.dialects.sqlstream.functions import as_spark, clock_hint, refusal
from dovetail.dialects.sqlstream.literals import stated
from dovetail.dialects.sqlstream.merged import Merging
from dovetail.dialects.sqlstream.parser import ROWTIME, Filled, Text, folded
from dovetail.dialects.sqlstream.rows import Pair, Rows, Shown
from dovetail.dialects.sqlstream.scalars import is_behind, is_hidden
from dovetail.dialects.sqlstream.windows import Windows
from dovetail.dialects.trees import (
    conjuncts,
    own_column,
    replaced,
    sided,
    type_of,
)
from dovetail.errors import DovetailError, UnsupportedError
from dovetail.expression import Expression, Scope, parse
from dovetail.schema import AtomicType, Schema

_LENGTHS = (
    "CAST((a - b) SECOND AS INTEGER) is a number of seconds, TSDIFF(b, a) one of "
    "milliseconds"
)
_MOMENTS = (AtomicType.TIMESTAMP, AtomicType.TIMESTAMP_NTZ)


class Known(Protocol):
    """What a text has beside joins: inputs, and streams of its own as further ones."""

    text: Text
    inputs: dict[str, spec.Input]

    def derived(self, filled: Filled, title: str, within: tuple[Filled, ...]) -> str:
        """Returns the name under which the rows of a query are an input."""

    def dataset(self, title: str, step: spec.Step) -> str:
        """Returns the name under which rows that are made once are an input."""


class Query:
    """One query of a text, translated from the innermost join outward.

    `within` are the queries that read it.
    """

    def __init__(
        self, known: Known, filled: Filled, *, within: tuple[Filled, ...] = ()
    ) -> None:
        """Keeps what a query is read with."""
        assert isinstance(filled.query, exp.Select)  # noqa: S101 - others are derived
        self.known = known
        self.within = within
        self.text = text = known.text
        self.inputs = known.inputs
        self.query = query = filled.query
        self.filled = filled
        self.windows = Windows.of(text, query)
        # Columns that USING and NATURAL make one of two.
        self.merged = Merging(text)
        # Of which rows of a joined input a cast fails that ON, WHERE or a subquery has.
        self.tries: dict[str, list[str]] = {}
        # Whether one may fail of what the join selects.
        self.tries_values = False

    @property
    def is_join(self) -> bool:
        """Tells whether the query joins."""
        return bool(self.query.args.get("joins"))

    def join(self, *, is_stream: bool = False) -> spec.JoinSpec:
        """Returns the join of the query, whose rows may be a stream of the text."""
        plain.refuse_unread(self.query, self.text)
        pair, join, where = self._joins()
        if is_stream and join.clock is spec.Clock.EVENT:
            self.refuse_time_of_side(pair)
        listed = [*self.outputs(pair)]
        columns = tuple(
            (name, Expression(self.written(node, pair, can_ask_time=True)))
            for name, node in listed
        )
        self.tries_values = any(self.failures([one for _, one in listed], pair))
        if join.clock is spec.Clock.EVENT:
            for (name, text), (_, node) in zip(columns, listed, strict=True):
                self.refuse_no_time(name, text, self.scope(pair), node)
        join = replace(join, select=spec.Columns(columns))
        return self._filtered(join, pair, where)

    def joined(self) -> Rows:
        """Returns the rows of the joins with all their columns, and their row time."""
        pair, join, where = self._joins()
        rows = self._nested(self._filtered(join, pair, where), pair)
        assert isinstance(rows.source, spec.Nested)  # noqa: S101 - as it is made
        if not rows.is_stream:
            return rows
        whole = steps.with_row_time(rows.source.join)
        time = Shown("", ROWTIME, own_column(ROWTIME), is_time=True)
        source = replace(rows.source, join=whole)
        return replace(rows, source=source, columns=(*rows.columns, time))

    def _joins(self) -> tuple[Pair, spec.JoinSpec, list[exp.Expr]]:
        """Returns the last join and its sides, and what of WHERE it does not test."""
        first, joins = self.query.args["from_"], self.query.args.get("joins")
        if not joins:
            raise self.text.not_yet(self.query, "a query without a join")
        rest = [*conjuncts(self.query.args.get("where"))]
        later = plain.asking_time(self.query)
        rest = [one for one in rest if one not in later]
        # What EXISTS and IN tell can be tested behind all joins alone.
        told = [
            one
            for one in rest
            if any(is_hidden(it.name) for it in one.find_all(exp.Column))
        ]
        rest = [one for one in rest if one not in told]
        pair, join, rest = self._in_a_row(first.this, joins, rest)
        return pair, join, [*rest, *told]

    def _in_a_row(
        self,
        first: exp.Expr,
        joins: Sequence[exp.Join],
        rest: list[exp.Expr],
        *,
        is_whole: bool = True,
    ) -> tuple[Pair, spec.JoinSpec, list[exp.Expr]]:
        """Returns the last of some joins, and the conditions that none tests.

        They are those of the whole query, or stand in parentheses on a side of another.
        """
        left, joins = self.rows_of(first), [*joins]
        # What EXISTS and IN look at stands behind all that meets.
        met = [one for one in joins if not is_behind(one)]
        is_inner = all(plain.kind_of(one, self.text) is spec.Kind.INNER for one in met)
        tested = [*rest, *(it for one in joins if (it := one.args.get("on")))]
        self.try_rows(left, tested)
        for number, written in enumerate(joins):
            if not written.args.get(syntax.SOUGHT):
                pair = Pair(left, self.rows_of(written.this))
                self.try_rows(pair.right, tested)
                conditions = [*self.conditions(written, pair)]
            else:
                pair, conditions, more = self._sought(written, left)
                joins[number + 1 : number + 1] = more
            if keys := written.args.get(syntax.KEYS):
                self._refuse_no_keys(conditions, keys.expressions, pair)
            # What WHERE tests of both sides is a condition of the first join that has
            # both; of an outer join it is none, since it drops rows behind it.
            if is_inner and number < len(met):
                ends = number == len(met) - 1
                here = [one for one in rest if ends or pair.hands(one) is not None]
                conditions += here
                rest = [one for one in rest if one not in here]
            # Rows of a stream that meet tables alone come out at once.
            ends = is_whole and all(
                self.text.joins_table(it, self.inputs) for it in met[number + 1 :]
            )
            join = self._joined(written, pair, conditions, is_last=ends)
            pair = pair.timed(join)
            if written.args.get(syntax.SOUGHT):
                pair = pair.without_right(written.text(syntax.TOLD))
            if number == len(joins) - 1:
                return pair, join, rest
            left = self._nested(join, pair, number)
        raise AssertionError

    def _sought(
        self, written: exp.Join, left: Rows
    ) -> tuple[Pair, list[exp.Expr], list[exp.Join]]:
        """Returns rows and those in which EXISTS or IN looks, and what it looks for.

        Of NOT IN some joins behind this one may look for nulls.
        """
        query, alias = written.this.this, written.this.alias
        values = written.args[syntax.SOUGHT].expressions
        filled, terms = Filled(query), list[exp.Expr]()
        if plain.is_plain(query) and not query.args.get("joins"):
            inner = Query(self.known, filled, within=(*self.within, self.filled))
            plain.refuse_unread(query, self.text)
            rows = self.rows_of(query.args["from_"].this)
            terms = [*conjuncts(query.args.get("where"))]
            named = inner.named_columns(Pair.alone(rows)) if values else ()
            listed = [one for _, one in named]
        else:
            rows = self._subquery(filled, alias)
            listed = [exp.column(one.name, table=one.table) for one in rows.columns]
        if rows.is_stream:
            what = "EXISTS, IN or ANY of a query of a stream"
            hint = "JOIN with a window on each stream looks for rows of another one"
            raise self.text.wrong(query, what, "a query of tables", hint)
        alone = Pair.alone(rows)
        if values and len(listed) != len(values):
            what = f"a query behind IN or ANY that selects {len(listed)}"
            expected = f"{len(values)}, as many as values in front of it"
            raise self.text.wrong(written, what, expected)
        pair = Pair(left, rows.named_apart(alias))
        found = [alone.over_both(one, alias) for one in listed]
        terms = [alone.over_both(one, alias) for one in terms]
        wanted = sought.compared(written, found) if values else []
        true = [*terms, *conjuncts(self.query.args.get("where"))]
        is_apart = all(pair.hands(it) == {spec.Hand.RIGHT} for it in terms)
        told, more = sought.looked_for(written, wanted, true, is_apart=is_apart)
        return pair, [*terms, *told], more

    def _refuse_no_keys(
        self, nodes: Sequence[exp.Expr], keys: Sequence[exp.Expr], pair: Pair
    ) -> None:
        """Refuses to look for rows of a group by what it is not by."""
        known = {self.written(one, pair) for one in keys}
        for one in (it for node in nodes for it in node.find_all(exp.Column)):
            is_left = pair.hands(one) == {spec.Hand.LEFT}
            if is_left and self.written(one, pair) not in known:
                told = f'rows looked for by "{one.sql()}", which is in no GROUP BY'
                hint = "a query around the one with groups may look for them"
                raise self.text.wrong(one, told, "one that is", hint)

    def try_rows(self, rows: Rows, tested: Sequence[exp.Expr]) -> None:
        """Keeps of which rows of a stream a cast fails, in front of what looks at them.

        Of what looks at both sides nobody knows it: it is computed of pairs.
        """
        if not rows.is_stream or not isinstance(rows.source, spec.Named):
            return
        names = self.schema_of(rows, spec.Hand.LEFT).names
        bare = tuple(Shown("", one, own_column(one)) for one in names)
        kept = exp.and_(*rows.kept) if rows.kept else exp.true()
        # What a subquery computes it does of the rows for which its WHERE is true.
        values = [
            exp.Case(ifs=[exp.If(this=kept.copy(), true=one.value.copy())])
            for one in rows.columns
        ]
        own = Pair.alone(replace(rows, columns=bare))
        tries = self.tries.setdefault(rows.source.name, [])
        tries += self.failures([*rows.kept, *values], own)
        tries += self.failures(tested, Pair.alone(rows))

    def failures(self, nodes: Sequence[exp.Expr], pair: Pair) -> Iterator[str]:
        """Yields when a cast in one of some values fails that is computed of a row."""
        return casts.failures(
            nodes,
            written=partial(self.written, pair=pair, can_ask_time=not pair.is_alone),
            sees=lambda part: pair.hands(part) is not None,
            scope=self.scope(pair),
        )

    # What stands behind FROM and JOIN.

    def rows_of(self, table: exp.Expr) -> Rows:
        """Returns the rows that a table, a stream or a subquery stands for."""
        alias, window = table.alias, table.args.get(syntax.WINDOW)
        match table:
            case exp.Expr(args={"joins": [*joins]}) if joins:
                return self._in_parentheses(table, joins)
            case exp.Subquery(this=exp.Table() | exp.Subquery() as first) if not alias:
                rows = self.rows_of(first)
            case exp.Table() if inner := self.text.filled.get(folded(table.name)):
                rows = self._subquery(inner, alias or table.name)
            case exp.Table(this=exp.Identifier()):
                rows = self._input(table, alias or table.name)
            case exp.Subquery(this=exp.Select() | exp.SetOperation() as query):
                rows = self._subquery(Filled(query), alias)
            case exp.Table(this=exp.Anonymous() as function):
                query = of_function(function, self.text)
                rows = self._subquery(Filled(query), alias)
            case exp.Values():
                step = stated(table, self.text, self.spelled)
                known = self.known.dataset(alias or "VALUES", step)
                rows = self._of_input(known, alias)
            case _:
                raise self.text.not_yet(table, f"{table.key.upper()} behind FROM")
        rows = self._renamed(table, rows)
        return rows if window is None else self._in_window(table, rows, window)

    def rows_alone(self, table: exp.Expr) -> Rows:
        """Returns the rows of a table that is not joined, and so has no window."""
        rows = self.rows_of(table)
        if rows.written is not None:
            raise self.text.wrong(rows.written, "a window without a join", "none")
        return rows

    def _in_window(self, table: exp.Expr, rows: Rows, window: exp.Window) -> Rows:
        """Returns the rows of a stream with the window that stands behind it."""
        if not rows.is_stream:
            what = f'a window on the table "{table.alias_or_name}"'
            raise self.text.wrong(window, what, "a stream", "leave OVER out")
        own = self.windows.of_table(window)
        if rows.kept and isinstance(own, spec.RowsPreceding):
            rows = self._renamed(table, self._counted(table, table.alias))
        return replace(rows, window=own, written=window)

    def _counted(self, table: exp.Expr, alias: str) -> Rows:
        """Returns the rows of a subquery that filters, for ROWS to count."""
        inner = self.text.filled.get(folded(table.name))
        if isinstance(table, exp.Subquery):
            inner = Filled(table.this)
        if inner is None:
            raise self.text.not_yet(table, "ROWS of what a function gives")
        within = (*self.within, self.filled)
        alias = alias or table.name
        return self._of_input(self.known.derived(inner, alias, within), alias)

    def _in_parentheses(self, table: exp.Expr, joins: Sequence[exp.Join]) -> Rows:
        """Returns the rows of joins on a side of another: a JOIN (b JOIN c ON ..)."""
        first = table.copy()
        first.set("joins", None)
        pair, join, _ = self._in_a_row(first, joins, [], is_whole=False)
        return self._nested(join, pair)

    def schema_of(self, rows: Rows, hand: spec.Hand) -> Schema:
        """Returns the columns that the rows of a side have themselves."""
        return spec.input_of(rows.source, self.inputs, hand.value).schema

    def shown(
        self, column: exp.Column, pair: Pair, usual: spec.Hand
    ) -> tuple[spec.Hand, Shown]:
        """Returns the column that a name means; of one of USING that of a hand."""
        if self.merged.is_one(column):
            return next(it for it in self._found(column, pair) if it[0] is usual)
        return self._meant(column, pair)

    def _renamed(self, table: exp.Expr, rows: Rows) -> Rows:
        """Returns rows whose columns have other names, as `s AS t (a, b)` gives them.

        The row time is none of them.
        """
        alias = table.args.get("alias")
        if alias is None or not alias.columns:
            return rows
        names = [one.name for one in alias.columns]
        hidden = [
            it for it in rows.columns if it.is_time and it.name.upper() == ROWTIME
        ]
        shown = [one for one in rows.columns if one not in hidden]
        if len(names) != len(shown) or ROWTIME in map(str.upper, names):
            told = f"{len(names)} names for {len(shown)} columns"
            hint = "ROWTIME is none of them, and keeps its name"
            raise self.text.wrong(alias, told, "a name for each", hint)
        again = (replace(it, name=name) for it, name in zip(shown, names, strict=True))
        return replace(rows, columns=(*hidden, *again))

    def _input(self, table: exp.Table, alias: str) -> Rows:
        """Returns the rows of an input; the schema of its name may be left out."""
        known = self.text.input(table, self.inputs)
        declared = self.text.declared.get(folded(table.name))
        rows = self._of_input(known, alias)
        schema = self.inputs[known].schema
        said = {it.name.lower(): it for it in (declared.columns if declared else ())}
        columns = (
            it
            if it.is_time or it.name.lower() not in said
            else replace(
                it,
                value=casts.read_as(
                    said[it.name.lower()], it.value, schema[it.name].type
                ),
            )
            for it in rows.columns
        )
        return replace(rows, columns=tuple(columns))

    def _of_input(self, known: str, alias: str) -> Rows:
        """Returns the rows of an input under the name of a table."""
        source = self.inputs[known]
        shown = [
            Shown(alias, one, own_column(one), is_time=one == source.time)
            for one in source.schema.names
        ]
        if source.time and ROWTIME not in map(str.upper, source.schema.names):
            shown.append(Shown(alias, ROWTIME, own_column(source.time), is_time=True))
        is_stream = source.kind is spec.InputKind.STREAM
        window = spec.Range() if is_stream else spec.Unstated()
        return Rows(spec.Named(known), tuple(shown), is_stream, window)

    def _subquery(self, filled: Filled, alias: str) -> Rows:
        """Returns the rows of a subquery: of its join, or of what it looks at.

        What is more than that has rows of its own, and so has each one for a query that
        joins nothing.
        """
        inner, within = filled.query, (*self.within, self.filled)
        # By identity: two queries may say the same.
        if any(one is filled for one in within):
            raise self.text.not_yet(inner, "a query that reads what it fills")
        is_inside = self.is_join or (
            # Rows of tables are no stream of their own: they stay what they are.
            self.text.reads_tables(filled, self.inputs) and not inner.args.get("joins")
        )
        if not is_inside or not plain.is_plain(inner) or plain.gives_time(inner):
            name = self.known.derived(filled, alias, within)
            return self._of_input(name, alias)
        query = Query(self.known, filled, within=within)
        if inner.args.get("joins"):
            return self._of_joins(query, alias)
        plain.refuse_unread(inner, self.text)
        rows = query.rows_alone(inner.args["from_"].this)
        alone = Pair.alone(rows)
        kept = [*conjuncts(inner.args.get("where"))]
        shown = [*query._subcolumns(alone, alias)]
        return replace(
            rows,
            columns=tuple(shown),
            kept=(*rows.kept, *(query.over(one, alone) for one in kept)),
        )

    def _of_joins(self, query: Query, alias: str) -> Rows:
        """Returns the rows of a subquery that joins."""
        join = query.join(is_stream=True)
        for name, some in query.tries.items():
            self.tries.setdefault(name, []).extend(some)
        assert isinstance(join.select, spec.Columns)  # noqa: S101 - as it is made
        names = [name for name, _ in join.select.columns]
        is_stream = join.clock is spec.Clock.EVENT
        # Whoever reads the rows may ask for their time, whether it was selected or not.
        readers = (self.query, *(one.query for one in self.within))
        columns = (one for reader in readers for one in reader.find_all(exp.Column))
        asked = {one.name.upper() for one in columns}
        if is_stream and ROWTIME in asked and ROWTIME not in map(str.upper, names):
            join, names = steps.with_row_time(join), [ROWTIME, *names]
        shown = (
            Shown(alias, name, own_column(name), is_time=name.upper() == ROWTIME)
            for name in names
        )
        window = spec.Range() if is_stream else spec.Unstated()
        source = spec.Nested(join, alias or "a subquery")
        return Rows(source, tuple(shown), is_stream, window)

    def _subcolumns(self, alone: Pair, alias: str) -> Iterator[Shown]:
        """Yields the columns of a subquery; its rows keep their time."""
        # Whoever reads the rows may ask for their time, whether it was selected or not.
        has_time = False
        for name, node in self.named_columns(alone):
            column = node if isinstance(node, exp.Column) else None
            known = alone.named(column) if column is not None else []
            is_time = bool(known) and known[0][1].is_time
            has_time |= is_time
            yield Shown(alias, name, self.over(node, alone), is_time=is_time)
        times = (one for one in alone.left.columns if one.is_time)
        if not has_time and (time := next(times, None)):
            yield Shown(alias, ROWTIME, time.value, is_time=True)

    def over(self, node: exp.Expr, alone: Pair) -> exp.Expr:
        """Returns an expression over the columns of the rows themselves."""

        def own(part: exp.Column) -> exp.Expr:
            return self._meant(part, alone)[1].value.copy()

        return replaced(node, own)

    # Conditions.

    def conditions(self, written: exp.Join, pair: Pair) -> Iterator[exp.Expr]:
        """Yields what must be true of a pair, as ON, USING or NATURAL says it."""
        on, using = written.args.get("on"), written.args.get("using") or ()
        for word in {"CROSS", "NATURAL"} & {written.kind, written.method}:
            if on is not None or using:
                told = f"{word} JOIN with a condition"
                raise self.text.wrong(written, told, "none: say JOIN")
        yield from conjuncts(on)
        if written.method not in ("", "NATURAL"):
            raise self.text.not_yet(written, f"{written.method} JOIN")
        kind = plain.kind_of(written, self.text)
        equal = [*self.merged.equalities(written, pair, kind)]
        # Between tables after a comma WHERE has the condition.
        needs_one = not (written.kind == "CROSS" or written.args.get(syntax.COMMA))
        if needs_one and not equal and on is None:
            told = "a JOIN without a condition"
            raise self.text.wrong(written, told, "ON or USING (..)")
        yield from equal

    def _joined(
        self,
        written: exp.Join,
        pair: Pair,
        conditions: Sequence[exp.Expr],
        *,
        is_last: bool,
    ) -> spec.JoinSpec:
        """Returns the join of two, its equalities apart from its other conditions."""
        hard, soft = [], []
        for one in conditions:
            equal = self._equality(one, pair)
            if equal is None:
                soft.append(self.condition(one, pair))
            else:
                hard.append(equal)
        kind = plain.kind_of(written, self.text)
        for hand in spec.HANDS:
            for one in pair.side(hand).kept:
                soft.append(own := self.own(one, hand, pair))
                self.refuse_no_condition(own, self.scope(pair), one)
        if kind is spec.Kind.INNER and not hard and not soft:
            kind = spec.Kind.CROSS
        streams = [hand for hand in spec.HANDS if pair.side(hand).is_stream]
        is_free = written.args.get(syntax.SOUGHT) or is_hidden(written.alias_or_name)
        if len(streams) == 1 and not is_free:
            self._check_table(written, pair, kind, has_equality=bool(hard))
        # A row of a stream that meets a table comes out at once, unless a later join
        # meets it too: then it lives as long as its window says.
        at_once = streams if is_last and len(streams) == 1 else ()
        left, right = (
            spec.Side(side.source, spec.Unstated() if hand in at_once else side.window)
            for hand, side in ((hand, pair.side(hand)) for hand in spec.HANDS)
        )
        clock = spec.Clock.EVENT if streams else spec.Clock.BATCH
        condition = Expression(" AND ".join(f"({one})" for one in soft) or "true")
        # One partner tells that there are some.
        keep = spec.Keep(1) if written.args.get(syntax.TOLD) else spec.Unlimited()
        join = spec.JoinSpec(left, right, kind, clock, tuple(hard), condition)
        return self._filtered(replace(join, picks=spec.Picks(keep)), pair, ())

    def _check_table(
        self, written: exp.Join, pair: Pair, kind: spec.Kind, *, has_equality: bool
    ) -> None:
        """Refuses what a stream and a table cannot do."""
        if not has_equality:
            told = "a stream and a table without an equality between them"
            expected = "an equi-join, which may have other conditions beside it"
            raise self.text.wrong(written, told, expected)
        (table,) = (hand for hand in spec.HANDS if not pair.side(hand).is_stream)
        window = pair.side(table.other).window
        if kind.preserves(table) and isinstance(window, spec.HopUnit):
            told = "a table whose rows come out alone each hour"
            raise self.text.not_yet(written, told)
        if kind.preserves(table):
            raise self.text.wrong(
                written,
                "an outer join that keeps the rows of a table",
                "one that keeps those of the stream",
                "no row of a table is known never to match",
            )

    def _equality(self, node: exp.Expr, pair: Pair) -> spec.Equality | None:
        """Returns an equality between the sides, or None for any other condition."""
        if not isinstance(node, exp.EQ):
            return None
        both = (node.this, node.expression)
        sides = [pair.hands(one) for one in both]
        ours, theirs = {spec.Hand.LEFT}, {spec.Hand.RIGHT}
        texts = [Expression(self.written(one, pair)) for one in both]
        self.condition(node, pair)
        if sides == [ours, theirs]:
            return spec.Equality(texts[0], texts[1])
        if sides == [theirs, ours]:
            return spec.Equality(texts[1], texts[0])
        return None

    def _filtered(
        self, join: spec.JoinSpec, pair: Pair, where: Sequence[exp.Expr]
    ) -> spec.JoinSpec:
        """Returns a join that skips rows of which WHERE is not true.

        Of a side that comes out alone so does its subquery's WHERE: it is tested where
        the row is there.
        """
        drops = [f"NOT coalesce({self.condition(one, pair)}, false)" for one in where]
        for hand in spec.HANDS:
            if join.kind.preserves(hand):
                drops += [
                    f"(matched_{hand.value} AND NOT coalesce({own}, false))"
                    for own in (
                        self.own(one, hand, pair) for one in pair.side(hand).kept
                    )
                ]
        if not drops:
            return join
        told = Expression(" OR ".join(drops))
        return replace(join, picks=replace(join.picks, skip_when=told))

    def _nested(self, join: spec.JoinSpec, pair: Pair, number: int = 0) -> Rows:
        """Returns the rows of a join for the next one: all columns with own names."""
        columns, shown = dict[str, Expression](), []
        for name, hand, one in pair.named_apart():
            columns[name] = Expression(self.own(one.value, hand, pair))
            shown.append(replace(one, value=own_column(name)))
        inner = replace(join, select=spec.Columns(tuple(columns.items())))
        is_stream = join.clock is spec.Clock.EVENT
        window = spec.Inherited() if is_stream else spec.Unstated()
        source = spec.Nested(inner, f"join {number + 1}")
        return Rows(source, tuple(shown), is_stream, window)

    # Columns.

    def outputs(self, pair: Pair) -> Iterator[tuple[str, exp.Expr]]:
        """Yields the output columns; a second one of a name gets a number."""
        seen: dict[str, int] = {}
        for name, node in self.named_columns(pair):
            again = seen.get(name.lower(), 0)
            seen[name.lower()] = again + 1
            yield f"{name}_{again}" if again else name, node

    def named_columns(self, pair: Pair) -> Iterator[tuple[str, exp.Expr]]:
        """Yields what SELECT lists, under the names of what the query fills, if any."""
        listed = [*self._listed(pair)]
        columns, found = self.filled.columns, list[tuple[str, exp.Expr]]()
        # A stream's row time is none of its columns, but may be given as one.
        times = [one for one in listed if one[0].upper() == ROWTIME]
        if len(times) == 1 and len(listed) == len(columns) + 1 > 1:
            found, listed = times, [one for one in listed if one not in times]
        if columns and len(columns) != len(listed):
            told = f"{len(listed)} values for {len(columns)} columns"
            raise self.text.wrong(self.query, told, "a value for each")
        for column, (name, node) in zip_longest(columns, listed):
            if column is None:
                found.append((name, node))
            else:
                found.append((column.name, casts.written_into(column, node)))
        # What INSERT leaves out is null, or what CREATE STREAM says of it.
        whole = {one.name: one for one in self.filled.whole}
        filled = dict(found)
        yield from (one for one in found if one[0] not in whole)
        for name, column in whole.items():
            kinds = (one.kind for one in column.constraints)
            usual = (it for it in kinds if isinstance(it, exp.DefaultColumnConstraint))
            value = next((it.this for it in usual), exp.Null())
            yield name, filled.get(name) or casts.written_into(column, value)

    def _listed(self, pair: Pair) -> Iterator[tuple[str, exp.Expr]]:
        """Yields what SELECT lists, with names; stars as the columns they stand for."""
        for number, node in enumerate(self.query.expressions):
            match node:
                case exp.Star():
                    yield from self._star(pair, "")
                case exp.Column(this=exp.Star()):
                    yield from self._star(pair, node.table)
                case exp.Alias():
                    yield node.alias, node.this
                case exp.Column() | exp.Dot():
                    yield node.name, node
                case _:
                    yield f"EXPR${number}", node

    def _star(self, pair: Pair, table: str) -> Iterator[tuple[str, exp.Expr]]:
        """Yields all columns, or those of a table; the row time is none of them.

        With USING and NATURAL a column of both sides stands once, in front.
        """
        for merged in () if table else self.merged.known:
            yield merged.name, exp.column(merged.name)
        is_known = False
        for _, one in pair.columns():
            if table and one.table.lower() != table.lower():
                continue
            if is_hidden(one.table) or is_hidden(one.name):
                continue
            is_known = True
            if not one.is_row_time and (table or not self.merged.has(one)):
                yield one.name, exp.column(one.name, table=one.table)
        if not is_known:
            told = f'no table "{table}"' if table else "* of no table"
            raise self.text.wrong(self.query, told, "one behind FROM or JOIN")

    # Names and expressions.

    def written(self, node: exp.Expr, pair: Pair, *, can_ask_time: bool = False) -> str:
        """Returns an expression over `l` and `r` as the spec writes it."""
        self.refuse_query(node)

        def meant(part: exp.Column) -> exp.Expr:
            is_time = not part.table and part.name.upper() == ROWTIME
            if is_time and not pair.is_alone:
                if can_ask_time:
                    return exp.column("row_time")
                hint = "say of which stream: s.ROWTIME"
                raise self.text.wrong(part, "ROWTIME in a condition", "", hint)
            merged = self.merged.value_of(part, pair)
            if merged is not None:
                return merged
            hand, one = self._meant(part, pair)
            found = sided(one.value, hand)
            # What is wrong with its value is told where its name stands.
            for name in found.find_all(exp.Identifier):
                name.meta.update(part.this.meta)
            return found

        return self.spelled(replaced(node, meant), self.scope(pair), node)

    def condition(self, node: exp.Expr, pair: Pair) -> str:
        """Returns a condition over `l` and `r`, which is true or false."""
        self.refuse_query(node)
        for one in node.find_all(exp.AggFunc, exp.Window):
            hint = "HAVING tests groups, WHERE of a query around it tests other windows"
            function = one.this if isinstance(one, exp.Window) else one
            told = f"{syntax.called(function)} of many rows in a condition of each row"
            raise self.text.wrong(one, told, "columns of the row", hint)
        text = self.written(node, pair)
        self.refuse_no_condition(text, self.scope(pair), node)
        return text

    def refuse_no_time(
        self, name: str, text: Expression, scope: Scope, node: exp.Expr
    ) -> None:
        """Refuses a value that is no moment as the row time: x AS ROWTIME."""
        kind = type_of(text.text, scope)
        if name.upper() == ROWTIME and kind not in _MOMENTS:
            told = f"ROWTIME of the type {kind}"
            hint = "TO_TIMESTAMP(x) is the moment of so many milliseconds"
            raise self.text.wrong(node, told, "a TIMESTAMP", hint)

    def refuse_time_of_side(self, pair: Pair) -> None:
        """Refuses the time of one side as a column that the time of rows is."""
        for one in self.query.expressions:
            is_time = isinstance(one, exp.Column) and one.name.upper() == ROWTIME
            known = pair.named(one) if is_time and one.table else []
            if not all(it.is_of_rows for _, it in known):
                told = f'"{one.sql()}" as ROWTIME of rows that are at another time'
                hint = f"{one.sql()} AS ROWTIME makes it theirs, in its order"
                raise self.text.wrong(one, told, "ROWTIME, or another name", hint)

    def refuse_query(self, node: exp.Expr) -> None:
        """Refuses a query in an expression."""
        if query := node.find(exp.Query):
            hint = "in ON of outer joins what it sees outside is one table, by its name"
            raise self.text.not_yet(query, "a query in an expression", hint)

    def refuse_no_condition(self, text: str, scope: Scope, node: exp.Expr) -> None:
        """Refuses a value as a condition: WHERE amount."""
        kind = type_of(text, scope)
        if kind not in (AtomicType.BOOLEAN, AtomicType.NULL):
            told = f"a condition of the type {kind}"
            raise self.text.wrong(node, told, "what is true or false")

    def spelled(self, tree: exp.Expr, scope: Scope, node: exp.Expr) -> str:
        """Returns a tree as Spark writes it, or tells at its node what is wrong."""
        self.refuse_query(node)
        for call in tree.find_all(exp.Anonymous):
            if refused := refusal(call.name, node, self.text):
                raise refused
        said = as_spark(tree, scope, self.text)
        try:
            text: str = said.sql(dialect="spark")
        except ValueError as error:
            # sqlglot reckons with what stands in a call, and it may be no number.
            found = "a function of a value that it cannot have"
            raise self.text.wrong(node, found) from error
        try:
            parse(Expression(text), scope)
        except UnsupportedError as error:
            hint = _LENGTHS if "interval" in error.found else ""
            raise self.text.not_yet(node, error.found, hint) from error
        except DovetailError as error:
            told = error.expected, error.hint
            raise self.text.wrong(node, error.found, *told) from error
        return text

    def own(self, value: exp.Expr, hand: spec.Hand, pair: Pair) -> str:
        """Returns an expression over the columns of one side's rows."""
        return self.spelled(sided(value, hand), self.scope(pair), value)

    def scope(self, pair: Pair) -> Scope:
        """Returns the columns that the rows of both sides have themselves."""
        left, right = (self.schema_of(pair.side(hand), hand) for hand in spec.HANDS)
        return Scope.pair(left, right)

    def _found(self, column: exp.Column, pair: Pair) -> list[tuple[spec.Hand, Shown]]:
        """Returns the columns that a name may mean, at least one."""
        found = pair.named(column)
        if not found:
            every = {one.table for _, one in pair.columns()}
            tables = sorted(it for it in every if it and not is_hidden(it))
            name = column.meta.get("whole") or column.sql()
            where = f"in {' or '.join(tables)}" if tables else "without FROM"
            told = f'no column "{name}" {where}'
            raise self.text.wrong(column, told, "", clock_hint(column))
        return found

    def _meant(self, column: exp.Column, pair: Pair) -> tuple[spec.Hand, Shown]:
        """Returns the one column that a name means."""
        found = self._found(column, pair)
        if len(found) > 1:
            tables = [f'"{one.table}"' for _, one in found]
            told = f'the column "{column.name}", which {" and ".join(tables)} have'
            hint = "" if len({*tables}) > 1 else "s AS a JOIN s AS b names them apart"
            raise self.text.wrong(column, told, "the name of a table before it", hint)
        return found[0]
