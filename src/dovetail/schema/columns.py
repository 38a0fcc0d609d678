"""A schema: columns in order, found by name without regard to case."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from dovetail.errors import SchemaError
from dovetail.schema.names import quoted
from dovetail.schema.types import Type, parse_type


@dataclass(frozen=True, slots=True)
class Column:
    """One column: its name as written, and its type."""

    name: str
    type: Type


@dataclass(frozen=True, slots=True)
class Schema:
    """Columns in order; no two have the same name, whatever the case."""

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        """Refuses a name that stands twice."""
        seen: set[str] = set()
        for name in self.names:
            if name.lower() in seen:
                raise SchemaError(f'the column "{name}" stands twice', "one of each")
            seen.add(name.lower())

    @classmethod
    def of(cls, types: Mapping[str, str] | Iterable[tuple[str, str]]) -> Schema:
        """Returns the schema of names with the texts of their types."""
        pairs = types.items() if isinstance(types, Mapping) else types
        return cls(tuple(Column(name, parse_type(text)) for name, text in pairs))

    @property
    def names(self) -> tuple[str, ...]:
        """Returns the names in order, as written."""
        return tuple(column.name for column in self.columns)

    def __contains__(self, name: object) -> bool:
        """Tells whether a column has this name, whatever the case."""
        return isinstance(name, str) and any(
            column.name.lower() == name.lower() for column in self.columns
        )

    def __getitem__(self, name: str) -> Column:
        """Returns the column of this name, or raises a SchemaError."""
        for column in self.columns:
            if column.name.lower() == name.lower():
                return column
        raise SchemaError.no_column(name, self.names)

    def spelled(self, name: str) -> str:
        """Returns a column's name as the schema spells it; others stay as they are."""
        return self[name].name if name in self else name

    def to_sql(self) -> str:
        """Returns the schema as Spark's DDL, names in backticks."""
        return ", ".join(
            f"{quoted(column.name)} {column.type}" for column in self.columns
        )
