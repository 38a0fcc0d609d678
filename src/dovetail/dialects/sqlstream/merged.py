"""Columns that USING and NATURAL make one, joins in a row included.

a FULL JOIN b USING (id) LEFT JOIN c USING (id)
    `id` of the first join     coalesce(a.id, b.id)
    `id` of both               the same, which c.id is equal to
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial

from sqlglot import exp

from dovetail import spec
from dovetail.dialects.sqlstream.parser import Text
from dovetail.dialects.sqlstream.rows import Pair, Rows, Shown
from dovetail.dialects.trees import replaced, sided


@dataclass(frozen=True, slots=True)
class Merged:
    """Columns that are one, and its value, over columns that name their tables."""

    name: str
    columns: tuple[Shown, ...]
    value: exp.Expr

    @classmethod
    def alone(cls, column: Shown) -> Merged:
        """Returns a column of one table."""
        value = exp.column(column.name, table=column.table)
        return cls(column.name, (column,), value)

    def joined(self, other: Merged, kind: spec.Kind) -> Merged:
        """Returns what is one with that of the right: the side that is there counts."""
        value = self.value
        if kind is spec.Kind.RIGHT_OUTER:
            value = other.value
        elif kind is spec.Kind.FULL_OUTER:
            value = exp.Coalesce(this=value.copy(), expressions=[other.value.copy()])
        return replace(self, columns=(*self.columns, *other.columns), value=value)

    def has(self, column: Shown) -> bool:
        """Tells whether it is made of a column, whatever its rows have become."""
        name = column.table.lower(), column.name.lower()
        return any(
            (one.table.lower(), one.name.lower()) == name for one in self.columns
        )


@dataclass(slots=True)
class Merging:
    """What is one column of several, while joins are read one behind the other."""

    text: Text
    known: list[Merged] = field(default_factory=list)

    def equalities(
        self, written: exp.Join, pair: Pair, kind: spec.Kind
    ) -> Iterator[exp.EQ]:
        """Yields what USING or NATURAL says of a pair, whose columns are one then."""
        using = written.args.get("using") or ()
        names = {one.name.lower(): one.name for one in using}
        if written.method == "NATURAL":
            there = {one.name.lower() for one in pair.right.columns if not one.is_time}
            ours = [one.name for one in pair.left.columns if not one.is_time]
            names = {one.lower(): one for one in ours if one.lower() in there}
        for name in names.values():
            said = (it for it in using if it.name == name)
            at = next(said, written).find(exp.Identifier)
            left, right = (
                self._of_side(name, pair.side(hand), hand, at=at or written)
                for hand in spec.HANDS
            )
            equal = exp.EQ(this=left.value.copy(), expression=right.value.copy())
            equal.meta.update(at.meta if at is not None else {})
            new = left.joined(right, kind)
            # What it is made of is no column of its own any more; a side may be read
            # again, and then so may what USING said in it.
            self.known = [
                one for one in self.known if not any(map(new.has, one.columns))
            ]
            self.known.append(new)
            yield equal

    def value_of(self, column: exp.Column, pair: Pair) -> exp.Expr | None:
        """Returns what a column without a table is, over `l` and `r`, if it is one."""
        if column.args.get("table"):
            return None
        found = pair.named(column)
        for one in self.known:
            if one.name.lower() != column.name.lower():
                continue
            if not found or not all(one.has(shown) for _, shown in found):
                continue
            if len(found) == len(one.columns):
                return replaced(one.value, partial(_over_sides, pair=pair))
            # Of the rows of some tables: each of its columns stands for all.
            hand, shown = found[0]
            return sided(shown.value, hand)
        return None

    def is_one(self, column: exp.Column) -> bool:
        """Tells whether a name without a table means columns that are one."""
        names = (one.name.lower() for one in self.known)
        return not column.table and column.name.lower() in names

    def has(self, column: Shown) -> bool:
        """Tells whether a column is one with others."""
        return any(one.has(column) for one in self.known)

    def _of_side(
        self, name: str, rows: Rows, hand: spec.Hand, *, at: exp.Expr
    ) -> Merged:
        """Returns the one column that a side has of a name."""
        found = [one for one in rows.columns if one.name.lower() == name.lower()]
        if not found:
            told = f"USING ({name}), which the {hand.value} side has not"
            raise self.text.wrong(at, told, "a column of both sides")
        for one in self.known:
            if len(one.columns) == len(found) and all(map(one.has, found)):
                return one
        if len(found) > 1:
            tables = " and ".join(f'"{one.table}"' for one in found)
            told = f"USING ({name}), of which {tables} have one each"
            raise self.text.wrong(at, told, "one on each side: say ON")
        return Merged.alone(found[0])


def _over_sides(column: exp.Column, pair: Pair) -> exp.Expr:
    """Returns the value of a column that names its table, over `l` and `r`."""
    hand, shown = pair.named(column)[0]
    return sided(shown.value, hand)
