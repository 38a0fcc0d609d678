"""Lookups in a table of PostgreSQL: one query for all keys that a task needs.

    SELECT t."id"::bigint AS "id", t."name"::text AS "name"
    FROM unnest($1::bigint[]) AS k (k0) JOIN "public"."people" AS t ON t."id" = k.k0
    WHERE t."level" > $2::integer

Keys and values of conditions are parameters: no text of a user becomes SQL. An index on
the key is used, also where the condition asks for more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg.rows import dict_row

from dovetail.bind.lookups.tables import LookupTable
from dovetail.bind.travel import kept_here
from dovetail.errors import EngineError, SchemaError
from dovetail.plan.lookups import Compared
from dovetail.schema import MOST_DIGITS
from dovetail.spec import arguments

_TYPES = {
    "boolean": "boolean",
    "smallint": "smallint",
    "integer": "int",
    "bigint": "bigint",
    "real": "float",
    "double precision": "double",
    "text": "string",
    "character varying": "string",
    "bytea": "binary",
    "date": "date",
    "timestamp with time zone": "timestamp",
    "timestamp without time zone": "timestamp_ntz",
}
"""The types of PostgreSQL that are ours; of others a column is its text."""
_CASTS = {
    **{ours: theirs for theirs, ours in _TYPES.items() if theirs != "text"},
    "tinyint": "smallint",
    "string": "text",
}
_MOST_LINES = 16
_COLUMNS = """
SELECT quote_ident(nspname) || '.' || quote_ident(relname) AS place, attname AS name,
  format_type(atttypid, NULL) AS kind, atttypmod AS more
FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid
  JOIN pg_namespace ON pg_namespace.oid = relnamespace
WHERE attrelid = %s::regclass AND attnum > 0 AND NOT attisdropped ORDER BY attnum
"""
_ORDERED = {"<", "<=", ">", ">=", "<>"}


@dataclass(slots=True)
class Line:
    """The connection of a process to a data base, made again when it breaks."""

    place: str
    kept: list[psycopg.Connection[Any]] = field(default_factory=list)

    def rows(self, query: str, values: Sequence[object]) -> list[dict[str, Any]]:
        """Returns the rows of a query; a server that was restarted is asked again."""
        for is_last in (False, True):
            if not self.kept or self.kept[0].closed:
                self.kept[:] = [psycopg.connect(self.place, autocommit=True)]
            try:
                with self.kept[0].cursor(row_factory=dict_row) as cursor:
                    found: list[dict[str, Any]]
                    found = cursor.execute(query.encode(), values).fetchall()
                    return found
            except psycopg.OperationalError:
                if is_last or not self.kept[0].closed:
                    raise
        raise AssertionError(query)


class Postgres(LookupTable):
    """A table of PostgreSQL: its columns, and what is read of it.

    `place` says where the data base is, as libpq understands it; `own` are the types
    that columns have there, `types` those in which they come.
    """

    def __init__(
        self,
        place: str,
        table: str,
        *,
        types: Mapping[str, str],
        own: Mapping[str, str],
        read: tuple[Sequence[str], Sequence[Compared]] = ((), ()),
    ) -> None:
        """Keeps what is read, of which rows; nothing is connected."""
        self.title = f"the table {table} of PostgreSQL"
        self.place, self.table, self.types, self.own = place, table, types, own
        names, self.conditions = read
        self.columns = {name: types[name] for name in names or types}

    def narrowed(
        self, columns: Sequence[str], conditions: Sequence[Compared]
    ) -> Postgres:
        """Returns the same table, of which no more is read."""
        # No text of PostgreSQL has a NUL, nor may a parameter.
        sure = [one for one in conditions if not any(map(_has_nul, one.values))]
        return Postgres(
            self.place,
            self.table,
            types=self.types,
            own=self.own,
            read=(columns, sure),
        )

    def fetch(self, keys: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Returns the rows of keys by one query."""
        # No row of PostgreSQL has such a text: it need not be asked, and would refuse.
        sought = [key for key in keys if not any(map(_has_nul, key.values()))]
        if not sought:
            return []
        names = [*keys[0]]
        lists = ", ".join(f"%s::{self._cast(name)}[]" for name in names)
        places = ", ".join(f"k{at}" for at, _ in enumerate(names))
        equal = (f"{self._compared(name)} = k.k{at}" for at, name in enumerate(names))
        shown = (
            f"t.{_quoted(name)}::{self._cast(name)} AS {_quoted(name)}"
            for name in self.columns
        )
        values: list[object] = [[key[name] for key in sought] for name in names]
        for one in self.conditions:
            values += [list(one.values)] if one.sign == "in" else one.values
        terms = " AND ".join(["true", *map(self._condition, self.conditions)])
        table = self.table.replace("%", "%%")
        # Names are quoted, and all that a user gives is a parameter.
        query = (
            f"SELECT {', '.join(shown)} "  # noqa: S608 - as it says above
            f"FROM unnest({lists}) AS k ({places}) "
            f"JOIN {table} AS t ON {' AND '.join(equal)} WHERE {terms}"
        )
        line = kept_here(
            "lines", self.place, lambda: Line(self.place), most=_MOST_LINES
        )
        return line.rows(query, values)

    def _condition(self, one: Compared) -> str:
        """Returns a condition in SQL, with places for its values."""
        column, cast = self._compared(one.column), self._cast(one.column)
        match one.sign:
            case "in":
                return f"{column} = ANY (%s::{cast}[])"
            case "is null" | "is not null":
                return f"{column} {one.sign.upper()}"
            case sign if sign in _ORDERED and cast == "text":
                # Spark has one order of texts, that of their bytes.
                return f'{column} COLLATE "C" {sign} %s::text'
            case sign:
                return f"{column} {sign} %s::{cast}"

    def _compared(self, name: str) -> str:
        """Returns a column as it is compared: of another type, its text is."""
        is_own = _TYPES.get(self.own[name]) or self.own[name] == "numeric"
        return f"t.{_quoted(name)}{'' if is_own else '::text'}"

    def _cast(self, name: str) -> str:
        """Returns the type of PostgreSQL in which a column comes."""
        kind = self.types[name]
        return _CASTS.get(kind, kind.replace("decimal", "numeric"))


