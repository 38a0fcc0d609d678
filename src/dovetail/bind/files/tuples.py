"""Files with a tuple of SPL a line, as SPL itself writes and reads them.

    csv     IBM,12.5,true,[1,2],{a=1,b="x"},(1767323045,500000000,0)
    txt     {ticker="IBM",price=12.5,..}
    line    the whole line is the one attribute

A file is read whole by one task, as one operator reads it: so each line has its number,
and its values may hold what separates others. A text inside of another value stands
between quotes; at the top of a line of CSV it need not.
"""

from __future__ import annotations

import bz2
import gzip
import re
import unicodedata
import zlib
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass
from decimal import Context, Decimal
from functools import partial
from itertools import islice
from pathlib import Path
from typing import cast

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from dovetail import schema, spec
from dovetail.bind.sinks import pattern_of
from dovetail.bind.travel import Function, over_batches
from dovetail.dialects import spl

# What of this travels to workers names single classes.
from dovetail.dialects.spl.files import TextFormat
from dovetail.dialects.spl.types import (
    BOOLEAN,
    DECIMALS,
    FLOATS,
    INTEGERS,
    RSTRING,
    STRINGS,
    TIMESTAMP,
    Bounded,
    Enumerated,
    Holder,
    Scalar,
    SplType,
    Tuple,
    limits_of,
    stored,
)
from dovetail.errors import SpecError

NUMBER = "line number"
"""The column that says where a tuple stands; no attribute has a blank in its name."""
_MISFIT = "what does not fit"
_MANY = 10_000
_FILE = "path STRING, modificationTime TIMESTAMP, length BIGINT, content BINARY"


@dataclass(frozen=True, slots=True)
class Placed:
    """A file that a text reads, where it is, and the column that orders its tuples."""

    file: spl.TextFile
    path: Path
    sequence: str


def text_files(
    text: spl.Translation, bound: Collection[str], *, data: str, sequence: str
) -> Mapping[str, Placed]:
    """Returns the files of streams that nothing else is bound to, or refuses them.

    Of two files nobody knows which tuple came first: so only a lone stream is in the
    order of its lines.
    """
    givens = spec.givens_of(text.program)
    # What the text counts itself comes first: it needs no place beside the lines.
    names = [one.input for one in givens if isinstance(one.origin, spec.Outside)]
    found = {}
    for name in names:
        if name in bound or name not in text.files:
            continue
        file = text.files[name]()
        if sequence and sequence not in file.type.names:
            expected = f"one of {', '.join(file.type.names)}"
            hint = f"file = '..' of [streams.{name}] in a job file is read with it"
            raise SpecError(f'{name} has no attribute "{sequence}"', expected, hint)
        path = Path(data, file.path)
        if not path.is_file():
            expected = f'a file "{path}", as the text names it'
            hint = "a path of the text begins at the folder of the data"
            raise text.unread(name, expected=expected, hint=hint)
        usual = schema.quoted(NUMBER) if names == [name] else ""
        found[name] = Placed(file, path, sequence or usual)
    return found


def coming_tuples(spark: SparkSession, file: spl.TextFile, path: Path) -> DataFrame:
    """Returns the tuples of a file as a stream, each with the number of its line."""
    columns = [schema.Column(name, stored(kind)) for name, kind in file.type.attributes]
    own = schema.Schema(tuple(columns)).to_sql()
    misfit = schema.quoted(_MISFIT)
    ddl = f"{own}, {schema.quoted(NUMBER)} BIGINT NOT NULL, {misfit} STRING"
    kinds = to_arrow_schema(cast("StructType", StructType.fromDDL(ddl)))
    read = partial(make_tuples, TupleReader(file, str(path)), kinds)
    # Spark takes what is no pattern for a folder: the last letter is made one.
    odd = pattern_of(str(path.absolute())[:-1])
    contents = spark.readStream.format("binaryFile").schema(_FILE)
    found = contents.load(f"{odd}[{path.name[-1]}]").select("content")
    # Raised by Spark, as what does not fit in files of other kinds is.
    fits = f"IF({misfit} IS NULL, true, raise_error({misfit}))"
    rows = over_batches(found, read, ddl).where(fits)
    names = {name: schema.quoted(name) for name in file.type.names}
    values = (
        f"coalesce({it}, {file.defaults[name]}) AS {it}"
        if name in file.defaults
        else it
        for name, it in names.items()
    )
    return rows.selectExpr(*values, schema.quoted(NUMBER))


