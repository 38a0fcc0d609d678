"""Which names mean what inside an expression.

A join's expressions see the rows `l` and `r`, and the bare names `matched_left`,
`matched_right`, `counter`, `row_time`, `window_start` and `window_end`. An expression
of one side alone names its columns bare. A condition over the active rows of a join of
several sets also sees those rows, through `ROWS_COUNT()` and its relatives.
"""

from __future__ import annotations

from dataclasses import dataclass

from dovetail.schema import Schema

BARE = ""

PAIR_NAMES = Schema.of(
    {
        "matched_left": "boolean",
        "matched_right": "boolean",
        "counter": "bigint",
        "row_time": "timestamp",
        "window_start": "timestamp",
        "window_end": "timestamp",
    }
)
_NOTHING = Schema(())


@dataclass(frozen=True, slots=True)
class Scope:
    """The schema behind each side's letter, behind bare names, and of the active rows.

    `rows` is the schema of what `ROWS_LIST` and its relatives range over; the rows
    themselves are the bare value `rows` when an expression is evaluated.
    """

    sides: tuple[tuple[str, Schema], ...] = ()
    bare: Schema = _NOTHING
    rows: Schema = _NOTHING

    @classmethod
    def pair(cls, left: Schema, right: Schema) -> Scope:
        """Returns the scope of a join: `l.`, `r.`, and the names of a pair."""
        return cls((("l", left), ("r", right)), PAIR_NAMES)

    @classmethod
    def row(cls, schema: Schema) -> Scope:
        """Returns the scope of one side alone, its columns named bare."""
        return cls((), schema)

    @property
    def known(self) -> tuple[str, ...]:
        """Returns every name that an expression may use, as it is written."""
        sided = (
            f"{side}.{name}" for side, schema in self.sides for name in schema.names
        )
        return (*sided, *self.bare.names)

    def schema(self, side: str) -> Schema | None:
        """Returns the schema behind a letter, whatever its case, or None."""
        found = (schema for name, schema in self.sides if name == side.lower())
        return next(found, None)
