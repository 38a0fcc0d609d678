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
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F  # noqa: N812 - Spark's own name for it

from dovetail.bind.files.frames import Scan, said
from dovetail.bind.registry import Subject, head, subject
from dovetail.bind.schemas import schema_of
from dovetail.bind.sinks import CHANGE, JSON
from dovetail.bind.upserts import without_replaced
from dovetail.errors import SchemaError, SpecError
from dovetail.expression.sql import text_of
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import WHOLE, AtomicType, Schema, Type, quoted
from dovetail.schema import Column as SchemaColumn
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
_WRITTEN = ("partition", "headers")
"""What a sink can say of its records."""


class Encoding(Enum):
    """How columns are written into the bytes of a key or a value."""

    JSON = "json"
    STRING = "string"
    INT = "int"
    LONG = "long"
    DOUBLE = "double"
    BYTES = "bytes"
    AVRO = "avro"


_PLAIN = {
    Encoding.INT: AtomicType.INT,
    Encoding.LONG: AtomicType.BIGINT,
    Encoding.DOUBLE: AtomicType.DOUBLE,
    Encoding.BYTES: AtomicType.BINARY,
}
"""Formats of one column, which has this type."""


class KeyWindow(Enum):
    """The window that stands behind a key, as Kafka Streams writes it."""

    NOT = ""
    TIME = "tw"
    SESSION = "sw"

    @property
    def columns(self) -> int:
        """Returns how many of the last columns of a key are its window's."""
        return {KeyWindow.NOT: 0, KeyWindow.TIME: 1, KeyWindow.SESSION: 2}[self]


_KEY_FORMATS = {
    f"{window.value}{one.value}": (window, one)
    for window in KeyWindow
    for one in Encoding
}
"""Formats of a key by their names: with `tw` or `sw` in front it has a window."""
_MOMENTS = (AtomicType.BIGINT, AtomicType.TIMESTAMP)