def make_tuples(reader: TupleReader, kinds: pa.Schema) -> Function:
    """Returns the function of batches that reads files, some thousand at a time."""

    def tuples(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for content in batch.column(0).to_pylist():
                rows = reader.told(content)
                while some := [*islice(rows, _MANY)]:
                    yield pa.RecordBatch.from_pylist(some, kinds)

    return tuples


class MisfitError(ValueError):
    """A text that is no value of a type: what was found, and what was expected."""


@dataclass(frozen=True, slots=True)
class TupleReader:
    """Reads the lines of a file; `path` is only told."""

    file: spl.TextFile
    path: str

    def told(self, content: bytes) -> Iterator[dict[str, object]]:
        """Yields the tuples, behind them what has stopped the reader."""
        try:
            yield from self.rows(content)
        except ValueError as error:
            yield {NUMBER: 0, _MISFIT: str(error)}

    def rows(self, content: bytes) -> Iterator[dict[str, object]]:
        """Yields the tuple of each line, or stops where one has none."""
        for number, line in enumerate(self._lines(content), 1):
            if number <= self.file.headers:
                continue
            try:
                yield {**self._row(line), NUMBER: number}
            except MisfitError as error:
                if self.file.is_strict:
                    found, expected = error.args
                    told = f'the file "{self.path}" has {found} in line {number}'
                    raise ValueError(f"{told}; expected {expected}") from error

    def _lines(self, content: bytes) -> list[str]:
        """Returns the lines; what stands behind the last end is one too."""
        file = self.file
        try:
            match file.compression:
                case "gzip":
                    # Of several parts, as of files that were put together, all.
                    content = gzip.decompress(content)
                case "zlib":
                    content = zlib.decompress(content)
                case "bzip2":
                    content = bz2.decompress(content)
                case _:
                    pass
            text = content.decode(file.encoding)
        except (zlib.error, OSError, EOFError, UnicodeDecodeError) as error:
            told = f'the file "{self.path}" has bytes that are none: {error}'
            expected = " ".join(filter(None, (file.compression, file.encoding)))
            raise ValueError(f"{told}; expected {expected}") from error
        if not file.end:
            text = text.replace("\r\n", "\n")
        *lines, last = text.split(file.end or "\n")
        return [*lines, last] if last else lines

    def _row(self, line: str) -> dict[str, object]:
        """Returns the tuple of a line."""
        file, text = self.file, _Text(line)
        if file.has_delay:
            # How long SPL would wait before it: no row is made of that.
            delay = _Text(text.cut(file.separator))
            delay.value(Scalar("float64"))
            delay.need_end()
            text.need(file.separator)
        match file.format:
            case TextFormat.LINE:
                return {file.type.names[0]: line[text.at :]}
            case TextFormat.TXT:
                row = text.tuple_of(file.type)
                text.need_end()
                return row
            case TextFormat.CSV:
                return self._values(text)

    def _values(self, text: _Text) -> dict[str, object]:
        """Returns the tuple of a line of CSV."""
        file, separator = self.file, self.file.separator
        row: dict[str, object] = {}
        for place, (name, kind) in enumerate(file.type.attributes):
            is_there = not place or text.skips(separator)
            if file.defaults and (not is_there or text.ends(separator)):
                row[name] = None
            elif not is_there:
                raise MisfitError(f'no value of "{name}"', str(kind))
            else:
                row[name] = text.field(kind, separator)
                if not text.ends(separator):
                    raise MisfitError(
                        f'"{text.rest}" behind "{name}"', f'"{separator}"'
                    )
        if not file.ignores_more:
            text.need_end()
        return row


# More digits than any type has, and fewer than Python refuses to read.
_INTEGER = re.compile(r"[+-]?\d{1,99}")
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_FLOAT = re.compile(rf"{_DECIMAL.pattern}|[+-]?(inf|infinity|nan)", re.IGNORECASE)
_WORD = re.compile(r"[A-Za-z_]\w*")
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(.))")
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_MOST = Context(prec=60)
_SHOWN = 40


