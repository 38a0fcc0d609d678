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

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

from dovetail import schema, spec
from dovetail.bind import origins, sinks
from dovetail.bind.document import FROM_HERE, Document, text_of
from dovetail.bind.files import Root
from dovetail.bind.jars import AVRO, jars
from dovetail.bind.job_places import (
    Kafka,
    Places,
    json_of,
    one_of,
    path_said,
    read_kafka,
    setting,
)
from dovetail.bind.kafka import Topic
from dovetail.bind.records import Encoding
from dovetail.dialects.sql import SQL_DIALECTS, USUAL
from dovetail.errors import DialectError, SpecError
from dovetail.spec import arguments, fields, reader

WORDS = ("time", "lateness", "idle", "bounds", "order", "sequence")
"""How the rows of a stream are ordered, in the words of `dt.stream`."""
_LENGTHS = ("lateness", "idle")
"""Those that are a length of time: looked at where they stand, used or not."""
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
        topics = known.take("kafka", read_kafka, Kafka())
        places = Places(document, folder, topics)
        reading = _Reading(places, usual)
        files, roots = folder, tuple[Root, ...]()
        if known.has("files"):
            files = places.local(known, "files")
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
            known.take("sinks", fields.by_name(places.sink), {}),
            places.path(known, "checkpoint") if known.has("checkpoint") else "",
            known.take("trigger", _trigger, ""),
            known.take("finish", fields.truth, default=None),
            known.take("name", fields.said, ""),
            known.take("partitions", fields.count, 0),
            known.take("spark", fields.by_name(setting), {}),
            topics,
            str(files.absolute()),
        )


@dataclass(frozen=True, slots=True)
class _Reading:
    """A job file that is being read."""

    places: Places
    usual: Mapping[str, str]

    @property
    def document(self) -> Document:
        """Returns what is read."""
        return self.places.document

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
                path = self.places.folder / known.need("program", path_said)
                with self.document.at(f"{known.where}.program"):
                    return replace(read_text(path, dialect), file=path.name)
            case ["text"]:
                text = known.need("text", fields.said)
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
            path = self.places.folder / value
            data = json_of(path, f'the join "{value}"', where, number=Decimal)
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
            read = fields.by_name(partial(self._input, kind))
            for name, one in known.take(part, read, {}).items():
                if name in found:
                    told = f'a second input called "{name}"'
                    raise self.document.wrong(one.where, told, "one of each name")
                found[name] = one
        return found

    def _input(self, kind: spec.InputKind, value: object, where: str) -> JobInput:
        """Reads an input."""
        words = _WORDS[kind]
        own = ("columns", *words)
        if kind is spec.InputKind.TABLE:
            own = (*own, "key")
        if kind is not spec.InputKind.STREAM:
            own = (*own, "streams")
        # First where rows come from: that says which keys there may be.
        source, known = self.places.input_fields(value, where, own)
        is_stream = kind is spec.InputKind.STREAM
        with self.document.at(f"{where}.columns"):
            declared = known.take("columns", reader.read_schema, schema.Schema(()))
            if known.has("columns") and not declared.columns:
                expected = 'columns = { id = "bigint", at = "timestamp" }, or none'
                raise fields.wrong(f"{where}.columns", {}, expected)
        origin = self.places.origin(source, known)
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
        found = known.take("lookups", fields.by_name(self._lookup), {})
        for name in found.keys() & inputs.keys():
            told = f'a second input called "{name}"'
            raise self.document.wrong(found[name].where, told, "one of each name")
        return found

    def _lookup(self, value: object, where: str) -> JobLookup:
        """Reads a table that is asked by key."""
        given = fields.mapping(value, where)
        is_file = one_of(given, where, ("file", "postgres")) == "file"
        own = ("file", "columns") if is_file else ("postgres", "table")
        known = fields.Fields.of(given, where, (*own, "key", *_ASKED))
        return JobLookup(
            str(self.places.local(known, "file").absolute())
            if is_file
            else known.need("table", fields.text),
            "" if is_file else known.need("postgres", fields.text),
            known.need("key", _names),
            known.take("columns", fields.by_name(fields.text), {}),
            {
                word: known.need(word, read)
                for word, read in _ASKED.items()
                if known.has(word)
            },
            where,
        )

    def _wrong(self, known: fields.Fields, key: str, *told: str) -> DialectError:
        """Returns what is wrong with a key."""
        return self.document.wrong(f"{known.where}.{key}", *told)


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


def _words(given: fields.Fields, words: tuple[str, ...]) -> dict[str, str]:
    """Returns what is said of the order of rows."""
    return {
        word: given.need(word, _length if word in _LENGTHS else fields.said)
        for word in words
        if given.has(word)
    }


def _length(value: object, where: str) -> str:
    """Reads a length of time; how long it must be is asked where it is used."""
    said = fields.said(value, where)
    try:
        arguments.length("length", said)
    except SpecError as error:
        raise fields.wrong(where, value, error.expected) from error
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