@dataclass(frozen=True, slots=True)
class Part:
    """The key of a record, or its value: columns, how they are written, a schema.

    The last columns of a key with a window are its start, of a session also its end: in
    the bytes they stand behind the key, as milliseconds, the end of a session first.
    """

    column: str
    schema: Schema
    format: Encoding
    avro: str = ""
    window: KeyWindow = KeyWindow.NOT
    subject: Subject | None = None

    @property
    def name(self) -> str:
        """Returns the name of the format."""
        return f"{self.window.value}{self.format.value}"

    @property
    def _inner(self) -> Part:
        """Returns the part without its window."""
        count = self.window.columns
        if not count:
            return self
        columns = self.schema.columns[:-count]
        return replace(
            self,
            column=f"substring({self.column}, 1, length({self.column}) - {8 * count})",
            schema=Schema(columns),
            window=KeyWindow.NOT,
        )

    @property
    def _newest(self) -> str:
        """Returns the schema of Avro that rows are read in, and go out in."""
        known = self.subject
        return known.schemas[known.newest] if known else self.avro

    @property
    def _has_fields(self) -> bool:
        """Tells whether columns are fields, and not one of them all there is."""
        if self.format is not Encoding.AVRO:
            return self.format is Encoding.JSON
        known = json.loads(self._newest)
        kinds = known if isinstance(known, list) else [known]
        return any(isinstance(it, dict) and it.get("type") == "record" for it in kinds)

    def known_to(self, registry: str, topic: str) -> Part:
        """Returns the part with the schemas that a registry has of it."""
        if self.format is not Encoding.AVRO:
            return self
        return replace(self, subject=subject(registry, f"{topic}-{self.column}"))

    def check(self, where: str, word: str) -> None:
        """Refuses columns that the format, said by a word, has no room for."""
        told = f"{word}={arguments.told(self.name)} of {where}"
        if self.window is not KeyWindow.NOT:
            count, every = self.window.columns, self.schema.columns
            fits = all(one.type in _MOMENTS for one, _ in _moments(self))
            if len(every) <= count or not fits:
                names = ("its start", "its start and its end")[count - 1]
                raise SpecError(
                    f"{told} with the columns "
                    f"({', '.join(f'{it.name} {it.type}' for it in every)})",
                    f"columns of the key, and {names}",
                    "a moment is a timestamp, or a bigint of milliseconds",
                )
            self._inner.check(where, word)
            return
        if (self.format is Encoding.AVRO) != bool(self.avro or self.subject):
            found = "without a schema" if not self.avro else "with a schema of Avro"
            raise SpecError(
                f"{told} {found}",
                "a schema of Avro, as its JSON, for the format avro alone",
                'registry="http://localhost:8081" may know it',
            )
        kinds = [one.type for one in self.schema.columns]
        if len(kinds) > 1 and not self._has_fields:
            plain = ", whose schema is no record," if self._newest else ""
            raise SpecError(
                f"{told}{plain} with {len(kinds)} columns",
                "one column",
                'format "json" has room for several',
            )
        # A format that is no one type takes whatever there is.
        for kind in kinds:
            if kind != (wanted := _PLAIN.get(self.format, kind)):
                raise SchemaError(f"{told}, which is of the type {kind}", str(wanted))

    def writes(self, kind: Type, own: Type) -> bool:
        """Tells whether values of a kind are written as those of a column's own type.

        Every value has a text, and a wider number has room for each before it.
        """
        if own in WHOLE and kind in WHOLE:
            return WHOLE.index(kind) <= WHOLE.index(own)
        is_text = self.format is Encoding.STRING and own is AtomicType.STRING
        return kind == own or is_text

    def read(self, where: str, *, fails: bool) -> Iterator[str]:
        """Yields the columns as SQL over Spark's own columns of a topic.

        What does not fit fails the query, saying where it is, or is null.
        """
        raw, kinds = self.column, self.schema.columns
        if self.window is not KeyWindow.NOT:
            yield from self._inner.read(where, fails=fails)
            for column, place in _moments(self):
                last = f"length({raw}) - {place - 1}"
                digits = f"hex(substring({raw}, {last}, 8))"
                yield _named(_moment(_whole(digits), column), column)
            return
        match self.format:
            case Encoding.JSON:
                yield from self._objects(where, fails=fails)
            case Encoding.AVRO:
                whole = self._of_avro(where, fails=fails)
                for it in kinds:
                    own = f"({whole}).{_quoted(it)}" if self._has_fields else whole
                    yield _named(own, it)
            case _:
                for one in kinds:
                    sql, shown, expected = self._plain(one)
                    if fails:
                        stop = _refusal(
                            f'{where}: the column "{one.name}"', shown, expected
                        )
                        sql = _else_stopped(sql, raw, stop)
                    yield _named(sql, one)

    def _objects(self, where: str, *, fails: bool) -> Iterator[str]:
        """Yields the columns of JSON, of which each record is one object."""
        raw, text = self.column, f"CAST({self.column} AS STRING)"
        # Of a tinyint Spark's reader makes -56 out of 200.
        read = (
            replace(it, type=AtomicType.SMALLINT) if _is_small(it) else it
            for it in self.schema.columns
        )
        kind = f"own struct<{Schema(tuple(read)).to_sql()}>, odd string"
        # Of no format for timestamps Spark reads those with and without a fraction.
        how = {
            "timeZone": "UTC",
            "mode": "PERMISSIVE",
            "columnNameOfCorruptRecord": "odd",
        }
        # Spark reads the first object of a text, and no further; one that is a field
        # of another it reads to its end.
        whole = (
            f"from_json('{{\"own\":' || {text} || '}}', {text_of(kind)}, {_map(how)})"
        )
        own = f"{whole}.own"
        stop = _refusal(where, text, "one object of JSON whose fields fit the columns")
        if fails:
            # In these words Spark reads each text once for all columns.
            own = (
                f"CASE WHEN {whole}.odd IS NULL AND {own} IS NOT NULL THEN {own} "
                f"WHEN {raw} IS NOT NULL THEN {stop} END"
            )
        for it in self.schema.columns:
            value = f"({own}).{_quoted(it)}"
            if _is_small(it):
                small = f"try_cast({value} AS tinyint)"
                value = _else_stopped(small, value, stop) if fails else small
            yield _named(value, it)

    def _of_avro(self, where: str, *, fails: bool) -> str:
        """Returns the record of Avro, in the newest of the schemas that it may have."""
        raw, mode = self.column, {"mode": "FAILFAST" if fails else "PERMISSIVE"}
        if self.subject is None:
            return f"from_avro({raw}, {text_of(self.avro)}, {_map(mode)})"
        known, how = self.subject, _map({**mode, "avroSchema": self._newest})
        begins = f"hex(substring({raw}, 1, 5))"
        every = " ".join(
            f"WHEN {text_of(head(number))} "
            f"THEN from_avro(substring({raw}, 6), {text_of(one)}, {how})"
            for number, one in known.schemas.items()
        )
        numbers = ", ".join(map(str, known.schemas))
        expected = f"Avro behind the number of a schema of {known.name}: {numbers}"
        stop = _refusal(where, f"hex({raw})", expected)
        other = f"IF({raw} IS NULL, NULL, {stop})" if fails else "NULL"
        return f"CASE {begins} {every} ELSE {other} END"

    def _plain(self, column: SchemaColumn) -> tuple[str, str, str]:
        """Returns bytes as a value, or null where they are none; as text; as what."""
        raw, kind = self.column, str(column.type)
        if self.format is Encoding.STRING:
            text = f"CAST({raw} AS STRING)"
            return f"try_cast({text} AS {kind})", text, kind
        if self.format is Encoding.BYTES:
            return raw, f"hex({raw})", kind
        number, count = _whole(f"hex({raw})"), 8
        if self.format is Encoding.INT:
            # As the upper half of eight bytes four of them keep their sign.
            upper, count = _whole(f"hex({raw}) || '00000000'"), 4
            number = f"shiftright({upper}, 32)"
        elif self.format is Encoding.DOUBLE:
            number = _double(raw)
        sized = f"IF(length({raw}) = {count}, {number}, NULL)"
        return sized, f"hex({raw})", f"{kind}, in {count} bytes"

    def written(self) -> str:
        """Returns the bytes as SQL over the columns of rows that leave."""
        if self.window is not KeyWindow.NOT:
            moments = [_milliseconds(one) for one, _ in _moments(self)][::-1]
            behind = (f"unhex(lpad(hex({it}), 16, '0'))" for it in moments)
            return f"concat({', '.join((self._inner.written(), *behind))})"
        names = ", ".join(map(_quoted, self.schema.columns))
        match self.format:
            case Encoding.JSON:
                return f"CAST(to_json(struct({names}), {_map(JSON)}) AS BINARY)"
            case Encoding.AVRO:
                value = f"struct({names})" if self._has_fields else names
                avro = f"to_avro({value}, {text_of(self._newest)})"
                if self.subject is None:
                    return avro
                return f"concat(X'{head(self.subject.newest)}', {avro})"
            case Encoding.STRING:
                return f"CAST(CAST({names} AS STRING) AS BINARY)"
            case Encoding.BYTES:
                return names
            case Encoding.INT | Encoding.LONG:
                # A cast to bytes depends on the rules of the session; this does not.
                digits = 8 if self.format is Encoding.INT else 16
                return f"unhex(right(lpad(hex({names}), 16, '0'), {digits}))"
            case Encoding.DOUBLE:
                raise SpecError(
                    f'the {self.column} of a sink in the format "double"',
                    "json, string, int, long, bytes or avro",
                    "SQL of Spark does not give the bytes of a floating number",
                )


