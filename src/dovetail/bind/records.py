"""The bytes of a record of Kafka, its key's or its value's: in Spark's SQL, as columns.

    json      {"id": 17, "at": "2026-03-02T12:00:00Z"}       id, at
    long      00 00 00 00 00 00 00 11                        id
    twlong    ..11 00 00 01 9C AD A3 14 00                   id, and a window's start
    avro      22, or behind 00 and the number of a schema    the fields of a record, id

What does not fit is null, or ends the query where rows are read.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import Enum
from functools import partial

from dovetail.bind import nested
from dovetail.bind.avro import (
    field_of,
    fields_of,
    read_as,
    read_schema,
    readable,
    refuse_odd,
    schema_of_record,
    schema_of_values,
    unlike,
)
from dovetail.bind.avro_rows import Values, as_said
from dovetail.bind.files import losses
from dovetail.bind.registry import Subject, head, subject
from dovetail.bind.sinks import JSON
from dovetail.errors import SchemaError, SpecError
from dovetail.expression.sql import text_of
from dovetail.kernels.arrays.names import reserved
from dovetail.schema import (
    DATES,
    FRACTIONS,
    WHOLE,
    ArrayType,
    AtomicType,
    CarriedType,
    DecimalType,
    MapType,
    Schema,
    StructType,
    Type,
    quoted,
)
from dovetail.schema import Column as SchemaColumn
from dovetail.spec import arguments


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


EPOCHS = {"seconds": (1, "seconds"), "milliseconds": (1_000, "millis")}
_MICROSECONDS = 1_000_000
EPOCHS["microseconds"] = _MICROSECONDS, "micros"
"""What a moment in JSON may be a number of: how many to a second, Spark's word."""
_LAST_SECOND = 253_402_300_799
"""The end of the year 9999."""
KEY_FORMATS = {
    f"{window.value}{one.value}": (window, one)
    for window in KeyWindow
    for one in Encoding
}
"""Formats of a key by their names: with `tw` or `sw` in front it has a window."""
_TIME_ALONE = "^[^0-9A-Za-z]*T?[0-9]+:"
"""Texts of which Spark makes a moment of the day on which it reads them."""
_HAS_TIME_ALONE = r'"[^"0-9A-Za-z]*T?([0-9]+:|[0-9]*\\)'
"""JSON in which one may stand; its letters may be escaped."""
_NEAR: Mapping[Type, Type] = dict.fromkeys(DATES, AtomicType.STRING)
"""Types of which some values are of years that nobody can write."""
_MOMENTS = (AtomicType.BIGINT, AtomicType.TIMESTAMP)
_BEHIND = "X'446F76657461696C2E4176726F2E656E64'"
"""What stands behind a record of Avro while Spark reads it: so many bytes have to be
left. It does not begin again within itself."""
_FIXED = {"type": "fixed", "name": "Behind", "namespace": "dovetail", "size": 17}
_WHOLE = 'a whole record of its schema of Avro, or misfits="null"'
_AT = "' in partition ', partition, ', offset ', offset"
"""Where a record stands, as parts of a text in SQL."""


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
    epoch: str = ""

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
        return self.subject.schema if self.subject else self.avro

    @property
    def _has_fields(self) -> bool:
        """Tells whether columns are fields, and not one of them all there is."""
        if self.format is not Encoding.AVRO:
            return self.format is Encoding.JSON
        if not self._newest:
            # As clients of Confluent's have it, a key of one column is that alone.
            return self.column == "value" or len(self.schema.columns) > 1
        return fields_of(self._newest) is not None

    def refuse_unread(self, where: str) -> None:
        """Refuses columns that no record of Avro has, or none as the type they are."""
        if self.subject and not self.subject.schemas:
            raise self.subject.unknown
        if not self._newest:
            return
        known = self.subject.schemas if self.subject else {}
        for number, text in known.items():
            for odd in unlike(read_schema(text), read_schema(self._newest), ""):
                raise SchemaError(
                    f"{where}: its schema {number} has {odd}",
                    "the same in all schemas, as Avro reads bytes of all alike",
                    'format="bytes" takes the records as they are',
                )
        fields = fields_of(self._newest)
        for one in self._inner.schema.columns:
            told = f'{where}: the column "{one.name}"'
            if fields is not None and one.name.lower() not in fields:
                raise SchemaError(f"{told} is no field", f"one of {', '.join(fields)}")
            own = read_as(field_of(self._newest, one.name))
            # Spark would count seconds, whatever the schema does.
            if own in DATES and one.type not in {*DATES, AtomicType.STRING}:
                raise SchemaError(f"{told} {one.type} has moments of time", str(own))
            if own is not None and not _can_be(own, one.type):
                raise SchemaError(f"{told} {one.type} is never made of {own}", str(own))
            is_nested = isinstance(own, ArrayType | MapType | StructType)
            if is_nested and not _has_room(one.type, own):
                raise SchemaError(f"{told} {one.type} has no room for {own}", str(own))

    def known_to(self, registry: str, topic: str, *, registers: bool) -> Part:
        """Returns the part with the schemas that a registry has of it."""
        if self.format is not Encoding.AVRO:
            return self
        known = subject(registry, f"{topic}-{self.column}", registers=registers)
        return replace(self, subject=known)

    def register(self) -> None:
        """Tells a registry the schema of the columns, where it has none yet."""
        if self.window is not KeyWindow.NOT:
            self._inner.register()
            return
        known, own = self.subject, [(it.name, it.type) for it in self.schema.columns]
        if known is None or known.schemas or not own:
            return
        name = re.sub(r"(?a)\W|^(?=\d)", "_", known.name)
        if self._has_fields:
            known.register(schema_of_record(name, own))
            return
        ((_, kind),) = own
        known.register(schema_of_values(kind, name))

    def check(self, where: str, word: str) -> None:
        """Refuses columns that the format, said by a word, has no room for."""
        told = f"{word}={arguments.told(self.name)} of {where}"
        schemas = self.subject.schemas.values() if self.subject else [self.avro]
        for text in filter(None, schemas):
            refuse_odd(text, where)
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

    def _own_column(self, word: str = "") -> str:
        """Returns a column of ours with something of whole records, if it is a word."""
        record = "value" if self.column == "value" else "key"
        return quoted(reserved(f"{record} {word}".rstrip()))

    def wholes(self, where: str, *, fails: bool) -> Iterator[str]:
        """Yields columns as SQL over Spark's own of a topic, and over those before.

        `read` takes fields of them: Spark makes each once a record, not once a field.
        """
        if self.window is not KeyWindow.NOT:
            yield from self._inner.wholes(where, fails=fails)
        elif self.format is Encoding.AVRO:
            yield from self._of_avro(where, fails=fails)
        elif self.format is Encoding.JSON and self.schema.columns:
            yield from self._objects(where, fails=fails)

    def read(self, where: str, *, fails: bool) -> Iterator[str]:
        """Yields the columns as SQL over Spark's own of a topic, and the `wholes`.

        What does not fit fails the query, saying where it is, or is null.
        """
        raw, made = self.column, list[tuple[SchemaColumn, str, str, str]]()
        if self.window is not KeyWindow.NOT:
            yield from self._inner.read(where, fails=fails)
            least, expected = 8 * self.window.columns, "a key with its window behind"
            for column, place in _moments(self):
                moment = _whole(
                    f"hex(substring({raw}, length({raw}) - {place - 1}, 8))"
                )
                if column.type is not AtomicType.BIGINT:
                    moment = _of_epoch(moment, "milliseconds")
                sql = f"IF(length({raw}) >= {least}, {moment}, NULL)"
                made.append((column, sql, f"hex({raw})", expected))
        elif self.format is Encoding.JSON:
            yield from self._of_objects(where, fails=fails)
        elif self.format is Encoding.AVRO:
            yield from self._of_values(where, fails=fails)
        else:
            made += [(it, *self._plain(it)) for it in self.schema.columns]
        for column, sql, shown, expected in made:
            stop = refusal(f'{where}: the column "{column.name}"', shown, expected)
            yield _named(_else_stopped(sql, raw, stop) if fails else sql, column)

    def _of_values(self, where: str, *, fails: bool) -> Iterator[str]:
        """Yields the columns of Avro: the fields of a record, or all that there is."""
        stop, whole = self._misfit(where, fails=fails), self._own_column("fields")

        def near(sql: str, kind: Type, _: str) -> str:
            return _else_stopped(_of_year(sql), sql, stop) if kind in DATES else sql

        for it in self.schema.columns:
            own = f"{whole}.{_quoted(it)}" if self._has_fields else whole
            found = read_as(field_of(self._newest, it.name))
            if found != it.type:
                same = nested.by_part(own, it.type, lambda sql, *_: sql)
                fitting = f"try_cast({same} AS {it.type})"
                if _loses(found, it.type):
                    fitting = f"IF({fitting} = {own}, {fitting}, NULL)"
                own = _else_stopped(fitting, own, stop)
            if nested.mapped(it.type, _NEAR) != it.type:
                own = nested.by_part(own, it.type, near)
            yield _named(own, it)

    @property
    def _kinds(self) -> Mapping[Type, Type]:
        """Returns as what else Spark reads some types in JSON."""
        # Its reader makes a tinyint -56 out of 200.
        kinds: dict[Type, Type] = {AtomicType.TINYINT: AtomicType.SMALLINT}
        every = [part for it in self.schema.columns for part in nested.plains(it.type)]
        kinds |= {it: losses.wide(it) for it in every if isinstance(it, DecimalType)}
        if self.epoch:
            kinds[AtomicType.TIMESTAMP] = AtomicType.BIGINT
        return kinds

    def _objects(self, where: str, *, fails: bool) -> Iterator[str]:
        """Yields what Spark reads of JSON, of which each record is one object."""
        text, columns = _text(self.column), self.schema.columns
        read, whole = self._own_column("read"), f"{self._own_column('read')}.own"
        yield f"{_object(text, columns, self._kinds)} AS {read}"
        if fails:
            stop = self._no_object(where)
            if moments := " ".join(self._odd_moments(text, where)):
                stop = f"CASE {moments} ELSE {stop} END"
            stop = f"IF({self.column} IS NULL, NULL, {stop})"
            whole = f"IF({read}.odd IS NULL AND {whole} IS NOT NULL, {whole}, {stop})"
        yield f"{whole} AS {self._own_column()}"
        said = [it for it in columns if any(map(self._is_said, nested.plains(it.type)))]
        if said:
            kinds = {part for it in said for part in nested.plains(it.type)}
            raw = f"CAST({self.column} AS STRING)"
            may = losses.may_lose(raw, [*filter(self._is_said, kinds)])
            if AtomicType.TIMESTAMP in kinds and not self.epoch:
                may = f"({may} OR {raw} RLIKE {text_of(_HAS_TIME_ALONE)})"
            as_texts = dict.fromkeys(kinds, AtomicType.STRING)
            texts = f"{_object(losses.with_texts(text), said, as_texts)}.own"
            yield f"IF({may}, {texts}, NULL) AS {self._own_column('texts')}"

    def _odd_moments(self, text: str, where: str) -> Iterator[str]:
        """Yields cases in SQL: a column with moments that are none, and its refusal."""
        as_texts: dict[Type, Type] = {**self._kinds, **_NEAR}
        for it in self.schema.columns:
            if not {*nested.plains(it.type)} & {*DATES}:
                continue
            # All else is right where the column as a text is: then it alone is wrong.
            said, read = (_object(text, [it], one) for one in (as_texts, self._kinds))
            told = f'{where}: the column "{it.name}"'
            shown = f"CAST({said}.own.{_quoted(it)} AS STRING)"
            stop = refusal(told, shown, str(it.type))
            yield f"WHEN {said}.odd IS NULL AND {read}.odd IS NOT NULL THEN {stop}"

    def _is_said(self, kind: Type) -> bool:
        """Tells whether a value of a type in JSON may have lost some of its text."""
        moments = [AtomicType.TIMESTAMP] * (not self.epoch)
        losing = {*moments, AtomicType.TIMESTAMP_NTZ, *FRACTIONS, AtomicType.STRING}
        return kind in losing or isinstance(kind, DecimalType)

    def _of_objects(self, where: str, *, fails: bool) -> Iterator[str]:
        """Yields the columns of JSON: the fields of an object."""
        whole, texts = self._own_column(), self._own_column("texts")
        kinds = {**_NEAR, **self._kinds}
        for it in self.schema.columns:
            value, text = (f"{own}.{_quoted(it)}" for own in (whole, texts))
            if any(
                part in kinds or self._is_said(part) for part in nested.plains(it.type)
            ):
                told = f'{where}: the column "{it.name}"' if fails else ""
                make = partial(self._fitting, told=told)
                value = nested.by_part(value, it.type, make, beside=text)
            yield _named(value, it)

    def _no_object(self, where: str) -> str:
        """Returns what stops the query for a record that is no object, in SQL."""
        text = f"CAST({self.column} AS STRING)"
        return refusal(where, text, "one object of JSON whose fields fit the columns")

    def _fitting(self, value: str, kind: Type, text: str, *, told: str) -> str:
        """Returns what Spark has read as a plain value; else null, or a stop.

        `told` names the column where it stops the query.
        """
        text, fitting = losses.written(text), value
        match kind:
            case AtomicType.STRING:
                return f"coalesce({text}, {value})"
            case AtomicType.TINYINT | DecimalType():
                narrow = f"try_cast({value} AS {kind})"
                fitting = f"IF({narrow} = {value}, {narrow}, NULL)"
            case AtomicType.TIMESTAMP if self.epoch:
                fitting = _of_epoch(value, self.epoch)
            case AtomicType.TIMESTAMP:
                is_alone = f"{text} RLIKE {text_of(_TIME_ALONE)}"
                fitting = f"IF({is_alone}, NULL, {_of_year(value)})"
            case _ if kind in DATES:
                fitting = _of_year(value)
        # Decimals that have lost nothing but places stand there as they are.
        shown = losses.shown(value, kind)
        if self._is_said(kind):
            fitting = losses.kept(fitting, text, kind)
            shown = f"coalesce({text}, {shown})"
        if fitting == value or not told:
            return fitting
        return _else_stopped(fitting, value, refusal(told, shown, str(kind)))

    def _of_avro(self, where: str, *, fails: bool) -> Iterator[str]:
        """Yields the record of Avro, in the newest of the schemas that it may have."""
        raw, whole, read = self.column, self._own_column(), self._own_column("read")
        is_whole = f"{read}.behind = {_BEHIND}"
        if self.subject is None:
            yield f"{_decoded(raw, self.avro, self.avro)} AS {read}"
            other = refusal(where, f"hex({raw})", _WHOLE, at=_AT)
        else:
            known, begins = self.subject, f"hex(substring({raw}, 1, 5))"
            every = " ".join(
                f"WHEN {text_of(head(number))} "
                f"THEN {_decoded(f'substring({raw}, 6)', one, self._newest)}"
                for number, one in known.schemas.items()
            )
            yield f"CASE {begins} {every} END AS {read}"
            heads = ", ".join(text_of(head(it)) for it in known.schemas)
            numbers = ", ".join(map(str, known.schemas))
            stops = [
                refusal(where, f"hex({raw})", expected, at=_AT)
                for expected in (
                    _WHOLE,
                    f"Avro behind the number of a schema of {known.name}: {numbers}",
                )
            ]
            other = f"IF({begins} IN ({heads}), {', '.join(stops)})"
        stop = f"IF({raw} IS NULL, NULL, {other})" if fails else "NULL"
        yield f"IF({is_whole}, {read}.own, {stop}) AS {whole}"
        made = self._each_as_said(whole, self._misfit(where, fails=fails))
        yield f"{made} AS {self._own_column('fields')}"

    def _each_as_said(self, whole: str, stop: str) -> str:
        """Returns what Spark has read of Avro as the newest schema has it."""
        if not self._has_fields:
            return as_said(whole, read_schema(self._newest), stop)
        names = {_quoted(it): it.name for it in self.schema.columns}
        each = (
            f"{as_said(f'{whole}.{it}', field_of(self._newest, name), stop)} AS {it}"
            for it, name in names.items()
        )
        return f"struct({', '.join(each)})"

    def _misfit(self, where: str, *, fails: bool) -> str:
        """Returns what becomes of a value of Avro that does not fit its column."""
        shown, expected = f"hex({self.column})", "Avro that fits the columns"
        return refusal(where, shown, expected, at=_AT) if fails else "NULL"

    def _plain(self, column: SchemaColumn) -> tuple[str, str, str]:
        """Returns bytes as a value, or null where they are none; as text; as what."""
        raw, kind = self.column, str(column.type)
        if self.format is Encoding.STRING:
            shown = f"CAST({raw} AS STRING)"
            is_text = column.type is AtomicType.STRING
            expected = f"{kind}, in UTF-8" if is_text else kind
            sql = f"try_cast({_text(raw)} AS {kind})"
            if column.type is AtomicType.TIMESTAMP:
                sql = f"IF({shown} RLIKE {text_of(_TIME_ALONE)}, NULL, {sql})"
            sql = losses.kept(sql, f"trim({shown})", column.type)
            return _of_year(sql) if column.type in DATES else sql, shown, expected
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

    def written(self, where: str, key: str) -> str:
        """Returns the bytes as SQL over the columns of rows that leave.

        A value that has no place in them ends the query; `key`: SQL that tells its row.
        Columns of a type that has none are refused.
        """
        if self.window is not KeyWindow.NOT:
            moments = [
                _quoted(one)
                if one.type is AtomicType.BIGINT
                else _in_unit(
                    *(_quoted(one), "milliseconds"),
                    told=f'{where}: the column "{one.name}" of a window',
                    key=key,
                )
                for one, _ in reversed(_moments(self))
            ]
            behind = (f"unhex(lpad(hex({it}), 16, '0'))" for it in moments)
            return f"concat({', '.join((self._inner.written(where, key), *behind))})"
        names = ", ".join(map(_quoted, self.schema.columns))
        match self.format:
            case Encoding.JSON:
                own = ", ".join(self._in_json(where, key))
                return f"CAST(to_json(struct({own}), {_map(JSON)}) AS BINARY)"
            case Encoding.AVRO:
                return self._as_avro(where, key)
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

    def _as_avro(self, where: str, key: str) -> str:
        """Returns the columns as Avro of the newest schema."""

        def stop(field: str, text: str, expected: str) -> str:
            told = f'{where}: the field "{field}" of the schema of Avro'
            return refusal(told, text, expected, at=f"' in the row ', {key}")

        if not self._newest:
            # The registry is told it before the first rows come.
            every = [(it.name, it.type) for it in self.schema.columns]
            _ = schema_of_record("row", every)  # refuses types that Avro has not
            return "CAST(NULL AS BINARY)"
        values, schema = Values(where, stop), read_schema(self._newest)
        # A column may be narrower than it is said to be.
        parts = [
            (it.name, it.type, f"CAST({_quoted(it)} AS {it.type})")
            for it in self.schema.columns
        ]
        if self._has_fields:
            value = values.record(parts, schema)
        else:
            # As with clients of Confluent's, a null alone is no bytes.
            one = schema if isinstance(schema, list) else [schema]
            (part,) = parts
            value = values.value(part, [*one, {"type": "null"}])
        own = f"to_avro({value}, {text_of(self._newest)})"
        if self.subject is None:
            return own
        return f"concat(X'{head(self.subject.newest)}', {own})"

    def _in_json(self, where: str, key: str) -> Iterator[str]:
        """Yields the columns of a row that leaves as they are in JSON."""
        for column in self.schema.columns:
            name, kind = _quoted(column), column.type
            told = f'{where}: the column "{column.name}"'

            def number(sql: str, kind: Type, _: str, told: str = told) -> str:
                if kind is not AtomicType.TIMESTAMP:
                    return sql
                return _in_unit(sql, self.epoch, told=told, key=key)

            if self.epoch and AtomicType.TIMESTAMP in nested.plains(kind):
                name = f"{nested.by_part(name, kind, number)} AS {name}"
            yield name


