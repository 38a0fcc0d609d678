"""A topic of Kafka: rows of a stream or a table come from it, results go into it.

    key            value                        columns
    "17"           {"id": 17, "at": ".."}       id, at, and those of the key
    "17"           nothing: a tombstone         a table loses the key

A row's place is its offset, its partition goes along: so each partition may be as far
in time as it is. A batch that was cut off is read again as it was, but what it had
written into a topic is there twice: at least once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.bind.failures import refused_by_spark
from dovetail.bind.files.frames import Scan, said
from dovetail.bind.records import (
    EPOCHS,
    KEY_FORMATS,
    Encoding,
    Part,
    refusal,
    usual_format,
)
from dovetail.bind.schemas import schema_of
from dovetail.bind.sinks import CHANGE
from dovetail.bind.upserts import without_replaced
from dovetail.errors import SchemaError, SpecError
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import Schema, quoted
from dovetail.spec import arguments

# Single nodes: a sink goes to a Connect server, and modules go along whole.
from dovetail.spec.program import Given

PARTITION, OFFSET, DELETED = map(reserved, ("partition", "offset", "deleted"))
"""What goes along with a row, beside its columns."""
FAIL = "fail"
_START = "earliest"
_NOTHING: Mapping[str, str] = {}
_META = {
    "topic": "string",
    "partition": "int",
    "offset": "bigint",
    "timestamp": "timestamp",
    "headers": "array<struct<key:string,value:binary>>",
}
_COUNTS = (
    *("maxOffsetsPerTrigger", "minOffsetsPerTrigger", "minPartitions"),
    "maxRecordsPerPartition",
)
_READS = (
    *("startingOffsets", "startingOffsetsByTimestamp", "startingTimestamp"),
    *("startingOffsetsByTimestampStrategy", "endingOffsets", "endingTimestamp"),
    *("endingOffsetsByTimestamp", "failOnDataLoss", "maxTriggerDelay"),
    *("kafkaConsumer.pollTimeoutMs", "fetchOffset.numRetries", "groupIdPrefix"),
    "fetchOffset.retryIntervalMs",
)
"""What Spark's connector is told of what it reads; of these some are numbers."""
_NUMBERS = (
    *("startingTimestamp", "endingTimestamp", "kafkaConsumer.pollTimeoutMs"),
    *("fetchOffset.numRetries", "fetchOffset.retryIntervalMs"),
)
_BY_PARTITION = '{"topic": {"0": 17}}'
_VALUES = {
    **dict.fromkeys(_COUNTS, (r"(?a)0*[1-9]\d*", "a whole number, 1 or more")),
    **dict.fromkeys(_NUMBERS, (r"(?a)\d+", "a whole number")),
    "failOnDataLoss": ("(?i)true|false", "true or false"),
    "maxTriggerDelay": (r"(?ai)\d+ *(us|ms|s|m|min|h|d)", "a length as 15m"),
    "startingOffsetsByTimestampStrategy": ("(?i)error|latest", "error or latest"),
    "startingOffsets": (
        r"(?is)earliest|latest|\{.*\}",
        f"earliest, latest or {_BY_PARTITION}",
    ),
    "endingOffsets": (r"(?is)latest|\{.*\}", f"latest or {_BY_PARTITION}"),
    "startingOffsetsByTimestamp": (r"(?s)\{.*\}", _BY_PARTITION),
    "endingOffsetsByTimestamp": (r"(?s)\{.*\}", _BY_PARTITION),
}
"""What the value of an option looks like: Spark tells it late, or not at all."""
_OF_STREAMS = ("maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay")
_OF_BATCHES = ("endingOffsets", "endingTimestamp", "endingOffsetsByTimestamp")
"""What is of topics that keep coming alone, and what of those that are read once."""
_SAYS_WHERE = re.compile("(?i)(starting|ending)(Offsets|OffsetsByTimestamp|Timestamp)")
"""Options of which one says where a topic begins, or ends."""
_WRITTEN = ("partition", "headers")
"""What a sink can say of its records."""
_TOLD = 3
"""So many columns tell a row that has no key."""


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic: where it is, and what its keys and values are.

    `meta` says which columns have what Kafka says of a record; in a sink, which column
    is its partition, or has its headers. Rows that do not fit end the query, but where
    `misfits` are "null".
    """

    topic: str
    servers: str
    value: Part
    key: Part
    meta: Mapping[str, str]
    start: str
    misfits: str
    upsert: bool
    options: Mapping[str, str]
    registry: str = ""
    register: bool = False

    def __post_init__(self) -> None:
        """Refuses columns for which the formats have no room, or of no meaning."""
        if "," in self.topic:
            # Spark would read several, of which partitions of one number look like one.
            expected = "the name of one topic, without a comma"
            hint = "each topic is an input"
            raise arguments.wrong("topic", self.topic, expected, hint)
        if not re.fullmatch(r"(?a)(?!\.{1,2}$)[\w.-]{1,249}", self.topic):
            expected = "a name of letters from A to Z, digits, and . _ -"
            raise arguments.wrong("topic", self.topic, expected, "no more than 249")
        refuse_options(self.options)
        for column, what in self.meta.items():
            if what not in _META:
                found = f'meta={{"{column}": {arguments.told(what)}}}'
                hint = arguments.near(what, _META, "")
                raise SpecError(found, f"one of {', '.join(_META)}", hint)
        parts = self.value, self.key
        used = parts[: 1 + bool(self.key.schema.columns)]
        if self.epoch and all(part.format is not Encoding.JSON for part in used):
            raise SpecError(
                f'epoch="{self.epoch}" of the topic "{self.topic}" without JSON',
                'format="json"',
                "the other formats say themselves what a moment is",
            )
        if self.registry and not any(part.subject for part in parts):
            raise SpecError(
                f'a registry of schemas for the topic "{self.topic}" without Avro',
                'format="avro", key_format="avro" or both',
            )
        if self.register and not self.registry:
            raise SpecError(
                f'register=True of the topic "{self.topic}" without a registry',
                'registry="http://localhost:8081"',
            )
        if self.registry and any(part.avro for part in parts):
            raise SpecError(
                f'a schema of Avro and a registry for the topic "{self.topic}"',
                "one of them",
                "the registry's schema is the one that rows are read in",
            )
        self.value.check(f'the value of the topic "{self.topic}"', "format")
        self.key.check(f'the key of the topic "{self.topic}"', "key_format")
        is_usual = self.key.name == usual_format(self.key.schema).value
        if not self.key.schema.columns and (self.key.avro or not is_usual):
            found = f'key_format="{self.key.name}" of the topic "{self.topic}"'
            raise SpecError(f"{found} without a key", 'key={"id": "bigint"}')

    @property
    def epoch(self) -> str:
        """Returns what moments in JSON are numbers of, if they are numbers."""
        return self.value.epoch

    @property
    def is_endless(self) -> bool:
        """Tells that records keep coming."""
        return True

    @property
    def riders(self) -> Mapping[str, str]:
        """Returns what goes along with each row, by what it is for."""
        riders = {"order": OFFSET, "deletes": DELETED, "part": PARTITION}
        return {use: quoted(name) for use, name in riders.items()}

    def columns(self, declared: Schema) -> Schema:
        """Returns the columns of the rows: those of the key, the value, of Kafka."""
        values = self.filled(declared).value.schema
        if not values.columns:
            raise SpecError(
                f'the topic "{self.topic}" without columns',
                'columns = { id = "bigint", at = "timestamp" }',
                "a record does not tell its columns before it is read",
            )
        meta = Schema.of({name: _META[what] for name, what in self.meta.items()})
        for part, name in ((self.filled(declared).value, "value"), (self.key, "key")):
            part.refuse_unread(f'the {name} of the topic "{self.topic}"')
        keys = self.key.schema
        # Of a tombstone only the key says whose it is.
        own = (it for it in values.columns if it.name not in keys)
        return Schema((*keys.columns, *own, *meta.columns))

    def filled(self, declared: Schema) -> Topic:
        """Returns the topic with columns: its own, else those that a text declares."""
        if self.value.schema.columns:
            return self
        others = {*self.key.schema.names, *self.meta}
        own = (one for one in declared.columns if one.name not in others)
        return replace(self, value=replace(self.value, schema=Schema(tuple(own))))

    def scans(self, given: Given, *, streams: bool) -> tuple[Scan, ...]:
        """Returns how Spark reads the topic, by its columns or those of the text."""
        fails, value = self.misfits == FAIL, self.filled(given.schema).value
        keys, where = self.key.schema, f'the topic "{self.topic}"'
        read = zip(value.schema.columns, value.read(where, fails=fails), strict=True)
        found = [
            *self.key.read(where, fails=fails),
            *(text for one, text in read if one.name not in keys),
            *(
                f"CAST({what} AS {_META[what]}) AS {quoted(name)}"
                for name, what in self.meta.items()
            ),
        ]
        # Spark reads a topic as bytes: what they are is said by the columns above.
        options = {"kafka.bootstrap.servers": self.servers, "subscribe": self.topic}
        if "headers" in self.meta.values():
            options["includeHeaders"] = "true"
        conditions: tuple[str, ...] = ()
        self._refuse_options(where, streams=streams)
        if streams:
            # Only of a first start: later the checkpoint says from where.
            options["startingOffsets"] = self.start or _START
            found += [
                f"CAST(partition AS BIGINT) AS {quoted(PARTITION)}",
                f"offset AS {quoted(OFFSET)}",
                f"value IS NULL AS {quoted(DELETED)}",
            ]
        else:
            if self.start not in ("", _START):
                odd = f'start="{self.start}" of {where}, which is read once'
                raise SpecError(odd, f'"{_START}", or none: all that is there is read')
            # Who reads once all that is there has no use for what is gone.
            conditions = ("value IS NOT NULL",)
        told = tuple({**options, **self.options}.items())
        wholes = [
            text for it in (self.key, value) for text in it.wholes(where, fails=fails)
        ]
        return (Scan("kafka", told, "", "", conditions, tuple(found), tuple(wholes)),)

    def _refuse_options(self, where: str, *, streams: bool) -> None:
        """Refuses options of another way to read the topic, or of one start twice."""
        for begin in ("starting", "ending"):
            names = [it for it in self.options if _SAYS_WHERE.fullmatch(it)]
            some = [it for it in names if it.lower().startswith(begin)]
            if len(some) > 1:
                told = f'the options "{some[0]}" and "{some[1]}" of {where}'
                raise SpecError(told, "one of them", "Spark would pass one over")
        others = _OF_BATCHES if streams else _OF_STREAMS
        odd = {it.lower() for it in others}
        how = "which keeps coming" if streams else "which is read once"
        of = "are read once" if streams else "keep coming"
        for name in self.options:
            if name.lower() in odd:
                raise SpecError(
                    f'options={{"{name}": ..}} of {where}, {how}',
                    f"none of {', '.join(others)}",
                    f"they are of topics that {of}",
                )
            if name.lower().startswith("starting") and self.start:
                raise SpecError(
                    f'start="{self.start}" of {where} beside the option "{name}"',
                    "one of them",
                    f'"{_START}" is as usual: leave start out',
                )

    def frame(self, spark: SparkSession) -> DataFrame:
        """Returns the rows as a stream, with what goes along."""
        given = Given(self.topic, self.columns(Schema(())))
        (scan,) = self.scans(given, streams=True)
        with refused_by_spark(
            f"Spark does not read {self.place}",
            "a session with its connector, and options as that takes them",
            "docs/kafka.md tells how a session gets it, in Python as in jobs",
        ):
            return scan.frame(spark, streams=True)

    @property
    def call(self) -> str:
        """Returns the topic in Python, without what is usual."""
        parts = {"": self.value, "key_": self.key}
        words: dict[str, object] = {"servers": self.servers}
        for name, one in zip(("columns", "key"), parts.values(), strict=True):
            words[name] = {it.name: str(it.type) for it in one.schema.columns}
        words |= {f"{name}format": one.name for name, one in parts.items()}
        words |= {f"{name}avro": one.avro for name, one in parts.items()}
        words |= {
            "epoch": self.epoch,
            "meta": {**self.meta},
            "start": self.start,
            "misfits": self.misfits,
            "upsert": self.upsert,
            "register": self.register,
        }
        usual = {"format": Encoding.JSON.value, "misfits": FAIL}
        usual["key_format"] = usual_format(self.key.schema).value
        told = [
            f"{name}={value!r}"
            for name, value in words.items()
            if value and value != usual.get(name)
        ]
        if self.registry:
            told.append(f"registry={said('registry', self.registry)}")
        if self.options:
            every = (f"{it!r}: {said(it, one)}" for it, one in self.options.items())
            told.append(f"options={{{', '.join(every)}}}")
        return f"dt.kafka({self.topic!r}, {', '.join(told)})"

    @property
    def place(self) -> str:
        """Returns the topic, as a sink."""
        return f'the topic "{self.topic}" of {self.servers}'

    @property
    def reads_once(self) -> bool:
        """Returns that nobody can count the rows as they are written.

        Kafka's connector plans what it writes anew, and what Spark observes of rows
        stays behind in the plan before.
        """
        return False

    def prepare(
        self,
        rows: DataFrame,
        *,
        is_new: bool,  # noqa: ARG002 - others may write into a topic, too
    ) -> None:
        """Refuses rows that lack a column of the key or the value."""
        found = schema_of(rows)
        refuse_unlike(self, found)
        rows.select(*self._record(found))  # Spark refuses what cannot be written

    def write(
        self,
        rows: DataFrame,
        batch: int,  # noqa: ARG002 - Kafka keeps no numbers of batches
        *,
        is_empty: bool,
    ) -> None:
        """Writes a batch; one that was cut off is written again."""
        # Of no rows Spark would ask the broker all the same.
        if is_empty:
            return
        writer = self.records(rows).write.format("kafka")
        writer = writer.option("kafka.bootstrap.servers", self.servers)
        writer.option("topic", self.topic).options(**self.options).save()

    def records(self, rows: DataFrame) -> DataFrame:
        """Returns the records of rows: of an upsert those that a batch leaves."""
        records = rows.select(*self._record(schema_of(rows)))
        return without_replaced(records) if self.upsert else records

    def _parts(self, found: Schema) -> tuple[Part, Part]:
        """Returns the value and the key of records, of rows with some columns."""
        value = self.value
        if not value.schema.columns:
            # What becomes of a row the record itself says: it has a value, or none.
            own = (it for it in found.columns if not self.upsert or it.name != CHANGE)
            value = replace(value, schema=Schema(tuple(own)))
        return value, self.key

    def bytes_of(self, found: Schema) -> Iterator[tuple[str, str]]:
        """Yields value and key as SQL over columns of rows; refuses those of no use."""
        for part in self._parts(found):
            if part.column == "key" and not part.schema.columns:
                continue
            where = f"the {part.column} of {self.place}"
            part.check(where, "key_format" if part is self.key else "format")
            # All columns of each row, in each field, would be too many.
            told = self.key.schema.names or found.names[:_TOLD]
            row = f"to_json(struct({', '.join(map(quoted, told))}))"
            yield part.column, part.written(where, row)

    def _record(self, found: Schema) -> list[Column]:
        """Returns the columns of a record, of rows with some columns."""
        for part in self._parts(found):
            part.register()
        record = dict(self.bytes_of(found))
        if self.upsert:
            record[CHANGE] = CHANGE
            if self.misfits == FAIL:
                where = f"a record without a key for {self.place}"
                row = f"to_json(struct({', '.join(map(quoted, found.names))}))"
                stop = refusal(where, row, "a key: it says which row goes with upsert")
                record["key"] = f"coalesce({record['key']}, {stop})"
        record |= {what: quoted(name) for name, what in self.meta.items()}
        return [F.expr(sql).alias(name) for name, sql in record.items()]


def refuse_options(options: Mapping[str, str]) -> None:
    """Refuses options of which one is none, or is said twice."""
    names = [name.lower() for name in options]
    for name, value in options.items():
        refuse_option(name, value)
        if names.count(name.lower()) > 1:
            told = f'options={{"{name}": ..}} of a topic, twice'
            raise SpecError(told, "once, in large letters or in small ones")


def refuse_option(name: str, value: str, where: str = "") -> None:
    """Refuses an option that Spark's connector has not, or that a word says."""
    known = {it.lower(): it for it in (*_COUNTS, *_READS)}
    word = name.lower()
    if word.startswith("kafka.") and word != "kafka.bootstrap.servers":
        return
    if word not in known:
        raise SpecError(
            f'options={{"{name}": ..}} of a topic',
            f"one of {', '.join(known.values())}, or one that begins with kafka.",
            arguments.near(name, [*known.values()], "")
            or "which topic it is, and where, other words of it say",
            where=where,
        )
    pattern, expected = _VALUES.get(known[word], ("(?s).*", ""))
    if not re.fullmatch(pattern, value.strip()):
        found = f'options={{"{name}": "{value}"}} of a topic'
        raise SpecError(found, expected, where=where)


