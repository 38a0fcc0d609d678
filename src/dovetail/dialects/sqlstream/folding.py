"""Groups of the rows of tables: what becomes of all rows of each, as one more step."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream import steps
from dovetail.dialects.trees import own_column
from dovetail.expression import Expression, Scope, parse
from dovetail.schema import AtomicType, Column, Schema, Type
from dovetail.spec.firing import Fold, type_of

# Engines compute counts, and sums of what is no fraction, without the list.
_COUNT = (
    "aggregate(ROWS_LIST(IF({x} IS NULL, 0L, 1L)), 0L, (total, item) -> total + item)"
)
_SUM = "aggregate({items}, {zero}, (total, item) -> {sum})"
_MEAN = (
    "aggregate({items}, CAST(0 AS DOUBLE), (total, item) -> total + CAST(item AS "
    "DOUBLE)) / size({items})"
)
_SQUARES = (
    "IF(size({items}) = 0, NULL, aggregate({items}, CAST(0 AS DOUBLE), (total, item) "
    "-> total + power(CAST(item AS DOUBLE) - {mean}, 2.0D)))"
)
# Without the test a place beyond the end would be an error.
_PLACED = "IF(size({items}) >= {least}, element_at({items}, {place}), NULL)"
# To add to a list Spark copies it: what is full goes into the list of those that are.
_HAS_ROOM = "size(state.full) < 1000"
_RUNNING = (
    "aggregate({items}, struct({start} AS total, false AS seen, array({none}) AS full, "
    "{lists} AS done), (state, item) -> struct({more} AS total, {seen} AS seen, "
    "IF({has_room}, concat(state.full, array({shown})), array({shown})) AS full, "
    "IF({has_room}, state.done, concat(state.done, array(state.full))) AS done), "
    "end -> concat(flatten(end.done), end.full))"
)
_MORE = {
    Fold.COUNT: "state.total + IF(item IS NULL, 0L, 1L)",
    Fold.SUM: (
        "IF(item IS NULL, state.total, "
        "CAST(state.total + CAST(item AS {kind}) AS {kind}))"
    ),
    Fold.LEAST: "least(state.total, item)",
    Fold.GREATEST: "greatest(state.total, item)",
    Fold.FIRST: "coalesce(state.total, item)",
    Fold.LAST: "coalesce(item, state.total)",
}
"""What each further value makes of a fold of those before it."""
_BACKWARD = {Fold.FIRST: Fold.LAST, Fold.LAST: Fold.FIRST}
_SEEN = "state.seen OR item IS NOT NULL"
_EXTREMES = {Fold.LEAST: "array_min", Fold.GREATEST: "array_max"}
_EITHER_END = {Fold.FIRST: 1, Fold.LAST: -1}


def counted(
    source: spec.Step, by: tuple[str, ...], more: Sequence[tuple[str, str]]
) -> spec.Counted:
    """Returns a row for each group of equal values, with more columns of it.

    By no column it is one row of all, also where there is none.
    """
    keys = [(name, steps.column_of(name)) for name in by]
    columns = [*keys, *((name, Expression(text)) for name, text in more)]
    scope = Scope((("l", source.schema),), rows=source.schema)
    kinds = (Column(name, parse(text, scope).type) for name, text in columns)
    return spec.Counted(
        source, Schema(tuple(kinds)), spec.Columns(tuple(columns)), by=by
    )


def asked_for(
    asked: steps.Asked, rows: Schema, items: str = ""
) -> Iterator[tuple[str, str]]:
    """Yields the columns that were asked for of groups, over all rows of one.

    Where a list of `items` is given, over these.
    """
    for column, name in asked.lists.items():
        yield name, items or f"ROWS_LIST({quoted(column)})"
    for (column, number), name in asked.placed.items():
        every = items or f"ROWS_LIST({quoted(column)})"
        yield name, _PLACED.format(items=every, least=abs(number), place=number)
    for (fold, column, is_distinct), name in asked.totals.items():
        kind = rows[column].type
        if items:
            text = of_list(fold, items, kind, is_distinct=is_distinct)
        else:
            text = _folded(fold, column, kind, is_distinct=is_distinct)
        yield name, f"CAST({text} AS {type_of(fold, kind)})"


def running(
    asked: steps.Asked, rows: Schema, *, is_backward: bool = False
) -> Iterator[tuple[str, str]]:
    """Yields of what was asked of groups what can be told of all first rows of one.

    As a list: of none, of the first, of the first two, .. Backward it is of the last.
    """
    for (fold, column, is_distinct), name in asked.totals.items():
        if fold in _MORE and not is_distinct:
            kind = type_of(fold, rows[column].type)
            items, told = f"ROWS_LIST({quoted(column)})", fold
            if is_backward:
                items, told = f"reverse({items})", _BACKWARD.get(fold, fold)
            yield name, running_of(told, items, kind)


def running_of(fold: Fold, items: str, kind: Type) -> str:
    """Returns the list of what a fold of a type makes of the first items of a list."""
    none = "0L" if fold is Fold.COUNT else f"CAST(NULL AS {kind})"
    more, is_sum = _MORE[fold].format(kind=kind), fold is Fold.SUM
    return _RUNNING.format(
        items=items,
        start=f"CAST(0 AS {kind})" if is_sum else none,
        none=none,
        lists=f"CAST(array() AS ARRAY<ARRAY<{kind}>>)",
        more=more,
        seen=_SEEN,
        # A sum that no digits hold is null as well, and stays so.
        shown=f"IF({_SEEN}, {more}, {none})" if is_sum else more,
        has_room=_HAS_ROOM,
    )


def of_list(fold: Fold, items: str, kind: Type, *, is_distinct: bool) -> str:
    """Returns what a fold makes of those items of a list that are no nulls."""
    known = f"filter({items}, item -> item IS NOT NULL)"
    known = f"array_distinct({known})" if is_distinct else known
    match fold:
        case Fold.COUNT:
            return f"size({known})"
        case Fold.SUM:
            wide = type_of(Fold.SUM, kind)
            every = f"transform({known}, item -> CAST(item AS {wide}))"
            more = f"CAST(total + item AS {wide})"
            total = _SUM.format(items=every, zero=f"CAST(0 AS {wide})", sum=more)
            return f"IF(size({known}) = 0, NULL, {total})"
        case Fold.SQUARES:
            return _SQUARES.format(items=known, mean=_MEAN.format(items=known))
        case Fold.LEAST | Fold.GREATEST:
            return f"{_EXTREMES[fold]}({items})"
        case _:
            return _PLACED.format(items=known, least=1, place=_EITHER_END[fold])


def _folded(fold: Fold, column: str, kind: Type, *, is_distinct: bool) -> str:
    """Returns what a fold makes of the values of a column that are no nulls."""
    own = quoted(column)
    if is_distinct or fold not in {Fold.COUNT, Fold.SUM}:
        return of_list(fold, f"ROWS_LIST({own})", kind, is_distinct=is_distinct)
    count = _COUNT.format(x=own)
    if fold is Fold.COUNT:
        return count
    wide = type_of(Fold.SUM, kind)
    is_whole = wide == AtomicType.BIGINT
    zero = "0L" if is_whole else f"CAST(0 AS {wide})"
    items = f"ROWS_LIST(coalesce(CAST({own} AS {wide}), {zero}))"
    total = "total + item" if is_whole else f"CAST(total + item AS {wide})"
    return f"IF({count} = 0, NULL, {_SUM.format(items=items, zero=zero, sum=total)})"


def by_columns(keys: Sequence[tuple[str, exp.Ordered]]) -> Sequence[spec.By]:
    """Returns what rows are sorted by; where there is no value is one of its own."""
    found = []
    for name, one in keys:
        column, first = steps.column_of(name), bool(one.args.get("nulls_first"))
        found.append(spec.By(Expression(f"{column} IS NULL"), first))
        found.append(spec.By(column, bool(one.args.get("desc"))))
    return found


def quoted(name: str) -> str:
    """Returns a column as it stands where rows are folded."""
    return own_column(name).sql(dialect="spark")
