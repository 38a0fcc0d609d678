"""The rows of a file without Spark: read as it has them, or written.

A file is read row by row, as far as somebody asks: who wants its first rows reads no
more. What is read back is what was written.
"""

from __future__ import annotations

import csv
import gzip
from collections.abc import Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import pyarrow as pa
import pyarrow.parquet as pq

from dovetail import schema, spec
from dovetail.bind.files.names import DataFile, Format
from dovetail.bind.files.texts import is_object, read_json, written_json
from dovetail.errors import EngineError, SchemaError

Cells = Mapping[str, object]


def csv_layout(layout: spec.Layout) -> spec.CsvLayout:
    """Returns how the values of a file of CSV stand in it."""
    return layout if isinstance(layout, spec.CsvLayout) else spec.CsvLayout()


def cells(
    file: DataFile, layout: spec.Layout, names: tuple[str, ...]
) -> Iterator[Cells]:
    """Yields the rows of a file as they are written; numbers of JSON are `Digits`.

    `names` are the columns of a file that does not name them itself.
    """
    for part in file.parts:
        match file.format:
            case Format.PARQUET:
                schema = parquet_schema(part)
                # Batch by batch: who asks for the first rows reads no more.
                for batch in _parquet(part).iter_batches():
                    rows = batch.cast(schema)
                    yield from rows.to_pylist(maps_as_pydicts="strict")
            case Format.CSV:
                yield from _csv(part, csv_layout(layout), names)
            case Format.JSON:
                yield from _json(part)


def parquet_schema(part: Path) -> pa.Schema:
    """Returns the Arrow schema of a Parquet file, with what Spark keeps as moments."""
    file = _parquet(part)
    kept = (file.schema.column(number) for number in range(len(file.schema)))
    leaves = (one.physical_type for one in kept)
    return pa.schema(
        [one.with_type(_as_spark(one.type, leaves)) for one in file.schema_arrow],
        metadata=file.schema_arrow.metadata,
    )


def _as_spark(kind: pa.DataType, leaves: Iterator[str]) -> pa.DataType:
    """Returns a type in which a time of 96 bits, by which Spark means a moment, is one.

    Arrow reads it as a time of no zone. `leaves` are how a file keeps what is inside.
    """
    fields = [kind.field(number) for number in range(kind.num_fields)]
    if not fields:
        return pa.timestamp("us", "UTC") if next(leaves) == "INT96" else kind
    found = [one.with_type(_as_spark(one.type, leaves)) for one in fields]
    if pa.types.is_map(kind):
        return pa.map_(*found[0].type)
    return pa.struct(found) if pa.types.is_struct(kind) else pa.list_(*found)


def _parquet(part: Path) -> pq.ParquetFile:
    """Returns a file that is open; one that is no Parquet is refused."""
    with _told(part):
        return pq.ParquetFile(part, coerce_int96_timestamp_unit="us")


def parquet_size(part: Path, names: Container[str]) -> int:
    """Returns the bytes of some columns of a Parquet file before it compresses them."""
    # Of the file's foot alone: no row is read for it.
    facts = pq.read_metadata(part)
    groups = (facts.row_group(number) for number in range(facts.num_row_groups))
    chunks = (
        group.column(number) for group in groups for number in range(group.num_columns)
    )
    return sum(
        chunk.total_uncompressed_size
        for chunk in chunks
        if chunk.path_in_schema.partition(".")[0] in names
    )


def heading(part: Path, layout: spec.CsvLayout) -> tuple[str, ...]:
    """Returns what the first line of a file says: its columns, where it names them."""
    with _text(part) as lines:
        return tuple(one.strip() for one in next(_reader(lines, layout), []))


def is_list(part: Path) -> bool:
    """Tells whether a file of JSON is one list of rows, not a row a line."""
    with _text(part) as lines:
        while letter := lines.read(1):
            if not letter.isspace():
                return letter == "["
    return False


