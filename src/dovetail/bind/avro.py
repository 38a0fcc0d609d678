"""Schemas of Avro, as their JSON: of types that stand elsewhere, and of rows.

    "a.Shop"  +  {"type": "record", "name": "a.Shop", ..}     the record, whole
    id bigint                           {"name": "id", "type": ["null", "long"], ..}

Where a name of a type may stand, its definition may, if it stands there first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from dovetail import schema as columns
from dovetail.errors import SchemaError

Json = Any
"""What a schema of Avro is, once it is read."""
_NAMED = ("record", "error", "enum", "fixed")
"""Types of Avro that have a name."""
_PARTS = ("type", "items", "values")
"""Where a type of Avro has another one, beside its fields."""
_ATOMIC: Mapping[columns.Type, Json] = {
    columns.AtomicType.BOOLEAN: "boolean",
    columns.AtomicType.TINYINT: "int",
    columns.AtomicType.SMALLINT: "int",
    columns.AtomicType.INT: "int",
    columns.AtomicType.BIGINT: "long",
    columns.AtomicType.FLOAT: "float",
    columns.AtomicType.DOUBLE: "double",
    columns.AtomicType.STRING: "string",
    columns.AtomicType.BINARY: "bytes",
    columns.AtomicType.DATE: {"type": "int", "logicalType": "date"},
    columns.AtomicType.TIMESTAMP: {"type": "long", "logicalType": "timestamp-micros"},
    columns.AtomicType.TIMESTAMP_NTZ: {
        "type": "long",
        "logicalType": "local-timestamp-micros",
    },
}
_READ: Mapping[Json, columns.Type] = {
    "boolean": columns.AtomicType.BOOLEAN,
    "int": columns.AtomicType.INT,
    "long": columns.AtomicType.BIGINT,
    "float": columns.AtomicType.FLOAT,
    "double": columns.AtomicType.DOUBLE,
    "string": columns.AtomicType.STRING,
    "enum": columns.AtomicType.STRING,
    "bytes": columns.AtomicType.BINARY,
    "fixed": columns.AtomicType.BINARY,
    "date": columns.AtomicType.DATE,
    "timestamp-millis": columns.AtomicType.TIMESTAMP,
    "timestamp-micros": columns.AtomicType.TIMESTAMP,
    "local-timestamp-millis": columns.AtomicType.TIMESTAMP_NTZ,
    "local-timestamp-micros": columns.AtomicType.TIMESTAMP_NTZ,
}
"""Plain types as Spark reads them, by the word that says most of them."""
_UNREAD = ("time-micros", "timestamp-nanos", "local-timestamp-nanos")
"""What Spark reads in no release, whichever columns are asked for."""


def readable(text: str) -> str:
    """Returns a schema without the kinds of numbers that Spark does not know."""

    def plain(one: dict[str, Json]) -> dict[str, Json]:
        if one.get("logicalType") in _UNREAD:
            del one["logicalType"]
        return one

    return json.dumps(json.loads(text, object_hook=plain))


def read_as(schema: Json, types: Mapping[str, Json]) -> columns.Type | None:
    """Returns the type in which Spark reads the values of a schema, if that is clear.

    `types` are those that the schema may name.
    """
    match schema:
        case str() if schema in _READ:
            return _READ[schema]
        case str():
            known = [it for it in types if it == schema or it.endswith(f".{schema}")]
            # A type within itself is none.
            others = {name: one for name, one in types.items() if name not in known}
            return read_as(types[known[0]], others) if len(known) == 1 else None
        case list():
            own = [it for it in schema if it != "null"]
            return read_as(own[0], types) if len(own) == 1 else None
        case {"logicalType": "decimal", "precision": digits}:
            return columns.DecimalType(digits, schema.get("scale", 0))
        case {"logicalType": str(said)} if said in _READ:
            return _READ[said]
        case {"type": "array", "items": items}:
            element = read_as(items, types)
            return element and columns.ArrayType(element)
        case {"type": "map", "values": values}:
            value = read_as(values, types)
            return value and columns.MapType(columns.AtomicType.STRING, value)
        case {"type": "record", "fields": fields}:
            parts = [(it["name"], read_as(it["type"], types)) for it in fields]
            found = tuple((name, kind) for name, kind in parts if kind)
            return columns.StructType(found) if len(found) == len(parts) else None
        case {"type": kind}:
            return read_as(kind, types)
    return None


Fields = Mapping[str, columns.Type | None]
_FOUND: dict[str, Fields | None] = {}
"""What is known of schemas, which is asked for each column of each batch.