def _quoted(column: SchemaColumn) -> str:
    """Returns the name of a column in SQL."""
    return quoted(column.name)


def _text(raw: str) -> str:
    """Returns bytes in SQL as a text, or null where they are none in UTF-8."""
    # What reads texts behind it would put other letters in.
    return f"try_validate_utf8(CAST({raw} AS STRING))"


def _named(sql: str, column: SchemaColumn) -> str:
    """Returns a value in SQL as a column of its type."""
    return f"CAST({sql} AS {column.type}) AS {_quoted(column)}"


def _has_room(kind: Type, own: Type | None) -> bool:
    """Tells whether each value of an own type is one of another, found by its names."""
    match kind, own:
        case ArrayType(one), ArrayType(other):
            return _has_room(one, other)
        case MapType(_, one), MapType(_, other):
            return _has_room(one, other)
        case StructType(fields), StructType(others):
            known = {name.lower(): part for name, part in others}
            return all(_has_room(part, known.get(it.lower())) for it, part in fields)
    if own in WHOLE and kind in WHOLE:
        return WHOLE.index(own) <= WHOLE.index(kind)
    is_wider = own is not None and kind in {AtomicType.STRING, AtomicType.DOUBLE}
    return kind == own or is_wider


def _can_be(own: Type, kind: Type) -> bool:
    """Tells whether Spark takes a value for one of a type of columns."""
    if kind in {own, AtomicType.STRING} or isinstance(kind, CarriedType):
        return True
    nested = (ArrayType, MapType, StructType)
    if isinstance(own, nested) or isinstance(kind, nested):
        return type(own) is type(kind)
    plain = {*WHOLE, *FRACTIONS, AtomicType.BOOLEAN}
    number, other = (it in plain or isinstance(it, DecimalType) for it in (own, kind))
    if own is AtomicType.STRING or (own in DATES and kind in DATES):
        return True
    # As in JSON a number has seconds.
    is_moment = kind is AtomicType.TIMESTAMP and own is not AtomicType.BOOLEAN
    return number and (other or is_moment)