def _csv(part: Path, layout: spec.CsvLayout, names: tuple[str, ...]) -> Iterator[Cells]:
    """Yields the rows of a file of CSV; one that is too long is refused."""
    with _text(part) as lines:
        rows = _reader(lines, layout)
        if layout.has_heading:
            names = tuple(one.strip() for one in next(rows, []))
        for number, row in enumerate(rows, start=1):
            # Empty values behind the last column are what some programs write.
            if any(row[len(names) :]) and layout.has_heading:
                raise SchemaError(
                    f'the file "{part}" has {len(row)} values in its row {number}',
                    f"at most {len(names)}, as its first line names",
                    f"a value with {schema.cited(layout.separator)} stands in quotes",
                )
            if row:
                yield dict(zip(names, row, strict=False))


def _reader(lines: IO[str], layout: spec.CsvLayout) -> Iterator[list[str]]:
    """Returns the rows of a text of CSV."""
    return csv.reader(lines, delimiter=layout.separator, quotechar=layout.quote)


def _json(part: Path) -> Iterator[Cells]:
    """Yields the rows of a file of JSON: a list of objects, or an object a line."""
    with _text(part) as lines:
        texts: Iterable[str] = [lines.read()] if is_list(part) else lines
        for number, text in enumerate(texts, start=1):
            where = f'the file "{part}" in line {number}'
            try:
                found = read_json(text) if text.strip() else []
            except ValueError as error:
                raise SchemaError(
                    f"{where} is no JSON: {error}",
                    "an object a line, or a list of objects",
                ) from error
            for one in found if isinstance(found, list) else [found]:
                if not is_object(one):
                    raise SchemaError(
                        f"{where} has {schema.cited(one)}", "an object for each row"
                    )
                yield one


@contextmanager
def _text(part: Path) -> Iterator[IO[str]]:
    """Gives a file opened as text; raises where it is none in UTF-8."""
    is_packed = part.name.lower().endswith(".gz")
    try:
        with (
            gzip.open(part, "rt", encoding="utf-8", newline="")
            if is_packed
            # A byte order mark at the beginning is no letter of the text.
            else part.open(encoding="utf-8-sig", newline="")
        ) as lines:
            yield lines
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise SchemaError(
            f'the file "{part}" has the byte 0x{byte:02X}, which is no UTF-8',
            "a text in UTF-8",
            f"of Latin-1: iconv -f LATIN1 -t UTF-8 {part.name} > new-{part.name}",
        ) from error


@contextmanager
def _told(part: Path) -> Iterator[None]:
    """Says in a sentence that a file is no Parquet, in place of what Arrow says."""
    try:
        yield
    except (pa.ArrowException, OSError) as error:
        said = str(error).partition("\n")[0]
        raise SchemaError(
            f'the file "{part}" cannot be read: {said}', "a Parquet file"
        ) from error


def write_rows(
    place: Path, written: Format, table: pa.Table, rows: Iterable[spec.Row]
) -> Path:
    """Writes rows as a new file and returns it; `table` has them with their types."""
    file = place.with_name(f"{place.name}.{written.value}")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        match written:
            case Format.PARQUET:
                pq.write_table(table, file)
            case Format.JSON:
                text = "".join(f"{written_json(row)}\n" for row in rows)
                file.write_text(text, encoding="utf-8")
            case Format.CSV:
                with file.open("w", encoding="utf-8", newline="") as out:
                    writer = csv.writer(out)
                    writer.writerow(table.schema.names)
                    # A truth as Spark writes it, all else as JSON has it.
                    writer.writerows(
                        [
                            str(it).lower()
                            if isinstance(it, bool)
                            else schema.shown(it)
                            for it in row.values()
                        ]
                        for row in rows
                    )
    except OSError as error:
        raise EngineError(
            f'the file "{file}" cannot be written: {error.strerror or error}',
            "a folder that may be written to",
            "--output takes another folder",
        ) from error
    return file