@dataclass(slots=True)
class _Text:
    """A text that is read value by value, and the place that has been reached."""

    text: str
    at: int = 0

    @property
    def rest(self) -> str:
        """Returns what has not been read, or its beginning."""
        return self.text[self.at : self.at + _SHOWN]

    def ends(self, separator: str) -> bool:
        """Tells whether a value is over."""
        return self.at == len(self.text) or self.text[self.at] == separator

    def skips(self, sign: str) -> bool:
        """Goes behind a sign, if it is the next."""
        found = self.text.startswith(sign, self.at)
        self.at += found * len(sign)
        return found

    def need(self, sign: str) -> None:
        """Goes behind a sign that must be the next one."""
        if not self.skips(sign):
            raise MisfitError(f'"{self.rest}"', f'"{sign}"')

    def need_end(self) -> None:
        """Refuses what stands behind the last value."""
        self._blanks()
        if self.rest:
            raise MisfitError(
                f'"{self.rest}" behind the last value', "the end of the line"
            )

    def cut(self, separator: str) -> str:
        """Returns what stands before the next separator, and goes there."""
        end = self.text.find(separator, self.at)
        found = self.text[self.at : end if end >= 0 else len(self.text)]
        self.at += len(found)
        return found

    def field(self, kind: SplType, separator: str) -> object:
        """Returns a value of a line of CSV, in which a text needs no quotes."""
        own = kind.of if isinstance(kind, Bounded) else kind
        first = self.text[self.at : self.at + 1]
        if own in STRINGS and first != '"':
            return _within(self.cut(separator), kind)
        if first and first in '"[{(':
            # What separates values may stand inside of this one.
            return self.value(kind)
        # Where it is a blank, a value that is not there must not be read behind it.
        alone = _Text(self.cut(separator))
        found = alone.value(kind)
        alone.need_end()
        return found

    def value(self, kind: SplType) -> object:
        """Returns a value of a type."""
        self._blanks()
        match kind:
            case Bounded(of):
                return _within(self.value(of), kind)
            case Holder("optional", (of,)):
                return None if self.skips("null") else self.value(of)
            case Holder("map", (key, value)):
                pairs = partial(self._pair, key, value)
                return self._items("{", "}", pairs)
            case Holder(word, (of, *_)):
                begin, end = "[]" if word == "list" else "{}"
                return self._items(begin, end, partial(self.value, of))
            case Tuple():
                return self.tuple_of(kind)
            case Enumerated(words):
                word = self._token(_WORD, kind)
                if word not in words:
                    raise MisfitError(f'"{word}"', str(kind))
                return word
            case Scalar():
                return self._scalar(kind)
            case _:
                raise TypeError(kind)

    def _scalar(self, kind: Scalar) -> object:
        """Returns a value of one of the language's own types."""
        if kind in STRINGS:
            written = self._token(_QUOTED, kind)
            return _ESCAPE.sub(_letter, written[1:-1])
        if kind == BOOLEAN:
            word = self._token(_WORD, kind)
            if word not in {"true", "false"}:
                raise MisfitError(f'"{word}"', "boolean, true or false")
            return word == "true"
        if kind in FLOATS:
            return float(self._token(_FLOAT, kind))
        if kind in DECIMALS:
            return _decimal(self._token(_DECIMAL, kind), kind)
        if kind in INTEGERS:
            number = int(self._token(_INTEGER, kind))
            least, most = limits_of(kind)
            if not least <= number <= most:
                raise MisfitError(f'"{number}"', f"{kind}, from {least} to {most}")
            return Decimal(number) if kind.word == "uint64" else number
        # A timestamp: seconds alone, or (seconds, nanoseconds, machine).
        if not self.skips("("):
            return _decimal(self._token(_DECIMAL, TIMESTAMP), TIMESTAMP)
        parts = []
        for sign in (",", ",", ")"):
            parts.append(int(self._token(_INTEGER, TIMESTAMP)))
            self.need(sign)
        seconds, nanoseconds, _ = parts
        whole = Decimal(seconds) + Decimal(nanoseconds).scaleb(-9, context=_MOST)
        return _decimal(str(whole), TIMESTAMP)

    def _token(self, pattern: re.Pattern[str], kind: SplType) -> str:
        """Returns what a pattern finds here."""
        self._blanks()
        found = pattern.match(self.text, self.at)
        if found is None:
            raise MisfitError(f'"{self.rest}"', str(kind))
        self.at = found.end()
        return found[0]

    def _blanks(self) -> None:
        """Goes behind blanks."""
        while self.text[self.at : self.at + 1] in (" ", "\t"):
            self.at += 1

    def _items(self, begin: str, end: str, read: Callable[[], object]) -> list[object]:
        """Returns values between two signs."""
        self.need(begin)
        self._blanks()
        found: list[object] = []
        while not self.skips(end):
            if found:
                self.need(",")
            found.append(read())
            self._blanks()
        return found

    def _pair(self, key: SplType, value: SplType) -> tuple[object, object]:
        """Returns a key with its value."""
        first = self.value(key)
        self._blanks()
        self.need(":")
        return first, self.value(value)

    def tuple_of(self, kind: Tuple) -> dict[str, object]:
        """Returns a tuple, each attribute once, whatever their order."""

        def part() -> tuple[str, object]:
            name = self._token(_WORD, kind)
            own = kind.get(name)
            if own is None:
                raise MisfitError(f'the attribute "{name}"', str(kind))
            self._blanks()
            self.need("=")
            return name, self.value(own)

        found = self._items("{", "}", part)
        row = dict(cast("list[tuple[str, object]]", found))
        lacking = [name for name in kind.names if name not in row]
        if lacking or len(row) < len(found):
            told = f'no value of "{lacking[0]}"' if lacking else "an attribute twice"
            raise MisfitError(told, str(kind))
        return row


