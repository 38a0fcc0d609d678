"""Steps of a program that front ends of SQL write, with the columns that they have."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from dovetail import spec
from dovetail.dialects.trees import own_column, sided
from dovetail.expression import Expression, Scope, parse
from dovetail.schema import ArrayType, AtomicType, Column, Schema, StructType, quoted

NOBODY = Schema(())
LISTED = "records"
Select = tuple[tuple[str, Expression], ...]


def column_of(name: str) -> Expression:
    """Returns a column of the rows of a step."""
    return Expression(sided(own_column(name), spec.Hand.LEFT).sql(dialect="spark"))


def projected(source: spec.Step, columns: Select) -> spec.Step:
    """Returns a step with these columns, of the types that they have."""
    if columns == tuple((name, column_of(name)) for name in source.schema.names):
        return source
    schema = schema_of(source.schema, columns)
    return spec.Projected(source, schema, spec.Columns(columns))


def schema_of(rows: Schema, columns: Select) -> Schema:
    """Returns the types that columns have over rows."""
    scope = Scope.pair(rows, NOBODY)
    kinds = (Column(name, parse(text, scope).type) for name, text in columns)
    return Schema(tuple(kinds))


@dataclass(frozen=True, slots=True)
class Asked:
    """What a window is asked for, by the columns that say it, each thing once."""

    lists: dict[str, str] = field(default_factory=dict)
    totals: dict[tuple[spec.firing.Fold, str, bool], str] = field(default_factory=dict)
    placed: dict[tuple[str, int], str] = field(default_factory=dict)

    def values(self, column: str) -> str:
        """Returns the column of lists of all values that a column has."""
        return self.lists.setdefault(column, f"list {len(self.lists)}")

    def total(
        self, fold: spec.firing.Fold, column: str, *, is_distinct: bool = False
    ) -> str:
        """Returns the column of what a fold makes of the values of a column."""
        asked = fold, column, is_distinct
        return self.totals.setdefault(asked, f"total {len(self.totals)}")

    def row(self, column: str, number: int) -> str:
        """Returns the column of what one row has in a column; see `Placed`."""
        return self.placed.setdefault((column, number), f"row {len(self.placed)}")

    def windowed(
        self,
        source: spec.Step,
        window: spec.firing.FiringWindow,
        *,
        groups: tuple[str, ...] = (),
        by: tuple[str, ...] = (),
        counts: str = "",
        moment: str = "",
    ) -> spec.Windowed:
        """Returns what a window over rows gives, with each group's last values.

        If they have names, `counts` says how many rows each group of the window has,
        and `moment` when it has fired.
        """
        known, fold_type = source.schema, spec.firing.type_of
        lists = tuple(
            spec.firing.Listed(name, column) for column, name in self.lists.items()
        )
        totals = tuple(
            spec.firing.Total(name, *asked) for asked, name in self.totals.items()
        )
        placed = tuple(
            spec.firing.Placed(name, *asked) for asked, name in self.placed.items()
        )
        columns = [*known.columns]
        columns += [Column(it.name, ArrayType(known[it.column].type)) for it in lists]
        columns += [Column(counts, ArrayType(AtomicType.INT))] if counts else []
        columns += [Column(moment, AtomicType.TIMESTAMP)] if moment else []
        for one in totals:
            kind = fold_type(one.fold, known[one.column].type)
            columns.append(Column(one.name, kind))
        columns += [Column(it.name, known[it.column].type) for it in placed]
        gives = spec.firing.Groups(
            groups, lists, counts, known.names, moment, totals, placed
        )
        return spec.Windowed(source, Schema(tuple(columns)), window, gives, by)


def numbered(source: spec.Step, name: str) -> spec.Coded:
    """Returns the rows of a join in the order of their arrival, with their numbers."""
    one = AtomicType.BIGINT
    variables = Schema((Column(name, one),))
    count = column_of(name)
    first = spec.code.Assigned(spec.code.Target(name), Expression("CAST(0 AS BIGINT)"))
    more = Expression(f"CAST({count.text} + 1 AS {one})")
    columns = tuple((it, column_of(it)) for it in (*source.schema.names, name))
    port = Schema((*source.schema.columns, *variables.columns))
    body = (
        spec.code.Assigned(spec.code.Target(name), more),
        spec.code.Submitted(0, spec.Columns(columns)),
    )
    return spec.Coded(source, spec.code.Code((port,), variables, (first,), body))


def end_of(column: str, micros: int) -> str:
    """Returns the end of the stretch of so many microseconds in which a time is."""
    moment = f"unix_micros({column})"
    return f"timestamp_micros({moment} - pmod({moment}, {micros}) + {micros})"


def listing(columns: Sequence[tuple[str, str]], items: str) -> Select:
    """Returns a list of records as a column, one for each `item` of a list of values.

    The columns of a record are expressions, of the item among others.
    """
    parts = (f"{text} AS {quoted(name)}" for name, text in columns)
    record = f"struct({', '.join(parts)})"
    return ((LISTED, Expression(f"transform({items}, item -> {record})")),)


def unfolded(source: spec.Step) -> spec.Unfolded:
    """Returns the records of a step whose only column is a list of them."""
    kind = source.schema[LISTED].type
    assert isinstance(kind, ArrayType)  # noqa: S101 - as it is made
    assert isinstance(kind.element, StructType)  # noqa: S101 - of records
    columns = (Column(name, it) for name, it in kind.element.fields)
    return spec.Unfolded(source, Schema(tuple(columns)), LISTED)