def refuse_unlike(topic: Topic, found: Schema) -> None:
    """Refuses columns of which no record of a topic can be made.

    Each refusal begins with the word of `dt.kafka` that asks for what is not there.
    """
    for name, what in topic.meta.items():
        if what not in _WRITTEN:
            raise SpecError(
                f'meta={{"{name}": "{what}"}} of {topic.place} as a sink',
                " or ".join(_WRITTEN),
                "Spark's connector writes no other of them",
            )
    if topic.upsert and not topic.key.schema.columns:
        raise SpecError(
            f"upsert=True into {topic.place} without a key",
            'key={"id": "bigint"}',
            "a tombstone says by its key what is gone",
        )
    wanted = [("key", it.name) for it in topic.key.schema.columns]
    wanted += [("columns", it.name) for it in topic.value.schema.columns]
    wanted += [("meta", name) for name in topic.meta]
    wanted += [("upsert", CHANGE)] if topic.upsert else []
    for word, name in wanted:
        if name not in found:
            asked = "True" if word == "upsert" else f"{{{arguments.told(name)}: ..}}"
            hint = f'"{CHANGE}" is a column of joins of tables that change'
            raise SchemaError(
                f'{word}={asked}: the rows for {topic.place} have no column "{name}"',
                f"it beside {', '.join(found.names)}",
                hint if name == CHANGE else "",
            )
    for name, what in topic.meta.items():
        if (told := str(found[name].type)) != _META[what]:
            asked = f'meta={{"{name}": "{what}"}}'
            where = f"the column of the rows for {topic.place} is of the type"
            raise SchemaError(f"{asked}: {where} {told}", _META[what], "cast it")
    for word, part in (("key", topic.key), ("columns", topic.value)):
        for own in part.schema.columns:
            kind = found[own.name].type
            if not part.writes(kind, own.type):
                told = f'{word}={{"{own.name}": "{own.type}"}}'
                where = f"the column of the rows for {topic.place}"
                raise SchemaError(f"{told}: {where} is of the type {kind}", str(kind))
    _ = [*topic.bytes_of(found)]  # refuses what the formats have no room for


