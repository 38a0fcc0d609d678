"""A job file: a program or a join, from where its inputs come, where results go.

    program = "bargains.spl"           # or .sql, or [join]; or the command names it
    files = "data"                     # Quotes is quotes.csv, .json or .parquet there
    sequence = "n"                     # the column that orders the rows of all streams
    checkpoint = "state"               # a later run goes on from there

    [streams.Trades]
    file = "trades/2026"               # this one is another file, or a folder of files

    [tables.Prices]
    file = "prices.csv"
    key = "article"
    columns = { article = "string", price = "double" }

    [lookups.People]
    postgres = "postgresql://user@host/shop"
    table = "people"
    key = "id"

    [sinks.Bargains]
    folder = "out/bargains"
    format = "csv"

Paths begin at the folder of the job file. How rows are ordered is said for all streams
or for one. What stands at the wrong place is refused there, with its line.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from dovetail import schema, spec
from dovetail.bind import origins, sinks
from dovetail.bind.document import FROM_HERE, Document, text_of
from dovetail.bind.files import Root
from dovetail.bind.files.names import file_at
from dovetail.bind.jars import AVRO, CONNECTOR, coordinates, jars
from dovetail.bind.kafka import Topic, kafka, refuse_option
from dovetail.bind.records import Encoding
from dovetail.bind.replay import Pace, pace_of
from dovetail.dialects.sql import SQL_DIALECTS, USUAL
from dovetail.errors import DialectError, EngineError, SpecError, placed
from dovetail.spec import arguments, fields, reader

WORDS = ("time", "lateness", "idle", "bounds", "order", "sequence")
"""How the rows of a stream are ordered, in the words of `dt.stream`."""
_WORDS = {
    spec.InputKind.STREAM: WORDS,
    spec.InputKind.TABLE: ("time", "order", "refresh"),
    spec.InputKind.DATASET: ("time", "refresh"),
}
PARTS = {
    spec.InputKind.STREAM: "streams",
    spec.InputKind.TABLE: "tables",
    spec.InputKind.DATASET: "datasets",
}
"""In which part of a job file the inputs of a kind stand."""
_NAMED = (
    *("program", "text", "dialect", "join", "settings"),
    *("files", "streams", "tables", "datasets", "lookups", "sinks"),
    *("checkpoint", "trigger", "finish", "name", "partitions", "spark", "kafka"),
)
_ASKED: Mapping[str, fields.Reader[Any]] = {
    "size": fields.whole,
    **dict.fromkeys(("ttl", "refresh", "retry"), fields.text),
}
"""How a table is looked up in, in the words of `dt.lookup`."""
_COUNT = partial(fields.whole, least=1)
"""Of what there are none nothing is done."""
SPL, SQL = "spl", "sql"
LANGUAGES = {".spl": SPL, ".sql": SQL}
"""The languages of programs on streams, by the endings of their files."""
NOW = "available"
"""The trigger of who reads what is there, and ends."""


@dataclass(frozen=True, slots=True)
class Text:
    """A program in a language; SQL has dialects. `file` has it, if a job names one."""

    text: str
    language: str
    dialect: str = ""
    file: str = field(default="", compare=False)


@dataclass(frozen=True, slots=True)
class Neutral:
    """A join as data, with its switches."""

    join: spec.JoinSpec
    settings: spec.Settings


@dataclass(frozen=True, slots=True)
class JobInput:
    """An input: what it is, from where its rows come, and how they are ordered.

    `where` is its place in the job file. A table that does not stream is read once.
    """

    kind: spec.InputKind
    origin: origins.Origin
    words: Mapping[str, str]
    declared: schema.Schema = schema.Schema(())
    key: tuple[str, ...] = ()
    streams: bool = True
    where: str = ""


@dataclass(frozen=True, slots=True)
class JobLookup:
    """A table that is asked by key: files, or a table of PostgreSQL at a `place`."""

    table: str
    place: str
    key: tuple[str, ...]
    columns: Mapping[str, str]
    words: Mapping[str, Any]
    where: str


@dataclass(frozen=True, slots=True)
class Kafka:
    """What is said of all topics, and by which jars Spark reads them."""

    servers: str = ""
    registry: str = ""
    options: Mapping[str, str] = field(default_factory=dict)
    connector: tuple[str, ...] = CONNECTOR


@dataclass(frozen=True, slots=True)
class Job:
    """What a job file says, paths whole; without a checkpoint nothing is kept.

    `words` order the rows of the streams that say nothing of their own.
    """

    document: Document
    program: Text | Neutral | None
    files: tuple[Root, ...]
    words: Mapping[str, str]
    inputs: Mapping[str, JobInput]
    lookups: Mapping[str, JobLookup]
    sinks: Mapping[str, sinks.Sink]
    checkpoint: str
    trigger: str
    finish: bool | None
    name: str
    partitions: int
    spark: Mapping[str, str]
    kafka: Kafka
    data: str
    """The folder at which the paths of the program itself begin."""

    @classmethod
    def bare(cls, folder: Path) -> Job:
        """Returns the job of a program that has none: its data stand beside it."""
        return read_document(Document("", "", {}, {}), folder)

    def input(self, name: str) -> JobInput | None:
        """Returns where the rows of an input come from, if the job says it.

        A stream of which it says nothing is the file of its name.
        """
        # What is said of an input by name comes before the folder of all files.
        if name in self.inputs:
            return self.inputs[name]
        for root in self.files:
            if root.has(name):
                origin = origins.InFiles(root.find(name, spec.AnyLayout()))
                where = f"{self.document.name}.files"
                stream = spec.InputKind.STREAM
                return JobInput(stream, origin, self.words, where=where)
        return None

    def refuse_batches(self) -> None:
        """Refuses what is said of batches, where all there is is read at once."""
        said = {
            "trigger": self.trigger not in {"", NOW},
            "checkpoint": self.checkpoint != "",
            "finish": self.finish is False,
            "name": self.name != "",
            "partitions": self.partitions > 0,
        }
        for word, is_said in said.items():
            if is_said:
                found = f"{word} of a job that reads all there is, once"
                hint = "[streams.NAME] or [tables.NAME] reads what is new in each run"
                raise self.document.wrong(self.at(word), found, "none", hint)

    @property
    def connector_used(self) -> tuple[str, ...]:
        """Returns the coordinates of the jars that topics ask for."""
        origins_of = (one.origin for one in self.inputs.values())
        topics = [
            it for it in (*origins_of, *self.sinks.values()) if isinstance(it, Topic)
        ]
        if not topics or not self.kafka.connector:
            return ()
        parts = [part for one in topics for part in (one.key, one.value)]
        needs_avro = any(part.format is Encoding.AVRO for part in parts)
        return (*self.kafka.connector, *(AVRO if needs_avro else ()))

    def session(self) -> Mapping[str, str]:
        """Returns what a session is told: settings, and the jars that topics ask for.

        They are fetched where they are not kept yet.
        """
        if not self.connector_used:
            return self.spark
        # Before Spark starts: a session takes no jars later.
        found = jars(self.connector_used)
        # The user's own jars stay: a setting of that name would replace them.
        named = self.spark.get("spark.jars")
        return {
            **self.spark,
            "spark.jars": ",".join([*([named] if named else []), *found]),
        }

    def at(self, *path: str) -> str:
        """Returns the place of a key in the job file."""
        return ".".join((self.document.name, *path))


def read_job(path: Path) -> Job:
    """Returns what a job file says, or refuses it."""
    return read_document(Document.read(path), path.parent)


def read_document(document: Document, folder: Path) -> Job:
    """Returns what a document says, whose paths begin at a folder."""
    with document.at(document.name):
        known = fields.Fields.of(document.data, document.name, (*_NAMED, *WORDS))
        usual = _words(known, WORDS)
        topics = known.take("kafka", _kafka, Kafka())
        reading = _Reading(document, folder, usual, topics)
        files, roots = folder, tuple[Root, ...]()
        if known.has("files"):
            files = reading.local(known, "files")
            with document.at(f"{document.name}.files"):
                roots = (Root.of(files),)
        inputs = reading.inputs(known)
        return Job(
            document,
            reading.program(known),
            roots,
            usual,
            inputs,
            reading.lookups(known, inputs),
            known.take("sinks", _by_name(reading.sink), {}),
            reading.path(known, "checkpoint") if known.has("checkpoint") else "",
            known.take("trigger", _trigger, ""),
            known.take("finish", fields.truth, default=None),
            known.take("name", _said, ""),
            known.take("partitions", _COUNT, 0),
            known.take("spark", _by_name(_setting), {}),
            topics,
            str(files.absolute()),
        )


@dataclass(frozen=True, slots=True)
class _Reading:
    """A job file that is being read."""

    document: Document
    folder: Path
    usual: Mapping[str, str]
    kafka: Kafka

    def program(self, known: fields.Fields) -> Text | Neutral | None:
        """Returns what is to be carried out, if the job says it."""
        said = [key for key in ("program", "text", "join") if known.has(key)]
        if len(said) > 1:
            found = f'"{said[0]}" and "{said[1]}" of one job'
            raise self._wrong(known, said[1], found, "one of them")
        if known.has("dialect") and "join" in said:
            raise self._wrong(known, "dialect", "a dialect of a join as data", "none")
        if known.has("settings") and "join" not in said:
            raise self._wrong(known, "settings", "settings without a join", "[join]")
        dialect = known.take("dialect", _dialect, "")
        if dialect == SPL and "text" not in said:
            found = 'the dialect "spl" without a text in the job'
            raise self._wrong(known, "dialect", found, "text = '..'")
        match said:
            case ["program"]:
                path = self.folder / known.need("program", _path)
                with self.document.at(f"{known.where}.program"):
                    return replace(read_text(path, dialect), file=path.name)
            case ["text"]:
                text = known.need("text", _said)
                if dialect == SPL:
                    return Text(text, SPL)
                return Text(text, SQL, dialect or USUAL)
            case ["join"]:
                join = known.need("join", self._join)
                settings = known.take(
                    "settings",
                    lambda value, where: reader.read_settings(value, where=where),
                    spec.Settings(),
                )
                return Neutral(join, settings)
            case _:
                # Of the program that the command names.
                return Text("", SQL, dialect) if dialect else None

    def _join(self, value: object, where: str) -> spec.JoinSpec:
        """Reads a join as data, which may stand in a file of its own."""
        if isinstance(value, str):
            path = self.folder / value
            data = _json(path, f'the join "{value}"', where, number=Decimal)
            # A case and a bare join are alike here.
            if isinstance(data, Mapping) and "join" in data:
                data = data["join"]
            join = reader.read_join(data, path.name)
        else:
            join = reader.read_join(value, where)
        if isinstance(join, spec.SetJoinSpec):
            told = "a join of several sets in a job"
            raise SpecError(told, "a join of two sides", where=where)
        return join

    def inputs(self, known: fields.Fields) -> Mapping[str, JobInput]:
        """Returns all inputs by their names, which are each there once."""
        found: dict[str, JobInput] = {}
        # One name, one input: whichever part of the file it stands in.
        for kind, part in PARTS.items():
            read = _by_name(partial(self._input, kind))
            for name, one in known.take(part, read, {}).items():
                if name in found:
                    told = f'a second input called "{name}"'
                    raise self.document.wrong(one.where, told, "one of each name")
                found[name] = one
        return found

    def _input(self, kind: spec.InputKind, value: object, where: str) -> JobInput:
        """Reads an input."""
        given = fields.mapping(value, where)
        words = _WORDS[kind]
        own = ("columns", *words)
        if kind is spec.InputKind.TABLE:
            own = (*own, "key")
        if kind is not spec.InputKind.STREAM:
            own = (*own, "streams")
        # First where rows come from: that says which keys there may be.
        source = _one_of(given, where, tuple(_ORIGINS))
        keys, read = _ORIGINS[source]
        known = fields.Fields.of(given, where, (source, *keys, *own))
        is_stream = kind is spec.InputKind.STREAM
        with self.document.at(f"{where}.columns"):
            declared = known.take("columns", reader.read_schema, schema.Schema(()))
            if known.has("columns") and not declared.columns:
                expected = 'columns = { id = "bigint", at = "timestamp" }, or none'
                raise fields.wrong(f"{where}.columns", {}, expected)
        with self.document.at(where, f"{where}.{source}"):
            origin = read(self, known)
        key: tuple[str, ...] = ()
        # A topic of a table is its changes: nobody could read it as it is.
        changes = isinstance(origin, Topic) and kind is spec.InputKind.TABLE
        if isinstance(origin, Topic) and changes:
            key = origin.key.schema.names
            if not key:
                hint = 'key = { id = "bigint" } says the columns of a record\'s key'
                raise self.document.wrong(where, "a topic without a key", "one", hint)
        elif kind is spec.InputKind.TABLE:
            key = known.need("key", _names)
        # What is said for all streams is of streams alone: a table has no sequence.
        said = {**(self.usual if is_stream else {}), **_words(known, words)}
        streams = is_stream or known.take("streams", fields.truth, default=changes)
        if changes and not streams:
            told = ("the table of a topic that is read once", "streams = true")
            hint = "who reads a topic once does not see which keys it takes out again"
            raise self.document.wrong(f"{where}.streams", *told, hint)
        if isinstance(origin, origins.Replayed) and not (streams and "time" in said):
            found = "a replay " + ("without a time" if streams else "that is read once")
            expected = 'time = "placed"' if streams else "[streams], or streams = true"
            hint = "its rows come at the pace of their times"
            raise self.document.wrong(f"{where}.replay", found, expected, hint)
        return JobInput(kind, origin, said, declared, key, streams, where)

    def lookups(
        self, known: fields.Fields, inputs: Mapping[str, JobInput]
    ) -> Mapping[str, JobLookup]:
        """Returns the tables that are asked by key, beside inputs of other names."""
        found = known.take("lookups", _by_name(self._lookup), {})
        for name in found.keys() & inputs.keys():
            told = f'a second input called "{name}"'
            raise self.document.wrong(found[name].where, told, "one of each name")
        return found

    def _lookup(self, value: object, where: str) -> JobLookup:
        """Reads a table that is asked by key."""
        given = fields.mapping(value, where)
        is_file = _one_of(given, where, ("file", "postgres")) == "file"
        own = ("file", "columns") if is_file else ("postgres", "table")
        known = fields.Fields.of(given, where, (*own, "key", *_ASKED))
        return JobLookup(
            str(self.local(known, "file").absolute())
            if is_file
            else known.need("table", fields.text),
            "" if is_file else known.need("postgres", fields.text),
            known.need("key", _names),
            known.take("columns", _by_name(fields.text), {}),
            {
                word: known.need(word, read)
                for word, read in _ASKED.items()
                if known.has(word)
            },
            where,
        )

    def sink(self, value: object, where: str) -> sinks.Sink:
        """Reads where the rows of an outlet, or a stream, go."""
        given = fields.mapping(value, where)
        target = _one_of(given, where, tuple(_SINKS))
        keys, read = _SINKS[target]
        known = fields.Fields.of(given, where, (target, *keys))
        with self.document.at(where, f"{where}.{target}"):
            return read(self, known)

    def path(self, known: fields.Fields, key: str) -> str:
        """Returns a path, whole: Spark would begin elsewhere, where its driver runs."""
        return self.placed(known.need(key, _path))

    def placed(self, said: str) -> str:
        """Returns a path, whole; one that says its file system is that already."""
        is_whole = sinks.SAYS_SYSTEM.match(said)
        return said if is_whole else str((self.folder / said).absolute())

    def local(self, known: fields.Fields, key: str) -> Path:
        """Returns a path on this machine, of what is looked at before Spark starts."""
        said = known.need(key, _path)
        if (path := sinks.local_path(said)) is None:
            raise SpecError(
                f'{key} = "{said}", which is not on this machine',
                "a path on it",
                "Spark reads others: of [streams], [tables] and [datasets] "
                f'format = "parquet" with path = "{said}" and columns = {{ .. }}',
                where=f"{known.where}.{key}",
            )
        return self.folder / path

    def _wrong(self, known: fields.Fields, key: str, *told: str) -> DialectError:
        """Returns what is wrong with a key."""
        return self.document.wrong(f"{known.where}.{key}", *told)


def _file(reading: _Reading, known: fields.Fields) -> origins.Origin:
    """Reads a file, or a folder of files; replayed, its rows come as they once came."""
    is_replayed = known.has("replay")
    # A name of SPL has no dot: behind the last one in its place it stands alone.
    name = known.where.rpartition(".")[2]
    path = reading.local(known, "replay" if is_replayed else "file")
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


def _stored(reading: _Reading, known: fields.Fields) -> origins.Origin:
    """Reads a table in a format that the session knows, or one of a data base."""
    own: dict[str, str] = {}
    if is_jdbc := known.has("jdbc"):
        own["url"] = known.need("jdbc", _url)
        own["dbtable"] = known.need("table", fields.text)
    path = reading.path(known, "path") if known.has("path") else ""
    # Options come last: who says `dbtable` there means it.
    said = known.take("options", _by_name(_setting), {})
    options = {**own, **said}
    if is_jdbc:
        _refuse_reading(said, f"{known.where}.options")
    for name in [it for it in said if it.lower() == "path"]:
        if path:
            where = f"{known.where}.options.{name}"
            raise fields.wrong(where, said[name], f'none beside path = "{path}"')
        # Spark would begin where its driver runs.
        path = reading.placed(options.pop(name))
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


def _rate(reading: _Reading, known: fields.Fields) -> origins.Origin:  # noqa: ARG001
    """Reads how many rows a second there are."""
    return origins.Rate(known.need("rate", _COUNT))


def _folder_sink(reading: _Reading, known: fields.Fields) -> sinks.Sink:
    """Reads a folder with one folder a batch."""
    place = reading.path(known, "folder")
    return sinks.folder(place, known.take("format", fields.text, "parquet"))


def _current(reading: _Reading, known: fields.Fields) -> sinks.Sink:
    """Reads a folder that has a result which changes as it stands."""
    place = reading.path(known, "current")
    return sinks.current(place, known.take("every", _COUNT, 16))


_AVRO = ("avro", "key_avro")
_TOPIC = (
    *("servers", "format", "key", "key_format", "meta", "misfits", "epoch"),
    *(*_AVRO, "registry", "options"),
)


def _topic(reading: _Reading, known: fields.Fields) -> Topic:
    """Reads a topic: from which rows come, or into which they go."""
    usual = reading.kafka
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
        word: known.need(word, _said)
        for word in ("format", "key_format", "start", "misfits", "registry", "epoch")
        if known.has(word)
    }
    for word in _AVRO:
        if known.has(word):
            path = reading.folder / known.need(word, _path)
            schema_of = _json(path, f'the schema "{path}"', f"{known.where}.{word}")
            words[word] = json.dumps(schema_of)
    formats = words.get("format", ""), words.get("key_format", "")
    asks = any(one.endswith("avro") for one in formats) and not {*_AVRO} & {*words}
    if usual.registry and asks:
        words.setdefault("registry", usual.registry)
    columns = known.take("columns", reader.read_schema, schema.Schema(()))
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
            options={**usual.options, **known.take("options", _by_name(_setting), {})},
            **words,
        )
    except EngineError as error:
        # Of all that is said of a topic a registry alone is asked by now.
        own = known.where if known.has("registry") else f"{reading.document.name}.kafka"
        place = reading.document.place(f"{own}.registry")
        raise placed(error, place) from error


def _topic_sink(reading: _Reading, known: fields.Fields) -> Topic:
    """Reads a topic into which rows go."""
    for name, said in known.take("options", _by_name(_setting), {}).items():
        if not name.lower().startswith("kafka."):
            hint = "all others of Spark's connector are of topics that are read"
            place = f"{known.where}.options.{name}"
            raise fields.wrong(place, said, "an option that begins with kafka.", hint)
    if known.has("misfits") and not known.take("upsert", fields.truth, default=False):
        told = known.need("misfits", fields.text)
        hint = "a row without a key is the one thing that does not fit a sink"
        raise fields.wrong(f"{known.where}.misfits", told, "none, or upsert", hint)
    return _topic(reading, known)


def _servers(value: object, where: str) -> str:
    """Reads the addresses of brokers."""
    said = fields.text(value, where)
    for one in said.split(","):
        if not re.fullmatch(r"\S+:\d+", one.strip()):
            raise fields.wrong(where, value, 'addresses with ports, "localhost:9092"')
    return said


def _json(
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
    if not (found := _by_name(fields.text)(value, where)):
        raise fields.wrong(where, value, '{ id = "bigint" }, or no such line')
    return found


def _kafka(value: object, where: str) -> Kafka:
    """Reads what is said of all topics."""
    words = ("servers", "registry", "options", "connector")
    known = fields.Fields.of(value, where, words)
    options = known.take("options", _by_name(_setting), {})
    for name, said in options.items():
        refuse_option(name, said, f"{where}.options.{name}")
    return Kafka(
        known.take("servers", _servers, ""),
        known.take("registry", _said, ""),
        options,
        known.take("connector", fields.many(coordinates), CONNECTOR),
    )


Reads = Callable[[_Reading, fields.Fields], origins.Origin]
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
    str, tuple[tuple[str, ...], Callable[[_Reading, fields.Fields], sinks.Sink]]
] = {
    "folder": (("format",), _folder_sink),
    "current": (("every",), _current),
    "kafka": ((*_TOPIC, "columns", "upsert", "register"), _topic_sink),
}
"""Where rows go, likewise."""


def read_text(path: Path, dialect: str = "") -> Text:
    """Returns the program in a file, in the language that its ending says."""
    ending = path.suffix.lower()
    if ending not in LANGUAGES:
        raise SpecError(
            f'"{path}" is no program on streams',
            f"a file that ends in {' or '.join(LANGUAGES)}",
            "a program in ECL takes no job file: --files says where its files are"
            if ending == ".ecl"
            else "",
        )
    language = LANGUAGES[ending]
    if dialect and language != SQL:
        raise SpecError(f'the dialect "{dialect}" of "{path}"', "none: it is of SQL")
    text = text_of(path, f"{FROM_HERE}, or at the folder of the job file")
    return Text(text, language, (dialect or USUAL) if language == SQL else "")


def _one_of(given: Mapping[str, object], where: str, known: tuple[str, ...]) -> str:
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


def _words(given: fields.Fields, words: tuple[str, ...]) -> dict[str, str]:
    """Returns what is said of the order of rows."""
    return {word: given.need(word, _said) for word in words if given.has(word)}


def _said(value: object, where: str) -> str:
    """Reads a text that says something."""
    if not (said := fields.text(value, where)).strip():
        raise fields.wrong(where, value, "a text, or no such line")
    return said


def _path(value: object, where: str) -> str:
    """Reads a path, which a file or a folder can have."""
    if not arguments.can_be_path(said := _said(value, where)):
        raise fields.wrong(where, value, arguments.A_PATH)
    return said


def _names(value: object, where: str) -> tuple[str, ...]:
    """Reads the names of columns: one, or a list."""
    return (
        (value,) if isinstance(value, str) else fields.many(fields.text)(value, where)
    )


def _dialect(value: object, where: str) -> str:
    """Reads the name of a dialect of SQL, or of SPL."""
    name, known = fields.text(value, where), (*SQL_DIALECTS, SPL)
    if name not in known:
        hint = arguments.near(name, known, "")
        raise fields.wrong(where, value, f"one of {', '.join(known)}", hint)
    return name


def _trigger(value: object, where: str) -> str:
    """Reads how often rows are looked for."""
    said = fields.text(value, where)
    if said == NOW:
        return said
    try:
        arguments.length("trigger", said, least=spec.NO_TIME, is_exact=True)
    except SpecError as error:
        expected = f'a length of time, as in "10 seconds", or "{NOW}"'
        raise fields.wrong(where, value, expected) from error
    return said


def _setting(value: object, where: str) -> str:
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


def _by_name(
    read: fields.Reader[fields.Taken],
) -> fields.Reader[dict[str, fields.Taken]]:
    """Returns the reader of a table whose keys are names."""

    def read_all(value: object, where: str) -> dict[str, fields.Taken]:
        named = fields.mapping(value, where)
        return {name: read(one, f"{where}.{name}") for name, one in named.items()}

    return read_all