def _quoted(column: SchemaColumn) -> str:
    """Returns the name of a column in SQL."""
    return quoted(column.name)


def _named(sql: str, column: SchemaColumn) -> str:
    """Returns a value in SQL as a column of its type."""
    return f"CAST({sql} AS {column.type}) AS {_quoted(column)}"


def _refusal(where: str, text: str, expected: str) -> str:
    """Returns what stops the query, in SQL, for a text that is not what is expected."""
    before, after = text_of(f'{where} has "'), text_of(f'"; expected {expected}')
    return f"raise_error(concat({before}, substring({text}, 1, 60), {after}))"


def _else_stopped(sql: str, given: str, stop: str) -> str:
    """Returns a value in SQL; the query stops where it is null of what is none."""
    return f"coalesce({sql}, IF({given} IS NOT NULL, {stop}, NULL))"


def _is_small(column: SchemaColumn) -> bool:
    """Tells whether the numbers of a column have one byte."""
    return column.type is AtomicType.TINYINT


def _map(options: Mapping[str, str]) -> str:
    """Returns options as SQL."""
    return f"map({', '.join(text_of(one) for it in options.items() for one in it)})"


def _whole(digits: str) -> str:
    """Returns the number of sixteen digits, of which the first bit is the sign."""
    # To a base below zero: with its sign.
    return f"CAST(conv({digits}, 16, -10) AS BIGINT)"


