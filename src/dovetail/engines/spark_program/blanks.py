"""Nothing is null and no text ends in blanks: what goes in is made so, in SQL.

id bigint, name string     NULL, 'Rita  '     becomes     0, 'Rita'
"""

from __future__ import annotations

from dovetail.expression.writing import literal_text, text_of
from dovetail.schema import (
    ArrayType,
    AtomicType,
    Column,
    StructType,
    Type,
    blank,
    quoted,
)


def clean(column: Column) -> str:
    """Returns a column of an input as a column of a program."""
    text = trimmed(f"CAST({quoted(column.name)} AS {column.type})", column.type)
    return f"coalesce({text}, {literal_text(blank(column.type), column.type)})"


def trimmed(text: str, kind: Type, depth: int = 0) -> str:
    """Returns a value whose texts have no blanks at their ends."""
    if not _has_text(kind):
        return text
    match kind:
        case ArrayType(element):
            item = f"item_{depth}"
            return f"transform({text}, {item} -> {trimmed(item, element, depth + 1)})"
        case StructType(fields):
            pairs = (
                f"{text_of(name)}, {trimmed(f'{text}.{quoted(name)}', part, depth)}"
                for name, part in fields
            )
            return f"IF({text} IS NULL, NULL, named_struct({', '.join(pairs)}))"
        case _:
            return f"rtrim({text})"


def _has_text(kind: Type) -> bool:
    """Tells whether there is text inside values of a type."""
    match kind:
        case ArrayType(element):
            return _has_text(element)
        case StructType(fields):
            return any(_has_text(part) for _, part in fields)
        case _:
            return kind == AtomicType.STRING
