"""Functions OVER rows of a table: each row has its place among those of its partition.

    rows       (b 5) (a 7) (a 3) (a 7)       PARTITION BY k ORDER BY x
    partition  [(a 3) (a 7) (a 7)] [(b 5)]   sorted, then lists of rows
    places      1     2     3        1       ROW_NUMBER
    peers       1..1  2..3  2..3     1..1    RANK, and up to where RANGE goes

What a function looks at is a slice of the list of its partition, told anew for each
row. Totals of all rows up to one are in a list, made along the partition once:

    values       3  7  7        SUM OVER (.. ROWS UNBOUNDED PRECEDING)
    up to each   3 10 17        behind what it is of no row
    from each   17 14  7        likewise, from the last row on
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream import folding, steps, syntax
from dovetail.dialects.sqlstream.aggregates import WindowFunction, argument_of
from dovetail.dialects.sqlstream.query import Query
from dovetail.dialects.sqlstream.rows import Pair
from dovetail.dialects.trees import own_column, replaced
from dovetail.expression import Expression
from dovetail.schema import AtomicType
from dovetail.spec.firing import Fold

_ROWS, _PLACE, _FIRST, _LAST = "(rows)", "(place)", "(first)", "(last)"
_GROUPS = "(groups)"
"""How many groups of peers begin up to each row."""
_WHOLE = "whole.`{}`"
_AS_PLACE = "(place + 1)"
_PEERS = (_FIRST, f"ROWS_MIN(`{_PLACE}`)"), (_LAST, f"ROWS_MAX(`{_PLACE}`)")
_RANKS = {
    "ROW_NUMBER": _AS_PLACE,
    "RANK": f"item.`{_FIRST}`",
    "DENSE_RANK": f"element_at(whole.`{_GROUPS}`, item.`{_FIRST}` + 1)",
}
_BESIDE: dict[type[exp.Expr], str] = {exp.Lag: "-", exp.Lead: "+"}
_AT = "IF({place} BETWEEN 1 AND size({list}), element_at({list}, {place}), {none})"
_START, _END = "1", f"size(l.`{_ROWS}`)"
"""The places of the first row of a partition, and of the last."""
_SLICE = "slice({list}, {first}, greatest({last} - {first} + 1, 0))"
_FRAMES = "ROWS, or RANGE from or to UNBOUNDED or CURRENT ROW"


@dataclass(slots=True)
class Overs:
    """The windows of a query, over rows that get a column for each."""

    query: Query
    pair: Pair
    step: spec.Step
    results: dict[int, exp.Expr] = field(default_factory=dict)

    def add(self, nodes: Sequence[exp.Expr]) -> None:
        """Computes what stands OVER in some expressions."""
        alike = dict[tuple[str, str], list[exp.Window]]()
        for window in (it for node in nodes for it in node.find_all(exp.Window)):
            if window.find_ancestor(exp.Window):
                told = "a function OVER rows inside another one"
                hint = "a query around it may look at what it gives"
                raise self.query.text.not_yet(window, told, hint)
            meant = self.query.windows.meant(window)
            parts = ", ".join(it.sql() for it in meant.args.get("partition_by") or ())
            order = meant.args.get("order")
            key = parts, order.sql() if order is not None else ""
            alike.setdefault(key, []).append(window)
        for windows in alike.values():
            self._partitioned(windows)

    def over(self, node: exp.Expr) -> exp.Expr | None:
        """Returns what a part of a value is over the rows; None: its parts."""
        if id(node) in self.results:
            return self.results[id(node)]
        return (
            self.query.over(node, self.pair) if isinstance(node, exp.Column) else None
        )

    def _partitioned(self, windows: Sequence[exp.Window]) -> None:
        """Computes functions over the same partitions in the same order."""
        meant = self.query.windows.meant(windows[0])
        parts, order = meant.args.get("partition_by") or (), meant.args.get("order")
        keys = order.expressions if order is not None else []
        given = {id(it): self.argument(it.this) for it in windows}
        by = {f"(part {number})": one for number, one in enumerate(parts)}
        ranked = {f"(key {number})": one for number, one in enumerate(keys)}
        values = {
            f"(value {number})": given[id(it)] for number, it in enumerate(windows)
        }
        names = self.step.schema.names
        columns = [(name, steps.column_of(name)) for name in names]
        columns += [(name, self._text(one)) for name, one in by.items()]
        columns += [(name, self._text(one.this)) for name, one in ranked.items()]
        columns += [(name, self._text(one)) for name, one in values.items() if one]
        self.step = steps.projected(self.step, tuple(columns))
        if ranked:
            sorted_by = tuple(folding.by_columns([*ranked.items()]))
            self.step = spec.Ordered(self.step, sorted_by)
        lists = [(it, f"ROWS_LIST(`{it}`)") for it, one in values.items() if one]
        results = [
            (f"(over {len(self.results) + number})", self._result(it, name, lists))
            for number, (it, name) in enumerate(zip(windows, values, strict=True))
        ]
        if any(f"item.`{end}`" in text for _, text in results for end, _ in _PEERS):
            self._listed(
                (*by,), self.step.schema.names, known=[], more=[(_PLACE, _AS_PLACE)]
            )
            ends = [(name, _WHOLE.format(name)) for name, _ in _PEERS]
            self._listed(
                (*by, *ranked), self.step.schema.names, known=_PEERS, more=ends
            )
            begins = f"ROWS_LIST(IF(`{_PLACE}` = `{_FIRST}`, 1, NULL))"
            groups = folding.running_of(Fold.COUNT, begins, AtomicType.BIGINT)
            lists.append((_GROUPS, groups))
        self._listed((*by,), names, known=lists, more=results)
        for window, (name, _) in zip(windows, results, strict=True):
            self.results[id(window)] = own_column(name)

    def _listed(
        self,
        by: tuple[str, ...],
        names: Sequence[str],
        *,
        known: Sequence[tuple[str, str]],
        more: Sequence[tuple[str, str]],
    ) -> None:
        """Gives rows more columns, by what is `known` of all rows of their group."""
        columns = ", ".join(map(folding.quoted, self.step.schema.names))
        rows = _ROWS, f"ROWS_LIST(struct({columns}))"
        whole = folding.counted(self.step, by, (rows, *known))
        parts = ", ".join(
            (
                *(f"item.{one} AS {one}" for one in map(folding.quoted, names)),
                *(f"{text} AS `{name}`" for name, text in more),
            )
        )
        items = f"transform(l.`{_ROWS}`, (item, place) -> struct({parts}))"
        if known:
            # Inside the lambda Spark would compute it anew for each row.
            each = ", ".join(f"l.`{name}` AS `{name}`" for name, _ in known)
            items = f"get(transform(array(struct({each})), whole -> {items}), 0)"
        self.step = steps.unfolded(
            steps.projected(whole, ((steps.LISTED, Expression(items)),))
        )

    def argument(self, function: exp.Expr) -> exp.Expr | None:
        """Returns the values that a function looks at, if it does."""
        text = self.query.text
        if _rank(function):
            if function.expressions:
                told = f"{syntax.called(function)} of a value"
                raise text.wrong(function, told, "none: it says where a row stands")
            return None
        if function.this and type(function.this) in _BESIDE:
            told = f"{syntax.called(function.this)} that passes over nulls"
            raise text.not_yet(function, f"{told} of tables")
        is_beside = type(function) in _BESIDE
        return function.this if is_beside else argument_of(function, text)

    def _text(self, node: exp.Expr) -> Expression:
        """Returns an expression of the query over its rows, with what is computed."""
        return Expression(self.query.written(node, self.pair))

    def _result(
        self, window: exp.Window, column: str, known: list[tuple[str, str]]
    ) -> str:
        """Returns what a function is of a row, an item of the list of its partition.

        What it is of all rows alike is told once, and `known` of the partition.
        """
        function, values = window.this, _WHOLE.format(column)
        has_order = self.query.windows.meant(window).args.get("order")
        if rank := _rank(function):
            # Without an order nobody is in front of another row.
            is_first = not has_order and rank != _AS_PLACE
            return f"CAST({'1' if is_first else rank} AS BIGINT)"
        kind = self.step.schema[column].type
        asked = steps.Asked()
        written = WindowFunction(function, column, kind, asked, self.query.text)
        if sign := _BESIDE.get(type(function)):
            place = f"{_AS_PLACE} {sign} {written.number('offset')}"
            return _AT.format(place=place, list=values, none=written.usual())
        tree = written.computed()
        frame, rows = self.frame(window), self.step.schema
        if frame is None:
            told, once, found_at = {}, folding.asked_for(asked, rows), "{}"
        else:
            first, last = frame
            items = _SLICE.format(list=values, first=first, last=last)
            told = dict(folding.asked_for(asked, rows, items))
            ends, is_backward = _START in frame or _END in frame, first != _START
            once = folding.running(asked, rows, is_backward=is_backward)
            once = once if ends else iter(())
            seen = f"{_END} - {first} + 1" if is_backward else last
            found_at = f"element_at({{}}, greatest({seen}, 0) + 1)"
        for name, text in once:
            own = f"{column} {name}"
            known.append((own, text))
            told[name] = found_at.format(_WHOLE.format(own))
        parts: dict[str, exp.Expr] = {
            name: exp.maybe_parse(text, dialect="spark") for name, text in told.items()
        }
        found = replaced(tree, lambda part: exp.Paren(this=parts[part.name].copy()))
        return found.sql(dialect="spark")

    def frame(self, window: exp.Window) -> tuple[str, str] | None:
        """Returns the places of the first and last value at which a function looks.

        Nothing where it looks at all.
        """
        meant = self.query.windows.meant(window)
        frame, has_order = meant.args.get("spec"), bool(meant.args.get("order"))
        if frame is None:
            return (_START, f"item.`{_LAST}`") if has_order else None
        first, last = self._end(meant, "start"), self._end(meant, "end")
        if (first, last) == (_START, _END):
            return None
        first = first if first == _START else f"greatest({first}, {_START})"
        return first, last if last == _END else f"least({last}, {_END})"

    def _end(self, meant: exp.Window, name: str) -> str:
        """Returns the place of the first or the last row of a frame."""
        frame = meant.args["spec"]
        is_rows = frame.args["kind"] == "ROWS"
        end = frame.args.get(name) or syntax.CURRENT
        text = end if isinstance(end, str) else end.sql()
        side = str(frame.args.get(f"{name}_side") or "")
        if text.upper().startswith("UNBOUNDED"):
            return _START if side == "PRECEDING" else _END
        if text.upper() == syntax.CURRENT:
            # Without an order all rows of a partition are peers.
            peers = _START if name == "start" else _END
            if meant.args.get("order"):
                peers = f"item.`{_FIRST if name == 'start' else _LAST}`"
            return _AS_PLACE if is_rows else peers
        if not is_rows or not text.isdigit():
            told = "a window of rows of a table by this"
            raise self.query.text.wrong(meant, told, _FRAMES)
        return f"{_AS_PLACE} {'-' if side == 'PRECEDING' else '+'} {text}"


def _rank(function: exp.Expr) -> str:
    """Returns what a rank is of a row, if a function is one."""
    name = function.name if isinstance(function, exp.Anonymous) else ""
    return _RANKS.get((name or syntax.called(function)).upper(), "")