def _moments(key: Part) -> tuple[tuple[SchemaColumn, int], ...]:
    """Returns the columns of a key's window, and how far from the end each begins."""
    count = key.window.columns
    own = key.schema.columns[len(key.schema.columns) - count :]
    # The start comes last, whether or not an end stands before it.
    return tuple((one, 8 * (at + 1)) for at, one in enumerate(own))


def _moment(millis: str, column: SchemaColumn) -> str:
    """Returns milliseconds as the type of a column has them."""
    is_number = column.type is AtomicType.BIGINT
    return millis if is_number else f"timestamp_millis({millis})"


def _milliseconds(column: SchemaColumn) -> str:
    """Returns a moment of a row as milliseconds."""
    name = _quoted(column)
    return name if column.type is AtomicType.BIGINT else f"unix_millis({name})"


def _double(raw: str) -> str:
    """Returns the number whose eight bytes are as IEEE 754 has them, in SQL.

    sign | 11 bits of exponent | 52 bits of fraction
    """
    bits = _whole(f"hex({raw})")
    exponent = f"(shiftright({bits}, 52) & 2047)"
    fraction = f"({bits} & 4503599627370495L)"
    sign = f"IF({bits} < 0, -1D, 1D)"
    normal = f"({fraction} + 4503599627370496L) * pow(2D, {exponent} - 1075)"
    small = f"{fraction} * pow(2D, -1074)"
    odd = f"IF({fraction} = 0, double('Infinity'), double('NaN'))"
    number = (
        f"CASE {exponent} WHEN 2047 THEN {odd} WHEN 0 THEN {small} ELSE {normal} END"
    )
    return f"{sign} * {number}"


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

    def __post_init__(self) -> None:
        """Refuses columns for which the formats have no room, or of no meaning."""
        for column, what in self.meta.items():
            if what not in _META:
                found = f'meta={{"{column}": {arguments.told(what)}}}'
                hint = arguments.near(what, _META, "")
                raise SpecError(found, f"one of {', '.join(_META)}", hint)
        parts = self.value, self.key
        if self.registry and not any(part.subject for part in parts):
            raise SpecError(
                f'a registry of schemas for the topic "{self.topic}" without Avro',
                'format="avro", key_format="avro" or both',
            )
        if self.registry and any(part.avro for part in parts):
            raise SpecError(
                f'a schema of Avro and a registry for the topic "{self.topic}"',
                "one of them",
                "the registry's schema is the one that rows are read in",
            )
        self.value.check(f'the value of the topic "{self.topic}"', "format")
        self.key.check(f'the key of the topic "{self.topic}"', "key_format")

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
        if streams:
            # Only of a first start: later the checkpoint says from where.
            options["startingOffsets"] = self.start
            found += [
                f"CAST(partition AS BIGINT) AS {quoted(PARTITION)}",
                f"offset AS {quoted(OFFSET)}",
                f"value IS NULL AS {quoted(DELETED)}",
            ]
        else:
            if self.start != _START:
                odd = f'start="{self.start}" of {where}, which is read once'
                raise SpecError(odd, f'"{_START}", or none: all that is there is read')
            # Who reads once all that is there has no use for what is gone.
            conditions = ("value IS NOT NULL",)
        told = tuple({**options, **self.options}.items())
        return (Scan("kafka", told, "", "", conditions, tuple(found)),)

    def frame(self, spark: SparkSession) -> DataFrame:
        """Returns the rows as a stream, with what goes along."""
        given = Given(self.topic, self.columns(Schema(())))
        (scan,) = self.scans(given, streams=True)
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
        words |= {"meta": {**self.meta}, "start": self.start, "misfits": self.misfits}
        usual = {"format": Encoding.JSON.value, "start": _START, "misfits": FAIL}
        usual["key_format"] = _usual_format(self.key.schema).value
        told = [
            f"{name}={value!r}"
            for name, value in {**words, "upsert": self.upsert}.items()
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
        records = rows.select(*self._record(schema_of(rows)))
        if self.upsert:
            records = without_replaced(records, CHANGE)
        writer = records.write.format("kafka")
        writer = writer.option("kafka.bootstrap.servers", self.servers)
        writer.option("topic", self.topic).options(**self.options).save()

    def _record(self, found: Schema) -> list[Column]:
        """Returns the columns of a record, of rows with some columns."""
        value = self.value
        if not value.schema.columns:
            # What becomes of a row the record itself says: it has a value, or none.
            own = (it for it in found.columns if not self.upsert or it.name != CHANGE)
            value = replace(value, schema=Schema(tuple(own)))
        value.check(f"the value of {self.place}", "format")
        written = value.written()
        if self.upsert:
            takes = f"{CHANGE} IN ('delete', 'update_before')"
            written = f"IF({takes}, NULL, {written})"
        record = {"value": written}
        if self.key.schema.columns:
            record["key"] = self.key.written()
        if self.upsert:
            record[CHANGE] = CHANGE
            if self.misfits == FAIL:
                where = f"a record without a key for {self.place}"
                row = f"to_json(struct({', '.join(map(_quoted, found.columns))}))"
                stop = _refusal(where, row, "a key: it says which row goes with upsert")
                record["key"] = f"coalesce({record['key']}, {stop})"
        record |= {what: quoted(name) for name, what in self.meta.items()}
        return [F.expr(sql).alias(name) for name, sql in record.items()]


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
    for word, part in (("key", topic.key), ("columns", topic.value)):
        for own in part.schema.columns:
            kind = found[own.name].type
            if not part.writes(kind, own.type):
                told = f'{word}={{"{own.name}": "{own.type}"}}'
                where = f"the column of the rows for {topic.place}"
                raise SchemaError(f"{told}: {where} is of the type {kind}", str(kind))


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
    start: str = _START,
    misfits: str = FAIL,
    upsert: bool = False,
    avro: str = "",
    key_avro: str = "",
    registry: str = "",
    options: Mapping[str, str] = _NOTHING,
) -> Topic:
    """Returns a topic, from which `dt.stream` and `dt.table` take rows, or a sink.

    `columns` and their types are those of the value, written as `format` says: "json",
    "string", "int", "long", "double", "bytes" or "avro"; a sink without them writes all
    that it gets. `key`: columns of the key, one of them as a "string" unless
    `key_format` says another: "twlong" and its like are those of keys with a window, as
    Kafka Streams writes them, whose start is the last column, of "swlong" its start and
    its end. `meta`: columns for what Kafka says of a record, as
    {"at": "timestamp"}. `start`: "earliest" or "latest", where no checkpoint says more.
    `misfits="null"`: what does not fit is null, and does not end the query.
    `upsert`: of a join of tables that change, deletes go out as tombstones.
    `registry`: the address of a registry of schemas, in place of `avro` and `key_avro`.
    """
    arguments.text("topic", topic, "the name of a topic", 'dt.kafka("orders", ..)')
    arguments.text("servers", servers, "a broker", 'servers="localhost:9092"')
    if "," in topic:
        # Spark would read several, of which partitions of one number look like one.
        expected = "the name of one topic, without a comma"
        raise arguments.wrong("topic", topic, expected, "each topic is an input")
    example = '{"id": "bigint"}'
    keys = Schema.of(_texts("key", key, example))
    named = arguments.word(
        "key_format", key_format or _usual_format(keys).value, _KEY_FORMATS
    )
    window, written = _KEY_FORMATS[named]
    known = _texts("meta", meta, '{"at": "timestamp"}')
    value = Schema.of(_texts("columns", columns, example))
    _refuse_no_json(avro=avro, key_avro=key_avro)
    parts = (
        Part("value", value, arguments.choice("format", format, Encoding), avro),
        Part("key", keys, written, key_avro, window),
    )
    if arguments.said("registry", registry, "an address", 'registry="http://..:8081"'):
        parts = (parts[0].known_to(registry, topic), parts[1].known_to(registry, topic))
    return Topic(
        topic,
        servers,
        *parts,
        known,
        arguments.word("start", start, (_START, "latest")),
        arguments.word("misfits", misfits, (FAIL, "null")),
        arguments.truth("upsert", upsert),
        _texts("options", options, '{"maxOffsetsPerTrigger": "1000"}'),
        registry,
    )


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


def _usual_format(keys: Schema) -> Encoding:
    """Returns the format of a key of which none is said."""
    # Most keys are texts, of numbers as well.
    return Encoding.STRING if len(keys.columns) == 1 else Encoding.JSON


def _texts(name: str, value: object, example: str) -> Mapping[str, str]:
    """Returns texts by names, if any are given."""
    return {} if value == {} else arguments.texts(name, value, example)
