"""A value as a file without types has it, read as the type that a text declares.

    whole numbers      12, -7, +3                never 1.5, never out of range
    decimals           1.25                      more places are rounded, half up
    other numbers      1.5, 1e9, NaN, Infinity
    booleans           true, false, 1, 0         in any case
    bytes              base64
    sets and records   JSON

Blanks around a number do not count, nor does the end of a text. Nothing at all is the
blank value of the type. Spark reads by the same rules, which `sql` writes for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import TypeGuard

from dovetail.errors import SchemaError
from dovetail.schema import (
    ArrayType,
    AtomicType,
    DecimalType,
    StructType,
    Type,
    blank,
    cited,
    read_value,
)

WHOLE = r"[+-]?\d+"
DECIMAL = r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?"
DOUBLE = rf"({DECIMAL}|NaN|[+-]?Infinity)"
TRUE, FALSE = ("true", "1"), ("false", "0")
WHOLES = (AtomicType.TINYINT, AtomicType.SMALLINT, AtomicType.INT, AtomicType.BIGINT)
SHOWN = 60


class Digits(str):
    """A number of JSON as it is written."""

    __slots__ = ()

    @property
    def is_whole(self) -> bool:
        """Tells whether it is a whole number that Spark has room for."""
        is_digits = re.fullmatch(WHOLE, self, re.ASCII) is not None
        return is_digits and -(1 << 63) <= int(self) < 1 << 63


def read_text(text: str, kind: Type, where: str) -> object:
    """Returns the value of a text; `where` names the file in the error."""
    if not text.strip(" "):
        return blank(kind)
    try:
        return _value(text, kind, where)
    except (ValueError, TypeError, SchemaError) as error:
        raise misfit(where, text, kind) from error


def read_part(value: object, kind: Type, where: str) -> object:
    """Returns a value of a file as a type."""
    match value, kind:
        case None, _:
            return blank(kind)
        case list(), ArrayType(element):
            return [read_part(item, element, where) for item in value]
        case dict(), StructType(fields):
            known = {name.lower(): item for name, item in value.items()}
            return {
                name: read_part(known.get(name.lower()), part, where)
                for name, part in fields
            }
        case bool(), _:
            return read_text(str(value).lower(), kind, where)
        case str(), _:
            return read_text(value, kind, where)
        case list() | dict(), _:
            return read_text(_written(value), kind, where)
        case _:
            return _read_typed(value, kind, where)


def _read_typed(value: object, kind: Type, where: str) -> object:
    """Returns a value that is no text in its file."""
    match value, kind:
        case float(), AtomicType.FLOAT | AtomicType.DOUBLE:
            return read_value(value, kind, where)
        case bytes(), AtomicType.BINARY:
            return value
        case int(), _:
            return read_text(str(value), kind, where)
        case (float() | Decimal(), _) if kind is not AtomicType.STRING:
            return read_text(str(value), kind, where)
        case _:
            raise misfit(where, str(value), kind)


def misfit(where: str, text: str, kind: Type) -> SchemaError:
    """Returns the error for a text that is not of a type."""
    cut = text if len(text) <= SHOWN else f"{text[:SHOWN]}.."
    return SchemaError(f"{where} has {cited(cut)}", str(kind))


def _value(text: str, kind: Type, where: str) -> object:
    """Returns the value of a text that is not blank, or raises."""
    plain = text.strip(" ")
    match kind:
        case AtomicType.STRING:
            return text.rstrip(" ")
        case AtomicType.BOOLEAN:
            return _truth(plain.lower())
        case AtomicType.FLOAT | AtomicType.DOUBLE:
            _need(plain, DOUBLE)
            return read_value(_number(plain), kind, where)
        case DecimalType():
            _need(plain, DECIMAL)
            return read_value(plain, kind, where)
        case AtomicType() if kind in WHOLES:
            _need(plain, WHOLE)
            return read_value(int(plain), kind, where)
        case ArrayType() | StructType():
            return _nested(plain, kind, where)
        case _:
            return read_value(plain, kind, where)


def _need(text: str, pattern: str) -> None:
    """Raises where a text is not written as it must be."""
    if not re.fullmatch(pattern, text, re.ASCII):
        raise ValueError(text)


def _number(text: str) -> object:
    """Returns a number, or the name of what is none."""
    return text.lstrip("+") if text.endswith(("NaN", "Infinity")) else float(text)


def _truth(text: str) -> bool:
    """Returns what a word says."""
    if text not in TRUE + FALSE:
        raise ValueError(text)
    return text in TRUE


def _nested(text: str, kind: Type, where: str) -> object:
    """Returns the set or record that stands in a text as JSON."""
    found = read_json(text)
    wanted = list if isinstance(kind, ArrayType) else dict
    if not isinstance(found, wanted):
        raise TypeError(text)
    return read_part(found, kind, where)


def _written(value: object) -> str:
    """Returns a value of JSON as a text, its numbers as they were."""
    match value:
        case Digits():
            return str(value)
        case list():
            return f"[{','.join(_written(item) for item in value)}]"
        case dict():
            parts = (f"{json.dumps(name)}:{_written(value[name])}" for name in value)
            return f"{{{','.join(parts)}}}"
        case _:
            return json.dumps(value, ensure_ascii=False)


def read_json(text: str) -> object:
    """Returns what a text of JSON says, its numbers as they are written."""
    return json.loads(text, parse_int=Digits, parse_float=Digits, parse_constant=Digits)


def is_object(value: object) -> TypeGuard[Mapping[str, object]]:
    """Tells whether a value of JSON is an object."""
    return isinstance(value, dict)