@arguments.public
def kafka(  # noqa: PLR0913 - each is a free choice, by its name
    topic: str,
    *,
    servers: str,
    columns: Mapping[str, str] = _NOTHING,
    format: str = "json",  # noqa: A002 - the word of dt.folder
    key: Mapping[str, str] = _NOTHING,
    key_format: str = "",
    meta: Mapping[str, str] = _NOTHING,
    start: str = "",
    misfits: str = FAIL,
    upsert: bool = False,
    avro: str = "",
    key_avro: str = "",
    registry: str = "",
    register: bool = False,
    epoch: str = "",
    options: Mapping[str, str] = _NOTHING,
) -> Topic:
    """Returns a topic, from which `dt.stream` and `dt.table` take rows, or a sink.

    `columns` and their types are those of the value, written as `format` says: "json",
    "string", "int", "long", "double", "bytes" or "avro"; a sink without them writes all
    that it gets. `key`: columns of the key, one of them as a "string" unless
    `key_format` says another: "twlong" and its like are those of keys with a window, as
    Kafka Streams writes them, whose start is the last column, of "swlong" its start and
    its end. `meta`: columns for what Kafka says of a record, as
    {"at": "timestamp"}. `start`: "earliest", as usual, or "latest", for a first start.
    `misfits="null"`: what does not fit is null, and does not end the query.
    `upsert`: of a join of tables that change, deletes go out as tombstones.
    `registry`: the address of a registry of schemas, in place of `avro` and `key_avro`;
    with `register` a sink tells it the schema of its rows, where it has none.
    `epoch`: timestamps in JSON are numbers since 1970, of "milliseconds" for example.
    """
    arguments.text("topic", topic, "the name of a topic", 'dt.kafka("orders", ..)')
    _refuse_no_address(servers)
    keys = Schema.of(_texts("key", key, '{"id": "bigint"}'))
    unsaid = arguments.is_unsaid(key_format)
    named = usual_format(keys).value if unsaid else key_format
    window, written = KEY_FORMATS[arguments.word("key_format", named, KEY_FORMATS)]
    value = Schema.of(_texts("columns", columns, '{"id": "bigint"}'))
    _refuse_no_json(avro=avro, key_avro=key_avro)
    unit = arguments.word_said("epoch", epoch, EPOCHS)
    how = arguments.choice("format", format, Encoding)
    may = arguments.truth("register", register)
    parts = (
        Part("value", value, how, avro, epoch=unit),
        Part("key", keys, written, key_avro, window, epoch=unit),
    )
    if arguments.said("registry", registry, "an address", 'registry="http://..:8081"'):
        first, second = (it.known_to(registry, topic, registers=may) for it in parts)
        parts = first, second
    return Topic(
        topic,
        servers,
        *parts,
        _texts("meta", meta, '{"at": "timestamp"}'),
        arguments.word_said("start", start, (_START, "latest")),
        arguments.word("misfits", misfits, (FAIL, "null")),
        arguments.truth("upsert", upsert),
        _texts("options", options, '{"maxOffsetsPerTrigger": "1000"}'),
        registry,
        may,
    )


