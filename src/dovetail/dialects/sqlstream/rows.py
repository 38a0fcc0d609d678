"""The rows on both sides of a join, and their columns under the names of tables.

    a AS x JOIN b AS y     x.k, x.v  |  y.k, y.w
    as rows of that join   k, v      |  k_1, w

What is told of a row of a join has the names that it has there.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream.parser import ROWTIME
from dovetail.dialects.trees import free_name, replaced

_OWN_TIMES = (spec.Range(), spec.Unstated(), spec.Inherited())
"""Windows of rows that are there at their own time, or when their own rows are."""


@dataclass(frozen=True, slots=True)
class Shown:
    """A column as conditions see it, under the name of its table.

    `value` is over the columns of the rows, which have no table there.
    """

    table: str
    name: str
    value: exp.Expr
    is_time: bool = False
    is_of_side: bool = False
    """Whether it is the time of one side, and joined rows may be at another one."""

    @property
    def is_of_rows(self) -> bool:
        """Tells whether the rows are at this time, and so in the order of it."""
        return self.is_time and not self.is_of_side

    @property
    def is_row_time(self) -> bool:
        """Tells whether it is the time that each stream has, beside its columns."""
        return self.is_time and self.name.upper() == ROWTIME

    def apart(self, alias: str) -> str:
        """Returns a name that no column of a text has."""
        return f"{alias}.{self.name}"


@dataclass(frozen=True, slots=True)
class Rows:
    """What stands on a side of a join; `kept` must be true of a row that takes part."""

    source: spec.Named | spec.Nested
    columns: tuple[Shown, ...]
    is_stream: bool
    window: spec.Window
    written: exp.Window | None = None
    kept: tuple[exp.Expr, ...] = ()

    def named_apart(self, alias: str) -> Rows:
        """Returns the rows with columns under names that no text has."""
        columns = (
            replace(one, table=alias, name=one.apart(alias)) for one in self.columns
        )
        return replace(self, columns=tuple(columns))


@dataclass(frozen=True, slots=True)
class Pair:
    """Both sides of a join while its expressions are written."""

    left: Rows
    right: Rows
    is_alone: bool = False
    """Whether the rows of the left meet nobody."""

    @classmethod
    def alone(cls, rows: Rows) -> Pair:
        """Returns rows that meet nobody, on the left."""
        return cls(rows, replace(rows, columns=()), is_alone=True)

    def without_right(self, told: str = "") -> Pair:
        """Returns the sides of a join of which nobody sees the right rows.

        Under a name the left ones may tell whether there is any.
        """
        whole = replace(self, right=replace(self.right, columns=()))
        if not told:
            return whole
        is_met = Shown(told, told, exp.Var(this="matched_right"))
        left = replace(self.left, columns=(*self.left.columns, is_met))
        return replace(whole, left=left)

    def timed(self, join: spec.JoinSpec) -> Pair:
        """Returns the sides of a join, which knows when its rows are.

        Those at whose time alone a row is there are at that of each pair, too. A row
        that comes out alone has no time of the other side.
        """
        sides = []
        for hand in spec.HANDS:
            side, window = self.side(hand), join.side(hand).window
            is_same = (
                side.is_stream
                and window in _OWN_TIMES
                and not join.kind.preserves(hand.other)
            )
            columns = (
                replace(one, is_of_side=one.is_of_side or not is_same)
                for one in side.columns
            )
            sides.append(replace(side, columns=tuple(columns)))
        return replace(self, left=sides[0], right=sides[1])

    def side(self, hand: spec.Hand) -> Rows:
        """Returns the rows on a hand."""
        return self.left if hand is spec.Hand.LEFT else self.right

    def columns(self) -> Iterator[tuple[spec.Hand, Shown]]:
        """Yields the columns of both, those of the left first."""
        for hand in spec.HANDS:
            for one in self.side(hand).columns:
                yield hand, one

    def named(self, column: exp.Column) -> list[tuple[spec.Hand, Shown]]:
        """Returns the columns that a name means; the case counts where two differ."""
        table, name = column.table, column.name
        found = [
            (hand, one)
            for hand, one in self.columns()
            if one.name.lower() == name.lower()
            and (not table or one.table.lower() == table.lower())
        ]
        exact = [
            (hand, one)
            for hand, one in found
            if one.name == name and (not table or one.table == table)
        ]
        # Without a table ROWTIME is that of the rows themselves, if joins made them.
        own = [(hand, one) for hand, one in found if not one.table and one.is_row_time]
        if own and not table:
            return own
        return exact if len(exact) == 1 else found

    def named_apart(self) -> Iterator[tuple[str, spec.Hand, Shown]]:
        """Yields all columns with a name of its own for each, among those of a join.

        It is the column's; a second one of a name gets a number, as behind SELECT. What
        is one column under two names, such as a time, has one.
        """
        # The time of the join's rows is another one than that of either side.
        names, taken = dict[tuple[spec.Hand, str], str](), {ROWTIME.lower()}
        for hand, one in self.columns():
            value = hand, one.value.sql()
            if value not in names:
                names[value] = free_name(one.name, taken)
            yield names[value], hand, one

    def over_both(self, node: exp.Expr, alias: str) -> exp.Expr:
        """Returns an expression of a query inside another over the rows of both.

        These rows are those inside, `named_apart`: what they have a name means there.
        """

        def meant(column: exp.Column) -> exp.Expr:
            found = self.named(column)
            if not found:
                return column
            new = exp.column(found[0][1].apart(alias), table=alias)
            new.this.meta.update(column.this.meta)
            return new

        return replaced(node, meant)

    def hands(self, node: exp.Expr) -> set[spec.Hand] | None:
        """Returns whose columns an expression sees; None where it sees others too."""
        found = set()
        for column in node.find_all(exp.Column):
            known = self.named(column)
            if not known:
                return None
            found |= {hand for hand, _ in known}
        return found