def _loses(found: Type | None, kind: Type) -> bool:
    """Tells whether Spark takes a number for another one, without its last digits."""
    has_digits = found in FRACTIONS or isinstance(found, DecimalType)
    is_rounded = isinstance(found, DecimalType) and isinstance(kind, DecimalType)
    return is_rounded or (has_digits and kind in WHOLE)


def _object(
    text: str, columns: Iterable[SchemaColumn], kinds: Mapping[Type, Type]
) -> str:
    """Returns a text in SQL as `own`, its object of JSON, and `odd`, where it is none.

    Some types of the columns are read as others.
    """
    own = Schema(
        tuple(replace(it, type=nested.mapped(it.type, kinds)) for it in columns)
    )
    kind = f"own struct<{own.to_sql()}>, odd string"
    # Of no format for timestamps Spark reads those with and without a fraction.
    how = {
        "timeZone": "UTC",
        "mode": "PERMISSIVE",
        "columnNameOfCorruptRecord": "odd",
        "dateFormat": losses.DAYS,
    }
    # Spark reads the first object of a text, and no further; one that is a field of
    # another it reads to its end.
    return f"from_json('{{\"own\":' || {text} || '}}', {text_of(kind)}, {_map(how)})"


def _of_year(moment: str) -> str:
    """Returns a moment in SQL, or null where it is of no year with four digits."""
    # Milliseconds that are taken for seconds are far behind.
    return f"IF(year({moment}) BETWEEN 1 AND 9999, {moment}, NULL)"


