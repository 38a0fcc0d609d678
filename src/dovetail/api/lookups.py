"""Tables that are asked by key beside a stream: what a user says of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

from pyspark.sql.types import StructType

from dovetail import errors, spec
from dovetail.api.streams import Rows, session_at_work
from dovetail.bind.files.columns import own_schema
from dovetail.bind.files.names import Format, file_at
from dovetail.bind.lookups import files
from dovetail.bind.lookups.tables import Function, LookupTable
from dovetail.engines.tables import arrow_schema
from dovetail.plan.lookups import Lookup
from dovetail.plan.stream import Feed
from dovetail.schema import Schema
from dovetail.spec import arguments

_NOTHING: Mapping[str, str] = {}
_EXAMPLE = 'dt.lookup(dt.postgres("postgresql://..", "people"), key="id")'


@arguments.public
def lookup(
    table: arguments.AnyPath
    | LookupTable
    | Callable[[Sequence[Mapping[str, Any]]], Iterable[Any]],
    *,
    key: str | Sequence[str],
    columns: Mapping[str, str] = _NOTHING,
    size: int = 100_000,
    ttl: arguments.Length = "10 minutes",
    refresh: arguments.Length = "",
    retry: arguments.Length = "0 seconds",
) -> Rows:
    """Returns the rows of a table that is asked by key, as a side beside a stream.

    `table`: files, `dt.postgres(..)`, a function of keys, or a `LookupTable`. Each
    worker keeps the rows of `size` keys for `ttl`; with `refresh` they are fetched
    again from that age on, and used up to `ttl` only where the table cannot be asked.
    A key without a row is asked for again for as long as `retry`; after that the join
    says what becomes of it. `columns`: names and types, where the table tells none.
    """
    spark = session_at_work("a lookup")
    found, schema = table_given(table, columns)
    source, feed = lookup_given(
        found, schema, key=key, size=size, ttl=ttl, refresh=refresh, retry=retry
    )
    kinds = StructType.fromDDL(schema.to_sql())
    assert isinstance(kinds, StructType)  # noqa: S101 - of a list of columns
    return Rows(spark.createDataFrame([], kinds), source, feed)


def table_given(
    table: object, columns: Mapping[str, str] = _NOTHING
) -> tuple[LookupTable, Schema]:
    """Returns the table that a user gives, and its columns, or refuses it."""
    if not arguments.is_unsaid(columns, {}):
        arguments.texts("columns", columns, '{"id": "bigint", "name": "string"}')
    declared = Schema.of(columns)
    match table:
        case LookupTable():
            found = table
        # A class can be called too: who gives one has forgotten to make the table.
        case _ if callable(table) and not isinstance(table, type):
            asked = ("a function of a list of keys", "lambda keys: [{**keys[0]}]")
            found = Function(arguments.function("table", table, takes=1, told=asked))
        case _ if isinstance(table, type):
            hint = f"call it: {table.__name__}(..)"
            raise arguments.wrong("table", table, "a table, and no class", hint)
        case _:
            return _files(arguments.path("table", table, _EXAMPLE), declared)
    # A class of the user's may say anything.
    if not arguments.is_unsaid(found.columns, {}):
        whose = f"{type(found).__name__}.columns"
        arguments.texts(whose, found.columns, '{"id": "bigint"}')
    own = Schema.of(found.columns)
    if own.columns and declared.columns:
        hint = "a view of the table may show other types"
        raise arguments.wrong(
            "columns", columns, f"none: {found.title} has its own", hint
        )
    schema = Schema((*own.columns, *declared.columns))
    if not schema.columns:
        raise errors.SpecError(
            f"a lookup in {found.title} without columns",
            'columns={"id": "bigint", "name": "string"}',
            "only files and tables of PostgreSQL tell them by themselves",
        )
    if type(found).fetch is LookupTable.fetch:
        told, hint = "a table that can be asked", "write a fetch(self, keys) of it"
        raise arguments.wrong("table", table, told, hint)
    return found, schema


def _files(path: str, declared: Schema) -> tuple[LookupTable, Schema]:
    """Returns files as a table, with the columns that are declared or their own."""
    file = file_at(path, path, spec.AnyLayout())
    if file.format is Format.JSON:
        raise errors.SpecError(
            f'a lookup in "{path}", which is written in JSON',
            "Parquet or CSV, of which keys and columns are read",
            "a function of keys reads whatever it likes",
        )
    known = own_schema(file, spec.AnyLayout())
    for name in declared.names:
        if name not in known:
            raise errors.SchemaError.no_column(name, known.names)
    schema = declared if declared.columns else known
    types = arrow_schema(schema)
    return files.Files(
        str(Path(path).absolute()), layout=file.format.value, types=types
    ), schema


def lookup_given(
    table: LookupTable,
    schema: Schema,
    *,
    key: str | Sequence[str],
    size: int = 100_000,
    ttl: arguments.Length = "10 minutes",
    refresh: arguments.Length = "",
    retry: arguments.Length = "0 seconds",
) -> tuple[spec.Input, Feed]:
    """Returns what is said of a lookup in a table with some columns, or refuses it."""
    given = arguments.columns("key", key, schema, 'key="id"')
    if not given:
        hint = 'write for example key="id", or key=["shop", "id"]'
        raise arguments.wrong("key", key, "columns, each once", hint)
    exact = partial(arguments.length, least=spec.INSTANT, is_exact=True)
    lasts = exact("ttl", ttl)
    # Unsaid, a row is used until it is too old, and never fetched before.
    again = lasts if arguments.is_unsaid(refresh) else exact("refresh", refresh)
    waits = exact("retry", retry, least=spec.NO_TIME)
    if again.microseconds > lasts.microseconds:
        hint = "what is older than ttl is fetched again whatever refresh says"
        raise arguments.wrong("refresh", refresh, "no longer than ttl", hint)
    known = Lookup(
        table,
        tuple(schema[name].name for name in given),
        arguments.whole("size", size, "size=100_000"),
        lasts,
        again,
        waits,
        # Two lookups in one table may differ in what they keep: none shares it.
        uuid4().hex,
    )
    source = spec.Input("", spec.InputKind.DATASET, schema)
    return source, Feed(streams=False, lookup=known)
