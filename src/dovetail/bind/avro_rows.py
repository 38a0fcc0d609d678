"""Rows that leave as Avro: values of Spark as those of a schema, in its SQL.

    id int           "long"                 CAST(id AS bigint)
    name string      ["null", "string"]     name
    size string      an enum of S, M        size, or the query stops
    id string        "long"                 refused: it is of another type
    -                "string", default "x"  'x'

A type that does not suit its field is refused before anything runs. What only a value
tells, as a null where the schema has none, stops the query: Spark would tell it as a
stack of Java, or leave out digits of a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from dovetail.bind.avro import Json, beside_null, has_long, read_as
from dovetail.errors import SchemaError
from dovetail.expression.sql import text_of
from dovetail.schema import (
    FRACTIONS,
    MOMENTS,
    WHOLE,
    ArrayType,
    AtomicType,
    CarriedType,
    DecimalType,
    MapType,
    StructType,
    Type,
    quoted,
)

_LEFT_OUT: tuple[Type | None, ...] = (
    *(AtomicType.BOOLEAN, AtomicType.INT, AtomicType.BIGINT),
    *(*FRACTIONS, AtomicType.STRING),
)
"""Types whose default is written where rows have no column for a field."""
_EMPTY = {"[]": "array()", "{}": "map()"}
_Stop = Callable[[str, str, str], str]
_Part = tuple[str, Type, str]
"""A value by its name, its type and its SQL."""


@dataclass(frozen=True, slots=True)
class Values:
    """Makes values of rows those of schemas, which are unfolded.

    `where`: what they are of. `stop` returns what ends the query, for the name of a
    field, the SQL of its value as a text, and what is expected of it.
    """

    where: str
    stop: _Stop

    def record(self, parts: Iterable[_Part], schema: Json, within: str = "") -> str:
        """Returns a struct in SQL whose fields are those of a record."""
        own = beside_null(schema)[0]["fields"]
        fields: dict[str, Json] = {it["name"]: it for it in own}
        near = {it.lower(): it for it in fields}
        placed: dict[str, _Part] = {}
        for name, kind, sql in parts:
            # As Spark does by itself: by the name, else by its letters alone.
            field = name if name in fields else near.get(name.lower(), "")
            if not field or field in placed:
                raise SchemaError(
                    f'{self.where}: the column "{within}{name}" is no field of the '
                    "schema of Avro",
                    f"one of {', '.join(fields)}",
                    "leave it out of the result, or add the field to the schema",
                )
            placed[field] = f"{within}{name}", kind, sql
        made = (
            (
                self.value(placed[name], one["type"])
                if name in placed
                else self._default(one, within),
                quoted(name),
            )
            for name, one in fields.items()
        )
        return f"struct({', '.join(f'{sql} AS {name}' for sql, name in made if sql)})"

    def _default(self, field: Json, within: str) -> str:
        """Returns the value of a field that rows do not have, where it is not null."""
        known, may_be_null = beside_null(field["type"])
        default, kind = field.get("default"), read_as(known)
        if default is None and may_be_null:
            return ""
        text = json.dumps(default)
        if kind in _LEFT_OUT and default is not None:
            sql = text_of(default) if isinstance(default, str) else text
            return f"CAST({sql} AS {kind})"
        if text in _EMPTY and kind is not None:
            return f"CAST({_EMPTY[text]} AS {kind})"
        raise SchemaError(
            f'{self.where}: no column for the field "{within}{field["name"]}", never '
            "null in the schema of Avro",
            "a column of its name, or a default that a text of SQL can say",
            "give it in the result, or give the field a default in the schema",
        )

    def value(self, part: _Part, schema: Json) -> str:
        """Returns a value in SQL, which stops the query where it is none of a schema.

        A type of which no value is one is refused.
        """
        name, kind, sql = part
        known, may_be_null = beside_null(schema)
        it = f"it{name.count('.') + name.count('[')}"
        match kind, known:
            case StructType(fields), {"type": "record"}:
                own = ((one, of, f"{sql}.{quoted(one)}") for one, of in fields)
                made = self.record(own, known, f"{name}.")
                made = f"IF({sql} IS NULL, NULL, {made})"
            case ArrayType(element), {"type": "array", "items": items}:
                inner = self.value((f"{name}[]", element, it), items)
                made = f"transform({sql}, {it} -> {inner})" if inner != it else sql
            case MapType(AtomicType.STRING, element), {"type": "map", "values": values}:
                inner = self.value((f"{name}[]", element, it), values)
                made = f"transform_values({sql}, (key, {it}) -> {inner})"
                made = made if inner != it else sql
            case _:
                made = self._plain(part, known)
        if may_be_null:
            return made
        return f"coalesce({made}, {self.stop(name, text_of('null'), 'none')})"

    def _plain(self, part: _Part, known: Json) -> str:
        """Returns a value of no other ones."""
        name, kind, sql = part
        own, is_fit, expected = read_as(known), "", ""
        if own is None or not _has_all(own, kind):
            several = known if isinstance(known, list) else [known]
            said = " or ".join(it["type"] for it in several)
            said = str(own) if own else f"{said}, of which Spark writes none"
            raise SchemaError(
                f'{self.where}: the column "{name}" is of the type {kind}, its field '
                "in the schema of Avro is not",
                said,
                "cast the column, or change the schema",
            )
        match known:
            case {"type": "enum", "symbols": symbols}:
                expected = f"one of {', '.join(symbols)}"
                is_fit = f"{sql} IN ({', '.join(map(text_of, symbols))})"
            case {"type": "fixed", "size": size} if own is AtomicType.BINARY:
                expected = f"{size} bytes"
                is_fit = f"length({sql}) = {size}"
            case {"logicalType": str(said)} if own in MOMENTS and "millis" in said:
                expected = "whole milliseconds, as date_trunc('MILLISECOND', ..) has"
                is_fit = f"extract(SECOND FROM {sql}) % 0.001 = 0"
        value = f"CAST({sql} AS {own})" if own != kind else sql
        if not is_fit:
            return value
        text = f"hex({sql})" if kind is AtomicType.BINARY else f"CAST({sql} AS STRING)"
        stop = self.stop(name, text, expected)
        return f"IF({sql} IS NULL OR {is_fit}, {value}, {stop})"


def _has_all(own: Type, kind: Type) -> bool:
    """Tells whether each value of a kind is one of an own type."""
    match own, kind:
        case AtomicType.STRING, CarriedType(name):
            # A text with an order of its own is one.
            return name.startswith("string")
        case DecimalType(most, scale), DecimalType(digits, behind):
            return behind <= scale and digits - behind <= most - scale
    if own in WHOLE and kind in WHOLE:
        return WHOLE.index(kind) <= WHOLE.index(own)
    if own in FRACTIONS:
        # A fraction has all whole numbers of half its bits.
        places = FRACTIONS.index(own) + 2
        return kind in {*FRACTIONS[: places - 1], *WHOLE[:places]}
    return own == kind


def as_said(sql: str, schema: Json, stop: str, depth: int = 0) -> str:
    """Returns what Spark has read in SQL as a schema has it, or a `stop`.

    It has read it as `readable` says: truth values are bytes, decimals too long, each
    `int` is a `long`. Bytes that are no text it takes for one.
    """
    one, it, key = beside_null(schema)[0], f"it{depth}", f"key{depth}"
    fits, made = "", sql
    match one:
        case {"type": "boolean"}:
            stop = f"IF({sql} IS NULL, NULL, {stop})"
            return (
                f"CASE {sql} WHEN X'00' THEN false WHEN X'01' THEN true ELSE {stop} END"
            )
        case {"type": "int"}:
            made = f"try_cast({sql} AS int)"
            fits = f"{made} IS NOT NULL"
            if one.get("logicalType") == "date":
                made = f"date_from_unix_date({made})"
        case {"type": "string"}:
            fits = f"is_valid_utf8({sql})"
        case {"type": "bytes" | "fixed"} if isinstance(read_as(one), DecimalType):
            made = f"try_cast({sql} AS {read_as(one)})"
            fits = f"{made} IS NOT NULL"
        case {"type": "array", "items": items}:
            inner = as_said(it, items, stop, depth + 1)
            made = f"transform({sql}, {it} -> {inner})" if inner != it else sql
        case {"type": "map", "values": values}:
            inner = as_said(it, values, stop, depth + 1)
            made = f"transform_values({sql}, ({key}, {it}) -> {inner})"
            made = made if inner != it else sql
            fits = f"forall(map_keys({sql}), {key} -> is_valid_utf8({key}))"
        case list() | {"type": "record"}:
            members = list(_members(one))
            each = [
                as_said(f"{sql}.{quoted(name)}", part, stop, depth)
                for name, part in members
            ]
            names = (text_of(name) for name, _ in members)
            parts = (part for it in zip(names, each, strict=True) for part in it)
            if each != [f"{sql}.{quoted(name)}" for name, _ in members]:
                made = f"IF({sql} IS NULL, NULL, named_struct({', '.join(parts)}))"
    return f"IF({sql} IS NULL OR {fits}, {made}, {stop})" if fits else made


def _members(schema: Json) -> Iterable[tuple[str, Json]]:
    """Yields the parts of a record, or of what may be of several types, by names."""
    if not isinstance(schema, list):
        return ((it["name"], it["type"]) for it in schema["fields"])
    kinds = {it["type"] for it in schema}
    # Of these Spark makes the wider one.
    is_one = kinds in ({"int", "long"}, {"float", "double"})
    if is_one:
        return ()
    own = {"type": "null"} if has_long(schema) else None
    kept = (own if own and it["type"] == "int" else it for it in schema)
    return ((f"member{at}", it) for at, it in enumerate(kept))