def _in_unit(moment: str, epoch: str, *, told: str, key: str) -> str:
    """Returns a moment in SQL as a number since 1970; one between two stops the query.

    `told` names its column, and `key` is SQL that tells its row.
    """
    scale, unit = EPOCHS[epoch]
    between = _MICROSECONDS // scale
    word = epoch.removesuffix("s").upper()
    expected = f"whole {epoch}, as date_trunc('{word}', ..) has"
    stop = refusal(
        told, f"CAST({moment} AS STRING)", expected, at=f"' in the row ', {key}"
    )
    is_odd = f"unix_micros({moment}) % {between} <> 0"
    number = f"unix_{unit}({moment})"
    return f"IF({is_odd}, {stop}, {number})" if between > 1 else number


def _of_epoch(number: str, epoch: str) -> str:
    """Returns a number since 1970 in SQL as a moment, or null where it is far away."""
    scale, unit = EPOCHS[epoch]
    most = _LAST_SECOND * scale
    is_near = f"{number} BETWEEN -{most}L AND {most}L"
    return _of_year(f"IF({is_near}, timestamp_{unit}({number}), NULL)")


def _decoded(raw: str, schema: str, newest: str) -> str:
    """Returns bytes in SQL as what a schema of Avro makes of them, in the newest one.

    They are its field `own`, if `behind` is what was put behind them: else they are
    torn, or there are more of them.
    """
    # A record of one field has the bytes of that field. Where they are no record Spark
    # gives one of nulls, and of null in front of all else it makes 0: as a field of
    # another that is null.
    first, last = (
        json.dumps(
            {
                "type": "record",
                "name": "Dovetail",
                "fields": [
                    {"name": "own", "type": readable(json.loads(one), set())},
                    {"name": "behind", "type": _FIXED},
                ],
            }
        )
        for one in (schema, newest)
    )
    how = _map(
        {"mode": "PERMISSIVE", **({"avroSchema": last} if last != first else {})}
    )
    return f"from_avro({raw} || {_BEHIND}, {text_of(first)}, {how})"


def refusal(where: str, text: str, expected: str, *, at: str = "''") -> str:
    """Returns what stops the query, in SQL, for a text that is not what is expected.

    `at`: SQL of where in it that is.
    """
    before, after = text_of(f'{where} has "'), text_of(f"; expected {expected}")
    shown = f"substring({text}, 1, 60), '\"', {at}"
    return f"raise_error(concat({before}, {shown}, {after}))"


def _else_stopped(sql: str, given: str, stop: str) -> str:
    """Returns a value in SQL; the query stops where it is null of what is none."""
    return f"coalesce({sql}, IF({given} IS NOT NULL, {stop}, NULL))"


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


def usual_format(keys: Schema) -> Encoding:
    """Returns the format of a key of which none is said."""
    # Most keys are texts, of numbers as well.
    return Encoding.STRING if len(keys.columns) == 1 else Encoding.JSON