def _letter(found: re.Match[str]) -> str:
    """Returns the letter that an escape stands for."""
    wide, narrow, letter = found.groups()
    if letter:
        return _LETTERS.get(letter, letter)
    code = int(wide or narrow, 16)
    # Halves of letters, as UTF-16 has them, are no letters.
    if unicodedata.category(chr(code)) == "Cs":
        raise MisfitError(f'the escape "{found[0]}"', "a letter")
    return chr(code)


def _within(value: object, kind: SplType) -> object:
    """Returns a value that is not longer than its type lets it be."""
    if not isinstance(kind, Bounded):
        return value
    # A ustring counts letters, an rstring bytes.
    is_bytes = isinstance(value, str) and kind.of == RSTRING
    size = len(str(value).encode() if is_bytes else cast("str", value))
    if size > kind.most:
        raise MisfitError(f"a value of the length {size}", str(kind))
    return value


def _decimal(written: str, kind: Scalar) -> Decimal:
    """Returns a number with the digits of its type, as an attribute keeps them."""
    places, before = (9, 19) if kind == TIMESTAMP else (18, 20)
    # One rounding to the digits that count; then the place of the last one is fixed.
    digits = Context(prec=DECIMALS.get(kind, 60), traps=[]).create_decimal(written)
    # Asked before: what has no room cannot be given its last place either.
    if not digits.is_finite() or abs(digits) >= Decimal(10) ** before:
        raise MisfitError(f'"{written[:_SHOWN]}"', f"{kind} with room for it")
    return digits.quantize(Decimal(1).scaleb(-places), context=_MOST)
