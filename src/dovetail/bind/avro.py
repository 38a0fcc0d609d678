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
_WORD = "[A-Za-z_][A-Za-z0-9_]*"
"""What a name of Avro looks like."""
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
}
"""Plain types as Spark reads them."""
_LOGICAL: Mapping[tuple[str, str], columns.Type] = {
    ("int", "date"): columns.AtomicType.DATE,
    ("long", "timestamp-millis"): columns.AtomicType.TIMESTAMP,
    ("long", "timestamp-micros"): columns.AtomicType.TIMESTAMP,
    ("long", "local-timestamp-millis"): columns.AtomicType.TIMESTAMP_NTZ,
    ("long", "local-timestamp-micros"): columns.AtomicType.TIMESTAMP_NTZ,
}
"""Those of which more is said; of any other type the same word says nothing."""
_UNREAD = ("time-micros", "timestamp-nanos", "local-timestamp-nanos")
"""What Spark reads in no release, whichever columns are asked for."""
_BYTES = columns.AtomicType.BINARY
_TRUTH = "dovetail.Truth"
_BYTE = {"type": "fixed", "name": "Truth", "namespace": "dovetail", "size": 1}
"""A byte of a truth value: of one that is none Avro makes false."""


def readable(schema: Json, seen: set[str]) -> Json:
    """Returns a schema in which Spark reads values without a loss.

    It has no kinds of numbers that Spark does not know. Truth values are bytes, as Avro
    makes false of one that is none, and decimals are as long as they can be, as Spark
    takes a short one from the last eight bytes of it. An `int` is a `long`: its bytes
    are alike, and of one that is too large Avro leaves bits out. `seen`: names that
    stand there.
    """
    match schema:
        case "int":
            return "long"
        case "boolean" | {"type": "boolean"}:
            is_new = _TRUTH not in seen
            seen.add(_TRUTH)
            return _BYTE if is_new else _TRUTH
        case list():
            # Of two types that are alike a union has one.
            keeps = "int" if has_long(schema) else None
            return [
                one if kind_of(one) == keeps else readable(one, seen) for one in schema
            ]
        case dict():
            parts = (it for it in _PARTS if it in schema)
            made = schema | {it: readable(schema[it], seen) for it in parts}
            is_decimal = made.get("logicalType") == "decimal"
            is_unread = is_decimal and _decimal(schema) == _BYTES
            if is_unread or made.get("logicalType") in _UNREAD:
                del made["logicalType"]
            elif is_decimal:
                made["precision"] = _most_digits(schema)
            elif schema["type"] == "int":
                made.pop("logicalType", None)
            if "fields" in schema:
                made["fields"] = [
                    it
                    | {"type": readable(it["type"], seen)}
                    | {word: _in_bytes(it[word]) for word in it if word == "default"}
                    for it in schema["fields"]
                ]
            return made
    return schema


def kind_of(schema: Json) -> Json:
    """Returns the plain type of a schema, whatever else it says of it."""
    return schema.get("type") if isinstance(schema, dict) else schema


def has_long(schema: Json) -> bool:
    """Tells whether one of several types is `long`, beside which `int` stays `int`."""
    return any(kind_of(one) == "long" for one in schema)


def _in_bytes(default: Json) -> Json:
    """Returns the default of a field whose truth values are bytes."""
    match default:
        case bool():
            return chr(default)
        case list():
            return [_in_bytes(one) for one in default]
        case dict():
            return {name: _in_bytes(one) for name, one in default.items()}
    return default


def unfolded(schema: Json, space: str, known: dict[str, Json]) -> Json:
    """Returns a schema in which each type stands as an object, wherever it is named.

    It is read within a namespace; `known` gets the types that it names. A type within
    itself stays a name.
    """
    match schema:
        case list():
            return [unfolded(one, space, known) for one in schema]
        case str():
            names = [it for it in (_name(schema, space), schema) if it in known]
            return known[names[0]] if names else {"type": schema}
        case {"type": str(kind), "name": str(name)} if kind in _NAMED:
            name = _name(name, schema.get("namespace", space))
            space = name.rpartition(".")[0]
            fields = [
                {**it, "type": unfolded(it["type"], space, known)}
                for it in schema.get("fields", ())
            ]
            known[name] = {**schema, "fields": fields} if fields else schema
            return known[name]
        case {"type": "array" | "map"}:
            parts = {it: schema[it] for it in ("items", "values") if it in schema}
            return schema | {it: unfolded(parts[it], space, known) for it in parts}
        case {"type": str(kind)} if kind in (*_READ, "null"):
            return schema
        case {"type": kind}:
            return unfolded(kind, space, known)
    return schema


def beside_null(schema: Json) -> tuple[Json, bool]:
    """Returns what an unfolded schema is but null, and whether it may be null.

    One of several types, or of none, is the list of them.
    """
    if not isinstance(schema, list):
        return schema, False
    own = [it for it in schema if it.get("type") != "null"]
    return own[0] if len(own) == 1 else own, len(own) < len(schema)


def read_as(schema: Json) -> columns.Type | None:
    """Returns as what Spark reads values of an unfolded schema, if that is clear."""
    match beside_null(schema)[0]:
        case {"type": "bytes" | "fixed", "logicalType": "decimal"} as sized:
            return _decimal(sized)
        case {"type": str(kind), "logicalType": str(said)} if (kind, said) in _LOGICAL:
            return _LOGICAL[kind, said]
        case {"type": "array", "items": items}:
            element = read_as(items)
            return element and columns.ArrayType(element)
        case {"type": "map", "values": values}:
            value = read_as(values)
            return value and columns.MapType(columns.AtomicType.STRING, value)
        case {"type": "record", "fields": fields}:
            parts = [(it["name"], read_as(it["type"])) for it in fields]
            found = tuple((name, kind) for name, kind in parts if kind)
            return columns.StructType(found) if len(found) == len(parts) else None
        case {"type": str(kind)}:
            return _READ.get(kind)
    return None


