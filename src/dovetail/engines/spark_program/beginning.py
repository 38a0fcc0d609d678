"""Where rows come from: inputs, and rows that stand in the text."""

from __future__ import annotations

from dovetail.engines.spark_program.blanks import clean
from dovetail.engines.spark_program.book import ALONE, Book, aliased, select
from dovetail.engines.spark_program.lines import Made, Taken
from dovetail.engines.spark_program.rows import Rows, window
from dovetail.errors import SchemaError
from dovetail.schema import Column, Schema, quoted
from dovetail.spec.program import Given, Inline


def made(book: Book, step: Inline) -> Rows:
    """Returns rows that stand in the text."""
    name = book.name("rows")
    book.lines.append(Made(name, step.schema.to_sql(), step.rows))
    return Rows(name, step.schema)


def taken(book: Book, step: Given) -> Rows:
    """Returns the rows of an input as the program declares them."""
    name = book.name(step.name)
    source = step.name if step.name in book.known else step.input
    book.lines.append(Taken(name, source))
    given = Rows(name, step.schema)
    known = book.known.get(source, _declared(step))
    if step.position:
        return _numbered(book, given, step, known)
    return book.changed(given, f"{name}_rows", select(*_columns(step, known)))


def _declared(step: Given) -> frozenset[str]:
    """Returns the columns that an input must have."""
    names = {name.lower() for name in step.schema.names}
    return frozenset(names - {step.position.lower()})


def _columns(step: Given, known: frozenset[str]) -> list[str]:
    """Returns the columns that are taken from an input, each as it is declared."""
    for name in step.schema.names:
        if name.lower() not in known and name != step.position:
            raise SchemaError.no_column(name, tuple(sorted(known)))
    return [
        aliased(clean(column), column.name)
        for column in step.schema.columns
        if column.name != step.position
    ]


def _numbered(book: Book, given: Rows, step: Given, known: frozenset[str]) -> Rows:
    """Returns the rows with their numbers, but where they have one of their own."""
    column = step.schema[step.position]
    has_one = step.position.lower() in known
    own = [_own_number(column)] if has_one else []
    placed = book.placed(given)
    chosen = select(*_columns(step, known), *own, *placed.hidden)
    first = book.changed(placed, f"{given.frame}_rows", chosen)
    text = f"CAST(row_number() {window((), first.order)} - 1 AS {column.type})"
    if has_one:
        text = f"coalesce({quoted(column.name)}, {text})"
    columns = _with(step.schema, column, text)
    numbered = select(*columns, *first.hidden)
    found = book.changed(first, f"{given.frame}_numbered", numbered, note=ALONE)
    return Rows(found.frame, step.schema, found.order, in_place=False)


def _own_number(column: Column) -> str:
    """Returns the number that a row has of its own, null where it has none."""
    return aliased(f"CAST({quoted(column.name)} AS {column.type})", column.name)


def _with(schema: Schema, column: Column, text: str) -> list[str]:
    """Returns the columns of a schema, one of them computed."""
    return [
        aliased(text, one.name) if one == column else quoted(one.name)
        for one in schema.columns
    ]