A cache of functools has a lock, and could not travel.
"""


def fields_of(text: str) -> Fields | None:
    """Returns the types of a record's fields, by their names in small letters.

    What is no record has no fields.
    """
    if text not in _FOUND:
        fields, types = _fields(text), dict(types_of(json.loads(text), ""))
        _FOUND[text] = (
            None
            if fields is None
            else {it["name"].lower(): read_as(it["type"], types) for it in fields}
        )
    return _FOUND[text]


def needed(text: str) -> Iterator[str]:
    """Yields the fields of a record that are never null, by their names.

    Spark writes none of them by itself, whatever default a field has.
    """
    for one in _fields(text) or ():
        if not isinstance(one["type"], list) or "null" not in one["type"]:
            yield one["name"]


def _fields(text: str) -> Json | None:
    """Returns the fields of a record; refuses one that is one of several types."""
    known = json.loads(text)
    kinds = [
        it for it in (known if isinstance(known, list) else [known]) if it != "null"
    ]
    if not any(isinstance(it, dict) and it.get("type") == "record" for it in kinds):
        return None
    if len(kinds) > 1:
        raise SchemaError(
            f"a schema of Avro of {len(kinds)} types, of which one is a record",
            "one record, or null beside it: Spark reads and writes no other ones",
            'format="bytes" takes the records as they are',
        )
    return kinds[0].get("fields", ())


def refuse_odd(text: str, where: str) -> None:
    """Refuses a schema that lacks a part of a type, or has one that holds itself."""
    for odd in _odd(json.loads(text), "", {}):
        raise SchemaError(
            f"{where}: a schema of Avro with {odd}",
            "one whose types are all there, and none within itself",
            'format="bytes" takes the records as they are',
        )


def _odd(schema: Json, space: str, known: dict[str, bool]) -> Iterator[str]:
    """Yields what is odd; of each type that is `known` it is said whether it is open.

    Spark reads and writes no type that holds itself.
    """
    match schema:
        case str():
            names = [it for it in (_name(schema, space), schema) if it in known]
            if not names and schema not in (*_ATOMIC.values(), "null"):
                yield f'the type "{schema}", which it does not have'
            elif names and known[names[0]]:
                yield f'the type "{schema}" within itself'
        case list():
            for one in schema:
                yield from _odd(one, space, known)
        case {"type": str(kind), "name": str(name)} if kind in _NAMED:
            name = _name(name, schema.get("namespace", space))
            known[name] = True
            for one in schema.get("fields", ()):
                yield from _odd(one, name.rpartition(".")[0], known)
            known[name] = False
        case {"items": part} | {"values": part} | {"type": part}:
            yield from _odd(part, space, known)
        case _:
            yield f"{json.dumps(schema)} in place of a type"


def schema_of_values(kind: columns.Type, name: str) -> Json:
    """Returns the schema of a type's values, a record of a name where it has parts."""
    match kind:
        case columns.DecimalType(precision, scale):
            sized = {"precision": precision, "scale": scale}
            return {"type": "bytes", "logicalType": "decimal", **sized}
        case columns.ArrayType(element):
            return {"type": "array", "items": ["null", schema_of_values(element, name)]}
        case columns.MapType(columns.AtomicType.STRING, value):
            return {"type": "map", "values": ["null", schema_of_values(value, name)]}
        case columns.StructType(parts):
            return schema_of_record(name, parts)
        case _ if kind in _ATOMIC:
            return _ATOMIC[kind]
    raise SchemaError(
        f'"{name}" is of the type {kind}, for which Avro has none',
        "a type that it has; the keys of its maps are texts",
        "cast it, or leave it out",
    )


def schema_of_record(name: str, parts: Iterable[tuple[str, columns.Type]]) -> Json:
    """Returns the schema of rows, of which each column may be null."""
    fields = []
    for own, kind in parts:
        if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", own):
            raise SchemaError(
                f'"{name}" has the column "{own}"',
                "a name of Avro: of letters from A to Z, digits and _",
                "rename it, as with select={..}",
            )
        # A record within another one is of its name: so no two have the same.
        type_ = ["null", schema_of_values(kind, f"{name}.{own}")]
        fields.append({"name": own, "type": type_, "default": None})
    return {"type": "record", "name": name, "fields": fields}


def types_of(schema: Json, space: str) -> Iterator[tuple[str, Json]]:
    """Yields all types that a schema names, by their whole names."""
    if isinstance(schema, list):
        for one in schema:
            yield from types_of(one, space)
    elif isinstance(schema, dict):
        if schema.get("type") in _NAMED:
            name = _name(schema["name"], schema.get("namespace", space))
            space = name.rpartition(".")[0]
            yield name, {**schema, "name": name.rpartition(".")[2], "namespace": space}
        for one in (*schema.get("fields", ()), *(schema.get(it) for it in _PARTS)):
            yield from types_of(one, space)


def whole(schema: Json, space: str, types: dict[str, Json]) -> Json:
    """Returns a schema in which each of some types stands where it is first met.

    It is read within a namespace. Of a type that stands there already there is None.
    """
    if isinstance(schema, list):
        return [whole(one, space, types) for one in schema]
    if isinstance(schema, str):
        names = (_name(schema, space), schema)
        name = next((it for it in names if it in types), schema)
        if types.get(name) is None:
            return name
        schema = types[name]
    made = dict(schema)
    if made.get("type") in _NAMED:
        name = _name(made["name"], made.get("namespace", space))
        if types.get(name, made) is None:
            return name
        types[name] = None
        space = name.rpartition(".")[0]
        # Else it would be of the namespace of what it stands in.
        made |= {"name": name.rpartition(".")[2], "namespace": space}
    if "fields" in made:
        made["fields"] = [
            {**it, "type": whole(it["type"], space, types)} for it in made["fields"]
        ]
    return made | {it: whole(made[it], space, types) for it in _PARTS if it in made}


def _name(name: str, space: str) -> str:
    """Returns the whole name of a type that is named within a namespace."""
    return name if "." in name or not space else f"{space}.{name}"