def _refuse_no_address(servers: str) -> None:
    """Refuses brokers of which one has no port, as Kafka has no usual one."""
    example = 'servers="localhost:9092"'
    expected = f"addresses with ports, 1 to {arguments.MOST_PORT:,}"
    for one in arguments.text("servers", servers, expected, example).split(","):
        found = re.fullmatch(r"(?a)\s*[^\s:]\S*:(\d{1,5})\s*", one)
        if not found or not 1 <= int(found[1]) <= arguments.MOST_PORT:
            hint = f"write for example {example}, with a comma between several"
            raise arguments.wrong("servers", servers, expected, hint)


def _refuse_no_json(**schemas: str) -> None:
    """Refuses schemas of Avro that are none, by the words of `dt.kafka`."""
    for word, schema in schemas.items():
        expected, example = "a schema of Avro, as its JSON", f"{word}='\"long\"'"
        try:
            if arguments.said(word, schema, expected, example):
                json.loads(schema)
        except ValueError as error:
            hint = f"write for example {example}; {error}"
            raise arguments.wrong(word, schema, expected, hint) from error


def _texts(name: str, value: object, example: str) -> Mapping[str, str]:
    """Returns texts by names, if any are given."""
    return (
        {} if arguments.is_unsaid(value, {}) else arguments.texts(name, value, example)
    )