def _has_nul(value: object) -> bool:
    """Tells whether a text has the one letter that PostgreSQL does not know."""
    return isinstance(value, str) and "\0" in value


def _quoted(name: str) -> str:
    """Returns a name in quotes, as it stands in a text that has parameters."""
    return '"' + name.replace('"', '""').replace("%", "%%") + '"'


@arguments.public
def postgres(place: str, table: str) -> LookupTable:
    """Returns a table of PostgreSQL to be looked up in, whose columns it is asked for.

    `place` is where the data base is, as "postgresql://user@host:5432/shop". What it
    leaves out, such as a password, each worker takes from its own environment. A column
    of another type than ours, such as a uuid, is its text; so is a number without a
    scale. `table` may name its schema: "sales.people".
    """
    arguments.text("place", place, "an address", 'dt.postgres("postgresql://..", "t")')
    arguments.text("table", table, "the name of a table", 'dt.postgres("..", "people")')
    try:
        with psycopg.connect(place, row_factory=dict_row) as line:
            found = line.execute(_COLUMNS.encode(), [table]).fetchall()
    except psycopg.errors.UndefinedTable as error:
        hint = "a view is looked up in as a table is"
        raise SchemaError(
            f'no table "{table}" in the data base', "a table, with its schema", hint
        ) from error
    except psycopg.Error as error:
        told = str(error).strip().splitlines()
        raise EngineError(
            f'PostgreSQL does not tell of the table "{table}": {(told or ["?"])[0]}',
            "a data base that answers",
            "it is asked for the columns of the table before anything runs, by explain "
            "and translate too",
        ) from error
    own = {one["name"]: one["kind"] for one in found}
    columns = {name: _TYPES.get(kind, "string") for name, kind in own.items()}
    for one in found:
        # PostgreSQL tells both in one number, 4 too high; below 0 it says neither.
        more = one["more"]
        digits, scale = (more - 4 >> 16) & 0xFFFF, more - 4 & 0x7FF
        # Spark has no room for more digits; a scale may be below 0, or above them all.
        is_exact = more > 0 and scale <= digits <= MOST_DIGITS
        if one["kind"] == "numeric" and is_exact:
            columns[one["name"]] = f"decimal({digits},{scale})"
    return Postgres(place, found[0]["place"], types=columns, own=own)
