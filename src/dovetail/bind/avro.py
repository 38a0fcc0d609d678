"""Schemas of Avro, as their JSON: of types that stand elsewhere, and of rows.

    "a.Shop"  +  {"type": "record", "name": "a.Shop", ..}     the record, whole
    id bigint                           {"name": "id", "type": ["null", "long"], ..}

Where a name of a type may stand, its definition may, if it stands there first.
"""

from __future__ import annotations

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
