"""The places that a job file names: from where rows come, and where they go.

    [streams.Trades]                       [sinks.Bargains]
    file = "trades/2026"                   folder = "out/bargains"
    replay = "trades", pace = 10           current = "out/stock", every = 16
    kafka = "trades", format = "json"      kafka = "bargains", upsert = true
    jdbc = "jdbc:..", table = "stock"
    format = "delta", path = "stock"
    rate = 100

The first word says what may stand beside it. Paths begin at the folder of the job file.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

from dovetail import schema, spec
from dovetail.bind import origins, sinks
from dovetail.bind.document import Document
from dovetail.bind.files.names import file_at
from dovetail.bind.jars import CONNECTOR, coordinates
from dovetail.bind.kafka import Topic, kafka, refuse_option
from dovetail.bind.replay import Pace, pace_of
from dovetail.errors import EngineError, SpecError, placed
from dovetail.spec import arguments, fields, reader


@dataclass(frozen=True, slots=True)
class Kafka:
    """What is said of all topics, and by which jars Spark reads them."""

    servers: str = ""
    registry: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    connector: tuple[str, ...] = CONNECTOR


@dataclass(frozen=True, slots=True)
class Places:
    """The places of a job file, of which some are said for all topics."""

    document: Document
    folder: Path
    kafka: Kafka

    def input_fields(
        self, value: object, where: str, own: Iterable[str]
    ) -> tuple[str, fields.Fields]:
        """Returns the word that says from where rows come, and all that is said.

        `own` may be said of an input wherever its rows are.
        """
        given = fields.mapping(value, where)
        source = one_of(given, where, tuple(_ORIGINS))
        keys, _ = _ORIGINS[source]
        return source, fields.Fields.of(given, where, (source, *keys, *own))

    def origin(self, source: str, known: fields.Fields) -> origins.Origin:
        """Reads from where the rows of an input come, whose word says of which kind."""
        _, read = _ORIGINS[source]
        with self.document.at(known.where, f"{known.where}.{source}"):
            return read(self, known)

    def sink(self, value: object, where: str) -> sinks.Sink:
        """Reads where the rows of an outlet, or a stream, go."""
        given = fields.mapping(value, where)
        target = one_of(given, where, tuple(_SINKS))
        keys, read = _SINKS[target]
        known = fields.Fields.of(given, where, (target, *keys))
        with self.document.at(where, f"{where}.{target}"):
            return read(self, known)

    def path(self, known: fields.Fields, key: str) -> str:
        """Returns a path, whole: Spark would begin elsewhere, where its driver runs."""
        return self.placed(known.need(key, path_said))

    def placed(self, said: str) -> str:
        """Returns a path, whole; one that says its file system is that already."""
        is_whole = sinks.SAYS_SYSTEM.match(said)
        return said if is_whole else str((self.folder / said).absolute())

    def local(self, known: fields.Fields, key: str) -> Path:
        """Returns a path on this machine, of what is looked at before Spark starts."""
        said = known.need(key, path_said)
        if (path := sinks.local_path(said)) is None:
            raise SpecError(
                f'{key} = "{said}", which is not on this machine',
                "a path on it",
                "Spark reads others: of [streams], [tables] and [datasets] "
                f'format = "parquet" with path = "{said}" and columns = {{ .. }}',
                where=f"{known.where}.{key}",
            )
        return self.folder / path


def _file(places: Places, known: fields.Fields) -> origins.Origin:
    """Reads a file, or a folder of files; replayed, its rows come as they once came."""
    is_replayed = known.has("replay")
    # A name of SPL has no dot: behind the last one in its place it stands alone.
    name = known.where.rpartition(".")[2]
    path = places.local(known, "replay" if is_replayed else "file")
    pace = known.take("pace", _pace, 1) if is_replayed else 1
    file = file_at(path, name, spec.AnyLayout())
    return origins.Replayed(file, pace) if is_replayed else origins.InFiles(file)


def _pace(value: object, where: str) -> Pace:
    """Reads how much faster rows come than they once came."""
    try:
        pace_of(value)
    except SpecError as error:
        raise fields.wrong(where, value, error.expected) from error
    return value  # type: ignore[return-value]  # as `pace_of` has looked


def _stored(places: Places, known: fields.Fields) -> origins.Origin:
    """Reads a table in a format that the session knows, or one of a data base."""
    own: dict[str, str] = {}
    if is_jdbc := known.has("jdbc"):
        own["url"] = known.need("jdbc", _url)
        own["dbtable"] = known.need("table", fields.text)
    path = places.path(known, "path") if known.has("path") else ""
    # Options come last: who says `dbtable` there means it.
    said = known.take("options", fields.by_name(setting), {})
    options = {**own, **said}
    if is_jdbc:
        _refuse_reading(said, f"{known.where}.options")
    for name in [it for it in said if it.lower() == "path"]:
        if path:
            where = f"{known.where}.options.{name}"
            raise fields.wrong(where, said[name], f'none beside path = "{path}"')
        # Spark would begin where its driver runs.
        path = places.placed(options.pop(name))
    kind = origins.JDBC if is_jdbc else known.need("format", fields.text)
    if kind.lower() in _IN_FILES and not path:
        found, expected = f'format="{kind}" without a path', 'path = "data/orders"'
        raise SpecError(found, expected, "its rows are in files")
    return origins.Stored(kind, options, path)


def _refuse_reading(options: Mapping[str, str], where: str) -> None:
    """Refuses options of a table of a data base that do not go together."""
    words = {name.lower(): name for name in options}
    by_parts = [it for it in _BY_PARTS if it.lower() in words]
    if by_parts not in ([], ["numPartitions"], [*_BY_PARTS]):
        raise SpecError(
            f'"{where}" has {", ".join(by_parts)}',
            f"all of {', '.join(_BY_PARTS)}, or none",
            "they say together which parts of a table are read at a time",
            where=f"{where}.{words[by_parts[0].lower()]}",
        )
    if own := words.get("query"):
        raise fields.wrong(f"{where}.{own}", options[own], "none beside a table")
    for name in _COUNTED:
        own = words.get(name.lower())
        if own and not options[own].isdecimal():
            raise fields.wrong(f"{where}.{own}", options[own], "a whole number")


def _url(value: object, where: str) -> str:
    """Reads the address of a data base, as Java has it."""
    said = fields.text(value, where)
    if not said.startswith("jdbc:"):
        raise fields.wrong(where, value, '"jdbc:postgresql://host/shop"')
    return said


_BY_PARTS = ("partitionColumn", "lowerBound", "upperBound", "numPartitions")
_COUNTED = ("numPartitions", "fetchsize", "queryTimeout")
_IN_FILES = ("avro", "binaryfile", "csv", "delta", "json", "orc", "parquet", "text")
"""Formats that Spark reads from a path alone."""


def _rate(places: Places, known: fields.Fields) -> origins.Origin:  # noqa: ARG001
    """Reads how many rows a second there are."""
    return origins.Rate(known.need("rate", fields.count))


def _folder_sink(places: Places, known: fields.Fields) -> sinks.Sink:
    """Reads a folder with one folder a batch."""
    place = places.path(known, "folder")
    return sinks.folder(place, known.take("format", fields.text, "parquet"))


def _current(places: Places, known: fields.Fields) -> sinks.Sink:
    """Reads a folder that has a result which changes as it stands."""
    place = places.path(known, "current")
    return sinks.current(place, known.take("every", fields.count, 16))


_AVRO = ("avro", "key_avro")
_TOPIC = (
    *("servers", "format", "key", "key_format", "meta", "misfits", "epoch"),
    *(*_AVRO, "registry", "options"),
)


def _topic(places: Places, known: fields.Fields) -> Topic:
    """Reads a topic: from which rows come, or into which they go."""
    usual = places.kafka
    # A topic's own word comes before the one that is said of all topics.
    servers = known.take("servers", _servers, usual.servers)
    if not servers:
        raise SpecError(
            f'"{known.where}" does not say where its broker is',
            'servers = "localhost:9092"',
            "in [kafka] it is said for all topics",
            where=known.where,
        )
    words = {
        word: known.need(word, fields.said)
        for word in ("format", "key_format", "start", "misfits", "registry", "epoch")
        if known.has(word)
    }
    for word in _AVRO:
        if known.has(word):
            path = places.folder / known.need(word, path_said)
            schema_of = json_of(path, f'the schema "{path}"', f"{known.where}.{word}")
            words[word] = json.dumps(schema_of)
    formats = words.get("format", ""), words.get("key_format", "")
    asks = any(one.endswith("avro") for one in formats) and not {*_AVRO} & {*words}
    if usual.registry and asks:
        words.setdefault("registry", usual.registry)
    columns = known.take("columns", reader.read_schema, schema.Schema(()))
    options = known.take("options", fields.by_name(setting), {})
    # What only the key has is a column of it; a table's is not named twice.
    try:
        return kafka(
            known.need("kafka", fields.text),
            servers=servers,
            columns={one.name: str(one.type) for one in columns.columns},
            key=known.take("key", _texts_by_name, {}),
            meta=known.take("meta", _texts_by_name, {}),
            upsert=known.take("upsert", fields.truth, default=False),
            register=known.take("register", fields.truth, default=False),
            options={**usual.options, **options},
            **words,
        )
    except EngineError as error:
        # Of all that is said of a topic a registry alone is asked by now.
        own = known.where if known.has("registry") else f"{places.document.name}.kafka"
        place = places.document.place(f"{own}.registry")
        raise placed(error, place) from error


def _topic_sink(places: Places, known: fields.Fields) -> Topic:
    """Reads a topic into which rows go."""
    for name, said in known.take("options", fields.by_name(setting), {}).items():
        if not name.lower().startswith("kafka."):
            hint = "all others of Spark's connector are of topics that are read"
            place = f"{known.where}.options.{name}"
            raise fields.wrong(place, said, "an option that begins with kafka.", hint)
    if known.has("misfits") and not known.take("upsert", fields.truth, default=False):
        told = known.need("misfits", fields.text)
        hint = "a row without a key is the one thing that does not fit a sink"
        raise fields.wrong(f"{known.where}.misfits", told, "none, or upsert", hint)
    return _topic(places, known)


def _servers(value: object, where: str) -> str:
    """Reads the addresses of brokers."""
    said = fields.text(value, where)
    for one in said.split(","):
        if not re.fullmatch(r"\S+:\d+", one.strip()):
            raise fields.wrong(where, value, 'addresses with ports, "localhost:9092"')
    return said


def json_of(
    path: Path, told: str, where: str, *, number: type[Decimal] | None = None
) -> Any:  # noqa: ANN401 - whatever stands there
    """Returns what stands in a file of JSON, its fractions as `number`."""
    try:
        return json.loads(path.read_text(encoding="utf-8"), parse_float=number)
    except (OSError, ValueError, RecursionError) as error:
        found = f"{told} cannot be read: {error}"
        expected = "a file in JSON that is there"
        raise SpecError(found, expected, where=where) from error


def _texts_by_name(value: object, where: str) -> dict[str, str]:
    """Reads texts by names, of which there are some."""
    if not (found := fields.by_name(fields.text)(value, where)):
        raise fields.wrong(where, value, '{ id = "bigint" }, or no such line')
    return found


def read_kafka(value: object, where: str) -> Kafka:
    """Reads what is said of all topics."""
    words = ("servers", "registry", "options", "connector")
    known = fields.Fields.of(value, where, words)
    options = known.take("options", fields.by_name(setting), {})
    for name, said in options.items():
        refuse_option(name, said, f"{where}.options.{name}")
    return Kafka(
        known.take("servers", _servers, ""),
        known.take("registry", fields.said, ""),
        options,
        known.take("connector", fields.many(coordinates), CONNECTOR),
    )


Reads = Callable[[Places, fields.Fields], origins.Origin]
_ORIGINS: Mapping[str, tuple[tuple[str, ...], Reads]] = {
    "file": ((), _file),
    "replay": (("pace",), _file),
    "jdbc": (("table", "options"), _stored),
    "rate": ((), _rate),
    "kafka": ((*_TOPIC, "start"), _topic),
    "format": (("path", "options"), _stored),
}
"""From where rows come: by the key that says it, what may stand beside it."""
_SINKS: Mapping[
    str, tuple[tuple[str, ...], Callable[[Places, fields.Fields], sinks.Sink]]
] = {
    "folder": (("format",), _folder_sink),
    "current": (("every",), _current),
    "kafka": ((*_TOPIC, "columns", "upsert", "register"), _topic_sink),
}
"""Where rows go, likewise."""


def one_of(given: Mapping[str, object], where: str, known: tuple[str, ...]) -> str:
    """Returns which one of some keys there is."""
    # "format" says how a folder is written, too: the others come before it.
    found = [key for key in known if key in given]
    strong = [key for key in found if key != "format"] or found
    if len(strong) == 1:
        return strong[0]
    if not strong:
        # What is nearly one of them is meant to be it.
        near = {key: arguments.near(key, known, "") for key in given}
        at = next((f"{where}.{key}" for key, hint in near.items() if hint), where)
        raise SpecError(
            f'"{where}" does not say where rows are',
            f"one of {', '.join(known)}",
            next(filter(None, near.values()), ""),
            where=at,
        )
    raise SpecError(
        f'"{where}" has {" and ".join(map(arguments.told, strong))}',
        f"one of {', '.join(known)}",
        where=f"{where}.{strong[1]}",
    )


def path_said(value: object, where: str) -> str:
    """Reads a path, which a file or a folder can have."""
    if not arguments.can_be_path(said := fields.said(value, where)):
        raise fields.wrong(where, value, arguments.A_PATH)
    return said


def setting(value: object, where: str) -> str:
    """Reads a setting of Spark, which takes texts."""
    match value:
        case bool():
            return str(value).lower()
        case int() | float() | str():
            return str(value)
        case _:
            name = where.rpartition(".")[2]
            hint = f'dots are part of a name in quotes alone: "{name}.name" = ..'
            hint *= isinstance(value, Mapping)
            expected = "a text, a number, true or false"
            raise fields.wrong(where, value, expected, hint)