def _decimal(schema: Json) -> columns.Type:
    """Returns the decimals of a schema; those for which it has no room are bytes."""
    digits, scale = schema.get("precision"), schema.get("scale", 0)
    if schema["type"] not in ("bytes", "fixed"):
        return _BYTES
    whole = isinstance(digits, int) and isinstance(scale, int)
    if whole and 0 < digits <= _most_digits(schema) and 0 <= scale <= digits:
        return columns.DecimalType(digits, scale)
    return _BYTES


def _most_digits(schema: Json) -> int:
    """Returns how many digits the decimals of a schema can have."""
    if schema["type"] == "bytes":
        return columns.MOST_DIGITS
    largest = 2 ** (8 * schema["size"] - 1) - 1
    return min(columns.MOST_DIGITS, len(str(largest)) - 1)


Fields = Mapping[str, columns.Type | None]
_READ_BEFORE: dict[str, Json] = {}
_FOUND: dict[str, Fields | None] = {}
"""What is known of schemas, which is asked for each column of each batch.

A cache of functools has a lock, and could not travel.
"""


def read_schema(text: str) -> Json:
    """Returns a schema, unfolded."""
    if text not in _READ_BEFORE:
        _READ_BEFORE[text] = unfolded(json.loads(text), "", {})
    return _READ_BEFORE[text]


def unlike(one: Json, other: Json, name: str) -> Iterator[str]:
    """Yields fields whose bytes mean another number, or moment, in another schema.

    Both are unfolded. Avro reads bytes of the one as if they were of the other.
    """
    one, other = beside_null(one)[0], beside_null(other)[0]
    if isinstance(one, list) or isinstance(other, list):
        return
    if one["type"] == other["type"] == "record":
        fields = {it["name"]: it["type"] for it in other["fields"]}
        for it in one["fields"]:
            if it["name"] in fields:
                own = f"{name}.{it['name']}" if name else it["name"]
                yield from unlike(it["type"], fields[it["name"]], own)
    for part in ("items", "values"):
        if part in one and part in other:
            yield from unlike(one[part], other[part], f"{name}[]")
    kinds = [read_as(it) for it in (one, other)]
    said = [
        f"decimal of the scale {kind.scale}"
        if isinstance(kind, columns.DecimalType)
        else it["logicalType"]
        for it, kind in zip((one, other), kinds, strict=True)
        if kind != _READ.get(it["type"]) and "logicalType" in it
    ]
    if len({*said}) > 1:
        yield f'the field "{name}" as {said[0]}, the newest as {said[1]}'


def field_of(text: str, name: str) -> Json | None:
    """Returns the schema of a field by its name; of what is no record, all of it."""
    schema = read_schema(text)
    if fields_of(text) is None:
        return schema
    every = beside_null(schema)[0]["fields"]
    near = (it["type"] for it in every if it["name"].lower() == name.lower())
    return next((it["type"] for it in every if it["name"] == name), next(near, None))


def fields_of(text: str) -> Fields | None:
    """Returns the types of a record's fields, by their names in small letters.

    What is no record has no fields; a record that is one of several types is refused.
    """
    if text not in _FOUND:
        one = beside_null(read_schema(text))[0]
        if isinstance(one, list) and any(it.get("type") == "record" for it in one):
            raise SchemaError(
                f"a schema of Avro of {len(one)} types, of which one is a record",
                "one record, or null beside it: Spark reads and writes no other ones",
                'format="bytes" takes the records as they are',
            )
        fields = None
        if isinstance(one, dict) and one.get("type") == "record":
            fields = {it["name"].lower(): read_as(it["type"]) for it in one["fields"]}
        _FOUND[text] = fields
    return _FOUND[text]


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
            if any(isinstance(one, list) for one in schema):
                yield "several types within several ones"
            for one in schema:
                yield from _odd(one, space, known)
        case {"type": str(kind), "name": str(_)} if kind in _NAMED:
            yield from _odd_of_name(schema, space, known)
        case {"type": "array", "items": part} | {"type": "map", "values": part}:
            yield from _odd(part, space, known)
        case {"type": part} if part not in ("array", "map", *_NAMED):
            yield from _odd(part, space, known)
        case _:
            yield f"{json.dumps(schema)} in place of a type"


def _odd_of_name(schema: Json, space: str, known: dict[str, bool]) -> Iterator[str]:
    """Yields what is odd of a type that has a name."""
    kind, own = schema["type"], schema["name"]
    if (name := _name(own, schema.get("namespace", space))) in known:
        yield f'two types "{name}"'
    known[name] = True
    names: list[Json] = [None]
    match kind, schema:
        case "enum", {"symbols": [*names]}:
            pass
        case "fixed", {"size": int(size)} if size >= 0:
            names = []
        case "record" | "error", {"fields": [*fields]}:
            names = [it.get("name") for it in fields if isinstance(it, dict)]
    for one in names:
        if not isinstance(one, str) or not re.fullmatch(_WORD, one):
            yield f'"{one}" in the {kind} "{own}"'
        elif names.count(one) > 1:
            yield f'"{one}" twice in the {kind} "{own}"'
    for one in schema.get("fields", ()):
        # A field is no type: of which it is stands in it.
        part = one.get("type", one) if isinstance(one, dict) else one
        yield from _odd(part, name.rpartition(".")[0], known)
    known[name] = False


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
        if not re.fullmatch(_WORD, own):
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
